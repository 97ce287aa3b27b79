"""`compute=cluster`: raylets as real processes, each on a machine of its own as far as the kernel can pretend (`clusters.py`)."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from clusters import Cluster, why_not
from conftest_tools import FAKE, FAKES, environment, start

from pipeline.executors.ray_node import private_folder
from pipeline.executors.ray_start import knock, trusted_code
from pipeline.store import load
from solvers.schema import is_effort

pytestmark = pytest.mark.usefixtures("machines")

ROOT = Path(__file__).parents[2]
CODE = [ROOT / "pipeline", ROOT / "solvers", ROOT / "hydra_plugins", ROOT / "conf", ROOT / "tests"]
SIXTY = ["solver=walk", "solver.steps=40", "solver.pause_s=0.05", "seed=range(0,60)", "compute.checkpoint_s=0", "verify=false"]


@pytest.fixture(scope="module")
def machines():
    reason = why_not()
    if reason is not None:
        pytest.skip(f"several machines cannot be pretended here: {reason}")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(*FAKE, *SIXTY, "compute=inline", "out=whole/it", cwd=folder)
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 0, out
    return tables(folder / "whole" / "it")


@pytest.fixture
def cluster(tmp_path):
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
    cluster.nodes[0].kill("gcs_server", "raylet/raylet", "ray start")
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
        node.kill("gcs_server", "raylet/raylet", "ray start")
    cluster.nodes[0].ray(cpus=2)
    status, out = finish(process)
    assert status == 0, out
    assert "going on with another" in out
    assert tables(cluster.work / "it") == undisturbed
