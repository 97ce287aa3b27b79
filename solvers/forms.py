"""The mathematical shapes in which games and solvers meet. A form knows no game and no method.

`MatrixGame`   two players, finitely many actions each, exact payoffs, zero-sum.
`HeapGame`     a heap game given by the octal digits of its code.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Probabilities that player 1 wins, draws, loses, for each pair of actions; each `[m, n]`, exact."""

    win: Matrix
    draw: Matrix
    lose: Matrix


@dataclass(frozen=True, slots=True)
class MatrixGame:
    """A zero-sum matrix game: player 1 picks a row, player 2 a column.

    Attributes
    ----------
    payoffs
        `[m, n]`, exact: what player 2 pays player 1.
    row_actions, column_actions
        Names, `m` and `n` of them.
    outcomes
        Where the game has a win, a draw and a loss; else None.
    """

    payoffs: Matrix
    row_actions: tuple[str, ...]
    column_actions: tuple[str, ...]
    outcomes: Outcomes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_actions), len(self.column_actions)


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
