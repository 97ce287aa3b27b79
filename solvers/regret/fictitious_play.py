"""How fast do two players who each answer the other's history so far come near an equilibrium of a zero-sum matrix game?

Fictitious play (Brown 1951): a player plays the one action that would have earned most over all iterations so far, which is the
best reply to the opponent's average. Of several that earned the same the first is played, in the order of the game; iteration 1
plays the first of all. The *average* strategies approach an equilibrium (Robinson 1951), in the worst case very slowly; single
iterations play pure actions. Ties are seen only where sums of payoffs are exact in float64, as those of whole numbers are:
elsewhere rounding decides.

What it cannot do: name an equilibrium exactly, or bound how far it still is. The table tells how good each recorded profile is, and
that is all it claims.

Rules: `solvers.regret.self_play`, rule 1. What is recorded, and when, is the same for all learners: `solvers.regret.curves`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, Game, Result, Workers
from solvers.errors import ImpossiblePairing, InfeasibleGame
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
from solvers.regret.self_play import LEAD, Rules


@dataclass(frozen=True, slots=True)
class FictitiousPlay:
    """Play a zero-sum matrix game against oneself by fictitious play.

    Time: about 0.1 us for an iteration of a 3 x 3 game, 0.01 us in a batch, 0.5 us for 100 x 100. Memory: two copies of the matrix.
    Nothing is random; numbers are float64.

    Attributes
    ----------
    iterations
        How many, at least 1.
    opponent
        Player 2's fixed mix, a probability for each column; then only player 1 learns. None: player 2 learns too.
    alternating
        Whether player 2 answers player 1's newest action too (Brown's own rule); else both move at once.
    gamma
        Iteration t weighs t^gamma in the average: 0 uniform, 1 linear, 2 quadratic; at most 10. What players answer is always the
        uniform average.

    Raises
    ------
    ConfigError
        If a field is out of range.
    InfeasibleGame
        While solving, if `opponent` has not one number for each column, or a payoff is beyond 1e150 (of most games that is found
        while planning).

    References
    ----------
    Brown 1951, "Iterative solution of games by fictitious play", Activity Analysis of Production and Allocation; Robinson 1951, "An
    iterative method of solving a game", Annals of Mathematics 54; Daskalakis & Pan 2014, "A counter-example to Karlin's strong
    conjecture for fictitious play" (how slow it can be; with a rule for ties that is not ours).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.inline import InlineWorkers
    >>> payoffs = ((Fraction(2), Fraction(-1)), (Fraction(-1), Fraction(1)))
    >>> game = MatrixGame(payoffs, ("r1", "r2"), ("c1", "c2"))
    >>> events = FictitiousPlay(10_000).solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
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
    opponent: tuple[float, ...] | None = None
    alternating: bool = False
    gamma: float = 0.0

    def __post_init__(self) -> None:
        refuse_iterations(self.iterations, self.gamma)
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
        return 0.001 + self.iterations * (6e-8 + 6e-9 * (m + n))

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
        rules = Rules(LEAD, alternating=self.alternating, gamma=self.gamma, both_learn=self.opponent is None)
        return Play(games, rules, opponent=normalised(self.opponent))
