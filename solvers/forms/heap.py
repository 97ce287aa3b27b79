"""Taking-and-breaking games: the rules of one heap, and a position that is a sum of heaps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeapGame:
    """A taking-and-breaking game on heaps, by the digits of its octal code d0.d1d2...dk.

    Digit `d` at place `i` says what may be done after removing `i` counters from a heap: bit 1 take the whole heap (it had
    exactly `i`), bit 2 leave one heap, bit 4 leave two heaps (none of them empty).

    Attributes
    ----------
    digits
        d0, d1, ..., dk with trailing zeros removed (so k is the place of the last nonzero digit; `(0,)` for no moves at all).
        d0 is 0 or 4.
    code
        How tables call the game: its octal code, normalised, "0.77"; or a name that says as much in fewer words, where the code is
        long or there is none. Two games of one name are one game.
    unequal
        Whether two heaps that are left must differ in size, as in Grundy's game; octal games know no such rule.
    """

    digits: tuple[int, ...]
    code: str
    unequal: bool = False

    @property
    def last_place(self) -> int:
        """k, the place of the last nonzero digit; 0 if there is none beyond d0."""
        return len(self.digits) - 1


@dataclass(frozen=True, slots=True)
class HeapSum:
    """A position: heaps of one game, and heaps of nim beside them. Who moves picks one of them; who cannot move loses.

    Attributes
    ----------
    rules
        The game that the heaps belong to.
    parts
        The parts in their order: of a heap its counters, of a heap of nim its nimber; none is negative.
    are_nimbers
        As long: whether that part is a heap of nim, of which any number of counters may be taken.
    """

    rules: HeapGame
    parts: tuple[int, ...]
    are_nimbers: tuple[bool, ...]

    @property
    def largest_heap(self) -> int:
        """The counters of the largest heap of the game; 0 if there is none."""
        return max((part for part, is_nimber in zip(self.parts, self.are_nimbers, strict=True) if not is_nimber), default=0)
