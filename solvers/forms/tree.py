"""Two-player zero-sum games in extensive form, as flat arrays that are extracted once from a small class of rules.

Rules
-----
1. Nodes are numbered in depth-first order, a node before what follows it and children in the order of the moves: node 0 is the
   beginning, `parent[n] < n`, and what comes after node n are the numbers from n + 1 on, without a gap.
2. Information sets (of both players together) are numbered in the order in which they are met; so that which a player comes from
   is before that which he comes to.
3. A *slot* is an action at an information set; those of one set stand together, in its order. Whatever a strategy is made of
   (probabilities, regrets) has one number a slot.
4. Players have perfect recall: all nodes of an information set have the same own last slot before them (`came_from`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from solvers.errors import InfeasibleGame

S = TypeVar("S")

CHANCE, END = 0, -1
"""What `GameTree.player` says where nobody moves: chance does; the game is over."""


# ---- what rules say of a position --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chance:
    """Chance moves: `(name, probability, position after)`, all probabilities positive."""

    moves: tuple[tuple[str, Fraction, Any], ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """Player 1 or 2 moves: `(action, position after)`, two at least or one that is forced.

    `knows` is all that tells his information sets apart: positions in which he knows the same are one to him.
    """

    player: int
    knows: str
    moves: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Payoff:
    """The game is over: what player 2 pays player 1."""

    value: Fraction


# ---- the form ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GameTree:
    """A finite zero-sum game of two players with chance, hidden information and perfect recall. N nodes, I information sets.

    Attributes
    ----------
    parent
        `[N]` int32: the node before; -1 at node 0.
    move
        `[N]` int32: which of the parent's moves leads here, from 0; -1 at node 0.
    player
        `[N]` int8: 1 or 2 who moves, `CHANCE`, `END`.
    infoset
        `[N]` int32: the mover's information set; -1 where no player moves.
    probability
        `[N]` int32: index into `probabilities` of the chance of the move into this node (of 1 where a player made it).
    payoff
        `[N]` int32: index into `payoffs` of what player 2 pays player 1; -1 where the game goes on.
    label
        `[N]` int32: index into `labels` of the name of chance's move into this node; -1 where a player made it.
    probabilities, payoffs, labels
        Distinct values, exact; in the order met.
    infoset_player
        `[I]` int8: 1 or 2.
    infoset_names
        What the player knows; different for different sets of one player.
    actions
        Names of the actions, of each information set.
    came_from
        `[I]` int32: the same player's last slot before; -1 if it is his first move.
    is_exact
        Whether probabilities and payoffs are those of the rules, not rounded to float64.
    ante
        Poker: what each player puts in before he sees a card, in units of payoffs; else None.
    """

    built_once: ClassVar[bool] = True

    parent: NDArray[np.int32]
    move: NDArray[np.int32]
    player: NDArray[np.int8]
    infoset: NDArray[np.int32]
    probability: NDArray[np.int32]
    payoff: NDArray[np.int32]
    label: NDArray[np.int32]
    probabilities: tuple[Fraction, ...]
    payoffs: tuple[Fraction, ...]
    labels: tuple[str, ...]
    infoset_player: NDArray[np.int8]
    infoset_names: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    came_from: NDArray[np.int32]
    is_exact: bool = True
    ante: Fraction | None = None

    def __post_init__(self) -> None:
        for one in (self.parent, self.move, self.player, self.infoset, self.probability, self.payoff, self.label):
            one.flags.writeable = False  # many may read it, in many processes

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def first_slot(self) -> NDArray[np.int32]:
        """`[I + 1]`: the slots of information set i are `first_slot[i]` to `first_slot[i + 1] - 1`."""
        return np.concatenate([[0], np.cumsum([len(names) for names in self.actions])]).astype(np.int32)

    @property
    def slots(self) -> int:
        """How many actions there are at all information sets together."""
        return int(self.first_slot[-1])

    @cached_property
    def slot_player(self) -> NDArray[np.int8]:
        """`[slots]`: whose action it is."""
        return np.repeat(self.infoset_player, np.diff(self.first_slot)).astype(np.int8)

    @cached_property
    def children(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """`(start [N + 1], nodes [N - 1])`: the children of n, in the order of the moves, are `nodes[start[n] : start[n + 1]]`."""
        nodes = np.argsort(self.parent[1:], kind="stable").astype(np.int32) + np.int32(1)
        start = np.concatenate([[0], np.cumsum(np.bincount(self.parent[1:], minlength=len(self)))])
        return start.astype(np.int32), nodes

    @cached_property
    def slot_before(self) -> NDArray[np.int32]:
        """`[N]`: the slot of the move into a node; -1 at node 0 and where chance moved."""
        infoset = np.where(self.parent >= 0, self.infoset[self.parent], -1)
        return np.where(infoset >= 0, self.first_slot[infoset] + self.move, -1).astype(np.int32)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """`[N]` float64: the chance of the move into a node, 1 where a player made it."""
        return np.array([float(one) for one in self.probabilities])[self.probability]

    @cached_property
    def earnings(self) -> NDArray[np.float64]:
        """`[N]` float64: what player 2 pays player 1; 0 where the game goes on."""
        return np.array([*(float(one) for one in self.payoffs), 0.0])[self.payoff]

    @property
    def histories(self) -> dict[str, int]:
        """How large it is: numbers of nodes, ends, chance nodes, information sets of both players."""
        kinds = {"nodes": len(self), "ends": int((self.player == END).sum()), "chance_nodes": int((self.player == CHANCE).sum())}
        return {**kinds, **{f"infosets_p{player}": int((self.infoset_player == player).sum()) for player in (1, 2)}}


# ---- extraction --------------------------------------------------------------------------------------------------------------


MOST_NODES = 4_000_000
"""Games whose trees have more nodes are refused while planning: extraction takes some 3 us and 300 bytes a node."""


def too_large(nodes: int, hint: str = "") -> str | None:
    """Say that a tree is too large to be extracted, if it is: what games answer when asked whether they `refuse`."""
    if nodes <= MOST_NODES:
        return None
    many = f"{nodes:,}" if nodes < _COUNTED else f"more than {_COUNTED:.0e}"
    return f"its tree has {many} nodes, at most {MOST_NODES:,} are extracted" + (f": {hint}" if hint else "")


_COUNTED = 10**18


@dataclass(slots=True)
class _Distinct:
    """Exact numbers in the order met, each once; by their ratios, which hash faster than they do."""

    values: list[Fraction] = field(default_factory=list)
    places: dict[tuple[int, int], int] = field(default_factory=dict)

    def place(self, value: Fraction) -> int:
        ratio = value.as_integer_ratio()
        found = self.places.get(ratio)
        if found is None:
            found = self.places[ratio] = len(self.values)
            self.values.append(value)
        return found


def extract(  # noqa: PLR0915 (the one loop that is the algorithm stays whole)
    start: S, look: Callable[[S], Chance | Decision | Payoff], *, is_exact: bool = True, ante: Fraction | None = None
) -> GameTree:
    """Return the tree of all positions that follow from `start`; `look` says what a position is.

    Time: about 1 us a node beyond what `look` takes. Memory: some 40 bytes a node, some 300 while extracting.

    Raises
    ------
    InfeasibleGame
        If chances do not sum to 1 or are not positive, a position has no moves, positions that a player cannot tell apart have
        different actions, or a player forgets what he did or knew.

    Examples
    --------
    >>> coin = Chance((("heads", Fraction(1, 2), 1), ("tails", Fraction(1, 2), 0)))
    >>> def look(position):  # player 2 guesses a coin that he does not see
    ...     if position == "toss":
    ...         return coin
    ...     if isinstance(position, int):
    ...         return Decision(2, "", (("heads", (position, 1)), ("tails", (position, 0))))
    ...     fell, guess = position
    ...     return Payoff(Fraction(-1 if fell == guess else 1))
    >>> tree = extract("toss", look)
    >>> tree.histories
    {'nodes': 7, 'ends': 4, 'chance_nodes': 1, 'infosets_p1': 0, 'infosets_p2': 1}
    """
    columns: tuple[list[int], ...] = tuple([] for _ in range(7))
    parents, moves, players, infosets, chances, payoffs, labels = columns
    probabilities, earnings = _Distinct(), _Distinct()
    probabilities.place(Fraction(1))
    names: dict[str, int] = {}
    numbers: tuple[dict[str, int], ...] = ({}, {}, {})  # information sets of players 1 and 2, by what they know
    owners: list[int] = []
    knowledge: list[str] = []
    actions: list[tuple[str, ...]] = []
    came_from: list[int] = []
    first_slot = [0]
    waiting: list[tuple[Any, int, int, int, int, int, int]] = [(start, -1, -1, 0, -1, -1, -1)]
    while waiting:
        state, parent, move, chance, label, own_1, own_2 = waiting.pop()
        here = len(parents)
        parents.append(parent)
        moves.append(move)
        chances.append(chance)
        labels.append(label)
        seen = look(state)
        if isinstance(seen, Payoff):
            players.append(END)
            infosets.append(-1)
            payoffs.append(earnings.place(seen.value))
        elif isinstance(seen, Decision):
            player, knows, choices = seen.player, seen.knows, seen.moves
            own = own_1 if player == 1 else own_2
            one = numbers[player].get(knows) if player in (1, 2) else None
            if one is None:
                actions.append(_names_of(player, knows, choices))
                one = numbers[player][knows] = len(came_from)
                owners.append(player)
                knowledge.append(knows)
                came_from.append(own)
                first_slot.append(first_slot[-1] + len(choices))
            elif came_from[one] != own:
                raise InfeasibleGame(f"player {player} forgets: {knows!r} is reached after different moves or knowledge of his")
            elif actions[one] != tuple([name for name, _ in choices]):
                raise InfeasibleGame(f"player {player} has different actions at positions where he knows the same: {knows!r}")
            players.append(player)
            infosets.append(one)
            payoffs.append(-1)
            slot, index = first_slot[one + 1], len(choices)
            for _, after in reversed(choices):
                slot, index = slot - 1, index - 1
                waiting.append(
                    (after, here, index, 0, -1, slot, own_2) if player == 1 else (after, here, index, 0, -1, own_1, slot)
                )
        else:
            outcomes = seen.moves
            _refuse_chances(outcomes)
            players.append(CHANCE)
            infosets.append(-1)
            payoffs.append(-1)
            following = []
            for index, (name, probability, after) in enumerate(outcomes):
                place = names.setdefault(name, len(names))
                following.append((after, here, index, probabilities.place(probability), place, own_1, own_2))
            waiting.extend(reversed(following))
    integers = [np.array(column, dtype=np.int32) for column in columns]
    return GameTree(
        parent=integers[0],
        move=integers[1],
        player=integers[2].astype(np.int8),
        infoset=integers[3],
        probability=integers[4],
        payoff=integers[5],
        label=integers[6],
        probabilities=tuple(probabilities.values),
        payoffs=tuple(earnings.values),
        labels=tuple(names),
        infoset_player=np.array(owners, dtype=np.int8),
        infoset_names=tuple(knowledge),
        actions=tuple(actions),
        came_from=np.array(came_from, dtype=np.int32),
        is_exact=is_exact,
        ante=ante,
    )


def _names_of(player: int, knows: str, choices: tuple[tuple[str, Any], ...]) -> tuple[str, ...]:
    names = tuple(name for name, _ in choices)
    if player not in (1, 2) or not names or len(set(names)) != len(names):
        raise InfeasibleGame(f"at {knows!r} player {player} has the actions {names}: wanted are player 1 or 2 and different names")
    return names


def _refuse_chances(outcomes: tuple[tuple[str, Fraction, Any], ...]) -> None:
    total = sum((probability for _, probability, _ in outcomes), Fraction(0))
    least = min((probability for _, probability, _ in outcomes), default=Fraction(0))
    if total != 1 or least <= 0:
        said = ", ".join(f"{name} {probability}" for name, probability, _ in outcomes[:6])
        raise InfeasibleGame(f"chances that are positive and sum to 1 are wanted, not {said} (sum {total})")
