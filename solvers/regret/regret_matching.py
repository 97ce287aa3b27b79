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
2. What is recorded, and when, is the same for all learners: `solvers.regret.curves`.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numba import njit

from solvers.contract import Checkpoint, Event, Game, Workers
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.regret.curves import CURVE, LARGEST_PAYOFF, LOOKED_THROUGH, Floats, Play, excess_of, mix, run

Start = tuple[tuple[float, ...], ...]

_SUM_TOLERANCE = 1e-9


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

    def refuses(self, game: Game) -> str | ImpossiblePairing | None:
        """Say which setting has not as many numbers as the game has actions, or which payoff is too large for float64.

        None if all fit, or if it takes solving to know: the game does not tell its `shape`, or is too large to look through now.
        """
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None:
            return None
        is_small = shape[0] * shape[1] <= LOOKED_THROUGH
        return self._misfit(*shape) or (excess_of(game.form(MatrixGame)) if is_small else None)

    def cost(self, game: Game) -> float:
        """Estimate seconds; a game that does not tell its `shape` before its form is built is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + self.iterations * (4e-8 + 5e-9 * (m + n) + 2e-10 * m * n)

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        misfit = self._misfit(*game.shape)
        if misfit is not None:
            raise InfeasibleGame(str(misfit.under("solver")))
        play = Play(game, functools.partial(_iterate, self.opponent is None), fixed_opponent=self.opponent is not None)
        m, _ = game.shape
        regrets, _, played = play.state
        if self.start is not None:
            given = list(itertools.chain(*self.start))
            regrets[: len(given)] = given
        if self.opponent is not None:
            played[m:] = np.array(self.opponent) / math.fsum(self.opponent)
        yield from run(play, self.iterations, resume)

    def _misfit(self, rows: int, columns: int) -> ImpossiblePairing | None:
        wanted = ((rows, "row"), (columns, "column"))
        given = [(f"start[{player}]", mix, *wanted[player]) for player, mix in enumerate(self.start or ())]
        if self.opponent is not None:
            given.append(("opponent", self.opponent, *wanted[1]))
        for path, numbers, count, kind in given:
            if len(numbers) != count:
                return ImpossiblePairing(path, f"a list of {count}, a number for each {kind} of the game", f"{len(numbers)}")
        return None


# ---- refusals ----------------------------------------------------------------------------------------------------------------


def _refuse_start(start: Start, players: int) -> None:
    if len(start) != players:
        wanted = "two lists of regrets, one for each player" if players > 1 else "one list of regrets, that of player 1"
        raise ConfigError("start", wanted, f"{len(start)}", "" if players > 1 else "player 2 has a fixed mix and learns nothing")
    for player, regrets in enumerate(start):
        for index, regret in enumerate(regrets):
            if not abs(regret) <= LARGEST_PAYOFF:
                raise ConfigError(f"start[{player}][{index}]", f"a number within {LARGEST_PAYOFF:g} of 0", repr(regret))


def _refuse_mix(mix: tuple[float, ...]) -> None:
    for index, probability in enumerate(mix):
        if not 0 <= probability <= 1:
            raise ConfigError(f"opponent[{index}]", "a probability", repr(probability))
    total = math.fsum(mix)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ConfigError("opponent", "probabilities that sum to 1", f"a sum of {total:.12g}")


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _iterate(  # noqa: PLR0917 (numba takes positions)
    both_learn: bool,  # noqa: FBT001
    payoffs: Floats,
    payoffs_by_column: Floats,
    state: Floats,
    done: int,
    steps: int,
) -> None:
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
        mix(payoffs_by_column, y, u)
        value = 0.0
        for i in range(m):
            value += x[i] * u[i]
        for i in range(m):
            r[i] += u[i] - value
            s[i] += x[i]
        if both_learn:
            mix(payoffs, x, w)
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
