"""A zero-sum game of two players in extensive form, from a Gambit .efg file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar, cast

from solvers.contract import File
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import GameTree
from solvers.games.efg_format import EXPORTS, Efg, read_efg
from solvers.games.payoffs import shown

F = TypeVar("F")

ONE_CARD = File(b"""EFG 2 R "One card poker: player 1 alone sees the card" { "Player 1" "Player 2" }

c "" 1 "" { "red" 1/2 "black" 1/2 } 0
p "" 1 1 "red" { "raise" "fold" } 0
p "" 2 1 "raised" { "meet" "pass" } 0
t "" 1 "won big" { 2, -2 }
t "" 2 "won" { 1, -1 }
t "" 2
p "" 1 2 "black" { "raise" "fold" } 0
p "" 2 1 0
t "" 3 "lost big" { -2, 2 }
t "" 2
t "" 4 "lost" { -1, 1 }
""")
"""Myerson's card game, the first example of Gambit's manual: value 1/3."""


@dataclass(frozen=True, slots=True)
class EfgGame:
    """A game in extensive form as Gambit writes it: chance, moves, information sets, payoffs that are exact.

    Attributes
    ----------
    path
        The file: `EFG 2 R` or `EFG 2 D`. None: Myerson's card game, in which player 1 sees a card and player 2 does not.

    Raises
    ------
    ConfigError
        If it cannot be read (with the line), is not of two players, chances do not sum to 1 or a player forgets.

    References
    ----------
    Myerson 1991, "Game theory", section 2.1 (the example).

    Examples
    --------
    >>> EfgGame().form(GameTree).histories
    {'nodes': 11, 'ends': 6, 'chance_nodes': 1, 'infosets_p1': 2, 'infosets_p2': 1}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    path: File | None = None

    def __post_init__(self) -> None:
        _game(self.path or ONE_CARD)

    @property
    def ends(self) -> int:
        """How many ends the tree has."""
        return _game(self.path or ONE_CARD).tree.histories["ends"]

    def refuses(self, kind: type) -> str | None:
        """Say what keeps the game from being zero-sum."""
        game = _game(self.path or ONE_CARD)
        if game.sums:
            (first, line), (other, other_line) = game.sums
            return (
                f"the game is not zero-sum: payoffs sum to {shown(first)} at the end in line {line}, "
                f"to {shown(other)} at that in line {other_line}"
            )
        if game.total:
            return (
                f"the game is not zero-sum: payoffs sum to {shown(game.total)} at every end; "
                f"subtract {shown(game.total)} from all payoffs of one player"
            )
        return None

    def form(self, kind: type[F]) -> F:
        """Return the tree.

        Raises
        ------
        InfeasibleGame
            If the game is not zero-sum.
        """
        why = self.refuses(kind)
        if why is not None:
            raise InfeasibleGame(why)
        return cast("F", _game(self.path or ONE_CARD).tree)


@lru_cache(maxsize=8)
def _game(file: File) -> Efg:
    try:
        return read_efg(file.data)
    except ConfigError as error:
        raise error.under("path") from None
