"""Adaptive sweeps of real processes: killed between rounds and in them, on Ray, interrupted; the end is as if nothing had been."""

from __future__ import annotations

import json
import random
import signal
import subprocess

import pytest
from conftest_tools import FAKE, finish, start, tables, wait_until

from pipeline.store import load

WALK = [
    *FAKE,
    "solver=walk",
    "solver.steps=10",
    "seed=range(0,8)",
    "compute.checkpoint_s=0",
    "sweep.summary=minimex_fakes.rounds:longest",
]
ENDS = [80] * 8  # of goals 50, 51, ... 57: below 80


def next_of(**more):
    words = ", ".join(f"{key}: {value}" for key, value in {"goal": 50, "step": 1, **more}.items())
    return f"sweep.next={{function: minimex_fakes.rounds:double, {words}}}"


def everything(root):
    return tables(root), load(root).table("longest").to_pylist()


@pytest.fixture(scope="module")
def undisturbed_rounds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds") / "alone"
    folder.mkdir()
    status, out = finish(start(*WALK, next_of(), "compute=inline", "out=it", cwd=folder))
    assert status == 0, out
    assert load(folder / "it").table("longest")["steps"].to_pylist() == ENDS
    return everything(folder / "it")


@pytest.mark.parametrize("kill_at", [10, 20, 80])
def test_killed_between_rounds_it_goes_on_where_it_was(tmp_path, undisturbed_rounds, kill_at):
    command = [*WALK, next_of(kill_at=kill_at), "compute=inline", "out=it"]
    status, _ = finish(start(*command, cwd=tmp_path))
    assert status == -signal.SIGKILL
    told = json.loads((tmp_path / "it" / "status.json").read_text())
    assert told["state"] == "between rounds"
    assert len(load(tmp_path / "it").points) == 8 * [10, 20, 40, 80].index(kill_at) + 8

    status, out = finish(start(*command, cwd=tmp_path))

    assert status == 0, out
    assert everything(tmp_path / "it") == undisturbed_rounds
    if kill_at == 80:
        assert "/s" not in out.partition("longest")[0]  # all was known: nothing is computed again


def test_killed_at_random_moments(tmp_path, undisturbed_rounds):
    moments = random.Random(5)
    command = [*WALK, next_of(pause_s=0.2), "solver.pause_s=0.01", "compute=inline", "out=it"]
    whole, kills = 0, 0
    while not whole:
        process = start(*command, cwd=tmp_path)
        wait_until((tmp_path / "it" / "journal").exists)
        try:
            process.wait(timeout=moments.uniform(0.3, 2.0) if kills < 4 else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            continue
        whole = 1
        assert process.returncode == 0, process.communicate()[0]
        process.communicate()
    assert kills > 0
    slow = everything(tmp_path / "it")
    assert slow[1] == undisturbed_rounds[1]
    assert [row["total"] for row in slow[0]["sums"]] == [row["total"] for row in undisturbed_rounds[0]["sums"]]  # in one order


def test_interrupted_it_asks_for_no_further_round(tmp_path, undisturbed_rounds):
    command = [*WALK, next_of(pause_s=3), "compute=inline", "out=it"]
    process = start(*command, cwd=tmp_path)
    wait_until((tmp_path / "it" / "points.parquet").exists)
    process.send_signal(signal.SIGINT)
    status, out = finish(process)
    assert status == 130, out
    assert len(load(tmp_path / "it").points) == 8
    assert load(tmp_path / "it").table("longest")["steps"].to_pylist() == [10] * 8  # what is published is summed up
    status, out = finish(start(*WALK, next_of(), "compute=inline", "out=it", cwd=tmp_path))
    assert status == 0, out
    assert everything(tmp_path / "it") == undisturbed_rounds


def test_ray_starts_once_for_all_rounds(tmp_path, undisturbed_rounds):
    status, out = finish(start(*WALK, next_of(), "compute=ray", "compute.cpus=2", "out=it", cwd=tmp_path))
    assert status == 0, out
    assert out.count("to start)") == 1
    assert "round 4" in out
    assert everything(tmp_path / "it") == undisturbed_rounds


def test_one_small_point_that_becomes_many_moves_to_ray(tmp_path):
    words = "sweep.next={function: minimex_fakes.rounds:answers, json_text: '[{\"seed\": [1, 2, 3]}]'}"
    status, out = finish(start(*FAKE, "solver=walk", "compute.cpus=2", words, "out=it", cwd=tmp_path))
    assert status == 0, out
    assert out.count("to start)") == 1
    assert len(load(tmp_path / "it").points) == 4
