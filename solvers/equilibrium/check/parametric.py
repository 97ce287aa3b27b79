"""Judge an exact map of a parametric game: that its formulas are an equilibrium everywhere in each piece, not at samples only.

In a cell, x and y are probabilities and v the value if finitely many quotients of polynomials are not negative: the probabilities,
and by how much each action does worse than v against the other player's mix. A quotient keeps its sign in an open piece if its
numerator and denominator have no zero there, so it is enough to see that, and the signs at one point.

One parameter: an irreducible polynomial has no zero in an interval if none of its real roots, isolated exactly, lies there. Two:
the piece lies over an interval between two bounds, roots of irreducible polynomials f and g. If, over that interval, the leading
coefficients and the discriminants of p, f and g, and the resultants of p with f and g have no zero, then real roots are continuous,
stay as many, and never meet: so p has no zero between the bounds if it has none there over one point. What is proved for open
pieces holds on their borders in the limit, for the value of a game is continuous in its payoffs.

Shared with the method are FLINT's polynomials (products, factors, resultants); roots are isolated by another method, in
`real_numbers`. That neighbouring pieces could have been joined, and that cells are few, is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from math import lcm
from typing import Any

import pyarrow as pa
from flint import Ordering, fmpq, fmpq_mat, fmpq_poly, fmpz_mpoly_ctx, fmpz_poly

from solvers.contract import Verdict
from solvers.equilibrium.check.exact_value import solve_exactly
from solvers.equilibrium.check.expressions import Terms, read_quotient
from solvers.equilibrium.check.reading import Refuted, clipped, judging, read_number, read_rows, see_cells, support_of
from solvers.equilibrium.check.real_numbers import Number, first_between, is_less, rational, read_real, read_root, roots_of
from solvers.forms import ParametricGame

CELLS, PIECES = "cells", "pieces"
CELL_COLUMNS = (
    "cell",
    "x_support",
    "y_support",
    "value_expression",
    "x",
    "y",
    "boundaries",
    "sample",
    "sample_value",
    "unique",
)
PIECE_COLUMNS = ("piece", "cell", "low", "high", "lower", "upper")

Polynomial = Any  # fmpz_mpoly; FLINT is untyped
Point = tuple[Fraction, ...]


@judging(CELLS)
def check_cells(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `cells`: probabilities that sum to 1 everywhere, and all that the row says besides, at its sample.

    That its formulas are an equilibrium throughout is judged with its pieces.

    Parameters
    ----------
    game
        A game that gives a `ParametricGame`.
    tables
        `cells` and `pieces`, without the column `point`; may hold anything.
    """
    board = _Board(game.form(ParametricGame))
    rows = read_rows(tables, CELLS, CELL_COLUMNS)
    piece_rows = read_rows(tables, PIECES, PIECE_COLUMNS)
    if not rows:
        raise Refuted("no rows, but every game has a value")
    seen: set[str] = set()
    appeared = list(dict.fromkeys(row["cell"] for row in piece_rows))
    for number, row in enumerate(rows):
        try:
            formulas = repr((row["x"], row["y"]))
            if formulas in seen or number >= len(appeared) or appeared[number] != number:
                raise Refuted("repeats a cell, or stands in another order than its first piece")  # noqa: TRY301
            seen.add(formulas)
            _judge_cell(board, row, number, [one for one in piece_rows if one["cell"] == number])
        except Refuted as wrong:
            yield Verdict(CELLS, number, "refuted", str(wrong))
            continue
        yield Verdict(CELLS, number, "proved", f"its formulas are right; its pieces say where; solved again at {row['sample']}")


@judging(PIECES)
def check_pieces(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `pieces`: together they fill the box, and the cell's formulas are an equilibrium throughout each.

    Costs an isolation of roots for each resultant of a bound with a condition, each once.

    Parameters
    ----------
    game
        A game that gives a `ParametricGame`.
    tables
        `cells` and `pieces`, without the column `point`; may hold anything.
    """
    board = _Board(game.form(ParametricGame))
    rows = read_rows(tables, PIECES, PIECE_COLUMNS)
    cells = read_rows(tables, CELLS, CELL_COLUMNS)
    if not rows:
        raise Refuted("no rows, but the box has an inside")
    before: _Piece | None = None
    for number, row in enumerate(rows):
        try:
            piece = board.read_piece(row)
            if type(row["piece"]) is not int or row["piece"] != number:
                raise Refuted(f"piece: expected {number}, got {clipped(row['piece'])}")  # noqa: TRY301
            board.judge_place(before, piece, is_last=number == len(rows) - 1)
            before = piece
            if type(row["cell"]) is not int or not 0 <= row["cell"] < len(cells):
                raise Refuted(f"cell: there is none with the number {clipped(row['cell'])}")  # noqa: TRY301
            board.prove(board.read_cell(cells[row["cell"]]), piece)
        except Refuted as wrong:
            yield Verdict(PIECES, number, "refuted", str(wrong))
            continue
        yield Verdict(
            PIECES, number, "proved", "an equilibrium throughout: no condition changes its sign here, all hold at a point"
        )


# ---- what the tables say -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Quotient:
    """In lowest terms, if made by `_reduced`."""

    above: Polynomial
    below: Polynomial

    def __sub__(self, other: _Quotient) -> _Quotient:
        return _reduced(self.above * other.below - other.above * self.below, self.below * other.below)

    def __add__(self, other: _Quotient) -> _Quotient:
        return _reduced(self.above * other.below + other.above * self.below, self.below * other.below)

    def at(self, point: Point) -> Fraction:
        below = _value(self.below, point)
        if not below:
            raise Refuted(f"a denominator is 0 at {[str(one) for one in point]}")
        return _value(self.above, point) / below


def _reduced(above: Polynomial, below: Polynomial) -> _Quotient:
    common = above.gcd(below)
    return _Quotient(above // common, below // common)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell's formulas, and the conditions under which they are an equilibrium that are not 0 everywhere, with their factors."""

    x: list[_Quotient]
    y: list[_Quotient]
    value: _Quotient
    conditions: list[_Quotient]
    factors: list[Polynomial]


@dataclass(frozen=True, slots=True)
class _Bound:
    """The `rank`-th root of an irreducible polynomial in the second parameter."""

    poly: Polynomial
    rank: int

    def same(self, other: _Bound) -> bool:
        return self.rank == other.rank and bool(self.poly == other.poly)


@dataclass(frozen=True, slots=True)
class _Piece:
    low: Number
    high: Number
    lower: _Bound | None
    upper: _Bound | None


@dataclass(slots=True)
class _Board:
    """A parametric game as polynomials, with everything already found out about them."""

    game: ParametricGame
    context: Any = None
    payoffs: list[list[_Quotient]] = field(default_factory=list)
    ends: tuple[Number, Number] = (rational(Fraction(0)), rational(Fraction(1)))
    edges: tuple[_Bound, _Bound] | None = None
    _cells: dict[str, _Cell] = field(default_factory=dict)
    _zeros: dict[str, list[Number]] = field(default_factory=dict)
    _projected: dict[tuple[str, ...], list[Polynomial]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = fmpz_mpoly_ctx.get(self.game.parameters, Ordering.lex)
        one = self.context.constant(1)
        self.payoffs = [
            [self.quotient(dict(entry), {(0,) * self.count: Fraction(1)}) for entry in row] for row in self.game.payoffs
        ]
        low, high = self.game.ranges[0]
        self.ends = (rational(low), rational(high))
        if self.count > 1:
            second = self.context.gens()[1]
            bottom, top = (_Bound(second * edge.denominator - edge.numerator * one, 1) for edge in self.game.ranges[1])
            self.edges = (bottom, top)

    @property
    def count(self) -> int:
        return len(self.game.parameters)

    def polynomial(self, terms: Terms) -> tuple[Polynomial, int]:
        """Return a polynomial times an integer that makes its coefficients integers, and that integer."""
        scale = lcm(*(one.denominator for one in terms.values()))
        return self.context.from_dict({exponents: int(one * scale) for exponents, one in terms.items()}), scale

    def quotient(self, above: Terms, below: Terms) -> _Quotient:
        (p, p_scale), (q, q_scale) = self.polynomial(above), self.polynomial(below)
        return _reduced(p * q_scale, q * p_scale)

    def read_quotient(self, name: str, text: Any) -> _Quotient:
        return self.quotient(*read_quotient(name, text, self.game.parameters))

    def read_cell(self, row: Mapping[str, Any]) -> _Cell:
        """Return the formulas of a row; refuted unless x and y sum to 1 everywhere."""
        key = repr((row["x"], row["y"], row["value_expression"]))
        if key not in self._cells:
            mixes = []
            for name, count in zip(("x", "y"), self.game.shape, strict=True):
                said = row[name]
                if not isinstance(said, list) or len(said) != count:
                    raise Refuted(f"{name}: expected {count} formulas, got {clipped(said)}")
                mix = [self.read_quotient(name, text) for text in said]
                if (total := _sum(mix)).above != total.below:
                    raise Refuted(f"{name}: its formulas do not sum to 1")
                mixes.append(mix)
            self._cells[key] = self._conditions(mixes[0], mixes[1], self.read_quotient("value_expression", row["value_expression"]))
        return self._cells[key]

    def _conditions(self, x: list[_Quotient], y: list[_Quotient], value: _Quotient) -> _Cell:
        earned = [_mean(payoffs, y) for payoffs in self.payoffs]
        paid = [_mean(payoffs, x) for payoffs in zip(*self.payoffs, strict=True)]
        needed = [*x, *y, *(value - one for one in earned), *(one - value for one in paid)]
        conditions = [one for one in needed if one.above != 0]
        factors: dict[str, Polynomial] = {}
        for one in conditions:
            for poly in (one.above, one.below):
                factors.update({str(factor): factor for factor in _irreducible(poly)})
        return _Cell(x, y, value, conditions, [one for one in factors.values() if self.may_be_zero(one)])

    def may_be_zero(self, poly: Polynomial) -> bool:
        """Say whether a polynomial may be 0 inside the box.

        With each parameter as (low + high t) / (1 + t), t > 0, its numerator has no zero if its coefficients have one sign.
        """
        terms = {exponents: fmpq(one) for exponents, one in _terms(poly)}
        for place, (low, high) in enumerate(self.game.ranges):
            degree = max(exponents[place] for exponents in terms)
            moving, one = fmpq_poly([_fmpq(low), _fmpq(high)]), fmpq_poly([1, 1])
            lines = [moving**power * one ** (degree - power) for power in range(degree + 1)]
            moved: dict[tuple[int, ...], Any] = {}  # polynomials in t, by the exponents of the other parameters
            for exponents, coefficient in terms.items():
                others = (*exponents[:place], 0, *exponents[place + 1 :])
                moved[others] = moved.get(others, 0) + lines[exponents[place]] * coefficient
            terms = {
                (*others[:place], power, *others[place + 1 :]): share
                for others, line in moved.items()
                for power, share in enumerate(line.coeffs())
            }
        signs = {one > 0 for one in terms.values() if one}
        return len(signs) > 1

    def read_piece(self, row: Mapping[str, Any]) -> _Piece:
        low, high = (read_real(name, row[name], self.game.parameters[0]) for name in ("low", "high"))
        if self.count == 1:
            if row["lower"] is not None or row["upper"] is not None:
                raise Refuted("lower, upper: expected null, for there is one parameter")
            return _Piece(low, high, None, None)
        return _Piece(low, high, self.read_bound("lower", row["lower"]), self.read_bound("upper", row["upper"]))

    def read_bound(self, name: str, text: Any) -> _Bound:
        if not (isinstance(text, str) and text.startswith("root ")):
            number = read_number(name, text)
            return _Bound(self.context.gens()[1] * number.denominator - self.context.constant(number.numerator), 1)
        rank, terms = read_root(name, text, self.game.parameters)
        poly, scale = self.polynomial(terms)
        try:
            factors = poly.factor() if terms else (0, [])
        except OverflowError:  # there are several, too large to be sorted
            factors = (0, [])
        if scale != 1 or factors[0] != 1 or [many for _, many in factors[1]] != [1] or not _degree(poly, 1):
            raise Refuted(f"{name}: expected an irreducible polynomial of integers in both parameters, got {clipped(text)}")
        return _Bound(poly, rank)

    # ---- where a piece stands

    def judge_place(self, before: _Piece | None, piece: _Piece, *, is_last: bool) -> None:
        """Refuse a piece that does not follow on the one before, from one end of the box to the other."""
        on_top = before is not None and self.edges is not None and not _is(before.upper, self.edges[1])
        if on_top and before is not None:
            follows = before.low.key == piece.low.key and before.high.key == piece.high.key and _is(piece.lower, before.upper)
        else:
            start = self.ends[0] if before is None else before.high
            follows = start.key == piece.low.key and (self.edges is None or _is(piece.lower, self.edges[0]))
        if not follows:
            raise Refuted("does not begin where the piece before it ends")
        if is_last and (piece.high.key != self.ends[1].key or (self.edges is not None and not _is(piece.upper, self.edges[1]))):
            raise Refuted("the last piece does not end where the box does")
        if not is_less(piece.low, piece.high):
            raise Refuted(f"{self.game.parameters[0]} does not rise from low to high")

    # ---- what holds in it

    def prove(self, cell: _Cell, piece: _Piece) -> None:
        """Refuse a piece in which the cell's formulas cannot be proved to be an equilibrium throughout."""
        first = first_between(piece.low, piece.high)
        for poly in self.projections(cell, piece):
            for root in self.zeros(poly):
                if is_less(piece.low, root) and is_less(root, piece.high):
                    raise Refuted(f"{poly} is 0 inside: a condition may change its sign there, or curves meet")
        point: Point = (first,)
        if piece.lower is not None and piece.upper is not None:
            bottom, top = self.over(piece.lower, first), self.over(piece.upper, first)
            if not is_less(bottom, top):
                raise Refuted("upper is not above lower")
            for poly in cell.factors:
                if _degree(poly, 1) and any(is_less(bottom, root) and is_less(root, top) for root in _roots_over(poly, first)):
                    raise Refuted(f"{poly} is 0 inside: a condition may change its sign there")
            point = (first, first_between(bottom, top))
        for condition in cell.conditions:
            if condition.at(point) < 0:
                raise Refuted(f"not an equilibrium at {[str(one) for one in point]}")

    def projections(self, cell: _Cell, piece: _Piece) -> Iterator[Polynomial]:
        """Yield the polynomials in the first parameter that must not vanish over the piece."""
        if piece.lower is None or piece.upper is None:
            yield from cell.factors
            return
        bounds = (piece.lower.poly, piece.upper.poly)
        for poly in (*cell.factors, *bounds):
            yield from self._found((str(poly),), _turns, poly)
            for bound in bounds:
                if poly != bound and _degree(poly, 1):
                    yield from self._found((str(poly), str(bound)), _meets, poly, bound)

    def _found(self, key: tuple[str, ...], find: Callable[..., list[Polynomial]], *polys: Polynomial) -> list[Polynomial]:
        if key not in self._projected:
            parts = {str(factor): factor for poly in find(*polys) for factor in _irreducible(poly)}
            self._projected[key] = list(parts.values())
        return self._projected[key]

    def zeros(self, poly: Polynomial) -> list[Number]:
        """Return the real roots of a polynomial in the first parameter alone."""
        key = str(poly)
        if key not in self._zeros:
            self._zeros[key] = roots_of(_coefficients(poly, 0))
        return self._zeros[key]

    def over(self, bound: _Bound, first: Fraction) -> Number:
        roots = _roots_over(bound.poly, first)
        if bound.rank > len(roots):
            raise Refuted(f"{bound.poly} has {len(roots)} real roots here, not {bound.rank}")
        return roots[bound.rank - 1]


def _is(one: _Bound | None, other: _Bound | None) -> bool:
    return one is not None and other is not None and one.same(other)


def _meets(one: Polynomial, other: Polynomial) -> list[Polynomial]:
    return [one.resultant(other, 1)]


def _turns(poly: Polynomial) -> list[Polynomial]:
    degree = _degree(poly, 1)
    if not degree:
        return [poly]
    leading = poly.context().from_dict({(i, 0): one for (i, j), one in _terms(poly) if j == degree})
    return [leading, poly.discriminant(1)] if degree > 1 else [leading]


# ---- one cell ----------------------------------------------------------------------------------------------------------------


def _judge_cell(board: _Board, row: Mapping[str, Any], number: int, piece_rows: Sequence[Mapping[str, Any]]) -> None:
    game = board.game
    cell = board.read_cell(row)
    pieces = [board.read_piece(one) for one in piece_rows]
    sample = _sample(board, pieces[0])
    texts = [str(one) for one in sample]
    matrix = game.at(sample)
    value, _, _ = solve_exactly(matrix.payoffs)
    x, y = [one.at(sample) for one in cell.x], [one.at(sample) for one in cell.y]
    if cell.value.at(sample) != value or any(one.at(sample) < 0 for one in cell.conditions):
        raise Refuted(f"not an equilibrium at {texts}, where the value is {value}")
    ends = [one for piece, said in zip(pieces, piece_rows, strict=True) for one in _ends(board, cell, piece, said)]
    wanted = {
        "cell": number,
        "x_support": support_of(x, game.row_actions),
        "y_support": support_of(y, game.column_actions),
        "boundaries": list(dict.fromkeys(ends)),
        "sample": texts,
        "sample_value": str(value),
        "unique": _is_unique(board, cell, x, y, sample),
    }
    see_cells(row, wanted)


def _sample(board: _Board, piece: _Piece) -> Point:
    first = first_between(piece.low, piece.high) if is_less(piece.low, piece.high) else None
    if first is None:
        raise Refuted("its first piece is empty")
    if piece.lower is None or piece.upper is None:
        return (first,)
    bottom, top = board.over(piece.lower, first), board.over(piece.upper, first)
    if not is_less(bottom, top):
        raise Refuted("its first piece is empty")
    return first, first_between(bottom, top)


def _ends(board: _Board, cell: _Cell, piece: _Piece, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a piece ends inside the box because one of its own conditions would change its sign."""
    for name, cut in (("low", piece.low), ("high", piece.high)):
        if cut.key not in (board.ends[0].key, board.ends[1].key):
            for poly in cell.factors:
                if all(not _degree(poly, place) for place in range(1, board.count)) and tuple(_coefficients(poly, 0)) == cut.of:
                    yield row[name] if board.count == 1 else _written(poly, board.game.parameters)
    for bound in (piece.lower, piece.upper):
        if bound is not None and any(bound.poly == poly for poly in cell.factors):
            yield _written(bound.poly, board.game.parameters)


def _is_unique(board: _Board, cell: _Cell, x: list[Fraction], y: list[Fraction], sample: Point) -> bool:
    """Say whether no other equilibrium exists at almost all points near the sample.

    That is so if supports are equally large, every action outside does strictly worse, and the payoffs within, bordered by ones,
    are not singular: then both mixes are determined, and any other optimal mix would use these actions only.
    """
    rows, columns = [i for i, one in enumerate(x) if one], [j for j, one in enumerate(y) if one]
    earned = [_mean(payoffs, cell.y) - cell.value for payoffs in board.payoffs]
    paid = [_mean(payoffs, cell.x) - cell.value for payoffs in zip(*board.payoffs, strict=True)]
    tight = [sum(one.above == 0 for one in line) for line in (earned, paid)]
    if not len(rows) == len(columns) == tight[0] == tight[1]:
        return False
    degree = max((one for line in board.payoffs for entry in line for one in map(int, entry.above.degrees())), default=0)
    steps = range(len(rows) * max(degree, 0) + 2)  # a polynomial of smaller degree that is 0 at all of these is 0
    for moved in islice(product(steps, repeat=board.count), 10_000):
        point = tuple(number + step for number, step in zip(sample, moved, strict=True))
        payoffs = board.game.at(point).payoffs
        bordered = [[_fmpq(payoffs[i][j]) for j in columns] + [fmpq(1)] for i in rows] + [[fmpq(1)] * len(rows) + [fmpq(0)]]
        if fmpq_mat(bordered).det() != 0:
            return True
    return False


# ---- polynomials -------------------------------------------------------------------------------------------------------------


def _terms(poly: Polynomial) -> list[tuple[tuple[int, ...], int]]:
    return [(tuple(int(one) for one in exponents), int(coefficient)) for exponents, coefficient in poly.to_dict().items()]


def _irreducible(poly: Polynomial) -> list[Polynomial]:
    """Return the factors; of a polynomial in one parameter by FLINT's own for these: the others are not sorted beyond 32 bits."""
    used = [place for place in range(len(poly.context().names())) if _degree(poly, place) > 0]
    if len(used) != 1:
        return [factor for factor, _ in poly.factor()[1]]
    gen = poly.context().gens()[used[0]]
    found = (factor.coeffs() for factor, _ in fmpz_poly(_coefficients(poly, used[0])).factor()[1])
    return [sum((gen**power * one for power, one in enumerate(line)), poly * 0) for line in found]


def _degree(poly: Polynomial, place: int) -> int:
    return int(poly.degrees()[place])


def _coefficients(poly: Polynomial, place: int) -> list[int]:
    made = [0] * (_degree(poly, place) + 1)
    for exponents, coefficient in _terms(poly):
        made[exponents[place]] += coefficient
    return made


def _roots_over(poly: Polynomial, first: Fraction) -> list[Number]:
    """Return the real roots of a polynomial in the second parameter at a value of the first."""
    made = [Fraction(0)] * (_degree(poly, 1) + 1)
    for (i, j), coefficient in _terms(poly):
        made[j] += coefficient * first**i
    scale = lcm(*(one.denominator for one in made))
    return roots_of([int(one * scale) for one in made])


def _value(poly: Polynomial, point: Point) -> Fraction:
    total = Fraction(0)
    for exponents, coefficient in _terms(poly):
        term = Fraction(coefficient)
        for number, exponent in zip(point, exponents, strict=True):
            if exponent:
                term *= number**exponent
        total += term
    return total


def _written(poly: Polynomial, names: Sequence[str]) -> str:
    """Return a polynomial as tables write it: terms in falling order of their exponents."""
    text = ""
    for exponents, coefficient in sorted(_terms(poly), reverse=True):
        powers = [name + (f"^{power}" if power > 1 else "") for name, power in zip(names, exponents, strict=True) if power]
        size = [] if powers and abs(coefficient) == 1 else [str(abs(coefficient))]
        sign = "-" if coefficient < 0 else "+"
        text += (f" {sign} " if text else sign.replace("+", "")) + "*".join(size + powers)
    return text or "0"


def _fmpq(number: Fraction) -> Any:
    return fmpq(number.numerator, number.denominator)


def _sum(parts: Iterable[_Quotient]) -> _Quotient:
    total, *rest = parts
    for one in rest:
        total = total + one
    return total


def _mean(payoffs: Sequence[_Quotient], mix: Sequence[_Quotient]) -> _Quotient:
    return _sum(_reduced(a.above * b.above, a.below * b.below) for a, b in zip(payoffs, mix, strict=True))
