"""Learning curves of two players of a zero-sum matrix game: their table, which iterations it holds, and a run that fills it.

A learner is a kernel that does some iterations on a state in place; everything else is the same for all of them.

Rules
-----
1. `last` at iteration t is the strategy *played* in iteration t, `average` the mean of those played in 1..t; equal at t = 1.
2. Recorded iterations are 1 to 9, then ten a decade, 10 13 16 20 25 32 40 50 63 80 times a power of ten; and the very last one.
   The very last one is no part of a checkpoint, so that extended and fresh runs agree.
3. Each iteration reads its numbers from memory and writes them back: how many are done in one call changes no bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Event, Progress, Result, Stop
from solvers.errors import InfeasibleGame
from solvers.forms import MatrixGame
from solvers.schema import Curve, TableInfo, column, table_schema

Floats = NDArray[np.float64]
Iterate = Callable[[Floats, Floats, Floats, int, int], None]
"""`iterate(payoffs, payoffs_by_column, state, done, steps)` does the iterations done + 1 ... done + steps in place."""

LARGEST_PAYOFF = 10**150
"""Sums of payoffs stay finite for as long as anybody can wait."""
LOOKED_THROUGH = 10_000
"""Games of more payoffs are not looked through while planning; these take some milliseconds."""

_DECADE = (10, 13, 16, 20, 25, 32, 40, 50, 63, 80)  # the preferred numbers R10, rounded
_SAVED = (1, 2, 5)  # a checkpoint at each of these times a power of ten, ...
_FIRST_SAVED = 1_000  # ... from here on
_FIRST_REPORTED = 10
_WORK_PER_CALL = 100_000_000  # payoffs looked at between two chances to stop: about a tenth of a second

_MEASURES = ("exploitability", "gain_p1", "gain_p2", "value_p1")
_FLOATS = pa.list_(pa.float64())

CURVE = table_schema(
    [
        column("iteration", pa.int64(), "iterations done, from 1"),
        column("iterate", pa.string(), "last: the strategies played in this iteration; average: their mean so far"),
        column("exploitability", pa.float64(), "(gain_p1 + gain_p2) / 2, in payoff units; 0 at an equilibrium of both"),
        column("gain_p1", pa.float64(), "what player 1 would gain by the best reply to y: what is left to learn"),
        column("gain_p2", pa.float64(), "what player 2 would gain by the best reply to x"),
        column("value_p1", pa.float64(), "what player 2 pays player 1 when x meets y"),
        column("x", _FLOATS, "player 1's probabilities, in the order of the rows"),
        column("y", _FLOATS, "player 2's probabilities, in the order of the columns"),
    ],
    TableInfo(
        check="solvers.regret.check:check_curve",
        claims="recomputed",
        headline="last",
        columns=("iteration", "iterate", "exploitability", "value_p1", "x", "y"),
        pictures=(
            Curve("iteration", ("exploitability",), by=("iterate",), log_x=True, log_y=True, title="exploitability", timed=True),
            Curve("iteration", ("gain_p1",), by=("iterate",), log_x=True, log_y=True, title="what player 1 has yet to learn"),
        ),
        about=(
            "How far from an equilibrium the last and the average strategies are, iteration by iteration. Claimed is that each "
            "row's numbers follow from its strategies x and y, and that averages go on from each other; not that the learner was "
            "there. Against a fixed opponent exploitability is that of the pair and need not vanish; gain_p1 is what the learner "
            "has yet to learn."
        ),
    ),
)


def next_recorded(iteration: int) -> int:
    """Return the first recorded iteration after this one.

    Examples
    --------
    >>> [next_recorded(t) for t in (0, 1, 9, 10, 99, 100, 999_999)]
    [1, 2, 10, 13, 100, 130, 1000000]
    """
    if iteration < _DECADE[0]:
        return iteration + 1
    power = int(10 ** (len(str(iteration)) - 2))
    return next((mantissa * power for mantissa in _DECADE if mantissa * power > iteration), 100 * power)


def _is_saved(iteration: int) -> bool:
    text = str(iteration)
    return iteration >= _FIRST_SAVED and int(text[0]) in _SAVED and not text[1:].strip("0")


def excess_of(game: MatrixGame) -> str | None:
    """Say which payoff is too large, without its digits; None if none is."""
    largest, i, j = max((abs(payoff), i, j) for i, row in enumerate(game.payoffs) for j, payoff in enumerate(row))
    if largest <= LARGEST_PAYOFF:
        return None
    where = f"{game.row_actions[i]} against {game.column_actions[j]}"
    return f"the payoff of {where} is beyond {LARGEST_PAYOFF:g} and learners count in float64: scale the payoffs down"


# ---- a run -------------------------------------------------------------------------------------------------------------------


def run(play: Play, iterations: int, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield progress, checkpoints and the result; thrown a `Stop`, the result so far."""
    if resume is not None:
        play.load(resume)
    with contextlib.suppress(Stop):
        yield from _events(play, iterations)
    if play.done == iterations and not play.is_recorded:
        play.record()
    yield play.result(complete=play.done == iterations)


def _events(play: Play, iterations: int) -> Iterator[Event]:
    while play.done < iterations:
        due = min(next_recorded(play.done), iterations)
        play.advance(min(due - play.done, play.most_steps))
        if next_recorded(play.done - 1) == play.done:
            play.record()
            if play.done >= _FIRST_REPORTED:
                yield Progress(play.done, iterations, {"exploitability": play.exploitability})
            if _is_saved(play.done) and play.done < iterations:
                yield play.checkpoint()
        elif play.done < iterations:
            yield Progress(play.done, iterations)
    yield play.checkpoint()


@dataclass(frozen=True, slots=True)
class _Row:
    """One recorded iteration: the profiles `[2, m + n]` (last, average; player 1's part first), and their measures `[2, 4]`."""

    iteration: int
    profiles: Floats
    measures: Floats


@dataclass(slots=True)
class Play:
    """A run: the matrix, the state after `done` iterations, the rows recorded so far.

    The state is `[3, m + n]`: what the learner remembers, sums of strategies, strategies played last; in each, player 1's part
    comes first. With a `fixed_opponent` player 2's part of the last is his strategy throughout.
    """

    game: MatrixGame
    iterate: Iterate
    fixed_opponent: bool = False
    payoffs: Floats = field(init=False)
    payoffs_by_column: Floats = field(init=False)
    state: Floats = field(init=False)
    done: int = 0
    recorded: list[_Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.payoffs = as_floats(self.game)
        self.payoffs_by_column = np.ascontiguousarray(self.payoffs.T)
        self.state = np.zeros((3, sum(self.game.shape)))

    @property
    def most_steps(self) -> int:
        """How many iterations one call may do."""
        m, n = self.game.shape
        return max(1, _WORK_PER_CALL // (2 * m * n + 8 * (m + n)))

    @property
    def is_recorded(self) -> bool:
        return bool(self.recorded) and self.recorded[-1].iteration == self.done

    @property
    def exploitability(self) -> float:
        """That of the average strategies recorded last."""
        return float(self.recorded[-1].measures[1, 0])

    def advance(self, steps: int) -> None:
        self.iterate(self.payoffs, self.payoffs_by_column, self.state, self.done, steps)
        self.done += steps

    def record(self) -> None:
        profiles = np.stack([self.state[2], self._average()])
        measures = np.array([_measure(self.payoffs, self.payoffs_by_column, profile) for profile in profiles])
        self.recorded.append(_Row(self.done, profiles, measures))

    def _average(self) -> Floats:
        m, _ = self.game.shape
        _, sums, played = self.state
        x = sums[:m] / sums[:m].sum()
        y = played[m:] if self.fixed_opponent else sums[m:] / sums[m:].sum()
        return np.concatenate([x, y])

    def checkpoint(self) -> Checkpoint:
        rows = self.recorded
        width = sum(self.game.shape)
        return Checkpoint(
            self.done,
            {
                "state": self.state,
                "iterations": np.array([row.iteration for row in rows], dtype=np.int64),
                "profiles": np.array([row.profiles for row in rows]).reshape(-1, 2, width),
                "measures": np.array([row.measures for row in rows]).reshape(-1, 2, len(_MEASURES)),
            },
        )

    def load(self, saved: Checkpoint) -> None:
        arrays = saved.arrays
        self.done = saved.step
        self.state = arrays["state"].copy()
        rows = zip(arrays["iterations"], arrays["profiles"], arrays["measures"], strict=True)
        self.recorded = [_Row(int(iteration), profiles.copy(), measures.copy()) for iteration, profiles, measures in rows]

    def result(self, *, complete: bool) -> Result:
        m, _ = self.game.shape
        profiles = [profile for row in self.recorded for profile in row.profiles]
        measures = np.array([row.measures for row in self.recorded]).reshape(-1, len(_MEASURES))
        columns = {
            "iteration": [row.iteration for row in self.recorded for _ in row.profiles],
            "iterate": ["last", "average"] * len(self.recorded),
            **{name: measures[:, index] for index, name in enumerate(_MEASURES)},
            "x": [profile[:m] for profile in profiles],
            "y": [profile[m:] for profile in profiles],
        }
        metrics = {"exploitability": self.exploitability, "iterations": float(self.done)} if self.recorded else {}
        return Result({"curve": pa.table(columns, schema=CURVE)}, metrics, complete)


def as_floats(game: MatrixGame) -> Floats:
    """Return the payoffs `[m, n]`.

    Raises
    ------
    InfeasibleGame
        If one is beyond `LARGEST_PAYOFF`.
    """
    excess = excess_of(game)
    if excess is not None:
        raise InfeasibleGame(excess)
    return np.array([[float(payoff) for payoff in row] for row in game.payoffs])


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def mix(rows: Floats, weights: Floats, out: Floats) -> None:
    """Write `weights @ rows`; rows of weight 0 (there are many) cost nothing."""
    out[:] = 0.0
    for i in range(len(weights)):
        if weights[i] > 0:
            for j in range(len(out)):
                out[j] += weights[i] * rows[i, j]


@njit(cache=True)
def _measure(payoffs: Floats, payoffs_by_column: Floats, profile: Floats) -> tuple[float, float, float, float]:
    """Return exploitability, gain_p1, gain_p2, value_p1; gains as sums of shortfalls, none of which is negative."""
    m, n = payoffs.shape
    x, y = profile[:m], profile[m:]
    u, w = np.empty(m), np.empty(n)
    mix(payoffs_by_column, y, u)
    mix(payoffs, x, w)
    best_p1, best_p2 = u.max(), w.min()
    gain_p1 = gain_p2 = value = 0.0
    for i in range(m):
        gain_p1 += x[i] * (best_p1 - u[i])
        value += x[i] * u[i]
    for j in range(n):
        gain_p2 += y[j] * (w[j] - best_p2)
    return (gain_p1 + gain_p2) / 2, gain_p1, gain_p2, value
