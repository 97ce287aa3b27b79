"""Polynomials of a game's parameters: read from text without running it, computed by FLINT, kept as `forms.Polynomial`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from solvers.contract import FrozenMap
from solvers.errors import ConfigError, did_you_mean
from solvers.forms import Polynomial

Ranges = Mapping[str, tuple[Fraction, Fraction]]

MOST_PARAMETERS = 2
MOST_DEGREE = 60
UNIT: Final = (Fraction(0), Fraction(1))

_MOST_BITS = 20_000
_DEEPEST = 50
_LONGEST = 2000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/^()]))", re.ASCII)


# ---- parameters --------------------------------------------------------------------------------------------------------------


def check_parameters(names: tuple[str, ...], ranges: Ranges | None) -> FrozenMap[tuple[Fraction, Fraction]] | None:
    """Check a game's fields `parameters` and `ranges`; return the ranges that are not 0 to 1, None if all are.

    Raises
    ------
    ConfigError
        For names that are none or that repeat, too many of them, and ranges that are empty or of no parameter.
    """
    for index, name in enumerate(names):
        if not _NAME.fullmatch(name):
            raise ConfigError(f"parameters[{index}]", "a name: letters, digits and _", repr(name))
        if name in names[:index]:
            raise ConfigError(f"parameters[{index}]", "names that are all different", repr(name))
    if len(names) > MOST_PARAMETERS:
        raise ConfigError("parameters", f"at most {MOST_PARAMETERS}", str(len(names)))
    for name, (low, high) in (ranges or {}).items():
        if name not in names:
            raise ConfigError(f"ranges.{name}", "a parameter", repr(name), did_you_mean(name, names))
        if low >= high:
            raise ConfigError(f"ranges.{name}", "[least, greatest] with least below greatest", f"[{low}, {high}]")
    kept = {name: (low, high) for name, (low, high) in (ranges or {}).items() if (low, high) != UNIT}
    return FrozenMap(kept) if kept else None


# ---- polynomials -------------------------------------------------------------------------------------------------------------


def ring(names: tuple[str, ...]) -> Any:
    """Return FLINT's ring of polynomials in these variables over the rationals."""
    return fmpq_mpoly_ctx.get(names, Ordering.lex)


def rational(number: Fraction) -> Any:
    """Return a fraction as FLINT's."""
    return fmpq(number.numerator, number.denominator)


def terms_of(polynomial: Any) -> Polynomial:
    """Return the terms of a polynomial of FLINT's, exponents falling in dictionary order."""
    found = ((tuple(map(int, exponents)), Fraction(int(one.p), int(one.q))) for exponents, one in polynomial.to_dict().items())
    return tuple(sorted(found, reverse=True))


def read_polynomial(text: str, names: tuple[str, ...]) -> Any:
    """Read a polynomial in these variables: numbers, names, + - * ^, parentheses, / by a constant; `**` is `^`.

    Raises
    ------
    ConfigError
        If it is none, with the place; its path is empty.

    Examples
    --------
    >>> read_polynomial("1 - 2*a*b + (a/3)^2", ("a", "b"))
    1/9*a^2 - 2*a*b + 1
    >>> terms_of(read_polynomial("-(a - 0.5)*a", ("a",)))
    (((2,), Fraction(-1, 1)), ((1,), Fraction(1, 2)))
    """
    if len(text) > _LONGEST:
        raise ConfigError("", f"a polynomial of at most {_LONGEST:,} characters", f"{len(text):,}")
    return _Reader(text, names).whole()


class _Reader:
    """Text by recursive descent: a sum of products of powers, `-a^2` being -(a^2)."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.text, self.names = text, names
        self.ring = ring(names)
        self.variables = dict(zip(names, self.ring.gens(), strict=True))
        self.place = self.depth = 0
        self.kind, self.now = "", ""
        self.step()

    def step(self) -> str:
        """Go to the next token; return the one that was current."""
        said = self.now
        rest = self.text[self.place :]
        found = _TOKEN.match(rest)
        if found is None and rest.strip():
            raise self.refuse(f"{rest.strip()[0]!r}")
        self.kind = (found.lastgroup or "") if found else "end"
        self.now = found[self.kind] if found else ""
        self.place += found.end() if found else 0
        return said

    def refuse(self, came: str, hint: str = "") -> ConfigError:
        wanted = f"a polynomial in {' and '.join(self.names)}, such as 1 - 2*{'*'.join(self.names)} + {self.names[0]}^2"
        return ConfigError("", wanted, f"{came} in {self.text!r}", hint)

    def unexpected(self) -> ConfigError:
        if self.kind == "end":
            return self.refuse("an end that comes too soon")
        hint = "write * between factors" if self.kind in ("name", "number") or self.now == "(" else ""
        return self.refuse(f"{self.now!r} at character {self.place - len(self.now) + 1}", hint)

    def whole(self) -> Any:
        found = self.sum()
        if self.kind != "end":
            raise self.unexpected()
        return found

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.refuse(f"more than {_DEEPEST} parentheses within each other")
        found = self.product()
        while self.now in ("+", "-"):
            sign = self.step()
            term = self.product()
            found = found + term if sign == "+" else found - term
        self.depth -= 1
        return found

    def product(self) -> Any:
        if self.now in ("+", "-"):
            return -self.signed() if self.step() == "-" else self.signed()
        return self.signed()

    def signed(self) -> Any:
        found = self.power()
        while self.now in ("*", "/"):
            sign = self.step()
            factor = self.power()
            if sign == "*":
                self.bound(degree(found) + degree(factor), _bits(found) + _bits(factor))
                found = found * factor
                continue
            if degree(factor) > 0 or not factor:
                raise self.refuse(f"a division by {factor}", "only constants other than 0 divide")
            found = found / factor.to_dict()[(0,) * len(self.names)]
        return found

    def power(self) -> Any:
        base = self.atom()
        if self.now not in ("^", "**"):
            return base
        self.step()
        if not (self.kind == "number" and self.now.isdecimal() and len(self.now) <= 3):  # noqa: PLR2004 (MOST_DEGREE has fewer)
            raise self.refuse(f"the exponent {self.now!r}", f"whole numbers, 0 to {MOST_DEGREE}")
        exponent = int(self.step())
        self.bound(max(degree(base), 1) * exponent, _bits(base) * exponent)
        return base**exponent

    def atom(self) -> Any:
        if self.kind == "number":
            return self.ring.constant(rational(Fraction(self.step())))
        if self.kind == "name":
            if self.now not in self.variables:
                raise self.refuse(f"the unknown name {self.now!r}", f"parameters are {', '.join(self.names)}")
            return self.variables[self.step()]
        if self.now != "(":
            raise self.unexpected()
        self.step()
        found = self.sum()
        if self.now != ")":
            raise self.unexpected()
        self.step()
        return found

    def bound(self, total: int, bits: int) -> None:
        """Refuse what would take long to multiply out."""
        if total > MOST_DEGREE or bits > _MOST_BITS:
            what = f"degree {total}" if total > MOST_DEGREE else "numbers of many thousand digits"
            raise self.refuse(what, f"at most degree {MOST_DEGREE}")


def degree(polynomial: Any) -> int:
    """Return the total degree, 0 of constants."""
    return max(int(polynomial.total_degree()), 0)


def _bits(polynomial: Any) -> int:
    return max((max(int(one.p).bit_length(), int(one.q).bit_length()) for one in polynomial.to_dict().values()), default=0)
