"""Real processes that are killed: nothing lost, nothing doubled, same tables."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from conftest_tools import FAKE, SIXTY, environment, finish, start, tables, wait_until

from pipeline.store import load

# ---- the driver is killed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_driver_killed_at_random_moments(tmp_path, undisturbed, seed):
    moments = random.Random(seed)
    kills = 0
    while True:
        process = start(*FAKE, *SIXTY, "compute=inline", "out=it", cwd=tmp_path)
        wait_until((tmp_path / "it" / "journal").exists)
        try:
            process.wait(timeout=moments.uniform(0.1, 1.9) if kills < 5 else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0, process.communicate()[0]
        process.communicate()
        break
    assert kills > 1
    assert tables(tmp_path / "it") == undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_publishes_and_goes_on(tmp_path, undisturbed, number):
    process = start(*FAKE, *SIXTY, "compute=inline", "out=it", cwd=tmp_path)
    wait_until(lambda: list((tmp_path / "it" / "journal").glob("0*")) or process.poll() is not None)
    process.send_signal(number)
    status, out = finish(process)
    assert status == 130, out
    assert "the same command goes on" in out
    done = len(load(tmp_path / "it").points)
    assert 0 < done < 60
    status, out = finish(start(*FAKE, *SIXTY, "compute=inline", "out=it", cwd=tmp_path))
    assert status == 0
    assert tables(tmp_path / "it") == undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_judges_it_says_so_and_goes_on(tmp_path, number):
    slow = ["game=octal", "game.code=0.007", "solver=mex_dp", "solver.heap_limit=80000", "tracking=off", "compute=inline", "out=it"]
    process = start(*slow, cwd=tmp_path)
    wait_until(lambda: (tmp_path / "it" / "manifest.json").exists() or process.poll() is not None)
    process.send_signal(number)
    status, out = finish(process)
    assert status == 130, out
    assert "interrupted; what was done is in it, the same command goes on" in out
    assert not (tmp_path / "it" / "checks.parquet").exists()
    assert "it was interrupted; the same command goes on: minimex game=octal" in finish(start("status", "it", cwd=tmp_path))[1]
    status, out = finish(start(*slow, cwd=tmp_path))
    assert status == 0
    assert "periods: 1 proved" in out
    assert "it: ended · 1/1 points: 1 done" in finish(start("status", "it", cwd=tmp_path))[1]


def test_a_long_point_goes_on_from_its_checkpoint_after_kill(tmp_path):
    long = ["solver=walk", "solver.steps=400", "solver.pause_s=0.05", "compute.checkpoint_s=0", "compute=inline", "out=it"]
    process = start(*FAKE, *long, cwd=tmp_path)
    wait_until(lambda: len(list((tmp_path / "it" / "checkpoints").glob("*/[1-9]*0.npz"))) > 0 and stored(tmp_path) >= 100)
    process.kill()
    process.communicate()
    reached = stored(tmp_path)
    status, out = finish(start(*FAKE, *long, cwd=tmp_path))
    assert status == 0, out
    steps = load(tmp_path / "it").table("progress")["done"].to_pylist()
    assert min(steps) == reached + 10, "nothing that was stored is walked again"
    finish(start(*FAKE, *long[:-1], "out=other/fresh", cwd=tmp_path))
    columns = ["step", "total", "noise", "noise_hex"]
    again, once = (load(tmp_path / place).table("sums").select(columns) for place in ("it", "other/fresh"))
    assert again.to_pylist() == once.to_pylist()


def stored(folder):
    return max((int(path.stem) for path in (folder / "it" / "checkpoints").glob("*/*.npz")), default=0)


# ---- Ray ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("cpus", [1, 2])
def test_same_tables_from_ray_with_one_and_two_tasks(fake, undisturbed, cpus):
    assert fake(*SIXTY, "compute=ray", f"compute.cpus={cpus}", "out=it").status == 0
    assert tables("it") == undisturbed


@pytest.mark.usefixtures("ray")
def test_batches_of_small_points(fake):
    many = ["solver=trivial", "seed=range(0,3000)"]
    fake(*many, "out=one/inline")
    fake(*many, "compute=ray", "out=two/ray")
    assert tables("one/inline") == tables("two/ray")
    assert len(load("two/ray").points) == 3000


@pytest.mark.usefixtures("ray")
def test_three_bad_points_among_a_hundred(fake):
    bad = ["solver=mixed", "sweep.grid={game.values: [%s]}" % ", ".join(f"[{number}]" for number in range(100))]  # noqa: UP031
    answer = fake(*bad, "compute=ray", "compute.timeout_s=1", "out=it")
    assert answer.status == 1
    points = load("it").points.to_pylist()
    assert [row["status"] for row in points].count("done") == 97
    failed = {json_first(row): row for row in points if row["status"] != "done"}
    assert {number: row["status"] for number, row in failed.items()} == {13: "failed", 47: "timeout", 71: "failed"}
    assert failed[13]["error"] == "ArithmeticError: raised on purpose"
    assert "_fail" in failed[13]["traceback"]
    assert "time limit of 1" in failed[47]["error"]
    assert "_fail" in failed[47]["traceback"], "the stack of the hanging point"
    assert "worker died" in failed[71]["error"]
    assert failed[71]["attempts"] == 2
    assert len(load("it").table("firsts")) == 97


def json_first(row):
    import json

    return int(json.loads(row["config"])["game"]["fields"]["values"][0])


@pytest.mark.usefixtures("ray")
def test_workers_killed_at_random_moments(fake, undisturbed):
    import threading

    ended = threading.Event()
    killed = []

    def kill_workers():
        moments = random.Random(3)
        while not ended.is_set() and len(killed) < 4:
            time.sleep(moments.uniform(0.3, 0.9))
            workers = [one for one in psutil.Process().children(recursive=True) if "ray::" in " ".join(cmdline(one))]
            busy = [one for one in workers if "_stream" in " ".join(cmdline(one))]
            if busy:
                victim = moments.choice(busy)
                os.kill(victim.pid, signal.SIGKILL)
                killed.append(victim.pid)

    thread = threading.Thread(target=kill_workers)
    thread.start()
    try:
        answer = fake(*SIXTY, "compute=ray", "out=it", "compute.attempts=9")
    finally:
        ended.set()
        thread.join()
    assert answer.status == 0, answer.out
    assert killed
    assert tables("it") == undisturbed


def cmdline(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.long
def test_driver_on_ray_killed_and_started_again(tmp_path, undisturbed):
    process = start(*FAKE, *SIXTY, "compute=ray", "out=it", cwd=tmp_path)
    wait_until(lambda: list((tmp_path / "it" / "journal").glob("0*")) or process.poll() is not None)
    process.kill()
    process.communicate()
    status, out = finish(start(*FAKE, *SIXTY, "compute=ray", "out=it", cwd=tmp_path))
    assert status == 0, out
    assert tables(tmp_path / "it") == undisturbed


# ---- user's code -------------------------------------------------------------------------------------------------------------

MINE = """
class Mine:
    def values(self):
        return [3, 4]
"""


@pytest.mark.usefixtures("ray")
def test_a_users_class_travels_to_the_workers_and_needs_trust_to_be_verified(fake, minimex):
    Path("mine.py").write_text(MINE)
    answer = fake(
        "solver=trivial", "game.values=[]", "game.source=mine.py:Mine", "seed=1,2", "compute=ray", "verify=false", "out=it"
    )
    assert answer.status == 0
    assert load("it").table("firsts")["first"].to_pylist() == ["3", "3"]
    Path("mine.py").unlink()
    refused = minimex("verify", "it", "trust=[minimex_fakes]")
    assert refused.status == 1
    assert "trust=[source]" in refused.text
    assert minimex("verify", "it", "trust=[minimex_fakes,source]").status == 0


def test_checkpoint_of_another_kind_is_not_run(tmp_path):
    import numpy as np

    from pipeline.checkpoints import pack, unpack
    from solvers.contract import Checkpoint

    class Bomb:
        def __reduce__(self):
            return (os.system, ("true",))

    content = pack(Checkpoint(1, {"x": np.arange(3)}), Bomb())
    with pytest.raises(ValueError, match="may not hold"):
        unpack(content)


# ---- Ray itself --------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_raylet_that_dies_costs_no_point(tmp_path, undisturbed):
    process = start(*FAKE, *SIXTY, "compute=ray", "out=it", cwd=tmp_path)
    wait_until(lambda: list((tmp_path / "it" / "journal").glob("0*")) or process.poll() is not None)
    raylets = [one for one in psutil.Process(process.pid).children(recursive=True) if one.name() == "raylet"]
    assert raylets
    raylets[0].kill()
    status, out = finish(process)
    assert status == 0, out
    assert "going on with another" in out
    assert tables(tmp_path / "it") == undisturbed


CLOSED = """
import os, signal
from pipeline.events import Limits
from pipeline.executors.ray import RayExecutor, versions
told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
executor = RayExecutor(Limits(version=versions()), 1)
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
executor.close()
os.kill(os.getpid(), signal.SIGTERM)
print("told", told)
"""


@pytest.mark.long
def test_sigterm_after_ray_has_ended_is_still_ours():
    said = subprocess.run([sys.executable, "-P", "-c", CLOSED], env=environment(), capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "told [<Signals.SIGTERM: 15>]" in said.stdout or "told [15]" in said.stdout
