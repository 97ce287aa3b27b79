"""Lemke's method: which equilibrium a prior leads to."""

import pytest

from solvers import make, solve
from solvers.equilibrium.lcp import Lcp, _begin, _least, follow
from solvers.errors import ImpossiblePairing
from solvers.forms import BimatrixGame
from solvers.games.bimatrix import Bimatrix

CHOOSING = make(Bimatrix, a=[["2", "0"], ["0", "1"]], b=[["2", "0"], ["0", "1"]])


@pytest.mark.parametrize(("p", "q", "ends"), [((1, 0), (1, 0), (1, 0)), ((0, 1), (0, 1), (0, 1)), ((1, 1), (1, 1), (1, 0))])
def test_players_come_from_their_best_replies_to_the_prior(p, q, ends):
    x, y = next(follow(CHOOSING.form(BimatrixGame), p, q))

    assert [bool(one) for one in x] == [bool(one) for one in ends] == [bool(one) for one in y]


def test_more_priors_find_more():
    assert solve(CHOOSING, Lcp()).tables["bimatrix_equilibria"]["x_support"].to_pylist() == ["r1"]
    assert solve(CHOOSING, Lcp(priors="pure")).tables["bimatrix_equilibria"]["x_support"].to_pylist() == ["r1", "r2"]


def test_large_games_are_refused():
    size = 101
    zero = [["0"] * size] * size

    with pytest.raises(ImpossiblePairing, match="202 actions together, at most 200 are taken"):
        solve(make(Bimatrix, a=zero, b=zero), Lcp())


def test_the_first_pivot_leaves_all_rows_lexicographically_positive():
    tableau, start = _begin(CHOOSING.form(BimatrixGame), (1, 1), (1, 1))

    tableau.pivot(_least(tableau), start)

    for row in range(len(tableau.rows)):
        entries = [tableau._entry(row, label) for label in (None, *tableau.order)]
        assert next(entry for entry in entries if entry) > 0
