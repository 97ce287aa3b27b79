"""Exact linear programming of matrix games against published values and the other solvers."""

import csv
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pytest

from solvers import make, solve
from solvers.contract import Progress
from solvers.equilibrium import linear
from solvers.equilibrium.check.equilibria import check_equilibria
from solvers.equilibrium.exact_lp import ExactLp
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, start

FACTS = Path(__file__).parents[3] / "facts"


def facts():
    with (FACTS / "matrix_games.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")]


def integers(rng, size, most):
    return Matrix(tuple(tuple(Q(int(one)) for one in row) for row in rng.integers(-most, most + 1, (size, size))))


@pytest.mark.parametrize("small", [250, 0], ids=["pivots", "guess"])
@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["name"])
def test_known_matrix_games(fact, small, monkeypatch):
    monkeypatch.setattr(linear, "_SMALL", small)

    (row,) = solve(make(Matrix, payoffs=rows_of(fact["payoffs"])), ExactLp()).tables["equilibria"].to_pylist()

    assert row["value"] == fact["value"]
    assert row["x"] in rows_of(fact["x"])
    assert row["y"] in rows_of(fact["y"])


def test_outcomes_of_forced_moves():
    (row,) = solve(ForcedRps(a=Q(1, 2), b=Q(1, 2)), ExactLp()).tables["equilibria"].to_pylist()

    assert [row[name] for name in ("value", "win", "draw", "lose")] == ["1/6", "4/9", "5/18", "5/18"]


def test_uniqueness_is_a_metric_where_it_is_proved():
    assert solve(ForcedRps(a=Q(1, 2), b=Q(1, 2)), ExactLp()).metrics["unique"] == 1.0
    assert "unique" not in solve(make(Matrix, payoffs=[["0", "0"], ["0", "0"]]), ExactLp()).metrics


@pytest.mark.parametrize("payoffs", [[["1e400", "0"], ["0", "1e-400"]], [["1/3", "1/7"], ["1/1000000007", "2/3"]]])
def test_payoffs_far_from_floats(payoffs):
    game = make(Matrix, payoffs=payoffs)

    result = solve(game, ExactLp())

    assert [verdict.grade for verdict in check_equilibria(game, result.tables)] == ["proved"]


def test_hundreds_of_actions():
    game = integers(np.random.default_rng(0), 120, 100)

    result = solve(game, ExactLp())

    assert result.metrics["pivots"] == 0
    assert [verdict.grade for verdict in check_equilibria(game, result.tables)] == ["proved"]


def test_a_wrong_guess_is_only_slower(monkeypatch):
    monkeypatch.setattr(linear, "_guess", lambda program: None)
    game = integers(np.random.default_rng(1), 25, 100)

    *events, result = start(game.form(MatrixGame), ExactLp(), "0", InlineWorkers())

    assert events
    assert all(isinstance(event, Progress) for event in events)
    assert result.metrics["pivots"] >= events[-1].done
    assert [verdict.grade for verdict in check_equilibria(game, result.tables)] == ["proved"]


def test_a_game_that_is_too_large_is_refused_with_its_size():
    class Huge:
        gives = (MatrixGame,)
        shape = (2000, 1000)

    assert "2,000,000 payoffs, at most 1,000,000" in ExactLp().refuses(Huge())
    with pytest.raises(ImpossiblePairing, match="regret_matching"):
        solve(Huge(), ExactLp())
    wide = MatrixGame(((Q(),) * 1_000_001,), ("r",), ("c",) * 1_000_001)
    with pytest.raises(InfeasibleGame, match="1,000,001 payoffs"):
        next(start(wide, ExactLp(), "0", InlineWorkers()))
