"""Exact polynomials as the text that tables hold: `1/2*p_rock*q_rock - 3*p_paper^2 + 1`, quotients as `(a - 1)/(b + 2)`.

Terms in the order given, factors in the order of the names, `*` and `^` written out: what a person, FLINT, SymPy or a computer
algebra system reads as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

Term = tuple[tuple[int, ...], Fraction]


def write_polynomial(terms: Iterable[Term], names: Sequence[str]) -> str:
    """Return a polynomial as text.

    Parameters
    ----------
    terms
        `(exponents, coefficient)`, an exponent for each name; no coefficient is 0.
    names
        What the variables are called.

    Examples
    --------
    >>> write_polynomial([((1, 2), Fraction(-1, 2)), ((1, 0), Fraction(1)), ((0, 0), Fraction(-3))], ("a", "b"))
    '-1/2*a*b^2 + a - 3'
    >>> write_polynomial([], ("a", "b"))
    '0'
    """
    text = ""
    for exponents, coefficient in terms:
        powers = [name if power == 1 else f"{name}^{power}" for name, power in zip(names, exponents, strict=True) if power]
        size = abs(coefficient)
        shown = [] if powers and size == 1 else [str(size)]
        sign = (" - " if text else "-") if coefficient < 0 else (" + " if text else "")
        text += sign + "*".join([*shown, *powers])
    return text or "0"


def variables(letter: str, actions: Sequence[str]) -> tuple[str, ...]:
    """Return a variable's name for each action: `p_rock`; what is no letter or digit becomes `_`, or all are numbered.

    Examples
    --------
    >>> variables("p", ("rock", "show 1")), variables("q", ("+1", "-1"))
    (('p_rock', 'p_show_1'), ('q_1', 'q_2'))
    """
    names = tuple(f"{letter}_{re.sub(r'[^0-9A-Za-z]', '_', action)}" for action in actions)
    return names if len(set(names)) == len(names) else tuple(f"{letter}_{number}" for number in range(1, len(actions) + 1))
