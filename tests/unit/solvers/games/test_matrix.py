"""Matrix games: what is refused, and names."""

from fractions import Fraction as Q

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.games.matrix import Matrix


def test_form_is_exact_and_numbers_the_actions():
    game = make(Matrix, payoffs=[["0.1", "-1", "2"], ["1/3", 0, "3"]]).form(MatrixGame)

    assert game.payoffs == ((Q(1, 10), Q(-1), Q(2)), (Q(1, 3), Q(0), Q(3)))
    assert game.row_actions == ("r1", "r2")
    assert game.column_actions == ("c1", "c2", "c3")
    assert game.outcomes is None


def test_given_names_are_kept_and_default_names_change_nothing():
    named = make(Matrix, payoffs=[["1"], ["2"]], row_actions=["stay", "go"])

    assert named.form(MatrixGame).row_actions == ("stay", "go")
    assert make(Matrix, payoffs=[["1"]], row_actions=["r1"], column_actions=["c1"]) == make(Matrix, payoffs=[["1"]])


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"payoffs": []}, "payoffs"),
        ({"payoffs": [[]]}, "payoffs[0]"),
        ({"payoffs": [["1", "2"], ["3"]]}, "payoffs[1]"),
        ({"payoffs": [["1"], ["2", "3"]]}, "payoffs[1]"),
        ({"payoffs": [["1", "x"]]}, "payoffs[0][1]"),
        ({"payoffs": [[0.5]]}, "payoffs[0][0]"),
        ({"payoffs": [["1", "2"]], "column_actions": ["left"]}, "column_actions"),
        ({"payoffs": [["1", "2"]], "column_actions": ["left", "left"]}, "column_actions[0]"),
        ({"payoffs": [["1", "2"]], "column_actions": ["left", "right+up"]}, "column_actions[1]"),
        ({"payoffs": [["1"]], "row_actions": [""]}, "row_actions[0]"),
    ],
)
def test_refuses_with_the_path(fields, path):
    with pytest.raises(ConfigError) as caught:
        make(Matrix, **fields)

    assert caught.value.path == path
