"""The checker of equilibria: it proves what is right and says what is wrong, whatever it is given."""

from fractions import Fraction as Q

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.equilibria import check_equilibria
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.equilibrium.tables import EQUILIBRIA
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix

HALVES = ForcedRps(a=Q(1, 2), b=Q(1, 2))
RIGHT = solve(HALVES, SupportEnumeration()).tables["equilibria"]
COIN = Matrix(((Q(1), Q(-1)), (Q(-1), Q(1))))
ZERO = Matrix(((Q(), Q()), (Q(), Q())))


def judge(game, table):
    return list(check_equilibria(game, {"equilibria": table}))


def with_columns(table, **columns):
    for name, values in columns.items():
        kind = values.type if isinstance(values, pa.Array) else table.schema.field(name).type
        table = table.set_column(table.column_names.index(name), name, pa.array(values, kind))
    return table


def test_proves_what_is_right_and_says_what_it_saw():
    (verdict,) = judge(HALVES, RIGHT)

    assert (verdict.table, verdict.row, verdict.grade) == ("equilibria", 0, "proved")
    assert verdict.reason == "equilibrium: none of 3 rows and 3 columns does better than 1/6"


def test_proves_every_row_of_a_degenerate_game():
    verdicts = judge(ZERO, solve(ZERO, SupportEnumeration()).tables["equilibria"])

    assert [(verdict.row, verdict.grade) for verdict in verdicts] == [(row, "proved") for row in range(4)]


def test_proves_an_equilibrium_it_would_not_have_listed():
    table = pa.table(
        {
            "index": [0],
            "value": ["0"],
            "x": [["1/3", "2/3"]],
            "y": [["1/2", "1/2"]],
            "x_support": ["r1+r2"],
            "y_support": ["c1+c2"],
            "value_float": [0.0],
            "win": [None],
            "draw": [None],
            "lose": [None],
        },
        schema=EQUILIBRIA,
    )

    assert [verdict.grade for verdict in judge(ZERO, table)] == ["proved"]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("index", 1, "index: expected 0, got 1"),
        ("index", None, "index: expected 0, got None"),
        ("value", "1/7", "value: x and y yield 1/6, not 1/7"),
        ("value", "2/12", "lowest terms"),
        ("value", "0.1666", "exact text"),
        ("value", "1/0", "exact text"),
        ("value", "9" * 5000, "exact text"),
        ("value", None, "exact text"),
        ("x", ["0", "1/3", "2/3"], "value: x and y yield"),
        ("x", ["1/3", "2/3"], "x: expected 3 probabilities"),
        ("x", ["1/3", "-1/3", "1"], "x: a probability is negative: -1/3"),
        ("x", ["1/3", "0", "1/3"], "x: probabilities sum to 2/3"),
        ("x", ["1/3", None, "2/3"], "x: expected exact text"),
        ("x", None, "x: expected 3 probabilities"),
        ("y", ["1/3", "2/3", "oops"], "y: expected exact text"),
        ("y", ["1/3", "1", "-1/3"], "y: a probability is negative"),
        ("x_support", "rock", "x_support: expected 'rock+scissors', got 'rock'"),
        ("y_support", "paper+rock", "y_support: expected 'rock+paper'"),
        ("value_float", 0.1666, "value_float"),
        ("value_float", float("nan"), "value_float"),
        ("value_float", None, "value_float"),
        ("win", "5/9", "win: x and y yield 4/9, not 5/9"),
        ("draw", None, "draw: expected exact text"),
        ("lose", "1/3", "lose: x and y yield 5/18"),
    ],
)
def test_refutes_one_wrong_entry(column, value, said):
    (verdict,) = judge(HALVES, with_columns(RIGHT, **{column: [value]}))

    assert (verdict.row, verdict.grade) == (0, "refuted")
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (["1", "0", "0"], ["1/3", "2/3", "0"], "not an equilibrium: paper costs player 2 0 against x, less than 1/6"),
        (["1/3", "0", "2/3"], ["1", "0", "0"], "not an equilibrium: rock earns player 1 1/2 against y, more than 1/6"),
    ],
)
def test_refutes_pairs_from_which_a_player_gains_by_deviating(x, y, said):
    (verdict,) = judge(HALVES, with_columns(RIGHT, x=[x], y=[y]))

    assert (verdict.grade, verdict.reason) == ("refuted", said)


def test_refutes_outcomes_of_a_game_without_outcomes():
    table = with_columns(solve(COIN, SupportEnumeration()).tables["equilibria"], win=["1/2"])

    (verdict,) = judge(COIN, table)

    assert (verdict.grade, verdict.reason[:3]) == ("refuted", "win")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (RIGHT.slice(0, 0), "a finite zero-sum game has an equilibrium"),
        (RIGHT.drop_columns(["x", "win"]), "x, win"),
        (RIGHT.append_column("x", RIGHT["x"]), "there once are not: x"),
        (with_columns(RIGHT, index=pa.array([0.0])), "index: expected 0, got 0.0"),
        (with_columns(RIGHT, value=pa.array([b"\xff"]).view(pa.string())), "cannot be read"),
        (with_columns(RIGHT, value_float=pa.array([2**62], pa.timestamp("ns"))), ""),
    ],
    ids=["no rows", "missing columns", "column twice", "another type", "broken text", "a date"],
)
def test_refutes_damaged_tables(table, said):
    (verdict,) = judge(HALVES, table)

    assert verdict.grade == "refuted"
    assert said in verdict.reason


def test_refutes_a_missing_table():
    (verdict,) = check_equilibria(HALVES, {})

    assert (verdict.row, verdict.grade) == (None, "refuted")


@pytest.mark.parametrize(
    ("order", "refuted"),
    [([1, 2, 3], [0, 1, 2]), ([0, 2, 1, 3], [1, 2]), ([0, 0, 1, 2, 3], [1, 2, 3, 4])],
    ids=["first row missing", "two swapped", "one twice"],
)
def test_refutes_rows_out_of_place(order, refuted):
    table = solve(ZERO, SupportEnumeration()).tables["equilibria"].take(order)

    assert [verdict.row for verdict in judge(ZERO, table) if verdict.grade == "refuted"] == refuted


def test_refutes_repeated_rows_with_fresh_indices():
    table = with_columns(solve(ZERO, SupportEnumeration()).tables["equilibria"].take([0, 1, 1, 2]), index=[0, 1, 2, 3])

    refuted = [verdict for verdict in judge(ZERO, table) if verdict.grade == "refuted"]

    assert [(verdict.row, verdict.reason) for verdict in refuted] == [(2, "repeats an earlier row, or stands in the wrong order")]


def test_numbers_too_long_to_write_are_refuted_too():
    long = "1/1" + "0" * 4000
    rest = str(1 - Q(long))
    table = with_columns(RIGHT, x=[[long, rest, "0"]], y=[[long, "0", rest]])

    (verdict,) = judge(HALVES, table)

    assert verdict.grade == "refuted"


def test_payoffs_beyond_float_are_proved():
    game = make(Matrix, payoffs=[["1e400", "-1e400"], ["-1e400", "1e401"]])

    (verdict,) = judge(game, solve(game, SupportEnumeration()).tables["equilibria"])

    assert verdict.grade == "proved"
