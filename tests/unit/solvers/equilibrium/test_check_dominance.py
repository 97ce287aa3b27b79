"""The checker of dominance: nothing too much, nothing missing, nothing too early or late."""

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.dominance import check_dominance, check_survivors
from solvers.equilibrium.dominance import DOMINANCE, SURVIVORS, Dominance
from solvers.games.bimatrix import Bimatrix

# Fudenberg and Tirole 1991, figure 1.1: c2 goes, then r2 and r3, then c3.
GAME = make(
    Bimatrix,
    a=[["4", "5", "6"], ["2", "8", "3"], ["3", "9", "2"]],
    b=[["3", "1", "2"], ["1", "4", "6"], ["0", "6", "8"]],
)
RIGHT = solve(GAME, Dominance()).tables
PURE = solve(GAME, Dominance(mixed=False)).tables
MIXED = make(Bimatrix, a=[["3", "0"], ["0", "3"], ["1", "1"]], b=[["0", "1"], ["1", "0"], ["0", "0"]])


def judge(dominance, survivors, game=GAME):
    tables = {
        "dominance": pa.Table.from_pylist(dominance, schema=DOMINANCE),
        "survivors": pa.Table.from_pylist(survivors, schema=SURVIVORS),
    }
    return [*check_dominance(game, tables), *check_survivors(game, tables)]


def refuted(verdicts):
    return [verdict.reason for verdict in verdicts if verdict.grade == "refuted"]


def rows(tables):
    return tables["dominance"].to_pylist(), tables["survivors"].to_pylist()


def changed(row, **cells):
    return {**row, **cells}


@pytest.mark.parametrize("tables", [RIGHT, PURE], ids=["mixed", "pure"])
def test_right_tables_are_proved(tables):
    assert {verdict.grade for verdict in judge(*rows(tables))} == {"proved"}


@pytest.mark.parametrize("tables", [RIGHT, PURE], ids=["mixed", "pure"])
def test_to_stop_too_early_is_refuted(tables):
    gone, left = rows(tables)
    column = changed(left[-1], action="c3", belief=["1", "0", "0"] if left[0]["mixed"] else None)

    assert refuted(judge(gone[:-1], left))
    assert any("c3" in one or "c1" in one for one in refuted(judge(gone[:-1], [*left, column])))


@pytest.mark.parametrize("tables", [RIGHT, PURE], ids=["mixed", "pure"])
def test_to_go_too_late_is_refuted(tables):
    gone, left = rows(tables)
    mixed = left[0]["mixed"]
    late = changed(gone[2], round=3, belief=["0", "1", "0"] if mixed else None)
    last = changed(gone[3], round=4, belief=["0", "0", "1"] if mixed else None)

    assert refuted(judge([gone[0], gone[1], late, last], left))


def test_to_go_too_early_is_refuted():
    gone, left = rows(PURE)

    assert any("does not dominate" in one for one in refuted(judge([changed(gone[1], round=1), *gone[2:]], left)))


def test_an_empty_round_is_refuted():
    gone, left = rows(PURE)

    assert any("rounds do not begin at 1" in one for one in refuted(judge([changed(gone[0], round=2), *gone[1:]], left)))


def test_mixtures_are_refuted_where_only_pure_actions_may_dominate():
    gone, left = rows(solve(MIXED, Dominance()).tables)
    left = [changed(row, mixed=False, belief=None) for row in left]

    assert any("only pure" in one for one in refuted(judge(gone, left, MIXED)))


def test_weak_dominance_is_refuted_where_strict_was_asked():
    game = make(Bimatrix, a=[["1", "1"], ["1", "0"]], b=[["0", "0"], ["0", "0"]])
    gone, left = rows(solve(game, Dominance("weak", mixed=False)).tables)

    assert {verdict.grade for verdict in judge(gone, left, game)} == {"proved"}
    assert any("only weakly" in one for one in refuted(judge(gone, [changed(row, kind="strict") for row in left], game)))


def test_a_weak_survivor_needs_a_belief_in_everything():
    game = make(Bimatrix, a=[["1", "1"], ["1", "0"]], b=[["0", "0"], ["0", "0"]])
    _, left = rows(solve(game, Dominance("strict")).tables)

    said = refuted(judge([], [changed(row, kind="weak", belief=["1", "0"]) for row in left], game))

    assert any("none to one that is left" in one for one in said)


@pytest.mark.parametrize("name", ["dominance", "survivors"])
def test_missing_tables_are_refuted_and_nothing_raises(name):
    tables = {key: table for key, table in RIGHT.items() if key != name}

    assert "refuted" in {verdict.grade for verdict in [*check_dominance(GAME, tables), *check_survivors(GAME, tables)]}


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), pa.list_(pa.int8()), pa.null(), pa.binary()])
@pytest.mark.parametrize(("table", "name"), [(table, name) for table in RIGHT for name in RIGHT[table].column_names])
def test_columns_of_other_types_never_raise(table, name, kind):
    place = RIGHT[table].column_names.index(name)
    harmed = {**RIGHT, table: RIGHT[table].set_column(place, name, pa.nulls(RIGHT[table].num_rows, kind))}

    assert "refuted" in {verdict.grade for verdict in [*check_dominance(GAME, harmed), *check_survivors(GAME, harmed)]}
