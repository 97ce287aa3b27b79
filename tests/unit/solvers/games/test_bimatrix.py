"""Bimatrix games: shapes that match, names, and when they are zero-sum."""

from fractions import Fraction as Q

import pytest

from solvers import make
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.bimatrix import Bimatrix
from solvers.inline import solve
from solvers.regret.regret_matching import RegretMatching


def test_form_is_exact():
    game = make(Bimatrix, a=[["0.1", "-1"]], b=[["1/3", 0]], row_actions=["only"]).form(BimatrixGame)
    assert game == BimatrixGame(((Q(1, 10), Q(-1)),), ((Q(1, 3), Q(0)),), ("only",), ("c1", "c2"))


def test_a_zero_sum_game_gives_both_forms():
    game = make(Bimatrix, a=[["1/2", "-3"]], b=[["-1/2", "3"]])
    assert game.refuses(MatrixGame) is None
    assert game.form(MatrixGame) == MatrixGame(((Q(1, 2), Q(-3)),), ("r1",), ("c1", "c2"))
    assert game.form(BimatrixGame).is_zero_sum


def test_a_general_sum_game_is_refused_where_zero_sum_is_wanted():
    game = make(Bimatrix, a=[["1", "2"]], b=[["-1", "5/2"]])
    said = "the game is not zero-sum: game.a[0][1] is 2 and game.b[0][1] is 5/2"
    assert game.refuses(MatrixGame) == said
    assert game.refuses(BimatrixGame) is None
    with pytest.raises(InfeasibleGame, match="not zero-sum"):
        game.form(MatrixGame)
    with pytest.raises(ImpossiblePairing, match=r"game\.a\[0\]\[1\] is 2"):
        solve(game, RegretMatching(10))


@pytest.mark.parametrize(
    ("fields", "path", "said"),
    [
        ({"a": [], "b": []}, "a", "at least one row"),
        ({"a": [[]], "b": [[]]}, "a[0]", "at least one column"),
        ({"a": [["1", "2"], ["3"]], "b": [["1", "2"], ["3", "4"]]}, "a[1]", "2 entries, as in the first row"),
        ({"a": [["1", "2"], ["3", "4"]], "b": [["1", "2"], ["3"]]}, "b[1]", "2 entries, as a has, got 1"),
        ({"a": [["1", "2"]], "b": [["1", "2"], ["3", "4"]]}, "b", "1 row, as a has, got 2"),
        ({"a": [["1"]], "b": []}, "b", "at least one row"),
        ({"a": [["1", "2"]], "b": [["1"]]}, "b[0]", "2 entries, as a has"),
        ({"a": [["1"]], "b": [["1/0"]]}, "b[0][0]", "an exact number"),
        ({"a": [["1"]], "b": [[0.5]]}, "b[0][0]", "quote it"),
        ({"a": [["1"]], "b": [["1"]], "row_actions": ["up", "down"]}, "row_actions", "1 name,"),
        ({"a": [["1", "2"]], "b": [["1", "2"]], "column_actions": ["x", "x+y"]}, "column_actions[1]", 'without "+"'),
        ({"a": [["1"]]}, "b", "needs b"),
    ],
)
def test_refuses_with_the_path(fields, path, said):
    with pytest.raises(ConfigError) as caught:
        make(Bimatrix, **fields)
    assert caught.value.path == path
    assert said in str(caught.value)
