"""The mathematical shapes in which games and solvers meet. A form knows no game and no method.

`MatrixGame`      two players, finitely many actions each, exact payoffs, zero-sum.
`BimatrixGame`    the same with a payoff for each player: every finite game of two players.
`ParametricGame`  a zero-sum matrix game whose payoffs are polynomials in named parameters.
`HeapGame`        a heap game given by the octal digits of its code.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]

Polynomial = tuple[tuple[tuple[int, ...], Fraction], ...]
"""Terms `(exponents, coefficient)`, an exponent a parameter: exponents fall in dictionary order, no coefficient is 0. `()` is 0."""


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
class BimatrixGame:
    """A game of two players: player 1 picks a row, player 2 a column, and each gets an entry of a matrix.

    Attributes
    ----------
    a, b
        `[m, n]`, exact: what player 1 and what player 2 get.
    row_actions, column_actions
        Names, `m` and `n` of them.
    outcomes
        Where the game has a win, a draw and a loss (of player 1); else None.
    """

    a: Matrix
    b: Matrix
    row_actions: tuple[str, ...]
    column_actions: tuple[str, ...]
    outcomes: Outcomes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_actions), len(self.column_actions)

    @property
    def is_zero_sum(self) -> bool:
        """Say whether what one player gets the other always pays."""
        return all(x == -y for ours, theirs in zip(self.a, self.b, strict=True) for x, y in zip(ours, theirs, strict=True))


def as_bimatrix(game: MatrixGame) -> BimatrixGame:
    """Return a zero-sum game as one of two matrices."""
    b = tuple(tuple(-entry for entry in row) for row in game.payoffs)
    return BimatrixGame(game.payoffs, b, game.row_actions, game.column_actions, game.outcomes)


@dataclass(frozen=True, slots=True)
class ParametricGame:
    """A family of zero-sum matrix games: the payoffs are polynomials in parameters, each in an interval.

    Attributes
    ----------
    payoffs
        `[m, n]` polynomials with exact coefficients: what player 2 pays player 1.
    parameters
        Names, in the order of the polynomials' exponents; at least one.
    ranges
        `(least, greatest)` of each parameter, both ends in, least below greatest.
    row_actions, column_actions
        Names, `m` and `n` of them.
    """

    payoffs: tuple[tuple[Polynomial, ...], ...]
    parameters: tuple[str, ...]
    ranges: tuple[tuple[Fraction, Fraction], ...]
    row_actions: tuple[str, ...]
    column_actions: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_actions), len(self.column_actions)

    def at(self, values: tuple[Fraction, ...]) -> MatrixGame:
        """Return the game at these values of the parameters."""
        payoffs = tuple(tuple(evaluate(entry, values) for entry in row) for row in self.payoffs)
        return MatrixGame(payoffs, self.row_actions, self.column_actions)


def evaluate(polynomial: Polynomial, values: tuple[Fraction, ...]) -> Fraction:
    """Return the exact value of a polynomial."""
    total = Fraction(0)
    for exponents, coefficient in polynomial:
        term = coefficient
        for value, exponent in zip(values, exponents, strict=True):
            term *= value**exponent
        total += term
    return total


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
