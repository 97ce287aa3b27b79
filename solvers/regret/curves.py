"""Learning curves of two players of a zero-sum game: their table, which iterations it holds, and the events of a run.

A learner does some iterations on a state in place; everything else is the same for all of them.

Rules
-----
1. `last` at iteration t is the strategy *played* in iteration t, `average` the mean of those played in 1..t, iteration s weighing
   s^gamma; equal at t = 1.
2. Recorded iterations are 1 to 9, then ten a decade, 10 13 16 20 25 32 40 50 63 80 times a power of ten; and the very last one.
   The very last one is no part of a checkpoint, so that extended and fresh runs agree.
3. Each iteration reads its numbers from memory and writes them back: how many are done in one call changes no bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Event, Progress, Result, Stop
from solvers.schema import Curve, Histogram, TableInfo, column, table_schema

Floats = NDArray[np.float64]

MOST_ITERATIONS = 10**15
"""Beyond, iterations could not be told apart in float64 weights; nobody can wait so long."""

_DECADE = (10, 13, 16, 20, 25, 32, 40, 50, 63, 80)  # the preferred numbers R10, rounded
_SAVED = (1, 2, 5)  # a checkpoint at each of these times a power of ten, ...
_FIRST_SAVED = 1_000  # ... from here on
_FIRST_REPORTED = 10

MEASURES = ("exploitability", "gain_p1", "gain_p2", "value_p1")
_FLOATS = pa.list_(pa.float64())

CURVE = table_schema(
    [
        column("iteration", pa.int64(), "iterations done, from 1"),
        column("iterate", pa.string(), "last: the strategies played in this iteration; average: their mean so far"),
        column("exploitability", pa.float64(), "(gain_p1 + gain_p2) / 2, in payoff units; 0 at an equilibrium of both"),
        column("gain_p1", pa.float64(), "what player 1 would gain by the best reply to y: what is left to learn"),
        column("gain_p2", pa.float64(), "what player 2 would gain by the best reply to x"),
        column("value_p1", pa.float64(), "what player 2 pays player 1 when x meets y"),
        column("milli_antes", pa.float64(), "exploitability in thousandths of an ante; null of games that have none"),
        column("pot_percent", pa.float64(), "exploitability in percent of the first pot, two antes; null likewise"),
        column("gamma", pa.float64(), "iteration t weighs t^gamma in the average; null: averages are sampled, or of another kind"),
        column("x", _FLOATS, "player 1's probabilities: of the rows; of a tree, of all his actions, set by set"),
        column("y", _FLOATS, "player 2's probabilities likewise: of the columns; of all his actions"),
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
        drawing="solvers.regret.draw:draw_triangles",
        about=(
            "How far from an equilibrium the last and the average strategies are, iteration by iteration. Claimed is that each "
            "row's numbers follow from its strategies x and y, and that averages go on from each other; not that the learner was "
            "there. Against a fixed opponent exploitability is that of the pair and need not vanish; gain_p1 is what the learner "
            "has yet to learn."
        ),
    ),
)


RATES = table_schema(
    [
        column("from_iteration", pa.int64(), "the slopes are those of recorded iterations from here ..."),
        column("to_iteration", pa.int64(), "... to here, the last one: two decades, or all there are"),
        column("exponent_average", pa.float64(), "exploitability of the averages falls like t^exponent; null: too few above 0"),
        column("exponent_last", pa.float64(), "that of the strategies played likewise"),
    ],
    TableInfo(
        check="solvers.regret.check:check_rates",
        claims="recomputed",
        headline="each",
        pictures=(
            Histogram(("exponent_average",), title="exponents of convergence: averages"),
            Histogram(("exponent_last",), title="exponents of convergence: strategies played"),
        ),
        about=(
            "How fast exploitability falls: the least-squares slope of its logarithm over that of the iteration, in the last two "
            "decades of the curve; one row."
        ),
    ),
)
_DECADES = 100
_FEWEST = 3


def exponents(iterations: NDArray[np.int64], exploitability: Floats) -> tuple[int, Floats]:
    """Return the first iteration that counts, and the slopes of log exploitability over log iteration.

    Parameters
    ----------
    iterations
        `[rows]`, ascending.
    exploitability
        `[rows, ...]`; what is not above 0 does not count.

    Returns
    -------
    int, array
        The slopes `[...]`; nan where fewer than three rows count.

    Examples
    --------
    >>> times = np.array([1, 10, 100, 1000])
    >>> exponents(times, 1 / np.sqrt(times))
    (10, array(-0.5))
    """
    counted = iterations * _DECADES >= iterations[-1]
    there = exploitability[counted]
    x = np.log(iterations[counted].astype(np.float64)).reshape(-1, *[1] * (there.ndim - 1))
    positive = there > 0
    number = positive.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(np.where(positive, there, 1.0))
        x_mean, y_mean = (np.where(positive, one, 0.0).sum(axis=0) / number for one in (x, y))
        x_off = np.where(positive, x - x_mean, 0.0)
        slopes = (x_off * (y - y_mean)).sum(axis=0) / (x_off**2).sum(axis=0)
    return int(iterations[counted][0]), np.where(number >= _FEWEST, slopes, np.nan)


def rates(iterations: NDArray[np.int64], exploitability: Floats) -> pa.Table:
    """Return `rates` of some games, a row each; `exploitability` `[rows, games, 2]`, of last and average strategies."""
    if not len(iterations):
        return RATES.empty_table()
    first, slopes = exponents(iterations, exploitability)
    games = len(slopes)
    last, average = (pa.array(np.ascontiguousarray(slopes[:, place]), from_pandas=True) for place in (0, 1))
    ends = [pa.array(np.full(games, one, np.int64)) for one in (first, iterations[-1])]
    return pa.table([*ends, average, last], schema=RATES)


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


def stakes(exploitability: Floats, ante: Fraction | None) -> dict[str, list[float | None]]:
    """Return what exploitability is as players of poker count it."""
    if ante is None:
        nothing: list[float | None] = [None] * len(exploitability)
        return {"milli_antes": nothing, "pot_percent": nothing}
    return {
        "milli_antes": (exploitability * (1000 / float(ante))).tolist(),
        "pot_percent": (exploitability * (100 / (2 * float(ante)))).tolist(),
    }


# ---- a run -------------------------------------------------------------------------------------------------------------------


class Run(Protocol):
    """Self-play of any kind: what it does between recorded iterations, and what it keeps."""

    done: int

    @property
    def most_steps(self) -> int: ...

    @property
    def is_recorded(self) -> bool: ...

    @property
    def exploitability(self) -> float: ...

    def advance(self, steps: int) -> None: ...

    def record(self) -> None: ...

    def checkpoint(self) -> Checkpoint: ...

    def load(self, saved: Checkpoint) -> None: ...

    def result(self, *, complete: bool) -> Result: ...


def run(play: Run, iterations: int, resume: Checkpoint | None) -> Iterator[Event]:
    """Yield progress, checkpoints and the result; thrown a `Stop`, the result so far."""
    if resume is not None:
        play.load(resume)
    with contextlib.suppress(Stop):
        yield from _events(play, iterations)
    if play.done == iterations and not play.is_recorded:
        play.record()
    yield play.result(complete=play.done == iterations)


def _events(play: Run, iterations: int) -> Iterator[Event]:
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
