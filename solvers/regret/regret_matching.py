"""How fast do two players who only follow their regrets come near an equilibrium of a zero-sum matrix game?

Regret matching (Hart & Mas-Colell 2000): an action's regret is what it would have earned over all iterations so far beyond what was
earned; a player plays each action in proportion to its positive regret. Both players move at once, and expected payoffs are used,
not sampled ones, so nothing is random. The *average* strategies approach an equilibrium: the exploitability falls at least like
1 / sqrt(iterations). The strategies of single iterations need not converge, and mostly circle.

What it cannot do: name an equilibrium exactly, or say where it would end. The table tells how good each recorded profile is, and
that is all it claims.

Rules
-----
1. Iteration 1 plays the initial regrets; with none positive, uniformly. Its payoffs then update the regrets, and so on.
2. `last` at iteration t is the strategy *played* in iteration t, `average` the mean of those played in 1..t; equal at t = 1.
3. Recorded iterations are 1 to 9, then ten a decade, 10 13 16 20 25 32 40 50 63 80 times a power of ten; and the very last one.
   The very last one is no part of a checkpoint, so that extended and fresh runs agree.
4. Each iteration reads its numbers from memory and writes them back: how many are done in one call changes no bit.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Event, Game, Progress, Result, Stop, Workers
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.schema import Curve, TableInfo, column, table_schema

Floats = NDArray[np.float64]
Start = tuple[tuple[float, ...], ...]

_DECADE = (10, 13, 16, 20, 25, 32, 40, 50, 63, 80)  # the preferred numbers R10, rounded
_SAVED = (1, 2, 5)  # a checkpoint at each of these times a power of ten, ...
_FIRST_SAVED = 1_000  # ... from here on
_FIRST_REPORTED = 10
_LARGEST_PAYOFF = 10**150  # regrets stay finite for as long as anybody can wait
_LOOKED_THROUGH = 10_000  # payoffs that are looked through while planning: some milliseconds
_WORK_PER_CALL = 100_000_000  # payoffs looked at between two chances to stop: about a tenth of a second
_SUM_TOLERANCE = 1e-9

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
            Curve("iteration", ("exploitability",), by=("iterate",), log_x=True, log_y=True, title="exploitability"),
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


@dataclass(frozen=True, slots=True)
class RegretMatching:
    """Play a zero-sum matrix game against oneself by regret matching.

    Time: about 55 ns for an iteration of a 3 x 3 game, 2 us for 100 x 100 (most actions soon have probability 0 and cost nothing).
    Memory: two copies of the matrix. Nothing is random; numbers are float64.

    Attributes
    ----------
    iterations
        How many, at least 1.
    start
        Initial regrets: a list for player 1 (one number for each row) and one for player 2 (for each column), in payoff units, of
        any sign; with a fixed opponent the list of player 1 alone. None: zeros.
    opponent
        Player 2's fixed mix, a probability for each column. Then only player 1 learns, and what he learns is the best reply:
        `gain_p1` of the average falls to 0. `y` is the opponent throughout, and `exploitability` is still that of the
        profile, so it need not vanish. None: player 2 learns too.

    Raises
    ------
    ConfigError
        If a field is out of range; while solving, if `start` or `opponent` has not one number for each action.
    InfeasibleGame
        While solving, if a payoff is beyond 1e150 (of most games that is found while planning).

    References
    ----------
    Hart & Mas-Colell 2000, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 68 (the rule; ours uses
    unconditional regrets and expected payoffs); Neller & Lanctot 2013, "An introduction to counterfactual regret minimization"
    (rock-paper-scissors, a fixed opponent).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.inline import InlineWorkers
    >>> payoffs = tuple(tuple(map(Fraction, row)) for row in ((0, -1, 1), (1, 0, -1), (-1, 1, 0)))
    >>> game = MatrixGame(payoffs, ("rock", "paper", "scissors"), ("rock", "paper", "scissors"))
    >>> solver = RegretMatching(iterations=10_000, opponent=(0.6, 0.3, 0.1))
    >>> *_, result = solver.solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> average = result.tables["curve"].to_pylist()[-1]
    >>> [round(p, 3) for p in average["x"]], round(average["value_p1"], 3)
    ([0.0, 1.0, 0.0], 0.5)
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 100_000
    start: Start | None = None
    opponent: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError("iterations", "at least 1", repr(self.iterations))
        if self.start is not None:
            _refuse_start(self.start, players=2 if self.opponent is None else 1)
        if self.opponent is not None:
            _refuse_mix(self.opponent)

    def refuses(self, game: Game) -> str | None:
        """Say which setting has not as many numbers as the game has actions, or which payoff is too large for float64.

        None if all fit, or if it takes solving to know: the game does not tell its `shape`, or is too large to look through now.
        """
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None:
            return None
        is_small = shape[0] * shape[1] <= _LOOKED_THROUGH
        return self._misfit(*shape) or (_excess(game.form(MatrixGame)) if is_small else None)

    def cost(self, game: Game) -> float:
        """Estimate seconds; a game that does not tell its `shape` before its form is built is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + self.iterations * (4e-8 + 5e-9 * (m + n) + 2e-10 * m * n)

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        misfit = self._misfit(*game.shape)
        if misfit is not None:
            raise InfeasibleGame(misfit)
        play = _Play(game, self.start, self.opponent)
        if resume is not None:
            play.load(resume)
        with contextlib.suppress(Stop):
            yield from self._run(play)
        if play.done == self.iterations and not play.is_recorded:
            play.record()
        yield play.result(complete=play.done == self.iterations)

    def _run(self, play: _Play) -> Iterator[Event]:
        while play.done < self.iterations:
            due = min(next_recorded(play.done), self.iterations)
            play.advance(min(due - play.done, play.most_steps))
            if next_recorded(play.done - 1) == play.done:
                play.record()
                if play.done >= _FIRST_REPORTED:
                    yield Progress(play.done, self.iterations, {"exploitability": play.exploitability})
                if _is_saved(play.done) and play.done < self.iterations:
                    yield play.checkpoint()
            elif play.done < self.iterations:
                yield Progress(play.done, self.iterations)
        yield play.checkpoint()

    def _misfit(self, rows: int, columns: int) -> str | None:
        wanted = ((rows, "row"), (columns, "column"))
        given = [(f"start[{player}]", mix, *wanted[player]) for player, mix in enumerate(self.start or ())]
        if self.opponent is not None:
            given.append(("opponent", self.opponent, *wanted[1]))
        for path, mix, count, kind in given:
            if len(mix) != count:
                return f"solver.{path} needs {count} numbers, one for each {kind}, and has {len(mix)}"
        return None


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


# ---- refusals ----------------------------------------------------------------------------------------------------------------


def _refuse_start(start: Start, players: int) -> None:
    if len(start) != players:
        wanted = "two lists of regrets, one for each player" if players > 1 else "one list of regrets, that of player 1"
        raise ConfigError("start", wanted, f"{len(start)}", "" if players > 1 else "player 2 has a fixed mix and learns nothing")
    for player, regrets in enumerate(start):
        for index, regret in enumerate(regrets):
            if not abs(regret) <= _LARGEST_PAYOFF:
                raise ConfigError(f"start[{player}][{index}]", f"a number within {_LARGEST_PAYOFF:g} of 0", repr(regret))


def _refuse_mix(mix: tuple[float, ...]) -> None:
    for index, probability in enumerate(mix):
        if not 0 <= probability <= 1:
            raise ConfigError(f"opponent[{index}]", "a probability", repr(probability))
    total = math.fsum(mix)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ConfigError("opponent", "probabilities that sum to 1", f"a sum of {total:.12g}")


def _excess(game: MatrixGame) -> str | None:
    """Say which payoff is too large, without its digits; None if none is."""
    largest, i, j = max((abs(payoff), i, j) for i, row in enumerate(game.payoffs) for j, payoff in enumerate(row))
    if largest <= _LARGEST_PAYOFF:
        return None
    where = f"{game.row_actions[i]} against {game.column_actions[j]}"
    return f"the payoff of {where} is beyond {_LARGEST_PAYOFF:g} and regret matching counts in float64: scale the payoffs down"


# ---- the state of a run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One recorded iteration: the profiles `[2, m + n]` (last, average; player 1's part first), and their measures `[2, 4]`."""

    iteration: int
    profiles: Floats
    measures: Floats


@dataclass(slots=True)
class _Play:
    """A run: the matrix, the state after `done` iterations, the rows recorded so far.

    The state is `[3, m + n]`: regrets, sums of strategies, strategies played last; in each, player 1's part comes first.
    """

    game: MatrixGame
    start: Start | None
    opponent: tuple[float, ...] | None
    payoffs: Floats = field(init=False)
    payoffs_by_column: Floats = field(init=False)
    state: Floats = field(init=False)
    done: int = 0
    recorded: list[_Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        m, n = self.game.shape
        self.payoffs = _as_floats(self.game)
        self.payoffs_by_column = np.ascontiguousarray(self.payoffs.T)
        self.state = np.zeros((3, m + n))
        regrets, _, played = self.state
        if self.start is not None:
            given = list(itertools.chain(*self.start))
            regrets[: len(given)] = given
        if self.opponent is not None:
            played[m:] = np.array(self.opponent) / math.fsum(self.opponent)

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
        _iterate(self.payoffs, self.payoffs_by_column, self.state, steps, self.opponent is None)
        self.done += steps

    def record(self) -> None:
        profiles = np.stack([self.state[2], self._average()])
        measures = np.array([_measure(self.payoffs, self.payoffs_by_column, profile) for profile in profiles])
        self.recorded.append(_Row(self.done, profiles, measures))

    def _average(self) -> Floats:
        m, _ = self.game.shape
        _, sums, played = self.state
        x = sums[:m] / sums[:m].sum()
        y = played[m:] if self.opponent is not None else sums[m:] / sums[m:].sum()
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


def _as_floats(game: MatrixGame) -> Floats:
    excess = _excess(game)
    if excess is not None:
        raise InfeasibleGame(excess)
    return np.array([[float(payoff) for payoff in row] for row in game.payoffs])


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _iterate(payoffs: Floats, payoffs_by_column: Floats, state: Floats, steps: int, both_learn: bool) -> None:  # noqa: FBT001
    """Do `steps` iterations in place.

    Regrets, sums, strategies: r, s, x are player 1's, q, c, y player 2's; u, w what each pure action earns player 1.
    """
    m, n = payoffs.shape
    r, s, x = state[0, :m], state[1, :m], state[2, :m]
    q, c, y = state[0, m:], state[1, m:], state[2, m:]
    u, w = np.empty(m), np.empty(n)
    for _ in range(steps):
        _match(r, x)
        if both_learn:
            _match(q, y)
        _mix(payoffs_by_column, y, u)
        value = 0.0
        for i in range(m):
            value += x[i] * u[i]
        for i in range(m):
            r[i] += u[i] - value
            s[i] += x[i]
        if both_learn:
            _mix(payoffs, x, w)
            for j in range(n):
                q[j] += value - w[j]
                c[j] += y[j]


@njit(cache=True)
def _match(regrets: Floats, strategy: Floats) -> None:
    """Write the strategy in proportion to positive regrets; uniform if there are none."""
    total = 0.0
    for i in range(len(regrets)):
        strategy[i] = max(0.0, regrets[i])
        total += strategy[i]
    for i in range(len(regrets)):
        strategy[i] = strategy[i] / total if total > 0 else 1 / len(regrets)


@njit(cache=True)
def _mix(rows: Floats, weights: Floats, out: Floats) -> None:
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
    _mix(payoffs_by_column, y, u)
    _mix(payoffs, x, w)
    best_p1, best_p2 = u.max(), w.min()
    gain_p1 = gain_p2 = value = 0.0
    for i in range(m):
        gain_p1 += x[i] * (best_p1 - u[i])
        value += x[i] * u[i]
    for j in range(n):
        gain_p2 += y[j] * (w[j] - best_p2)
    return (gain_p1 + gain_p2) / 2, gain_p1, gain_p2, value
