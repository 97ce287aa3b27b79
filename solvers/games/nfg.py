"""A game of two players from a Gambit .nfg file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from solvers.contract import File
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.file_text import Piece, excerpt
from solvers.games.nfg_format import read_nfg
from solvers.games.payoffs import EXPORTS, as_form, not_zero_sum, numbered, wrong_name

F = TypeVar("F")

SELTEN = File(b"""NFG 1 R "Selten (IJGT, 75), Figure 2, normal form" { "Player 1" "Player 2" } { 3 2 }

1 1 0 2 0 2 1 1 0 3 2 0
""")
"""The example of Gambit's manual."""


@dataclass(frozen=True, slots=True)
class Nfg:
    """A game of two players as Gambit writes it; a `MatrixGame`, too, if it is zero-sum.

    Strategies keep their names; those that have none are r1, r2, ... and c1, c2, ...

    Attributes
    ----------
    path
        The file: `NFG 1 R` or `NFG 1 D`, with payoffs or with outcomes. None: Selten's game of 3 x 2 strategies.

    Raises
    ------
    ConfigError
        If it cannot be read (with the line and column), is not of two players, or its names are not all different or have a "+".

    Examples
    --------
    >>> Nfg().form(BimatrixGame).b
    ((Fraction(1, 1), Fraction(1, 1)), (Fraction(2, 1), Fraction(3, 1)), (Fraction(2, 1), Fraction(0, 1)))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (BimatrixGame, MatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    path: File | None = None

    def __post_init__(self) -> None:
        _game(self.path or SELTEN)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return _game(self.path or SELTEN).shape

    def refuses(self, kind: type) -> str | None:
        """Say which payoffs keep it from being zero-sum, where that is wanted."""
        if kind is not MatrixGame:
            return None
        game = _game(self.path or SELTEN)
        return not_zero_sum(game.a, game.b, keys=False)

    def form(self, kind: type[F]) -> F:
        """Return the game, `[m, n]`."""
        return as_form(_game(self.path or SELTEN), kind)


@lru_cache(maxsize=32)
def _game(file: File) -> BimatrixGame:
    try:
        a, b, *names = read_nfg(file.data, file.name)
        rows, columns = (named(said, letter, count) for said, letter, count in zip(names, "rc", (len(a), len(a[0])), strict=True))
    except ConfigError as error:
        raise error.under("path") from None
    return BimatrixGame(a, b, rows, columns)


def named(names: tuple[Piece, ...] | None, letter: str, count: int) -> tuple[str, ...]:
    """Return a file's names of actions, numbers where it has none.

    Raises
    ------
    ConfigError
        If they cannot be names of ours; its path is empty.
    """
    standing = numbered(letter, count)
    if names is None:
        return standing
    given = tuple(name.text or number for name, number in zip(names, standing, strict=True))
    wrong = wrong_name(given)
    if wrong is not None:
        index, wanted, hint = wrong
        player = {"r": "1", "c": "2"}[letter]
        raise names[index].refuse(f"for the actions of player {player} {wanted}", hint, excerpt(given[index]))
    return given
