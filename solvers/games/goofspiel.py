"""Goofspiel: point cards are won one after another by sealed bids of hand cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import perm
from typing import Any, ClassVar, Literal, TypeVar

from solvers.errors import ConfigError
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.forms.tree import too_large
from solvers.games.efg_format import EXPORTS

F = TypeVar("F")

_FEWEST, _MOST = 2, 13

Position = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Point cards turned up so far (all of them, if their order is known), player 1's bids, player 2's."""


@dataclass(frozen=True, slots=True)
class Goofspiel:
    """Each player holds cards 1 to n; for each of n point cards both bid a card at once, and the higher bid takes the points.

    Equal bids: nobody takes them. The last bids are forced and made at once. The game is symmetric: its value is 0. In the tree
    player 2 bids after player 1 and does not see his bid. Rules and numbers of histories are OpenSpiel's (`goofspiel`, made
    sequential).

    Histories, of a fixed order: 67 for 3 cards, 1,077 for 4, 26,931 for 5, 969,523 for 6. A random order: 418 for 3 cards, 26,773
    for 4.

    Attributes
    ----------
    cards
        n, from 2 to 13; more than 6 are too many for a tree.
    order
        In which the point cards come: descending, ascending, or random (then each is turned up just before the bids for it).
    imperfect_information
        Whether players only see who takes each card; else they see all bids once both are made.
    score
        sign: whoever has more points gets 1 (OpenSpiel's win_loss); total: the difference of points (half of it is OpenSpiel's
        point_difference).

    Raises
    ------
    ConfigError
        If there are too few or too many cards.

    References
    ----------
    Ross 1971, "Goofspiel: the game of pure strategy"; Lanctot et al. 2019, "OpenSpiel", arXiv:1908.09453.

    Examples
    --------
    >>> Goofspiel(cards=3).form(GameTree).histories
    {'nodes': 67, 'ends': 36, 'chance_nodes': 0, 'infosets_p1': 8, 'infosets_p2': 8}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    cards: int = 4
    order: Literal["descending", "ascending", "random"] = "descending"
    imperfect_information: bool = True
    score: Literal["sign", "total"] = "sign"

    def __post_init__(self) -> None:
        if not _FEWEST <= self.cards <= _MOST:
            raise ConfigError("cards", f"a whole number from {_FEWEST} to {_MOST}", repr(self.cards))

    @property
    def ends(self) -> int:
        """How many ends the tree has."""
        return self._rounds(self.cards - 1)

    @property
    def nodes(self) -> int:
        """How many nodes the tree has."""
        n, is_random = self.cards, self.order == "random"
        of_a_round = [(n - done if is_random else 1) * (1 + n - done) + is_random for done in range(n - 1)]
        return self.ends + sum(self._rounds(done) * many for done, many in enumerate(of_a_round))

    def refuses(self, kind: type) -> str | None:
        """Say that the tree is too large."""
        return too_large(self.nodes, "6 cards in a fixed order have 969,523, 5 in random order 3,346,656")

    def _rounds(self, done: int) -> int:
        """How many ways there are to play so many rounds."""
        return perm(self.cards, done) ** (3 if self.order == "random" else 2)

    def form(self, kind: type[F]) -> F:
        """Return the tree."""
        up = tuple(range(1, self.cards + 1))
        turned = {"ascending": up, "descending": up[::-1], "random": ()}[self.order]
        made: F = extract((turned, (), ()), partial(_look, self))  # type: ignore[assignment]
        return made


def _look(game: Goofspiel, position: Position) -> Chance | Decision | Payoff:
    turned, one, two = position
    every = range(1, game.cards + 1)
    if len(two) == game.cards - 1:
        last = [(*gone, *(card for card in every if card not in gone)) for gone in position]
        return Payoff(_paid(game, last))
    mover = 1 if len(one) == len(two) else 2
    if len(turned) == len(two):
        left = [card for card in every if card not in turned]
        return Chance(tuple((str(card), Fraction(1, len(left)), ((*turned, card), one, two)) for card in left))
    hand = [card for card in every if card not in (one if mover == 1 else two)]
    after: list[Position] = [(turned, (*one, card), two) if mover == 1 else (turned, one, (*two, card)) for card in hand]
    return Decision(mover, _known(game, mover, position), tuple(zip(map(str, hand), after, strict=True)))


def _known(game: Goofspiel, mover: int, position: Position) -> str:
    """Return the point cards (if their order is random), his bids, and who took which card or what the other bid."""
    turned, one, two = position
    mine, yours = (one, two) if mover == 1 else (two, one[: len(two)])
    if game.imperfect_information:
        other = [">" if a > b else "<" if a < b else "=" for a, b in zip(mine, yours, strict=True)]
    else:
        other = list(map(str, yours))
    told = ["".join(map(str, turned)) if game.order == "random" else "", "".join(map(str, mine)), "".join(other)]
    return " ".join(part for part in told if part)


def _paid(game: Goofspiel, played: list[tuple[int, ...]]) -> Fraction:
    """Return what player 2 pays player 1 when all cards are played, given in the order of rounds."""
    ahead = sum(points * ((one > two) - (one < two)) for points, one, two in zip(*played, strict=True))
    return Fraction(ahead if game.score == "total" else (ahead > 0) - (ahead < 0))
