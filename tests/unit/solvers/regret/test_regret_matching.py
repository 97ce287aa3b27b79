"""Regret matching: known curves, an independent reference, resuming, stopping, refusals."""

import csv
import dataclasses
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml

from solvers.builder import build, make
from solvers.contract import Checkpoint, Progress, Result, Stop
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, last_result, refusal
from solvers.regret.curves import CURVE, next_recorded
from solvers.regret.regret_matching import RegretMatching

ROOT = Path(__file__).parents[4]
MOVES = ("rock", "paper", "scissors")
LOPSIDED = ((0.8, 0.1, 0.1), (0.1, 0.1, 0.8))


def matrix(*rows):
    payoffs = tuple(tuple(Fraction(payoff) for payoff in row) for row in rows)
    rows_named = tuple(f"r{i}" for i in range(len(payoffs)))
    return MatrixGame(payoffs, rows_named, tuple(f"c{j}" for j in range(len(payoffs[0]))))


RPS = MatrixGame(matrix((0, -1, 1), (1, 0, -1), (-1, 1, 0)).payoffs, MOVES, MOVES)
OBLONG = matrix(("1/3", -2, 5, 0), (2, "7/2", -1, 1), (-4, 1, 1, "1/7"))


def events(game, solver, resume=None):
    return solver.solve(game, resume=resume, workers=InlineWorkers(), rng=np.random.default_rng(0))


def curve(game, solver, resume=None):
    return last_result(events(game, solver, resume), solver).tables["curve"]


def row(table, iteration, iterate):
    (found,) = (one for one in table.to_pylist() if (one["iteration"], one["iterate"]) == (iteration, iterate))
    return found


def checkpoints(game, solver):
    """Every checkpoint of a run, copied at receipt."""
    return [
        Checkpoint(event.step, {name: array.copy() for name, array in event.arrays.items()})
        for event in events(game, solver)
        if isinstance(event, Checkpoint)
    ]


def plain_regret_matching(payoffs, start, iterations):
    """The rule in plain Python, sharing nothing with the solver: yield last x, last y, average x, average y."""
    m, n = len(payoffs), len(payoffs[0])
    regrets = [list(start[0]), list(start[1])]
    totals = [[0.0] * m, [0.0] * n]
    for t in range(1, iterations + 1):
        mixes = []
        for mine in regrets:
            positive = [max(regret, 0) for regret in mine]
            mixes.append([p / sum(positive) for p in positive] if sum(positive) else [1 / len(mine)] * len(mine))
        x, y = mixes
        earns = [sum(float(payoffs[i][j]) * y[j] for j in range(n)) for i in range(m)]
        costs = [sum(float(payoffs[i][j]) * x[i] for i in range(m)) for j in range(n)]
        value = sum(x[i] * earns[i] for i in range(m))
        regrets = [
            [r + e - value for r, e in zip(regrets[0], earns, strict=True)],
            [r + value - c for r, c in zip(regrets[1], costs, strict=True)],
        ]
        totals = [[a + b for a, b in zip(total, mix, strict=True)] for total, mix in zip(totals, mixes, strict=True)]
        yield x, y, [a / t for a in totals[0]], [a / t for a in totals[1]]


# ---- known answers -----------------------------------------------------------------------------------------------------------


def facts():
    with (ROOT / "tests/facts/regret_curves.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def lopsided_curve():
    return curve(RPS, RegretMatching(iterations=100_000, start=LOPSIDED))


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["iterations"])
def test_best_replies_to_the_averages_are_the_known_ones(lopsided_curve, fact):
    found = row(lopsided_curve, int(fact["iterations"]), "average")

    best_reply_to_p1 = found["gain_p2"] - found["value_p1"]
    best_reply_to_p2 = found["gain_p1"] + found["value_p1"]

    digits = int(fact["digits"])
    assert [f"{best_reply_to_p1:.{digits}g}", f"{best_reply_to_p2:.{digits}g}"] == [
        f"{float(fact[name]):.{digits}g}" for name in ("best_reply_to_p1", "best_reply_to_p2")
    ]


def test_uniform_play_of_rock_paper_scissors_stays_an_equilibrium():
    table = curve(RPS, RegretMatching(iterations=10_000))

    assert set(table["exploitability"].to_pylist()) == {0.0}
    assert row(table, 10_000, "last")["x"] == [1 / 3] * 3


def test_against_a_fixed_opponent_player_1_learns_the_best_reply():
    found = row(curve(RPS, RegretMatching(iterations=100_000, opponent=(0.6, 0.3, 0.1))), 100_000, "average")

    payoffs_of_moves = [-0.2, 0.5, -0.3]
    assert found["x"] == pytest.approx([0, 1, 0], abs=1e-4)
    assert found["y"] == [0.6, 0.3, 0.1]
    assert found["gain_p1"] + found["value_p1"] == pytest.approx(max(payoffs_of_moves))
    assert found["gain_p1"] == pytest.approx(0, abs=1e-4)
    assert found["exploitability"] == pytest.approx((1.5 + found["gain_p1"]) / 2, abs=1e-4)  # scissors would cost paper 1


def test_values_of_moves_against_the_fixed_opponent():
    first = [curve(RPS, RegretMatching(1, start=(tuple(start),), opponent=(0.6, 0.3, 0.1))).to_pylist()[0] for start in np.eye(3)]

    assert [one["value_p1"] for one in first] == pytest.approx([-0.2, 0.5, -0.3])


@pytest.mark.parametrize(
    ("game", "start"),
    [(RPS, LOPSIDED), (OBLONG, ((0.0,) * 3, (0.0,) * 4)), (OBLONG, ((-1.0, 2.0, 0.5), (0.1, -3.0, 0.0, 1.0)))],
    ids=["rps", "oblong", "oblong with a start"],
)
def test_an_independent_plain_loop_agrees(game, start):
    solver = RegretMatching(iterations=1_000, start=start)

    table = curve(game, solver)

    for t, (x, y, average_x, average_y) in enumerate(plain_regret_matching(game.payoffs, start, 1_000), start=1):
        if t in (1, 2, 3, 10, 130, 1_000):
            last, average = row(table, t, "last"), row(table, t, "average")
            assert last["x"] + last["y"] == pytest.approx(x + y, abs=1e-9)
            assert average["x"] + average["y"] == pytest.approx(average_x + average_y, abs=1e-9)


def test_null_start_is_zeros():
    assert curve(OBLONG, RegretMatching(500)) == curve(OBLONG, RegretMatching(500, start=((0.0,) * 3, (0.0,) * 4)))


def test_a_dominant_action_takes_all():
    found = row(curve(matrix((3, 2), (1, 0)), RegretMatching(10_000)), 10_000, "average")

    assert found["x"][0] == pytest.approx(1, abs=1e-3)
    assert found["value_p1"] == pytest.approx(2, abs=1e-2)


def test_a_game_of_one_action_each():
    assert curve(matrix((7,)), RegretMatching(3)).to_pylist()[-1] == {
        "iteration": 3, "iterate": "average", "exploitability": 0, "gain_p1": 0, "gain_p2": 0, "value_p1": 7, "x": [1], "y": [1],
        "milli_antes": None, "pot_percent": None, "gamma": 0,
    }  # fmt: skip


# ---- which iterations are recorded -------------------------------------------------------------------------------------------


def test_recorded_iterations_hold_every_power_of_ten_and_ten_a_decade():
    recorded = [0]
    while recorded[-1] < 10**9:
        recorded.append(next_recorded(recorded[-1]))

    assert recorded[1:21] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100]
    assert {10**k for k in range(10)} <= set(recorded)
    assert len(recorded) == 1 + 9 + 80 + 1


def test_iterations_are_recorded_last_then_average_and_the_final_one_always():
    table = curve(RPS, RegretMatching(27, LOPSIDED))

    assert table["iteration"].to_pylist()[-8:] == [16, 16, 20, 20, 25, 25, 27, 27]
    assert table["iterate"].to_pylist() == ["last", "average"] * (table.num_rows // 2)
    assert table.schema.equals(CURVE, check_metadata=False)


# ---- going on, stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "opponent"),
    [(((0.3, 0.1, 0.0), (0.0, 1.0, 0.2, 0.0)), None), (((0.3, 0.1, 0.0),), (0.25, 0.25, 0.25, 0.25))],
    ids=["self-play", "fixed opponent"],
)
def test_resuming_at_every_checkpoint_changes_no_bit(start, opponent):
    solver = RegretMatching(12_345, start=start, opponent=opponent)
    whole = curve(OBLONG, solver)

    saved = checkpoints(OBLONG, solver)

    assert [one.step for one in saved] == [1_000, 2_000, 5_000, 10_000, 12_345]
    for one in saved:
        assert curve(OBLONG, solver, resume=one) == whole


def test_no_iteration_is_saved_twice():
    assert [one.step for one in checkpoints(RPS, RegretMatching(2_000))] == [1_000, 2_000]


@pytest.mark.parametrize("short", [1, 27, 100, 1_000, 1_234])
def test_an_extended_run_is_a_fresh_run(short):
    resume = checkpoints(OBLONG, RegretMatching(short))[-1]

    assert resume.step == short
    assert curve(OBLONG, RegretMatching(3_000), resume=resume) == curve(OBLONG, RegretMatching(3_000))


def test_the_number_of_iterations_in_a_call_changes_no_bit(monkeypatch):
    solver = RegretMatching(3_000, start=LOPSIDED)
    whole = curve(RPS, solver)

    monkeypatch.setattr("solvers.regret.matrix_play._WORK_PER_CALL", 500)  # seven iterations

    assert curve(RPS, solver) == whole


def test_long_stretches_can_be_stopped_within(monkeypatch):
    monkeypatch.setattr("solvers.regret.matrix_play._WORK_PER_CALL", 500)
    run = events(RPS, RegretMatching(1_000))

    steps = [event.done for event in run if isinstance(event, Progress)]

    assert max(b - a for a, b in itertools.pairwise(steps)) == 500 // (18 + 48)
    assert steps == sorted(steps)


def test_stop_delivers_the_rows_so_far():
    run = events(RPS, RegretMatching(100_000, LOPSIDED))
    event = next(one for one in run if isinstance(one, Progress) and one.done == 100)
    assert 0 < event.metrics["exploitability"] < 1

    result = run.throw(Stop())

    assert not result.complete
    assert result.tables["curve"] == curve(RPS, RegretMatching(100, LOPSIDED))
    assert next(run, None) is None


def test_stop_between_recorded_iterations_adds_no_row(monkeypatch):
    monkeypatch.setattr("solvers.regret.matrix_play._WORK_PER_CALL", 500)
    run = events(RPS, RegretMatching(1_000, LOPSIDED))
    stopped = next(one for one in run if isinstance(one, Progress) and one.done == 107)

    result = run.throw(Stop())

    assert not stopped.metrics
    assert not result.complete
    assert result.tables["curve"] == curve(RPS, RegretMatching(100, LOPSIDED))


def test_stop_when_all_is_done_is_complete():
    run = events(RPS, RegretMatching(1_234, LOPSIDED))
    next(one for one in run if isinstance(one, Checkpoint) and one.step == 1_234)

    result = run.throw(Stop())

    assert result.complete
    assert result.tables["curve"] == curve(RPS, RegretMatching(1_234, LOPSIDED))


def test_progress_is_sparse_and_the_result_comes_once_and_last():
    seen = list(events(RPS, RegretMatching(100_000, LOPSIDED)))

    assert sum(isinstance(event, Progress) for event in seen) == 41
    assert [type(event) for event in seen].count(Result) == 1
    assert seen[-1].metrics["exploitability"] == pytest.approx(0.00306, abs=1e-5)
    assert seen[-1].complete


# ---- refusals ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"iterations": 0}, "iterations"),
        ({"start": [[1, 2, 3]]}, "start"),
        ({"start": [[1, 2, 3], [1, "x", 3]]}, "start[1][1]"),
        ({"start": [[1, 2, 3], [1, 2, 3]], "opponent": [0.5, 0.5, 0]}, "start"),
        ({"start": [], "opponent": [0.5, 0.5, 0]}, "start"),
        ({"start": [[0, 0, "1e200"], [0, 0, 0]]}, "start[0][2]"),
        ({"opponent": [0.5, -0.5, 1]}, "opponent[1]"),
        ({"opponent": [0.5, 0.5, 0.1]}, "opponent"),
        ({"opponent": []}, "opponent"),
    ],
)
def test_fields_out_of_range_are_refused_with_their_path(fields, path):
    with pytest.raises(ConfigError) as refused:
        make(RegretMatching, **fields)

    assert refused.value.path == path


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_that_are_none_are_refused(bad):
    with pytest.raises(ConfigError):
        RegretMatching(start=((bad,), (0.0,)))
    with pytest.raises(ConfigError):
        RegretMatching(opponent=(bad, 1.0))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"start": ((1.0,), (1.0,) * 4)}, "solver.start[0]"),
        ({"start": ((1.0,) * 3, (1.0,) * 3)}, "solver.start[1]"),
        ({"opponent": (0.5, 0.5)}, "solver.opponent"),
    ],
)
def test_lengths_that_do_not_fit_the_game_are_refused(fields, path):
    with pytest.raises((ImpossiblePairing, InfeasibleGame)) as refused:
        curve(OBLONG, RegretMatching(10, **fields))

    assert str(refused.value).startswith(f"{path}: expected a list of ")


def test_payoffs_beyond_float_are_refused():
    with pytest.raises(InfeasibleGame) as refused:
        curve(matrix((0, 0), (10**400, 1)), RegretMatching(10))

    assert str(refused.value).startswith("the payoff of r1 against c0 is beyond 1e+150")
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize(("payoff", "is_refused"), [("1e400", True), ("-1e151", True), ("1e150", False), ("1/3", False)])
def test_payoffs_beyond_float_are_refused_while_planning(payoff, is_refused):
    game = make(Matrix, payoffs=[["0", payoff], ["0", "1"]])

    reason = refusal(game, RegretMatching())

    assert (reason is not None) == is_refused
    assert reason is None or "the payoff of r1 against c2 is beyond 1e+150" in reason


def test_large_games_are_not_looked_through_while_planning():
    class Large:
        shape = (1_000, 1_000)

    assert RegretMatching().refuses(Large()) is None


def test_an_opponent_rounded_a_little_is_still_a_distribution():
    found = curve(RPS, RegretMatching(10, opponent=(0.3333333333, 0.3333333333, 0.3333333333))).to_pylist()[-1]

    assert math.fsum(found["y"]) == pytest.approx(1, abs=1e-15)


def test_the_config_spells_every_default():
    node = yaml.safe_load((ROOT / "conf/solver/regret_matching.yaml").read_text())

    assert build(node) == RegretMatching()
    assert node.keys() == {"_target_", *(one.name for one in dataclasses.fields(RegretMatching))}


def test_cost_grows_with_iterations_and_size():
    class Known:
        shape = (100, 100)

    small, long, large = (RegretMatching(10**5).cost(RPS), RegretMatching(10**6).cost(RPS), RegretMatching(10**5).cost(Known()))

    assert small < long
    assert small < large
