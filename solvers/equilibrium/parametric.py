"""A family of zero-sum games with one or two parameters, solved for all values at once: a map of how its equilibrium changes.

The box of parameters falls into *cells*. In a cell one pair of formulas, quotients of polynomials, is an equilibrium throughout,
so its supports stay and the value is a quotient of polynomials too; the cells' borders are exact: rational or algebraic numbers
for one parameter, curves for two.

By kernels (Shapley and Snow): a square submatrix B, bordered by ones, determines x, y and v as quotients of determinants, here
polynomials. This is an equilibrium exactly where finitely many quotients are not negative: the probabilities, and how much worse
each action outside the kernel is. So where all numerators and denominators keep their sign, it is an equilibrium everywhere or
nowhere. The search: solve the game at a sample of each piece, write the kernel found there as polynomials, cut the box by all
polynomials met so far (`arrangement`), and again until every piece's sample is served by a known kernel. Then the pieces are joined
again across cuts that decide nothing.

A cell is all of the box that has these formulas; it may have several parts. Its `pieces` say which: for one parameter intervals,
for two parameters the regions between two bounds over an interval of the first parameter. They are open, and what is between them
has no area; the value is continuous, so on borders it is the limit of both sides. Where a game is degenerate in a whole piece
(equal rows, say) it has many equilibria there; the map shows one, that of the first kernel known, and says `unique = false`.

Cannot do: three parameters; games beyond 5 x 5 with two parameters, 7 x 7 with one; high degrees of large games: use
`support_enumeration` over a grid (`sweep.grid`). With two parameters the cost is that of the points in which curves meet: their
number grows with the square of the curves' number and of their degree. Games with structure need few curves, games whose every
entry is a polynomial of its own need many: a 5 x 5 game of the first kind takes a second, one of the second kind minutes, or it is
given up once its curves are known.

References
----------
Shapley and Snow, "Basic solutions of discrete games", Contributions to the Theory of Games I, 1950; Collins 1975 (`arrangement`).
Ours: kernels met at samples only, so that few polynomials cut the box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, isqrt, lcm
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from flint import Ordering, fmpq, fmpq_mat, fmpz_mpoly_ctx

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.arrangement import (
    Bound,
    Factor,
    Projections,
    Range,
    Real,
    between,
    cut_base,
    cut_interval,
    dyadic_between,
    edge,
    factors_of,
    in_one,
    integer_terms,
    integer_text,
    may_vanish,
    stack_over,
    value_at,
)
from solvers.equilibrium.expressions import write_polynomial
from solvers.errors import InfeasibleGame
from solvers.forms import MatrixGame, ParametricGame
from solvers.schema import TableInfo, column, exact, table_schema

MOST_KERNELS = {1: 3431, 2: 251}
"""More square submatrices than this are refused, by the number of parameters: 7 x 7 and 5 x 5 actions still pass."""
MOST_WORK = 40_000_000
"""So are games of one parameter whose kernels, times the squared degree of their determinants, are more than this."""
MOST_DEGREE = 24
"""So are games of two parameters whose determinants may have a larger total degree than this."""
MOST_CURVES = 80
"""A map of two parameters that needs more curves than this is given up."""
MOST_MEETINGS = 10_000
"""So is one whose curves may meet in more points than this, by Bezout's bound."""

CELLS = table_schema(
    [
        column("cell", pa.int32(), "from 0, in the order in which its first piece stands", nullable=False),
        column("x_support", pa.string(), "the rows that player 1 plays, joined by +"),
        column("y_support", pa.string(), "the columns that player 2 plays, joined by +"),
        column(
            "value_expression", pa.string(), "what player 2 pays player 1 on average, a quotient of polynomials in the parameters"
        ),
        column("x", pa.list_(pa.string()), "player 1's probability of each row, quotients of polynomials"),
        column("y", pa.list_(pa.string()), "player 2's probability of each column, quotients of polynomials"),
        column("boundaries", pa.list_(pa.string()), "where it ends inside the box: numbers, or polynomials that are 0 there"),
        column("sample", pa.list_(pa.string()), "a point inside, exact: the first of its first piece with small powers of 2 below"),
        column("sample_value", pa.string(), "the value at the sample, exact"),
        column("unique", pa.bool_(), "whether this is the only equilibrium at all points inside, save perhaps those of a curve"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.parametric:check_cells",
        claims="proved",
        columns=("x_support", "y_support", "value_expression", "boundaries", "unique"),
        drawing="solvers.equilibrium.draw:draw_map",
        about="How the equilibrium changes with the parameters: a formula for each cell of the box.",
    ),
)

PIECES = table_schema(
    [
        column("piece", pa.int32(), "from 0, by the first parameter, then by the second", nullable=False),
        column("cell", pa.int32(), "of which cell this is a part", nullable=False),
        column("low", pa.string(), "where the first parameter begins: p/q, or root k of POLYNOMIAL (k-th real root, lowest first)"),
        column("high", pa.string(), "where it ends"),
        column(
            "lower", pa.string(), "where the second parameter begins: p/q, or a root that moves with the first; null: there is none"
        ),
        column("upper", pa.string(), "where it ends"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.parametric:check_pieces",
        claims="proved",
        headline="none",
        about="The parts of the cells, exactly: together they fill the box, save for what lies between them.",
    ),
)

Polynomial = Any  # fmpz_mpoly; FLINT is untyped
Kernel = tuple[tuple[int, ...], tuple[int, ...]]
Point = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Parametric:
    """Find the exact map of a game with one or two parameters.

    With a polynomial of its own in every entry, and one parameter: 3 x 3 of degree 60 takes 3 s, 5 x 5 of degree 20 3 s and of
    degree 60 a minute or two, 7 x 7 of degree 10 half a minute. With two: 2 x 2 of degree 12 5 s; 3 x 3 of degree 1 a second, 3
    some 7 s, 6 a minute; 4 x 4 of degree 1 up to a minute; 5 x 5 more than two minutes, or it is given up.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = ParametricGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"cells": CELLS, "pieces": PIECES}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: ParametricGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress and at the end the cells and their pieces; `Stop` passes: a map with holes is none.

        Raises
        ------
        InfeasibleGame
            If there are too many parameters, kernels or curves.
        """
        refused = _too_large(game.shape, len(game.parameters)) or _too_steep(game)
        if refused is not None:
            raise InfeasibleGame(refused)
        atlas = _Atlas(game)
        for rounds in range(1, 1_000_000):
            yield Progress(rounds, None, {"kernels": len(atlas.solutions), "curves": len(atlas.curves)})
            if not atlas.explore():
                break
        pieces = atlas.joined()
        yield Result(_tables(game, pieces), {"kernels": len(atlas.solutions), "curves": len(atlas.curves), "rounds": rounds})

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large, or its degree too high; None if not, or if it does not tell `shape` and `parameters`."""
        shape, parameters = getattr(game, "shape", None), getattr(game, "parameters", None)
        if not (shape and parameters):
            return None
        return _too_large(shape, len(parameters)) or _too_steep(game.form(ParametricGame))

    def cost(self, game: Any) -> float:
        """Return rough seconds."""
        form = game.form(ParametricGame)
        kernels = min(comb(sum(form.shape), form.shape[0]), max(MOST_KERNELS.values()))
        work = float(kernels * determinant_degree(form) ** 2)
        return 0.1 + (1e-6 * work if len(form.parameters) == 1 else 0.03 * work)


_INSTEAD = "support_enumeration over a grid of values (sweep.grid)"


def _too_large(shape: tuple[int, int], parameters: int) -> str | None:
    if parameters not in MOST_KERNELS:
        return f"a map has one or two parameters, not {parameters}; {_INSTEAD} would do"
    kernels = comb(shape[0] + shape[1], shape[0]) - 1
    if kernels <= MOST_KERNELS[parameters]:
        return None
    said = f"a game of {shape[0]} x {shape[1]} actions has {kernels:,} square submatrices"
    return f"{said}, at most {MOST_KERNELS[parameters]:,} are tried with {parameters} parameters; {_INSTEAD} would do"


def _too_steep(game: ParametricGame) -> str | None:
    degree, (m, n) = determinant_degree(game), game.shape
    most = MOST_DEGREE if len(game.parameters) > 1 else isqrt(MOST_WORK // (comb(m + n, m) - 1))
    if degree <= most:
        return None
    said = f"determinants of this game of {m} x {n} actions may have degree {degree} in {' and '.join(game.parameters)}"
    return f"{said}, at most {most} is looked at; polynomials of smaller degree would do, or {_INSTEAD}"


def determinant_degree(game: ParametricGame) -> int:
    """Return a bound on the total degree of square submatrices' determinants: the sum of all rows' largest, or all columns'."""
    degrees: list[list[int]] = [[max((sum(powers) for powers, _ in entry), default=0) for entry in row] for row in game.payoffs]
    columns: list[tuple[int, ...]] = list(zip(*degrees, strict=True))
    return min(sum(map(max, degrees)), sum(map(max, columns)))


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient of polynomials in lowest terms, leading coefficient below positive."""

    above: Polynomial
    below: Polynomial

    @classmethod
    def of(cls, above: Polynomial, below: Polynomial) -> Quotient:
        divisor = above.gcd(below)
        if below.leading_coefficient() < 0:
            divisor = -divisor
        return cls(above // divisor, below // divisor)

    def text(self, names: Sequence[str]) -> str:
        """Return `(POLYNOMIAL)/(POLYNOMIAL)`, or one polynomial if nothing else is below than a number."""
        if self.below.is_constant():
            below = int(self.below.leading_coefficient())
            return write_polynomial([(exponents, Fraction(one, below)) for exponents, one in integer_terms(self.above)], names)
        return f"({integer_text(self.above, names)})/({integer_text(self.below, names)})"

    def at(self, point: Point) -> Fraction:
        return value_at(self.above, point) / value_at(self.below, point)


@dataclass(frozen=True, slots=True)
class Solution:
    """What a kernel determines: strategies, value, and what must not be negative for them to be an equilibrium.

    Attributes
    ----------
    conditions
        Those that are not 0 everywhere.
    factors
        Of the conditions' numerators and denominators, those that may vanish inside the box.
    is_strict
        Whether no condition is 0 everywhere: where they all hold, the equilibrium is the only one.
    """

    kernel: Kernel
    x: tuple[Quotient, ...]
    y: tuple[Quotient, ...]
    value: Quotient
    conditions: tuple[Quotient, ...]
    factors: tuple[Factor, ...]
    is_strict: bool

    def holds(self, point: Point) -> bool:
        """Say whether it is an equilibrium at a point; no where a denominator is 0."""
        for one in self.conditions:
            above, below = value_at(one.above, point), value_at(one.below, point)
            if below == 0 or above * below < 0:
                return False
        return True


def kernel_at(game: MatrixGame) -> Kernel:
    """Return the first kernel, smallest first, whose solution is an equilibrium of a game."""
    m, n = game.shape
    for size in range(1, min(m, n) + 1):
        for rows, columns in product(combinations(range(m), size), combinations(range(n), size)):
            if _is_equilibrium(game, rows, columns):
                return rows, columns
    raise InfeasibleGame("no kernel found; every finite zero-sum game has one")  # pragma: no cover (Shapley and Snow)


def _is_equilibrium(game: MatrixGame, rows: tuple[int, ...], columns: tuple[int, ...]) -> bool:
    size = len(rows)
    bordered = [[_rational(game.payoffs[i][j]) for j in columns] + [fmpq(-1)] for i in rows] + [[fmpq(1)] * size + [fmpq(0)]]
    matrix = fmpq_mat(bordered)
    if matrix.det() == 0:
        return False
    last = fmpq_mat([[fmpq(0)]] * size + [[fmpq(1)]])
    y, x = matrix.solve(last), fmpq_mat(_with_minus_ones(bordered)).solve(last)
    if any(y[k, 0] < 0 or x[k, 0] < 0 for k in range(size)):
        return False
    earned = (sum((_rational(line[j]) * y[k, 0] for k, j in enumerate(columns)), fmpq(0)) for line in game.payoffs)
    if any(one > y[size, 0] for one in earned):
        return False
    paid = (sum((_rational(line[i]) * x[k, 0] for k, i in enumerate(rows)), fmpq(0)) for line in zip(*game.payoffs, strict=True))
    return all(one >= y[size, 0] for one in paid)


def _with_minus_ones(bordered: list[list[Any]]) -> list[list[Any]]:
    """Return player 1's system, the matrix turned, from player 2's."""
    size = len(bordered) - 1
    turned = [[bordered[i][j] for i in range(size)] + [fmpq(-1)] for j in range(size)]
    return [*turned, [fmpq(1)] * size + [fmpq(0)]]


def _rational(number: Fraction) -> Any:
    return fmpq(number.numerator, number.denominator)


def solve_kernel(payoffs: Sequence[Sequence[Polynomial]], scale: int, kernel: Kernel, ranges: Sequence[Range]) -> Solution:
    """Return what a kernel determines, by Cramer's rule on the matrix bordered by ones.

    Parameters
    ----------
    payoffs
        `[m, n]` polynomials: the payoffs times `scale`.
    """
    rows, columns = kernel
    size = len(rows)
    zero = payoffs[0][0] * 0
    one = zero + 1
    bordered = [[payoffs[i][j] for j in columns] + [one] for i in rows] + [[one] * size + [zero]]
    total = determinant(bordered)
    cofactors_y = [_cofactor(bordered, size, k) for k in range(size)]
    cofactors_x = [_cofactor(bordered, k, size) for k in range(size)]
    worth = -_cofactor(bordered, size, size)
    x, y = [zero] * len(payoffs), [zero] * len(payoffs[0])
    for i, cofactor in zip(rows, cofactors_x, strict=True):
        x[i] = cofactor
    for j, cofactor in zip(columns, cofactors_y, strict=True):
        y[j] = cofactor
    behind = [worth - _dot(payoffs[i], y) for i in range(len(payoffs)) if i not in rows]
    behind += [_dot([line[j] for line in payoffs], x) - worth for j in range(len(y)) if j not in columns]
    needed = [Quotient.of(above, total) for above in cofactors_x + cofactors_y + behind]
    conditions = tuple(one for one in needed if one.above != 0)
    parts = dict.fromkeys(factor for one in conditions for poly in (one.above, one.below) for factor in factors_of(poly))
    return Solution(
        kernel,
        tuple(Quotient.of(above, total) for above in x),
        tuple(Quotient.of(above, total) for above in y),
        Quotient.of(worth, total * scale),
        conditions,
        tuple(factor for factor in parts if may_vanish(factor.poly, ranges)),
        len(conditions) == len(needed),
    )


def determinant(matrix: Sequence[Sequence[Polynomial]]) -> Polynomial:
    """Return the determinant by minors of the first rows, each found once: n 2^n products."""
    size = len(matrix)
    minors: dict[tuple[int, ...], Polynomial] = {(j,): matrix[0][j] for j in range(size)}
    for height in range(2, size + 1):
        larger = {}
        for columns in combinations(range(size), height):
            total = matrix[0][0] * 0
            for place, j in enumerate(columns):
                term = matrix[height - 1][j] * minors[columns[:place] + columns[place + 1 :]]
                total = total + term if (height - 1 - place) % 2 == 0 else total - term
            larger[columns] = total
        minors = larger
    return minors[tuple(range(size))]


def _cofactor(matrix: Sequence[Sequence[Polynomial]], row: int, column: int) -> Polynomial:
    rest = [[entry for j, entry in enumerate(line) if j != column] for i, line in enumerate(matrix) if i != row]
    minor = determinant(rest)
    return minor if (row + column) % 2 == 0 else -minor


def _dot(left: Iterable[Polynomial], right: Iterable[Polynomial]) -> Polynomial:
    products = [a * b for a, b in zip(left, right, strict=True)]
    total = products[0]
    for one in products[1:]:
        total = total + one
    return total


# ---- the map -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """An open part of the box in which a solution is an equilibrium; without `lower` and `upper` if there is one parameter."""

    solution: Solution
    lower: Bound | None = None
    upper: Bound | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """The pieces over an interval of the first parameter, lowest first; one piece if that is the only parameter."""

    low: Real
    high: Real
    pieces: tuple[Piece, ...]

    def sample(self, piece: Piece) -> Point:
        """Return the point of a piece with the smallest powers of 2 below, first in the first parameter."""
        first = dyadic_between(self.low, self.high)
        if piece.lower is None or piece.upper is None:
            return (first,)
        return first, dyadic_between(piece.lower.at(first), piece.upper.at(first))


@dataclass(slots=True)
class _Atlas:
    """The solutions met so far, and the box cut by their curves."""

    game: ParametricGame
    solutions: dict[Kernel, Solution] = field(default_factory=dict)
    curves: dict[Factor, None] = field(default_factory=dict)
    projections: Projections = field(default_factory=Projections)
    latest: Solution | None = None
    context: Any = None
    scale: int = 1
    payoffs: list[list[Polynomial]] = field(default_factory=list)

    def __post_init__(self) -> None:
        game = self.game
        self.context = fmpz_mpoly_ctx.get(game.parameters, Ordering.lex)
        self.scale = lcm(*(coefficient.denominator for row in game.payoffs for entry in row for _, coefficient in entry))
        self.payoffs = [
            [self.context.from_dict({exponents: int(one * self.scale) for exponents, one in entry}) for entry in row]
            for row in game.payoffs
        ]

    def explore(self) -> bool:
        """Solve a sample of each piece that no known solution serves; say whether any was new."""
        before = len(self.solutions)
        for sample in self.samples():
            if self.solution_at(sample) is None:
                kernel = kernel_at(self.game.at(sample))
                self.solutions[kernel] = solve_kernel(self.payoffs, self.scale, kernel, self.game.ranges)
        found = (factor for solution in self.solutions.values() for factor in solution.factors)
        self.curves = dict.fromkeys(sorted(found, key=lambda factor: factor.text))
        if len(self.game.parameters) > 1:
            self.refuse_many()
        return len(self.solutions) > before

    def refuse_many(self) -> None:
        """Give up before the curves are cut with each other, if they are too many or of too high degrees."""
        if len(self.curves) > MOST_CURVES:
            said = f"the map needs at least {len(self.curves)} curves, at most {MOST_CURVES} are cut with each other"
            raise InfeasibleGame(f"{said}; {_INSTEAD} would do")
        degrees = [int(curve.poly.total_degree()) for curve in self.curves]
        meetings = sum(one * other for one, other in combinations(degrees, 2))
        if meetings > MOST_MEETINGS:
            said = f"the map needs {len(degrees)} curves or more, which may meet in {meetings:,} points"
            raise InfeasibleGame(f"{said}, at most {MOST_MEETINGS:,} are looked for; {_INSTEAD} would do")

    def solution_at(self, point: Point) -> Solution | None:
        """Return the first known solution, smallest kernel first, that is an equilibrium there; a strict one is the only one."""
        if self.latest is not None and self.latest.is_strict and self.latest.holds(point):  # neighbours are often alike
            return self.latest
        known = sorted(self.solutions, key=lambda kernel: (len(kernel[0]), kernel))
        self.latest = next((self.solutions[kernel] for kernel in known if self.solutions[kernel].holds(point)), None)
        return self.latest

    def samples(self) -> Iterator[Point]:
        for _, _, first in between(self.base()):
            if len(self.game.parameters) == 1:
                yield (first,)
                continue
            bounds = stack_over(first, tuple(self.curves), self.frame())
            heights = [bound.at(first) for bound in bounds]
            yield from ((first, second) for _, _, second in between(heights))

    def base(self) -> list[Real]:
        if len(self.game.parameters) == 1:
            return cut_interval(self.curves, self.game.ranges[0])
        frame = tuple(bound.factor for bound in self.frame())
        return cut_base(tuple(self.curves), frame, self.game.ranges[0], self.projections)

    def frame(self) -> tuple[Bound, Bound]:
        low, high = self.game.ranges[1]
        return edge(self.context, low), edge(self.context, high)

    def joined(self) -> list[Stack]:
        """Return the stacks, joined across what decides nothing."""
        stacks: list[Stack] = []
        for low, high, first in between(self.base()):
            stack = Stack(low, high, self.pieces_over(first))
            if stacks and stacks[-1].pieces == stack.pieces and not self.matters(low, stack.pieces):
                stack = Stack(stacks.pop().low, high, stack.pieces)
            stacks.append(stack)
        return stacks

    def pieces_over(self, first: Fraction) -> tuple[Piece, ...]:
        if len(self.game.parameters) == 1:
            return (Piece(self.served((first,))),)
        pieces: list[Piece] = []
        bounds = stack_over(first, tuple(self.curves), self.frame())
        for lower, upper in pairwise(bounds):
            second = dyadic_between(lower.at(first), upper.at(first))
            piece = Piece(self.served((first, second)), lower, upper)
            if pieces and pieces[-1].solution == piece.solution and lower.factor not in piece.solution.factors:
                piece = Piece(piece.solution, pieces.pop().lower, upper)
            pieces.append(piece)
        return tuple(pieces)

    def served(self, point: Point) -> Solution:
        solution = self.solution_at(point)
        assert solution is not None, "explored until every sample is served"  # noqa: S101 (an invariant)
        return solution

    def matters(self, cut: Real, pieces: Sequence[Piece]) -> bool:
        """Say whether these pieces could change at a cut: a curve or bound of theirs meets another or turns there, or stands."""
        return any(in_one(factor.poly) == cut.poly for piece in pieces for factor in self.deciding(piece))

    def deciding(self, piece: Piece) -> Iterator[Factor]:
        """Yield the factors in the first parameter whose zeros are the only places where a piece could change."""
        if piece.lower is None or piece.upper is None:
            yield from piece.solution.factors
            return
        bounds = (piece.lower.factor, piece.upper.factor)
        for factor in (*piece.solution.factors, *bounds):
            yield from self.projections.alone(factor)
            for bound in bounds:
                yield from self.projections.together(factor, bound)


# ---- the tables --------------------------------------------------------------------------------------------------------------


def _tables(game: ParametricGame, stacks: Sequence[Stack]) -> dict[str, pa.Table]:
    names = game.parameters
    cells: dict[Any, tuple[dict[str, Any], dict[str, None]]] = {}
    pieces: list[tuple[Any, ...]] = []
    for stack in stacks:
        for piece in stack.pieces:
            one = piece.solution
            formulas = tuple(tuple(part.text(names) for part in mix) for mix in (one.x, one.y))
            if formulas not in cells:
                cells[formulas] = ({"cell": len(cells), **_cell(game, one, stack.sample(piece))}, {})
            row, boundaries = cells[formulas]
            boundaries.update(dict.fromkeys(_boundaries(game, stack, piece)))
            bounds = (piece.lower and piece.lower.text(names[1]), piece.upper and piece.upper.text(names[1]))
            pieces.append((len(pieces), row["cell"], stack.low.text(names[0]), stack.high.text(names[0]), *bounds))
    rows = [{**row, "boundaries": list(boundaries)} for row, boundaries in cells.values()]
    return {
        "cells": pa.Table.from_pylist(rows, schema=CELLS),
        "pieces": pa.table([list(cells_of) for cells_of in zip(*pieces, strict=True)], schema=PIECES),
    }


def _cell(game: ParametricGame, solution: Solution, sample: Point) -> dict[str, Any]:
    names = game.parameters
    return {
        "x_support": _support(solution.x, game.row_actions),
        "y_support": _support(solution.y, game.column_actions),
        "value_expression": solution.value.text(names),
        "x": [one.text(names) for one in solution.x],
        "y": [one.text(names) for one in solution.y],
        "sample": [exact(number) for number in sample],
        "sample_value": exact(solution.value.at(sample)),
        "unique": solution.is_strict,
    }


def _support(mix: Sequence[Quotient], actions: Sequence[str]) -> str:
    return "+".join(action for one, action in zip(mix, actions, strict=True) if one.above != 0)


def _boundaries(game: ParametricGame, stack: Stack, piece: Piece) -> Iterator[str]:
    """Yield where a piece ends inside the box by its own conditions: numbers (one parameter) or polynomials (two)."""
    ends = {number for around in game.ranges[:1] for number in around}
    for cut in (stack.low, stack.high):
        if cut.is_rational and cut.low in ends:
            continue
        for factor in piece.solution.factors:
            if all(factor.degree(place) == 0 for place in range(1, len(game.parameters))) and in_one(factor.poly) == cut.poly:
                yield cut.text(game.parameters[0]) if piece.lower is None else factor.text
    for bound in (piece.lower, piece.upper):
        if bound is not None and bound.factor in piece.solution.factors:
            yield bound.factor.text
