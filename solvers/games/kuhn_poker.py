"""Kuhn poker (Kuhn 1950): three cards, one card each, one bet of one chip on top of an ante of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.games.efg_format import EXPORTS

F = TypeVar("F")

_CARDS = "JQK"
_OVER = {"pp": 1, "bf": 1, "bc": 2, "pbf": 1, "pbc": 2}  # what was done -> how many chips the loser loses
_ASKED = {"": "pb", "p": "pb", "b": "fc", "pb": "fc"}
_NAMES = {"p": "pass", "b": "bet", "f": "fold", "c": "call"}


@dataclass(frozen=True, slots=True)
class KuhnPoker:
    """Kuhn poker: 58 histories, six information sets a player, value -1/18.

    References
    ----------
    Kuhn 1950, "A simplified two-person poker", Contributions to the Theory of Games I.

    Examples
    --------
    >>> KuhnPoker().form(GameTree).histories
    {'nodes': 58, 'ends': 30, 'chance_nodes': 4, 'infosets_p1': 6, 'infosets_p2': 6}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    @property
    def ends(self) -> int:
        """How many ends the tree has."""
        return 30

    def form(self, kind: type[F]) -> F:
        """Return the tree."""
        made: F = extract(("", ""), _look, ante=Fraction(1))  # type: ignore[assignment]
        return made


def _look(position: tuple[str, str]) -> Chance | Decision | Payoff:
    cards, done = position
    if len(cards) < 2:  # noqa: PLR2004 (a card each)
        left = [card for card in _CARDS if card not in cards]
        return Chance(tuple((card, Fraction(1, len(left)), (cards + card, "")) for card in left))
    if done in _OVER:
        return Payoff(Fraction(_OVER[done] * _winner(cards, done)))
    player = len(done) % 2 + 1
    moves = tuple((_NAMES[move], (cards, done + move)) for move in _ASKED[done])
    return Decision(player, f"{cards[player - 1]} {done}".rstrip(), moves)


def _winner(cards: str, done: str) -> int:
    if done.endswith("f"):  # who folds loses; his move was the last
        return 1 if len(done) % 2 == 0 else -1
    return 1 if _CARDS.index(cards[0]) > _CARDS.index(cards[1]) else -1
