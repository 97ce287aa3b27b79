"""All extreme equilibria of small zero-sum games, exactly, a hundred thousand games at a time.

Shapley and Snow's theorem: a pair (x, y) of optimal strategies is extreme (neither is a mixture of other optimal strategies) if
and only if some square submatrix B has s = 1'adj(B)1 != 0 and gives x = 1'adj(B)/s on its rows and y = adj(B)1/s on its columns;
the value is then det(B)/s. (A value of 0, so a singular B, is a case like any other.) So look at every square submatrix and keep
the x and y that are nonnegative and leave the other player no better action. Optimal strategies of zero-sum games exchange: every
extreme x goes with every extreme y.

No submatrix is inverted. An entry of 1'adj(B) is, up to its sign, the determinant of the other rows of B under a row of ones; an
entry of adj(B)1 that of the other columns beside a column of ones. Those of size k follow from those of size k - 1 by Laplace's
expansion, and each serves several B. There is no division, so all stays in integers, and s is the sum of the weights.

One kernel call takes any number of games of one shape, in 64-bit integers where a bound says beforehand that nothing can
overflow (size of the game, largest payoff, common denominator); beyond, the same code runs on Python's integers.

The answers, their order and their text are those of `support_enumeration`, which takes larger games. What it cannot do: more than
`MOST_ACTIONS` actions of both players together; there `exact_lp` finds an equilibrium.

References
----------
Shapley and Snow, "Basic solutions of discrete games", Contributions to the Theory of Games I, 1950. Karlin, "Mathematical Methods
and Theory in Games, Programming, and Economics", 1959, chapter 2.
Ours: shared bordered minors, the bound, no look at single entries without a saddle point, the early end at a strict equilibrium.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial, lcm
from typing import Any, ClassVar

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba.extending import register_jitable

from solvers.contract import Checkpoint, Event, Result, Workers
from solvers.equilibrium.extreme_pairs import ExtremeStrategies, extreme_pairs_table
from solvers.equilibrium.tables import EQUILIBRIA
from solvers.errors import InfeasibleGame
from solvers.forms import Matrix, MatrixGame

MOST_ACTIONS = 16
"""Games in which both players together have more actions are refused: 8 x 8 and 3 x 13 still pass."""

_MOST = 2**62
_SECONDS_A_PAIR = 1e-7
_SECONDS_A_GAME = 2e-5

Subsets = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class ShapleySnow:
    """Look at every square submatrix; exact, complete, batched.

    Costs some 40 ns for each of the C(m + n, m) - 1 submatrices (3 x 3: 19, below 1 us a game; 8 x 8: 12,869, half a ms), and
    4 us a game for its text. Beyond 64-bit integers it takes some hundred times as long.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"equilibria": EQUILIBRIA}
    extent: ClassVar[str | None] = None

    def solve(self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield the extreme equilibria.

        Raises
        ------
        InfeasibleGame
            If the players have more than `MOST_ACTIONS` actions.
        """
        together = self.solve_batch([game], [rng])
        tables = {name: table.drop_columns(["batch_index"]) for name, table in together.tables.items()}
        yield Result(tables, {name: int(values[0]) for name, values in together.metrics.items()})

    def solve_batch(self, games: Sequence[MatrixGame], rngs: Sequence[np.random.Generator]) -> Result:
        """Solve all games, those of one shape in one kernel call.

        Raises
        ------
        InfeasibleGame
            If in one of them the players have more than `MOST_ACTIONS` actions.
        """
        batches: dict[tuple[int, int, Any], list[int]] = {}
        integers = []
        for place, game in enumerate(games):
            m, n = game.shape
            too_large = _too_large(m, n)
            if too_large is not None:
                raise InfeasibleGame(too_large)
            entries, scale = in_integers(game.payoffs)
            integers.append((entries, scale))
            kind: Any = np.int64 if fits(m, n, max(map(abs, entries)), scale) else object
            batches.setdefault((m, n, kind), []).append(place)
        tables = []
        counts = np.zeros(len(games), np.int64)
        for (m, n, kind), places in batches.items():
            payoffs = np.array([integers[place][0] for place in places], kind).reshape(len(places), m, n)
            found = extreme_strategies(payoffs, [integers[place][1] for place in places])
            counts[places] = found.x_counts * found.y_counts
            tables.append(extreme_pairs_table([games[place] for place in places], places, found))
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables)
        if len(tables) > 1:
            table = table.take(np.argsort(table["batch_index"].to_numpy(), kind="stable"))
        return Result({"equilibria": table}, {"equilibria": counts}, np.ones(len(games), np.bool_))

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that knows its `shape` need not be written out for that."""
        m, n = getattr(game, "shape", None) or game.form(MatrixGame).shape
        return _SECONDS_A_GAME + (comb(m + n, m) * _SECONDS_A_PAIR if m + n <= MOST_ACTIONS else 0.0)


def _too_large(rows: int, columns: int) -> str | None:
    if rows + columns <= MOST_ACTIONS:
        return None
    return (
        f"a game of {rows} x {columns} actions has {comb(rows + columns, rows) - 1:,} square submatrices; games to 8 x 8 "
        f"({MOST_ACTIONS} actions in all) are sensible, exact_lp solves larger ones"
    )


def in_integers(payoffs: Matrix) -> tuple[list[int], int]:
    """Return the payoffs, row by row, times their common denominator, and that denominator."""
    entries = [entry.as_integer_ratio() for row in payoffs for entry in row]
    scale = lcm(*[below for _, below in entries])
    if scale == 1:
        return [above for above, _ in entries], 1
    return [above * (scale // below) for above, below in entries], scale


def fits(rows: int, columns: int, largest: int, scale: int) -> bool:
    """Say whether nothing can overflow in 64 bits.

    With k = min(rows, columns) and payoffs up to M, a determinant of size k with a row of ones is at most k! M^(k-1), a sum s of
    k of them k k! M^(k-1), and what is computed beyond is at most s M (what an action earns) or s times the common denominator.
    """
    size = min(rows, columns)
    weights: int = size * factorial(size) * max(largest, 1) ** (size - 1)
    return weights * max(largest, scale) < _MOST


def extreme_strategies(payoffs: npt.NDArray[Any], scales: Sequence[int]) -> ExtremeStrategies:
    """Find all extreme optimal strategies of games of one shape.

    Parameters
    ----------
    payoffs
        `[games, m, n]`, int64 where `fits` says so for each game, else Python's integers (dtype object).
    scales
        What the payoffs were multiplied by, one for each game.

    Examples
    --------
    >>> found = extreme_strategies(np.array([[[0, 0], [0, 0]], [[2, -1], [-1, 1]]]), [1, 1])
    >>> found.x.tolist(), found.x_counts.tolist()
    ([[1, 0], [0, 1], [2, 3]], [2, 1])
    >>> found.value.tolist()
    [[0, 1], [1, 5]]
    """
    _, m, n = payoffs.shape
    find = _find if payoffs.dtype == object else _find_compiled
    x, x_counts, y, y_counts, value = find(payoffs, subsets(m), subsets(n))
    value[:, 1] *= np.array(scales, payoffs.dtype)
    return ExtremeStrategies(x, x_counts, y, y_counts, value)


@functools.cache
def subsets(count: int) -> Subsets:
    """Return all subsets of 0..count-1, smaller ones first, those of one size by their largest members.

    Returns
    -------
    order
        `[2^count, count]`, the members of each subset, then those outside, both rising.
    without
        `[2^count, count]`, which subset it is without its k-th member (0 beyond its size).
    starts
        `[count + 2]`, where the subsets of each size begin, and the end.

    Notes
    -----
    What only indexes arrays is unsigned, so that compiled code need not ask whether an index counts from the end.

    Examples
    --------
    >>> order, without, starts = subsets(2)
    >>> order.tolist(), without.tolist(), starts.tolist()
    ([[0, 1], [0, 1], [1, 0], [0, 1]], [[0, 0], [0, 0], [0, 0], [2, 1]], [0, 1, 3, 4])
    """
    ranked = [one for size in range(count + 1) for one in sorted(combinations(range(count), size), key=lambda one: one[::-1])]
    rank = {one: place for place, one in enumerate(ranked)}
    order = [one + tuple(k for k in range(count) if k not in one) for one in ranked]
    without = [[rank[one[:k] + one[k + 1 :]] if k < len(one) else 0 for k in range(count)] for one in ranked]
    starts = np.cumsum([0, *(comb(count, size) for size in range(count + 1))])
    return np.array(order, np.uint64), np.array(without, np.uint64), starts.astype(np.int64)


# ---- the kernel: compiled for 64-bit integers, run as it stands on Python's ----------------------------------------------------


def _find(payoffs: Any, row_subsets: Any, column_subsets: Any) -> Any:  # noqa: C901, PLR0912 (this is the algorithm)
    """Return the extreme x of all games, how many each game has, the same for y, and `[games, 2]` value above and below.

    Strategies are weights in lowest terms, of each game in falling order of their probabilities.
    """
    row_order, rows_without, row_starts = row_subsets
    column_order, columns_without, column_starts = column_subsets
    games, m, n = payoffs.shape
    kind = payoffs.dtype
    a, across = np.empty((m, n), kind), np.empty((n, m), kind)  # one game, and transposed
    under_row = np.empty((1 << m, 1 << n), kind)  # [I, J], |J| = |I| + 1: the determinant of I x J under a row of ones
    beside_column = np.empty((1 << n, 1 << m), kind)  # [J, I], |I| = |J| + 1: of I x J beside a column of ones
    under_row[0], beside_column[0] = 1, 1
    x, y = np.empty(m, kind), np.empty(n, kind)
    xs, ys = np.empty((games + 64, m), kind), np.empty((games + 64, n), kind)
    x_counts, y_counts = np.zeros(games, np.int64), np.zeros(games, np.int64)
    value = np.empty((games, 2), kind)
    x_end = y_end = 0
    for game in range(games):
        for i in range(m):
            for j in range(n):
                a[i, j] = across[j, i] = payoffs[game, i, j]
        x_start, y_start = x_end, y_end
        unique = False
        for size in range(1 if _has_saddle(a, across) else 2, min(m, n) + 1):
            if size > 1:
                _expand(a, under_row, row_subsets, column_subsets, size)
                _expand(across, beside_column, column_subsets, row_subsets, size)
            for i in range(row_starts[size], row_starts[size + 1]):
                for j in range(column_starts[size], column_starts[size + 1]):
                    if not _weigh(under_row, row_order[i], rows_without[i, :size], j, x):
                        continue
                    if not _weigh(beside_column, column_order[j], columns_without[j, :size], i, y):
                        continue
                    tight_columns, earned = _guaranteed(across, x, column_order[j], size, 1)
                    if tight_columns == 0:
                        continue
                    tight_rows, _ = _guaranteed(a, y, row_order[i], size, -1)
                    if tight_rows == 0:
                        continue
                    if x_start == x_end:
                        total = _sum(x)
                        divisor = _gcd(abs(earned), total)
                        value[game, 0], value[game, 1] = earned // divisor, total // divisor
                    # Strictly worse off the kernel, strictly positive on it: any other optimal strategy would have to lie in the
                    # same kernel, which determines it. So this is the only equilibrium.
                    unique = tight_columns == tight_rows == size == _used(x) == _used(y)
                    if x_end == len(xs):
                        xs = _doubled(xs)
                    if y_end == len(ys):
                        ys = _doubled(ys)
                    x_end, y_end = _insert(xs, x_start, x_end, x), _insert(ys, y_start, y_end, y)
                    if unique:
                        break
                if unique:
                    break
            if unique:
                break
        x_counts[game], y_counts[game] = x_end - x_start, y_end - y_start
    return xs[:x_end], x_counts, ys[:y_end], y_counts, value


@register_jitable
def _has_saddle(a: Any, across: Any) -> Any:
    """Say whether some row guarantees what some column concedes at most: else no single entry is a kernel."""
    return _guaranteed_purely(a, 1) == -_guaranteed_purely(across, -1)


@register_jitable
def _guaranteed_purely(a: Any, sign: int) -> Any:
    """Return the largest least entry of a row of `a` times `sign`."""
    best = sign * a[0, 0]
    for row in range(a.shape[0]):
        least = sign * a[row, 0]
        for place in range(1, a.shape[1]):
            least = min(least, sign * a[row, place])
        best = least if row == 0 else max(best, least)
    return best


@register_jitable
def _expand(a: Any, minors: Any, row_subsets: Any, column_subsets: Any, size: int) -> None:
    """Fill in `minors[I, J]` for |J| = size, |I| = size - 1, from those of the size before, by the last row of I."""
    row_order, rows_without, row_starts = row_subsets
    column_order, columns_without, column_starts = column_subsets
    for i in range(row_starts[size - 1], row_starts[size]):
        last, rest = row_order[i, size - 2], rows_without[i, size - 2]
        for j in range(column_starts[size], column_starts[size + 1]):
            total = a[last, column_order[j, 0]] * minors[rest, columns_without[j, 0]]
            for k in range(1, size):  # signs alternate, the last is +
                total = a[last, column_order[j, k]] * minors[rest, columns_without[j, k]] - total
            minors[i, j] = total


@register_jitable
def _weigh(minors: Any, order: Any, without: Any, others: int, weights: Any) -> Any:
    """Set the weights that this kernel determines, 0 outside it; say whether they are determined and nonnegative."""
    size = len(without)
    positive = negative = False
    for k in range(size):
        weight = minors[without[k], others]
        if k & 1:
            weight = -weight
        weights[order[k]] = weight
        positive = positive or weight > 0
        negative = negative or weight < 0
        if positive and negative:
            return False
    if negative:
        for k in range(size):
            weights[order[k]] = -weights[order[k]]
    for k in range(size, len(weights)):
        weights[order[k]] = 0
    return positive or negative


@register_jitable
def _guaranteed(a: Any, weights: Any, order: Any, size: int, sign: int) -> Any:
    """Return how many rows of `a` earn what the kernel's rows do, and that; 0 if one earns less (`sign` -1: more).

    The kernel's rows, the first `size` in `order`, earn the same: their weights were made so.
    """
    earned = _earned(a, order[0], weights)
    tight = size
    for k in range(size, len(order)):
        more = sign * (_earned(a, order[k], weights) - earned)
        if more < 0:
            return 0, earned
        tight += 1 if more == 0 else 0
    return tight, earned


@register_jitable
def _earned(a: Any, row: Any, weights: Any) -> Any:
    total = a[row, 0] * weights[0]
    for place in range(1, len(weights)):
        total += a[row, place] * weights[place]
    return total


@register_jitable
def _sum(weights: Any) -> Any:
    total = weights[0]
    for place in range(1, len(weights)):
        total += weights[place]
    return total


@register_jitable
def _used(weights: Any) -> int:
    used = 0
    for place in range(len(weights)):
        used += 1 if weights[place] else 0
    return used


@register_jitable
def _doubled(strategies: Any) -> Any:
    more = np.empty((2 * len(strategies), strategies.shape[1]), strategies.dtype)
    more[: len(strategies)] = strategies
    return more


@register_jitable
def _insert(strategies: Any, start: int, end: int, weights: Any) -> Any:
    """Put weights, in lowest terms, into their place between start and end, if they are not there; return the new end."""
    divisor = weights[0]
    for place in range(1, len(weights)):
        divisor = _gcd(divisor, weights[place])
    if divisor != 1:
        for place in range(len(weights)):
            weights[place] //= divisor
    at = end
    while at > start:
        order = _compare(strategies[at - 1], weights)
        if order == 0:
            return end
        if order > 0:
            break
        at -= 1
    for place in range(end, at, -1):
        strategies[place] = strategies[place - 1]
    for place in range(len(weights)):
        strategies[at, place] = weights[place]
    return end + 1


@register_jitable
def _compare(ours: Any, theirs: Any) -> Any:
    """Compare two strategies in dictionary order of their probabilities: 1 if ours comes after theirs, 0 if they are equal."""
    our_total, their_total = _sum(ours), _sum(theirs)
    for place in range(len(ours)):
        order = _compare_ratios(ours[place], our_total, theirs[place], their_total)
        if order:
            return order
    return 0


@register_jitable
def _compare_ratios(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Compare a/b with c/d, nonnegative over positive, by their continued fractions: cross products might overflow."""
    sign = 1
    while True:
        if a // b != c // d:
            return sign if a // b > c // d else -sign
        a, c = a % b, c % d
        if a == 0 or c == 0:
            if a == c:
                return 0
            return sign if a else -sign
        a, b, c, d = b, a, d, c
        sign = -sign


@register_jitable
def _gcd(a: Any, b: Any) -> Any:
    while b:
        a, b = b, a % b
    return a


_find_compiled = numba.njit(cache=True, nogil=True)(_find)
