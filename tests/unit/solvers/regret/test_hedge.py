"""Hedge: an independent loop, the published bound, going on, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest

from solvers.builder import make
from solvers.contract import Checkpoint, Progress, Stop
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.games.matrix import Matrix
from solvers.inline import InlineWorkers, last_result, refusal
from solvers.regret.hedge import Hedge


def matrix(*rows):
    payoffs = tuple(tuple(Fraction(payoff) for payoff in row) for row in rows)
    return MatrixGame(payoffs, tuple(f"r{i}" for i in range(len(payoffs))), tuple(f"c{j}" for j in range(len(payoffs[0]))))


OBLONG = matrix(("1/3", -2, 5, 0), (2, "7/2", -1, 1), (-4, 1, 1, "1/7"))


def events(game, solver, resume=None):
    return solver.solve(game, resume=resume, workers=InlineWorkers(), rng=np.random.default_rng(0))


def curve(game, solver, resume=None):
    return last_result(events(game, solver, resume), solver).tables["curve"]


def checkpoints(game, solver):
    """Every checkpoint of a run, copied at receipt."""
    return [
        Checkpoint(event.step, {name: array.copy() for name, array in event.arrays.items()})
        for event in events(game, solver)
        if isinstance(event, Checkpoint)
    ]


def plain_multiplicative_weights(payoffs, iterations, rate):
    """Multiply weights one iteration at a time, in numpy, for a fixed rate: yield last x, last y, average x, average y."""
    a = np.array([[float(one) for one in row] for row in payoffs])
    p, q = np.ones(len(a)), np.ones(len(a[0]))
    xs, ys = [], []
    for _ in range(iterations):
        xs.append(p / p.sum())
        ys.append(q / q.sum())
        p = p * np.exp(rate * (a @ ys[-1]))
        q = q * np.exp(-rate * (xs[-1] @ a))
        yield xs[-1], ys[-1], np.mean(xs, axis=0), np.mean(ys, axis=0)


def test_an_independent_plain_loop_agrees():
    table = {(row["iteration"], row["iterate"]): row for row in curve(OBLONG, Hedge(200, rate=0.05)).to_pylist()}

    for t, (x, y, average_x, average_y) in enumerate(plain_multiplicative_weights(OBLONG.payoffs, 200, 0.05), start=1):
        if t in (1, 2, 3, 10, 130, 200):
            last, average = table[t, "last"], table[t, "average"]
            assert last["x"] + last["y"] == pytest.approx([*x, *y], abs=1e-9)
            assert average["x"] + average["y"] == pytest.approx([*average_x, *average_y], abs=1e-9)


def test_the_falling_rate_by_hand():
    """Two rows against one column: iteration 2 weighs the gain 1 of row 1 by sqrt(8 ln 2 / 2) / spread."""
    rows = curve(matrix((3,), (2,)), Hedge(2)).to_pylist()

    ratio = math.exp(math.sqrt(8 * math.log(2) / 2))
    assert rows[0]["x"] == [0.5, 0.5]
    assert rows[2]["x"] == pytest.approx([ratio / (1 + ratio), 1 / (1 + ratio)])


@pytest.mark.parametrize("seed", range(5))
def test_averages_keep_the_published_bound(seed):
    """Cesa-Bianchi & Lugosi 2006, theorem 2.3: regret <= spread (2 sqrt(T ln(N) / 2) + sqrt(ln(N) / 8))."""
    rng = np.random.default_rng(seed)
    m, n = (int(one) for one in rng.integers(2, 7, 2))
    game = matrix(*rng.integers(-100, 101, (m, n)).tolist())
    entries = [float(one) for row in game.payoffs for one in row]
    spread = max(entries) - min(entries)

    for row in curve(game, Hedge(5000)).to_pylist():
        if row["iterate"] == "average":
            t = row["iteration"]
            bound = sum(2 * math.sqrt(t * math.log(k) / 2) + math.sqrt(math.log(k) / 8) for k in (m, n)) * spread / t
            assert row["gain_p1"] + row["gain_p2"] <= bound + 1e-9


def test_odd_or_even_approaches_its_value():
    """Ferguson, Game Theory, part II: value 1/12, both (7/12, 5/12)."""
    average = curve(matrix((-2, 3), (3, -4)), Hedge(100_000)).to_pylist()[-1]

    assert average["value_p1"] == pytest.approx(1 / 12, abs=0.01)
    assert average["x"] == pytest.approx([7 / 12, 5 / 12], abs=0.01)
    assert average["exploitability"] < 0.02


@pytest.mark.parametrize("rate", [None, 0.01])
def test_resuming_at_every_checkpoint_changes_no_bit(rate):
    solver = Hedge(12_345, rate=rate)
    whole = curve(OBLONG, solver)

    saved = checkpoints(OBLONG, solver)

    assert [one.step for one in saved] == [1_000, 2_000, 5_000, 10_000, 12_345]
    for one in saved:
        assert curve(OBLONG, solver, resume=one) == whole
    longer = Hedge(20_000, rate=rate)
    assert curve(OBLONG, longer, resume=saved[-1]) == curve(OBLONG, longer)


def test_the_number_of_iterations_in_a_call_changes_no_bit(monkeypatch):
    solver = Hedge(3_000)
    whole = curve(OBLONG, solver)

    monkeypatch.setattr("solvers.regret.matrix_play._WORK_PER_CALL", 500)

    assert curve(OBLONG, solver) == whole


def test_stop_delivers_the_rows_so_far():
    run = events(OBLONG, Hedge(100_000))
    next(one for one in run if isinstance(one, Progress) and one.done == 100)

    result = run.throw(Stop())

    assert not result.complete
    assert result.tables["curve"] == curve(OBLONG, Hedge(100))


def test_large_earnings_do_not_overflow():
    rows = curve(matrix((0, 10**6), (10**6, 0)), Hedge(1000, rate=1.0)).to_pylist()

    assert all(math.isfinite(p) for row in rows for p in row["x"])


def test_payoffs_near_the_least_float_are_told_apart():
    rows = curve(matrix(("1e-320", 0), (0, "1e-320")), Hedge(100)).to_pylist()

    assert all(math.isfinite(p) for row in rows for p in row["x"])


def test_a_constant_game_is_learnt_at_once():
    assert curve(matrix((5, 5), (5, 5)), Hedge(10)).to_pylist()[-1]["exploitability"] == 0


@pytest.mark.parametrize(("fields", "path"), [({"iterations": 0}, "iterations"), ({"rate": 0}, "rate"), ({"rate": -1}, "rate")])
def test_fields_out_of_range_are_refused_with_their_path(fields, path):
    with pytest.raises(ConfigError) as refused:
        make(Hedge, **fields)

    assert refused.value.path == path


def test_payoffs_beyond_float_are_refused():
    game = make(Matrix, payoffs=[["0", "1e400"], ["0", "1"]])

    assert "the payoff of r1 against c2 is beyond 1e+150" in refusal(game, Hedge())
    with pytest.raises(InfeasibleGame, match="beyond"):
        curve(game.form(MatrixGame), Hedge(10))
