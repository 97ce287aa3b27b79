"""Judging in several processes: the verdicts of one, in their order, and no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from conftest_tools import environment

from pipeline import app, judges
from pipeline.judges import Case, Judge, Jury
from solvers.builder import Context
from solvers.errors import ConfigError
from solvers.games.forced_rps import ForcedRps
from solvers.identity import config_text, describe, digest

TRUST = ("minimex_fakes",)
CONFIG = config_text(describe(ForcedRps()), describe(ForcedRps()), 0)


def case(rows, check="by_whom"):
    """Return a case whose table is a slice of a long one."""
    long = pa.table({"step": np.arange(10_000)})
    return Case(digest(CONFIG), CONFIG, {"sums": f"minimex_fakes.judged:{check}"}, {"sums": long.slice(5, rows)})


@pytest.fixture
def at_once(monkeypatch):
    """Let a jury have its processes from the second case on."""
    monkeypatch.setattr(judges, "_ALONE_S", 1e-9)
    monkeypatch.setattr(judges, "_SHARE_S", 0.05)


def jury(cases, processes):
    with Jury(Judge(Context(trust=TRUST)), processes, len(cases)) as one:
        return list(one.verdicts(cases))


def who(said):
    return [verdicts["sums"][0].reason.split(":")[0] for verdicts in said]


def without_who(said):
    return [[(one.row, one.grade, one.reason.partition(":")[2]) for one in verdicts["sums"]] for verdicts in said]


def test_the_same_verdicts_in_the_same_order_by_several(at_once):
    cases = [case(1 + number % 7) for number in range(40)]

    alone, together = jury(cases, 1), jury(cases, 3)

    assert without_who(together) == without_who(alone)
    assert set(who(alone)) == {str(os.getpid())}
    others = set(who(together)) - {str(os.getpid())}
    assert 1 < len(others) <= 3
    assert "('sums', 3, 24)" in together[2]["sums"][0].reason  # a slice travels without what stands around it


def test_little_work_has_no_processes():
    with Jury(Judge(Context(trust=TRUST)), 3, 2) as one:
        list(one.verdicts([case(1), case(2)]))
        assert not one.helpers


def test_there_are_no_more_processes_than_shares(at_once, monkeypatch):
    monkeypatch.setattr(judges, "_SHARE_S", 1e-9)
    with Jury(Judge(Context(trust=TRUST)), 9, 3) as one:
        list(one.verdicts([case(1) for _ in range(3)]))
        assert len(one.helpers) == 2


def test_verify_starts_no_more_processes_than_there_are_cores(monkeypatch):
    asked = []

    def verify_folder(place, trust, say, processes):
        asked.append(processes)
        raise ConfigError("DIR", "nothing", "it")

    monkeypatch.setattr("pipeline.verify.verify_folder", verify_folder)
    monkeypatch.setattr(judges, "cores", lambda: 3)
    for cpus in ("cpus=9999", "cpus=2"):
        with pytest.raises(SystemExit):
            app.main(["verify", "somewhere", cpus])
    assert asked == [3, 2]


def test_quick_points_are_not_carried_elsewhere(at_once, monkeypatch):
    monkeypatch.setattr(judges, "_WORTH_S", 10.0)
    assert set(who(jury([case(1) for _ in range(9)], 3))) == {str(os.getpid())}


def test_who_breaks_and_what_cannot_be_built_is_told_alike(at_once):
    strange = Case("nobody", CONFIG, {"sums": "minimex_fakes.judged:by_whom"}, {})
    cases = [case(2), strange, case(2, "nothing"), case(2)] * 4
    assert without_who(jury(cases, 2)) == without_who(jury(cases, 1))


@pytest.mark.parametrize("processes", [2, 3])
def test_what_a_process_took_with_it_is_judged_here(at_once, processes):
    cases = [case(1 + number % 5, "dying") for number in range(30)]
    assert jury(cases, processes) == jury(cases, 1)


def test_ctrl_c_does_not_reach_processes_that_begin():
    with Jury(Judge(Context(trust=TRUST)), 2, 9) as one:
        one.helpers = judges._started(2, Context(trust=TRUST))
        for _ in range(20):  # while they import
            for helper in one.helpers:
                os.kill(helper.process.pid, signal.SIGINT)
            time.sleep(0.05)
        assert all(helper.process.is_alive() for helper in one.helpers)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_whoever_stops_listening_leaves_no_process(at_once):
    processes = []

    def listen():
        with Jury(Judge(Context(trust=TRUST)), 2, 40) as one:
            for count, _ in enumerate(one.verdicts([case(1) for _ in range(40)])):
                if count == 5:
                    processes.extend(helper.process for helper in one.helpers)
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        listen()
    assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)


def children(number):
    return [int(one) for one in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def is_alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(holds):
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for children in /proc")
def test_processes_end_with_whoever_started_them():
    script = """
if __name__ == "__main__":
    from pipeline import judges
    from test_judges import case, jury
    judges._ALONE_S = 1e-9
    jury([case(1), *[case(1, "endless")] * 9], 2)
"""
    here = os.pathsep.join([str(Path(__file__).parent), environment()["PYTHONPATH"]])
    started = subprocess.Popen([sys.executable, "-c", script], env={**environment(), "PYTHONPATH": here})
    try:
        wait_until(lambda: len(children(started.pid)) >= 2)
        helpers = children(started.pid)
        time.sleep(1)
        os.kill(started.pid, signal.SIGKILL)
        wait_until(lambda: not any(map(is_alive, helpers)))
    finally:
        started.kill()
        started.wait()
