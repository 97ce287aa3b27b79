"""`compute=cluster` against a Ray that another process runs, on loopback."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest_tools import FAKE, environment, start

from pipeline.store import load

HEAD = """
from pipeline.executors.ray import start_local
start_local(2)
import ray
print(ray.get_runtime_context().gcs_address, flush=True)
input()
"""


@pytest.fixture
def head():
    """Start a Ray in a process of its own and return its address."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-P", "-c", HEAD], env=environment(), **pipes)
    yield next(line for line in process.stdout if ":" in line and "127.0.0.1" in line).strip()
    process.communicate("\n")


@pytest.mark.long
def test_a_sweep_over_a_running_cluster(head, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # as the head has it, which only listens to this machine
    process = start(*FAKE, "solver=walk", "seed=range(0,20)", "compute=cluster", f"compute.address={head}", "out=it", cwd=tmp_path)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    assert f"1 node at {head}" in out
    assert load(tmp_path / "it").points["status"].to_pylist() == ["done"] * 20


def test_a_cluster_that_is_not_there_is_refused_soon(fake):
    answer = fake("solver=walk", "-m", "seed=1,2", "compute=cluster", "compute.address=127.0.0.1:1")
    assert answer.status == 2
    assert "compute.address: expected a Ray cluster, got '127.0.0.1:1'" in answer.text
