"""Laws of grid search: brute force in fractions, the value from another method, and what refining a grid can do."""

from fractions import Fraction as Q
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import solve
from solvers.equilibrium.check.exact_value import solve_exactly
from solvers.equilibrium.grid_search import GridSearch, game_value
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.games.matrix import Matrix

FRACTIONS = st.fractions(min_value=-3, max_value=3, max_denominator=6)
MATRICES = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(*[st.tuples(*[FRACTIONS] * shape[1])] * shape[0])
)


def optima(payoffs, player, **settings):
    rows = solve(Matrix(payoffs), GridSearch(**settings)).tables["grid_optima"].to_pylist()
    return [row for row in rows if row["player"] == player]


def by_brute_force(payoffs, steps):
    """Return player 1's best worst case on the grid, and who has it."""
    worst = {}
    for counts in product(range(steps + 1), repeat=len(payoffs)):
        if sum(counts) == steps:
            x = tuple(Q(one, steps) for one in counts)
            worst[x] = min(sum(p * entry for p, entry in zip(x, column, strict=True)) for column in zip(*payoffs, strict=True))
    best = max(worst.values())
    return best, sorted((x for x, one in worst.items() if one == best), reverse=True)


@settings(max_examples=60, deadline=None)
@given(MATRICES, st.integers(1, 7), st.sampled_from(["pure", "grid"]))
def test_brute_force_agrees(payoffs, steps, opponent):
    best, strategies = by_brute_force(payoffs, steps)

    rows = optima(payoffs, 1, steps=steps, opponent=opponent)

    assert [tuple(map(Q, row["strategy"])) for row in rows] == strategies
    assert {Q(row["worst_case"]) for row in rows} == {best}
    assert {Q(row["gap"]) for row in rows} == {solve_exactly(payoffs)[0] - best}


@settings(max_examples=60, deadline=None)
@given(MATRICES)
def test_the_value_is_that_of_support_enumeration(payoffs):
    values = solve(Matrix(payoffs), SupportEnumeration()).tables["equilibria"]["value"].to_pylist()

    assert {str(game_value(payoffs))} == set(values)


@settings(max_examples=30, deadline=None)
@given(MATRICES, st.integers(1, 4), st.integers(2, 4))
def test_a_finer_grid_that_holds_the_coarse_one_is_no_worse(payoffs, steps, times):
    for player in (1, 2):
        coarse, fine = (Q(optima(payoffs, player, steps=n)[0]["gap"]) for n in (steps, steps * times))
        assert 0 <= fine <= coarse
