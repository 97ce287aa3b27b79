"""Shapley and Snow's kernels against published and recomputed answers."""

import csv
from fractions import Fraction as Q
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from solvers import make, solve
from solvers.equilibrium.shapley_snow import ShapleySnow, fits
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.games.random_matrix import RandomMatrix

FACTS = Path(__file__).parents[3] / "facts"


def facts(name):
    with (FACTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")]


@pytest.mark.parametrize("fact", facts("matrix_games.csv"), ids=lambda fact: fact["name"])
def test_known_matrix_games(fact):
    rows = solve(make(Matrix, payoffs=rows_of(fact["payoffs"])), ShapleySnow()).tables["equilibria"].to_pylist()

    assert {row["value"] for row in rows} == {fact["value"]}
    assert [(row["x"], row["y"]) for row in rows] == list(product(rows_of(fact["x"]), rows_of(fact["y"])))
    assert [row["index"] for row in rows] == list(range(len(rows)))


def test_outcomes_are_told():
    (row,) = solve(ForcedRps(a=Q(1, 2), b=Q(1, 2)), ShapleySnow()).tables["equilibria"].to_pylist()

    assert (row["value"], row["win"], row["draw"], row["lose"]) == ("1/6", "4/9", "5/18", "5/18")


def test_games_of_all_kinds_in_one_call():
    games = [
        RandomMatrix(2, seed=1),
        make(Matrix, payoffs=[["1e400", "0"], ["0", "1"]]),
        RandomMatrix(3, seed=2),
        ForcedRps(a=Q(1)),
        RandomMatrix(2, seed=3),
    ]

    result = ShapleySnow().solve_batch([game.form(MatrixGame) for game in games], [])

    together = result.tables["equilibria"]
    for place, game in enumerate(games):
        mine = together.filter(np.asarray(together["batch_index"]) == place).drop_columns(["batch_index"])
        alone = solve(game, ShapleySnow())
        assert mine.to_pylist() == alone.tables["equilibria"].to_pylist()
        assert result.metrics["equilibria"][place] == alone.metrics["equilibria"] == mine.num_rows


def test_64_bits_hold_small_payoffs_only():
    assert fits(8, 8, 40, 1)
    assert not fits(8, 8, 50, 1)
    assert fits(2, 2, 10**9, 1)
    assert not fits(2, 2, 10**9, 2**40)
    assert not fits(1, 1, 2**63, 1)


def test_too_large_a_game_is_refused_with_the_solver_that_would_do():
    said = "9 x 8 actions has 24,309 square submatrices.*exact_lp"

    with pytest.raises(ImpossiblePairing, match=said):
        solve(RandomMatrix(rows=9, columns=8), ShapleySnow())
    with pytest.raises(InfeasibleGame, match=said):
        ShapleySnow().solve_batch([RandomMatrix(rows=9, columns=8).form(MatrixGame)], [])
