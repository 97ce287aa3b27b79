"""How fast does counterfactual regret minimisation come near an equilibrium of a two-player zero-sum game tree, in which variant?

Counterfactual regret minimisation (Zinkevich et al. 2007): at each information set a regret minimiser learns from what its actions
would earn, weighted by how likely chance and the opponent lead there; the average strategies approach an equilibrium. The variants
differ in four settings only, and each published one is a config of this one class:

    variant                                      alpha  beta  floor  gamma  predictive
    cfr          Zinkevich et al. 2007             -     -     no      0       no
    cfr_plus     Tammelin 2014                     -     -     yes     1       no
    linear_cfr   Brown & Sandholm 2019             1     1     no      1       no
    dcfr         Brown & Sandholm 2019            1.5    0     no      2       no
    pcfr_plus    Farina et al. 2021                -     -     yes     2       yes
    pdcfr_plus   Xu et al. 2024                   2.3    -     yes     5       yes

It works on the sequence form: one iteration is two products with the sparse payoff matrix and one pass over each player's
information sets, no walk of the tree.

Rules
-----
1. Iteration t: player 1's plan is added to his average with weight t^gamma; his regrets learn from the opponent's plan; his next
   strategy follows at once. Then player 2 the same, against player 1's *new* plan if `alternating`, else against the one played.
2. Regrets learn: R <- (R + r), negative ones set to 0 if `floor`; then positive ones times t^alpha / (t^alpha + 1), negative ones
   times t^beta / (t^beta + 1), where alpha and beta are given.
3. The next strategy plays in proportion to positive R, or positive R + r if `predictive` (r once more, as the guess of what comes).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numba import njit

from solvers.contract import Checkpoint, Event, Workers
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import GameTree
from solvers.regret.curves import CURVE, MOST_ITERATIONS, RATES, run
from solvers.regret.trace import MOST_ENDS, REGRETS, advance_traced, regrets_of, room_for
from solvers.regret.tree_play import STRATEGIES, TreePlay
from solvers.regret.treeplex import Floats, Treeplex, earn, plan_of


@dataclass(frozen=True, slots=True)
class Cfr:
    """Play a game tree against oneself by counterfactual regret minimisation.

    Time: an iteration takes about 2 ns for each pair of sequences that ends the game and 10 ns for each action of an information
    set. Memory: five numbers an action, and two for each recorded iteration. Nothing is random; numbers are float64.

    Attributes
    ----------
    iterations
        How many, at least 1.
    alpha, beta
        Exponents by which positive and negative regrets are discounted, see rule 2; None: not at all.
    floor
        Whether negative regrets are set to 0 (the plus in CFR+); then there is no `beta`.
    gamma
        Iteration t weighs t^gamma in the average; from 0 to 10.
    predictive
        Whether the last regrets are counted twice, as a guess of the next.
    alternating
        Whether player 2 learns against player 1's newest strategy; else both move at once.
    trace
        Whether the first 50 iterations are noted in full, in the table `regrets`; of games that end in at most 1,000 ways.

    Raises
    ------
    ConfigError
        If a field is out of range.
    InfeasibleGame
        While solving, if `trace` is true and the game is too large for it (of most games that is found while planning).

    References
    ----------
    Zinkevich et al. 2007, "Regret minimization in games with incomplete information"; Tammelin 2014, "Solving large imperfect
    information games using CFR+"; Brown & Sandholm 2019, "Solving imperfect-information games via discounted regret minimization";
    Farina, Kroer & Sandholm 2021, "Faster game solving via predictive Blackwell approachability"; Xu et al. 2024, "Minimizing
    weighted counterfactual regret with optimistic online mirror descent".
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = GameTree
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE, "rates": RATES, "strategies": STRATEGIES, "regrets": REGRETS}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 1000
    alpha: float | None = None
    beta: float | None = None
    floor: bool = False
    gamma: float = 0.0
    predictive: bool = False
    alternating: bool = True
    trace: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise ConfigError("iterations", f"1 to {MOST_ITERATIONS:.0e}", repr(self.iterations))
        for name, exponent in (("alpha", self.alpha), ("beta", self.beta)):
            if exponent is not None and not math.isfinite(exponent):
                raise ConfigError(name, "a number, or null for no discount", repr(exponent))
        if self.floor and self.beta is not None:
            raise ConfigError("beta", "null where floor is true", repr(self.beta), "no regret is negative then")
        if not 0 <= self.gamma <= _MOST_GAMMA:
            raise ConfigError("gamma", f"a number from 0 to {_MOST_GAMMA}", repr(self.gamma))

    def refuses(self, game: object) -> str | None:
        """Say that the game is too large to be traced; None if not, or if it does not tell its `ends` before its form is built."""
        return self._excess(getattr(game, "ends", 0))

    def cost(self, game: object) -> float:
        """Estimate seconds; what a tree costs is known only when it is there."""
        return 0.01 + self.iterations * getattr(game, "ends", 5000) * 4e-9

    def solve(self, game: GameTree, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` and `rng` are not used."""
        excess = self._excess(game.histories["ends"])
        if excess is not None:
            raise InfeasibleGame(excess)
        play = TreePlay(game, self.gamma, self._advance, further=self._further)
        if self.trace:
            play.kept = room_for(play.plexes)
        yield from run(play, self.iterations, resume)

    def _advance(self, play: TreePlay, steps: int) -> None:
        one, two = play.plexes
        infinite = math.inf

        def advance(done: int, steps: int) -> None:
            _iterate(
                one,
                two,
                play.state[0],
                play.state[1],
                play.played,
                done,
                steps,
                infinite if self.alpha is None else self.alpha,
                infinite if self.beta is None else self.beta,
                self.gamma,
                self.floor,
                self.predictive,
                self.alternating,
            )

        if self.trace:
            advance_traced(play, steps, advance, alternating=self.alternating)
        else:
            advance(play.done, steps)

    def _further(self, play: TreePlay) -> Mapping[str, pa.Table]:
        settings = {name: getattr(self, name) for name in ("alpha", "beta", "floor", "predictive", "alternating")}
        return {"regrets": regrets_of(play, settings)}

    def _excess(self, ends: int) -> str | None:
        if not self.trace or ends <= MOST_ENDS:
            return None
        return f"the game ends in {ends:,} ways and solver.trace=true notes those of at most {MOST_ENDS:,}: trace=false solves it"


_MOST_GAMMA = 10


@njit(cache=True)
def _iterate(  # noqa: PLR0917 (numba takes positions)
    one: Treeplex,
    two: Treeplex,
    mine: Floats,
    theirs: Floats,
    played: tuple[Floats, Floats],
    done: int,
    steps: int,
    alpha: float,
    beta: float,
    gamma: float,
    floor: bool,  # noqa: FBT001
    predictive: bool,  # noqa: FBT001
    alternating: bool,  # noqa: FBT001
) -> None:
    """Do `steps` iterations in place. `mine`, `theirs` `[3, S]`: regrets, sums of plans, sigma of players 1 and 2."""
    x, y = np.empty(mine.shape[1]), np.empty(theirs.shape[1])
    u, w = np.empty(mine.shape[1]), np.empty(theirs.shape[1])
    plan_of(one, mine[2], x)
    plan_of(two, theirs[2], y)
    for t in range(done + 1, done + steps + 1):
        weight = float(t) ** gamma
        up = 1.0 if alpha == math.inf else float(t) ** alpha / (float(t) ** alpha + 1)
        down = 1.0 if beta == math.inf else float(t) ** beta / (float(t) ** beta + 1)
        if t == done + steps:
            played[0][:] = mine[2]
            played[1][:] = theirs[2]
        if not alternating:
            earn(two, x, w)
        earn(one, y, u)
        _learn(one, mine, x, u, weight, up, down, floor, predictive)
        if alternating:
            earn(two, x, w)
        _learn(two, theirs, y, w, weight, up, down, floor, predictive)


@njit(cache=True)
def _learn(  # noqa: PLR0917 (numba takes positions)
    plex: Treeplex,
    state: Floats,
    plan: Floats,
    value: Floats,
    weight: float,
    up: float,
    down: float,
    floor: bool,  # noqa: FBT001
    predictive: bool,  # noqa: FBT001
) -> None:
    """Add the plan to the average, let regrets learn from `value`, exchange sigma and plan for the next."""
    regrets, sums, sigma = state[0], state[1], state[2]
    for s in range(1, len(plan)):
        sums[s] += weight * plan[s]
    first, before = plex.first, plex.before
    for h in range(len(before) - 1, -1, -1):
        begin, end = first[h], first[h + 1]
        mean = 0.0
        for s in range(begin, end):
            mean += sigma[s] * value[s]
        value[before[h]] += mean
        total = 0.0
        for s in range(begin, end):
            r = value[s] - mean
            new = regrets[s] + r
            if new > 0:
                new *= up
            else:
                new = 0.0 if floor else new * down
            regrets[s] = new
            hope = max(0.0, new + r if predictive else new)
            sigma[s] = hope
            total += hope
        if total > 0:
            share = 1 / total
            for s in range(begin, end):
                sigma[s] *= share
        else:
            for s in range(begin, end):
                sigma[s] = 1 / (end - begin)
    plan_of(plex, sigma, plan)
