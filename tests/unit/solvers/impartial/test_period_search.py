"""Periods that are published, by both proofs; late rare heaps; resumes; memory that stops growing."""

import csv
from pathlib import Path

import numpy as np
import pytest

from solvers.contract import Checkpoint, Progress, Result, Stop
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial import period_search
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.period_search import PeriodSearch
from solvers.impartial.periods import find_period
from solvers.impartial.rares import HeapRun
from solvers.inline import InlineWorkers, solve

FACTS = list(csv.DictReader((Path(__file__).parents[3] / "facts" / "octal.csv").open(encoding="utf-8")))
PERIODIC = {row["code"]: row for row in FACTS if row["status"] == "periodic" and row["code"] != "0.104"}
OPEN = [row["code"] for row in FACTS if row["status"] != "periodic"]
WINDOWS = ("0.055", "0.156", "0.16", "0.356", "0.45", "0.56", "0.644")
"""Of these the window proves the period first, if it may from 256 heaps on."""


def periods(code, heap_limit=10_000_000):
    (row,) = solve(Octal(code), PeriodSearch(heap_limit, keep_nimbers=False)).tables["periods"].to_pylist()
    return row


def events(code, heap_limit, resume=None, *, keep_nimbers=False):
    solver = PeriodSearch(heap_limit, keep_nimbers)
    return solver.solve(Octal(code).form(HeapGame), resume=resume, workers=InlineWorkers(), rng=np.random.default_rng(0))


def kept(event):
    return Checkpoint(event.step, {name: array.copy() for name, array in event.arrays.items()})


@pytest.fixture
def early(monkeypatch):
    """Take windows from 256 heaps on, in small steps."""
    monkeypatch.setattr(period_search, "FIRST_WINDOW", 256)
    monkeypatch.setattr(period_search, "STEP", 2048)


@pytest.mark.parametrize("code", [pytest.param(code, marks=pytest.mark.long) if code == "0.376" else code for code in PERIODIC])
def test_published_periods_are_proved(code):
    row = periods(code)
    assert row["status"] == "proved"
    wanted = {name: int(PERIODIC[code][name]) for name in ("period", "preperiod", "max_nimber")}
    assert {name: row[name] for name in wanted} == wanted
    assert row["last_exception"] == (wanted["preperiod"] - 1 if wanted["preperiod"] else None)


@pytest.mark.parametrize("code", WINDOWS)
def test_both_proofs_agree(early, code):
    """Guy and Smith on all values, and a window from 256 heaps on: the same least period and preperiod."""
    row = periods(code)
    assert row["proof"] == "window"
    enough = 2 * (row["preperiod"] + row["period"]) + len(code)
    run = HeapRun(Octal(code).form(HeapGame), enough)
    run.extend(min(4096, enough))
    run.choose()
    run.extend(enough)
    other = find_period(run.nimbers, run.game)
    assert (other.preperiod, other.period) == (row["preperiod"], row["period"])
    values = run.nimbers[: row["heaps_done"] + 1]
    assert (row["max_nimber"], row["argmax"]) == (int(values.max()), int(values.argmax()))


def test_a_preperiod_that_is_over_before_the_prefix_ends(early):
    """0.45 repeats from heap 498 on, its first window begins at 513."""
    row = periods("0.45")
    assert (row["preperiod"], row["period"], row["heaps_done"]) == (498, 20, 1044)


def test_four_sevens():
    """0.7777: period 24, last exception 141 (Winning Ways, chapter 4)."""
    row = periods("0.7777", 10_000)
    assert (row["period"], row["last_exception"]) == (24, 141)


@pytest.mark.parametrize("code", OPEN)
def test_open_games_stay_open(code):
    row = periods(code, 32_768)
    assert (row["status"], row["heaps_done"]) == ("open", 32_768)
    assert row["max_nimber"] == int(next(fact["max_nimber"] for fact in FACTS if fact["code"] == code))
    assert {row[name] for name in ("period", "preperiod", "last_exception", "proof", "certificate")} == {None}


def test_it_stops_where_the_period_is_proved():
    result = solve(Octal("0.77"), PeriodSearch(10**12, keep_nimbers=False))
    assert result.complete is True
    assert result.tables["periods"]["heaps_done"].to_pylist() == [256]


@pytest.mark.parametrize("limit", [0, 1, 63, 64, 65, 165, 166, 167, 1000])
def test_at_the_limit_guy_and_smith_have_the_last_word(limit):
    row, (plain,) = periods("0.77", limit), solve(Octal("0.77"), MexDp(limit)).tables["periods"].to_pylist()
    if limit < 256:
        same = ("status", "period", "preperiod", "max_nimber", "argmax", "heaps_done", "proof", "certificate")
        assert {name: row[name] for name in same} == {name: plain[name] for name in same}
    assert row["status"] == ("proved" if limit >= 167 else "open")


@pytest.mark.parametrize("code", ["0.16", "0.156", "0.04", "0.3", "0.0"])
def test_nimbers_are_those_of_the_plain_method(early, code):
    found = solve(Octal(code), PeriodSearch(20_000, keep_nimbers=True)).tables
    done = found["periods"]["heaps_done"][0].as_py()
    assert found["nimbers"].equals(solve(Octal(code), MexDp(done)).tables["nimbers"])


def test_a_late_rare_heap_is_met_with_all_values(early, monkeypatch):
    """0.16 seems to have no rare heap after 3604, and has two at 13932 and 13935: the way back."""
    ways = []
    way_back = period_search._Stream.way_back
    monkeypatch.setattr(period_search._Stream, "way_back", lambda self, game: ways.append(self.done) or way_back(self, game))

    def soon(self, run):
        return self.done >= max(8192, self.not_before) and 2 * (run.rares().last_rare + 100) <= self.done

    monkeypatch.setattr(period_search._Search, "_look_dead", soon)
    steps = list(events("0.16", 40_000, keep_nimbers=True))
    assert ways
    assert steps[-1].tables["nimbers"].equals(solve(Octal("0.16"), MexDp(40_000)).tables["nimbers"])
    assert steps[-1].tables["periods"]["last_rare"].to_pylist() == [13_935]
    done = [event.done for event in steps if isinstance(event, Progress)]
    assert done == sorted(done)
    stored = [event.step for event in steps if isinstance(event, Checkpoint)]
    assert stored == sorted(set(stored))


@pytest.mark.parametrize(
    ("code", "limit"), [("0.16", 500_000), ("0.156", 9000), ("0.156", 8000), ("0.04", 5000), ("0.45", 3000), ("0.16", 420_000)]
)
def test_every_checkpoint_leads_to_the_same_end(early, monkeypatch, code, limit):
    monkeypatch.setattr(period_search, "STEP", max(512, limit // 12))
    *said, whole = [kept(event) if isinstance(event, Checkpoint) else event for event in events(code, limit)]
    stored = [event for event in said if isinstance(event, Checkpoint)]
    assert len(stored) > 3
    assert stored[-1].step == limit
    for one in stored:
        *later, again = events(code, limit, one)
        assert again.tables == whole.tables
        last = [event for event in later if isinstance(event, Checkpoint)][-1]
        assert all(np.array_equal(last.arrays[name], array) for name, array in stored[-1].arrays.items())


@pytest.mark.parametrize("code", ["0.156", "0.16", "0.45"])
@pytest.mark.parametrize("first", [1, 100, 1044, 1045, 5000, 8541, 8600])
def test_a_longer_limit_goes_on(early, code, first):
    stored = [kept(event) for event in events(code, first) if isinstance(event, Checkpoint)][-1]
    *_, extended = events(code, 20_000, stored)
    *_, fresh = events(code, 20_000)
    assert extended.tables == fresh.tables


def test_nothing_is_kept_once_rare_heaps_have_stopped():
    """0.104 has twenty rare heaps, the last one 284: a million heaps more add no byte."""
    sizes = [
        sum(array.nbytes for array in event.arrays.values())
        for event in events("0.104", 3_000_000)
        if isinstance(event, Checkpoint) and event.step > 600_000
    ]
    assert len(sizes) > 5
    assert len(set(sizes)) == 1
    assert sizes[0] < 2_000_000


@pytest.mark.parametrize("place", range(1, 6))
def test_stopped_it_says_what_it_has(place):
    stream = events("0.16", 1_000_000)
    for _ in range(place):
        next(stream)
    result = stream.throw(Stop())
    assert isinstance(result, Result)
    assert not result.complete
    assert result.tables["periods"]["status"].to_pylist() == ["open"]


def test_nimbers_are_kept_up_to_ten_million_heaps_unless_somebody_says():
    """Kayles is proved at heap 256, whatever the limit."""
    for limit, keep, rows in ((10**7, None, 257), (10**7 + 1, None, 0), (10**7, False, 0), (300, True, 257)):
        assert len(solve(Octal("0.77"), PeriodSearch(limit, keep)).tables["nimbers"]) == rows


@pytest.mark.parametrize("first", [8400, 8600, 20_000])
def test_a_limit_beyond_goes_on_from_what_was_kept(early, monkeypatch, first):
    monkeypatch.setattr(period_search, "MOST_KEPT", 20_000)
    stored = [kept(event) for event in events("0.16", first, keep_nimbers=None) if isinstance(event, Checkpoint)][-1]
    *later, extended = events("0.16", 30_000, stored, keep_nimbers=None)
    assert min(event.done for event in later if isinstance(event, Progress)) > first
    *_, fresh = events("0.16", 30_000, keep_nimbers=None)
    assert extended.tables == fresh.tables
    assert len(fresh.tables["nimbers"]) == 0


def test_a_limit_that_keeps_nimbers_does_not_go_on_from_where_there_are_none(early, monkeypatch):
    """A search to 500,000 that was broken off left no nimbers behind; one to 400,000 needs them."""
    monkeypatch.setattr(period_search, "MOST_KEPT", 400_000)
    stored = [kept(event) for event in events("0.16", 500_000, keep_nimbers=None) if isinstance(event, Checkpoint)]
    bare = [one for one in stored if one.step < 400_000 and "window" in one.arrays][-1]
    *_, found = events("0.16", 400_000, bare, keep_nimbers=None)
    *_, fresh = events("0.16", 400_000, keep_nimbers=None)
    assert found.tables == fresh.tables
    assert len(found.tables["nimbers"]) == found.tables["periods"]["heaps_done"][0].as_py() + 1


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"heap_limit": -1}, "heap_limit"),
        ({"heap_limit": 10**13, "keep_nimbers": False}, "heap_limit"),
        ({"heap_limit": 10**8, "keep_nimbers": True}, "keep_nimbers"),
    ],
)
def test_bad_settings_are_refused(settings, path):
    with pytest.raises(ConfigError) as refused:
        PeriodSearch(**settings)
    assert refused.value.path == path
