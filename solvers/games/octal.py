"""Octal games: taking-and-breaking games on heaps, given by a code d0.d1d2...dk.

A move picks one heap and one place `i` and removes `i` counters from that heap. The digit `d_i` says what may then be left:

====  ==================================================================================
bit   may be left
====  ==================================================================================
1     nothing: the heap had exactly `i` counters (places 1, 2, ...)
2     one heap, not empty (places 1, 2, ...)
4     two heaps, neither of them empty (places 0, 1, 2, ...)
====  ==================================================================================

The digit before the point removes nothing and so may only split: it is 0 or 4. Who cannot move loses.

Known by name: Kayles 0.77, Dawson's Kayles 0.07, Dawson's chess 0.137.

References
----------
R. K. Guy, C. A. B. Smith (1956), "The G-values of various games", Proc. Cambridge Phil. Soc. 52, 514-526.
E. R. Berlekamp, J. H. Conway, R. K. Guy (1982), Winning Ways, chapter 4 "Taking and Breaking".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from solvers.errors import ConfigError
from solvers.forms import HeapGame

F = TypeVar("F")

_CODE = re.compile(r"([04]?)\.([0-7]+)")
_HEXADECIMAL = re.compile(r"[0-9a-f]?\.[0-9a-f]*[89a-f][0-9a-f]*", re.IGNORECASE)
_MOVES_WITHOUT_END = re.compile(r"[0-9]\.[0-7]+")


@dataclass(frozen=True, slots=True)
class Octal:
    """An octal game by its code.

    Parameters
    ----------
    code
        As people write it: "0.77", ".77", "0.770", "4.7", any number of digits. Kept in one form: one digit before the point,
        no zeros at the end, "0.0" for the game without moves.

    Raises
    ------
    ConfigError
        If it is not an octal code.

    Examples
    --------
    >>> Octal(".770").code
    '0.77'
    >>> Octal("0.137").form(HeapGame).digits
    (0, 1, 3, 7)
    """

    code: str

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (HeapGame,)

    def __post_init__(self) -> None:
        found = _CODE.fullmatch(self.code.strip()) if isinstance(self.code, str) else None
        if found is None:
            raise _refusal(self.code)
        first, rest = found.groups()
        object.__setattr__(self, "code", f"{first or '0'}.{rest.rstrip('0') or '0'}")

    def form(self, kind: type[F]) -> F:
        """Return the game as a `HeapGame`: its digits, trailing zeros removed."""
        first, rest = self.code.split(".")
        return cast("F", HeapGame((int(first), *map(int, rest.rstrip("0"))), self.code))


def _refusal(code: Any) -> ConfigError:
    if not isinstance(code, str):
        return ConfigError("code", "text, such as '0.77'", repr(code), "quote it")
    text = code.strip()
    if _HEXADECIMAL.fullmatch(text):
        hint = "a digit from 8 to f would also split a heap into three: that is a hexadecimal game, not an octal one"
        return ConfigError("code", "digits from 0 to 7", repr(code), hint)
    if _MOVES_WITHOUT_END.fullmatch(text):
        hint = "this digit removes nothing, so all it may do is split a heap: write '0.7' or '4.7'"
        return ConfigError("code", "0 or 4 before the point", repr(code), hint)
    hint = "write 0, 4 or nothing, then one point, then at least one digit from 0 to 7"
    return ConfigError("code", "an octal code d0.d1d2..., such as '0.77'", repr(code), hint)
