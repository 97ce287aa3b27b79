"""The sparse-space solver against published values, against the plain method, and as a run that may be cut anywhere."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.store import write_table
from solvers.contract import Checkpoint, Progress, Result, Stop
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.games.grundys_game import GrundysGame
from solvers.games.octal import Octal
from solvers.impartial import sparse_space
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.sparse_space import MOST_HEAPS, MOST_KEPT, SparseSpace
from solvers.inline import InlineWorkers, conforming, solve

FACTS = list(csv.DictReader((Path(__file__).parents[3] / "facts" / "octal.csv").open(encoding="utf-8")))
PERIODIC = [row for row in FACTS if row["status"] == "periodic"]
QUICK = {row["code"]: row for row in PERIODIC if int(row["preperiod"]) < 200_000}
LONG = {row["code"]: row for row in PERIODIC if 200_000 < int(row["preperiod"]) < 10_000_000}
OPEN = {row["code"]: row for row in FACTS if row["status"] != "periodic"}
TOLD = ["rare_count", "last_rare", "mask", "parity"]


def periods(code, heap_limit):
    (row,) = solve(Octal(code), SparseSpace(heap_limit, keep_nimbers=False)).tables["periods"].to_pylist()
    return row


def events(code, heap_limit, resume=None):
    form = Octal(code).form(HeapGame)
    return SparseSpace(heap_limit).solve(form, resume=resume, workers=InlineWorkers(), rng=np.random.default_rng(0))


def assert_proved(code, fact):
    wanted = {name: int(fact[name]) for name in ("period", "preperiod", "max_nimber")}
    row = periods(code, 2 * max(wanted["preperiod"], 1) + 2 * wanted["period"] + len(code) - 3)
    assert row["status"] == "proved"
    assert {name: row[name] for name in wanted} == wanted


@pytest.mark.parametrize("code", QUICK)
def test_published_period_is_proved(code):
    assert_proved(code, QUICK[code])


@pytest.mark.long
@pytest.mark.parametrize("code", LONG)
def test_long_published_period_is_proved(code):
    assert_proved(code, LONG[code])


@pytest.mark.parametrize("code", OPEN)
def test_largest_nimbers_of_open_games(code):
    row = periods(code, 32_768)
    assert (row["status"], row["max_nimber"]) == ("open", int(OPEN[code]["max_nimber"]))


def test_rare_heaps_of_kayles():
    """The last rare heap is the last exception, 70; those before 984 are as in Winning Ways: nine in all."""
    row = periods("0.77", 10_000)
    assert (row["rare_count"], row["last_rare"], row["parity"]) == (9, 70, None)


def test_rare_heaps_of_grundys_game():
    """1273 rare heaps, the last 82860 (A. Flammenkamp's page on Grundy's game)."""
    (row,) = solve(GrundysGame(), SparseSpace(150_000, keep_nimbers=False)).tables["periods"].to_pylist()
    assert (row["status"], row["rare_count"], row["last_rare"]) == ("open", 1273, 82860)


@pytest.mark.parametrize("code", ["0.0", "4.0", "0.3", "0.44", "4.1"])
def test_games_with_hardly_any_moves(code):
    told, plain = (solve(Octal(code), method(300)).tables for method in (SparseSpace, MexDp))
    assert told["nimbers"].equals(plain["nimbers"])
    assert told["periods"].drop_columns(TOLD).equals(plain["periods"].drop_columns(TOLD))


def test_games_without_breaking_digits_call_nothing_rare():
    row = periods("0.333", 1000)
    assert [row[name] for name in TOLD] == [None] * 4
    assert (row["period"], row["preperiod"]) == (4, 0)


def test_limit_zero_knows_the_empty_heap_only():
    result = solve(Octal("0.77"), SparseSpace(0))
    assert result.tables["nimbers"].to_pylist() == [{"n": 0, "nimber": 0}]
    assert result.complete is True


def test_keep_nimbers_only_drops_the_nimbers():
    with_them, without = (solve(Octal("0.77"), SparseSpace(500, keep_nimbers=keep)).tables for keep in (True, False))
    assert with_them["nimbers"].num_rows == 501
    assert without["nimbers"].num_rows == 0
    assert with_them["periods"].equals(without["periods"])


@pytest.mark.parametrize("limit", [-1, MOST_HEAPS + 1])
def test_refuses_limits_out_of_range(limit):
    with pytest.raises(ConfigError, match=r"heap_limit: expected 0 to 1000000000, got -?\d+ \(all nimbers are in memory"):
        SparseSpace(limit, keep_nimbers=False)


def test_refuses_to_keep_too_many_nimbers():
    assert SparseSpace(MOST_KEPT).keep_nimbers
    with pytest.raises(ConfigError, match=r"keep_nimbers: expected false with a heap_limit of 10000001, got true \(at most"):
        SparseSpace(MOST_KEPT + 1)


def kept(code, heap_limit):
    """Return the checkpoints of a run, copied as rule 3 of the contract asks, and its tables."""
    checkpoints, tables = [], {}
    for event in events(code, heap_limit):
        if isinstance(event, Checkpoint):
            checkpoints.append(Checkpoint(event.step, {name: array.copy() for name, array in event.arrays.items()}))
        elif isinstance(event, Result):
            tables = dict(event.tables)
    return checkpoints, tables


def test_checkpoints_are_at_the_doublings_and_the_end():
    steps = [event.step for event in events("0.77", 10_000) if isinstance(event, Checkpoint)]
    assert steps == [64, 128, 256, 512, 1024, 2048, 4096, 8192, 10_000]
    assert [event.step for event in events("0.77", 0) if isinstance(event, Checkpoint)] == [0]


@pytest.mark.parametrize("code", ["0.6", "0.104", "0.33"])
def test_resumes_from_every_checkpoint_with_the_same_tables_and_checkpoints(code):
    checkpoints, fresh = kept(code, 5000)
    assert len(checkpoints) == 8
    for checkpoint in checkpoints:
        *_, last, result = events(code, 5000, checkpoint)
        assert result.tables == fresh
        assert last.step == 5000
        for name, array in checkpoints[-1].arrays.items():
            assert (last.arrays[name] == array).all()


@pytest.mark.parametrize("limit", [1500, 2048, 4000])
def test_goes_on_from_another_extent(limit):
    """A larger limit goes on from a run that ended anywhere, at a doubling too; a shorter one starts afresh."""
    for shorter in (1000, 1024, 1400, 3000):
        checkpoints, _ = kept("0.6", shorter)
        *_, result = events("0.6", limit, checkpoints[-1])
        assert result.tables == solve(Octal("0.6"), SparseSpace(limit)).tables


def test_steps_of_any_size_change_nothing(monkeypatch):
    checkpoints, fresh = kept("0.156", 3000)
    monkeypatch.setattr(sparse_space, "_OPTIONS_A_STEP", 1)
    finer, tables = kept("0.156", 3000)
    assert len(finer) > 150
    assert tables == fresh
    for name, array in checkpoints[-1].arrays.items():
        assert (finer[-1].arrays[name] == array).all()


def test_stop_says_what_is_known():
    run = events("0.77", 10_000)
    first = next(run)
    assert isinstance(first, Progress)
    assert (first.done, first.total) == (64, 10_000)
    assert first.metrics.keys() == {"max_nimber", "rares", "last_rare"}
    result = run.throw(Stop())
    assert isinstance(result, Result)
    assert result.complete is False
    assert conforming(result, SparseSpace()).tables["nimbers"].num_rows == 65
    assert result.tables["periods"]["heaps_done"].to_pylist() == [64]
    assert list(run) == []


def test_a_stop_after_the_last_heap_takes_nothing_away():
    run = events("0.77", 50)
    next(run)
    assert run.throw(Stop()).complete is True


def test_cost_is_less_than_that_of_the_plain_method():
    assert SparseSpace(100_000).cost(Octal("0.77")) < MexDp(100_000).cost(Octal("0.77")) / 10


def test_a_million_heaps_are_a_small_file(tmp_path):
    """Ten million are to stay below 15 MB: so a million of a game with many nimbers below 1.5 MB."""
    table = solve(Octal("0.36"), SparseSpace(1_000_000)).tables["nimbers"]
    write_table(table, tmp_path / "n.parquet")
    assert pq.read_table(tmp_path / "n.parquet").equals(table)
    assert (tmp_path / "n.parquet").stat().st_size < 1_500_000
    assert table.schema.field("nimber").type == pa.int32()


@pytest.mark.long
def test_310_of_the_three_digit_games_are_proved_by_heap_32768():
    """As `MexDp` proves them; the 201 that stay open have 78 distinct sequences."""
    codes = ["0." + "".join(digits) for digits in itertools.product("01234567", repeat=3)][1:]
    sequences = []
    for code in codes:
        tables = solve(Octal(code), SparseSpace(32_768)).tables
        if tables["periods"]["status"][0].as_py() == "open":
            sequences.append(tables["nimbers"]["nimber"].to_numpy().tobytes())
    assert (len(codes) - len(sequences), len(set(sequences))) == (310, 78)
