"""Pure equilibria."""

import pytest

from solvers import make, solve
from solvers.equilibrium.pure import Pure
from solvers.games.bimatrix import Bimatrix


@pytest.mark.parametrize(
    ("a", "b", "supports"),
    [
        ("3 0;5 1", "3 5;0 1", [("r2", "c2")]),
        ("2 0;0 1", "1 0;0 2", [("r1", "c1"), ("r2", "c2")]),
        ("1 -1;-1 1", "-1 1;1 -1", []),
        ("0 0", "0 0", [("r1", "c1"), ("r1", "c2")]),
    ],
    ids=["prisoners_dilemma", "battle_of_the_sexes", "matching_pennies", "indifferent"],
)
def test_known_games(a, b, supports):
    payoffs = [[row.split() for row in one.split(";")] for one in (a, b)]

    table = solve(make(Bimatrix, a=payoffs[0], b=payoffs[1]), Pure()).tables["bimatrix_equilibria"]

    assert list(zip(table["x_support"].to_pylist(), table["y_support"].to_pylist(), strict=True)) == supports
