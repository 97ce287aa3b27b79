"""How heap games are put in words: sets of sizes, digits at places, and octal codes made of them."""

from __future__ import annotations

from collections.abc import Mapping

from solvers.errors import ConfigError
from solvers.forms import HeapGame

_RUN = 4
"""So many numbers in a row are written by their ends."""


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
    row = digits_at(digits)
    return HeapGame(row, f"0.{''.join(map(str, row[1:]))}")


def digits_at(digits: Mapping[int, int]) -> tuple[int, ...]:
    """Return d0, d1, ... with these digits at these places, zeros elsewhere, and none after the last.

    Examples
    --------
    >>> digits_at({1: 3, 4: 7})
    (0, 3, 0, 0, 7)
    """
    return tuple(digits.get(place, 0) for place in range(max(digits) + 1))


def sizes_text(sizes: tuple[int, ...]) -> str:
    """Return sizes in ascending order as a set in words, four or more in a row by their ends.

    Examples
    --------
    >>> sizes_text((1, 3, 4)), sizes_text((1, 2, 3)), sizes_text((1, 2, 3, 4, 9))
    ('{1,3,4}', '{1,2,3}', '{1..4,9}')
    """
    runs: list[list[int]] = []
    for size in sizes:
        if runs and size == runs[-1][-1] + 1:
            runs[-1].append(size)
        else:
            runs.append([size])
    parts = [f"{run[0]}..{run[-1]}" if len(run) >= _RUN else ",".join(map(str, run)) for run in runs]
    return f"{{{','.join(parts)}}}"
