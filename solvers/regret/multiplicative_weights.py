"""How fast do two players who weigh actions by the exponential of what they would have earned come near an equilibrium?

Multiplicative weights, also called Hedge: a player plays each action in proportion to exp(rate x what it would have earned over
all iterations so far). Both players move at once, and expected payoffs are used, not sampled ones, so nothing is random. The
*average* strategies approach an equilibrium, at least like 1 / sqrt(iterations); those of single iterations move away from it.
A float baseline, to compare other methods with.

What it cannot do: name an equilibrium exactly, or give any action probability 0. The table tells how good each recorded profile
is, and that is all it claims.

Rules
-----
1. Iteration 1 plays uniformly. Its payoffs then add to what each action would have earned, and so on.
2. Without a fixed rate, iteration t uses sqrt(8 ln(actions) / t) / spread, `spread` being the largest payoff minus the smallest.
   It does not ask how many iterations there will be, so a longer run goes on from a shorter one.
3. What is recorded, and when, is the same for all learners: `solvers.regret.curves`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numba import njit

from solvers.contract import Checkpoint, Event, Game, Workers
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.regret.curves import CURVE, LOOKED_THROUGH, Floats, Play, as_floats, excess_of, mix, run


@dataclass(frozen=True, slots=True)
class MultiplicativeWeights:
    """Play a zero-sum matrix game against oneself by multiplicative weights.

    Time: about 0.1 us for an iteration of a 3 x 3 game, 20 us for 100 x 100 (no action is ever out). Memory: two copies of the
    matrix. Nothing is random; numbers are float64.

    Attributes
    ----------
    iterations
        How many, at least 1.
    rate
        A fixed learning rate, per payoff unit, positive; None: falling as rule 2 says.

    Raises
    ------
    ConfigError
        If a field is out of range.
    InfeasibleGame
        While solving, if a payoff is beyond 1e150 (of most games that is found while planning).

    References
    ----------
    Freund & Schapire 1999, "Adaptive game playing using multiplicative weights", Games and Economic Behavior 29; Cesa-Bianchi &
    Lugosi 2006, "Prediction, Learning, and Games", theorem 2.3 (the falling rate and its bound, spread x (2 sqrt(T ln(N) / 2) +
    sqrt(ln(N) / 8)) after T iterations).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.inline import InlineWorkers
    >>> payoffs = ((Fraction(2), Fraction(-1)), (Fraction(-1), Fraction(1)))
    >>> game = MatrixGame(payoffs, ("r1", "r2"), ("c1", "c2"))
    >>> events = MultiplicativeWeights(10_000).solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> *_, result = events
    >>> average = result.tables["curve"].to_pylist()[-1]
    >>> [round(p, 2) for p in average["x"]], round(average["value_p1"], 2)
    ([0.4, 0.6], 0.2)
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 100_000
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError("iterations", "at least 1", repr(self.iterations))
        if self.rate is not None and not (self.rate > 0 and math.isfinite(self.rate)):
            raise ConfigError("rate", "a positive number", repr(self.rate))

    def refuses(self, game: Game) -> str | None:
        """Say which payoff is too large for float64; None if none is, or if it takes solving to know."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None or shape[0] * shape[1] > LOOKED_THROUGH:
            return None
        return excess_of(game.form(MatrixGame))

    def cost(self, game: Game) -> float:
        """Estimate seconds; a game that does not tell its `shape` before its form is built is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + self.iterations * (5e-8 + 1e-8 * (m + n) + 2e-9 * m * n)

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        payoffs = as_floats(game)
        unit = float(payoffs.max() - payoffs.min()) or 1.0 if self.rate is None else 1.0
        play = Play(game, functools.partial(_iterate, self.rate or 0.0, unit))
        yield from run(play, self.iterations, resume)


@njit(cache=True)
def _iterate(  # noqa: PLR0917 (numba takes positions)
    fixed_rate: float, unit: float, payoffs: Floats, payoffs_by_column: Floats, state: Floats, done: int, steps: int
) -> None:
    """Do `steps` iterations in place; a `fixed_rate` of 0 is none; rates are per `unit` of payoff.

    Earnings, sums, strategies: r, s, x are player 1's, q, c, y player 2's; u, w what each pure action earns player 1.
    """
    m, n = payoffs.shape
    r, s, x = state[0, :m], state[1, :m], state[2, :m]
    q, c, y = state[0, m:], state[1, m:], state[2, m:]
    u, w = np.empty(m), np.empty(n)
    for t in range(done + 1, done + steps + 1):
        _weigh(r, fixed_rate if fixed_rate > 0 else math.sqrt(8 * math.log(m) / t), unit, x)
        _weigh(q, fixed_rate if fixed_rate > 0 else math.sqrt(8 * math.log(n) / t), unit, y)
        mix(payoffs_by_column, y, u)
        mix(payoffs, x, w)
        for i in range(m):
            r[i] += u[i]
            s[i] += x[i]
        for j in range(n):
            q[j] -= w[j]
            c[j] += y[j]


@njit(cache=True)
def _weigh(earned: Floats, rate: float, unit: float, strategy: Floats) -> None:
    """Write the strategy in proportion to exp(rate * earned / unit)."""
    most = earned.max()
    total = 0.0
    for i in range(len(earned)):
        strategy[i] = math.exp(rate * ((earned[i] - most) / unit))
        total += strategy[i]
    for i in range(len(earned)):
        strategy[i] /= total
