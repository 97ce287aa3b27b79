"""The checker of correlated equilibria: distributions that tempt nobody, and proofs that none is better."""

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.correlated import check_correlated, check_correlated_dual
from solvers.equilibrium.correlated import CORRELATED, CORRELATED_DUAL, Correlated
from solvers.games.bimatrix import Bimatrix

CHICKEN = make(Bimatrix, a=[["6", "2"], ["7", "0"]], b=[["6", "7"], ["2", "0"]])
RIGHT = solve(CHICKEN, Correlated()).tables
PAIRS = [("r1", "c1"), ("r1", "c2"), ("r2", "c1"), ("r2", "c2")]


def drawn(*probabilities):
    rows = [
        {"row": row, "column": column, "probability": text, "probability_float": float(eval(text))}
        for (row, column), text in zip(PAIRS, probabilities, strict=False)
        if text != "0"
    ]
    return pa.Table.from_pylist(rows, schema=CORRELATED)


def judge(table, dual=RIGHT["correlated_dual"]):
    tables = {"correlated": table, "correlated_dual": dual}
    return list(check_correlated(CHICKEN, tables)), list(check_correlated_dual(CHICKEN, tables))


def with_cells(**cells):
    (row,) = RIGHT["correlated_dual"].to_pylist()
    return pa.Table.from_pylist([{**row, **cells}], schema=CORRELATED_DUAL)


def test_aumanns_device_is_an_equilibrium_but_not_the_best():
    """Aumann 1974: a third each, worth 5 to both."""
    (first,), (second,) = judge(drawn("1/3", "1/3", "1/3"))

    assert (first.grade, first.count) == ("proved", 3)
    assert second.grade == "refuted"

    five = with_cells(u1="5", u2="5", value="10", u1_float=5.0, u2_float=5.0, value_float=10.0)
    _, (second,) = judge(drawn("1/3", "1/3", "1/3"), five)
    assert "they prove no more than 21/2" in second.reason


@pytest.mark.parametrize(
    ("probabilities", "said"),
    [
        (("1",), "player 1, told r1, gains by r2"),
        (("3/5", "1/5", "1/5"), "player 1, told r1, gains by r2"),
        (("1/2", "3/10", "1/5"), "player 2, told c1, gains by c2"),
        (("1/2", "1/4", "1/8", "1/8"), "gains by"),
        (("1/2", "1/4"), "sum to 3/4"),
        ((), "sum to 0"),
    ],
)
def test_what_tempts_is_refuted(probabilities, said):
    (first,), (second,) = judge(drawn(*probabilities))

    assert (first.grade, second.grade) == ("refuted", "refuted")
    assert said in first.reason


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"objective": "egalitarian"}, "weights"),
        ({"objective": "player1"}, "weights"),
        ({"objective": "justice"}, "objective"),
        ({"value": "11"}, "value: the distribution yields 21/2"),
        ({"weights": ["2", "2"]}, "weights"),
        ({"weights": ["1"]}, "weights"),
        ({"multipliers1": [["0", "-1"], ["0", "0"]]}, "one is negative"),
        ({"multipliers1": [["1", "0"], ["0", "0"]]}, "no temptation"),
        ({"multipliers1": [["0", "0"], ["0", "0"]]}, "prove no more than"),
        ({"multipliers2": [["0"], ["0", "0"]]}, "2 lists of 2"),
    ],
)
def test_proofs_that_prove_nothing_are_refuted(cells, said):
    _, (second,) = judge(RIGHT["correlated"], with_cells(**cells))

    assert second.grade == "refuted"
    assert said in second.reason


def test_rows_out_of_order_and_twice_are_refuted():
    rows = RIGHT["correlated"].to_pylist()

    for wrong in (rows[::-1], [rows[0], *rows]):
        (first,), _ = judge(pa.Table.from_pylist(wrong, schema=CORRELATED))
        assert "order" in first.reason


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.list_(pa.int8()), pa.null(), pa.binary()])
@pytest.mark.parametrize(("table", "name"), [(table, name) for table in RIGHT for name in RIGHT[table].column_names])
def test_columns_of_other_types_never_raise(table, name, kind):
    place = RIGHT[table].column_names.index(name)
    harmed = {**RIGHT, table: RIGHT[table].set_column(place, name, pa.nulls(RIGHT[table].num_rows, kind))}

    assert "refuted" in {verdict.grade for verdict in [*check_correlated(CHICKEN, harmed), *check_correlated_dual(CHICKEN, harmed)]}
