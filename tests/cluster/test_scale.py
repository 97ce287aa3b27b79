"""Many points: what the driver holds of each."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest_tools import FAKE, environment

from pipeline.store import load

MEASURED = """
import sys
from pathlib import Path
from pipeline.app import main
try:
    main(sys.argv[1:])
finally:
    print("PEAK_KB", Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def peak_bytes(folder, count):
    """Return the peak memory of a process that plans, computes, publishes, judges, reports and prints so many points."""
    words = [*FAKE, "solver=trivial", "compute=inline", f"seed=range(0,{count})", f"out={count}/it"]
    command = [sys.executable, "-P", "-c", MEASURED, *words]
    said = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, check=True)
    assert len(load(folder / str(count) / "it").table("firsts")) == count
    return 1024 * int(said.stdout.rpartition("PEAK_KB")[2])


@pytest.mark.long
def test_a_point_costs_the_driver_less_than_three_kilobytes(tmp_path):
    many, few = 200_000, 1_000
    each = (peak_bytes(tmp_path, many) - peak_bytes(tmp_path, few)) / (many - few)
    assert each < 2_700  # at a million points it is two thirds of that: a part does not grow
