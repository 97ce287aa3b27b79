"""Laws of support enumeration, and its completeness against vertex enumeration, which shares nothing with it."""

from fractions import Fraction as Q
from itertools import combinations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import solve
from solvers.equilibrium.check.equilibria import check_equilibria
from solvers.equilibrium.support_enumeration import SupportEnumeration, extreme_equilibria
from solvers.games.forced_rps import MOVES, ForcedRps
from solvers.games.matrix import Matrix


def matrices(entries, most=4):
    shapes = st.tuples(st.integers(1, most), st.integers(1, most))
    return shapes.flatmap(lambda shape: st.tuples(*[st.tuples(*[entries] * shape[1])] * shape[0]))


SIGNS = st.sampled_from([Q(-1), Q(0), Q(1)])
FRACTIONS = st.fractions(min_value=-3, max_value=3, max_denominator=6)
PARTS = st.tuples(*[st.integers(0, 4)] * 4).filter(any)


def equilibria(payoffs):
    return {
        (tuple(Q(one, sum(pair.x)) for one in pair.x), tuple(Q(one, sum(pair.y)) for one in pair.y))
        for pair in extreme_equilibria(payoffs)
    }


def value_of(payoffs):
    x, y = min(equilibria(payoffs))
    return sum(p * q * entry for p, row in zip(x, payoffs, strict=True) for q, entry in zip(y, row, strict=True))


def unique_solution(rows):
    """Solve `[k, k + 1]` fractions by Gauss and Jordan; None if the solution is not unique."""
    rows = [list(row) for row in rows]
    for step in range(len(rows)):
        pivot = next((r for r in range(step, len(rows)) if rows[r][step]), None)
        if pivot is None:
            return None
        rows[step], rows[pivot] = rows[pivot], rows[step]
        rows[step] = [entry / rows[step][step] for entry in rows[step]]
        for r, row in enumerate(rows):
            if r != step:
                rows[r] = [entry - row[step] * lead for entry, lead in zip(row, rows[step], strict=True)]
    return [row[-1] for row in rows]


def optimal_vertices(payoffs):
    """Return player 1's extreme optimal strategies: the highest vertices of {(x, v): x >= 0, sum x = 1, xA >= v}."""
    m = len(payoffs)
    bounds = [[Q(int(i == j)) for j in range(m)] + [Q(0)] for i in range(m)]
    bounds += [[*column, Q(-1)] for column in zip(*payoffs, strict=True)]
    vertices = set()
    for tight in combinations(bounds, m):
        solution = unique_solution([[*[Q(1)] * m, Q(0), Q(1)], *[[*bound, Q(0)] for bound in tight]])
        if solution and all(sum(a * b for a, b in zip(bound, solution, strict=True)) >= 0 for bound in bounds):
            vertices.add((solution[-1], tuple(solution[:-1])))
    highest = max(value for value, _ in vertices)
    return {x for value, x in vertices if value == highest}


def seen_by_player_2(payoffs):
    return tuple(tuple(-entry for entry in column) for column in zip(*payoffs, strict=True))


@given(matrices(SIGNS))
@settings(deadline=None, max_examples=150)
def test_finds_exactly_the_pairs_of_extreme_optimal_strategies(payoffs):
    wanted = {(x, y) for x in optimal_vertices(payoffs) for y in optimal_vertices(seen_by_player_2(payoffs))}

    assert equilibria(payoffs) == wanted


@given(matrices(FRACTIONS))
@settings(deadline=None, max_examples=100)
def test_checker_proves_every_row(payoffs):
    game = Matrix(payoffs)
    tables = solve(game, SupportEnumeration()).tables

    verdicts = list(check_equilibria(game, tables))

    assert [(verdict.row, verdict.grade) for verdict in verdicts] == [(r, "proved") for r in range(tables["equilibria"].num_rows)]
    assert verdicts


@given(matrices(FRACTIONS))
@settings(deadline=None, max_examples=50)
def test_players_may_change_places(payoffs):
    assert equilibria(seen_by_player_2(payoffs)) == {(y, x) for x, y in equilibria(payoffs)}


@given(matrices(FRACTIONS), st.fractions(min_value=Q(1, 5), max_value=5), FRACTIONS)
@settings(deadline=None, max_examples=50)
def test_units_and_side_payments_change_the_value_only(payoffs, unit, extra):
    other = tuple(tuple(unit * entry + extra for entry in row) for row in payoffs)

    assert equilibria(other) == equilibria(payoffs)
    assert value_of(other) == unit * value_of(payoffs) + extra


@given(matrices(FRACTIONS).flatmap(lambda payoffs: st.tuples(st.just(payoffs), st.permutations(range(len(payoffs))))))
@settings(deadline=None, max_examples=50)
def test_rows_may_be_reordered(drawn):
    payoffs, order = drawn

    reordered = equilibria(tuple(payoffs[row] for row in order))

    assert reordered == {(tuple(x[row] for row in order), y) for x, y in equilibria(payoffs)}


@given(PARTS, PARTS)
@settings(deadline=None, max_examples=50)
def test_forced_moves_may_be_relabelled_around_the_circle(parts1, parts2):
    def value(shift):
        forced = [
            {MOVES[(place + shift) % 3]: Q(part, sum(parts)) for place, part in enumerate(parts[:3])} for parts in (parts1, parts2)
        ]
        rows = solve(ForcedRps(*forced), SupportEnumeration()).tables["equilibria"].to_pylist()
        (only,) = {row["value"] for row in rows}
        return only

    assert value(0) == value(1) == value(2)


TEXT = st.one_of(
    st.none(), st.text(max_size=6), st.sampled_from(["0", "1", "1/2", "-1", "1/0", "2/2", "01", "+1", " 1", "1e3", "٣"])
)
ANYTHING = {
    "index": st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)),
    "x": st.one_of(st.none(), st.lists(TEXT, max_size=4)),
    "y": st.one_of(st.none(), st.lists(TEXT, max_size=4)),
    "value_float": st.one_of(st.none(), st.floats()),
}
RIGHT = solve(ForcedRps(a=Q(1)), SupportEnumeration()).tables["equilibria"]


@given(st.data(), st.sampled_from(RIGHT.column_names), st.integers(0, RIGHT.num_rows - 1))
@settings(deadline=None, max_examples=200)
def test_one_wrong_entry_is_refuted_and_never_raises(data, name, row):
    entries = RIGHT[name].to_pylist()
    wrong = data.draw(ANYTHING.get(name, TEXT).filter(lambda one: one != entries[row]))
    entries[row] = wrong
    damaged = RIGHT.set_column(RIGHT.column_names.index(name), name, pa.array(entries, RIGHT.schema.field(name).type))

    grades = {verdict.row: verdict.grade for verdict in check_equilibria(ForcedRps(a=Q(1)), {"equilibria": damaged})}

    assert grades[row] == "refuted"


@given(st.sampled_from(RIGHT.column_names), st.sampled_from([pa.int64(), pa.bool_(), pa.list_(pa.int8()), pa.null(), pa.binary()]))
@settings(deadline=None, max_examples=50)
def test_columns_of_other_types_never_raise(name, kind):
    damaged = RIGHT.set_column(RIGHT.column_names.index(name), name, pa.nulls(RIGHT.num_rows, kind))

    assert all(verdict.grade == "refuted" for verdict in check_equilibria(ForcedRps(a=Q(1)), {"equilibria": damaged}))
