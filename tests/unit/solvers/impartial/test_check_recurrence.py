"""Rows of `periods` that are judged by running the game again: right ones are proved, each changed cell is refuted."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest

from solvers.forms import HeapGame
from solvers.games.grundys_game import GrundysGame
from solvers.games.octal import Octal
from solvers.impartial import check, period_search
from solvers.impartial.check import check_nimbers, check_periods, facts, plain, recurrence
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.period_search import PeriodSearch
from solvers.impartial.sparse_space import SparseSpace
from solvers.inline import solve

WINDOWS = ("0.055", "0.156", "0.356", "0.45", "0.644")


@pytest.fixture
def early(monkeypatch):
    """Take windows from 256 heaps on."""
    monkeypatch.setattr(period_search, "FIRST_WINDOW", 256)


@pytest.fixture
def small_full(monkeypatch):
    """Let heaps above 300 be run again."""
    monkeypatch.setattr(plain, "FULL", 300)
    plain.recomputed.cache_clear()
    yield
    plain.recomputed.cache_clear()


def searched(code, heap_limit=100_000):
    (row,) = solve(Octal(code), PeriodSearch(heap_limit, keep_nimbers=False)).tables["periods"].to_pylist()
    return row


def judged(code, row):
    schema = PeriodSearch.tables["periods"]
    (verdict,) = check_periods(Octal(code), {"periods": pa.Table.from_pylist([row], schema=schema)})
    return verdict


@pytest.mark.parametrize("code", WINDOWS)
def test_right_windows_are_proved(early, code):
    row = searched(code)
    assert row["proof"] == "window"
    verdict = judged(code, row)
    assert (verdict.grade, verdict.reason[:29]) == ("proved", "all heaps run again with witn")
    assert "agrees with" in verdict.reason


@pytest.mark.parametrize("code", ["0.16", "0.56", "0.127"])
def test_long_periods_are_proved(code):
    verdict = judged(code, searched(code, 10_000_000))
    assert verdict.grade == "proved"
    assert "agrees with tczajka/octal-games SolvedGames.md [Anil Gangolli, Thane Plambeck, 1989]" in verdict.reason


@pytest.mark.parametrize("code", ["0.156", "0.45", "0.77", "0.104"])
@pytest.mark.parametrize("by", [-1, 1, None])
def test_every_number_is_judged(early, small_full, code, by):
    """Windows, Guy and Smith, and a game left open, all judged by running them again."""
    row = searched(code, 9000)
    for name, value in row.items():
        if name in {"certificate", "proof"} or (by is None and value is None) or isinstance(value, str):
            continue
        if name == "heaps_done" and row["proof"] != "window":  # the certificate of a window hashes all heaps; else nimbers tell
            continue
        verdict = judged(code, row | {name: None if by is None else (value or 0) + by})
        assert verdict.grade in {"refuted", "unchecked"}, name
        assert verdict.grade == "refuted" or value is None, name


@pytest.mark.parametrize("key", ["n0", "p", "k", "s", "L", "r", "from", "to", "fnv64"])
@pytest.mark.parametrize("value", [1, True, 71.0, None, "0123456789abcdef", 10**9])
def test_every_number_of_a_window_is_read(early, key, value):
    row = searched("0.156")
    said = json.loads(row["certificate"]) | {key: value}
    assert judged("0.156", row | {"certificate": json.dumps(said)}).grade == "refuted"


def test_a_window_too_short_for_its_witnesses_is_refuted(early):
    row = searched("0.156")
    said = json.loads(row["certificate"])
    short = said | {"L": 300, "from": said["s"] - 300}
    verdict = judged("0.156", row | {"certificate": json.dumps(short)})
    assert (verdict.grade, verdict.reason) == ("refuted", "certificate: L above 360 wanted, 300 found")


def test_a_window_that_holds_its_rare_heaps_but_not_its_witnesses_is_refuted(early):
    """The last rare heap of 0.16 is 13935; a heap of its period needs a witness with a part of 21577."""
    row = searched("0.16", 500_000)
    said = json.loads(row["certificate"])
    for length, grade in ((20_000, "refuted"), (21_579, "refuted"), (21_580, "proved")):
        short = said | {"L": length, "from": said["s"] - length}
        assert judged("0.16", row | {"certificate": json.dumps(short)}).grade == grade


@pytest.mark.parametrize(
    ("preperiod", "period", "said"),
    [
        (1, 6, ""),
        (1, 12, "period: 6 holds"),
        (0, 6, "preperiod: 1"),
        (2, 6, "preperiod: 1"),
        (1, 3, "preperiod: "),
        (1, 60, "period: two of 60"),
        (1, 0, "period: two"),
    ],
)
def test_a_period_is_the_least_one_from_its_least_heap(preperiod, period, said):
    values = np.array([9, *[1, 2, 3, 1, 2, 4] * 10], np.uint8)
    assert recurrence.wrong_period(values, preperiod, period).startswith(said)
    assert bool(recurrence.wrong_period(values, preperiod, period)) == bool(said)


def test_a_multiple_of_the_period_is_refuted(early):
    row = searched("0.45")
    assert "10 holds" not in judged("0.45", row).reason
    assert judged("0.45", row | {"period": 40}).grade == "refuted"


def test_another_games_row_is_refuted(early):
    assert judged("0.45", searched("0.156") | {"code": "0.45"}).grade == "refuted"


def test_open_where_guy_and_smith_would_prove_it_is_no_proof(small_full, monkeypatch):
    """A window is waited for until 2 * 10^6 heaps, say, when all values would have told before: not refuted, and named."""
    row = searched("0.156", 8192)
    assert row["status"] == "proved"
    nothing = dict.fromkeys(("preperiod", "period", "last_exception", "proof", "certificate"))
    verdict = judged("0.156", row | nothing | {"status": "open"})
    assert verdict.grade == "sampled"
    assert "would prove period 349 from 3479 on" in verdict.reason


@pytest.mark.parametrize("code", ["0.36", "0.104", "0.6"])
def test_open_games_are_run_again(small_full, code):
    verdict = judged(code, searched(code, 5000))
    assert verdict.grade == "proved"
    assert "64 of them by all their options" in verdict.reason


def test_sparse_space_is_judged_alike(small_full):
    tables = solve(Octal("0.104"), SparseSpace(3000, keep_nimbers=False)).tables
    (verdict,) = check_periods(Octal("0.104"), tables)
    assert verdict.grade == "proved"


def test_what_would_take_hours_is_unchecked():
    row = searched("0.104", 100)
    assert judged("0.104", row | {"heaps_done": 10**12}).grade == "unchecked"


@pytest.mark.parametrize("game", [Octal("0.77"), Octal("0.36"), Octal("0.104"), Octal("4.0"), GrundysGame()])
@pytest.mark.parametrize(("mask", "parity"), [(1, None), (7, None), (23, 1), (6, 0)])
def test_any_rule_gives_the_nimbers_of_the_plain_method(game, mask, parity):
    form = game.form(HeapGame)
    if not recurrence.suits(form, mask, parity):
        pytest.skip("no rule for this game")
    again = recurrence.run_again(form, 600, (mask, parity), (600, 300), 0)
    wanted = solve(game, MexDp(600)).tables["nimbers"]["nimber"].to_numpy()
    assert again.values.tolist() == wanted.tolist()
    odd = np.bitwise_count(wanted & mask) & 1
    rare = odd == (0 if parity is None else (np.arange(601) + parity) % 2)
    assert again.rares.tolist() == [heap for heap in range(1, 601) if rare[heap]]


@pytest.mark.parametrize("done", [*range(12, 40), 300, 1001])
def test_rare_heaps_of_a_proved_period_are_counted_without_walking(done):
    """0.77 repeats after 83 heaps; of a claim for many more heaps the periods are counted."""
    form = Octal("0.77").form(HeapGame)
    known = plain.recomputed(form, 10_000)
    told = check._Told(3, None, 0, None)
    nimbers = [known.nimber(heap) for heap in range(done + 1)]
    rare = [heap for heap in range(1, done + 1) if (nimbers[heap] & 3).bit_count() % 2 == 0]
    assert check._count_rares(known, done, told) == (len(rare), rare[-1])


def test_facts_are_named():
    assert len(facts.facts()) == 31
    assert judged("0.77", searched("0.77")).reason.endswith("agrees with tczajka/octal-games TrivialGames.md; OEIS A002186")
    assert judged("0.7777", searched("0.7777")).reason.endswith("new: no published value is known here")
    assert "published: period 12 from 71 on" in judged("0.77", searched("0.77", 100)).reason
    assert "agrees with own computation" in judged("0.6", searched("0.6", 1000)).reason


def test_a_proved_row_that_contradicts_a_fact_is_refuted(monkeypatch):
    wrong = dict(facts.facts()) | {"0.77": facts.Fact(12, 70, 8, None, "somebody")}
    monkeypatch.setattr(facts, "facts", lambda: wrong)
    verdict = judged("0.77", searched("0.77"))
    assert verdict.grade == "refuted"
    assert "period 12 from 71 on, largest nimber 8 found; 12 from 70 on, 8 published (somebody)" in verdict.reason


# ---- nimbers -----------------------------------------------------------------------------------------------------------------


def judged_nimbers(code, came):
    found = {}
    for one in check_nimbers(Octal(code), came):
        found[one.grade] = found.get(one.grade, 0) + one.count
    return found


def with_nimber(came, row, value):
    nimbers = came["nimbers"]["nimber"].to_pylist()
    nimbers[row] = value
    place = came["nimbers"].schema.get_field_index("nimber")
    field = came["nimbers"].schema.field(place)
    return {**came, "nimbers": came["nimbers"].set_column(place, field, pa.array(nimbers, field.type))}


@pytest.mark.parametrize("code", ["0.36", "0.104", "0.6"])
def test_nimbers_beyond_the_plain_method_are_proved_where_rares_are_told(small_full, code):
    came = solve(Octal(code), SparseSpace(2000)).tables
    assert judged_nimbers(code, came) == {"proved": 2001}
    assert judged_nimbers(code, with_nimber(came, 1700, came["nimbers"]["nimber"][1700].as_py() + 1)) == {
        "proved": 2000,
        "refuted": 1,
    }


@pytest.mark.parametrize("harm", [{"mask": 1}, {"max_nimber": 3}, {"heaps_done": 1999}, {"rare_count": None}], ids=str)
def test_nimbers_beyond_are_not_proved_by_a_row_that_tells_wrong_rares(small_full, harm):
    came = solve(Octal("0.36"), SparseSpace(2000)).tables
    (row,) = came["periods"].to_pylist()
    came = {**came, "periods": pa.Table.from_pylist([row | harm], schema=came["periods"].schema)}
    found = judged_nimbers("0.36", came)
    assert found["proved"] == 301
    assert found["sampled"] == 1700


def test_two_methods_that_differ_prove_nothing_beyond_the_plain_one(small_full, monkeypatch):
    came = solve(Octal("0.36"), SparseSpace(2000)).tables
    run = check._run_again

    def wrong(*given):
        again = run(*given)
        return dataclasses.replace(again, values=np.where(np.arange(2001) == 7, 99, again.values))

    monkeypatch.setattr(check, "_run_again", wrong)
    assert judged_nimbers("0.36", came) == {"proved": 301, "sampled": 1700}
