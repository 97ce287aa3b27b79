"""Linear programs, exactly: maximize c z subject to A z <= b and z >= 0, in integers, b nowhere negative.

Small programs are solved by the simplex method in integers. For others the float solver HiGHS guesses: which variables are
positive and which constraints are tight. From *all* tight constraints as many independent ones are chosen as there are positive
variables, the square system is solved exactly by FLINT, the dual likewise, and both are verified in integers: a feasible point and
a feasible dual of equal value prove each other optimal. (A square system of the positive dual variables alone is singular in
about 4 of 10 degenerate games.) Where the guess proves nothing, the simplex method in integers decides, from the point z = 0:
never a wrong answer, only a slower one.

What it cannot do: b with a negative entry (no starting point), programs without a greatest value.

Costs the float solve, and exact solves of one system for each of the two: 200 x 200 dense small integers about 0.1 s. The
integer simplex takes about 0.2 us for each entry of A and each pivot, and longer as the numbers grow: 50 x 50 about 0.3 s.

References
----------
Edmonds, "Systems of distinct representatives and linear algebra", 1967, and Bareiss 1968 (pivots that stay in integers);
Bland, "New finite pivoting rules for the simplex method", 1977 (here only while pivots do not improve).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from solvers.contract import Progress
from solvers.errors import ContractError

T = TypeVar("T")
Integers = list[list[int]]

_PRIME = 2**61 - 1
_TOLERANCES = (1e-9, 1e-7, 1e-11)
_FEASIBILITY = 1e-10  # the least HiGHS takes
_SMALL = 250  # entries up to which the simplex method in integers is done before HiGHS has begun
_PIVOTS_A_STEP = 20


@dataclass(frozen=True, slots=True)
class Program:
    """Maximize `objective` z subject to `rows` z <= `bounds`, z >= 0.

    Attributes
    ----------
    objective
        `[n]` integers.
    rows
        `[m, n]` integers, m and n at least 1.
    bounds
        `[m]` integers, none negative.
    """

    objective: list[int]
    rows: Integers
    bounds: list[int]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The greatest value, a point `[n]` that attains it, a dual `[m]` that proves it, how many pivots in integers it took."""

    value: Fraction
    point: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]
    pivots: int


Steps = Generator[int, None, T]
"""Yields the number of pivots now and then, so that a caller can report and stop; returns its answer."""


def finish(steps: Steps[T]) -> T:
    """Run steps to their end and return the answer."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            answer: T = end.value
            return answer


def reported(steps: Steps[T], done: int | None = None) -> Generator[Progress, None, T]:
    """Yield progress for each step, in pivots or as long as it lasts at `done`, and return the answer."""
    while True:
        try:
            pivots = next(steps)
        except StopIteration as end:
            answer: T = end.value
            return answer
        yield Progress(pivots if done is None else done)


def maximize(program: Program) -> Steps[Optimum]:
    """Return an optimum; exact.

    Raises
    ------
    ContractError
        If there is no greatest value, or a bound is negative.

    Examples
    --------
    >>> finish(maximize(Program([1, 1], [[2, 1], [1, 3]], [1, 1])))
    Optimum(value=Fraction(3, 5), point=(Fraction(2, 5), Fraction(1, 5)), dual=(Fraction(2, 5), Fraction(1, 5)), pivots=2)
    """
    if min(program.bounds) < 0:
        raise ContractError("a bound is negative: there is no point to start from")
    guessed = from_guess(program) if len(program.rows) * len(program.objective) > _SMALL else None
    if guessed is not None:
        return guessed
    return (yield from simplex(program))


# ---- from floats -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Guess:
    """A float optimum: the point and its slacks, the dual and its excesses, each divided by its greatest entry."""

    point: NDArray[np.float64]
    slack: NDArray[np.float64]
    dual: NDArray[np.float64]
    excess: NDArray[np.float64]


def from_guess(program: Program) -> Optimum | None:
    """Return an optimum from HiGHS's positive variables and tight constraints, verified; None if they prove nothing."""
    guess = _guess(program)
    if guess is None:
        return None
    matrix = fmpz_mat(program.rows)
    tried = set()
    for tolerance in _TOLERANCES:
        used, tight = guess.point > tolerance, guess.slack <= tolerance
        binding, even = guess.dual > tolerance, guess.excess <= tolerance
        chosen = b"".join(one.tobytes() for one in (used, tight, binding, even))
        if chosen in tried:
            continue
        tried.add(chosen)
        point = _solve_tight(program.rows, program.bounds, _first(tight, binding), np.flatnonzero(used).tolist(), by_row=True)
        dual = _solve_tight(program.rows, program.objective, _first(even, used), np.flatnonzero(binding).tolist(), by_row=False)
        if point is not None and dual is not None and _proves(program, matrix, point, dual):
            return Optimum(_dot(program.objective, point), point, dual, 0)
    return None


def _guess(program: Program) -> _Guess | None:
    """Return what HiGHS finds; rows and objective are scaled to at most 1, so that no integer is too large."""
    scales = [max(1, *map(abs, row)) for row in program.rows]
    try:
        rows = np.array([[entry / scale for entry in row] for row, scale in zip(program.rows, scales, strict=True)])
        bounds = np.array([bound / scale for bound, scale in zip(program.bounds, scales, strict=True)])
        greatest = max(1, *map(abs, program.objective))
        objective = np.array([entry / greatest for entry in program.objective])
    except OverflowError:
        return None
    from scipy.optimize import linprog  # noqa: PLC0415 (costs most of a second, and small programs never need it)

    found = linprog(
        -objective,
        A_ub=rows,
        b_ub=bounds,
        bounds=(0, None),
        method="highs-ds",
        options={
            "presolve": False,
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
        },
    )
    if found.status != 0:
        return None
    dual = -found.ineqlin.marginals
    return _Guess(_to_one(found.x), found.slack, _to_one(dual), dual @ rows - objective)


def _to_one(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    greatest = numbers.max(initial=0.0)
    return numbers / greatest if greatest > 0 else numbers


def _first(all_of: NDArray[np.bool_], preferred: NDArray[np.bool_]) -> list[int]:
    """Return the places in `all_of`, those that are `preferred` first."""
    both, only = np.flatnonzero(all_of & preferred), np.flatnonzero(all_of & ~preferred)
    return [*both.tolist(), *only.tolist()]


def _solve_tight(
    rows: Integers, right: Sequence[int], equations: list[int], unknowns: list[int], *, by_row: bool
) -> tuple[Fraction, ...] | None:
    """Solve the tight constraints for the positive variables, all others being 0.

    Parameters
    ----------
    rows
        `[m, n]`.
    right
        What the equations equal.
    equations, unknowns
        Rows and columns of the system if `by_row`, else columns and rows.

    Returns
    -------
    tuple of Fraction or None
        None if there are too few independent equations; superfluous ones are dropped, not verified.
    """
    size = len(unknowns)
    count = len(rows[0]) if by_row else len(rows)
    if not size:
        return (Fraction(),) * count
    system = [[rows[e][u] if by_row else rows[u][e] for u in unknowns] for e in equations]
    kept = list(range(len(system))) if len(system) == size else independent_rows(system)
    if len(kept) != size:
        return None
    try:
        solution = fmpz_mat([system[e] for e in kept]).solve(fmpz_mat(size, 1, [right[equations[e]] for e in kept]))
    except ZeroDivisionError:
        return None
    found = [Fraction()] * count
    for place, unknown in enumerate(unknowns):
        entry = solution[place, 0]
        found[unknown] = Fraction(int(entry.p), int(entry.q))
    return tuple(found)


def independent_rows(rows: Integers) -> list[int]:
    """Return rows that are linearly independent, the first that will do; modulo a prime, so rarely (p < 1e-15) one too few.

    Examples
    --------
    >>> independent_rows([[1, 2], [2, 4], [0, 1]])
    [0, 2]
    """
    if not rows:
        return []
    reduced, rank = nmod_mat(fmpz_mat(rows).transpose(), _PRIME).rref()
    pivots: list[int] = []
    for place in range(rank):
        column = pivots[-1] + 1 if pivots else 0
        while not int(reduced[place, column]):
            column += 1
        pivots.append(column)
    return pivots


def _proves(program: Program, matrix: Any, point: Sequence[Fraction], dual: Sequence[Fraction]) -> bool:
    """Say whether both are feasible and of equal value: then both are optimal."""
    if min(point) < 0 or min(dual) < 0 or _dot(program.objective, point) != _dot(program.bounds, dual):
        return False
    weights, scale = to_integers(point)
    reached = matrix * fmpz_mat(len(weights), 1, weights)
    if any(int(reached[i, 0]) > bound * scale for i, bound in enumerate(program.bounds)):
        return False
    weights, scale = to_integers(dual)
    priced = fmpz_mat(1, len(weights), weights) * matrix
    return all(int(priced[0, j]) >= entry * scale for j, entry in enumerate(program.objective))


def to_integers(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return integers and the positive one by which to divide them."""
    scale = lcm(*(one.denominator for one in numbers))
    return [one.numerator * (scale // one.denominator) for one in numbers], scale


def _dot(integers: Sequence[int], numbers: Sequence[Fraction]) -> Fraction:
    weights, scale = to_integers(numbers)
    return Fraction(sum(a * b for a, b in zip(integers, weights, strict=True)), scale)


# ---- the simplex method in integers ------------------------------------------------------------------------------------------


def simplex(program: Program) -> Steps[Optimum]:
    """Return an optimum by pivots in integers; every twentieth pivot is yielded.

    The largest gain enters, and while pivots do not improve, Bland's choice: so no basis returns.

    Raises
    ------
    ContractError
        If there is no greatest value.
    """
    m, n = len(program.rows), len(program.objective)
    table = np.empty((m + 1, n + 1), dtype=object)  # over `scale`: basic = last column - table @ nonbasic; last row: -gains
    for i, row in enumerate([*program.rows, [-entry for entry in program.objective]]):
        table[i, :n] = row
    table[:m, n] = program.bounds
    table[m, n] = 0
    scale = 1
    outside, inside = list(range(n)), list(range(n, n + m))  # variables: the point's, then the slacks
    pivots = 0
    improves = True
    while (column := _entering(table[m, :n], outside, greedy=improves)) is not None:
        leaves = _leaving(table[:m, column], table[:m, n], inside)
        if leaves is None:
            raise ContractError("the program has no greatest value")
        improves = bool(table[leaves, n] > 0)
        scale = _pivot(table, leaves, column, scale)
        outside[column], inside[leaves] = inside[leaves], outside[column]
        pivots += 1
        if pivots % _PIVOTS_A_STEP == 0:
            yield pivots
    point_and_slack, dual_and_excess = [Fraction()] * (n + m), [Fraction()] * (n + m)
    for i, variable in enumerate(inside):
        point_and_slack[variable] = Fraction(table[i, n], scale)
    for j, variable in enumerate(outside):
        dual_and_excess[variable] = Fraction(table[m, j], scale)
    return Optimum(Fraction(table[m, n], scale), tuple(point_and_slack[:n]), tuple(dual_and_excess[n:]), pivots)


def _entering(costs: NDArray[Any], outside: Sequence[int], *, greedy: bool) -> int | None:
    """Return the column with the largest gain, or that of the first variable with any."""
    gaining = [j for j, cost in enumerate(costs) if cost < 0]
    if not gaining:
        return None
    return min(gaining, key=lambda j: (costs[j], outside[j]) if greedy else (outside[j],))


def _leaving(column: NDArray[Any], values: NDArray[Any], inside: Sequence[int]) -> int | None:
    """Return the row that reaches 0 first; of several, that of the first variable."""
    best: int | None = None
    for i, entry in enumerate(column):
        if entry <= 0:
            continue
        if best is not None:
            ours, theirs = values[i] * column[best], values[best] * entry
            if ours > theirs or (ours == theirs and inside[i] > inside[best]):
                continue
        best = i
    return best


def _pivot(table: NDArray[Any], row: int, column: int, scale: int) -> int:
    """Exchange a basic and a nonbasic variable in place; return the new scale. All divisions leave no rest."""
    pivot: int = table[row, column]
    pivot_row, pivot_column = table[row].copy(), table[:, column].copy()
    others = np.arange(len(table)) != row
    table[others] = (table[others] * pivot - np.outer(pivot_column[others], pivot_row)) // scale
    table[:, column] = -pivot_column
    table[row] = pivot_row
    table[row, column] = scale
    return pivot


# ---- matrix games ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Play:
    """The value of a zero-sum matrix game and optimal strategies `[m]` and `[n]`: integer weights in lowest terms."""

    value: Fraction
    x: tuple[int, ...]
    y: tuple[int, ...]
    pivots: int


def solve_game(payoffs: Integers) -> Steps[Play]:
    """Return a pair of optimal strategies: vertices both, exact.

    The payoffs are shifted to lie between s and 2 s, where s is their spread; then y is the point of the program "maximize the
    sum of z subject to payoffs z <= 1" and x its dual, each divided by its sum, and the value is 1 / that sum, shifted back.

    Parameters
    ----------
    payoffs
        `[m, n]`, what player 2 pays player 1.

    Examples
    --------
    >>> play = finish(solve_game([[2, -1], [-1, 1]]))
    >>> play.value, play.x, play.y
    (Fraction(1, 5), (2, 3), (2, 3))
    """
    lowest, highest = min(map(min, payoffs)), max(map(max, payoffs))
    shift = max(1, highest - lowest) - lowest
    shifted = [[entry + shift for entry in row] for row in payoffs]
    best = yield from maximize(Program([1] * len(shifted[0]), shifted, [1] * len(shifted)))
    return Play(1 / best.value - shift, lowest_terms(best.dual), lowest_terms(best.point), best.pivots)


def lowest_terms(numbers: Sequence[Fraction]) -> tuple[int, ...]:
    """Return integers in the same proportions without a common divisor."""
    integers, _ = to_integers(numbers)
    divisor = gcd(*integers)
    return tuple(one // divisor for one in integers)


def is_unique(payoffs: Integers, play: Play) -> bool:
    """Say whether no other pair of strategies is optimal; False also where this simple proof does not decide.

    If each action that is not used would do strictly worse, any other optimal strategy uses the same actions and makes the other
    player's alike; if that system is square and regular, there is only one.
    """
    rows, columns = support(play.x), support(play.y)
    if len(rows) != len(columns):
        return False
    matrix = fmpz_mat(payoffs)
    paid, earned = fmpz_mat(1, len(play.x), play.x) * matrix, matrix * fmpz_mat(len(play.y), 1, play.y)
    least, most = play.value * sum(play.x), play.value * sum(play.y)
    if any(int(paid[0, j]) == least for j, weight in enumerate(play.y) if not weight):
        return False
    if any(int(earned[i, 0]) == most for i, weight in enumerate(play.x) if not weight):
        return False
    shift = 1 - min(map(min, payoffs))  # so that the value is not 0
    return len(independent_rows([[payoffs[i][j] + shift for j in columns] for i in rows])) == len(rows)


def support(weights: Sequence[int]) -> list[int]:
    """Return the places of positive weight."""
    return [place for place, weight in enumerate(weights) if weight]


def scaled(matrix: Sequence[Sequence[Fraction]]) -> tuple[Integers, int]:
    """Return the matrix in integers and the positive one by which to divide them."""
    scale = lcm(*{entry.denominator for row in matrix for entry in row})
    if scale == 1:
        return [[entry.numerator for entry in row] for row in matrix], 1
    return [[entry.numerator * (scale // entry.denominator) for entry in row] for row in matrix], scale
