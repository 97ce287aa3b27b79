"""The checker of general-sum equilibria: it proves what is right and says what is wrong."""

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.bimatrix import check_bimatrix_equilibria
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA
from solvers.equilibrium.vertex_enumeration import VertexEnumeration
from solvers.games.bimatrix import Bimatrix

STENGEL = make(Bimatrix, a=[["3", "3"], ["2", "5"], ["0", "6"]], b=[["3", "2"], ["2", "6"], ["3", "1"]])
RIGHT = solve(STENGEL, VertexEnumeration()).tables["bimatrix_equilibria"]
ZERO = make(Bimatrix, a=[["0", "0"], ["0", "0"]], b=[["0", "0"], ["0", "0"]])


def judge(game, table):
    return list(check_bimatrix_equilibria(game, {"bimatrix_equilibria": table}))


def put(table, row, **cells):
    rows = table.to_pylist()
    rows[row] |= cells
    return pa.Table.from_pylist(rows, schema=table.schema)


def test_proves_what_is_right():
    assert [(one.row, one.grade, one.reason) for one in judge(STENGEL, RIGHT)] == [
        (row, "proved", "equilibrium: none of 3 rows and 2 columns does better") for row in range(3)
    ]


def test_proves_equilibria_that_are_not_extreme_if_they_say_so():
    row = {"index": 0, "x": ["1/2", "1/2"], "y": ["1", "0"], "u1": "0", "u2": "0", "x_support": "r1+r2", "y_support": "c1"}
    row |= {"u1_float": 0.0, "u2_float": 0.0, "extreme": False, "component": 0}
    table = pa.Table.from_pylist([row], schema=BIMATRIX_EQUILIBRIA)

    assert [one.grade for one in judge(ZERO, table)] == ["proved"]
    assert judge(ZERO, put(table, 0, extreme=True))[0].reason == "extreme: expected False, got True"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"u1": "3"}, "u1: x and y yield 4, not 3"),
        ({"u2": "16/6"}, "lowest terms"),
        ({"x": ["0", "1/3", "1/3"]}, "x: probabilities sum to 2/3"),
        ({"x": ["0", "1/4", "3/4"]}, "u2"),
        ({"x": ["0", "0", "1"], "u1": "4", "u2": "5/3"}, "not an equilibrium: c1 earns player 2 3, more than 5/3"),
        ({"y": ["1", "0"], "u1": "2/3", "u2": "8/3"}, "not an equilibrium: r1 earns player 1 3, more than 2/3"),
        ({"x_support": "r2"}, "x_support: expected 'r2+r3'"),
        ({"u1_float": 2.6}, "u1_float"),
        ({"extreme": None}, "extreme: expected True, got None"),
        ({"component": 0}, "component: expected 2, got 0"),
        ({"index": 7}, "index: expected 2"),
    ],
)
def test_refutes_wrong_cells(cells, said):
    wrong = [one for one in judge(STENGEL, put(RIGHT, 2, **cells)) if one.grade == "refuted"]

    assert [one.row for one in wrong] == [2]
    assert said in wrong[0].reason


def test_refutes_components_torn_apart():
    table = solve(ZERO, VertexEnumeration()).tables["bimatrix_equilibria"]

    wrong = judge(ZERO, put(table, 3, component=1))[3]

    assert (wrong.grade, wrong.reason) == ("refuted", "component: expected 0, got 1")


@pytest.mark.parametrize(("order", "refuted"), [([1, 0, 2], {0, 1, 2}), ([0, 0, 1, 2], {1, 2, 3}), ([1, 2], {0, 1})])
def test_refutes_rows_out_of_place(order, refuted):
    assert {one.row for one in judge(STENGEL, RIGHT.take(order)) if one.grade == "refuted"} <= refuted
    assert any(one.grade == "refuted" for one in judge(STENGEL, RIGHT.take(order)))


def test_no_rows_claim_nothing():
    assert judge(STENGEL, RIGHT.slice(0, 0)) == []


def test_refutes_a_missing_table():
    assert [one.grade for one in check_bimatrix_equilibria(STENGEL, {})] == ["refuted"]
