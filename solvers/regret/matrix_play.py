"""Runs of learners on zero-sum matrix games: what is recorded of them; thousands of small games at once.

What `solve_batch` of these solvers leaves out: checkpoints, and so going on with more iterations later. That loses nothing: the
pipeline stores a checkpoint only of points that take seconds (or batches none if told to store every one), and a batch takes no
game that would take longer than `MOST_SECONDS` alone. It refuses the others, and each is then solved by itself, saved as it goes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numba import njit

from solvers.contract import Checkpoint, Game, Result
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.regret.curves import CURVE, MEASURES, MOST_ITERATIONS, next_recorded, rates, stakes
from solvers.regret.self_play import MEMORY, PLAYED, SUMS, Floats, Rules, mix, play

LARGEST_PAYOFF = 10**150
"""Sums of payoffs stay finite for as long as anybody can wait."""
LOOKED_THROUGH = 10_000
"""Games of more payoffs are not looked through while planning; these take some milliseconds."""
MOST_SECONDS = 0.1
"""What a game of a batch may take alone."""

_WORK_PER_CALL = 100_000_000  # payoffs looked at between two chances to stop: about a tenth of a second
_SUM_TOLERANCE = 1e-9
_MOST_GAMMA = 10


# ---- runs --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """One recorded iteration: profiles `[games, 2, m + n]` (last, average; player 1's part first), measures `[games, 2, 4]`."""

    iteration: int
    profiles: Floats
    measures: Floats


@dataclass(slots=True)
class Play:
    """A run of one game, or of many of one shape side by side: their states after `done` iterations, the rows recorded so far.

    Attributes
    ----------
    memory
        What both players remember before iteration 1, `[m + n]`; None: zeros.
    opponent
        Player 2's fixed mix, `[n]`, or None.
    state
        `[games, 4, m + n]`, see `solvers.regret.self_play`.
    """

    games: Sequence[MatrixGame]
    rules: Rules
    memory: Floats | None = None
    opponent: Floats | None = None
    payoffs: Floats = field(init=False)
    payoffs_by_column: Floats = field(init=False)
    units: Floats = field(init=False)
    state: Floats = field(init=False)
    done: int = 0
    recorded: list[_Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        m, n = self.games[0].shape
        self.payoffs = np.array([as_floats(game) for game in self.games])
        self.payoffs_by_column = np.ascontiguousarray(self.payoffs.transpose(0, 2, 1))
        spreads = self.payoffs.max(axis=(1, 2)) - self.payoffs.min(axis=(1, 2))
        self.units = np.where((spreads > 0) & (self.rules.rate == 0), spreads, 1.0)
        self.state = np.zeros((len(self.games), 4, m + n))
        if self.memory is not None:
            self.state[:, MEMORY] = self.memory
        if self.rules.smooth > 0:
            least = self.rules.smooth * self.units[:, None]
            self.state[:, MEMORY, :m] += least / m
            self.state[:, MEMORY, m:] += least / n
        if self.opponent is not None:
            self.state[:, PLAYED, m:] = self.opponent

    @property
    def most_steps(self) -> int:
        """How many iterations one call may do."""
        m, n = self.games[0].shape
        return max(1, _WORK_PER_CALL // (2 * m * n + 8 * (m + n)))

    @property
    def is_recorded(self) -> bool:
        return bool(self.recorded) and self.recorded[-1].iteration == self.done

    @property
    def exploitability(self) -> float:
        """That of the average strategies recorded last, of the first game."""
        return float(self.recorded[-1].measures[0, 1, 0])

    def advance(self, steps: int) -> None:
        play(self.rules, self.units, self.payoffs, self.payoffs_by_column, self.state, self.done, steps)
        self.done += steps

    def record(self) -> None:
        profiles = np.stack([self.state[:, PLAYED], self._averages()], axis=1)
        self.recorded.append(_Row(self.done, profiles, _measure(self.payoffs, self.payoffs_by_column, profiles)))

    def _averages(self) -> Floats:
        m, _ = self.games[0].shape
        sums = self.state[:, SUMS]
        x = sums[:, :m] / sums[:, :m].sum(axis=1, keepdims=True)
        fixed = self.state[:, PLAYED, m:]
        y = fixed if self.opponent is not None else sums[:, m:] / sums[:, m:].sum(axis=1, keepdims=True)
        return np.concatenate([x, y], axis=1)

    def checkpoint(self) -> Checkpoint:
        rows = self.recorded
        width = self.state.shape[2]
        return Checkpoint(
            self.done,
            {
                "state": self.state,
                "iterations": np.array([row.iteration for row in rows], dtype=np.int64),
                "profiles": np.array([row.profiles for row in rows]).reshape(-1, len(self.games), 2, width),
                "measures": np.array([row.measures for row in rows]).reshape(-1, len(self.games), 2, len(MEASURES)),
            },
        )

    def load(self, saved: Checkpoint) -> None:
        arrays = saved.arrays
        self.done = saved.step
        self.state = arrays["state"].copy()
        rows = zip(arrays["iterations"], arrays["profiles"], arrays["measures"], strict=True)
        self.recorded = [_Row(int(iteration), profiles.copy(), measures.copy()) for iteration, profiles, measures in rows]

    def result(self, *, complete: bool) -> Result:
        table = self.table([0]).drop_columns(["batch_index"])
        metrics = {"exploitability": self.exploitability, "iterations": float(self.done)} if self.recorded else {}
        return Result({"curve": table, "rates": self.rates()}, metrics, complete)

    def rates(self) -> pa.Table:
        """Return `rates` of all games."""
        iterations = np.array([row.iteration for row in self.recorded], np.int64)
        return rates(iterations, np.array([row.measures[:, :, 0] for row in self.recorded]))

    def table(self, places: Sequence[int]) -> pa.Table:
        """Return `curve` of all games, one after the other, with `batch_index` (from `places`) in front."""
        m, n = self.games[0].shape
        rows, games = len(self.recorded), len(self.games)
        height = games * rows * 2
        iterations = np.array([row.iteration for row in self.recorded], np.int64)
        profiles = _by_game([row.profiles for row in self.recorded], games, m + n)
        measures = _by_game([row.measures for row in self.recorded], games, len(MEASURES))
        nothing = pa.nulls(height, pa.float64())
        columns = {
            "batch_index": pa.array(np.repeat(np.asarray(places, np.int32), rows * 2)),
            "iteration": pa.array(np.tile(np.repeat(iterations, 2), games)),
            "iterate": pa.array(["last", "average"]).take(pa.array(np.tile([0, 1], games * rows))),
            **{name: pa.array(measures[:, index]) for index, name in enumerate(MEASURES)},
            **dict.fromkeys(stakes(measures[:0, 0], None), nothing),
            "gamma": pa.array(np.full(height, self.rules.gamma)),
            "x": _lists(profiles[:, :m]),
            "y": _lists(profiles[:, m:]),
        }
        schema = CURVE.insert(0, pa.field("batch_index", pa.int32()))
        return pa.table([columns[name] for name in schema.names], schema=schema)


def _by_game(rows: Sequence[Floats], games: int, width: int) -> Floats:
    """Return recorded numbers `[games, 2, width]` as rows of a table, `[games x rows x 2, width]`."""
    return np.array(rows).reshape(len(rows), games, 2, width).transpose(1, 0, 2, 3).reshape(-1, width)


def _lists(mixes: Floats) -> pa.Array:
    height, width = mixes.shape
    offsets = pa.array(np.arange(height + 1, dtype=np.int32) * width)
    return pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(mixes).ravel()))


def play_together(
    begin: Callable[[Sequence[MatrixGame]], Play],
    games: Sequence[MatrixGame],
    iterations: int,
    seconds: Callable[[MatrixGame], float],
) -> Result:
    """Return what `solve` of each game returns, `batch_index` in front: those of one shape side by side.

    Raises
    ------
    InfeasibleGame
        If a game would take longer alone than `MOST_SECONDS`, as `seconds` estimates; then none is solved.
    """
    shapes: dict[tuple[int, int], list[int]] = {}
    for place, game in enumerate(games):
        shapes.setdefault(game.shape, []).append(place)
    for places in shapes.values():
        took = seconds(games[places[0]])
        if took > MOST_SECONDS:
            said = f"a game that takes about {took:.2g} s is solved by itself, so that it can be stopped and go on"
            raise InfeasibleGame(said)
    tables, slopes = [], []
    exploitability = np.zeros(len(games))
    for places in shapes.values():
        run = begin([games[place] for place in places])
        while run.done < iterations:
            run.advance(min(next_recorded(run.done), iterations) - run.done)
            run.record()
        exploitability[places] = run.recorded[-1].measures[:, 1, 0]
        tables.append(run.table(places))
        slopes.append(run.rates().add_column(0, pa.field("batch_index", pa.int32()), pa.array(places, pa.int32())))
    metrics = {"exploitability": exploitability, "iterations": np.full(len(games), float(iterations))}
    return Result({"curve": _in_order(tables), "rates": _in_order(slopes)}, metrics, np.ones(len(games), np.bool_))


def _in_order(tables: Sequence[pa.Table]) -> pa.Table:
    """Join tables of different games, by `batch_index`."""
    if len(tables) == 1:
        return tables[0]
    table = pa.concat_tables(tables)
    return table.take(np.argsort(table["batch_index"].to_numpy(), kind="stable"))


# ---- refusals ----------------------------------------------------------------------------------------------------------------


def excess_of(game: MatrixGame) -> str | None:
    """Say which payoff is too large, without its digits; None if none is."""
    largest, i, j = max((abs(payoff), i, j) for i, row in enumerate(game.payoffs) for j, payoff in enumerate(row))
    if largest <= LARGEST_PAYOFF:
        return None
    where = f"{game.row_actions[i]} against {game.column_actions[j]}"
    return f"the payoff of {where} is beyond {LARGEST_PAYOFF:g} and learners count in float64: scale the payoffs down"


def excess_while_planning(game: Game) -> str | None:
    """Say the same of a game whose form is not built yet; None if it does not tell its `shape` or is too large to look through."""
    shape: tuple[int, int] | None = getattr(game, "shape", None)
    if shape is None or shape[0] * shape[1] > LOOKED_THROUGH:
        return None
    return excess_of(game.form(MatrixGame))


def as_floats(game: MatrixGame) -> Floats:
    """Return the payoffs `[m, n]`.

    Raises
    ------
    InfeasibleGame
        If one is beyond `LARGEST_PAYOFF`.
    """
    try:
        payoffs = np.array([[float(payoff) for payoff in row] for row in game.payoffs])
        near = float(np.abs(payoffs).max()) >= LARGEST_PAYOFF  # then rounding might tell
    except OverflowError:
        near = True
    excess = excess_of(game) if near else None
    if excess is not None:
        raise InfeasibleGame(excess)
    return payoffs


def refuse_iterations(iterations: int, gamma: float) -> None:
    """Refuse numbers that no learner can use.

    Raises
    ------
    ConfigError
        If there are no iterations, or `gamma` is out of range.
    """
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise ConfigError("iterations", f"1 to {MOST_ITERATIONS:.0e}", repr(iterations))
    if not 0 <= gamma <= _MOST_GAMMA:
        raise ConfigError("gamma", f"a number from 0 to {_MOST_GAMMA}", repr(gamma))


def refuse_mix(mix: tuple[float, ...]) -> None:
    """Refuse an opponent's mix that is none.

    Raises
    ------
    ConfigError
        If a number is no probability, or they do not sum to 1.
    """
    for index, probability in enumerate(mix):
        if not 0 <= probability <= 1:
            raise ConfigError(f"opponent[{index}]", "a probability", repr(probability))
    total = math.fsum(mix)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ConfigError("opponent", "probabilities that sum to 1", f"a sum of {total:.12g}")


def misfit(path: str, numbers: Sequence[float] | None, count: int, kind: str) -> ImpossiblePairing | None:
    """Say that a setting has not one number for each row or column; None if it has, or is not there."""
    if numbers is None or len(numbers) == count:
        return None
    return ImpossiblePairing(path, f"a list of {count}, a number for each {kind} of the game", f"{len(numbers)}")


def opponent_misfit(opponent: Sequence[float] | None, game: Game | MatrixGame) -> ImpossiblePairing | None:
    """Say that an opponent's mix does not fit a game, if the game tells its `shape`."""
    shape: tuple[int, int] | None = getattr(game, "shape", None)
    return misfit("opponent", opponent, shape[1], "column") if shape is not None else None


def normalised(mix: tuple[float, ...] | None) -> Floats | None:
    """Return a mix whose sum is 1 to the last place."""
    return None if mix is None else np.array(mix) / math.fsum(mix)


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _measure(payoffs: Floats, payoffs_by_column: Floats, profiles: Floats) -> Floats:
    """Return exploitability, gain_p1, gain_p2, value_p1 `[games, 2, 4]`; gains as sums of shortfalls, none of which is negative."""
    games, m, n = payoffs.shape
    measures = np.empty((games, 2, 4))
    u, w = np.empty(m), np.empty(n)
    for game in range(games):
        for iterate in range(2):
            x, y = profiles[game, iterate, :m], profiles[game, iterate, m:]
            mix(payoffs_by_column[game], y, u)
            mix(payoffs[game], x, w)
            best_p1, best_p2 = u.max(), w.min()
            gain_p1 = gain_p2 = value = 0.0
            for i in range(m):
                gain_p1 += x[i] * (best_p1 - u[i])
                value += x[i] * u[i]
            for j in range(n):
                gain_p2 += y[j] * (w[j] - best_p2)
            measures[game, iterate, 0] = (gain_p1 + gain_p2) / 2
            measures[game, iterate, 1] = gain_p1
            measures[game, iterate, 2] = gain_p2
            measures[game, iterate, 3] = value
    return measures
