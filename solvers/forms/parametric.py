"""Families of zero-sum matrix games: the payoffs are polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from solvers.forms.matrix import MatrixGame

Polynomial = tuple[tuple[tuple[int, ...], Fraction], ...]
"""Terms `(exponents, coefficient)`, an exponent a parameter: exponents fall in dictionary order, no coefficient is 0. `()` is 0."""


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
