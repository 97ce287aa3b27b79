"""`compute=cluster`: raylets as real processes, each on a machine of its own as far as the kernel can pretend (`clusters.py`)."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from clusters import Cluster, why_not
from conftest_tools import FAKE, FAKES, environment, start

from pipeline.executors.ray_node import private_folder
from pipeline.executors.ray_start import trusted_code
from pipeline.store import load
from solvers.schema import is_effort

ROOT = Path(__file__).parents[2]
CODE = [ROOT / "pipeline", ROOT / "solvers", ROOT / "hydra_plugins", ROOT / "conf", ROOT / "tests"]
SIXTY = ["solver=walk", "solver.steps=40", "solver.pause_s=0.05", "seed=range(0,60)", "compute.checkpoint_s=0", "verify=false"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(*FAKE, *SIXTY, "compute=inline", "out=whole/it", cwd=folder)
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 0, out
    return tables(folder / "whole" / "it")


@pytest.fixture
def cluster(tmp_path):
    if why_not() is not None:
        pytest.skip(f"several machines cannot be pretended here: {why_not()}")
    with Cluster(tmp_path) as cluster:
        yield cluster


def tables(root):
    """Return a sweep's tables as far as they must agree, points included."""
    sweep = load(root)
    found = {"points": sweep.points.select([*sweep.parameters, "point", "config", "status", "rows", "metrics"]).to_pylist()}
    for name in sweep.table_names:
        if name != "progress":
            table = sweep.table(name)
            found[name] = table.select([one.name for one in table.schema if not is_effort(one)]).to_pylist()
    return found


def sixty(cluster, *more, **variables):
    return cluster.minimex(*FAKE, *SIXTY, "compute=cluster", f"compute.address={cluster.gcs}", "out=it", *more, **variables)


def finish(process, seconds=120):
    out, _ = process.communicate(timeout=seconds)
    return process.returncode, out


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def under_way(cluster, process, commits=2):
    """Wait until some points are durable and the command still runs."""
    journal = cluster.work / "it" / "journal"
    wait_until(lambda: len(list(journal.glob("0*"))) >= commits or process.poll() is not None)
    assert process.poll() is None, process.communicate()[0]


# ---- a sweep over several machines -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_two_machines_that_share_no_disk_and_have_no_minimex(cluster, undisturbed):
    cluster.start(1, 1, hide=[cluster.work, *CODE])
    status, out = finish(sixty(cluster))
    assert status == 0, out
    assert tables(cluster.work / "it") == undisturbed
    assert f"2 cores of 2 nodes at {cluster.gcs}: host-a/" in out
    assert "used 2 nodes: host-a/" in out
    nodes = load(cluster.work / "it").points["node"].to_pylist()
    assert {name.partition("/")[0] for name in nodes} == {"host-a", "host-b"}


@pytest.mark.long
def test_a_machine_lost_another_one_gained(cluster, undisturbed):
    cluster.start(1, 1)
    process = sixty(cluster)
    under_way(cluster, process)
    assert cluster.nodes[1].kill("raylet/raylet")
    cluster.machine().ray(cpus=2)
    status, out = finish(process)
    assert status == 0, out
    assert tables(cluster.work / "it") == undisturbed
    points = load(cluster.work / "it").points
    assert {name.partition("/")[0] for name in points["node"].to_pylist()} == {"host-a", "host-b", "host-c"}
    assert "(2 cores," in out, "as many batches as the new machine has cores"
    assert re.search(r"host-c/\w{6} \(2\) joined", out), out
    assert "host-c/" in json.loads((cluster.work / "it" / "status.json").read_text())["where"]


@pytest.mark.long
def test_machines_that_go_charge_no_point(cluster):
    cluster.start(0, 2)
    ten = ["solver=walk", "solver.steps=120", "solver.pause_s=0.8", "seed=range(0,10)", "verify=false", "compute.attempts=1"]
    process = cluster.minimex(*FAKE, *ten, "compute=cluster", f"compute.address={cluster.gcs}", "out=it")
    under_way(cluster, process, commits=1)
    for lost in (1, 2):  # the first takes whole batches along, their points run alone from then on
        cluster.machine().ray(cpus=2)
        cluster.wait_for(lost + 2)
        time.sleep(4)
        assert cluster.nodes[lost].kill("raylet/raylet", "ray::")
    status, out = finish(process)
    assert status == 0, out
    assert load(cluster.work / "it").points["attempts"].to_pylist() == [1] * 10
    assert re.findall(r"(host-\w)/\w{6} is gone; its points run again elsewhere", out) == ["host-b", "host-c"], out
    where = json.loads((cluster.work / "it" / "status.json").read_text())["where"]
    assert "host-d/" in where
    assert "host-b/" not in where


@pytest.mark.long
def test_workers_killed_on_another_machine(cluster, undisturbed):
    cluster.start(1, 1)
    process = sixty(cluster, "compute.attempts=9")
    under_way(cluster, process)
    killed = []
    for _ in range(3):
        killed += cluster.nodes[1].kill("ray::_stream")
        time.sleep(0.7)
    status, out = finish(process)
    assert killed
    assert status == 0, out
    assert tables(cluster.work / "it") == undisturbed
    assert "(raylet)" not in out


@pytest.mark.long
def test_driver_killed_and_started_again(cluster, undisturbed):
    cluster.start(1, 1)
    process = sixty(cluster)
    under_way(cluster, process)
    process.kill()
    process.communicate()
    status, out = finish(sixty(cluster))
    assert status == 0, out
    assert tables(cluster.work / "it") == undisturbed


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_publishes_and_goes_on(cluster, undisturbed, number):
    cluster.start(1, 1)
    process = sixty(cluster)
    under_way(cluster, process)
    process.send_signal(number)
    status, out = finish(process)
    assert status == 130, out
    assert 0 < len(load(cluster.work / "it").points) < 60
    assert not list((cluster.work / "it" / "journal").glob("0*"))
    status, out = finish(sixty(cluster))
    assert status == 0, out
    assert tables(cluster.work / "it") == undisturbed


@pytest.mark.long
def test_the_head_is_lost_and_does_not_come_back(cluster, undisturbed):
    cluster.start(0, 2)
    process = sixty(cluster, "compute.patience_s=5")
    under_way(cluster, process)
    began = time.monotonic()
    cluster.nodes[0].kill("/ray/", "ray::", "ray start")
    status, out = finish(process)
    assert status == 1, out
    assert "waited 5 s (compute.patience_s); what was done is saved" in out
    assert "Traceback" not in out
    assert time.monotonic() - began < 60
    done = len(load(cluster.work / "it").points)
    assert 0 < done < 60
    assert not list((cluster.work / "it" / "journal").glob("0*")), "published"


@pytest.mark.long
def test_the_head_is_lost_and_comes_back(cluster, undisturbed):
    cluster.start(1, 1)
    process = sixty(cluster, "compute.patience_s=100")
    under_way(cluster, process)
    for node in cluster.nodes:
        node.kill("/ray/", "ray::", "ray start")
    cluster.nodes[0].ray(cpus=2)
    status, out = finish(process)
    assert status == 0, out + cluster.nodes[0].log()
    assert "going on with another" in out
    assert tables(cluster.work / "it") == undisturbed


# ---- what nodes have, and what goes along ------------------------------------------------------------------------------------


def forged(folder, name, version):
    """Return a folder in which a distribution has another version."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return str(folder)


MINE = """
from dataclasses import dataclass
from minimex_fakes.games import Beads

@dataclass(frozen=True)
class Mine(Beads):
    pass
"""


@pytest.mark.long
def test_a_node_with_other_versions_is_refused_at_the_start_and_left_out_later(cluster, undisturbed, tmp_path):
    path = forged(tmp_path / "forged", "numpy", "1.26.4")
    cluster.start(1)
    other = cluster.machine().ray(PYTHONPATH=path)
    cluster.wait_for(2)
    status, out = finish(sixty(cluster))
    assert status == 2, out
    assert "compute.address: expected numpy" in out
    assert "got numpy 1.26.4 on host-b/" in " ".join(out.split())
    assert not (cluster.work / "it").exists()
    other.kill()
    process = sixty(cluster)
    under_way(cluster, process)
    cluster.machine().ray(PYTHONPATH=path, cpus=2)
    status, out = finish(process)
    assert status == 0, out
    assert out.count("joined with numpy 1.26.4") == 1
    assert "it gets no points" in out
    assert {name.partition("/")[0] for name in load(cluster.work / "it").points["node"].to_pylist()} == {"host-a"}
    assert tables(cluster.work / "it") == undisturbed


@pytest.mark.long
def test_trusted_code_goes_along_and_numba_caches_are_private(cluster, tmp_path):
    (tmp_path / "code" / "mine").mkdir(parents=True)
    (tmp_path / "code" / "mine" / "__init__.py").write_text(MINE)
    (tmp_path / "code" / "lone.py").write_text(SPY)
    (tmp_path / "conf" / "game").mkdir(parents=True)
    (tmp_path / "conf" / "game" / "mine.yaml").write_text("_target_: mine.Mine\nvalues: [3]\n")
    (tmp_path / "conf" / "solver").mkdir()
    (tmp_path / "conf" / "solver" / "spy.yaml").write_text("_target_: lone.Spy\n")
    cluster.start(0, 1, hide=[tmp_path, *CODE])
    words = ["--config-dir", "conf", "game=mine", "solver=spy", "trust=[mine,lone,minimex_fakes]", "tracking=off", "verify=false"]
    where = ["compute=cluster", f"compute.address={cluster.gcs}", "seed=range(0,3)", "out=it"]
    status, out = finish(cluster.minimex(*words, *where, PYTHONPATH=f"{tmp_path / 'code'}:{FAKES}"))
    assert status == 0, out
    said = load(tmp_path / "it").table("seen").to_pylist()
    assert len(said) == 3
    for row in said:
        assert "py_modules_files" in row["mine"]
        assert "py_modules_files" in row["pipeline"]
        assert row["cache"].endswith("/minimex-numba-0")
        assert row["mode"] == "0o700"
        assert row["files"] == "", "workers start in an empty folder"


SPY = """
import os, sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
import pyarrow as pa
from minimex_fakes.games import Sequence
from solvers.contract import Result
from solvers.schema import TableInfo, column, table_schema

NAMES = ("mine", "pipeline", "cache", "mode", "files")
SEEN = table_schema([column(name, pa.string(), "seen") for name in NAMES], TableInfo(headline="none", about="Seen"))

@dataclass(frozen=True)
class Spy:
    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[dict] = {"seen": SEEN}
    extent: ClassVar[str | None] = None

    def solve(self, game, *, resume, workers, rng):
        import numba
        import mine, pipeline
        cache = numba.config.CACHE_DIR
        row = [mine.__file__, pipeline.__file__, cache, oct(os.stat(cache).st_mode & 0o777), " ".join(os.listdir("."))]
        yield Result({"seen": pa.table({name: [value] for name, value in zip(NAMES, row)}, schema=SEEN)})
"""


def test_what_is_trusted_is_found_as_folders_and_files():
    found = trusted_code(["minimex_fakes.games", "conftest_tools", "source", "json", "pipeline", "minimex_fakes"])
    assert found == [FAKES / "minimex_fakes", FAKES / "conftest_tools.py"]


def test_a_cache_folder_that_others_could_write_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = private_folder("cache")
    assert first == private_folder("cache") == tmp_path / "cache"
    assert first.stat().st_mode & 0o777 == 0o700
    first.chmod(0o770)
    assert private_folder("cache") != first
    first.rmdir()
    first.symlink_to(tmp_path)
    other = private_folder("cache")
    assert other != first
    assert other.stat().st_mode & 0o777 == 0o700


# ---- reaching it -------------------------------------------------------------------------------------------------------------

FEW = ["solver=trivial", "seed=range(0,20)", "compute=cluster", "quiet=true"]


@pytest.mark.long
def test_a_cluster_that_wants_its_token(tmp_path):
    if why_not() is not None:
        pytest.skip(f"several machines cannot be pretended here: {why_not()}")
    for name, content in (("right", "f" * 64), ("wrong", "e" * 64)):
        (tmp_path / f"{name}.token").write_text(content)
    with Cluster(tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(tmp_path / "right.token"), HOME=str(tmp_path)) as cluster:
        cluster.start(1)
        few = [*FAKE, *FEW, f"compute.address={cluster.gcs}"]
        status, out = finish(cluster.minimex(*few, "out=right/it"))
        assert status == 0, out
        cluster.variables = {"HOME": str(tmp_path)}
        given = {"RAY_AUTH_MODE": "token"}
        for name, more in {
            "nothing": {},
            "none": given,
            "other": {**given, "RAY_AUTH_TOKEN_PATH": str(tmp_path / "wrong.token")},
        }.items():
            began = time.monotonic()
            status, out = finish(cluster.minimex(*few, f"out={name}/it", **more))
            assert status == 2, out
            assert "RAY_AUTH_MODE=token and one of RAY_AUTH_TOKEN=..., RAY_AUTH_TOKEN_PATH=FILE or ~/.ray/auth_token" in out
            assert time.monotonic() - began < 20
            assert "Traceback" not in out
        assert not (tmp_path / ".ray").exists(), "a token nobody asked for"
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text("f" * 64)
        status, out = finish(cluster.minimex(*few, "out=home/it", **given))
        assert status == 0, out


@pytest.mark.long
def test_a_machine_that_is_no_node_is_told_how_to_become_one(cluster):
    cluster.start(1)
    cluster.machine()
    alone = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-P", "-m", "pipeline"]  # it sees no raylet
    few = [*FAKE, *FEW, f"compute.address={cluster.gcs}"]
    status, out = finish(cluster.run(*alone, *few, "out=no/it", at=1))
    assert status == 2, out
    assert f"`ray start --address={cluster.gcs} --num-cpus=0` makes it one" in out


@contextmanager
def listening(answer):
    """Listen on loopback, answer whatever comes with some bytes, None: with silence; yield the address."""
    kept = []

    def serve(connection):
        with connection, suppress(OSError):
            while answer is not None and connection.recv(1000):
                connection.sendall(answer)

    def accept():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            kept.append(connection)
            if answer is not None:
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        for connection in kept:
            connection.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "it takes calls but has not answered in 5 s"),
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "no Ray head"),
        (b"-ERR unknown command\r\n", "no Ray head"),
    ],
)
def test_an_address_where_no_ray_answers_is_refused_soon(tmp_path, answer, said):
    began = time.monotonic()
    with listening(answer) as address:
        status, out = finish(start(*FAKE, *FEW, f"compute.address={address}", "out=it", cwd=tmp_path))
    assert status == 2, out
    assert said in out
    assert time.monotonic() - began < 30
    assert not (tmp_path / "it").exists()


def test_a_cluster_that_is_not_there_is_refused_soon(fake):
    answer = fake("solver=walk", "-m", "seed=1,2", "compute=cluster", "compute.address=127.0.0.1:1")
    assert answer.status == 2
    assert "compute.address: expected a Ray cluster, got '127.0.0.1:1'" in answer.text


def test_a_ray_client_address_is_refused(fake):
    answer = fake("solver=walk", "-m", "seed=1,2", "compute=cluster", "compute.address=ray://somewhere:10001")
    assert answer.status == 2
    assert "expected HOST:PORT of a Ray cluster's head" in answer.text


LOCAL = """
from pathlib import Path
from pipeline.events import Limits
from pipeline.executors.ray import RayExecutor
RayExecutor(Limits(), 1).close()
print("tokens", list(Path.home().glob(".ray/*")))
"""


@pytest.mark.long
def test_a_local_ray_leaves_no_token_behind(tmp_path):
    words = [sys.executable, "-P", "-c", LOCAL]
    said = subprocess.run(words, env=environment(HOME=str(tmp_path)), capture_output=True, text=True, check=False)
    assert "tokens []" in said.stdout, said.stderr
