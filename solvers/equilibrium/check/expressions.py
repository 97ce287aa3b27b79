"""Reading exact polynomials and quotients of polynomials from the text of a table, strictly as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from solvers.equilibrium.check.reading import Refuted, clipped, read_number

Terms = dict[tuple[int, ...], Fraction]
"""A polynomial: coefficients, none of them 0, by exponents."""

_QUOTIENT = re.compile(r"\(([^()]+)\)/\(([^()]+)\)")
_POWER = re.compile(r"([A-Za-z_]\w*)(?:\^([1-9][0-9]{0,3}))?")
_LONGEST = 1_000_000


def read_polynomial(name: str, text: Any, variables: Sequence[str]) -> Terms:
    """Return a polynomial as its terms.

    Raises
    ------
    Refuted
        If the text is none, names another variable, or has a term twice, out of order of its factors, or with coefficient 0.

    Examples
    --------
    >>> read_polynomial("it", "1/2*a*b^2 - a", ("a", "b"))
    {(1, 2): Fraction(1, 2), (1, 0): Fraction(-1, 1)}
    """
    if not isinstance(text, str) or not text or len(text) > _LONGEST:
        raise Refuted(f"{name}: expected a polynomial, got {clipped(text)}")
    terms: Terms = {}
    if text == "0":
        return terms
    places = {variable: place for place, variable in enumerate(variables)}
    for piece in re.sub(r" ([+-]) ", r" \1", text).split(" "):
        sign, factors = (-1, piece[1:]) if piece.startswith("-") else (1, piece[1:] if terms and piece[:1] == "+" else piece)
        exponents, size = _read_term(name, text, factors, places)
        if exponents in terms or not size or (terms and piece[:1] not in ("+", "-")):
            raise Refuted(f"{name}: not a polynomial as we write it: {clipped(text)}")
        terms[exponents] = sign * size
    return terms


def read_quotient(name: str, text: Any, variables: Sequence[str]) -> tuple[Terms, Terms]:
    """Return numerator and denominator; the denominator of a polynomial is 1."""
    found = _QUOTIENT.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if found is None:
        return read_polynomial(name, text, variables), {(0,) * len(variables): Fraction(1)}
    below = read_polynomial(name, found[2], variables)
    if not below:
        raise Refuted(f"{name}: a denominator is 0")
    return read_polynomial(name, found[1], variables), below


def value_at(terms: Terms, values: Sequence[Fraction]) -> Fraction:
    """Return the exact value of a polynomial."""
    total = Fraction(0)
    for exponents, coefficient in terms.items():
        term = coefficient
        for value, exponent in zip(values, exponents, strict=True):
            if exponent:
                term *= value**exponent
        total += term
    return total


def _read_term(name: str, text: str, factors: str, places: dict[str, int]) -> tuple[tuple[int, ...], Fraction]:
    exponents = [0] * len(places)
    size = Fraction(1)
    last = -1
    for index, factor in enumerate(factors.split("*")):
        if index == 0 and factor[:1].isdigit():
            size = read_number(name, factor)
            continue
        power = _POWER.fullmatch(factor)
        place = places.get(power[1], -1) if power else -1
        if power is None or place <= last:
            raise Refuted(f"{name}: not a polynomial in {', '.join(places)} as we write it: {clipped(text)}")
        exponents[place] = int(power[2] or 1)
        last = place
    return tuple(exponents), size
