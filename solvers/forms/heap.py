"""Taking-and-breaking games."""

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
        The code as text, normalised: "0.77".
    """

    digits: tuple[int, ...]
    code: str

    @property
    def last_place(self) -> int:
        """k, the place of the last nonzero digit; 0 if there is none beyond d0."""
        return len(self.digits) - 1
