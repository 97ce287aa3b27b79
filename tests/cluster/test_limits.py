"""Points that hang, take all memory or leak, on purpose: that row only says so, the rest is done, here and on Ray."""

from __future__ import annotations

import signal
import time

import psutil
import pytest
from conftest_tools import FAKE, SIXTY, finish, start, tables, wait_until

from pipeline.store import load

THREE = ["solver=trouble", "sweep.grid={game.values: [[1],[2],[3]]}", "solver.points=[1]", "verify=false", "out=it"]
EVERYWHERE = pytest.mark.parametrize("compute", ["inline", "ray"])


def outcomes():
    """Return the bad point's row, having seen that the others are done."""
    bad, *fine = load("it").points.to_pylist()
    assert [row["status"] for row in fine] == ["done", "done"]
    assert load("it").table("firsts")["first"].to_pylist() == ["2", "3"]
    return bad


# ---- time --------------------------------------------------------------------------------------------------------------------


@EVERYWHERE
@pytest.mark.parametrize(("kind", "seconds", "where"), [("hang", 0.5, "_fail"), ("spin", 2, "_spin")])
def test_an_endless_loop_is_killed_with_its_stack(fake, ray, *, compute, kind, seconds, where):
    answer = fake(*THREE, f"solver.kind={kind}", f"compute.timeout_s={seconds}", f"compute={compute}")
    assert answer.status == 1
    hung = outcomes()
    assert hung["status"] == "timeout"
    assert f"time limit of {float(seconds)} s passed" in hung["error"]
    assert where in hung["traceback"]


@EVERYWHERE
@pytest.mark.parametrize("kind", ["ignore", "block"])
def test_a_point_that_ignores_the_alarm_is_ended_from_outside(fake, ray, monkeypatch, compute, kind):
    monkeypatch.setattr("pipeline.scheduler._BACKSTOP_S", 1.0)
    answer = fake(*THREE, f"solver.kind={kind}", "compute.timeout_s=2", f"compute={compute}")
    assert answer.status == 1
    assert outcomes()["status"] == "timeout"


def test_a_slow_point_that_yields_says_what_it_has(fake):
    answer = fake("solver=walk", "solver.steps=1000", "solver.pause_s=0.05", "compute.timeout_s=0.5", "out=it")
    assert answer.status == 0
    sweep = load("it")
    assert sweep.points["status"].to_pylist() == ["incomplete"]
    assert 0 < len(sweep.table("sums")) < 100


def test_a_dying_point_is_a_row(fake):
    answer = fake(*THREE, "solver.kind=die", "compute.timeout_s=60")
    assert answer.status == 1
    dead = outcomes()
    assert dead["status"] == "failed"
    assert "exit code 7" in dead["error"]


# ---- memory ------------------------------------------------------------------------------------------------------------------


@EVERYWHERE
@pytest.mark.parametrize("kind", ["huge", "allocate", "crumbs", "creep"])
def test_memory_limit_is_a_row(fake, ray, compute, kind):
    answer = fake(*THREE, f"solver.kind={kind}", "compute.memory_gb=1", f"compute={compute}")
    assert answer.status == 1
    greedy = outcomes()
    assert (greedy["status"], greedy["attempts"]) == ("failed", 1)
    assert "memory limit of 1.0 GB reached" in greedy["error"]


LEAKS = ["solver=trouble", "solver.kind=leak", "solver.points=[1]", "compute.memory_gb=0.5", "verify=false", "out=it"]
LEAKS += ["compute.box_s=300"]  # nothing but its leaks ends a batch


def largest(process, name):
    """Return the most memory that a worker whose command line has `name` in it fills alone, in GB."""
    most = 0.0
    for one in process.children(recursive=True):
        try:
            if name in " ".join(one.cmdline()):
                told = one.memory_info()
                most = max(most, (told.rss - told.shared) / 2**30)
        except psutil.Error:
            continue
    return most


@pytest.mark.parametrize(
    ("where", "name"),
    [("compute=inline", "spawn_main"), pytest.param("compute=ray compute.cpus=1", "_stream", marks=pytest.mark.long)],
)
def test_a_worker_that_leaks_is_replaced(tmp_path, where, name):
    process = start(*FAKE, *LEAKS, "seed=range(0,40)", *where.split(), cwd=tmp_path)
    family, sizes = psutil.Process(process.pid), []
    while process.poll() is None:
        sizes.append(largest(family, name))
        time.sleep(0.02)
    out = process.communicate()[0]
    assert process.returncode == 0, out
    points = load(tmp_path / "it").points
    assert points["status"].to_pylist() == ["done"] * 40
    assert points["attempts"].to_pylist() == [1] * 40, "nobody is charged"
    assert len(load(tmp_path / "it").table("firsts")) == 40
    assert 0.4 < max(sizes) < 0.5 + 0.1 + 0.25, "its own limit, the last leak, and what a worker fills at its beginning"


@pytest.mark.long
def test_without_a_limit_rays_own_watch_over_memory_is_a_row(tmp_path, monkeypatch):
    told = psutil.virtual_memory()
    threshold = (told.total - told.available + 2 * 2**30) / told.total  # two GB more than are used now
    monkeypatch.setenv("RAY_memory_usage_threshold", f"{threshold:.3f}")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    monkeypatch.chdir(tmp_path)
    status, out = finish(start(*FAKE, *THREE, "solver.kind=creep", "compute=ray", "compute.cpus=1", cwd=tmp_path))
    assert status == 1, out
    greedy = outcomes()
    assert (greedy["status"], greedy["attempts"]) == ("failed", 2)
    assert "memory" in greedy["error"], greedy["error"]


# ---- signals -----------------------------------------------------------------------------------------------------------------


def committed(folder, process):
    return lambda: list((folder / "it" / "journal").glob("0*")) or process.poll() is not None


@pytest.mark.long
def test_sigterm_on_ray_is_like_ctrl_c(tmp_path, undisturbed):
    process = start(*FAKE, *SIXTY, "compute=ray", "out=it", cwd=tmp_path)
    wait_until(committed(tmp_path, process))
    process.send_signal(signal.SIGTERM)
    status, out = finish(process)
    assert status == 130, out
    assert "the same command goes on" in out
    assert 0 < len(load(tmp_path / "it").points) < 60
    status, out = finish(start(*FAKE, *SIXTY, "compute=ray", "out=it", cwd=tmp_path))
    assert status == 0, out
    assert tables(tmp_path / "it") == undisturbed


@pytest.mark.long
@EVERYWHERE
def test_a_second_sigterm_ends_at_once(tmp_path, compute):
    slow = ["solver=trouble", "solver.pause_s=60", "solver.points=[]"]  # longer than anybody waits
    process = start(*FAKE, *slow, f"compute={compute}", "seed=1,2", "out=it", cwd=tmp_path)
    wait_until((tmp_path / "it" / ("status.json" if compute == "ray" else "journal")).exists)  # Ray has started
    time.sleep(3 if compute == "ray" else 1)
    family = psutil.Process(process.pid).children(recursive=True)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    status, out = finish(process)
    # the first one ends points that can be cancelled so soon that the second may find us past our handlers, on the way out
    assert status in {130, -signal.SIGTERM}, out
    assert time.monotonic() - began < 10
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive, "Ray's processes end with it"


@pytest.mark.long
def test_a_suspended_machine_loses_nothing(tmp_path, undisturbed):
    process = start(*FAKE, *SIXTY, "compute=ray", "compute.timeout_s=60", "out=it", cwd=tmp_path)
    wait_until(committed(tmp_path, process))
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for one in family:
        one.suspend()
    time.sleep(40)
    for one in family:
        one.resume()
    status, out = finish(process)
    assert status == 0, out
    assert tables(tmp_path / "it") == undisturbed
