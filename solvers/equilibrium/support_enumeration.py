"""All extreme equilibria of a game of two players, exactly, by enumerating pairs of supports; and why the other pairs give none.

For a zero-sum game, Shapley and Snow's theorem: a pair (x, y) of optimal strategies is extreme (neither is a mixture of other
optimal strategies) if and only if it is the unique solution of a square *kernel*: equally many rows I and columns J, with x inside
I and y inside J, such that x makes the columns J pay alike, y makes the rows I pay alike, and both are determined by that. So it is
enough to look at pairs of equal size and to solve, for each, two linear systems; a solution that is nonnegative and leaves neither
player a better reply is an equilibrium.

What comes out is the full set, in degenerate games too: a nondegenerate game has exactly one equilibrium; in any other, the
extreme x and the extreme y found here span the optimal strategies of each player, and every pair of optimal strategies is an
equilibrium. Kernels rather than exact supports, because an extreme strategy need not be determined by the support of its partner:
in [[0, -1], [0, 1]] player 2 plays the first column, which determines no mixture of rows, yet (1/2, 1/2) is extreme.

In a general-sum game x and y need not share a kernel. An extreme x is the unique solution of one kernel of player 2's payoffs, an
extreme y of one kernel of player 1's, so both are collected over all pairs, and put together where every action played is a best
reply (their labels are complementary, see `vertex_enumeration`, which is much faster and shares nothing with this).

`supports: true` adds, for each pair of supports, what a textbook does: the indifference system, and what becomes of it. All actions
of a support must be played, so each equilibrium that this finds stands in one row; those of degenerate games may stand in rows that
are underdetermined.

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
from fractions import Fraction
from itertools import combinations, product
from math import comb, gcd, lcm
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from flint import fmpz_mat

from solvers.contract import Checkpoint, Progress, Result, Stop, Workers
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA, EQUILIBRIA, Equilibrium, Weights, bimatrix_table, equilibria_table
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import BimatrixGame, Matrix, MatrixGame
from solvers.schema import TableInfo, column, exact, table_schema

MOST_PAIRS = 3_000_000
"""More pairs of supports than this are refused: 12 x 12 actions still pass."""

MOST_EXPLAINED = 10_000
"""With more pairs of supports of any sizes than this, (2^m - 1)(2^n - 1), `supports` is refused: 6 x 6 has 3,969."""

_PROGRESS_EVERY = 2000
_SECONDS_A_PAIR = 5e-6

SUPPORTS = table_schema(
    [
        column("x_support", pa.string(), "the rows that player 1 is to play, all of them, joined by +", nullable=False),
        column("y_support", pa.string(), "the columns that player 2 is to play, all of them, joined by +"),
        column("verdict", pa.string(), "equilibrium, no_solution, violated, or underdetermined: neither of these, many solutions"),
        column(
            "violated", pa.string(), "a probability that is not positive, or else the action that would earn most; null otherwise"
        ),
        column("equations", pa.string(), "the indifference system: y makes the rows earn u1 alike, x the columns u2"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.supports:check_supports",
        claims="proved",
        columns=("x_support", "y_support", "verdict", "violated"),
        about="Each pair of supports: the indifference system, and whether its solution is an equilibrium.",
    ),
)

_EMPTY = {
    "equilibria": EQUILIBRIA.empty_table(),
    "bimatrix_equilibria": BIMATRIX_EQUILIBRIA.empty_table(),
    "supports": SUPPORTS.empty_table(),
}

Integers = list[list[int]]


@dataclass(frozen=True, slots=True)
class SupportEnumeration:
    """Try every pair of equally large supports; exact.

    Costs about 5 us for each of the C(m + n, m) - 1 pairs (3 x 3: 19 pairs; 10 x 10: 184,755; 12 x 12: 2,704,155), often less
    where the equilibrium of a zero-sum game is unique, twice that for general-sum games; more with long fractions. Sensible to
    about 10 x 10 actions.

    Attributes
    ----------
    first
        End at the first equilibrium.
    supports
        Explain every pair of supports, of all sizes, if there are at most `MOST_EXPLAINED`; about 30 us each.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {
        "equilibria": EQUILIBRIA,
        "bimatrix_equilibria": BIMATRIX_EQUILIBRIA,
        "supports": SUPPORTS,
    }
    extent: ClassVar[str | None] = None

    first: bool = False
    supports: bool = False

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress and at the end the extreme equilibria: of a zero-sum game `equilibria`, else `bimatrix_equilibria`.

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
        zero_sum = game.is_zero_sum
        try:
            for tried, equilibria in enumerate(_try_pairs(game.a) if zero_sum else _try_both(game.a, game.b), start=1):
                found |= dict.fromkeys(equilibria)
                if self.first and found:
                    break
                if tried % _PROGRESS_EVERY == 0:
                    yield Progress(tried, _count_pairs(*game.shape), {"equilibria": len(found)})
        except Stop:
            if not found:
                raise
            complete = False
        metrics = {"equilibria": 1 if self.first and found else len(found), "pairs_tried": tried}
        yield Result(self._tables(game, list(found), zero_sum=zero_sum, explain=complete), metrics, complete)

    def _tables(self, game: BimatrixGame, found: list[Equilibrium], *, zero_sum: bool, explain: bool) -> dict[str, pa.Table]:
        tables = dict(_EMPTY)
        if self.first:
            found = found[:1]
        if zero_sum:
            tables["equilibria"] = equilibria_table(MatrixGame(game.a, game.row_actions, game.column_actions, game.outcomes), found)
        else:
            tables["bimatrix_equilibria"] = bimatrix_table(game, [(one.x, one.y) for one in found])
        m, n = game.shape
        if self.supports and explain and (2**m - 1) * (2**n - 1) <= MOST_EXPLAINED:
            tables["supports"] = pa.Table.from_pylist(list(explanations(game)), schema=SUPPORTS)
        return tables

    def refuses(self, game: Any) -> str | ImpossiblePairing | None:
        """Say that a game is too large, or so to be explained; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None:
            return None
        too_many = _too_many(*shape)
        explained = (2 ** shape[0] - 1) * (2 ** shape[1] - 1)
        if too_many is None and self.supports and explained > MOST_EXPLAINED:
            wanted = f"false for a game of {shape[0]} x {shape[1]} actions"
            hint = f"{explained:,} pairs of supports of any sizes, at most {MOST_EXPLAINED:,} are explained"
            return ImpossiblePairing("supports", wanted, "true", hint)
        return too_many

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that knows its `shape` need not be written out for that."""
        shape = getattr(game, "shape", None) or game.form(BimatrixGame).shape
        return min(_count_pairs(*shape), MOST_PAIRS) * _SECONDS_A_PAIR


def _too_many(rows: int, columns: int) -> str | None:
    total = _count_pairs(rows, columns)
    if total <= MOST_PAIRS:
        return None
    return (
        f"a game of {rows} x {columns} actions has {total:,} pairs of supports, at most {MOST_PAIRS:,} are tried; "
        "games to about 10 x 10 are sensible, with vertex_enumeration to about 15 x 15"
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
    return tuple(dict.fromkeys(one for found in _try_pairs(payoffs) for one in found))


def _count_pairs(rows: int, columns: int) -> int:
    return comb(rows + columns, rows) - 1


def _try_pairs(payoffs: Matrix) -> Iterator[tuple[Equilibrium, ...]]:
    """Yield, for each pair of supports, the equilibrium it determines, if any; end early if that is known to be unique."""
    for_y = _scaled(payoffs)
    for_x = [[-entry for entry in entries] for entries in zip(*for_y, strict=True)]  # the same game, seen by player 1
    for rows, columns in _kernels(len(for_y), len(for_x)):
        y = _equalize(for_y, rows, columns)
        x = None if y is None else _equalize(for_x, columns, rows)
        if x is None or y is None:
            yield ()
            continue
        yield (Equilibrium(x, y),)
        # Strictly worse off the kernel, strictly positive on it: any other optimal strategy would have to lie in the same
        # kernel, which determines it. So this is the only equilibrium.
        if _is_strict(for_y, rows, y) and _is_strict(for_x, columns, x):
            return


def _kernels(m: int, n: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for size in range(1, min(m, n) + 1):
        yield from product(combinations(range(m), size), combinations(range(n), size))


def _try_both(a: Matrix, b: Matrix) -> Iterator[tuple[Equilibrium, ...]]:
    """Yield, for each pair of supports, the equilibria of the x and the y it determines with those of earlier pairs.

    What each strategy leaves to the other player is a bit set of actions, rows first: those it plays must be best replies, and
    those of the partner lie among its own best replies.
    """
    m = len(a)
    for_y = _scaled(a)
    for_x = _scaled(tuple(zip(*b, strict=True)))
    xs: dict[Weights, tuple[int, int]] = {}  # what is played, and what is best against it
    ys: dict[Weights, tuple[int, int]] = {}
    for rows, columns in _kernels(m, len(for_x)):
        y = _equalize(for_y, rows, columns)
        x = _equalize(for_x, columns, rows)
        found: list[Equilibrium] = []
        if y is not None and y not in ys:
            ys[y] = played, best = _played(y), _best(for_y, y)
            found += [Equilibrium(one, y) for one, (used, free) in xs.items() if not used & ~best and not played & ~free]
        if x is not None and x not in xs:
            xs[x] = played, best = _played(x), _best(for_x, x)
            found += [Equilibrium(x, one) for one, (used, free) in ys.items() if not used & ~best and not played & ~free]
        yield tuple(found)


def _played(weights: Weights) -> int:
    return sum(1 << place for place, weight in enumerate(weights) if weight)


def _best(earned: Integers, weights: Weights) -> int:
    payoffs = [_loss(row, weights) for row in earned]
    return sum(1 << place for place, payoff in enumerate(payoffs) if payoff == max(payoffs))


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


# ---- why each pair of supports fails or not ----------------------------------------------------------------------------------


def explanations(game: BimatrixGame) -> Iterator[dict[str, str | None]]:
    """Yield the rows of `supports`: player 1's supports by size, then in order, and player 2's to each.

    Examples
    --------
    >>> (no, one, two), names = (Fraction(0), Fraction(1), Fraction(2)), ("ballet", "football")
    >>> rows = list(explanations(BimatrixGame(((two, no), (no, one)), ((one, no), (no, two)), names, names)))
    >>> [(row["y_support"], row["verdict"], row["violated"]) for row in rows if row["x_support"] == "ballet"][:2]
    [('ballet', 'equilibrium', None), ('football', 'violated', 'row football earns 1 > 0')]
    >>> rows[6]["equations"]
    'u1 = 2 y[ballet]; u1 = 0; 1 = y[ballet]; u2 = x[ballet]; 1 = x[ballet] + x[football]'
    """
    m, n = game.shape
    columns_of_b = tuple(zip(*game.b, strict=True))
    for_y, for_x = _scaled(game.a), _scaled(columns_of_b)
    for rows, columns in product(_subsets(m), _subsets(n)):
        equations = [
            *(f"u1 = {_sum_text(game.a[i], columns, 'y', game.column_actions)}" for i in rows),
            f"1 = {_sum_text([Fraction(1)] * n, columns, 'y', game.column_actions)}",
            *(f"u2 = {_sum_text(columns_of_b[j], rows, 'x', game.row_actions)}" for j in columns),
            f"1 = {_sum_text([Fraction(1)] * m, rows, 'x', game.row_actions)}",
        ]
        x, y = _mixtures(for_x, columns, rows), _mixtures(for_y, rows, columns)
        violated = None
        if x == () or y == ():
            verdict = "no_solution"
        else:
            violated = _violated(game, columns_of_b, (rows, columns), (x, y))
            verdict = "violated" if violated else "underdetermined" if x is None or y is None else "equilibrium"
        yield {
            "x_support": "+".join(game.row_actions[i] for i in rows),
            "y_support": "+".join(game.column_actions[j] for j in columns),
            "verdict": verdict,
            "violated": violated,
            "equations": "; ".join(equations),
        }


def _subsets(count: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(1, count + 1) for chosen in combinations(range(count), size)]


def _mixtures(earned: Integers, rows: Sequence[int], columns: Sequence[int]) -> tuple[Fraction, ...] | None:
    """Return the mixture of `columns` that makes `rows` earn alike, one number a column; () if there is none, None if many."""
    base = earned[rows[0]]
    if len(rows) == 1:
        return (Fraction(1),) if len(columns) == 1 else None
    differences = [[earned[row][j] - base[j] for j in columns] for row in rows[1:]]
    basis, nullity = fmpz_mat(differences).nullspace()
    vectors = [[int(basis[index, place]) for index in range(len(columns))] for place in range(nullity)]
    if not any(sum(vector) for vector in vectors):
        return ()
    if nullity > 1:
        return None
    (vector,) = vectors
    return tuple(Fraction(entry, sum(vector)) for entry in vector)


def _violated(
    game: BimatrixGame,
    columns_of_b: Matrix,
    supports: tuple[Sequence[int], Sequence[int]],
    mixtures: tuple[tuple[Fraction, ...] | None, tuple[Fraction, ...] | None],
) -> str | None:
    """Say what a mixture that is determined breaks: first its own probabilities, x's before y's, then player 1's best reply."""
    rows, columns = supports
    x, y = mixtures
    for letter, mixture, played, actions in (("x", x, rows, game.row_actions), ("y", y, columns, game.column_actions)):
        for place, probability in zip(played, mixture or (), strict=False):
            if probability <= 0:
                return f"{letter}[{actions[place]}] = {exact(probability)}"
    for line, mixture, played, tight, payoffs, actions in (
        ("row", y, columns, rows, game.a, game.row_actions),
        ("column", x, rows, columns, columns_of_b, game.column_actions),
    ):
        if mixture is None:
            continue
        earned = [sum((one[j] * weight for j, weight in zip(played, mixture, strict=True)), Fraction()) for one in payoffs]
        if max(earned) > earned[tight[0]]:
            best = actions[earned.index(max(earned))]
            return f"{line} {best} earns {exact(max(earned))} > {exact(earned[tight[0]])}"
    return None


def _sum_text(coefficients: Sequence[Fraction], places: Sequence[int], letter: str, actions: Sequence[str]) -> str:
    text = ""
    for place in places:
        coefficient = coefficients[place]
        if coefficient:
            size = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
            sign = ("-" if coefficient < 0 else "") if not text else " - " if coefficient < 0 else " + "
            text += f"{sign}{size}{letter}[{actions[place]}]"
    return text or "0"
