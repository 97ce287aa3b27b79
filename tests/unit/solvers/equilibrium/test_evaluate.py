"""Two given strategies against each other: known numbers, both ways to write a mixture, refusals with their path."""

from fractions import Fraction as Q

import pytest

from solvers import make, solve
from solvers.equilibrium.evaluate import Evaluate
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, start

HALVES = ForcedRps(a=Q(1, 2), b=Q(1, 2))
ODD_OR_EVEN = make(Matrix, payoffs=[["-2", "3"], ["3", "-4"]])


def evaluated(game, **given):
    tables = solve(game, make(Evaluate, **given)).tables
    (outcomes,) = tables["outcomes"].to_pylist()
    return outcomes, tables["action_values"].to_pylist()


def test_the_equilibrium_of_forced_moves():
    """Issue 4: value 1/6, win 4/9, draw 5/18, lose 5/18."""
    outcomes, actions = evaluated(HALVES, x=["1/3", "0", "2/3"], y=["1/3", "2/3", "0"])

    assert [outcomes[name] for name in ("value", "win", "draw", "lose")] == ["1/6", "4/9", "5/18", "5/18"]
    assert (outcomes["gain_row"], outcomes["gain_column"]) == ("0", "0")
    assert [row["action"] for row in actions if row["best"]] == ["rock", "scissors", "rock", "paper"]
    assert [row["value"] for row in actions if row["best"]] == ["1/6", "1/6", "-1/6", "-1/6"]


def test_pure_strategies_by_hand():
    outcomes, actions = evaluated(ODD_OR_EVEN, x=[1, 0], y={"c1": 1})

    assert outcomes["value"] == "-2"
    assert outcomes["gain_row"] == "5"  # r2 earns 3
    assert outcomes["gain_column"] == "0"  # c2 would cost 3
    assert [outcomes[name] for name in ("win", "draw", "lose")] == [None] * 3
    assert [(row["player"], row["action"], row["value"], row["best"]) for row in actions] == [
        (1, "r1", "-2", False),
        (1, "r2", "3", True),
        (2, "c1", "2", True),
        (2, "c2", "-3", False),
    ]


def test_nothing_given_is_all_alike():
    outcomes, _ = evaluated(ODD_OR_EVEN)

    assert (outcomes["x"], outcomes["y"], outcomes["value"]) == (["1/2", "1/2"], ["1/2", "1/2"], "0")


def test_maps_and_lists_say_the_same():
    by_name = evaluated(HALVES, x={"rock": "1/3", "scissors": "2/3"}, y={"paper": 1})
    in_order = evaluated(HALVES, x=["1/3", "0", "2/3"], y=["0", "1", "0"])

    assert by_name == in_order


def test_moves_of_probability_0_are_one_setting_with_none():
    assert make(Evaluate, x={"rock": 1, "paper": 0}) == make(Evaluate, x={"rock": 1})


@pytest.mark.parametrize(
    ("given", "path", "said"),
    [
        ({"x": ["1/2", "-1/2", "1"]}, "x[1]", "a probability"),
        ({"y": ["3/2"]}, "y[0]", "a probability"),
        ({"x": {"rock": "-1/2", "paper": "3/2"}}, "x.paper", "a probability"),
        ({"x": ["1/2", "1/3"]}, "x", "sum of 5/6"),
        ({"y": {"rock": "1/2", "paper": "2/3"}}, "y", "sum of 7/6"),
        ({"y": {}}, "y", "sum of 0"),
        ({"x": [0.5, 0.5]}, "x[0]", "exact number"),
        ({"x": ["1/0"]}, "x[0]", "exact number"),
        ({"y": {"rock": "1/0"}}, "y.rock", "exact number"),
    ],
)
def test_what_is_no_mixture_is_refused_with_its_path(given, path, said):
    with pytest.raises(ConfigError, match=said) as refused:
        make(Evaluate, **given)

    assert refused.value.path == path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": ["1/2", "1/2"]}, r"solver\.x: expected a list of 3, a probability for each row of the game, got 2"),
        ({"y": ["1"]}, r"solver\.y: expected a list of 3, a probability for each column of the game, got 1"),
        ({"y": {"papper": 1}}, r"solver\.y\.papper: .*, got 'papper' \(did you mean paper\?\)"),
    ],
)
def test_what_does_not_fit_the_game_is_refused(given, said):
    solver = make(Evaluate, **given)

    with pytest.raises(ImpossiblePairing, match=said):
        solve(HALVES, solver)
    with pytest.raises(InfeasibleGame, match=said):
        next(start(HALVES.form(MatrixGame), solver, "0", InlineWorkers()))
