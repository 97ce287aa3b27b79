"""What games of random whole payoffs share: how large they may be, and from which numbers they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from solvers.errors import ConfigError

MOST_ACTIONS: Final = 2000
LOW, HIGH = -9, 9  # what the fields are where nobody says otherwise

_WIDEST = 2**32


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
