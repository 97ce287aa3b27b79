"""What games of random whole payoffs share: their fields, which of them are refused, and how payoffs are drawn."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_128
from typing import Any, ClassVar, Final

from solvers.errors import ConfigError
from solvers.forms import Matrix
from solvers.games.payoffs import EXPORTS, numbered

MOST_ACTIONS: Final = 2000
LOW, HIGH = -9, 9  # what the fields are where nobody says otherwise

_WIDEST = 2**32
_BITS = 64

_whole = functools.lru_cache(maxsize=1 << 12)(Fraction)
_names = functools.lru_cache(maxsize=16)(numbered)


@dataclass(frozen=True, slots=True)
class RandomPayoffs:
    """A game whose payoffs are drawn uniformly from the whole numbers low to high, each alone.

    The same fields give the same game for ever, with any version of any library: the bits are those of SHAKE-128 (FIPS 202) over
    the text "NAME ROWS COLUMNS LOW HIGH SEED", NAME being the game's, in little-endian words of 64 bits, one a payoff, row by
    row. A payoff is low + floor(word * width / 2^64), so its probability is off by less than 2^-64. About 10 us for nine payoffs,
    half of what numpy needs to make a generator alone.

    Attributes
    ----------
    size
        Actions of each player where `rows` or `columns` does not say otherwise, 1 to `MOST_ACTIONS`.
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
    """

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

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the actions, of player 1 and of player 2."""
        m, n = self.shape
        return _names("r", m), _names("c", n)

    def drawn(self, name: str, matrices: int) -> list[Matrix]:
        """Return that many matrices, drawn one after the other."""
        m, n = self.shape
        low, width = self.low, self.high - self.low + 1
        count = matrices * m * n
        bits = shake_128(f"{name} {m} {n} {low} {self.high} {self.seed}".encode()).digest(_BITS // 8 * count)
        payoffs = [_whole(low + (word * width >> _BITS)) for word in struct.unpack(f"<{count}Q", bits)]
        rows = [tuple(payoffs[start : start + n]) for start in range(0, count, n)]
        return [tuple(rows[start : start + m]) for start in range(0, len(rows), m)]


def check_draw(counts: Mapping[str, int | None], low: int, high: int, seed: int) -> None:
    """Check how many actions there are, the least and the greatest payoff, and the seed.

    Of `low` and `high`, which may fit each alone, the one at fault is `low`, unless only `high` was changed from its default.

    Parameters
    ----------
    counts
        The fields that count actions, by name; None: not given.

    Raises
    ------
    ConfigError
        If a count is out of range, `low` is above `high`, 2^32 numbers or more lie between, or the seed is negative.

    Examples
    --------
    >>> check_draw({"size": 3}, 10, 9, 0)
    Traceback (most recent call last):
    ...
    solvers.errors.ConfigError: low: expected at most high, 9, got 10
    """
    for name, count in counts.items():
        if count is not None and not 1 <= count <= MOST_ACTIONS:
            raise ConfigError(name, f"1 to {MOST_ACTIONS}", str(count))
    if low > high:
        if low == LOW:
            raise ConfigError("high", f"at least low, {low}", str(high))
        raise ConfigError("low", f"at most high, {high}", str(low))
    if high - low >= _WIDEST:
        if high == HIGH:
            raise ConfigError("low", f"more than {high - _WIDEST}, 2^32 below high", str(low))
        raise ConfigError("high", f"less than {low + _WIDEST}, 2^32 above low", str(high))
    if seed < 0:
        raise ConfigError("seed", "at least 0", str(seed))
