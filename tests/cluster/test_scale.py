"""Many points: what the driver holds of each, and how often it publishes what has grown large."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from conftest_tools import FAKE, environment

from pipeline import driver
from pipeline.journal import Journal
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


@pytest.mark.parametrize(("rests", "expected"), [(20, [3]), (0, range(4, 100))])
def test_publishing_that_takes_long_is_done_less_often(fake, monkeypatch, rests, expected):
    calls = []
    publish = Journal.publish

    def slow(journal, order):
        calls.append(time.monotonic())
        time.sleep(0.2)
        publish(journal, order)

    monkeypatch.setattr(Journal, "publish", slow)
    monkeypatch.setattr(driver, "_PUBLISHING_RESTS", rests)
    often = ["compute.publish_s=0.05", "compute.box_s=0.1", "verify=false"]
    assert fake("solver=walk", "solver.steps=20", "solver.pause_s=0.05", "seed=range(0,20)", *often, "out=it").status == 0
    assert len(calls) in expected  # at the beginning, once meanwhile, at the end; without rest many times
