"""Random games of two players: whole payoffs, all alike likely, each drawn alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from solvers.forms import BimatrixGame
from solvers.games.draws import HIGH, LOW, check_draw
from solvers.games.payoffs import EXPORTS, as_form, numbered

F = TypeVar("F")

_BITS = 64


@dataclass(frozen=True, slots=True)
class RandomBimatrix:
    """A game of two players whose payoffs are drawn uniformly from the whole numbers low to high.

    The same seed gives the same game for ever: only numpy's PCG64 bits are used, whose stream is fixed, not what numpy makes of
    them. A number is floor(64 random bits * width / 2^64), so its probability is off by less than 2^-64.

    Attributes
    ----------
    size
        Actions of each player where `rows` or `columns` does not say otherwise, 1 to 2000.
    rows, columns
        Actions of player 1, of player 2; None: `size`.
    low, high
        The least and the greatest payoff, low at most high, fewer than 2^32 numbers.
    seed
        At least 0.

    Raises
    ------
    ConfigError
        If a number is out of range.

    Examples
    --------
    >>> game = RandomBimatrix(2, low=-9, high=9, seed=0).form(BimatrixGame)
    >>> [[int(payoff) for payoff in row] for row in game.a]
    [[3, -4], [-9, -9]]
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (BimatrixGame,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    size: int = 3
    rows: int | None = None
    columns: int | None = None
    low: int = LOW
    high: int = HIGH
    seed: int = 0

    def __post_init__(self) -> None:
        check_draw({"size": self.size, "rows": self.rows, "columns": self.columns}, self.low, self.high, self.seed)
        m, n = self.shape  # the same game, the same fields
        for name, value in (("size", m), ("rows", None), ("columns", n if n != m else None)):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return self.rows or self.size, self.columns or self.size

    def form(self, kind: type[F]) -> F:
        """Return the game; player 1's payoffs are drawn first, row by row."""
        m, n = self.shape
        drawn = iter(np.random.PCG64(self.seed).random_raw(2 * m * n).tolist())
        width = self.high - self.low + 1
        a, b = (tuple(tuple(Fraction(self.low + (next(drawn) * width >> _BITS)) for _ in range(n)) for _ in range(m)) for _ in "ab")
        return as_form(BimatrixGame(a, b, numbered("r", m), numbered("c", n)), kind)
