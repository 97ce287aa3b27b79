"""Learners on matrix games side by side: known medians, batches that change no bit, what a batch refuses, who converges."""

import csv
import dataclasses
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from solvers.builder import build, make
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, conforming, last_result, refusal, solve
from solvers.regret.curves import CURVE
from solvers.regret.fictitious_play import FictitiousPlay
from solvers.regret.hedge import Hedge
from solvers.regret.matrix_play import MOST_SECONDS
from solvers.regret.regret_matching import RegretMatching

ROOT = Path(__file__).parents[4]
NAMES = (
    "regret_matching",
    "rm_plus",
    "predictive_rm_plus",
    "smooth_prm_plus",
    "hedge",
    "multiplicative_weights",
    "fictitious_play",
)
BATCH_INDEX = pa.field("batch_index", pa.int32())


def configured(name, **changes):
    return dataclasses.replace(build(yaml.safe_load((ROOT / f"conf/solver/{name}.yaml").read_text())), **changes)


def matrix(rows):
    payoffs = tuple(tuple(Fraction(payoff) for payoff in row) for row in rows)
    return MatrixGame(payoffs, tuple(f"r{i}" for i in range(len(payoffs))), tuple(f"c{j}" for j in range(len(payoffs[0]))))


def random_games(count, m=3, n=3, seed=0):
    return [matrix(rows) for rows in np.random.default_rng(seed).uniform(-1, 1, (count, m, n)).tolist()]


def alone(game, solver):
    events = solver.solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return last_result(events, solver)


def together(games, solver):
    return conforming(solver.solve_batch(games, [np.random.default_rng(0)] * len(games)), solver, (BATCH_INDEX,))


def final(result, iterate="average"):
    """The last rows of all games."""
    rows = result.tables["curve"].to_pylist()
    most = max(row["iteration"] for row in rows)
    return [row for row in rows if row["iteration"] == most and row["iterate"] == iterate]


# ---- known answers -----------------------------------------------------------------------------------------------------------


def facts():
    with (ROOT / "tests/facts/regret_medians.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: f"{fact['solver']}-{fact['alternating']}")
def test_medians_over_random_games_are_the_known_ones(fact):
    """They are given to one or two digits: within 5 %."""
    solver = configured(fact["solver"], iterations=10_000, alternating=fact["alternating"] == "true")
    if fact["solver"] == "hedge":
        solver = dataclasses.replace(solver, rate=math.sqrt(8 * math.log(3) / 10_000) / 2, horizon=None)
    assert solver.gamma == float(fact["gamma"])

    rows = final(together(random_games(200), solver))

    assert len(rows) == 200
    assert np.median([row["exploitability"] for row in rows]) == pytest.approx(float(fact["median"]), rel=0.05)
    assert {row["gamma"] for row in rows} == {solver.gamma}


def test_smooth_prm_plus_converges_where_prm_plus_does_not():
    """Cai et al. 2023, section 3: on this game the last strategies of PRM+ do not converge, those of smooth PRM+ do."""
    game = matrix(((3, 0, -3), (0, 3, -4), (0, 0, 1)))

    wild = final(alone(game, configured("predictive_rm_plus", iterations=100_000)), "last")[0]
    calm = final(alone(game, configured("smooth_prm_plus", iterations=100_000)), "last")[0]

    assert wild["exploitability"] > 1e-3
    assert calm["exploitability"] < 1e-6
    assert calm["x"] == pytest.approx([1 / 12, 1 / 12, 5 / 6], abs=1e-4)


def test_fictitious_play_by_hand():
    """Odd or even: rows would have earned (-2, 3), (-4, 6), (-1, 2), (2, -2), columns (2, -3), (-1, 1), (-4, 5), (-7, 9)."""
    rows = alone(matrix(((-2, 3), (3, -4))), FictitiousPlay(5)).tables["curve"].to_pylist()

    played = [(row["x"].index(1) + 1, row["y"].index(1) + 1) for row in rows if row["iterate"] == "last"]
    assert played == [(1, 1), (2, 1), (2, 2), (2, 2), (1, 2)]


def test_fictitious_play_breaks_ties_by_the_lowest_index():
    rows = alone(matrix(((1, 1), (1, 1), (0, 0))), FictitiousPlay(20)).tables["curve"].to_pylist()

    assert {(tuple(row["x"]), tuple(row["y"])) for row in rows} == {((1, 0, 0), (1, 0))}


def test_a_horizon_stands_for_the_iteration_in_the_rate():
    game = random_games(1)[0]
    payoffs = [float(payoff) for row in game.payoffs for payoff in row]
    rate = math.sqrt(8 * math.log(3) / 500) / (max(payoffs) - min(payoffs))

    tuned, fixed = (final(alone(game, Hedge(500, **said)))[0] for said in ({"horizon": 500}, {"rate": rate}))

    assert tuned["x"] + tuned["y"] == pytest.approx(fixed["x"] + fixed["y"], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_against_a_fixed_opponent_all_learn_the_best_reply(name):
    game = random_games(1, 3, 4)[0]

    found = final(alone(game, configured(name, iterations=5_000, opponent=(0.1, 0.2, 0.3, 0.4))))[0]

    assert found["y"] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert found["gain_p1"] < 0.05


def test_averages_weigh_iterations_by_the_power_gamma():
    """Recorded one by one up to 10: what is averaged can be summed up again from what was played."""
    for name, gamma in (("rm_plus", 2.0), ("hedge", 1.0), ("fictitious_play", 0.5)):
        rows = alone(random_games(1)[0], configured(name, iterations=10, gamma=gamma)).tables["curve"].to_pylist()
        played = np.array([row["x"] + row["y"] for row in rows if row["iterate"] == "last"])
        weights = np.arange(1, 11.0) ** gamma
        assert rows[-1]["x"] + rows[-1]["y"] == pytest.approx(list(weights @ played / weights.sum()), abs=1e-12)


def plain_predictive_rm_plus(a, iterations):
    """Alternating PRM+ in numpy, sharing nothing with the solver: return the strategies played."""
    m, n = a.shape
    memory, guess, played = [np.zeros(m), np.zeros(n)], [np.zeros(m), np.zeros(n)], []

    def choose(player):
        hope = np.maximum(memory[player] + guess[player], 0)
        return hope / hope.sum() if hope.sum() > 0 else np.full(len(hope), 1 / len(hope))

    for _ in range(iterations):
        x, y = choose(0), choose(1)
        guess[0] = a @ y - x @ a @ y
        memory[0] = np.maximum(memory[0] + guess[0], 0)
        newest = choose(0)
        guess[1] = newest @ a @ y - newest @ a
        memory[1] = np.maximum(memory[1] + guess[1], 0)
        played.append([*x, *y])
    return played


def test_an_independent_plain_loop_agrees_on_alternating_prm_plus():
    game = random_games(1, 3, 4)[0]
    a = np.array([[float(payoff) for payoff in row] for row in game.payoffs])

    rows = alone(game, configured("predictive_rm_plus", iterations=9, alternating=True)).tables["curve"].to_pylist()

    played = [row["x"] + row["y"] for row in rows if row["iterate"] == "last"]
    assert np.allclose(played, plain_predictive_rm_plus(a, 9), atol=1e-12)


def plain_smooth_prm_plus(a, iterations, least):
    """Simultaneous smooth PRM+ in numpy, projecting by a sort: return the strategies played."""

    def project(vector):
        if np.maximum(vector, 0).sum() >= least:
            return np.maximum(vector, 0)
        falling = np.sort(vector)[::-1]
        shifts = (np.cumsum(falling) - least) / np.arange(1, len(vector) + 1)
        return np.maximum(vector - shifts[np.flatnonzero(falling > shifts)[-1]], 0)

    memory = [np.full(k, least / k) for k in a.shape]
    guess, played = [np.zeros(k) for k in a.shape], []
    for _ in range(iterations):
        hopes = [project(one + more) for one, more in zip(memory, guess, strict=True)]
        x, y = (hope / hope.sum() for hope in hopes)
        guess = [a @ y - x @ a @ y, x @ a @ y - x @ a]
        memory = [project(one + more) for one, more in zip(memory, guess, strict=True)]
        played.append([*x, *y])
    return played


def test_an_independent_plain_loop_agrees_on_smooth_prm_plus():
    for seed in range(5):
        game = random_games(1, 4, 3, seed)[0]
        a = np.array([[float(payoff) for payoff in row] for row in game.payoffs])
        for smooth in (0.2, 2.0):
            solver = configured("smooth_prm_plus", iterations=10, smooth=smooth)
            rows = alone(game, solver).tables["curve"].to_pylist()

            played = [row["x"] + row["y"] for row in rows if row["iterate"] == "last"]
            assert np.allclose(played, plain_smooth_prm_plus(a, 10, smooth * (a.max() - a.min())), atol=1e-12)


@pytest.mark.parametrize("spread", [1.0, 2.0**20, 2.0**-20])
def test_weights_are_those_of_the_exponential(spread):
    """Three actions that earn 0, -1, -30 (times the spread): Hedge by hand at iteration 2, to the last places."""
    game = matrix(((0,), (-spread,), (-30 * spread,)))

    rows = alone(game, Hedge(2, rate=1 / spread)).tables["curve"].to_pylist()

    weights = [1.0, math.exp(-1), math.exp(-30)]
    assert rows[2]["x"] == pytest.approx([one / math.fsum(weights) for one in weights], rel=2e-15, abs=0)


# ---- batches -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_games_one_by_one_bit_for_bit(name, alternating):
    """Full lanes, a rest that fills some, a rest too small for lanes, shapes mixed."""
    square, oblong = random_games(64 + 20, seed=1), random_games(5, 2, 4, seed=2)
    games = [*square[:3], *oblong, *square[3:]]
    solver = configured(name, iterations=137, alternating=alternating)

    result = together(games, solver)

    single = [alone(game, solver) for game in games]
    tables = [one.tables["curve"] for one in single]
    assert result.tables["curve"].drop_columns(["batch_index"]) == pa.concat_tables(tables)
    assert result.tables["curve"]["batch_index"].to_pylist() == [i for i, one in enumerate(tables) for _ in range(len(one))]
    assert result.metrics["exploitability"].tolist() == [one.metrics["exploitability"] for one in single]
    assert result.metrics["iterations"].tolist() == [137.0] * len(games)
    assert result.complete.all()


def test_a_batch_with_start_and_opponent():
    games = random_games(20)
    for said in ({"start": ((0.8, 0.1, 0.1), (0.1, 0.1, 0.8))}, {"start": ((0.8, 0.1, 0.1),), "opponent": (0.2, 0.3, 0.5)}):
        solver = RegretMatching(50, **said)
        expected = pa.concat_tables([alone(game, solver).tables["curve"] for game in games])
        assert together(games, solver).tables["curve"].drop_columns(["batch_index"]) == expected


def test_large_games_stand_alone_in_a_batch_too():
    games = random_games(17, 21, 20)
    solver = RegretMatching(20)
    expected = pa.concat_tables([alone(game, solver).tables["curve"] for game in games])
    assert together(games, solver).tables["curve"].drop_columns(["batch_index"]) == expected


@pytest.mark.parametrize("cls", [RegretMatching, Hedge, FictitiousPlay])
def test_long_runs_are_refused_by_a_batch_because_it_cannot_save_them(cls):
    games = random_games(2)
    long = cls(10**7)
    assert long.cost(games[0]) > MOST_SECONDS

    with pytest.raises(InfeasibleGame, match="solved by itself"):
        long.solve_batch(games, [])


def test_a_batch_refuses_what_solve_refuses():
    games = random_games(2)
    with pytest.raises(InfeasibleGame, match="beyond"):
        RegretMatching(10).solve_batch([*games, matrix(((10**400, 1, 1),) * 3)], [])
    with pytest.raises(InfeasibleGame, match=r"solver\.opponent: expected a list of"):
        FictitiousPlay(10, opponent=(0.5, 0.5)).solve_batch(games, [])


# ---- refusals ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "fields", "path"),
    [
        (RegretMatching, {"gamma": -1}, "gamma"),
        (RegretMatching, {"gamma": 11}, "gamma"),
        (RegretMatching, {"smooth": -1, "floor": True, "predictive": True}, "smooth"),
        (RegretMatching, {"smooth": 1, "floor": True}, "smooth"),
        (Hedge, {"horizon": 0}, "horizon"),
        (Hedge, {"horizon": 10, "rate": 0.1}, "horizon"),
        (Hedge, {"opponent": [0.5, 0.6]}, "opponent"),
        (FictitiousPlay, {"iterations": 0}, "iterations"),
        (FictitiousPlay, {"gamma": "0.5", "opponent": [2]}, "opponent[0]"),
    ],
)
def test_fields_out_of_range_are_refused_with_their_path(cls, fields, path):
    with pytest.raises(ConfigError) as refused:
        make(cls, **fields)

    assert refused.value.path == path


@pytest.mark.parametrize("cls", [Hedge, FictitiousPlay])
def test_opponents_that_do_not_fit_are_refused_while_planning_and_while_solving(cls):
    solver = cls(10, opponent=(0.5, 0.5))
    game = make(Matrix, payoffs=[["1", "2", "3"]])

    wanted = "solver.opponent: expected a list of 3"
    assert wanted in str(refusal(game, solver))
    with pytest.raises(ImpossiblePairing, match=wanted):
        solve(game, solver)
    with pytest.raises(InfeasibleGame, match=wanted):
        alone(game.form(MatrixGame), solver)


@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_the_declared_one(name):
    table = alone(random_games(1)[0], configured(name, iterations=5)).tables["curve"]

    assert table.schema.equals(CURVE, check_metadata=True)
    assert len(table) == 10
