"""MLflow's faults with real processes: servers that run, are killed, never answer; locked databases; many commands at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager

import psutil
import pytest
from conftest_tools import FAKE, finish, start, wait_until

from pipeline.store import load

COMMON = [*(one for one in FAKE if one != "tracking=off"), "compute=inline"]
QUICK = [*COMMON, "solver=trivial"]
LONG_STEPS = 250  # ten at a time, a second each: the first point takes 25 s, the nine others a second


def ten_points(steps):
    """Ask for ten points of which the first takes a second for ten `steps`."""
    zipped = f"sweep.zip={{solver.steps: [{steps}{', 10' * 9}], seed: {list(range(10))}}}"
    return [*COMMON, "solver=walk", "solver.pause_s=1", zipped, "compute.checkpoint_s=0", "out=outs/it"]


LONG = ten_points(LONG_STEPS)


# ---- servers and databases ---------------------------------------------------------------------------------------------------


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class Server:
    """`mlflow server` on loopback, which can be killed and started again."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        store = ["--backend-store-uri", f"sqlite:///{self.folder / 'server.db'}", "--artifacts-destination", self.folder / "files"]
        where = ["--host", "127.0.0.1", "--port", self.port, "--workers", "1"]
        command = [sys.executable, "-m", "mlflow", "server", *map(str, [*store, *where])]
        environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, env=environment, start_new_session=True
            )
        wait_until(self.answers, 120)

    def answers(self):
        try:
            urllib.request.urlopen(f"{self.uri}/health", timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self):
        """End it and its workers without a word."""
        if self.process is None:
            return
        doomed = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        for one in doomed:
            one.kill()
        self.process.wait()
        psutil.wait_procs(doomed, 10)
        self.process = None


@contextmanager
def a_server(folder):
    server = Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    with a_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def server(tmp_path):
    with a_server(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def new_database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    client(f"sqlite:///{folder / 'mlflow.db'}")
    return folder / "mlflow.db"


@pytest.fixture
def beside(tmp_path, new_database):
    """The store beside sweeps of `outs/`."""
    (tmp_path / "outs").mkdir()
    shutil.copy(new_database, tmp_path / "outs")
    return f"sqlite:///{tmp_path / 'outs' / 'mlflow.db'}"


def client(uri):
    from mlflow import MlflowClient

    return MlflowClient(uri)


def on(uri):
    return ["tracking=server", f"tracking.uri={uri}"] if uri.startswith("http") else []


def noted(folder):
    """Return the run's id and whether all is recorded, as manifest.json says."""
    try:
        known = json.loads((folder / "manifest.json").read_text()).get("mlflow_runs", {})
    except OSError:
        known = {}
    return next(((one["id"], one["complete"]) for one in known.values()), (None, False))


def children(opened, run_id):
    run = opened.get_run(run_id)
    return opened.search_runs([run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run_id}'")


def curve(opened, run_id, name):
    return [one.step for one in opened.get_metric_history(run_id, name)]


def followed(opened, process, folder, steps=2):
    """Wait until MLflow shows a sweep that runs, and how far its long point is; return both runs' ids."""
    wait_until(lambda: noted(folder)[0] is not None or process.poll() is not None)
    assert process.poll() is None, process.communicate()[0]
    run_id = noted(folder)[0]
    wait_until(lambda: len(curve(opened, run_id, "points/done")) >= steps)
    wait_until(lambda: [one for one in children(opened, run_id) if len(curve(opened, one.info.run_id, "total")) >= steps])
    (child,) = children(opened, run_id)
    return run_id, child.info.run_id


def all_recorded(opened, run_id, child_id, gap=0, long=LONG_STEPS):
    """Hold a run to what it must tell of the whole sweep in the end; up to `gap` steps died with a driver before it told them."""
    run = opened.get_run(run_id)
    assert (run.info.status, run.data.metrics["points/done"]) == ("FINISHED", 10)
    found = children(opened, run_id)
    assert len(found) == 10
    assert {one.info.status for one in found} == {"FINISHED"}
    assert child_id in [one.info.run_id for one in found], "the run that was begun, not a new one"
    steps = sorted(curve(opened, child_id, "total"))
    assert sorted({*steps}) == steps[:-1], "each step once, and the final number at the last"
    missing = {*range(10, long + 1, 10)}.symmetric_difference(steps)
    assert len(missing) <= gap, missing
    assert opened.get_run(child_id).data.params["solver.steps"] == str(long)
    assert len(opened.search_runs([run.info.experiment_id])) >= 11
    assert "report.html" in [one.path for one in opened.list_artifacts(run_id)]


def lines(out):
    return [line for line in out.splitlines() if line.startswith("tracking:")]


# ---- a server that is well ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_ten_points_are_followed_on_a_server_while_they_run(tmp_path, shared_server):
    opened = client(shared_server.uri)
    process = start(*LONG, *on(shared_server.uri), cwd=tmp_path)
    run_id, child_id = followed(opened, process, tmp_path / "outs" / "it")
    assert process.poll() is None, "seen while the sweep runs"
    run, child = opened.get_run(run_id), opened.get_run(child_id)
    assert (run.info.status, child.info.status) == ("RUNNING", "RUNNING")
    assert child.data.tags["minimex.live"] == "yes"
    assert {"points/done", "points/failed", "points_per_s", "busy"} <= set(run.data.metrics)
    steps = curve(opened, run_id, "busy")
    assert 8 <= steps[0] < steps[1] < 60, "seconds since the start"
    status, out = finish(process)
    assert (status, lines(out)) == (0, []), out
    all_recorded(opened, run_id, child_id)


@pytest.mark.long
def test_a_thousand_points_on_a_server_are_one_run_within_seconds(tmp_path, shared_server):
    began = time.monotonic()
    status, out = finish(start(*QUICK, "seed=range(0,1000)", "out=outs/many", *on(shared_server.uri), cwd=tmp_path))
    took = time.monotonic() - began
    assert (status, lines(out)) == (0, []), out
    run_id, complete = noted(tmp_path / "outs" / "many")
    opened = client(shared_server.uri)
    assert complete
    assert opened.get_run(run_id).data.metrics["points/done"] == 1000
    assert children(opened, run_id) == []
    assert took < 60


# ---- a server that is not ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_server_that_is_down_at_the_start_costs_one_line_and_track_records_later(tmp_path):
    server = Server(tmp_path)
    status, out = finish(start(*QUICK, "seed=1,2", "out=outs/it", *on(server.uri), cwd=tmp_path))
    assert status == 0
    (line,) = lines(out)
    assert "was not reached (connection refused)" in line
    assert f"`minimex track outs/it uri={server.uri}` records them later" in line
    assert len(load(tmp_path / "outs" / "it").points) == 2
    status, out = finish(start("track", "outs/it", f"uri={server.uri}", cwd=tmp_path))
    assert (status, len(lines(out))) == (1, 1)
    try:
        server.start()
        status, out = finish(start("track", "outs/it", f"uri={server.uri}", cwd=tmp_path))
        assert (status, lines(out)) == (0, [])
        assert f"MLflow   {server.uri}/#/" in out
        run_id, complete = noted(tmp_path / "outs" / "it")
        assert complete
        assert len(children(client(server.uri), run_id)) == 2
    finally:
        server.kill()


@pytest.mark.long
def test_a_server_killed_in_mid_run_loses_nothing(tmp_path, server):
    opened = client(server.uri)
    process = start(*LONG, *on(server.uri), cwd=tmp_path)
    run_id, child_id = followed(opened, process, tmp_path / "outs" / "it")
    server.kill()
    assert process.poll() is None
    status, out = finish(process)
    assert status == 0, out
    assert len(load(tmp_path / "outs" / "it").points) == 10
    assert "10/10 points" in out
    assert len(lines(out)) == 2, "one while it ran, one at its end"
    server.start()
    status, said = finish(start("track", "outs/it", f"uri={server.uri}", cwd=tmp_path))
    assert (status, lines(said)) == (0, [])
    assert noted(tmp_path / "outs" / "it") == (run_id, True)
    all_recorded(opened, run_id, child_id)


@pytest.mark.long
def test_a_server_that_comes_back_in_mid_run_is_told_again(tmp_path, server):
    opened = client(server.uri)
    process = start(*ten_points(900), *on(server.uri), cwd=tmp_path)
    run_id, child_id = followed(opened, process, tmp_path / "outs" / "it")
    server.kill()
    time.sleep(6)  # it is missed
    server.start()
    there = len(curve(opened, child_id, "total"))
    wait_until(lambda: len(curve(opened, child_id, "total")) > there or process.poll() is not None)
    assert process.poll() is None, "told again while the sweep runs"
    status, out = finish(process)
    assert (status, len(lines(out))) == (0, 1), out
    assert noted(tmp_path / "outs" / "it") == (run_id, True)
    all_recorded(opened, run_id, child_id, long=900)


@pytest.mark.long
def test_a_server_that_never_answers_holds_nobody_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = start(*LONG, *on(uri), cwd=tmp_path)
        published = tmp_path / "outs" / "it" / "points.parquet"
        wait_until(published.exists)
        began = time.monotonic()
        status, out = finish(process)
        took = time.monotonic() - began
    assert status == 0
    assert ["no answer in time" in line for line in lines(out)] == [True, True]
    assert took < 15
    started = load(tmp_path / "outs" / "it").table("progress")
    assert max(started["elapsed_s"].to_pylist()) < 30, "the sweep itself took no longer"


# ---- a database that is locked -----------------------------------------------------------------------------------------------


@contextmanager
def held(uri):
    """Another process that has the database to itself."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, uri.removeprefix("sqlite:///")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield
    finally:
        process.communicate("")


@pytest.mark.long
@pytest.mark.parametrize("arguments", [[*QUICK, "seed=range(0,10)", "out=outs/it"], LONG], ids=["short", "long"])
def test_a_locked_database_costs_seconds_and_track_records_later(tmp_path, beside, arguments):
    with held(beside):
        process = start(*arguments, cwd=tmp_path)
        wait_until((tmp_path / "outs" / "it" / "points.parquet").exists)
        began = time.monotonic()
        status, out = finish(process)
        took = time.monotonic() - began
        assert status == 0, out
        said = lines(out)
        assert ["another process holds the database locked" in line for line in said] == [True] * (
            1 if arguments is not LONG else 2
        )
        assert took < 15
        assert len(load(tmp_path / "outs" / "it").points) == 10
        assert finish(start("track", "outs/it", cwd=tmp_path))[0] == 1
    status, out = finish(start("track", "outs/it", cwd=tmp_path))
    assert (status, lines(out)) == (0, [])
    run_id, complete = noted(tmp_path / "outs" / "it")
    assert complete
    assert len(children(client(beside), run_id)) == 10


# ---- many at once ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_four_commands_that_create_the_store_at_once_are_all_in_it(tmp_path):
    names = [f"number{place}" for place in range(4)]
    started = [start(*QUICK, f"seed={place},10", f"out=outs/{name}", cwd=tmp_path) for place, name in enumerate(names)]
    for process in started:
        status, out = finish(process)
        assert (status, lines(out)) == (0, []), out
    opened = client(f"sqlite:///{tmp_path / 'outs' / 'mlflow.db'}")
    runs = {name: opened.get_run(noted(tmp_path / "outs" / name)[0]) for name in names}
    assert {name: run.info.run_name for name, run in runs.items()} == {name: name for name in names}
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert [len(children(opened, run.info.run_id)) for run in runs.values()] == [2] * 4


@pytest.mark.long
def test_two_sweeps_at_once_are_followed_side_by_side(tmp_path, beside):
    opened = client(beside)
    both = {name: start(*LONG, f"out=outs/{name}", cwd=tmp_path) for name in ("one", "two")}
    seen = {name: followed(opened, process, tmp_path / "outs" / name) for name, process in both.items()}
    assert {opened.get_run(run_id).info.status for run_id, _ in seen.values()} == {"RUNNING"}
    for name, process in both.items():
        status, out = finish(process)
        assert (status, lines(out)) == (0, []), out
        all_recorded(opened, *seen[name])


# ---- a driver that is killed -------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_early_leaves_no_process_and_its_runs_to_the_next_command(tmp_path, beside, number):
    opened = client(beside)
    process = start(*LONG, cwd=tmp_path, start_new_session=True)
    run_id, child_id = followed(opened, process, tmp_path / "outs" / "it")
    helpers = psutil.Process(process.pid).children(recursive=True)
    assert helpers
    if number == signal.SIGINT:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal: to everybody
    else:
        process.kill()
    out, _ = process.communicate()
    assert process.returncode == (-9 if number == signal.SIGKILL else 130), out
    assert "Traceback" not in out
    _, alive = psutil.wait_procs(helpers, 20)
    assert alive == []
    assert {opened.get_run(one).info.status for one in (run_id, child_id)} == {"KILLED"}
    status, out = finish(start(*LONG, cwd=tmp_path))
    assert (status, lines(out)) == (0, []), out
    assert noted(tmp_path / "outs" / "it") == (run_id, True)
    all_recorded(opened, run_id, child_id, gap=9)
    with closing(sqlite3.connect(beside.removeprefix("sqlite:///"))) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (11,), "nothing was recorded twice"
