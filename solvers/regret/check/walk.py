"""A checker's own walk over a game tree: what strategies are worth and what best replies earn, in float64 and exactly.

One pass over the nodes notes, for every end of the game, each player's last slot before it and chance's part. A strategy is one
number a slot; a *plan* the product of a player's own numbers from his first move to a slot. Slot -1, nothing done yet, stands last
in every array, where Python's index -1 finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from solvers.forms import GameTree
from solvers.forms.tree import CHANCE, END

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class _Level:
    """A player's sets at which he has moved equally often before: their slots, where each set begins, what led there."""

    slots: Places
    starts: Places
    sizes: Places
    before: Places


@dataclass(frozen=True, eq=False)
class Walk:
    """A tree, walked once. Time: about 1 us a node, and some ns an end for each strategy."""

    tree: GameTree

    @cached_property
    def last(self) -> tuple[list[int], list[int]]:
        """`[E]` each: the last slots of player 1 and of player 2 before each end of the game."""
        return self._ends[0], self._ends[1]

    @cached_property
    def paid(self) -> tuple[list[int], int]:
        """`[E]`: chance's part times what player 2 pays player 1, and what to divide it by."""
        _, _, reach, codes = self._ends
        payoffs = self.tree.payoffs
        scale = lcm(*{one.denominator for one in reach}) * lcm(*(one.denominator for one in payoffs))
        products = {(one, code): int(one * payoffs[code] * scale) for one, code in set(zip(reach, codes, strict=True))}
        return [products[key] for key in zip(reach, codes, strict=True)], scale

    @cached_property
    def floats(self) -> tuple[Places, Places, Floats]:
        """`last` and `paid` as arrays."""
        _, _, reach, codes = self._ends
        chance = {one: float(one) for one in set(reach)}
        payoffs = np.array([float(one) for one in self.tree.payoffs])
        return np.array(self.last[0]), np.array(self.last[1]), np.array([chance[one] for one in reach]) * payoffs[codes]

    @cached_property
    def _ends(self) -> tuple[list[int], list[int], list[Fraction], list[int]]:
        """Return for each end both last slots, chance's part, the place of its payoff."""
        tree = self.tree
        last: tuple[list[int], list[int]] = ([-1] * len(tree), [-1] * len(tree))
        reach = [Fraction(1)] * len(tree)
        first, movers, sets = tree.first_slot.tolist(), tree.player.tolist(), tree.infoset.tolist()
        parents, moves, codes = tree.parent.tolist(), tree.move.tolist(), tree.probability.tolist()
        for n in range(1, len(tree)):
            parent = parents[n]
            last[0][n], last[1][n], reach[n] = last[0][parent], last[1][parent], reach[parent]
            if movers[parent] == CHANCE:
                reach[n] = reach[parent] * tree.probabilities[codes[n]]
            else:
                last[movers[parent] - 1][n] = first[sets[parent]] + moves[n]
        ends = [n for n, player in enumerate(movers) if player == END]
        paid = tree.payoff.tolist()
        return [last[0][n] for n in ends], [last[1][n] for n in ends], [reach[n] for n in ends], [paid[n] for n in ends]

    @cached_property
    def levels(self) -> tuple[list[_Level], list[_Level]]:
        """Each player's information sets, by how often he has moved before."""
        tree = self.tree
        first, came_from = tree.first_slot.tolist(), tree.came_from.tolist()
        set_of = np.repeat(np.arange(len(tree.actions)), np.diff(tree.first_slot)).tolist()
        depth: list[int] = []
        for before in came_from:
            depth.append(depth[set_of[before]] + 1 if before >= 0 else 0)
        found: tuple[list[_Level], list[_Level]] = ([], [])
        for player in (1, 2):
            mine = [i for i, owner in enumerate(tree.infoset_player.tolist()) if owner == player]
            for level in range(1 + max((depth[i] for i in mine), default=-1)):
                here = [i for i in mine if depth[i] == level]
                sizes = np.array([first[i + 1] - first[i] for i in here])
                slots = np.array([slot for i in here for slot in range(first[i], first[i + 1])])
                starts = np.cumsum(sizes) - sizes
                found[player - 1].append(_Level(slots, starts, sizes, np.array([came_from[i] for i in here])))
        return found

    def sums(self, player: int, sigma: Floats) -> Floats:
        """Return what a player's numbers `[slots]` sum to at each of his sets, in no order that means anything."""
        return np.concatenate([np.zeros(0), *(np.add.reduceat(sigma[one.slots], one.starts) for one in self.levels[player - 1])])

    def plans(self, sigma: Floats) -> Floats:
        """Return both players' plans `[slots + 1]` of their numbers `[slots]`; the last entry is 1."""
        plans = np.append(sigma, 1.0)
        for levels in self.levels:
            for one in levels:
                plans[one.slots] *= np.repeat(plans[one.before], one.sizes)
        return plans

    def mean(self, plans: Floats) -> float:
        """Return what player 2 pays player 1 on average."""
        one, two, paid = self.floats
        return float((paid * plans[one] * plans[two]).sum())

    def best(self, player: int, plans: Floats) -> float:
        """Return what a player's best reply to the other's plan earns him."""
        one, two, paid = self.floats
        mine, weights = (one, paid * plans[two]) if player == 1 else (two, -paid * plans[one])
        worth = np.bincount(mine + 1, weights, minlength=len(plans))  # slot -1 comes first here
        for level in reversed(self.levels[player - 1]):
            most = np.maximum.reduceat(worth[level.slots + 1], level.starts)
            worth += np.bincount(level.before + 1, most, minlength=len(plans))
        return float(worth[0])

    # ---- exactly -------------------------------------------------------------------------------------------------------------

    def exact_plans(self, sigma: Sequence[Fraction]) -> list[Fraction]:
        """Return both players' plans `[slots + 1]` of their numbers `[slots]`."""
        tree = self.tree
        first, came_from = tree.first_slot.tolist(), tree.came_from.tolist()
        plans = [*sigma, Fraction(1)]
        for i, before in enumerate(came_from):  # a set comes after that which it comes from
            for slot in range(first[i], first[i + 1]):
                plans[slot] = plans[before] * sigma[slot]
        return plans

    def exact_worth(self, player: int, plans: Sequence[Fraction]) -> tuple[list[int], int]:
        """Return what each slot `[slots + 1]` earns a player who goes on by best replies, and what to divide it by.

        It counts how likely chance and the other lead there; the last entry is the whole game.
        """
        paid, divisor = self.paid
        mine, theirs = self.last if player == 1 else self.last[::-1]
        weights, scale = self._whole(3 - player, plans)
        sign = 1 if player == 1 else -1
        worth = [0] * len(plans)
        for one, other, payment in zip(mine, theirs, paid, strict=True):
            worth[one] += sign * payment * weights[other]
        first, came_from, owners = self.tree.first_slot.tolist(), self.tree.came_from.tolist(), self.tree.infoset_player.tolist()
        for i in range(len(came_from) - 1, -1, -1):
            if owners[i] == player:
                worth[came_from[i]] += max(worth[first[i] : first[i + 1]])
        return worth, scale * divisor

    def exact_best(self, player: int, plans: Sequence[Fraction]) -> Fraction:
        """Return what a player's best reply to the other's plan earns him."""
        worth, scale = self.exact_worth(player, plans)
        return Fraction(worth[-1], scale)

    def exact_mean(self, plans: Sequence[Fraction]) -> Fraction:
        """Return what player 2 pays player 1 on average."""
        (mine, one_scale), (theirs, two_scale) = self._whole(1, plans), self._whole(2, plans)
        paid, divisor = self.paid
        earned = [0] * len(plans)
        for one, two, payment in zip(*self.last, paid, strict=True):
            earned[one] += payment * theirs[two]
        return Fraction(sum(a * b for a, b in zip(earned, mine, strict=True) if a), one_scale * two_scale * divisor)

    def _whole(self, player: int, plans: Sequence[Fraction]) -> tuple[list[int], int]:
        """Return a player's plan as integers, 0 at the other's slots, and what to divide them by."""
        owners = [*self.tree.slot_player.tolist(), player]
        scale = lcm(*{plan.denominator for plan, owner in zip(plans, owners, strict=True) if owner == player})
        return [
            plan.numerator * (scale // plan.denominator) if owner == player else 0
            for plan, owner in zip(plans, owners, strict=True)
        ], scale
