"""Kayles, with balls of any sizes: a ball of size s knocks down s pins that stand side by side. Who knocks down the last pin wins.

A row of pins is a heap; what is left of it stands in at most two rows. So a ball of size s is digit 7 at place s of an octal game:
Kayles itself, with balls of 1 and 2, is 0.77.

References
----------
H. E. Dudeney (1908), The Canterbury Puzzles, no. 73. R. K. Guy, C. A. B. Smith (1956), "The G-values of various games", Proc.
Cambridge Phil. Soc. 52, 514-526: period 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from solvers.forms import HeapGame
from solvers.games.heap_words import different_sizes, game_of_digits

F = TypeVar("F")

LARGEST_BALL = 100


@dataclass(frozen=True, slots=True)
class Kayles:
    """Kayles by the sizes of its balls.

    Parameters
    ----------
    balls
        How many pins each kind of ball knocks down, 1 to 100, at least one kind, no two the same. Kept in ascending order.

    Raises
    ------
    ConfigError
        If there is no ball, a size comes twice or is out of range.

    Examples
    --------
    >>> Kayles().form(HeapGame)
    HeapGame(digits=(0, 7, 7), code='0.77', unequal=False)
    >>> Kayles((3, 1)).form(HeapGame).code
    '0.707'
    """

    balls: tuple[int, ...] = (1, 2)

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (HeapGame,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "balls", different_sizes("balls", self.balls, LARGEST_BALL, "a ball knocks down a pin at least"))

    def form(self, kind: type[F]) -> F:
        """Return the game as a `HeapGame`: digit 7 at each size."""
        return cast("F", game_of_digits(dict.fromkeys(self.balls, 7)))
