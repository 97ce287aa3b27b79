"""What tests that start processes share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from pipeline.store import load
from solvers.schema import is_effort

FAKES = Path(__file__).parent
FAKE = ["--config-dir", str(FAKES / "fake_conf"), "trust=[minimex_fakes]", "game=beads", "tracking=off"]
SIXTY = ["solver=walk", "solver.steps=40", "solver.pause_s=0.01", "seed=range(0,60)", "compute.checkpoint_s=0", "verify=false"]


def environment(**more):
    """Return the environment of commands in processes of their own."""
    paths = os.pathsep.join([str(FAKES), str(FAKES.parents[1])])  # the code beside these tests, wherever else it is installed
    return {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200", **more}


def start(*arguments, cwd, output=subprocess.PIPE, **options):
    """Start a command in a process of its own."""
    command = [sys.executable, "-P", "-m", "pipeline", *map(str, arguments)]
    pipes = {"stdout": output, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=cwd, env=environment(), **pipes, **options)


def run(*arguments, cwd, before=(), **more):
    """Run a command in a process of its own to its end; return its exit status and what it said, in one line."""
    command = [*before, sys.executable, "-P", "-m", "pipeline", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment(**more), capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def tables(root):
    """Return a sweep's tables as far as they must agree, points included."""
    sweep = load(root)
    found = {"points": sweep.points.select([*sweep.parameters, "point", "config", "status", "rows", "metrics"]).to_pylist()}
    for name in sweep.table_names:
        if name != "progress":
            table = sweep.table(name)
            kept = [one.name for one in table.schema if not is_effort(one)]
            found[name] = table.select(kept).to_pylist()
    return found


def finish(process):
    out, _ = process.communicate(timeout=300)
    return process.returncode, out


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
