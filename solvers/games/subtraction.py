"""Subtraction games: remove from a heap a number of counters that is in a given set. Who cannot move loses.

They are octal games without splits, digit 3 at each place of the set; every one is periodic.

References
----------
E. R. Berlekamp, J. H. Conway, R. K. Guy (1982), Winning Ways, chapter 4 "Taking and Breaking".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from solvers.forms import HeapGame
from solvers.games.heap_words import different_sizes, digits_at, sizes_text

F = TypeVar("F")

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Subtraction:
    """A subtraction game by its set.

    Parameters
    ----------
    set
        Numbers of counters that may be removed, 1 to 1000, at least one, no two the same. Kept in ascending order.

    Raises
    ------
    ConfigError
        If the set is empty, has a number twice or one out of range: removing nothing would never end.

    Examples
    --------
    >>> Subtraction((4, 1, 3)).set
    (1, 3, 4)
    >>> Subtraction((1, 3, 4)).form(HeapGame)
    HeapGame(digits=(0, 3, 0, 3, 3), code='subtraction {1,3,4}', unequal=False)
    """

    set: tuple[int, ...]

    version: ClassVar[int] = 2
    gives: ClassVar[tuple[type, ...]] = (HeapGame,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "set", different_sizes("set", self.set, MOST, "who removes nothing never ends the game"))

    def form(self, kind: type[F]) -> F:
        """Return the game as a `HeapGame`: digit 3 (leave nothing or one heap) at each number of the set."""
        return cast("F", HeapGame(digits_at(dict.fromkeys(self.set, 3)), f"subtraction {sizes_text(self.set)}"))
