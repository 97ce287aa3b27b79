"""Fixtures for tests that run commands."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

FAKES = Path(__file__).parent / "fakes"
FAKE = ["--config-dir", str(FAKES / "conf"), "trust=[minimex_fakes]", "game=beads", "tracking=off"]


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
    from pipeline.app import main

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


def environment(**more):
    """Environment for commands in processes of their own."""
    return {**os.environ, "PYTHONPATH": str(FAKES), "COLUMNS": "200", **more}


def start(*arguments, cwd, **options):
    """Start a command in a process of its own."""
    command = [sys.executable, "-P", "-m", "pipeline", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


@pytest.fixture(scope="session")
def ray():
    """One Ray for all tests of this session."""
    import ray

    from pipeline.executors.ray import start_local

    os.environ["PYTHONPATH"] = str(FAKES)
    start_local(2)
    yield ray
    ray.shutdown()
