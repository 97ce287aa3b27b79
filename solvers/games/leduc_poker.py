"""Leduc poker (Southey et al. 2005): six cards of three ranks, two rounds of bets, one card that both see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, TypeVar

from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.games.efg_format import EXPORTS

F = TypeVar("F")

_RANKS = "JQK"
_SUITS = "sh"  # spades and hearts
_NAMES = {"k": "check", "b": "bet", "f": "fold", "c": "call", "r": "raise"}
_ASKED = {"": "kb", "k": "kb", "b": "fcr", "kb": "fcr", "br": "fc", "kbr": "fc"}  # what was done in a round -> what can be done
_SIZES = (2, 4)  # of a bet and of a raise, by round
_ANTE = 1

Position = tuple[tuple[str, ...], str, str]
"""Cards dealt so far (player 1's, player 2's, the common one), what was done in round 1, in round 2."""


@dataclass(frozen=True, slots=True)
class LeducPoker:
    """Leduc poker: 9,457 histories, 468 information sets a player, value about -0.0856064.

    Both put in 1. Each gets a card of J, Q, K in two suits; a round of bets of 2; a common card is turned up; a round of bets of 4.
    In a round there are a bet and one raise at most; player 1 begins both. A pair with the common card wins, else the higher rank;
    equal ranks share.

    Attributes
    ----------
    suit_isomorphism
        Whether suits, which change nothing, are not told apart: 1,939 histories, 144 information sets a player, the same value.

    References
    ----------
    Southey et al. 2005, "Bayes' bluff: opponent modelling in poker"; sizes as in OpenSpiel (`leduc_poker`).

    Examples
    --------
    >>> LeducPoker(suit_isomorphism=True).form(GameTree).histories
    {'nodes': 1939, 'ends': 1116, 'chance_nodes': 49, 'infosets_p1': 144, 'infosets_p2': 144}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    suit_isomorphism: bool = False

    @property
    def ends(self) -> int:
        """How many ends the tree has."""
        return 1116 if self.suit_isomorphism else 5520

    def form(self, kind: type[F]) -> F:
        """Return the tree."""
        deck = [rank if self.suit_isomorphism else rank + suit for rank in _RANKS for suit in _SUITS]
        made: F = extract(((), "", ""), partial(_look, deck), ante=Fraction(_ANTE))  # type: ignore[assignment]
        return made


def _look(deck: list[str], position: Position) -> Chance | Decision | Payoff:
    cards, first, second = position
    if first.endswith("f"):
        return Payoff(Fraction(_folded(first, 0, _ANTE)))
    is_second = bool(first) and first not in _ASKED  # round 1 is over
    if len(cards) < 2 + is_second:
        return _deal(deck, position)
    done = second if is_second else first
    if done not in _ASKED:
        return Payoff(Fraction(_settled(cards, first, second)))
    player = len(done) % 2 + 1
    after = ((cards, first, second + move) if is_second else (cards, first + move, "") for move in _ASKED[done])
    told = (cards[player - 1], first, *cards[2:], second)
    return Decision(
        player, " ".join(part for part in told if part), tuple(zip((_NAMES[move] for move in _ASKED[done]), after, strict=True))
    )


def _deal(deck: list[str], position: Position) -> Chance:
    cards, *done = position
    left = {card: deck.count(card) - cards.count(card) for card in deck}
    total = len(deck) - len(cards)
    return Chance(tuple((card, Fraction(many, total), ((*cards, card), *done)) for card, many in left.items() if many))


def _settled(cards: tuple[str, ...], first: str, second: str) -> int:
    """Return what player 2 pays player 1 when round 2 is over."""
    stake = _ANTE + _SIZES[0] * _raises(first)
    if second.endswith("f"):
        return _folded(second, 1, stake)
    mine, yours, common = (_RANKS.index(card[0]) for card in cards)
    mine_first, yours_first = (mine == common, mine), (yours == common, yours)
    return ((mine_first > yours_first) - (mine_first < yours_first)) * (stake + _SIZES[1] * _raises(second))


def _folded(done: str, place: int, stake: int) -> int:
    """Return what player 2 pays player 1 if the last move of a round is a fold: he loses what he had put in."""
    lost = stake + _SIZES[place] * (_raises(done) - 1)
    return lost if len(done) % 2 == 0 else -lost


def _raises(done: str) -> int:
    return done.count("b") + done.count("r")
