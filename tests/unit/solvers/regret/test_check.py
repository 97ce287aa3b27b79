"""The checker of learning curves: passes what is right, refutes what is damaged, never raises."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from solvers.forms import MatrixGame
from solvers.inline import InlineWorkers, last_result
from solvers.regret.check import check_curve
from solvers.regret.curves import CURVE
from solvers.regret.regret_matching import RegretMatching

NAMES = ("a", "b", "c")
FORM = MatrixGame(tuple(tuple(map(Fraction, row)) for row in (("1/3", -2, 5), (2, "7/2", -1))), NAMES[:2], NAMES)
START = ((0.8, 0.1), (0.1, 0.1, 0.8))


class Fixed:
    """A game that gives one form."""

    version = 1
    gives = (MatrixGame,)

    def __init__(self, form):
        self._form = form

    def form(self, kind):
        return self._form


GAME = Fixed(FORM)


@pytest.fixture(scope="module")
def rows():
    solver = RegretMatching(20, START)
    events = solver.solve(FORM, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return last_result(events, solver).tables["curve"].to_pylist()


def judge(rows, schema=CURVE, game=GAME):
    return list(check_curve(game, {"curve": pa.Table.from_pylist(rows, schema=schema)}))


def changed(rows, index, **values):
    return [{**row, **values} if at == index else row for at, row in enumerate(rows)]


def refuted(verdicts):
    return [verdict.row for verdict in verdicts if verdict.grade == "refuted"]


def test_a_true_curve_is_recomputed_row_by_row(rows):
    verdicts = judge(rows)

    assert [(verdict.row, verdict.grade) for verdict in verdicts] == [(index, "recomputed") for index in range(len(rows))]


def test_hand_made_numbers():
    half = {"x": [0.5, 0.5], "y": [0.5, 0.5], "value_p1": 0.0, "gain_p1": 0.0, "gain_p2": 0.0, "exploitability": 0.0}
    heads = {"x": [1.0, 0.0], "y": [0.5, 0.5], "value_p1": 0.0, "gain_p1": 0.0, "gain_p2": 1.0, "exploitability": 0.5}
    tails = {**heads, "x": [0.0, 1.0]}
    pennies = MatrixGame(((Fraction(1), Fraction(-1)), (Fraction(-1), Fraction(1))), NAMES[:2], NAMES[:2])
    rows = [
        {"iteration": iteration, "iterate": iterate, **numbers}
        for iteration, iterate, numbers in [(1, "last", heads), (1, "average", heads), (2, "last", tails), (2, "average", half)]
    ]

    assert {verdict.grade for verdict in judge(rows, game=Fixed(pennies))} == {"recomputed"}


def measured(x, y):
    """Numbers that follow from strategies of FORM, so that only their place among the others can be wrong."""
    payoffs = np.array(FORM.payoffs, dtype=float)
    earns, costs = payoffs @ y, np.array(x) @ payoffs
    value = float(np.array(x) @ earns)
    gains = {"gain_p1": float(earns.max()) - value, "gain_p2": value - float(costs.min())}
    return {"x": x, "y": y, "value_p1": value, "exploitability": sum(gains.values()) / 2, **gains}


@pytest.mark.parametrize("index", [1, 3, 17, 19, 21, 25])
def test_an_average_that_goes_on_from_no_other_is_refuted(rows, index):
    mirrored = measured(rows[index]["x"][::-1], rows[index]["y"][::-1])

    verdicts = judge(changed(rows, index, **mirrored))

    assert index in refuted(verdicts)
    assert "is no mean that goes on from" in verdicts[index].reason


@pytest.mark.parametrize("index", [0, 4, 18])
def test_a_last_strategy_that_its_average_does_not_hold_is_found(rows, index):
    alone = measured([1.0, 0.0] if rows[index]["x"][0] < 0.5 else [0.0, 1.0], [0.0, 0.0, 1.0])

    assert refuted(judge(changed(rows, index, **alone))) == [index + 1]


@pytest.mark.parametrize("opponent", [None, (0.2, 0.3, 0.5)])
def test_long_runs_keep_the_law_of_means(opponent):
    solver = RegretMatching(1_000_000, START[: 1 if opponent else 2], opponent)
    events = solver.solve(FORM, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))

    assert refuted(judge(last_result(events, solver).tables["curve"].to_pylist())) == []


@pytest.mark.parametrize("name", ["exploitability", "gain_p1", "gain_p2", "value_p1"])
@pytest.mark.parametrize("damage", [1e-7, -1e-7, -1.0, math.nan, math.inf, None])
def test_a_wrong_number_is_refuted(rows, name, damage):
    number = rows[7][name] + damage if damage is not None else None

    verdicts = judge(changed(rows, 7, **{name: number}))

    assert refuted(verdicts) == [7]
    assert name in verdicts[7].reason


def test_rounding_is_within_the_tolerance(rows):
    assert refuted(judge(changed(rows, 7, gain_p1=rows[7]["gain_p1"] + 1e-12))) == []


@pytest.mark.parametrize(
    "mixes",
    [
        {"x": [0.5, 0.5 + 1e-7]},
        {"x": [1.5, -0.5]},
        {"x": [1.0]},
        {"x": []},
        {"x": None},
        {"x": [None, 1.0]},
        {"x": [math.nan, 1.0]},
        {"y": [1.0, 0.0]},
        {"y": [1.0, math.inf, -math.inf]},
    ],
)
def test_what_is_no_distribution_is_refuted(rows, mixes):
    verdicts = judge(changed(rows, 4, **mixes))

    assert refuted(verdicts) == [4]
    assert verdicts[4].reason.startswith(f"{next(iter(mixes))} is not a")


def test_another_distribution_is_refuted(rows):
    assert refuted(judge(changed(rows, 4, x=[0.25, 0.75]))) == [4]


@pytest.mark.parametrize("values", [{"iteration": 0}, {"iteration": None}, {"iterate": "best"}, {"iterate": None}])
def test_a_row_without_a_place_is_refuted_and_leaves_its_partner_alone(rows, values):
    assert refuted(judge(changed(rows, 4, **values))) == [4, 5]


def test_a_missing_iterate_is_refuted(rows):
    assert refuted(judge(rows[:5] + rows[6:])) == [4]
    assert refuted(judge(rows[:4] + rows[5:])) == [4]


def test_a_missing_beginning_is_refuted(rows):
    assert refuted(judge(rows[2:])) == [None]
    assert refuted(judge([])) == [None]
    assert refuted(judge(changed(changed(rows, 0, iteration=0), 1, iteration=0))) == [None, 0, 1]


def test_rows_out_of_order_or_twice_are_refuted(rows):
    assert refuted(judge([*rows[:2], rows[4], rows[5], rows[2], rows[3], *rows[6:]])) == [4, 5]
    assert refuted(judge([*rows[:6], *rows[4:]])) == [6, 7]
    assert refuted(judge([*rows[:2], rows[3], rows[2], *rows[4:]])) == [3]


def test_an_iteration_that_jumps_ahead_is_refuted_with_all_it_overtook(rows):
    assert refuted(judge(changed(changed(rows, 4, iteration=9), 5, iteration=9)))


def test_wrong_types_are_refuted_not_raised(rows):
    texts = pa.table({name: [str(row[name]) for row in rows] for name in CURVE.names})
    nulls = pa.table({name: pa.nulls(3) for name in CURVE.names})
    bools = pa.table({name: [True, False] for name in CURVE.names})
    lists = pa.table({name: [[1], [2]] for name in CURVE.names})
    raw_bytes = texts.set_column(1, "iterate", pa.array([b"\xff"] * len(rows)))

    for table in (texts, nulls, bools, lists, raw_bytes):
        verdicts = list(check_curve(GAME, {"curve": table}))
        assert {verdict.grade for verdict in verdicts} == {"refuted"}
        assert {verdict.row for verdict in verdicts} >= set(range(table.num_rows))


def test_truth_is_no_number(rows):
    table = pa.Table.from_pylist(rows, schema=CURVE)
    table = table.set_column(CURVE.get_field_index("y"), "y", pa.array([[True, False, False]] * len(rows)))

    verdicts = list(check_curve(GAME, {"curve": table}))

    assert {verdict.reason for verdict in verdicts} == {"y is not a list of 3 numbers"}


def test_text_that_is_no_text_is_refuted_not_raised(rows):
    table = pa.Table.from_pylist(rows, schema=CURVE)
    broken = pa.StringArray.from_buffers(1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff"))
    table = table.set_column(1, "iterate", pa.chunked_array([broken] * len(rows)))

    (verdict,) = check_curve(GAME, {"curve": table})

    assert (verdict.row, verdict.grade) == (None, "refuted")


@pytest.mark.parametrize("name", CURVE.names)
def test_a_missing_or_double_column_is_refuted(rows, name):
    table = pa.Table.from_pylist(rows, schema=CURVE)
    for damaged in (table.drop_columns([name]), table.append_column(name, table[name])):
        (verdict,) = check_curve(GAME, {"curve": damaged})
        assert (verdict.row, verdict.grade) == (None, "refuted")
        assert name in verdict.reason


def test_a_missing_table_is_refuted():
    assert refuted(check_curve(GAME, {})) == [None]


def test_payoffs_beyond_float_are_refuted_not_raised(rows):
    huge = MatrixGame(((Fraction(10**400),) * 3,) * 2, NAMES[:2], NAMES)

    assert None in refuted(judge(rows, game=Fixed(huge)))
