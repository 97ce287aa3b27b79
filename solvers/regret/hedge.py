"""How fast do two players who weigh actions by the exponential of what they would have earned come near an equilibrium?

Hedge, also called multiplicative weights: a player plays each action in proportion to exp(rate x what it would have earned over all
iterations so far). Expected payoffs are used, not sampled ones, so nothing is random. The *average* strategies approach an
equilibrium, at least like 1 / sqrt(iterations); those of single iterations move away from it. A float baseline, to compare other
methods with.

What it cannot do: name an equilibrium exactly, or give any action probability 0. The table tells how good each recorded profile
is, and that is all it claims.

Rules
-----
1. Iteration 1 plays uniformly. Its payoffs then add to what each action would have earned, and so on: see
   `solvers.regret.self_play`, rule 1.
2. Without a fixed rate, iteration t uses sqrt(8 ln(actions) / t) / spread, `spread` being the largest payoff minus the smallest;
   with a `horizon` that instead of t. No rate asks how many iterations there will be, so a longer run goes on from a shorter one.
3. What is recorded, and when, is the same for all learners: `solvers.regret.curves`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, Game, Result, Workers
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame
from solvers.regret.curves import CURVE, RATES, run
from solvers.regret.matrix_play import (
    Play,
    excess_while_planning,
    normalised,
    opponent_misfit,
    play_together,
    refuse_iterations,
    refuse_mix,
)
from solvers.regret.self_play import WEIGH, Rules


@dataclass(frozen=True, slots=True)
class Hedge:
    """Play a zero-sum matrix game against oneself by Hedge.

    Time: about 0.2 us for an iteration of a 3 x 3 game, 0.02 us in a batch, 20 us for 100 x 100 (no action is ever out). Memory:
    two copies of the matrix. Nothing is random; numbers are float64.

    Attributes
    ----------
    iterations
        How many, at least 1.
    rate
        A fixed learning rate, per payoff unit, positive; None: as rule 2 says.
    horizon
        The number of iterations for which the rate is tuned, at least 1; None: it falls. Not beside a fixed `rate`.
    opponent
        Player 2's fixed mix, a probability for each column; then only player 1 learns. None: player 2 learns too.
    alternating
        Whether player 2 learns against player 1's newest strategy; else both move at once.
    gamma
        Iteration t weighs t^gamma in the average: 0 uniform, 1 linear, 2 quadratic; at most 10.

    Raises
    ------
    ConfigError
        If a field is out of range.
    InfeasibleGame
        While solving, if `opponent` has not one number for each column, or a payoff is beyond 1e150 (of most games that is found
        while planning).

    References
    ----------
    Freund & Schapire 1999, "Adaptive game playing using multiplicative weights", Games and Economic Behavior 29; Cesa-Bianchi &
    Lugosi 2006, "Prediction, Learning, and Games", theorem 2.2 (the tuned rate) and 2.3 (the falling rate and its bound,
    spread x (2 sqrt(T ln(N) / 2) + sqrt(ln(N) / 8)) after T iterations).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.inline import InlineWorkers
    >>> payoffs = ((Fraction(2), Fraction(-1)), (Fraction(-1), Fraction(1)))
    >>> game = MatrixGame(payoffs, ("r1", "r2"), ("c1", "c2"))
    >>> events = Hedge(10_000).solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> *_, result = events
    >>> average = result.tables["curve"].to_pylist()[-1]
    >>> [round(p, 2) for p in average["x"]], round(average["value_p1"], 2)
    ([0.4, 0.6], 0.2)
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE, "rates": RATES}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 100_000
    rate: float | None = None
    horizon: int | None = None
    opponent: tuple[float, ...] | None = None
    alternating: bool = False
    gamma: float = 0.0

    def __post_init__(self) -> None:
        refuse_iterations(self.iterations, self.gamma)
        if self.rate is not None and not (self.rate > 0 and math.isfinite(self.rate)):
            raise ConfigError("rate", "a positive number", repr(self.rate))
        if self.horizon is not None and (self.horizon < 1 or self.rate is not None):
            wanted = "at least 1" if self.rate is None else "null where a rate is given"
            raise ConfigError("horizon", wanted, repr(self.horizon))
        if self.opponent is not None:
            refuse_mix(self.opponent)

    def refuses(self, game: Game) -> str | ImpossiblePairing | None:
        """Say that `opponent` does not fit the game, or which payoff is too large for float64.

        None if neither, or if it takes solving to know: the game does not tell its `shape`, or is too large to look through now.
        """
        return opponent_misfit(self.opponent, game) or excess_while_planning(game)

    def cost(self, game: Game | MatrixGame) -> float:
        """Estimate seconds; a game that does not tell its `shape` before its form is built is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + self.iterations * (1e-7 + 1.5e-8 * (m + n) + 2e-9 * m * n)

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        yield from run(self._begin([game]), self.iterations, resume)

    def solve_batch(self, games: Sequence[MatrixGame], rngs: Sequence[np.random.Generator]) -> Result:
        """Solve many small games side by side; what it leaves out says `solvers.regret.matrix_play`.

        Raises
        ------
        InfeasibleGame
            If one of them takes too long for that, does not fit `opponent`, or has too large payoffs.
        """
        return play_together(self._begin, games, self.iterations, self.cost)

    def _begin(self, games: Sequence[MatrixGame]) -> Play:
        unfit = opponent_misfit(self.opponent, games[0])
        if unfit is not None:
            raise InfeasibleGame(str(unfit.under("solver")))
        rules = Rules(
            WEIGH,
            alternating=self.alternating,
            gamma=self.gamma,
            both_learn=self.opponent is None,
            rate=self.rate or 0.0,
            horizon=float(self.horizon or 0),
        )
        return Play(games, rules, opponent=normalised(self.opponent))
