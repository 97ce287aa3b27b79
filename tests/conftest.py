"""Fixtures for tests that run commands."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import pytest
from conftest_tools import FAKE, FAKES, SIXTY, run, tables
from ray import shutdown as close_ray

from pipeline.app import main
from pipeline.executors.ray import start_local


@dataclass(frozen=True)
class Answer:
    """What a command said; `text` without the line breaks of a narrow terminal."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return " ".join((self.out + self.err).split())


@pytest.fixture
def workdir(tmp_path, monkeypatch):
    """A fresh working directory, with a space in its path."""
    folder = tmp_path / "work dir"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def minimex(workdir, capsys):
    """Run a command in this process."""

    def run(*arguments):
        capsys.readouterr()
        argv = list(sys.argv)
        try:
            with pytest.raises(SystemExit) as ended:
                main([str(one) for one in arguments])
        finally:
            sys.argv = argv
        said = capsys.readouterr()
        return Answer(ended.value.code, said.out, said.err)

    return run


@pytest.fixture
def fake(minimex):
    """Run a command on the fakes, inline unless it says otherwise."""

    def run(*arguments):
        where = [] if any("compute=" in str(one) for one in arguments) else ["compute=inline"]
        return minimex(*FAKE, *where, *arguments)

    return run


@pytest.fixture(scope="session")
def ray():
    """One Ray for all tests of this session."""
    os.environ["PYTHONPATH"] = str(FAKES)
    start_local(2)
    yield
    close_ray()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The tables of `SIXTY` as they are if nothing goes wrong."""
    folder = tmp_path_factory.mktemp("undisturbed")
    status, out = run(*FAKE, *SIXTY, "compute=inline", "out=whole/it", cwd=folder)
    assert status == 0, out
    return tables(folder / "whole" / "it")
