"""How heap games are put in words: sets of sizes, and octal codes made of digits."""

from __future__ import annotations

from collections.abc import Mapping

from solvers.errors import ConfigError
from solvers.forms import HeapGame


def different_sizes(path: str, sizes: tuple[int, ...], most: int, why: str) -> tuple[int, ...]:
    """Return sizes in ascending order.

    Raises
    ------
    ConfigError
        If there are none, one comes twice, or is not from 1 to `most`; `why` says what is wrong with 0.
    """
    for place, size in enumerate(sizes):
        if not 1 <= size <= most:
            raise ConfigError(f"{path}[{place}]", f"1 to {most}", repr(size), why if size < 1 else "")
        if size in sizes[:place]:
            raise ConfigError(f"{path}[{place}]", "numbers that differ", f"{size} again", "write each once")
    if not sizes:
        raise ConfigError(path, "at least one number", "none")
    return tuple(sorted(sizes))


def game_of_digits(digits: Mapping[int, int]) -> HeapGame:
    """Return the octal game that has these digits, none of them 0, at these places, 1 at least, and zeros elsewhere.

    Examples
    --------
    >>> game_of_digits({1: 3, 4: 7}).code
    '0.3007'
    """
    row = tuple(digits.get(place, 0) for place in range(max(digits) + 1))
    return HeapGame(row, f"0.{''.join(map(str, row[1:]))}")
