"""Grundy's game: split a heap into two heaps of different sizes. Who cannot move loses.

Nobody knows whether its nimbers are periodic, though billions have been computed (Flammenkamp). It is no octal game, because
those do not forbid equal heaps; so the theorem of Guy and Smith says nothing of it and no period is ever claimed.

References
----------
P. M. Grundy (1939), "Mathematics and games", Eureka 2, 6-8.
A. Flammenkamp, "Sprague-Grundy values of Grundy's game", a page of the University of Bielefeld.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from solvers.forms import HeapGame

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class GrundysGame:
    """Grundy's game; it has no parameters.

    Examples
    --------
    >>> GrundysGame().form(HeapGame)
    HeapGame(digits=(4,), code="Grundy's game", unequal=True)
    """

    version: ClassVar[int] = 2
    gives: ClassVar[tuple[type, ...]] = (HeapGame,)

    def form(self, kind: type[F]) -> F:
        """Return the game as a `HeapGame`: split a heap, nothing removed, into two that differ."""
        return cast("F", HeapGame((4,), "Grundy's game", unequal=True))
