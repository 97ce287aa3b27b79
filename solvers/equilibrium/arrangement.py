"""Cut a box of one or two parameters into pieces in which no polynomial of a list changes its sign, exactly.

One parameter: an interval is cut at the real roots of the polynomials. Two: cylinders (Collins). The first parameter's interval is
cut where a curve stops being a graph over it (leading coefficient or discriminant 0) or two curves meet (resultant 0); over each
interval that is left the curves lie above each other in one order, which a single sample shows. Only pieces of full dimension are
made; curves and cuts themselves are their borders.

Words
-----
factor     an irreducible polynomial over the integers, primitive, leading coefficient positive; where it is 0 is a *curve*
cut        a value of the first parameter: a real number that is rational or a root of a factor
bound      a graph over the first parameter: the k-th real root of a factor in the second, k from 1, lowest first
stack      the pieces over one interval between cuts, lowest first

References
----------
Collins, "Quantifier elimination for real closed fields by cylindrical algebraic decomposition", 1975. Ours: full dimension only,
and factors whose Bernstein coefficients over the box have one sign are left out, for they have no zero inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import floor, lcm, prod
from typing import Any

from flint import fmpq, fmpz_poly

from solvers.equilibrium.expressions import write_polynomial
from solvers.errors import InfeasibleGame

Range = tuple[Fraction, Fraction]
Polynomial = Any  # fmpz_mpoly or fmpz_poly; FLINT is untyped


@dataclass(frozen=True, slots=True)
class Factor:
    """An irreducible polynomial, known by its text; `poly` is FLINT's `fmpz_mpoly` in all parameters."""

    text: str
    poly: Polynomial = field(compare=False)

    def degree(self, parameter: int) -> int:
        degrees: tuple[int, ...] = self.poly.degrees()
        return int(degrees[parameter])


def factors_of(poly: Polynomial) -> tuple[Factor, ...]:
    """Return the factors of a polynomial that is not 0, without constants and multiplicities.

    Raises
    ------
    InfeasibleGame
        If two factors in several parameters have the same powers and coefficients from 2^31: python-flint (0.9) cannot sort them.
    """
    names = poly.context().names()
    used = [place for place, degree in enumerate(map(int, poly.degrees())) if degree > 0]
    if len(used) == 1:  # FLINT's own polynomials in one variable are sorted without that limit
        found = [_in_many(one, poly.context(), used[0]) for one, _ in in_one(poly, used[0]).factor()[1]]
    else:
        try:
            found = [one for one, _ in poly.factor()[1]]
        except OverflowError as error:
            what = f"a polynomial of degree {int(poly.total_degree())} could not be factored, for its coefficients are too large"
            raise InfeasibleGame(f"{what}; payoffs of fewer digits would do") from error
    return tuple(Factor(integer_text(one, names), one) for one in found)


def _in_many(poly: Polynomial, context: Any, place: int) -> Polynomial:
    others = len(context.names()) - 1 - place
    return context.from_dict({(0,) * place + (power,) + (0,) * others: one for power, one in enumerate(poly.coeffs()) if one})


def integer_text(poly: Polynomial, names: Sequence[str]) -> str:
    """Return a polynomial with integer coefficients as text."""
    return write_polynomial(((exponents, Fraction(coefficient)) for exponents, coefficient in integer_terms(poly)), names)


def integer_terms(poly: Polynomial) -> list[tuple[tuple[int, ...], int]]:
    """Return exponents and coefficients of an `fmpz_mpoly` as Python's integers, exponents falling."""
    return [(tuple(map(int, exponents)), int(coefficient)) for exponents, coefficient in poly.terms()]


# ---- real numbers ------------------------------------------------------------------------------------------------------------


class Real:
    """A real number: rational (`low == high`), or an irrational root of an irreducible polynomial between `low` and `high`.

    The interval shrinks as comparisons need it; the number stays.
    """

    __slots__ = ("high", "low", "poly", "rank", "sign")

    def __init__(self, poly: Polynomial, rank: int, low: Fraction, high: Fraction) -> None:
        self.poly, self.rank, self.low, self.high = poly, rank, low, high
        self.sign = _sign(poly, high)

    @classmethod
    def rational(cls, number: Fraction) -> Real:
        return cls(fmpz_poly([-number.numerator, number.denominator]), 1, number, number)

    @property
    def is_rational(self) -> bool:
        return self.low == self.high

    @property
    def key(self) -> tuple[tuple[int, ...], int]:
        """Return what two equal numbers share: the coefficients of the minimal polynomial, and which of its roots this is."""
        return tuple(map(int, self.poly.coeffs())), self.rank

    def text(self, name: str) -> str:
        """Return `p/q`, or `root k of POLYNOMIAL` in a variable of that name."""
        if self.is_rational:
            return str(self.low)
        terms = [((power,), Fraction(int(one))) for power, one in reversed(list(enumerate(self.poly.coeffs()))) if one]
        return f"root {self.rank} of {write_polynomial(terms, (name,))}"

    def refine(self) -> None:
        if self.is_rational:
            return
        middle = (self.low + self.high) / 2
        if _sign(self.poly, middle) == self.sign:
            self.high = middle
        else:
            self.low = middle

    def below(self, other: Real) -> bool:
        """Say whether this number is less than another, which is not the same."""
        while self.high >= other.low and other.high >= self.low:
            self.refine()
            other.refine()
        return self.high < other.low

    def floor(self, scale: int) -> int:
        """Return the largest integer that is not more than this number times `scale`."""
        while floor(self.low * scale) != floor(self.high * scale):
            self.refine()
        return floor(self.low * scale)


def _sign(poly: Polynomial, at: Fraction) -> int:
    value = poly(fmpq(at.numerator, at.denominator))
    return int(value > 0) - int(value < 0)


def real_roots(poly: Polynomial) -> list[Real]:
    """Return the real roots of an `fmpz_poly` that is not 0, each once, ascending.

    Examples
    --------
    >>> [one.text("a") for one in real_roots(fmpz_poly([0, -2, 0, 3]) * fmpz_poly([-1, 2]))]
    ['root 1 of 3*a^2 - 2', '0', '1/2', 'root 2 of 3*a^2 - 2']
    """
    roots = [root for factor, _ in poly.factor()[1] for root in _irreducible_roots(tuple(map(int, factor.coeffs())))]
    return sort_reals(roots)


def sort_reals(numbers: Iterable[Real]) -> list[Real]:
    """Return numbers in ascending order, equal ones once."""
    ordered: list[Real] = []
    for number in {one.key: one for one in numbers}.values():
        place = next((i for i, other in enumerate(ordered) if number.below(other)), len(ordered))
        ordered.insert(place, number)
    return ordered


@cache
def _irreducible_roots(coefficients: tuple[int, ...]) -> tuple[Real, ...]:
    poly = fmpz_poly(list(coefficients))
    if len(coefficients) == 2:  # noqa: PLR2004 (degree 1)
        number = Fraction(-coefficients[0], coefficients[1])
        return (Real(poly, 1, number, number),)
    balls = [root.real for root, _ in poly.complex_roots() if root.imag == 0]  # FLINT makes real roots' imaginary parts exactly 0
    ends = sorted((_dyadic(ball.mid()) - _dyadic(ball.rad()), _dyadic(ball.mid()) + _dyadic(ball.rad())) for ball in balls)
    return tuple(Real(poly, rank, low, high) for rank, (low, high) in enumerate(ends, start=1))


def _dyadic(ball: Any) -> Fraction:
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def dyadic_between(low: Real, high: Real) -> Fraction:
    """Return the least number between two with the smallest power of 2 as its denominator.

    Examples
    --------
    >>> dyadic_between(Real.rational(Fraction(1, 3)), Real.rational(Fraction(2, 3)))
    Fraction(1, 2)
    """
    scale = 1
    while True:
        candidate = low.floor(scale) + 1
        if Real.rational(Fraction(candidate, scale)).key != high.key and Real.rational(Fraction(candidate, scale)).below(high):
            return Fraction(candidate, scale)
        scale *= 2


# ---- polynomials on the box --------------------------------------------------------------------------------------------------


def may_vanish(poly: Polynomial, ranges: Sequence[Range]) -> bool:
    """Say whether a polynomial may be 0 inside the box: no if its Bernstein coefficients have one sign.

    Examples
    --------
    >>> from flint import Ordering, fmpz_mpoly_ctx
    >>> a, b = fmpz_mpoly_ctx.get(("a", "b"), Ordering.lex).gens()
    >>> unit = [(Fraction(0), Fraction(1))] * 2
    >>> may_vanish(2 - a - b, unit), may_vanish(1 - a - b, unit)
    (False, True)
    """
    terms = dict(integer_terms(poly))
    for place, (around, degree) in enumerate(zip(ranges, map(int, poly.degrees()), strict=True)):
        lines: dict[tuple[int, ...], list[int]] = {}  # coefficients in this parameter, by the exponents of the others
        for exponents, coefficient in terms.items():
            others = (*exponents[:place], 0, *exponents[place + 1 :])
            lines.setdefault(others, [0] * (degree + 1))[exponents[place]] = coefficient
        terms = {
            (*others[:place], power, *others[place + 1 :]): one
            for others, line in lines.items()
            for power, one in enumerate(_bernstein(line, around))
        }
    return min(terms.values()) < 0 < max(terms.values())


def _bernstein(coefficients: list[int], around: Range) -> list[int]:
    """Return a polynomial's Bernstein coefficients over an interval, last first, each times its binomial and one positive number.

    With x = low + u (high - low) and u = 1 / (1 + v) they are the coefficients of (1 + v)^d p(x) by powers of v.
    """
    low, high = around
    scale = lcm(low.denominator, high.denominator)
    degree = len(coefficients) - 1
    scaled = fmpz_poly([one * scale ** (degree - power) for power, one in enumerate(coefficients)])
    moved = scaled(fmpz_poly([int(low * scale), int((high - low) * scale)]))  # p(low + u (high - low)) scale^d
    turned = fmpz_poly([int(moved[power]) for power in range(degree, -1, -1)])
    shifted = turned(fmpz_poly([1, 1]))
    return [int(shifted[power]) for power in range(degree + 1)]


def in_one(poly: Polynomial, parameter: int = 0) -> Polynomial:
    """Return an `fmpz_mpoly` that has one parameter only as an `fmpz_poly`."""
    coefficients = [0] * (int(poly.degrees()[parameter]) + 1)
    for exponents, coefficient in integer_terms(poly):
        coefficients[exponents[parameter]] = coefficient
    return fmpz_poly(coefficients)


def over(poly: Polynomial, first: Fraction) -> Polynomial:
    """Return a polynomial in two parameters as an `fmpz_poly` in the second, times a positive number, at a value of the first."""
    height, width = (int(one) for one in poly.degrees())
    coefficients = [0] * (width + 1)
    for (i, j), coefficient in integer_terms(poly):
        coefficients[j] += coefficient * first.numerator**i * first.denominator ** (height - i)
    return fmpz_poly(coefficients)


def value_at(poly: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the exact value of an `fmpz_mpoly`."""
    if poly == 0:
        return Fraction(0)
    total, below = 0, 1
    powers = []  # of each number p/q, by the exponent e: p^e q^(degree - e)
    for number, degree in zip(point, map(int, poly.degrees()), strict=True):
        p, q = number.numerator, number.denominator
        powers.append([p**e * q ** (degree - e) for e in range(degree + 1)])
        below *= q**degree
    for exponents, coefficient in integer_terms(poly):
        total += prod((of[e] for of, e in zip(powers, exponents, strict=True)), start=coefficient)
    return Fraction(total, below)


# ---- one parameter -----------------------------------------------------------------------------------------------------------


def cut_interval(factors: Iterable[Factor], around: Range) -> list[Real]:
    """Return the ends of an interval and the roots of the factors inside it, ascending."""
    low, high = Real.rational(around[0]), Real.rational(around[1])
    roots = [root for factor in factors for root in real_roots(in_one(factor.poly))]
    return [low, *sort_reals(root for root in roots if _inside(root, low, high)), high]


def _inside(number: Real, low: Real, high: Real) -> bool:
    return number.key not in (low.key, high.key) and low.below(number) and number.below(high)


# ---- two parameters ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """The `rank`-th real root of a factor in the second parameter, as a function of the first."""

    factor: Factor
    rank: int

    def text(self, name: str) -> str:
        """Return `p/q` for a constant, or `root k of POLYNOMIAL`."""
        if self.factor.degree(0) == 0 and self.factor.degree(1) == 1:
            return real_roots(in_one(self.factor.poly, 1))[0].text(name)
        return f"root {self.rank} of {self.factor.text}"

    def at(self, first: Fraction) -> Real:
        return real_roots(over(self.factor.poly, first))[self.rank - 1]


class Projections:
    """Where curves are no graphs over the first parameter or meet: factors in the first parameter, each found once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[Factor, ...]] = {}

    def alone(self, factor: Factor) -> tuple[Factor, ...]:
        """Return where a curve turns or escapes to infinity; a factor without the second parameter stands for itself."""
        if factor.degree(1) == 0:
            return (factor,)
        key = (factor.text,)
        if key not in self._known:
            leading = _leading(factor.poly)
            turning = factors_of(factor.poly.discriminant(1)) if factor.degree(1) > 1 else ()
            self._known[key] = (*factors_of(leading), *turning)
        return self._known[key]

    def together(self, one: Factor, other: Factor) -> tuple[Factor, ...]:
        """Return where two curves meet."""
        if one == other or not (one.degree(1) and other.degree(1)):
            return ()
        key = tuple(sorted((one.text, other.text)))
        if key not in self._known:
            self._known[key] = factors_of(one.poly.resultant(other.poly, 1))
        return self._known[key]


def _leading(poly: Polynomial) -> Polynomial:
    degree = int(poly.degrees()[1])
    return poly.context().from_dict({(i, 0): one for (i, j), one in integer_terms(poly) if j == degree})


def cut_base(factors: Sequence[Factor], frame: Sequence[Factor], around: Range, projections: Projections) -> list[Real]:
    """Return the first parameter's range cut where the curves (and the box's lower and upper edge, `frame`) meet or turn."""
    found = {one for factor in factors for one in projections.alone(factor)}
    found.update(one for pair in combinations(factors, 2) for one in projections.together(*pair))
    found.update(one for pair in product(factors, frame) for one in projections.together(*pair))
    return cut_interval(found, around)


def stack_over(first: Fraction, factors: Sequence[Factor], frame: tuple[Bound, Bound]) -> list[Bound]:
    """Return the box's lower edge, the curves above it at a value of the first parameter that is no cut, and the upper edge."""
    low, high = (edge.at(first) for edge in frame)
    found: list[tuple[Real, Bound]] = []
    for factor in factors:
        if factor.degree(1) == 0:
            continue
        for rank, root in enumerate(real_roots(over(factor.poly, first)), start=1):
            if low.below(root) and root.below(high):
                place = next((i for i, (other, _) in enumerate(found) if root.below(other)), len(found))
                found.insert(place, (root, Bound(factor, rank)))
    return [frame[0], *(bound for _, bound in found), frame[1]]


def edge(context: Any, number: Fraction) -> Bound:
    """Return the horizontal line at a value of the second parameter."""
    return Bound(factors_of(number.denominator * context.gens()[1] - number.numerator)[0], 1)


def between(cuts: Sequence[Real]) -> Iterator[tuple[Real, Real, Fraction]]:
    """Yield each interval between neighbouring cuts with a number inside it."""
    for low, high in pairwise(cuts):
        yield low, high, dyadic_between(low, high)
