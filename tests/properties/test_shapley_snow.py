"""Laws of Shapley and Snow's kernels: the same tables as support enumeration, the same answers whatever the integers."""

from fractions import Fraction as Q

import contract_suite as suite
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import solve
from solvers.equilibrium import shapley_snow
from solvers.equilibrium.check.equilibria import check_equilibria, check_equilibria_batch
from solvers.equilibrium.shapley_snow import ShapleySnow, extreme_strategies, subsets
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.forms import MatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.games.random_matrix import RandomMatrix


def matrices(entries, most=4):
    shapes = st.tuples(st.integers(1, most), st.integers(1, most))
    return shapes.flatmap(lambda shape: st.tuples(*[st.tuples(*[entries] * shape[1])] * shape[0]))


SIGNS = st.sampled_from([Q(-1), Q(0), Q(1)])
FRACTIONS = st.fractions(min_value=-3, max_value=3, max_denominator=6)
HUGE = st.integers(-(10**30), 10**30).map(Q)


def table(game, solver):
    return solve(game, solver).tables["equilibria"]


@given(st.one_of(matrices(SIGNS), matrices(FRACTIONS), matrices(HUGE, 3)))
@settings(deadline=None, max_examples=150)
def test_tables_are_those_of_support_enumeration_cell_by_cell(payoffs):
    game = Matrix(payoffs)

    assert table(game, ShapleySnow()) == table(game, SupportEnumeration())


def test_thousands_of_degenerate_games_in_one_call():
    games = [RandomMatrix(rows=1 + seed % 4, columns=1 + seed // 4 % 4, low=-1, high=1, seed=seed) for seed in range(2000)]

    together = ShapleySnow().solve_batch([game.form(MatrixGame) for game in games], []).tables["equilibria"]

    places = together["batch_index"].to_numpy()
    ends = np.searchsorted(places, np.arange(len(games) + 1))
    for place, game in enumerate(games):
        mine = together.slice(ends[place], ends[place + 1] - ends[place]).drop_columns(["batch_index"])
        assert mine.to_pylist() == table(game, SupportEnumeration()).to_pylist()


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 9, 99]))
@settings(deadline=None, max_examples=60)
def test_python_integers_give_what_64_bits_give(seed, rows, columns, high):
    payoffs = RandomMatrix(rows=rows, columns=columns, low=-high, high=high, seed=seed).form(MatrixGame).payoffs
    integers = np.array([[[int(entry) for entry in row] for row in payoffs]])

    short = extreme_strategies(integers, [1])
    long = extreme_strategies(integers.astype(object), [1])

    for name in ("x", "x_counts", "y", "y_counts", "value"):
        assert getattr(short, name).tolist() == getattr(long, name).tolist()


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3), st.data())
@settings(deadline=None, max_examples=40)
def test_nothing_exceeds_the_bound(rows, columns, spread, data):
    """Python's integers, watched, never exceed what `fits` computes with; payoffs are as large as it allows."""
    largest = 1
    while shapley_snow.fits(rows, columns, 2 * largest, 1):
        largest *= 2
    entries = st.integers(-largest, -largest + spread) | st.integers(largest - spread, largest)
    payoffs = data.draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns))
    watched = np.array([Watched(entry) for entry in payoffs], object).reshape(1, rows, columns)

    Watched.most = 0
    shapley_snow._find(watched, subsets(rows), subsets(columns))

    assert 0 < Watched.most < 2**63


class Watched(int):
    """An integer that remembers the largest result."""

    most = 0

    @classmethod
    def of(cls, value):
        Watched.most = max(Watched.most, abs(value))
        return Watched(value)

    def __add__(self, other):
        return Watched.of(int(self) + int(other))

    def __sub__(self, other):
        return Watched.of(int(self) - int(other))

    def __mul__(self, other):
        return Watched.of(int(self) * int(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return Watched(-int(self))

    def __floordiv__(self, other):
        return Watched(int(self) // int(other))

    def __mod__(self, other):
        return Watched(int(self) % int(other))

    def __abs__(self):
        return Watched(abs(int(self)))


# ---- the checker, many games at once ------------------------------------------------------------------------------------------

GAMES = [
    RandomMatrix(rows=1 + seed % 4, columns=1 + seed % 3, low=-1 - seed % 5, high=1 + seed % 9, seed=seed) for seed in range(24)
]
GAMES += [Matrix(((Q(1, 3), Q(-1)), (Q(), Q(5, 7)))), Matrix(((Q(10**30), Q()), (Q(), Q(1)))), ForcedRps(a=Q(1))]
SOLVED = ShapleySnow().solve_batch([game.form(MatrixGame) for game in GAMES], []).tables["equilibria"]


def one_by_one(damaged, place):
    mine = damaged.filter(damaged["batch_index"].to_numpy() == place).drop_columns(["batch_index"])
    return list(check_equilibria(GAMES[place], {"equilibria": mine}))


def together(damaged):
    said = {}
    for place, verdict in check_equilibria_batch(GAMES, {"equilibria": damaged}):
        said.setdefault(place, []).append(verdict)
    return said


def test_all_short_games_are_judged_at_once_as_they_are_one_by_one():
    said = together(SOLVED)

    assert set(said) == set(range(25))  # payoffs beyond 64 bits and outcomes are left to the other
    for place, verdicts in said.items():
        assert verdicts == one_by_one(SOLVED, place)


@given(st.integers(0, len(SOLVED) - 1), st.sampled_from([name for name in SOLVED.column_names if name != "batch_index"]), st.data())
@settings(deadline=None, max_examples=200)
def test_at_once_nothing_damaged_is_proved(row, name, data):
    place = SOLVED["batch_index"][row].as_py()
    new = data.draw(st.sampled_from(suite.damaged(SOLVED[name][row].as_py(), SOLVED.schema.field(name).type)))

    said = together(suite.put(SOLVED, row, name, new))

    assert place not in said
    assert set(said) == set(range(25)) - {place}


@pytest.mark.parametrize("order", ["swapped", "twice", "first missing"])
def test_at_once_rows_out_of_place_are_not_proved(order):
    zero = Matrix(((Q(), Q()), (Q(), Q())))
    solved = ShapleySnow().solve_batch([zero.form(MatrixGame)] * 2, []).tables["equilibria"]
    rows = {"swapped": [0, 2, 1, 3], "twice": [0, 1, 1, 2], "first missing": [1, 2, 3]}[order]
    wrong = solved.take([*rows, 4, 5, 6, 7])
    numbers = [*range(len(rows)), 0, 1, 2, 3]
    fresh = wrong.set_column(1, wrong.schema.field("index"), pa.array(numbers, pa.int32()))

    found, found_fresh = (
        {place for place, _ in check_equilibria_batch([zero, zero], {"equilibria": one})} for one in (wrong, fresh)
    )

    assert found == {1}
    # rows in falling order with fresh numbers are right: whether further ones are missing is not judged
    assert found_fresh == ({0, 1} if order == "first missing" else {1})


@pytest.mark.parametrize("x", [["1/2", "1/3"], ["2", "-1"], ["1/2", "2/4"], ["1", "1"]])
def test_at_once_what_is_no_mixture_is_not_proved(x):
    """In the game of zeros nothing else is wrong with it."""
    zero = Matrix(((Q(), Q()), (Q(), Q())))
    solved = ShapleySnow().solve_batch([zero.form(MatrixGame)] * 2, []).tables["equilibria"].take([0, 4])
    right, wrong = (
        suite.put(suite.put(solved, 0, "x", mixture), 0, "x_support", "r1+r2" if mixture[1] != "-1" else "r1")
        for mixture in (["1/3", "2/3"], x)
    )

    found, found_wrong = ({place for place, _ in check_equilibria_batch([zero] * 2, {"equilibria": one})} for one in (right, wrong))

    assert found == {0, 1}
    assert found_wrong == {1}
