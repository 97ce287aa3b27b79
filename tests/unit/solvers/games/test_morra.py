"""Morra by its rule, and its published optimal strategies."""

from fractions import Fraction as Q

import pytest

from solvers import make, solve
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.games.morra import Morra


def test_two_fingers_by_hand():
    assert Morra(2).form(MatrixGame).payoffs == ((0, 2, -3, 0), (-2, 0, 0, 3), (3, 0, 0, -4), (0, -3, 4, 0))


@pytest.mark.parametrize("fingers", [1, 2, 3, 4])
def test_symmetric_and_paid_only_when_one_alone_is_right(fingers):
    game = Morra(fingers).form(MatrixGame)
    assert game.shape == Morra(fingers).shape == (fingers**2, fingers**2)
    for i, mine in enumerate(game.row_actions):
        for j, yours in enumerate(game.row_actions):
            shown, guessed, theirs, their_guess = (int(word) for word in f"{mine} {yours}".split() if word.isdigit())
            right, wrong = guessed == theirs, their_guess == shown
            assert game.payoffs[i][j] == (0 if right == wrong else (shown + theirs) * (1 if right else -1))


def test_two_finger_morra_has_two_extreme_optimal_strategies():
    rows = solve(Morra(2), SupportEnumeration()).tables["equilibria"].to_pylist()
    assert {tuple(row["x"]) for row in rows} == {("0", "3/5", "2/5", "0"), ("0", "4/7", "3/7", "0")}


def test_three_finger_morra():
    """5/12, 4/12, 3/12 on the three plays that bet on four fingers in all is optimal (J. D. Williams, The Compleat Strategyst)."""
    game = Morra(3).form(MatrixGame)
    mix = {"show 1 guess 3": Q(5, 12), "show 2 guess 2": Q(4, 12), "show 3 guess 1": Q(3, 12)}
    x = [mix.get(name, Q(0)) for name in game.row_actions]
    assert min(sum(p * row[j] for p, row in zip(x, game.payoffs, strict=True)) for j in range(9)) == 0


@pytest.mark.parametrize("fingers", [0, 5])
def test_refuses_with_the_path(fingers):
    with pytest.raises(ConfigError, match="fingers: expected 1 to 4"):
        make(Morra, fingers=fingers)
