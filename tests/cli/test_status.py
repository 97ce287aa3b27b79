"""`minimex status` of sweeps that run, were killed, ended, and of a folder of them."""

from __future__ import annotations

import json
import time

import pytest
from conftest_tools import FAKE, start

from pipeline.journal import locked

LONG = ["solver=walk", "solver.steps=4000", "solver.pause_s=0.05", "compute.checkpoint_s=0", "compute=inline", "out=outs/it"]


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.fixture
def running(workdir):
    """Start a sweep with one long point, and wait until it says something."""
    process = start(*FAKE, *LONG, cwd=workdir)
    wait_until(lambda: told(workdir).get("solving") and told(workdir)["solving"][0]["done"])
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def told(folder):
    try:
        return json.loads((folder / "outs" / "it" / "status.json").read_text())
    except OSError:
        return {}


def test_a_running_sweep_says_how_far_its_long_points_are(running, minimex):
    answer = minimex("status", "outs/it")
    assert answer.status == 0
    assert "outs/it: running for" in answer.text
    assert "0/1 points" in answer.text
    assert f"process {running.pid} on" in answer.text
    assert "of 4,000" in answer.text
    assert "left" in answer.text
    as_json = json.loads(minimex("status", "outs/it", "to=json").out)
    assert as_json["running"] is True
    assert as_json["solving"][0]["total"] == 4000
    assert 0 < as_json["solving"][0]["done"] < 4000
    assert as_json["solving"][0]["metrics"]["total"] > 0


def test_a_killed_sweep_says_how_to_go_on(running, minimex, workdir):
    running.kill()
    running.wait()
    answer = minimex("status", "outs/it")
    assert answer.status == 0
    assert "not running" in answer.text
    assert "ended without a word" in answer.text
    assert "the same command goes on: minimex" in answer.text
    assert "solver.steps=4000" in answer.text
    with locked(workdir / "outs" / "it"):  # as by the next one while it starts
        assert "outs/it: running; starting, publishing or judging" in minimex("status", "outs/it").text


def test_an_ended_sweep_and_a_folder_of_sweeps(fake, minimex, workdir):
    fake("solver=trivial", "seed=range(0,7)", "out=outs/one")
    fake("solver=trouble", "solver.points=[1]", "game.values=[1]", "out=outs/two")
    assert "outs/one: ended · 7/7 points: 7 done" in minimex("status", "outs/one").text
    both = minimex("status", "outs").text
    assert "outs/one: ended · 7/7 points: 7 done" in both
    assert "outs/two: ended · 1/1 points: 1 failed" in both
    assert "go on" not in both
    (workdir / "outs" / "one" / "status.json").unlink()  # as before there was one
    assert "outs/one: not running · points recorded: 7 done" in minimex("status", "outs/one").text


def test_one_that_just_starts_runs(minimex, workdir):
    with locked(workdir / "outs" / "it"):
        for place in ("outs/it", "outs"):
            assert "outs/it: running; starting, publishing or judging · points recorded: none" in minimex("status", place).text


def test_points_are_counted_once(fake, minimex, workdir):
    fake("solver=trivial", "seed=range(0,7)", "out=outs/it")
    file = workdir / "outs" / "it" / "status.json"
    ended = json.loads(file.read_text())

    def says(**more):
        file.write_text(json.dumps(ended | {"state": "computing", "points": 40, **more}))
        with locked(file.parent):
            return minimex("status", "outs/it").text

    behind = says(finished={"done": 5})
    assert "· 7/40 points ·" in behind, "the journal knows more"
    assert "7 done" not in behind
    ahead = says(finished={"done": 8, "failed": 1})
    assert "· 9/40 points · 1 failed ·" in ahead, "not all is committed"
    assert "7 done" not in ahead
    others = says(finished={"done": 2}, recorded_before=5)
    assert "· 2/40 points ·" in others
    assert "in the directory: 7 done" in others
    assert "· 2/40 points ·" in says(finished={"done": 2}, recorded_before=None)


def test_points_of_commands_before_are_told_apart(fake, workdir):
    for first in (0, 7):
        fake("solver=trivial", f"seed=range({first},{first + 7})", "out=outs/it")
        assert told(workdir)["recorded_before"] == first


def test_what_is_no_sweep_is_refused(minimex, workdir):
    (workdir / "empty").mkdir()
    for name in ("empty", "nowhere"):
        answer = minimex("status", name)
        assert answer.status == 2
        assert f"{name}: expected a sweep's directory" in answer.text
    assert minimex("status").status == 2
    assert "expected json" in minimex("status", "empty", "to=csv").text
