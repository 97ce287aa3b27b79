"""Rock-paper-scissors around a circle of any odd length."""

from fractions import Fraction as Q

import pytest

from solvers import make, solve
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.rps_n import RpsN


def test_three_moves_are_the_usual_game():
    assert RpsN(3, ("rock", "paper", "scissors")).form(MatrixGame) == ForcedRps().form(MatrixGame)


@pytest.mark.parametrize("n", [3, 5, 7, 99])
def test_each_move_beats_as_many_as_beat_it(n):
    game = RpsN(n).form(MatrixGame)
    for i, row in enumerate(game.payoffs):
        assert sorted(row) == [-1] * (n // 2) + [0] + [1] * (n // 2)
        assert [row[(i - steps) % n] for steps in range(1, n // 2 + 1)] == [1] * (n // 2)
        for j, payoff in enumerate(row):
            parts = [getattr(game.outcomes, name)[i][j] for name in ("win", "draw", "lose")]
            assert parts == [payoff == 1, payoff == 0, payoff == -1]


@pytest.mark.parametrize("n", [3, 5, 7])
def test_all_alike_is_the_only_equilibrium(n):
    rows = solve(RpsN(n), SupportEnumeration()).tables["equilibria"].to_pylist()
    assert [(row["value"], row["x"], row["y"]) for row in rows] == [("0", [str(Q(1, n))] * n, [str(Q(1, n))] * n)]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"n": 4}, "n"),
        ({"n": 1}, "n"),
        ({"n": 1001}, "n"),
        ({"n": 3, "names": ["a", "b"]}, "names"),
        ({"n": 3, "names": ["a", "b", "b"]}, "names[1]"),
    ],
)
def test_refuses_with_the_path(fields, path):
    with pytest.raises(ConfigError) as caught:
        make(RpsN, **fields)
    assert caught.value.path == path
