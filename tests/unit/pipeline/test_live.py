"""MLflow while a sweep runs: what the driver sends, and what becomes of it; whole commands are in tests/cluster/test_mlflow.py."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import pytest
from made_sweeps import make_sweep

from pipeline.events import Advanced, Chunk, Outcome
from pipeline.live import LiveTracking, _Curve, _message, _Scribe
from pipeline.manifest import is_recorded, note_run
from pipeline.standing import Standing
from pipeline.store import load
from pipeline.tracking.record import track
from pipeline.tracking.where import Tracking

NAMES = {"a": "game=chess", "b": "game=go"}


def standing(total=10, **counts):
    found = Standing(NAMES, total, 0, 2, busy=1)
    found.counts.update(counts)
    return found


def advanced(point, done, elapsed_s=11.0, **metrics):
    return Chunk(advanced=(Advanced(point, done, None, elapsed_s, metrics or {"gap": 1 / done}),))


def watcher(folder, said, settings=Tracking()):  # noqa: B008
    (folder / "it").mkdir(exist_ok=True)
    return LiveTracking(folder / "it", settings, lambda: None, said.append)


# ---- the driver's side -------------------------------------------------------------------------------------------------------


def test_a_short_sweep_starts_nothing(tmp_path):
    said = []
    live = LiveTracking(tmp_path, Tracking(), lambda: said.append("kept"), said.append)
    for done in range(1, 1000):
        live.update(advanced("a", done, 0.1), standing())
    live.update(Chunk(finished=(Outcome("a", "done"),)), standing())
    live.close()
    assert live.process is None
    assert (said, live.curves, live.young) == ([], {}, {})


def test_only_long_points_are_followed_and_no_more_than_child_runs(tmp_path):
    live = watcher(tmp_path, [], Tracking(child_runs=1))
    live.update(advanced("b", 1, 9.9), standing())
    live.update(advanced("a", 1, 0.1), standing())
    live.update(advanced("a", 2, 10.1), standing())
    live.update(advanced("b", 3, 10.2), standing())
    live.update(advanced("a", 4, 11.0), standing())
    live.update(Chunk(finished=(Outcome("a", "timeout"), Outcome("b", "done"))), standing())
    assert list(live.curves) == ["a"]
    assert [done for done, _, _ in live.curves["a"].steps] == [1, 2, 4], "its whole curve"
    assert (live.curves["a"].name, live.curves["a"].status) == ("game=chess", "KILLED")
    assert live.young == {}


def test_a_message_always_fits_and_keeps_the_last_steps():
    steps = [(done, 0, {f"metric {number}": 1 / 3 for number in range(10)}) for done in range(200)]
    content = _message({"busy": 1}, {str(point): _Curve("x" * 200, 0, list(steps)) for point in range(50)}, None)
    assert len(content) <= 60_000
    told = json.loads(content)["curves"]
    assert len(told) == 50
    assert {curve["steps"][-1][0] for curve in told.values()} == {199}


def test_nobody_who_reads_costs_no_time_and_what_waits_is_merged(tmp_path):
    said = []
    live = watcher(tmp_path, said)
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mine.settimeout(0)
    live.process, live.link = object(), mine
    began = time.monotonic()
    for done in range(1, 3001):
        live.due = 0.0
        live.update(advanced("a", done), standing(done=done))
    assert time.monotonic() - began < 3
    assert 0 < len(live.curves["a"].steps) <= 200
    assert live.curves["a"].steps[-1][0] == 3000
    first = json.loads(theirs.recv(1 << 20))
    assert first["metrics"]["points/done"] == 1
    while True:
        try:
            theirs.settimeout(0.2)
            theirs.recv(1 << 20)
        except TimeoutError:
            break
    live.due = 0.0
    live.update(Chunk(), standing(done=3000, timeout=1))
    last = json.loads(theirs.recv(1 << 20))
    assert last["metrics"]["points/done"] == 3000
    assert last["metrics"]["points/timeout"] == 1
    assert last["curves"]["a"]["steps"][-1][0] == 3000
    assert (said, live.curves) == ([], {})
    mine.close()
    theirs.close()


def test_a_disk_that_is_full_is_one_line(tmp_path, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pipeline.live._QUIET_S", 0.0)
    said = []
    live = LiveTracking(tmp_path, Tracking(), full, said.append)
    for _ in range(3):
        live.update(Chunk(), standing())
    live.close()
    assert len(said) == 1
    assert "No space left" in said[0]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


# ---- a real process ----------------------------------------------------------------------------------------------------------


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def new_database(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    client(folder)
    return folder / "mlflow.db"


@pytest.fixture
def folder(tmp_path, new_database):
    shutil.copy(new_database, tmp_path)
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "manifest.json").write_text(json.dumps({"id": "f" * 32, "experiment": "tour"}))
    return tmp_path


def client(folder):
    from mlflow import MlflowClient

    return MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")


def run_in(folder):
    known = load_manifest(folder).get("mlflow_runs", {}).get("mlflow.db")
    return known and client(folder).get_run(known["id"])


def load_manifest(folder):
    return json.loads((folder / "it" / "manifest.json").read_text())


def curve(opened, run_id, name):
    return [one.step for one in opened.get_metric_history(run_id, name)]


def test_a_process_of_its_own_begins_the_run_and_its_death_is_one_line(folder, monkeypatch):
    monkeypatch.setattr("pipeline.live._QUIET_S", 0.0)
    monkeypatch.setattr("pipeline.live._EVERY_S", 0.2)
    said = []
    live = watcher(folder, said)

    def begun():
        live.update(Chunk(), standing(done=3))
        return run_in(folder) is not None and "busy" in run_in(folder).data.metrics

    wait_until(begun)
    run = run_in(folder)
    assert (run.info.status, run.info.run_name, run.data.tags["minimex.live"]) == ("RUNNING", "it", "yes")
    assert run.data.metrics["points/done"] == 3
    assert os.getpriority(os.PRIO_PROCESS, live.process.pid) > os.getpriority(os.PRIO_PROCESS, 0)
    live.process.kill()
    wait_until(lambda: live.update(Chunk(), standing()) or live.link is None)
    live.update(Chunk(), standing())
    live.close()
    assert len(said) == 1
    assert "ended with exit code -9" in said[0]
    assert "MLflow is told at its end" in said[0]


@pytest.mark.parametrize(("left", "status"), [(0, "RUNNING"), (7, "KILLED")])
def test_closing_tells_the_last_and_ends_the_process(folder, monkeypatch, left, status):
    monkeypatch.setattr("pipeline.live._QUIET_S", 0.0)
    said = []
    live = watcher(folder, said)
    live.update(Chunk(), standing())
    wait_until(lambda: live._hear() or run_in(folder))
    live.update(Chunk(), standing(3 + left, done=3))
    live.close()
    assert not live.process.is_alive()
    assert said == []
    assert run_in(folder).info.status == status, "a sweep that is not finished has nobody who computes it now"
    assert run_in(folder).data.metrics["points/done"] == 3


# ---- what becomes of it in MLflow --------------------------------------------------------------------------------------------


def message(curves, end=None, **metrics):
    at_ms = time.time_ns() // 1_000_000
    told = {
        point: {
            "name": "its name",
            "since_ms": at_ms - 20_000,
            "steps": [[done, at_ms, {"gap": 1 / done}] for done in steps],
            "status": status,
        }
        for point, (steps, status) in curves.items()
    }
    return {"at_ms": at_ms, "metrics": metrics, "curves": told, "end": end}


def began_ms():
    return time.time_ns() // 1_000_000 - 30_000


def test_track_completes_the_runs_that_were_begun(folder, monkeypatch):

    monkeypatch.setattr("pipeline.tracking.record.draw_pictures", lambda *_: [])
    points = [f"{place:032x}" for place in range(4)]
    scribe = _Scribe(folder / "it", Tracking(), began_ms())
    begun = scribe.open()
    scribe.tell(message({points[0]: ([5, 7], None), points[1]: ([3], "FINISHED")}, **{"points/done": 2.0}))
    scribe.tell(message({points[0]: ([9], None)}, end="RUNNING", **{"points/done": 3.0}))
    opened = client(folder)
    before = {one.data.tags["minimex.point"]: one.info for one in begun.children()}
    assert {point: info.status for point, info in before.items()} == {points[0]: "RUNNING", points[1]: "FINISHED"}
    note_run(folder / "it", "mlflow.db", begun.run_id, complete=False)

    sweep = make_sweep(folder / "it", 4, **load_manifest(folder))
    assert track(sweep, Tracking(), folder, print) == begun.run_id
    run = opened.get_run(begun.run_id)
    assert (run.info.status, run.data.metrics["points/done"]) == ("FINISHED", 4), "the end is the last step of the curve"
    assert sorted(one.value for one in opened.get_metric_history(begun.run_id, "points/done")) == [2, 3, 4]
    after = {one.data.tags["minimex.point"]: one for one in begun.children()}
    assert len(after) == 4
    assert {point: after[point].info.run_id for point in before} == {point: info.run_id for point, info in before.items()}
    assert {one.info.status for one in after.values()} == {"FINISHED"}
    assert all("game.a" in one.data.params for one in after.values())
    steps = curve(opened, before[points[0]].run_id, "gap")
    assert sorted(steps) == [1, *range(3, 21)], "each step once (the second is not a number)"
    assert is_recorded(load_manifest(folder), Tracking())
    requests = []
    monkeypatch.setattr("mlflow.MlflowClient.create_run", lambda *_, **__: requests.append("create"))
    monkeypatch.setattr("mlflow.MlflowClient.delete_run", lambda *_: requests.append("delete"))
    track(load(folder / "it"), Tracking(), folder, print)
    assert requests == [], "what is complete is left alone"


def test_a_large_sweep_has_runs_of_its_long_points_only(folder, monkeypatch):

    monkeypatch.setattr("pipeline.tracking.record.draw_pictures", lambda *_: [])
    scribe = _Scribe(folder / "it", Tracking(), began_ms())
    begun = scribe.open()
    scribe.tell(message({f"{2:032x}": ([5], None), "gone": ([1], None)}))
    sweep = make_sweep(folder / "it", 4, **load_manifest(folder))
    assert track(sweep, Tracking(child_runs=3), folder, print) == begun.run_id, "found by the directory's id"
    found = {one.data.tags["minimex.point"]: one.info.status for one in begun.children()}
    assert found == {f"{2:032x}": "FINISHED", "gone": "KILLED"}


def test_the_next_command_goes_on_with_the_runs_of_a_killed_driver(folder):
    first = _Scribe(folder / "it", Tracking(), began_ms())
    begun = first.open()
    first.tell(message({"a": ([1, 2, 3], None), "b": ([1], None)}))
    first.end("KILLED")
    assert {one.info.status for one in begun.children()} == {"KILLED"}
    second = _Scribe(folder / "it", Tracking(), began_ms())
    assert second.open().run_id == begun.run_id
    second.tell(message({"a": ([2, 3, 4], None)}, busy=1.0))
    opened = client(folder)
    assert opened.get_run(begun.run_id).info.status == "RUNNING"
    children = {one.data.tags["minimex.point"]: one.info for one in begun.children()}
    assert {point: info.status for point, info in children.items()} == {"a": "RUNNING", "b": "KILLED"}
    assert curve(opened, children["a"].run_id, "gap") == [1, 2, 3, 4], "what was walked again is told once"
    (step,) = curve(opened, begun.run_id, "busy")
    assert 30 <= step < 60
