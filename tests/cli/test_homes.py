"""Where a sweep may live, and what the same command given again makes good."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.store import load

SWEEP = ["solver=trivial", "seed=1,2"]


@pytest.mark.parametrize("name", ["report.html", "points.parquet", "thesis.tex"])
def test_a_folder_of_somebody_elses_is_left_alone(fake, name):
    Path("mine").mkdir()
    Path("mine", name).write_text("precious")
    answer = fake(*SWEEP, "out=mine")
    assert answer.status == 2
    assert "out: expected a new or empty folder, or a sweep's directory, got 'mine'" in answer.text
    assert {path.name: path.read_text() for path in Path("mine").iterdir()} == {name: "precious"}


def test_a_folder_of_sweeps_is_no_sweep(fake):
    assert fake(*SWEEP, "out=outs/it").status == 0
    assert fake(*SWEEP, "out=outs").status == 2
    assert sorted(path.name for path in Path("outs").iterdir()) == ["it"]


def test_an_empty_folder_and_a_sweep_without_its_lock_will_do(fake):
    Path("empty").mkdir()
    Path("empty", ".gitkeep").touch()
    assert fake(*SWEEP, "out=empty").status == 0
    Path("empty", "_lock").unlink()
    shutil.copytree("empty", "copied")
    answer = fake("solver=trivial", "seed=1,2,3", "out=copied")
    assert answer.status == 0
    assert len(load("copied").points) == 3


def test_home_is_where_the_shell_has_it(fake, minimex, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert fake(*SWEEP, "out='~/it'").status == 0
    assert (tmp_path / "home" / "it" / "points.parquet").exists()
    assert minimex("show", "~/it").status == 0
    assert not Path("~").exists()


def test_what_was_not_judged_is_judged_by_the_same_command(fake):
    assert fake(*SWEEP, "out=it", "verify=false").status == 0
    assert not Path("it/checks.parquet").exists()
    answer = fake(*SWEEP, "out=it")
    assert "firsts: 2 proved" in answer.text
    stamp = Path("it/checks.parquet").stat().st_mtime_ns
    fake(*SWEEP, "out=it")
    assert Path("it/checks.parquet").stat().st_mtime_ns == stamp, "nothing is judged twice"


def test_rows_that_are_not_published_yet_are_named(fake, minimex):
    assert fake(*SWEEP, "out=it").status == 0
    Path("it/points.parquet").unlink()
    Path("it/journal/000001-abc").mkdir(parents=True)
    answer = minimex("show", "it")
    assert answer.status == 2
    assert "it: expected published points, got none yet (they are in journal/" in answer.text
    assert "no such folder" in minimex("show", "nowhere").text
