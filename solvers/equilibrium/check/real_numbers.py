"""Real algebraic numbers for checkers: roots of polynomials, isolated by Descartes' rule of signs (Vincent; Collins, Akritas)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from flint import fmpq, fmpq_poly, fmpz_poly

from solvers.equilibrium.check.expressions import Terms, read_polynomial
from solvers.equilibrium.check.reading import Refuted, clipped, read_number

_ROOT = re.compile(r"root ([1-9][0-9]{0,5}) of (.+)")

Coefficients = tuple[int, ...]
"""Of a polynomial in one variable, the constant first."""


class Number:
    """The `rank`-th real root of an irreducible polynomial, from 1, lowest first, between `low` and `high`, which come closer."""

    __slots__ = ("high", "low", "of", "rank")

    def __init__(self, of: Coefficients, rank: int, low: Fraction, high: Fraction) -> None:
        self.of, self.rank, self.low, self.high = of, rank, low, high

    @property
    def key(self) -> tuple[Coefficients, int]:
        """Return what equal numbers, and only those, share."""
        return self.of, self.rank

    def narrow(self) -> None:
        if self.low == self.high:
            return
        middle = (self.low + self.high) / 2
        if (sign_at(self.of, middle) > 0) == (sign_at(self.of, self.low) > 0):
            self.low = middle
        else:
            self.high = middle


def rational(number: Fraction) -> Number:
    return Number((-number.numerator, number.denominator), 1, number, number)


def is_less(one: Number, other: Number) -> bool:
    """Compare exactly: different numbers come apart when their intervals are narrowed."""
    if one.key == other.key:
        return False
    while not (one.high < other.low or other.high < one.low):
        one.narrow()
        other.narrow()
    return one.high < other.low


def sign_at(of: Coefficients, place: Fraction) -> int:
    p, q = place.numerator, place.denominator
    value, power = 0, 1
    for coefficient in reversed(of):  # Horner, times q's powers
        value = value * p + coefficient * power
        power *= q
    return (value > 0) - (value < 0)


@cache
def isolate(of: Coefficients) -> tuple[Number, ...]:
    """Return the real roots of an irreducible polynomial, ascending.

    Examples
    --------
    >>> low, high = isolate((-2, 0, 1))  # the roots of x^2 - 2
    >>> low.high <= 0 <= high.low
    True
    """
    if len(of) <= 1:
        return ()
    if len(of) == 2:  # noqa: PLR2004 (degree 1)
        number = Fraction(-of[0], of[1])
        return (Number(of, 1, number, number),)
    bound = Fraction(2)
    while bound < 1 + max(abs(Fraction(one, of[-1])) for one in of[:-1]):  # Cauchy
        bound *= 2
    found: list[tuple[Fraction, Fraction]] = []
    open_intervals = [(-bound, bound)]
    while open_intervals:
        low, high = open_intervals.pop()
        changes = _sign_changes(of, low, high)
        if changes == 1:
            found.append((low, high))
        elif changes > 1:
            middle = (low + high) / 2  # no root: an irreducible polynomial of degree 2 or more has no rational ones
            open_intervals += [(low, middle), (middle, high)]
    return tuple(Number(of, rank, low, high) for rank, (low, high) in enumerate(sorted(found), start=1))


def _sign_changes(of: Coefficients, low: Fraction, high: Fraction) -> int:
    """Return Descartes' bound for the roots strictly between two numbers: exact if 0 or 1."""
    inside = fmpq_poly([fmpq(one) for one in of])(fmpq_poly([_fmpq(low), _fmpq(high - low)]))
    mirrored = fmpq_poly([inside[k] for k in range(len(of) - 1, -1, -1)])(fmpq_poly([1, 1]))
    signs = [one > 0 for one in mirrored.coeffs() if one != 0]
    return sum(before != after for before, after in pairwise(signs))


def _fmpq(number: Fraction) -> Any:
    return fmpq(number.numerator, number.denominator)


def roots_of(coefficients: Sequence[int]) -> list[Number]:
    """Return the real roots of a polynomial that is not 0, each once, ascending."""
    ordered: list[Number] = []
    for factor, _ in fmpz_poly(list(coefficients)).factor()[1]:
        for root in isolate(tuple(map(int, factor.coeffs()))):
            place = next((k for k, other in enumerate(ordered) if is_less(root, other)), len(ordered))
            ordered.insert(place, root)
    return ordered


def first_between(low: Number, high: Number) -> Fraction:
    """Return, of the numbers strictly between with the smallest power of 2 below, the least."""
    power = 1
    while True:
        while (low.low * power) // 1 != (low.high * power) // 1:
            low.narrow()
        candidate = Fraction((low.low * power) // 1 + 1, power)
        if is_less(rational(candidate), high):
            return candidate
        power *= 2


def read_root(name: str, text: Any, variables: Sequence[str]) -> tuple[int, Terms]:
    """Return rank and polynomial of `root k of POLYNOMIAL`."""
    found = _ROOT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise Refuted(f"{name}: expected p/q or root k of a polynomial, got {clipped(text)}")
    return int(found[1]), read_polynomial(name, found[2], variables)


def read_real(name: str, text: Any, variable: str) -> Number:
    """Return the number that `p/q` or `root k of POLYNOMIAL` (irreducible, no common divisor, not rational) is."""
    if not (isinstance(text, str) and text.startswith("root ")):
        return rational(read_number(name, text))
    rank, terms = read_root(name, text, (variable,))
    degree = max((power for (power,) in terms), default=0)
    coefficients = [terms.get((power,), Fraction(0)) for power in range(degree + 1)]
    of = tuple(int(one) for one in coefficients)
    factors = fmpz_poly(list(of)).factor() if any(of) else (0, [])
    if degree < 2 or of != tuple(coefficients) or factors[0] != 1 or [multiplicity for _, multiplicity in factors[1]] != [1]:  # noqa: PLR2004
        raise Refuted(f"{name}: expected an irreducible polynomial of integers, got {clipped(text)}")
    roots = isolate(of)
    if rank > len(roots):
        raise Refuted(f"{name}: {clipped(text)}, which has {len(roots)} real roots")
    return roots[rank - 1]
