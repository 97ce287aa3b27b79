"""What an executor tells of a cluster whose machines come and go; the machines themselves are in tests/cluster."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.errors import RayLost
from pipeline.events import Limits
from pipeline.executors import ray as on_ray
from pipeline.executors.inline import InlineExecutor
from pipeline.executors.ray import RayExecutor, _Node
from pipeline.executors.ray_start import _what_would_do, connect
from solvers.errors import ConfigError

A, B, C = (_Node(letter * 8, f"host-{letter}", cores) for letter, cores in (("a", 1), ("b", 2), ("c", 4)))


@pytest.fixture
def look(monkeypatch):
    """Return an executor that sees the nodes of a list, and that list."""
    import ray

    there = [A, B]
    monkeypatch.setattr(on_ray, "_nodes", lambda: list(there))
    monkeypatch.setattr(on_ray, "knock", lambda *_: None)
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(gcs_address="h:1"))
    monkeypatch.setattr(RayExecutor, "__post_init__", RayExecutor._see_nodes)
    monkeypatch.setattr(on_ray, "_refuse_others", lambda *_: None)
    said: list[str] = []
    return RayExecutor(Limits(1.0), address="h:1", say=said.append), there, said


def test_a_machine_that_is_gone_is_named_once(look):
    executor, there, said = look
    assert executor.where == "3 cores of 2 nodes at h:1: host-a/aaaaaa (1), host-b/bbbbbb (2)"
    there.remove(B)
    executor._look()
    executor._look()
    assert said == ["host-b/bbbbbb is gone; its points run again elsewhere"]
    assert executor.where == "1 core of 1 node at h:1: host-a/aaaaaa (1)"


def test_a_machine_that_joins_is_named_once(look):
    executor, there, said = look
    there.append(C)
    executor._look()
    executor._look()
    assert said == ["host-c/cccccc (4) joined"]
    assert executor.where == "7 cores of 3 nodes at h:1: host-a/aaaaaa (1), host-b/bbbbbb (2), host-c/cccccc (4)"


def test_a_machine_that_gets_no_points_is_no_place_where_they_run(look):
    executor, _there, said = look
    executor.unfit.add(B.node_id)
    executor._look()
    assert executor.where == "1 core of 1 node at h:1: host-a/aaaaaa (1)"
    assert not said


def test_nothing_runs_elsewhere_where_no_machine_is_left(look):
    executor, there, said = look
    there.clear()
    with pytest.raises(RayLost, match="has no core left"):
        executor._look()
    assert not said


def test_status_tells_where_points_run_by_now(fake, monkeypatch):
    poll = InlineExecutor.poll

    def moved(self, wait_s):
        self.where = "another process"
        return poll(self, wait_s)

    monkeypatch.setattr(InlineExecutor, "poll", moved)
    assert fake("solver=walk", "solver.steps=20", "out=it", "verify=false", "tracking=off").status == 0
    assert json.loads(Path("it/status.json").read_text())["where"] == "another process"


@pytest.mark.parametrize("remembered", [None, "127.0.0.1:9"], ids=["never", "no more"])
def test_auto_where_no_cluster_runs(monkeypatch, remembered):
    from ray._private import services

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(services, "find_gcs_addresses", frozenset)
    monkeypatch.setattr(services, "find_bootstrap_address", lambda _: remembered)
    with pytest.raises(ConfigError) as refused:
        connect("auto")
    assert str(refused.value) == (
        "compute.address: expected a Ray cluster, got 'auto' "
        "(none runs on this machine: ray start --head, or compute.address=HOST:PORT)"
    )


def test_what_ray_says_comes_without_its_traceback():
    pasted = 'no GCS. Traceback (most recent call last):\n  File "x.py", line 1, in f\n    g()\nray.RpcError: status: 404\n'
    assert _what_would_do(RuntimeError(pasted), "h:1") == "ray.RpcError: status: 404"
    assert _what_would_do(RuntimeError("no GCS.\nGone."), "h:1") == "no GCS. Gone."
