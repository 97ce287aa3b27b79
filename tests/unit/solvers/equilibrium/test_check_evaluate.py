"""The checker of evaluations computes everything again."""

from fractions import Fraction as Q

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.evaluate import check_action_values, check_outcomes
from solvers.equilibrium.evaluate import Evaluate
from solvers.games.forced_rps import ForcedRps

GAME = ForcedRps(a=Q(1, 2), b=Q(1, 2))
RIGHT = solve(GAME, make(Evaluate, x=["1/3", "0", "2/3"], y=["1/2", "1/2", "0"])).tables


def judge(**tables):
    tables = {**RIGHT, **tables}
    return [*check_outcomes(GAME, tables), *check_action_values(GAME, tables)]


def test_what_is_right_is_proved():
    assert [verdict.grade for verdict in judge()] == ["proved"] * 7


@pytest.mark.parametrize("name", ["value", "win", "draw", "lose", "gain_row", "gain_column", "value_float", "gain_row_float"])
def test_another_number_is_refuted(name):
    (row,) = RIGHT["outcomes"].to_pylist()
    other = 0.123 if name.endswith("_float") else "123/1000"

    first, *_ = judge(outcomes=pa.Table.from_pylist([{**row, name: other}], schema=RIGHT["outcomes"].schema))

    assert first.grade == "refuted"
    assert first.reason.startswith(name)


def test_rows_missing_or_exchanged_are_refuted():
    table = RIGHT["action_values"]

    assert "refuted" in {verdict.grade for verdict in judge(action_values=table.slice(0, 5))}
    assert "refuted" in {verdict.grade for verdict in judge(action_values=table.take([1, 0, 2, 3, 4, 5]))}
    assert "refuted" in {verdict.grade for verdict in judge(outcomes=RIGHT["outcomes"].slice(0, 0))}


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.list_(pa.int8()), pa.null(), pa.binary()])
@pytest.mark.parametrize(("table", "name"), [(table, name) for table in RIGHT for name in RIGHT[table].column_names])
def test_columns_of_other_types_never_raise(table, name, kind):
    place = RIGHT[table].column_names.index(name)

    verdicts = judge(**{table: RIGHT[table].set_column(place, name, pa.nulls(RIGHT[table].num_rows, kind))})

    assert "refuted" in {verdict.grade for verdict in verdicts}
