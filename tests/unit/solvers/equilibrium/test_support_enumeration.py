"""Support enumeration against published and recomputed answers."""

import csv
from fractions import Fraction as Q
from itertools import product
from math import comb
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.contract import Progress, Result, Stop
from solvers.equilibrium.support_enumeration import MOST_PAIRS, SupportEnumeration, extreme_equilibria
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import BimatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, start

FACTS = Path(__file__).parents[3] / "facts"
THIRD = Q(1, 3)


def facts(name):
    with (FACTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")]


def equilibria(game):
    return solve(game, SupportEnumeration()).tables["equilibria"].to_pylist()


def all_zero(size):
    return Matrix(((Q(),) * size,) * size)


@pytest.mark.parametrize("fact", facts("matrix_games.csv"), ids=lambda fact: fact["name"])
def test_known_matrix_games(fact):
    rows = equilibria(make(Matrix, payoffs=rows_of(fact["payoffs"])))

    assert {row["value"] for row in rows} == {fact["value"]}
    assert [(row["x"], row["y"]) for row in rows] == list(product(rows_of(fact["x"]), rows_of(fact["y"])))
    assert [row["index"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize("fact", facts("forced_rps_regions.csv"), ids=lambda fact: f"{fact['x_support']}/{fact['y_support']}")
def test_regions_of_forced_rps(fact):
    inside = [Q(1, 20), Q(1, 2), Q(19, 20)]
    a_from, a_to, b_from, b_to = (Q(fact[name]) for name in ("a_from", "a_to", "b_from", "b_to"))

    for s, t in product(inside, repeat=2):
        a, b = a_from + s * (a_to - a_from), b_from + t * (b_to - b_from)
        (row,) = equilibria(ForcedRps(a=a, b=b))
        assert (row["x_support"], row["y_support"]) == (fact["x_support"], fact["y_support"])
        value = Q(fact["value_1"]) + Q(fact["value_a"]) * a + Q(fact["value_b"]) * b + Q(fact["value_ab"]) * a * b
        assert Q(row["value"]) == value


@pytest.mark.parametrize("a", [Q(number, 12) for number in range(13)], ids=str)
def test_value_where_both_are_forced_alike(a):
    wanted = Q() if a <= THIRD else a - THIRD if a <= 2 * THIRD else 2 * a - 1

    assert {Q(row["value"]) for row in equilibria(ForcedRps(a=a, b=a))} == {wanted}


def test_forced_by_halves_in_full():
    assert equilibria(ForcedRps(a=Q(1, 2), b=Q(1, 2))) == [
        {
            "index": 0,
            "value": "1/6",
            "x": ["1/3", "0", "2/3"],
            "y": ["1/3", "2/3", "0"],
            "x_support": "rock+scissors",
            "y_support": "rock+paper",
            "value_float": 1 / 6,
            "win": "4/9",
            "draw": "5/18",
            "lose": "5/18",
        }
    ]


def test_no_outcomes_and_no_float_where_there_are_none():
    (row,) = equilibria(make(Matrix, payoffs=[["1e400"]]))

    assert row["value"] == "1" + "0" * 400
    assert [row[name] for name in ("value_float", "win", "draw", "lose")] == [None] * 4


def test_a_strict_equilibrium_ends_the_search():
    result = solve(make(Matrix, payoffs=[["0", "1"], ["-1", "5"]]), SupportEnumeration())

    assert result.metrics == {"equilibria": 1, "pairs_tried": 1}


def test_too_many_pairs_are_refused_with_their_number():
    assert comb(24, 12) - 1 <= MOST_PAIRS

    said = f"{comb(26, 13) - 1:,} pairs.*10 x 10"
    with pytest.raises(ImpossiblePairing, match=said):
        solve(all_zero(13), SupportEnumeration())
    with pytest.raises(InfeasibleGame, match=said):  # a game that does not tell its shape while planning
        next(start(all_zero(13).form(BimatrixGame), SupportEnumeration(), "0", InlineWorkers()))


def test_stopped_it_keeps_what_it_found():
    events = start(all_zero(8).form(BimatrixGame), SupportEnumeration(), "0", InlineWorkers())

    assert next(events) == Progress(2000, comb(16, 8) - 1, {"equilibria": 64})
    result = events.throw(Stop())

    assert isinstance(result, Result)
    assert result.complete is False
    assert result.metrics == {"equilibria": 64, "pairs_tried": 2000}
    assert result.tables["equilibria"].num_rows == 64


def test_stopped_with_nothing_found_it_has_nothing_to_say():
    size = 8  # the identity: only the uniform mixtures are optimal
    payoffs = tuple(tuple(Q(int(row == column)) for column in range(size)) for row in range(size))
    events = start(Matrix(payoffs).form(BimatrixGame), SupportEnumeration(), "0", InlineWorkers())
    next(events)

    with pytest.raises(Stop):
        events.throw(Stop())


def test_costs_more_for_larger_games():
    solver = SupportEnumeration()

    assert 0 < solver.cost(ForcedRps()) < solver.cost(all_zero(5)) < solver.cost(all_zero(9))
    assert solver.cost(ForcedRps()) == solver.cost(all_zero(3))


def test_list_version_agrees_with_the_table():
    game = all_zero(3)

    pairs = {(one.x, one.y) for one in extreme_equilibria(game.payoffs)}

    assert {(tuple(map(int, row["x"])), tuple(map(int, row["y"]))) for row in equilibria(game)} == pairs
