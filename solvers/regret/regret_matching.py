"""How fast do two players who only follow their regrets come near an equilibrium of a zero-sum matrix game, in which variant?

Regret matching (Hart & Mas-Colell 2000): an action's regret is what it would have earned over all iterations so far beyond what was
earned; a player plays each action in proportion to its positive regret. Expected payoffs are used, not sampled ones, so nothing is
random. The *average* strategies approach an equilibrium: the exploitability falls at least like 1 / sqrt(iterations). The
strategies of single iterations need not converge, and mostly circle; with `smooth` they too approach an equilibrium.

Each published variant is a config of this one class:

    variant                                             floor  predictive  gamma  smooth
    regret_matching     Hart & Mas-Colell 2000            no       no        0       0
    rm_plus             Tammelin et al. 2015              yes      no        1       0
    predictive_rm_plus  Farina et al. 2021                yes      yes       2       0
    smooth_prm_plus     Farina et al. 2023                yes      yes       2      > 0

What it cannot do: name an equilibrium exactly, or say where it would end. The table tells how good each recorded profile is, and
that is all it claims.

Rules
-----
1. Iteration 1 plays the initial regrets; with none positive, uniformly. Its payoffs then update the regrets, and so on: see
   `solvers.regret.self_play`, rules 1 to 3.
2. What is recorded, and when, is the same for all learners: `solvers.regret.curves`.
"""

from __future__ import annotations

import itertools
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
    LARGEST_PAYOFF,
    Play,
    excess_while_planning,
    misfit,
    normalised,
    opponent_misfit,
    play_together,
    refuse_iterations,
    refuse_mix,
)
from solvers.regret.self_play import MATCH, Rules

Start = tuple[tuple[float, ...], ...]

_MOST_SMOOTH = 1e6


@dataclass(frozen=True, slots=True)
class RegretMatching:
    """Play a zero-sum matrix game against oneself by regret matching.

    Time: about 0.1 us for an iteration of a 3 x 3 game, 0.01 us in a batch, 2 us for 100 x 100 (most actions soon have probability
    0 and cost nothing). Memory: two copies of the matrix. Nothing is random; numbers are float64.

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
    floor
        Whether negative regrets are set to 0: the plus in RM+.
    predictive
        Whether the last regrets are counted twice, as a guess of the next.
    smooth
        Regrets sum to at least `smooth` times the largest payoff minus the smallest, so that strategies cannot turn far at once,
        and those of single iterations converge. 0: they may vanish. Needs `floor` and `predictive`.
    alternating
        Whether player 2 learns against player 1's newest strategy; else both move at once.
    gamma
        Iteration t weighs t^gamma in the average: 0 uniform, 1 linear, 2 quadratic; at most 10.

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
    (rock-paper-scissors, a fixed opponent); Tammelin, Burch, Johanson & Bowling 2015, "Solving heads-up limit Texas hold'em"
    (floor, linear averages); Farina, Kroer & Sandholm 2021, "Faster game solving via predictive Blackwell approachability"; Farina,
    Grand-Clement, Kroer, Lee & Luo 2023, "Regret matching+: (in)stability and fast convergence in games" (smooth); Cai et al. 2023,
    "Last-iterate convergence properties of regret-matching algorithms in games" (that it converges; ours has no restarts, and
    measures `smooth` in spreads of the payoffs where they have a step size, its inverse).

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

    version: ClassVar[int] = 2
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE, "rates": RATES}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 100_000
    start: Start | None = None
    opponent: tuple[float, ...] | None = None
    floor: bool = False
    predictive: bool = False
    smooth: float = 0.0
    alternating: bool = False
    gamma: float = 0.0

    def __post_init__(self) -> None:
        refuse_iterations(self.iterations, self.gamma)
        if self.start is not None:
            _refuse_start(self.start, players=2 if self.opponent is None else 1)
        if self.opponent is not None:
            refuse_mix(self.opponent)
        if not 0 <= self.smooth <= _MOST_SMOOTH:
            raise ConfigError("smooth", f"a number from 0 to {_MOST_SMOOTH:g}", repr(self.smooth))
        if self.smooth and not (self.floor and self.predictive):
            raise ConfigError("smooth", "0, or floor and predictive true", repr(self.smooth), "smooth PRM+ is a variant of PRM+")

    def refuses(self, game: Game) -> str | ImpossiblePairing | None:
        """Say which setting has not as many numbers as the game has actions, or which payoff is too large for float64.

        None if all fit, or if it takes solving to know: the game does not tell its `shape`, or is too large to look through now.
        """
        return self._misfit(game) or excess_while_planning(game)

    def cost(self, game: Game | MatrixGame) -> float:
        """Estimate seconds; a game that does not tell its `shape` before its form is built is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + self.iterations * (6e-8 + 8e-9 * (m + n) + 2e-10 * m * n)

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        yield from run(self._begin([game]), self.iterations, resume)

    def solve_batch(self, games: Sequence[MatrixGame], rngs: Sequence[np.random.Generator]) -> Result:
        """Solve many small games side by side; what it leaves out says `solvers.regret.matrix_play`.

        Raises
        ------
        InfeasibleGame
            If one of them takes too long for that, does not fit `start` or `opponent`, or has too large payoffs.
        """
        return play_together(self._begin, games, self.iterations, self.cost)

    def _begin(self, games: Sequence[MatrixGame]) -> Play:
        unfit = self._misfit(games[0])
        if unfit is not None:
            raise InfeasibleGame(str(unfit.under("solver")))
        memory = None
        if self.start is not None:
            memory = np.zeros(sum(games[0].shape))
            given = list(itertools.chain(*self.start))
            memory[: len(given)] = given
        rules = Rules(
            MATCH,
            floor=self.floor,
            predictive=self.predictive,
            smooth=self.smooth,
            alternating=self.alternating,
            gamma=self.gamma,
            both_learn=self.opponent is None,
        )
        return Play(games, rules, memory, normalised(self.opponent))

    def _misfit(self, game: Game | MatrixGame) -> ImpossiblePairing | None:
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None:
            return None
        kinds = ("row", "column")
        said = [misfit(f"start[{player}]", given, shape[player], kinds[player]) for player, given in enumerate(self.start or ())]
        return next(filter(None, said), None) or opponent_misfit(self.opponent, game)


def _refuse_start(start: Start, players: int) -> None:
    if len(start) != players:
        wanted = "two lists of regrets, one for each player" if players > 1 else "one list of regrets, that of player 1"
        raise ConfigError("start", wanted, f"{len(start)}", "" if players > 1 else "player 2 has a fixed mix and learns nothing")
    for player, regrets in enumerate(start):
        for index, regret in enumerate(regrets):
            if not abs(regret) <= LARGEST_PAYOFF:
                raise ConfigError(f"start[{player}][{index}]", f"a number within {LARGEST_PAYOFF:g} of 0", repr(regret))
