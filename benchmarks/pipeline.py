"""How fast the pipeline is, as ratios against named peers in one run: `python benchmarks/pipeline.py`.

Peers: Hydra's own `--multirun` on the same task function; bare Ray tasks of the same batches. Ray's start-up is left out of all
figures and printed. The games and solvers are the tests' fakes (`tests/fakes`): trivial points, and points that do a fixed
amount of work, 2 ms on an idle core. Nothing is verified; sweeps of 100,000 points are recorded in MLflow.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAKES = ROOT / "tests" / "fakes"
os.environ["PYTHONPATH"] = str(FAKES)
sys.path[0] = str(FAKES)  # instead of this folder, whose pipeline.py would hide the package

import ray

from pipeline.app import main
from pipeline.executors import ray as executor

COMMON = ("--config-dir", str(FAKES / "fake_conf"), "trust=[minimex_fakes]", "game=beads", "verify=false", "quiet=true")
HYDRA_JOBS = 100
TRIVIAL, MANY, BUSY, BUSY_S = 1_000, 100_000, 4_000, 0.002

HYDRA_TASK = """
import time
import hydra
from minimex_fakes.games import Beads
from minimex_fakes.solvers import Trivial
from fractions import Fraction
from solvers import solve

times = []

@hydra.main(version_base="1.3", config_path=None, config_name=None)
def task(cfg):
    times.append(time.perf_counter())
    solve(Beads((Fraction(1),)), Trivial(), int(cfg.seed))

task()
print("POINTS_PER_S", (len(times) - 1) / (times[-1] - times[0]))
"""


def say(name: str, value: str) -> None:
    print(f"{name:<58} {value}", flush=True)


def hydra_points_per_s(folder: Path) -> float:
    """Return the rate of Hydra's multirun between its first and last job."""
    script = folder / "hydra_task.py"
    script.write_text(HYDRA_TASK)
    command = [sys.executable, str(script), "--multirun", f"+seed=range(0,{HYDRA_JOBS})", "hydra/job_logging=disabled"]
    said = subprocess.run([*command, "hydra/hydra_logging=disabled"], cwd=folder, capture_output=True, text=True, check=True)
    return float(said.stdout.rpartition("POINTS_PER_S")[2])


def sweep(*arguments: str) -> float:
    """Run one command in this process, whose Ray is already up; return its seconds."""
    began = time.perf_counter()
    try:
        main([*COMMON, *arguments])
    except SystemExit as ended:
        if ended.code != 0:
            raise RuntimeError(f"{arguments} ended with {ended.code}") from ended
    return time.perf_counter() - began


@ray.remote
def bare(seeds: list[int], loops: int) -> list[float]:
    """Work as the points do, with nothing around it."""
    done = []
    for seed in seeds:
        for _ in range(loops):
            pass
        done.append(float(seed))
    return done


def bare_ray(points: int, loops: int, size: int) -> float:
    """Return the seconds of bare Ray tasks of `size` points each."""
    batches = [list(range(first, min(first + size, points))) for first in range(0, points, size)]
    began = time.perf_counter()
    ray.get([bare.remote(batch, loops) for batch in batches])
    return time.perf_counter() - began


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def answer_s(*arguments: str) -> float:
    """Return the least of three wall times of a command in a process of its own."""
    command = [sys.executable, "-P", "-m", "pipeline", *arguments]
    times = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    return min(times)


def run(folder: Path) -> None:
    os.chdir(folder)
    rate = hydra_points_per_s(folder)
    say(f"Hydra --multirun, {HYDRA_JOBS} jobs", f"{rate:.1f} points/s")
    began = time.perf_counter()
    executor.start_local(2)
    say("Ray's start-up (left out below)", f"{time.perf_counter() - began:.1f} s")
    ray.get([bare.remote([0], 0) for _ in range(2)])
    sweep("solver=trivial", "seed=range(0,50)", "compute=ray", "tracking=off", "out=warm/up")

    took = sweep("solver=trivial", f"seed=range(0,{TRIVIAL})", "compute=ray", "tracking=off", "out=thousand/it")
    ratio = TRIVIAL / took / rate
    say(f"{TRIVIAL:,} trivial points, command to report", f"{took:.2f} s = {ratio:.0f} x Hydra's points/s (wanted: 200)")

    many = ("solver=trivial", f"seed=range(0,{MANY})", "compute=ray", "out=many/it")
    say(f"{MANY:,} points planned (dry run)", f"{sweep(*many, 'dry_run=true'):.1f} s (wanted: under 5)")
    say(f"{MANY:,} points computed, stored, tracked", f"{sweep(*many):.1f} s (wanted: under 30)")
    say("the finished sweep again", f"{sweep(*many):.1f} s (wanted: under 5)")
    say("peak memory of the driver", f"{peak_mb():.0f} MB (wanted: under 1,000)")

    size = int(0.5 / BUSY_S)
    bare_ray(BUSY, 100_000, size)  # both workers are up
    loops = int(100_000 * BUSY_S * BUSY / 2 / bare_ray(BUSY, 100_000, size))  # two cores are at it
    ratios = []
    for attempt in range(5):
        alone = bare_ray(BUSY, loops, size)
        busy = ("solver=busy", f"solver.loops={loops}", f"seed=range(0,{BUSY})", "compute=ray", "tracking=off")
        ours = sweep(*busy, f"out=busy{attempt}/it")
        ratios.append(ours / alone)
        say(f"{BUSY:,} points of 2 ms: bare Ray, minimex", f"{alone:.2f} s, {ours:.2f} s: {ratios[-1]:.2f} x")
    say("median (wanted: at most 1.2)", f"{sorted(ratios)[2]:.2f} x")
    ray.shutdown()
    say("minimex --help", f"{answer_s('--help'):.2f} s")
    say("minimex list", f"{answer_s('list'):.2f} s")


if __name__ == "__main__":
    place = Path(tempfile.mkdtemp(prefix="minimex-bench-"))
    try:
        run(place)
    finally:
        os.chdir("/")
        shutil.rmtree(place)
