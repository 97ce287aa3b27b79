"""Liar's dice for two: hidden dice, bids that must rise, and one chance to call the other a liar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar, TypeVar

from solvers.errors import ConfigError
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.forms.tree import too_large
from solvers.games.efg_format import EXPORTS

F = TypeVar("F")

_LIAR = "liar"
_WINS = {True: Payoff(Fraction(1)), False: Payoff(Fraction(-1))}


@dataclass(frozen=True, slots=True)
class LiarsDice:
    """Each player rolls his dice and hides them; then they bid by turns, player 1 first, until one calls the last bid a lie.

    The bid 2-3 says: at least two of all dice show a three. The highest face is wild: it counts as every face. A bid is higher
    than another if it says more dice, or as many and a higher face. If a bid that is called a liar's is true its bidder wins, else
    the other; the winner gets 1. Rules, names and numbers of histories are OpenSpiel's (`liars_dice`, its bidding rule
    "reset-face"), except that several dice of a player are rolled at once and put in order, which makes the tree smaller.

    Histories: 1 die of 4 faces 8,181, of 5 51,181, of 6 294,883; 2 dice of 3 faces 294,883; about twice the squared number of hands
    times 2^(2 dice faces).

    Attributes
    ----------
    dice
        How many each player has, at least 1.
    faces
        How many faces a die has, at least 1.

    Raises
    ------
    ConfigError
        If a field is out of range.

    References
    ----------
    Lanctot et al. 2019, "OpenSpiel", arXiv:1908.09453; Neller & Hnath 2011, "Approximating optimal Dudo play with fixed-strategy
    iteration counterfactual regret minimization" (there called Dudo, with another wild face).

    Examples
    --------
    >>> LiarsDice(dice=1, faces=2).form(GameTree).histories
    {'nodes': 127, 'ends': 60, 'chance_nodes': 3, 'infosets_p1': 16, 'infosets_p2': 16}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    dice: int = 1
    faces: int = 6

    def __post_init__(self) -> None:
        for name, value in (("dice", self.dice), ("faces", self.faces)):
            if not 1 <= value <= _MOST:
                raise ConfigError(name, f"a whole number from 1 to {_MOST}", repr(value))

    @property
    def hands(self) -> int:
        """How many different hands there are."""
        return comb(self.dice + self.faces - 1, self.dice)

    @property
    def ends(self) -> int:
        """How many ends the tree has: pairs of hands times non-empty sets of bids, in the only order they can come."""
        return self.hands**2 * ((1 << 2 * self.dice * self.faces) - 1)

    @property
    def nodes(self) -> int:
        """How many nodes the tree has: a call, which ends it, follows each set of bids."""
        return 1 + self.hands + self.hands**2 + 2 * self.ends

    def refuses(self, kind: type) -> str | None:
        """Say that the tree is too large."""
        return too_large(self.nodes, "1 die of 6 faces, or 2 of 3, give 294,883")

    def form(self, kind: type[F]) -> F:
        """Return the tree."""
        made: F = extract((), _rules(self.dice, self.faces))  # type: ignore[assignment]
        return made


_MOST = 1000


def _rules(dice: int, faces: int) -> Callable[[Any], Chance | Decision | Payoff]:
    """Return what says what a position is.

    Positions are `()`, `(hand 1,)`, and `(hand 1, hand 2, bids so far as a set of bits, last bid)`: bids only rise, so that the set
    tells the order.
    """
    hands = list(combinations_with_replacement(range(1, faces + 1), dice))
    chances = [
        Fraction(factorial(dice), faces**dice * prod(factorial(hand.count(face)) for face in range(1, faces + 1))) for hand in hands
    ]
    shown = ["".join(map(str, hand)) if faces < 10 else ".".join(map(str, hand)) for hand in hands]  # noqa: PLR2004 (digits)
    bids = [(count, face) for count in range(1, 2 * dice + 1) for face in range(1, faces + 1)]
    names = [f"{count}-{face}" for count, face in bids]
    names_above = [(*names[last + 1 :], *([_LIAR] if last >= 0 else [])) for last in range(-1, len(bids))]
    shows = [[sum(one in (face, faces) for one in hand) for face in range(faces + 1)] for hand in hands]

    @cache
    def knows(hand: int, done: int) -> str:
        return " ".join([shown[hand], *(name for bit, name in enumerate(names) if done >> bit & 1)])

    def look(position: Any) -> Chance | Decision | Payoff:
        if isinstance(position, Payoff):
            return position
        if len(position) < 2:  # noqa: PLR2004 (a hand each)
            first = (*position, 0, -1) if position else ()
            roll = zip(shown, chances, range(len(hands)), strict=True)
            return Chance(tuple((name, chance, (*first[:1], hand, *first[1:])) for name, chance, hand in roll))
        one, two, done, last = position
        after: list[Any] = [(one, two, done | 1 << bid, bid) for bid in range(last + 1, len(bids))]
        mover = done.bit_count() % 2 + 1
        if last >= 0:
            count, face = bids[last]
            after.append(_WINS[(shows[one][face] + shows[two][face] >= count) == (mover == 2)])  # noqa: PLR2004
        return Decision(mover, knows(one if mover == 1 else two, done), tuple(zip(names_above[last + 1], after, strict=True)))

    return look
