"""A position of an octal game: several heaps, and heaps of nim beside them. Who moves picks one of them; who cannot move loses.

A heap of nim, written "*2", stands for anything that is worth as much: whole other games can be put into the sum by their nimbers.

References
----------
R. P. Sprague (1935), P. M. Grundy (1939): every heap is worth a heap of nim, every sum the xor of its parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from solvers.errors import ConfigError
from solvers.forms import HeapGame, HeapSum
from solvers.games.octal import Octal

F = TypeVar("F")

MOST_PARTS = 1_000
LARGEST = 1_000_000_000
"""Of a heap and of a nimber. What can be solved is much smaller: solvers say how much."""
_NIMBER = re.compile(r"\*([0-9]{0,10})")


@dataclass(frozen=True, slots=True)
class HeapPosition:
    """A sum of heaps of an octal game and of nimbers.

    Parameters
    ----------
    code
        The game's octal code, as in `Octal`.
    heaps
        Up to 1000 parts in any order: 7 for a heap of seven counters, "*2" for a nimber ("*" is "*1"). Their order is kept, because
        findings name a part by its place.

    Raises
    ------
    ConfigError
        If the code is none, or a part is neither a heap nor a nimber, negative or more than 10^9.

    Examples
    --------
    >>> HeapPosition("0.77", (5, "*")).heaps
    (5, '*1')
    >>> HeapPosition("0.77", (5, "*2")).form(HeapSum).are_nimbers
    (False, True)
    """

    code: str
    heaps: tuple[int | str, ...]

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (HeapSum,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", Octal(self.code).code)
        if len(self.heaps) > MOST_PARTS:
            raise ConfigError("heaps", f"at most {MOST_PARTS} parts", f"{len(self.heaps)}")
        object.__setattr__(self, "heaps", tuple(_part(f"heaps[{place}]", part) for place, part in enumerate(self.heaps)))

    def form(self, kind: type[F]) -> F:
        """Return the position as a `HeapSum`."""
        parts = tuple(int(part[1:]) if isinstance(part, str) else part for part in self.heaps)
        are_nimbers = tuple(isinstance(part, str) for part in self.heaps)
        return cast("F", HeapSum(Octal(self.code).form(HeapGame), parts, are_nimbers))


def _part(path: str, part: int | str) -> int | str:
    """Return a part in its one form: a number, or "*" and a number."""
    found = _NIMBER.fullmatch(part) if isinstance(part, str) else None
    if isinstance(part, str) and found is None:
        raise ConfigError(path, "a heap, such as 7, or a nimber, such as '*2'", repr(part))
    size = part if isinstance(part, int) else int((found and found[1]) or 1)
    if not 0 <= size <= LARGEST:
        raise ConfigError(path, f"0 to {LARGEST}", repr(part))
    return size if found is None else f"*{size}"
