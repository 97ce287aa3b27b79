"""Nimbers of octal games against published values and against brute force."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from solvers.contract import Checkpoint, Progress, Result, Stop
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial import mex_dp
from solvers.impartial.mex_dp import MexDp
from solvers.inline import InlineWorkers, conforming, solve
from solvers.schema import encoding_of

FACTS = list(csv.DictReader((Path(__file__).parents[3] / "facts" / "octal.csv").open(encoding="utf-8")))
QUICK = {row["code"]: row for row in FACTS if row["status"] == "periodic" and int(row["preperiod"]) < 8000}
OPEN = {row["code"]: row for row in FACTS if row["status"] != "periodic"}


def nimbers(code, heap_limit):
    return solve(Octal(code), MexDp(heap_limit)).tables["nimbers"]["nimber"].to_numpy()


def periods(code, heap_limit):
    (row,) = solve(Octal(code), MexDp(heap_limit, keep_nimbers=False)).tables["periods"].to_pylist()
    return row


def events(code, heap_limit, resume=None):
    return MexDp(heap_limit).solve(Octal(code).form(HeapGame), resume=resume, workers=InlineWorkers(), rng=np.random.default_rng(0))


@pytest.mark.parametrize("code", QUICK)
def test_published_period_is_proved(code):
    fact = {name: int(QUICK[code][name]) for name in ("period", "preperiod", "max_nimber")}
    k = len(code) - 2
    row = periods(code, 2 * max(fact["preperiod"], 1) + 2 * fact["period"] + k - 1)
    assert row["status"] == "proved"
    assert {name: row[name] for name in fact} == fact
    assert row["last_exception"] == (fact["preperiod"] - 1 if fact["preperiod"] else None)


def test_one_heap_fewer_leaves_kayles_open():
    enough = 2 * 71 + 2 * 12 + 2 - 1
    assert periods("0.77", enough)["status"] == "proved"
    row = periods("0.77", enough - 1)
    assert row["status"] == "open"
    assert {row[name] for name in ("preperiod", "period", "last_exception", "proof", "certificate")} == {None}


def test_kayles_repeats_its_twelve_values():
    values = nimbers("0.77", 2000)
    assert values[984:996].tolist() == [4, 1, 2, 8, 1, 4, 7, 2, 1, 8, 2, 7]
    assert (values[71 + 12 :] == values[71:-12]).all()
    assert values[70 + 12] != values[70]


def test_four_sevens():
    """0.7777: period 24, last exception 141 (Winning Ways, chapter 4)."""
    row = periods("0.7777", 400)
    assert (row["period"], row["last_exception"]) == (24, 141)


def test_games_that_are_known_to_be_alike():
    assert (nimbers("0.161", 518) == nimbers("0.36", 518)).all()
    assert nimbers("0.161", 519)[519] != nimbers("0.36", 519)[519]
    assert (nimbers("0.27", 2000) == nimbers("0.26", 2000)).all()
    assert (nimbers("0.007", 1999) == nimbers("0.04", 2000)[1:]).all()


@pytest.mark.parametrize("code", ["0.04", "0.007", "0.6", "0.36"])
def test_open_games_stay_open(code):
    assert periods(code, 5000)["status"] == "open"


def test_a_split_that_costs_one_counter_is_dawsons_kayles():
    """0.4 is 0.07 with one counter more in each heap, so its period starts one heap later."""
    row = periods("0.4", 1000)
    assert (row["period"], row["preperiod"]) == (34, 54)
    assert (nimbers("0.4", 1000)[1:] == nimbers("0.07", 999)).all()


def test_games_without_and_with_hardly_any_moves():
    assert nimbers("0.0", 5).tolist() == [0] * 6
    assert (periods("0.0", 5)["preperiod"], periods("0.0", 5)["period"]) == (0, 1)
    assert nimbers("4.0", 6).tolist() == [0, 0, 1, 0, 1, 0, 1]
    assert nimbers("0.3333", 9).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_nimbers_beyond_sixteen_bits():
    """0.33...3 with k digits is "take 1 to k": G(n) = n mod (k + 1). Goes on from a checkpoint just below 2 ** 16."""
    k = 2**16 + 10
    below = Checkpoint(2**16 - 3, {"nimbers": np.arange(2**16 - 2, dtype=np.int32)})
    *_, result = events("0." + "3" * k, k + 4, below)
    assert (result.tables["nimbers"]["nimber"].to_numpy() == np.arange(k + 5) % (k + 1)).all()


def test_limit_zero_knows_the_empty_heap_only():
    result = solve(Octal("0.77"), MexDp(0))
    assert result.tables["nimbers"].to_pylist() == [{"n": 0, "nimber": 0}]
    assert result.complete is True


def test_nimbers_that_are_the_certificate_must_be_kept():
    assert MexDp(100_000, keep_nimbers=False).heap_limit == 100_000
    with pytest.raises(ConfigError) as refused:
        MexDp(100_001, keep_nimbers=False)
    assert str(refused.value).startswith("keep_nimbers: expected true with a heap_limit of 100001, got false (beyond 100000 heaps")


def test_keep_nimbers_only_drops_the_nimbers():
    with_them, without = (solve(Octal("0.77"), MexDp(500, keep_nimbers=keep)).tables for keep in (True, False))
    assert with_them["nimbers"].num_rows == 501
    assert without["nimbers"].num_rows == 0
    assert with_them["periods"].equals(without["periods"])


@pytest.mark.parametrize("limit", [-1, 10_000_001])
def test_refuses_limits_out_of_range(limit):
    with pytest.raises(ConfigError, match=r"heap_limit: expected 0 to 10000000, got -?\d+ \(the work grows with its square"):
        MexDp(limit)


def test_checkpoints_are_few_and_the_last_is_at_the_end():
    steps = [event.step for event in events("0.77", 10_000) if isinstance(event, Checkpoint)]
    assert steps == [1000, 2000, 4000, 8000, 10_000]
    assert [event.step for event in events("0.77", 0) if isinstance(event, Checkpoint)] == [0]


def kept(code, heap_limit):
    """Return the checkpoints of a run, copied as rule 3 of the contract asks, and its tables."""
    checkpoints, tables = [], {}
    for event in events(code, heap_limit):
        if isinstance(event, Checkpoint):
            checkpoints.append(Checkpoint(event.step, {name: array.copy() for name, array in event.arrays.items()}))
        elif isinstance(event, Result):
            tables = dict(event.tables)
    return checkpoints, tables


def test_resumes_from_every_checkpoint_with_the_same_tables():
    checkpoints, fresh = kept("0.6", 5000)
    assert len(checkpoints) == 4
    for checkpoint in checkpoints:
        first, *_, result = events("0.6", 5000, checkpoint)
        assert first.done > 1000 if isinstance(first, Progress) else checkpoint.step == 5000
        assert result.tables == fresh


@pytest.mark.parametrize("limit", [700, 3000])
def test_goes_on_from_or_cuts_another_extent(limit):
    checkpoints, _ = kept("0.6", 2500)
    *_, result = events("0.6", limit, checkpoints[-1])
    assert result.tables == solve(Octal("0.6"), MexDp(limit)).tables


def test_stop_says_what_is_known():
    run = events("0.77", 10_000)
    first = next(run)
    assert isinstance(first, Progress)
    assert (first.done, first.total) == (1000, 10_000)
    result = run.throw(Stop())
    assert isinstance(result, Result)
    assert result.complete is False
    assert conforming(result, MexDp()).tables["nimbers"].num_rows == 1001
    assert result.tables["periods"]["heaps_done"].to_pylist() == [1000]
    assert list(run) == []


def test_a_stop_after_the_last_heap_takes_nothing_away():
    run = events("0.77", 100)
    next(run)
    assert run.throw(Stop()).complete is True


def test_a_checkpoint_is_offered_after_every_step(monkeypatch):
    monkeypatch.setattr("solvers.impartial.mex_dp._OPTIONS_A_STEP", 50_000)
    said = list(events("0.77", 3_000))
    steps = [event.done for event in said if isinstance(event, Progress)]
    assert len(steps) > 50
    assert [event.step for event in said if isinstance(event, Checkpoint)] == steps


def test_yields_between_small_steps_change_nothing(monkeypatch):
    _, fresh = kept("0.156", 3000)
    monkeypatch.setattr(mex_dp, "_OPTIONS_A_STEP", 30_000)
    stepwise = list(events("0.156", 3000))
    assert sum(isinstance(event, Progress) for event in stepwise) > 50
    assert stepwise[-1].tables == fresh


def test_cost_grows_with_the_square():
    assert MexDp(20_000).cost(Octal("0.77")) == pytest.approx(4 * MexDp(10_000).cost(Octal("0.77")), rel=0.01)


def test_tables_are_small_in_parquet(tmp_path):
    table = solve(Octal("0.77"), MexDp(10_000)).tables["nimbers"]
    encodings = {field.name: encoding_of(field) for field in table.schema}
    pq.write_table(table, tmp_path / "n.parquet", use_dictionary=False, column_encoding=encodings)
    assert pq.read_table(tmp_path / "n.parquet").equals(table)
    assert (tmp_path / "n.parquet").stat().st_size < 20_000


@pytest.mark.long
@pytest.mark.parametrize("code", OPEN)
def test_largest_nimbers_of_open_games(code):
    row = periods(code, 32_768)
    assert (row["status"], row["max_nimber"]) == ("open", int(OPEN[code]["max_nimber"]))


@pytest.mark.long
def test_310_of_the_three_digit_games_are_proved_by_heap_32768():
    codes = ["0." + "".join(digits) for digits in itertools.product("01234567", repeat=3)][1:]
    assert len(codes) == 511
    assert sum(periods(code, 32_768)["status"] == "proved" for code in codes) == 310


@pytest.mark.parametrize("code", ["0.77", "4.27", "0.0", "0.50007"])
@pytest.mark.parametrize("limit", [0, 1, 2, 33])
def test_metrics_count_xors_and_look_ups(code, limit):
    digits = [int(digit) for digit in code.replace(".", "")]
    heaps = [(n, place, digit) for n in range(1, limit + 1) for place, digit in enumerate(digits)]
    xors = sum(1 for n, place, digit in heaps if digit & 4 for a in range(1, n) if a <= n - place - a)
    ones = sum(1 for n, place, digit in heaps if digit & 2 and place and n > place)
    metrics = solve(Octal(code), MexDp(limit)).metrics
    assert (metrics["xors"], metrics["look_ups"]) == (xors, 2 * xors + ones)
