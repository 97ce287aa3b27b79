"""How near an equilibrium does a game tree come by playing it again and again, a small sampled part of it at a time?

Monte Carlo counterfactual regret minimisation (Lanctot et al. 2009): as counterfactual regret minimisation, but an iteration walks
a random part of the tree only, and what it adds to regrets and averages is right in expectation. Two published ways are configs:

    mccfr_external   the walker follows all his own actions; chance and the opponent are sampled
    mccfr_outcome    everything is sampled, down to one end; the walker tries actions at random with probability `epsilon`

It is for trees too large for many full iterations: an iteration costs less by orders of magnitude and is worth less. What it
cannot do: come very near; errors fall like 1 / sqrt(iterations). Where `cfr_plus` does hundreds of iterations a second, it comes
nearer in the same time. The tree itself must still be in memory.

Rules
-----
1. Iteration t: player 1 walks, then player 2. Actions at a set are drawn in proportion to positive regrets, uniformly where there
   are none.
2. At the walker's sets regrets learn what the actions would have earned, as estimated by this walk: after his own moves so far had
   probability q of being sampled (1 in external sampling), r = (worth of the action - worth of the mix) / q.
3. At the opponent's sets his strategy is added to his sums with weight 1 / q: what is often reached weighs more, by exactly the
   probability of his own moves ("stochastically weighted averaging"). The average is the sums' proportions.
4. Actions of the opponent are drawn at each node anew, also at nodes of one set (Lanctot et al. draw once a set: the same in
   expectation).
5. Random numbers are SplitMix64's (Steele, Lea & Flood 2014); where it stands is part of the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Event, Workers
from solvers.errors import ConfigError
from solvers.forms import GameTree
from solvers.forms.tree import CHANCE, END
from solvers.regret.curves import CURVE, MOST_ITERATIONS, RATES, run
from solvers.regret.tree_play import STRATEGIES, TreePlay
from solvers.regret.treeplex import Floats, Ints

_COST_OF_NODE = 20  # in units of `TreePlay.work`, about a nanosecond each


@dataclass(frozen=True, slots=True)
class Mccfr:
    """Play a game tree against oneself by Monte Carlo counterfactual regret minimisation.

    Time: some 15 ns a node that is walked through. An iteration of Kuhn poker takes 0.4 us either way, of Leduc poker 1 us
    (external) or 0.6 us (outcome). Memory: 30 bytes a node, two numbers an action, and two for each recorded iteration. The same
    seed gives the same strategies, however often the run is interrupted.

    Attributes
    ----------
    iterations
        How many, at least 1; each is a walk of both players.
    epsilon
        Outcome sampling: how likely the walker picks an action uniformly instead of by his strategy, above 0 and at most 1. None:
        external sampling, he follows all.

    Raises
    ------
    ConfigError
        If a field is out of range.

    References
    ----------
    Lanctot, Waugh, Zinkevich & Bowling 2009, "Monte Carlo sampling for regret minimization in extensive games"; Lanctot 2013,
    "Monte Carlo sampling and regret minimization for equilibrium computation and decision-making in large extensive form games",
    chapter 4; Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators".

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.forms import Decision, Payoff, extract
    >>> from solvers.inline import InlineWorkers
    >>> def look(position):  # matching pennies, heads count twice: both play heads with probability 2/5
    ...     if len(position) < 2:
    ...         return Decision(len(position) + 1, "", tuple((face, position + face) for face in "ht"))
    ...     return Payoff(Fraction({"hh": 2, "tt": 1}.get(position, -1)))
    >>> solver = Mccfr(iterations=100_000)
    >>> *_, result = solver.solve(extract("", look), resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> [round(p, 1) for p in result.tables["strategies"]["probability_float"].to_pylist()]
    [0.4, 0.6, 0.4, 0.6]
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = GameTree
    tables: ClassVar[Mapping[str, pa.Schema]] = {"curve": CURVE, "rates": RATES, "strategies": STRATEGIES}
    extent: ClassVar[str | None] = "iterations"

    iterations: int = 100_000
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise ConfigError("iterations", f"1 to {MOST_ITERATIONS:.0e}", repr(self.iterations))
        if self.epsilon is not None and not 0 < self.epsilon <= 1:
            wanted = "a number above 0 and at most 1, or null for external sampling"
            raise ConfigError("epsilon", wanted, repr(self.epsilon), "0 would leave actions untried")

    def cost(self, game: object) -> float:
        """Estimate seconds; what a tree costs is known only when it is there."""
        return 0.01 + self.iterations * 1e-6

    def solve(self, game: GameTree, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress, checkpoints and the result; `workers` is not used, `rng` only for where the random numbers begin."""
        walk = _walk_of(game)
        most, deep, wide = _extent_of(walk)
        work = _COST_OF_NODE * (most if self.epsilon is None else 2 * deep)
        kept = {"stream": rng.integers(2**64, size=1, dtype=np.uint64)}
        epsilon = 0.0 if self.epsilon is None else self.epsilon

        def advance(play: TreePlay, steps: int) -> None:
            one, two = play.plexes
            _iterate(walk, one.first, two.first, *play.state, play.played, play.kept["stream"], steps, epsilon, deep, wide)

        yield from run(TreePlay(game, None, advance, kept=kept, work=work), self.iterations, resume)


class _Walk(NamedTuple):
    """What a walk needs of a tree with N nodes.

    `player` `[N]`: who moves, as in the tree; `start` `[N + 1]` and `child` `[N - 1]`: the children of n are
    `child[start[n] : start[n + 1]]`; `first` `[N]`: the mover's sequence that ends in his first action there, 0 where no player
    moves; `chance` `[N]`: of the move into a node; `earned` `[N]`: what player 2 pays player 1 at an end.
    """

    player: NDArray[np.int8]
    start: Ints
    child: Ints
    first: Ints
    chance: Floats
    earned: Floats


def _walk_of(tree: GameTree) -> _Walk:
    sequence_of = np.zeros(tree.slots + 1, dtype=np.int32)  # the last entry: where no player moves
    for player in (1, 2):
        own = tree.slot_player == player
        sequence_of[:-1][own] = np.arange(1, own.sum() + 1)
    first = sequence_of[tree.first_slot[tree.infoset]]
    start, child = tree.children
    # copies: arrays of a shared tree may be read-only, for which numba would compile everything again
    return _Walk(tree.player.copy(), start.copy(), child.copy(), first, tree.chances.copy(), tree.earnings.copy())


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _extent_of(walk: _Walk) -> tuple[int, int, int]:
    """Return how many nodes external sampling meets at most in an iteration, how many stand in a row, how many moves a node has."""
    nodes = len(walk.player)
    most = np.ones((2, nodes), np.int64)
    deep, wide = np.zeros(nodes, np.int64), 1
    for node in range(nodes - 1, -1, -1):
        begin, end = walk.start[node], walk.start[node + 1]
        wide = max(wide, end - begin)
        for me in range(2):
            total = largest = 0
            for k in range(begin, end):
                below = most[me, walk.child[k]]
                total += below
                largest = max(largest, below)
                deep[node] = max(deep[node], 1 + deep[walk.child[k]])
            most[me, node] += total if walk.player[node] == me + 1 else largest
    return most[0, 0] + most[1, 0], deep[0] + 1, wide


@njit(cache=True)
def _iterate(  # noqa: PLR0917 (numba takes positions)
    walk: _Walk,
    first_one: Ints,
    first_two: Ints,
    one: Floats,
    two: Floats,
    played: tuple[Floats, Floats],
    stream: NDArray[np.uint64],
    steps: int,
    epsilon: float,
    deep: int,
    wide: int,
) -> None:
    """Do `steps` iterations in place. `one`, `two` `[3, S]`: regrets, sums, and a row that is not used. `epsilon` 0: external."""
    random = stream[0]
    places, numbers = np.empty((3, deep), np.int64), np.empty((3, deep, wide))
    for step in range(steps):
        if step == steps - 1:
            _match_all(first_one, one[0], played[0])
            _match_all(first_two, two[0], played[1])
        if epsilon == 0:
            random = _external(walk, 1, one[0], two, random, places, numbers)
            random = _external(walk, 2, two[0], one, random, places, numbers)
        else:
            random = _outcome(walk, 1, one[0], two, random, epsilon, places, numbers)
            random = _outcome(walk, 2, two[0], one, random, epsilon, places, numbers)
    stream[0] = random


@njit(cache=True)
def _external(  # noqa: PLR0917 (numba takes positions)
    walk: _Walk,
    me: int,
    regrets: Floats,
    other: Floats,
    random: np.uint64,
    places: NDArray[np.int64],
    numbers: Floats,
) -> np.uint64:
    """Walk once; `regrets` are the walker's, `other` the opponent's state. Return where the random numbers stand.

    The sets of the walker on the way down wait in frames: `places[:, frame]` are node and action that is tried, `numbers[:, frame]`
    his strategy there, what actions are worth, and (the last, entry 0) what the mix is worth so far.
    """
    sign = 1.0 if me == 1 else -1.0
    node, frame = 0, -1
    while True:
        player = walk.player[node]
        begin, end = walk.start[node], walk.start[node + 1]
        if player == CHANCE:
            random, drawn = _draw(random)
            node = walk.child[_chance_move(walk, begin, end, drawn)]
        elif player == me:
            frame += 1
            _match(regrets, walk.first[node], end - begin, numbers[0, frame])
            places[0, frame], places[1, frame], numbers[2, frame, 0] = node, 0, 0.0
            node = walk.child[begin]
        elif player != END:
            random, drawn = _draw(random)
            node = walk.child[begin + _opponent_move(other, walk.first[node], end - begin, 1.0, drawn)]
        else:
            worth = sign * walk.earned[node]
            while frame >= 0:  # back up until there is something left to try
                node, action = places[0, frame], places[1, frame]
                begin, end = walk.start[node], walk.start[node + 1]
                numbers[1, frame, action] = worth
                numbers[2, frame, 0] += numbers[0, frame, action] * worth
                if begin + action + 1 < end:
                    places[1, frame] = action + 1
                    node = walk.child[begin + action + 1]
                    break
                worth = numbers[2, frame, 0]
                first = walk.first[node]
                for a in range(end - begin):
                    regrets[first + a] += numbers[1, frame, a] - worth
                frame -= 1
            if frame < 0:
                return random


@njit(cache=True)
def _outcome(  # noqa: PLR0917 (numba takes positions)
    walk: _Walk,
    me: int,
    regrets: Floats,
    other: Floats,
    random: np.uint64,
    epsilon: float,
    places: NDArray[np.int64],
    numbers: Floats,
) -> np.uint64:
    """Walk once, down to one end; as `_external`. Frames keep first sequence, number of actions, action; then its probability
    in the strategy and in the sample, and the sample's probability before."""
    node, frame, sampled = 0, -1, 1.0
    while walk.player[node] != END:
        player, first = walk.player[node], walk.first[node]
        begin, end = walk.start[node], walk.start[node + 1]
        count = end - begin
        random, drawn = _draw(random)
        if player == CHANCE:
            node = walk.child[_chance_move(walk, begin, end, drawn)]
        elif player == me:
            frame += 1
            sigma = numbers[0, frame]
            _match(regrets, first, count, sigma)
            action = 0
            left = drawn - (epsilon / count + (1 - epsilon) * sigma[0])
            while left >= 0 and action < count - 1:
                action += 1
                left -= epsilon / count + (1 - epsilon) * sigma[action]
            tried = epsilon / count + (1 - epsilon) * sigma[action]
            places[0, frame], places[1, frame], places[2, frame] = first, count, action
            numbers[1, frame, 0] = tried
            numbers[2, frame, 0] = sampled
            sampled *= tried
            node = walk.child[begin + action]
        else:
            node = walk.child[begin + _opponent_move(other, first, count, 1 / sampled, drawn)]
    worth = walk.earned[node] if me == 1 else -walk.earned[node]
    for back in range(frame, -1, -1):
        first, count, action = places[0, back], places[1, back], places[2, back]
        worth /= numbers[1, back, 0]  # of the action; that of others is estimated as 0
        mean = numbers[0, back, action] * worth
        for a in range(count):
            regrets[first + a] -= mean / numbers[2, back, 0]
        regrets[first + action] += worth / numbers[2, back, 0]
        worth = mean
    return random


@njit(cache=True)
def _draw(random: np.uint64) -> tuple[np.uint64, float]:
    """Return the next state of SplitMix64, and a number from [0, 1) in steps of 2^-53."""
    random += np.uint64(0x9E3779B97F4A7C15)
    z = random
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return random, float(z >> np.uint64(11)) * 2.0**-53


@njit(cache=True)
def _chance_move(walk: _Walk, begin: int, end: int, drawn: float) -> int:
    """Return which of the children `begin` to `end - 1` chance moves to."""
    place = begin
    drawn -= walk.chance[walk.child[place]]
    while drawn >= 0 and place < end - 1:
        place += 1
        drawn -= walk.chance[walk.child[place]]
    return place


@njit(cache=True)
def _opponent_move(other: Floats, first: int, count: int, weight: float, drawn: float) -> int:
    """Return which action the opponent draws; his strategy is added to his sums with that weight."""
    regrets, sums = other[0], other[1]
    total = 0.0
    for s in range(first, first + count):
        total += max(0.0, regrets[s])
    if total <= 0:
        for s in range(first, first + count):
            sums[s] += weight / count
        return min(int(drawn * count), count - 1)
    scale = weight / total
    drawn *= total
    action = -1
    for a in range(count):
        regret = max(0.0, regrets[first + a])
        sums[first + a] += scale * regret
        if drawn >= 0 and regret > 0:  # the last that is possible, if rounding leaves a rest
            action = a
        drawn -= regret
    return action


@njit(cache=True)
def _match(regrets: Floats, first: int, count: int, sigma: Floats) -> None:
    """Write the strategy in proportion to positive regrets into `sigma[:count]`."""
    total = 0.0
    for a in range(count):
        sigma[a] = max(0.0, regrets[first + a])
        total += sigma[a]
    for a in range(count):
        sigma[a] = sigma[a] / total if total > 0 else 1 / count


@njit(cache=True)
def _match_all(first: Ints, regrets: Floats, sigma: Floats) -> None:
    for h in range(len(first) - 1):
        _match(regrets, first[h], first[h + 1] - first[h], sigma[first[h] :])
