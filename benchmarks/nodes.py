"""How busy a sweep keeps many nodes: `python benchmarks/nodes.py [NODES] [POINTS]`, 16 and 2,000 unless said otherwise.

The nodes are simulated on this machine (`ray.cluster_utils`: a raylet each, some 180 MB), one core each; points sleep 100 ms, so
that all of them fit on two real cores. Busy = points * 0.1 s / (nodes * wall), wall from the first submission to the last row. The
peer is bare Ray: streaming tasks of 0.5 s, as many at once as there are nodes and one more, which is what this machine can do.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

FAKES = Path(__file__).resolve().parents[1] / "tests" / "fakes"
sys.path[0] = str(FAKES)  # instead of this folder, whose pipeline.py would hide the package
os.environ.update(
    PYTHONPATH=str(FAKES), RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0"
)

import ray
from minimex_fakes.games import Beads
from minimex_fakes.solvers import Trouble
from ray.cluster_utils import Cluster
from rich.console import Console

from pipeline.events import Limits, Task
from pipeline.executors.ray import RayExecutor
from pipeline.scheduler import Scheduler

SLEEP_S = 0.1


def busy_fraction(executor: RayExecutor, points: int) -> float:
    """Return which part of the cores' time points took."""
    tasks = (Task(f"{number:032x}", Beads((1,)), Trouble(pause_s=SLEEP_S), f"{number:032x}") for number in range(points))
    done, began = 0, time.perf_counter()
    for chunk in Scheduler(executor, executor.limits).run(tasks):
        done += sum(outcome.status == "done" for outcome in chunk.finished)
    wall = time.perf_counter() - began
    assert done == points
    return points * SLEEP_S / (executor.slots * wall)


@ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")
def bare(seconds: float):
    time.sleep(seconds)
    yield seconds


def bare_fraction(nodes: int, tasks: int, seconds: float = 0.5) -> float:
    """Return which part of the cores' time bare Ray's tasks took."""
    left, running, began = tasks, [], time.perf_counter()
    while left or running:
        while left and len(running) <= nodes:
            running.append(bare.remote(seconds))
            left -= 1
        ready, running = ray.wait(running, num_returns=1, fetch_local=False)
        for stream in ready:
            try:
                ray.get(next(stream))
            except StopIteration:
                continue
            running.append(stream)
    return tasks * seconds / (nodes * (time.perf_counter() - began))


def run(nodes: int, points: int) -> None:
    """Start the nodes, warm their workers up, measure three times."""
    cluster = Cluster()
    for _ in range(nodes):
        cluster.add_node(num_cpus=1, object_store_memory=80_000_000, include_dashboard=False)
    executor = RayExecutor(Limits(), None, cluster.address, ["minimex_fakes"], Console(highlight=False).print)
    try:
        print(executor.where, flush=True)
        busy_fraction(executor, 10 * nodes)
        bare_fraction(nodes, 2 * nodes)
        for _ in range(3):
            peer = bare_fraction(nodes, points // 5)
            ours = busy_fraction(executor, points)
            print(f"{points:,} points of {SLEEP_S} s on {nodes} nodes: {ours:.0%} busy, bare Ray {peer:.0%}", flush=True)
    finally:
        executor.close()
        cluster.shutdown()


if __name__ == "__main__":
    place = Path(tempfile.mkdtemp(prefix="minimex-nodes-"))
    os.chdir(place)
    try:
        run(*(int(word) for word in (*sys.argv[1:], *("16", "2000")[len(sys.argv) - 1 :])))
    finally:
        os.chdir("/")
        shutil.rmtree(place, ignore_errors=True)
