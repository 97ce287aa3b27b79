"""The checkers: right tables are proved, wrong ones refuted with a reason, garbage never raises."""

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from solvers.contract import GRADES
from solvers.games.octal import Octal
from solvers.impartial.check import check_nimbers, check_periods, plain
from solvers.impartial.mex_dp import MOST_UNKEPT, MexDp
from solvers.inline import solve
from solvers.schema import table_info

CHECKERS = {"nimbers": check_nimbers, "periods": check_periods}


def tables(code, heap_limit, **settings):
    return dict(solve(Octal(code), MexDp(heap_limit, **settings)).tables)


def with_values(table, name, values, kind=None):
    index = table.schema.get_field_index(name)
    return table.set_column(index, name, pa.array(values, kind or table.schema.field(name).type))


def with_value(table, name, row, value):
    values = table[name].to_pylist()
    values[row] = value
    return with_values(table, name, values)


def verdicts(code, came, table):
    return list(in_single_rows(CHECKERS[table](Octal(code), came)))


def grades(code, came, table):
    return Counter(verdict.grade for verdict in verdicts(code, came, table))


def in_single_rows(verdicts):
    """Spread verdicts on stretches of rows."""
    for one in verdicts:
        if one.row is None:
            yield one
        else:
            yield from (replace(one, row=one.row + step, count=1) for step in range(one.count))


@pytest.fixture
def small_full(monkeypatch):
    """Let heaps above 300 lie beyond full recomputation."""
    monkeypatch.setattr(plain, "FULL", 300)
    plain.recomputed.cache_clear()
    yield
    plain.recomputed.cache_clear()


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ("0.77", 1000),
        ("0.77", 100),
        ("0.137", 166),
        ("0.3", 10),
        ("0.04", 600),
        ("0.0", 3),
        ("4.0", 40),
        ("4.35", 700),
        ("0.77", 0),
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_right_tables_are_proved(code, limit, keep):
    came = tables(code, limit, keep_nimbers=keep)
    assert grades(code, came, "nimbers") == ({"proved": limit + 1} if keep else {})
    assert grades(code, came, "periods") == {"proved": 1}


@pytest.mark.parametrize(("code", "limit", "row"), [("0.77", 1000, 3), ("0.77", 1000, 999), ("0.04", 600, 600), ("0.04", 600, 0)])
def test_a_wrong_nimber_is_refuted_and_no_other(code, limit, row):
    came = tables(code, limit)
    right = came["nimbers"]["nimber"][row].as_py()
    came["nimbers"] = with_value(came["nimbers"], "nimber", row, right + 1)
    refuted = [verdict for verdict in verdicts(code, came, "nimbers") if verdict.grade == "refuted"]
    assert [(one.row, one.reason) for one in refuted] == [(row, f"heap {row} has nimber {right}, {right + 1} found")]


@pytest.mark.parametrize("row", [0, 500, 1000])
def test_a_missing_row_is_refuted(row):
    came = tables("0.77", 1000)
    rows = [index for index in range(1001) if index != row]
    came["nimbers"] = came["nimbers"].take(pa.array(rows))
    assert Counter((one.row is None, one.grade) for one in verdicts("0.77", came, "nimbers")) == {
        (True, "refuted"): 1,
        (False, "proved"): 1000,
    }


@pytest.mark.parametrize("limit", [1000, 120])
@pytest.mark.parametrize("name", ["preperiod", "period", "last_exception", "max_nimber", "argmax", "heaps_done"])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_wrong_number_in_a_period_is_refuted(limit, name, by):
    came = tables("0.77", limit)
    came["periods"] = with_value(came["periods"], name, 0, (came["periods"][name][0].as_py() or 0) + by)
    (verdict,) = verdicts("0.77", came, "periods")
    assert verdict.grade == "refuted"
    assert verdict.reason.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("code", "0.7"), ("code", None), ("status", "open"), ("status", "x"), ("proof", "guy_smith_no_breaking"), ("proof", None)],
)
def test_a_wrong_word_in_a_period_is_refuted(name, value):
    came = tables("0.77", 1000)
    came["periods"] = with_value(came["periods"], name, 0, value)
    assert grades("0.77", came, "periods") == {"refuted": 1}


@pytest.mark.parametrize("name", ["preperiod", "period", "last_exception", "max_nimber", "argmax", "heaps_done"])
def test_a_float_where_an_integer_was_declared_is_refuted(name):
    came = tables("0.77", 1000)
    came["periods"] = with_values(came["periods"], name, [float(came["periods"][name][0].as_py())], pa.float64())
    assert grades("0.77", came, "periods") == {"refuted": 1}


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000, '{"n0": "71"}', None, "1", '{"n0": NaN}'])
def test_a_damaged_certificate_is_refuted(text):
    came = tables("0.77", 1000)
    came["periods"] = with_value(came["periods"], "certificate", 0, text)
    assert grades("0.77", came, "periods") == {"refuted": 1}


@pytest.mark.parametrize("key", ["n0", "p", "k", "m", "from", "to"])
@pytest.mark.parametrize("value", [1, True, 71.0, None])
def test_every_number_of_a_certificate_is_read(key, value):
    came = tables("0.77", 1000)
    said = json.loads(came["periods"]["certificate"][0].as_py()) | {key: value}
    came["periods"] = with_value(came["periods"], "certificate", 0, json.dumps(said))
    assert grades("0.77", came, "periods") == {"refuted": 1}


def test_a_claim_that_the_heaps_do_not_prove_is_refuted():
    """Kayles has period 12 from 71, but 166 heaps do not show it."""
    came = tables("0.77", 1000)
    short = tables("0.77", 166)
    assert short["periods"]["status"].to_pylist() == ["open"]
    short["periods"] = with_value(came["periods"], "heaps_done", 0, 166)
    assert grades("0.77", short, "periods") == {"refuted": 1}


def test_a_multiple_of_the_period_is_refuted():
    came = tables("0.77", 1000)
    came["periods"] = with_value(came["periods"], "period", 0, 24)
    (verdict,) = verdicts("0.77", came, "periods")
    assert verdict.reason == "period: 12 wanted, 24 found"


def test_open_where_a_proof_was_there_is_refuted():
    came = tables("0.77", 1000)
    row = came["periods"].to_pylist()[0]
    row |= dict.fromkeys(("preperiod", "period", "last_exception", "proof", "certificate")) | {"status": "open"}
    came["periods"] = pa.Table.from_pylist([row], schema=came["periods"].schema)
    (verdict,) = verdicts("0.77", came, "periods")
    assert (verdict.grade, verdict.reason) == ("refuted", "status: 'proved' wanted, 'open' found")


def test_another_game_is_refuted():
    came = tables("0.77", 300)
    assert grades("0.07", came, "nimbers")["refuted"] > 100
    assert grades("0.07", came, "periods") == {"refuted": 1}


@pytest.mark.parametrize("rows", [0, 2])
def test_periods_is_one_row(rows):
    came = tables("0.77", 1000)
    came["periods"] = pa.concat_tables([came["periods"]] * rows) if rows else came["periods"].slice(0, 0)
    assert (None, "refuted", f"one row wanted, {rows} found") in [
        (one.row, one.grade, one.reason) for one in verdicts("0.77", came, "periods")
    ]


def test_missing_tables_and_columns_are_refuted():
    came = tables("0.77", 200)
    assert grades("0.77", {}, "nimbers") == grades("0.77", {}, "periods") == {"refuted": 1}
    for name in ("n", "nimber"):
        assert grades("0.77", came | {"nimbers": came["nimbers"].drop_columns([name])}, "nimbers") == {"refuted": 1}
    for name in came["periods"].column_names:
        assert grades("0.77", came | {"periods": came["periods"].drop_columns([name])}, "periods") == {"refuted": 1}


GARBAGE = [
    (pa.string(), "x"),
    (pa.string(), None),
    (pa.null(), None),
    (pa.float64(), 3.0),
    (pa.float64(), float("nan")),
    (pa.bool_(), True),
    (pa.int64(), -1),
    (pa.int64(), 2**63 - 1),
    (pa.uint64(), 2**64 - 1),
    (pa.binary(), b"\xff"),
    (pa.list_(pa.int64()), [1]),
    (pa.timestamp("s"), 2**60),
]


@pytest.mark.parametrize(("kind", "value"), GARBAGE)
@pytest.mark.parametrize("table", ["nimbers", "periods"])
def test_garbage_is_refuted_and_never_raises(table, kind, value):
    came = tables("0.77", 300)
    for name in came[table].column_names:
        rows = came[table].num_rows
        damaged = came | {table: with_values(came[table], name, [value] * rows, kind)}
        found = grades("0.77", damaged, table)
        assert found["refuted"] >= 1, name
        verdicts("0.77", damaged, "periods")
        verdicts("0.77", damaged, "nimbers")


def test_text_that_is_no_text_is_refuted():
    came = tables("0.77", 300)
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    came["periods"] = came["periods"].set_column(0, "code", bad)
    assert grades("0.77", came, "periods") == {"refuted": 1}


def test_heaps_beyond_full_recomputation_are_sampled(small_full):
    came = tables("0.04", 1000)
    assert grades("0.04", came, "nimbers") == {"proved": 301, "sampled": 700}
    assert grades("0.04", came, "periods") == {"sampled": 1}


@pytest.mark.parametrize("code", ["0.04", "0.77"])
@pytest.mark.parametrize("limit", [300, 301, 1000])
def test_every_right_row_reaches_what_its_table_claims(small_full, code, limit):
    came = tables(code, limit)
    for name, table in came.items():
        claimed = GRADES.index(table_info(table.schema).claims)
        assert all(GRADES.index(verdict.grade) <= claimed for verdict in verdicts(code, came, name)), name


def test_nimbers_may_be_dropped_only_where_the_checker_does_without():
    assert MOST_UNKEPT <= plain.FULL


def test_a_proved_period_reaches_beyond_full_recomputation(small_full):
    came = tables("0.77", 5000)
    assert grades("0.77", came, "nimbers") == {"proved": 5001}
    assert grades("0.77", came, "periods") == {"proved": 1}


def test_without_nimbers_what_lies_beyond_is_unchecked(small_full):
    came = tables("0.04", 1000, keep_nimbers=False)
    assert grades("0.04", came, "periods") == {"unchecked": 1}


def test_a_sample_finds_a_wrong_table(small_full):
    came = tables("0.04", 1000)
    wrong = came["nimbers"]["nimber"].to_numpy().copy()
    wrong[301:] += 1
    came["nimbers"] = with_values(came["nimbers"], "nimber", wrong)
    found = grades("0.04", came, "nimbers")
    assert found["proved"] == 301
    assert found["refuted"] > 0
    assert found["sampled"] == 0
    assert grades("0.04", came, "periods")["proved"] == grades("0.04", came, "periods")["sampled"] == 0


def test_a_sample_is_not_taken_on_wrong_ground(small_full):
    came = tables("0.04", 1000)
    came["nimbers"] = with_value(came["nimbers"], "nimber", 7, 9)
    assert grades("0.04", came, "nimbers") == {"proved": 300, "refuted": 1, "unchecked": 700}


# ---- stretches of rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["0.77", "0.007"])
@pytest.mark.parametrize("damage", [(), (5,), (5, 6, 399), (0,), (250, 251)])
def test_in_order_or_not_the_same_is_said(small_full, code, damage):
    came = tables(code, 400)
    values = came["nimbers"]["nimber"].to_pylist()
    for row in damage:
        values[row] += 1
    plain = pa.table([came["nimbers"]["n"], pa.array(values, pa.int32())], schema=came["nimbers"].schema)
    odd = plain.set_column(1, "nimber", pa.array(values, pa.int64()).dictionary_encode())  # judged row by row

    quick, slow = verdicts(code, {**came, "nimbers": plain}, "nimbers"), verdicts(code, {**came, "nimbers": odd}, "nimbers")

    assert [(one.row, one.grade, one.reason) for one in quick] == [(one.row, one.grade, one.reason) for one in slow]
