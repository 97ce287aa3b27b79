"""Parametric matrices: one game, one set of fields; ranges; refusals."""

from fractions import Fraction as Q

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import ParametricGame
from solvers.games.parametric_matrix import ParametricMatrix
from solvers.identity import describe


def test_form_is_exact():
    game = make(ParametricMatrix, payoffs=[["a^2", "1/2"], [0, "1 - b"]], parameters=["a", "b"], ranges={"b": ["-1", "1/3"]})
    form = game.form(ParametricGame)
    assert form.payoffs == (((((2, 0), Q(1)),), (((0, 0), Q(1, 2)),)), ((), (((0, 1), Q(-1)), ((0, 0), Q(1)))))
    assert form.ranges == ((0, 1), (-1, Q(1, 3)))
    assert (form.row_actions, form.column_actions) == (("r1", "r2"), ("c1", "c2"))
    assert form.at((Q(1, 2), Q(0))).payoffs == ((Q(1, 4), Q(1, 2)), (0, 1))


def test_however_it_is_written_it_is_one_game():
    ways = [["(1 - a)^2", "1/2"], ["1 + a*a - a/0.5", "0.5"], ["a^2 - 2*a + 1", Q(1, 2)]]
    games = [make(ParametricMatrix, payoffs=[row], parameters=["a"], ranges={"a": [0, 1]}) for row in ways]
    assert len(set(games)) == 1
    assert len({describe(one) for one in games}) == 1


@pytest.mark.parametrize(
    ("fields", "path", "said"),
    [
        ({"payoffs": [["1"]], "parameters": []}, "parameters", "game=matrix has none"),
        ({"payoffs": [["a"], ["a", "1"]], "parameters": ["a"]}, "payoffs[1]", "1 entry"),
        ({"payoffs": [["a", "c"]], "parameters": ["a"]}, "payoffs[0][1]", "the unknown name 'c'"),
        ({"payoffs": [["a", "1/0"]], "parameters": ["a"]}, "payoffs[0][1]", "a division by 0"),
        ({"payoffs": [["a", 0.5]], "parameters": ["a"]}, "payoffs[0][1]", "quote it"),
        ({"payoffs": [["a - a", "1"]], "parameters": ["a"]}, "parameters[0]", "that payoffs depend on"),
        ({"payoffs": [["a*b*c"]], "parameters": ["a", "b", "c"]}, "parameters", "at most 2"),
        ({"payoffs": [["a"]], "parameters": ["a"], "ranges": {"a": ["1", "0"]}}, "ranges.a", "least below greatest"),
        ({"payoffs": [["a"]], "parameters": ["a"], "row_actions": ["x", "y"]}, "row_actions", "1 name,"),
    ],
)
def test_refuses_with_the_path(fields, path, said):
    with pytest.raises(ConfigError) as caught:
        make(ParametricMatrix, **fields)
    assert caught.value.path == path
    assert said in str(caught.value)
