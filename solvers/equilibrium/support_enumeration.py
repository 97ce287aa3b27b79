"""All extreme equilibria of a zero-sum matrix game, exactly, by enumerating pairs of supports.

Shapley and Snow's theorem: a pair (x, y) of optimal strategies is extreme (neither is a mixture of other optimal strategies) if
and only if it is the unique solution of a square *kernel*: equally many rows I and columns J, with x inside I and y inside J,
such that x makes the columns J pay alike, y makes the rows I pay alike, and both are determined by that. So it is enough to look
at pairs of equal size and to solve, for each, two linear systems; a solution that is nonnegative and leaves neither player a
better reply is an equilibrium.

What comes out is the full set, in degenerate games too: a nondegenerate game has exactly one equilibrium; in any other, the
extreme x and the extreme y found here span the optimal strategies of each player, and every pair of optimal strategies is an
equilibrium. Kernels rather than exact supports, because an extreme strategy need not be determined by the support of its partner:
in [[0, -1], [0, 1]] player 2 plays the first column, which determines no mixture of rows, yet (1/2, 1/2) is extreme.

All arithmetic is in integers: payoffs are scaled by their common denominator, null spaces come from FLINT, and only answers are
turned back into fractions.

References
----------
Shapley and Snow, "Basic solutions of discrete games", Contributions to the Theory of Games I, 1950.
Ours: the bordered form of the theorem (it needs no shift when the value is 0) and the early end at a strict equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, gcd, lcm
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from flint import fmpz_mat

from solvers.contract import Checkpoint, Progress, Result, Stop, Workers
from solvers.equilibrium.tables import EQUILIBRIA, Equilibrium, Weights, equilibria_table
from solvers.errors import InfeasibleGame
from solvers.forms import Matrix, MatrixGame

MOST_PAIRS = 3_000_000
"""More pairs of supports than this are refused: 12 x 12 actions still pass."""

_PROGRESS_EVERY = 2000
_SECONDS_A_PAIR = 5e-6

Integers = list[list[int]]


@dataclass(frozen=True, slots=True)
class SupportEnumeration:
    """Try every pair of equally large supports; exact.

    Costs about 5 us for each of the C(m + n, m) - 1 pairs (3 x 3: 19 pairs; 10 x 10: 184,755; 12 x 12: 2,704,155), often less
    where the equilibrium is unique; more with long fractions. Sensible to about 10 x 10 actions.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"equilibria": EQUILIBRIA}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress and at the end the extreme equilibria.

        Raises
        ------
        InfeasibleGame
            If there are more than `MOST_PAIRS` pairs of supports.
        """
        too_many = _too_many(*game.shape)
        if too_many is not None:
            raise InfeasibleGame(too_many)
        found: dict[Equilibrium, None] = {}
        complete = True
        tried = 0
        try:
            for tried, equilibrium in enumerate(_try_pairs(game.payoffs), start=1):
                if equilibrium is not None:
                    found[equilibrium] = None
                if tried % _PROGRESS_EVERY == 0:
                    yield Progress(tried, _count_pairs(*game.shape), {"equilibria": len(found)})
        except Stop:
            if not found:
                raise
            complete = False
        yield Result({"equilibria": equilibria_table(game, found)}, {"equilibria": len(found), "pairs_tried": tried}, complete)

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_many(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that knows its `shape` need not be written out for that."""
        shape = getattr(game, "shape", None) or game.form(MatrixGame).shape
        return min(_count_pairs(*shape), MOST_PAIRS) * _SECONDS_A_PAIR


def _too_many(rows: int, columns: int) -> str | None:
    total = _count_pairs(rows, columns)
    if total <= MOST_PAIRS:
        return None
    return (
        f"a game of {rows} x {columns} actions has {total:,} pairs of supports, at most {MOST_PAIRS:,} are tried; "
        "games to about 10 x 10 are sensible"
    )


def extreme_equilibria(payoffs: Matrix) -> tuple[Equilibrium, ...]:
    """Find all pairs of extreme optimal strategies of a zero-sum game.

    Parameters
    ----------
    payoffs
        `[m, n]`, exact: what player 2 pays player 1.

    Returns
    -------
    tuple of Equilibrium
        Each once, in the order of the pairs of supports that determine them: smaller first.

    Examples
    --------
    >>> extreme_equilibria(((Fraction(2), Fraction(-1)), (Fraction(-1), Fraction(1))))
    (Equilibrium(x=(2, 3), y=(2, 3)),)
    """
    return tuple(dict.fromkeys(one for one in _try_pairs(payoffs) if one is not None))


def _count_pairs(rows: int, columns: int) -> int:
    return comb(rows + columns, rows) - 1


def _try_pairs(payoffs: Matrix) -> Iterator[Equilibrium | None]:
    """Yield, for each pair of supports, the equilibrium it determines, or None; end early if that is known to be unique."""
    for_y = _scaled(payoffs)
    for_x = [[-entry for entry in entries] for entries in zip(*for_y, strict=True)]  # the same game, seen by player 1
    m, n = len(for_y), len(for_x)
    for size in range(1, min(m, n) + 1):
        for rows, columns in product(combinations(range(m), size), combinations(range(n), size)):
            y = _equalize(for_y, rows, columns)
            x = None if y is None else _equalize(for_x, columns, rows)
            if x is None or y is None:
                yield None
                continue
            yield Equilibrium(x, y)
            # Strictly worse off the kernel, strictly positive on it: any other optimal strategy would have to lie in the same
            # kernel, which determines it. So this is the only equilibrium.
            if _is_strict(for_y, rows, y) and _is_strict(for_x, columns, x):
                return


def _equalize(losses: Integers, rows: Sequence[int], columns: Sequence[int]) -> Weights | None:
    """Mix `columns` so that `rows` all lose alike and no row loses more.

    Parameters
    ----------
    losses
        `[m, n]`, what the mixing player pays in each row.
    rows, columns
        Equally many of each.

    Returns
    -------
    tuple of int or None
        `[n]` nonnegative weights in lowest terms; None if they are not determined, not nonnegative, or if a row loses more.
    """
    base = losses[rows[0]]
    if len(rows) == 1:
        solution = [1]
    else:
        differences = [[losses[row][j] - base[j] for j in columns] for row in rows[1:]]
        basis, nullity = fmpz_mat(differences).nullspace()
        if nullity != 1:
            return None
        solution = [int(basis[index, 0]) for index in range(len(columns))]
    lowest, highest = min(solution), max(solution)
    if lowest < 0 < highest:
        return None
    divisor = gcd(*solution) if lowest >= 0 else -gcd(*solution)
    weights = [0] * len(base)
    for position, weight in zip(columns, solution, strict=True):
        weights[position] = weight // divisor
    most = _loss(base, weights)
    if any(_loss(row, weights) > most for row in losses):
        return None
    return tuple(weights)


def _is_strict(losses: Integers, rows: Sequence[int], weights: Weights) -> bool:
    """Say whether only `rows` lose the most, and as many columns as rows are used."""
    most = _loss(losses[rows[0]], weights)
    tight = sum(1 for row in losses if _loss(row, weights) == most)
    used = sum(1 for weight in weights if weight)
    return tight == used == len(rows)


def _loss(row: Sequence[int], weights: Sequence[int]) -> int:
    return sum(entry * weight for entry, weight in zip(row, weights, strict=True) if weight)


def _scaled(payoffs: Matrix) -> Integers:
    scale = lcm(*(entry.denominator for row in payoffs for entry in row))
    return [[entry.numerator * (scale // entry.denominator) for entry in row] for row in payoffs]
