"""`ray job submit -- minimex ...` and Slurm: sweeps that somebody else starts and stops."""

from __future__ import annotations

import importlib.util
import re
import sys
import time

import pytest
from clusters import RAY, Cluster, why_not
from conftest_tools import FAKE, FAKES

from pipeline.store import load

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("opencensus") is None, reason="ray[default] is not installed: no job server"),
    pytest.mark.skipif(why_not() is not None, reason=f"several machines cannot be pretended here: {why_not()}"),
]

SERVER = "http://127.0.0.1:8265"
WALKS = ["solver=walk", "solver.steps=40", "solver.pause_s=0.05", "verify=false", "quiet=true"]
SIXTY = [*WALKS, "seed=range(0,60)"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head whose job server listens on its own loopback, and a node."""
    with Cluster(tmp_path_factory.mktemp("jobs"), PYTHONPATH=str(FAKES), RAY_JOB_STOP_WAIT_TIME_S="30") as cluster:
        cluster.machine().ray(cpus=1, dashboard=True)
        cluster.wait_for(1)
        cluster.machine().ray(cpus=1)
        cluster.wait_for(2)
        yield cluster


def job(cluster, *words, **variables):
    """Give a command to the cluster's job client; return what it says, once it has done that."""
    process = cluster.run(RAY, "job", *words, RAY_ADDRESS=SERVER, **variables)
    out, _ = process.communicate(timeout=200)
    return process.returncode, out


def command(*words):
    return [sys.executable, "-P", "-m", "pipeline", *FAKE, *words, "compute=cluster", "compute.address=auto"]


def test_a_job_is_a_sweep(cluster):
    out = cluster.work / "it"
    status, said = job(cluster, "submit", "--", *command(*SIXTY, f"out={out}"))
    assert status == 0, said
    assert len(load(out).points) == 60
    assert {name.partition("/")[0] for name in load(out).points["node"].to_pylist()} == {"host-a", "host-b"}


def test_a_job_with_files_and_variables_of_its_own(cluster, tmp_path):
    """Its runtime environment and ours are merged: both have a working directory and OMP_NUM_THREADS."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "solvers").mkdir()  # not ours
    (tmp_path / "beads.txt").write_text("5\n6\n")
    out = cluster.work / "files"
    environment = '{"env_vars": {"OMP_NUM_THREADS": "2", "MINE": "1"}}'
    words = ["submit", "--working-dir", tmp_path, "--runtime-env-json", environment, "--"]
    status, said = job(
        cluster, *words, *command("solver=trivial", "game.file=beads.txt", "game.values=[]", "seed=1,2", f"out={out}")
    )
    assert status == 0, said
    assert load(out).table("firsts")["first"].to_pylist() == ["5", "5"]


def test_a_job_that_is_stopped_publishes(cluster):
    out = cluster.work / "stopped"
    status, said = job(cluster, "submit", "--no-wait", "--", *command(*WALKS, "seed=range(0,300)", f"out={out}"))
    assert status == 0, said
    name = re.search(r"raysubmit_\w+", said).group()
    end = time.monotonic() + 120
    while len(list((out / "journal").glob("0*"))) < 2:
        assert time.monotonic() < end, job(cluster, "logs", name)
        time.sleep(0.1)
    job(cluster, "stop", name)
    assert 0 < len(load(out).points) < 300
    assert not list((out / "journal").glob("0*")), "published"
    _, log = job(cluster, "logs", name)
    assert "Traceback" not in log
