"""The sequence form of a game tree (von Stengel 1996): strategies as probabilities of own moves, payoffs as one sparse matrix.

A player's *sequence* is all he did so far, named by its last slot; sequence 0 is nothing yet. Because he has perfect recall, a
node needs no more than one sequence of each player, and expected payoffs are x A y for realisation plans x and y.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.forms.tree import END, GameTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Sequences:
    """One player's sequences, S of them, and information sets, H.

    Attributes
    ----------
    infosets
        `[H]` int32: their numbers in the tree, ascending, so that a set stands after that which it comes from.
    first
        `[H + 1]` int32: the sequences that end at set h are `first[h]` to `first[h + 1] - 1`; `first[0]` is 1.
    before
        `[H]` int32: the sequence that leads to set h.
    slots
        `[S - 1]` int32: the slot in which sequence s + 1 ends.
    """

    infosets: Ints
    first: Ints
    before: Ints
    slots: Ints

    def __len__(self) -> int:
        return int(self.first[-1])


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """The sequence form of a zero-sum game: K pairs of sequences at which something is paid, each pair once.

    Attributes
    ----------
    tree
        What it was made of.
    players
        Sequences of player 1 and of player 2.
    rows, columns
        `[K]` int32: the sequence of player 1, of player 2; in the order of rows, within a row of columns.
    ends
        The tree's last nodes, and the pair that each belongs to.
    """

    tree: GameTree
    players: tuple[Sequences, Sequences]
    rows: Ints
    columns: Ints
    ends: tuple[NDArray[np.int64], Ints]

    @cached_property
    def payments(self) -> Floats:
        """`[K]` float64: chance's probability times what player 2 pays player 1, summed over the ends of the pair."""
        nodes, pairs = self.ends
        paid = _chance_reach(self.tree)[nodes] * self.tree.earnings[nodes]
        return np.bincount(pairs, paid, minlength=len(self.rows)).astype(np.float64)

    def exact_payments(self) -> list[Fraction]:
        """Return `payments` exactly. Time: about 2 us a node."""
        tree = self.tree
        nodes, pairs = self.ends
        reach: list[Fraction] = [Fraction(1)] * len(tree)
        for node in range(1, len(tree)):
            code = int(tree.probability[node])
            before = reach[tree.parent[node]]
            reach[node] = before if code == 0 else before * tree.probabilities[code]
        sums = [Fraction(0)] * len(self.rows)
        for node, pair in zip(nodes.tolist(), pairs.tolist(), strict=True):
            sums[pair] += reach[node] * tree.payoffs[tree.payoff[node]]
        return sums


def sequence_form(tree: GameTree) -> SequenceForm:
    """Return the sequence form. Time: about 0.3 us a node.

    Examples
    --------
    >>> from solvers.forms.tree import Decision, Payoff, extract
    >>> def look(position):  # matching pennies
    ...     if len(position) < 2:
    ...         return Decision(len(position) + 1, "", tuple((face, position + face) for face in "ht"))
    ...     return Payoff(Fraction(1 if position[0] == position[1] else -1))
    >>> form = sequence_form(extract("", look))
    >>> form.rows.tolist(), form.columns.tolist(), form.payments.tolist()
    ([1, 1, 2, 2], [1, 2, 1, 2], [1.0, -1.0, -1.0, 1.0])
    """
    sequence_of = np.zeros(tree.slots + 1, dtype=np.int32)  # the last entry stands for slot -1, nothing yet
    players = tuple(_sequences(tree, player, sequence_of) for player in (1, 2))
    last = [_last_own(tree, player) for player in (1, 2)]
    nodes = np.flatnonzero(tree.player == END)
    rows, columns = (sequence_of[slots[nodes]].astype(np.int64) for slots in last)
    keys, pairs = np.unique(rows * (len(players[1]) + 1) + columns, return_inverse=True)
    row, column = np.divmod(keys, len(players[1]) + 1)
    return SequenceForm(
        tree, (players[0], players[1]), row.astype(np.int32), column.astype(np.int32), (nodes, pairs.astype(np.int32).reshape(-1))
    )


def _sequences(tree: GameTree, player: int, sequence_of: Ints) -> Sequences:
    """Number a player's sequences, and note that number at each slot."""
    infosets = np.flatnonzero(tree.infoset_player == player).astype(np.int32)
    slots = np.flatnonzero(tree.slot_player == player).astype(np.int32)
    sequence_of[slots] = np.arange(1, len(slots) + 1)
    sizes = np.diff(tree.first_slot)[infosets]
    first = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.int32)
    return Sequences(infosets, first, sequence_of[tree.came_from[infosets]], slots)


def _last_own(tree: GameTree, player: int) -> Ints:
    """Return for each node the player's last slot before it, -1 if he has not moved."""
    own = np.append(tree.slot_player, 0)[tree.slot_before] == player  # the last entry stands for slot -1
    last = np.where(own, tree.slot_before, -1).astype(np.int32)
    for nodes in _levels(tree)[1:]:
        last[nodes] = np.where(own[nodes], last[nodes], last[tree.parent[nodes]])
    return last


def _chance_reach(tree: GameTree) -> Floats:
    """Return for each node the probability that chance makes all moves that lead there."""
    reach = tree.chances.copy()
    for nodes in _levels(tree)[1:]:
        reach[nodes] *= reach[tree.parent[nodes]]
    return reach


def _levels(tree: GameTree) -> list[NDArray[np.int64]]:
    """Return the nodes by the number of moves before them."""
    depth = np.zeros(len(tree), dtype=np.int32)
    parent = tree.parent
    above = parent.copy()
    while (above >= 0).any():  # as often as the tree is deep
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])
