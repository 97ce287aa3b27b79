"""The best mixed strategies among those in steps of 1/n: what a table of tries finds, and how far from optimal that is.

Each strategy whose probabilities are multiples of 1/n is tried, and what it is worth is what it earns in the worst case. Pure
replies suffice for that, because what a reply earns is linear in the reply: the worst of the grid's replies is a pure one, which
is on the grid. `opponent = grid` tries all the grid's replies nevertheless, as one does who does not know this; its answers are
the same, its cost is not. All strategies that tie for the best are given, with the gap to the value of the game, which is found
exactly by the simplex method (Bland's rule, integer pivots).

Payoffs are scaled to integers and the grid is counted in steps, so all arithmetic is in integers: numpy's where a bound on
everything that can occur fits 62 bits, Python's otherwise. Cannot do: grids of more than `MOST_STRATEGIES` strategies, which are
soon reached (n = 30: 496 strategies of 3 actions, 46,376 of 5, 10,295,472 of 8).

References
----------
Dantzig, "A proof of the equivalence of the programming problem and the game problem", 1951; Bland, "New finite pivoting rules for
the simplex method", Mathematics of Operations Research 2, 1977; Edmonds' integer pivots ("Systems of distinct representatives and
linear algebra", 1967).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import comb, lcm
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import Matrix, MatrixGame
from solvers.schema import TableInfo, column, exact, table_schema

MOST_STRATEGIES = 1_000_000
"""More strategies of one player than this are refused."""
MOST_ENTRIES = 20_000_000
"""So is a grid of more numbers than this: strategies times actions."""
MOST_MEETINGS = 2_000_000_000
"""So are more pairs of strategies than this where the opponent is on the grid."""
MOST_OUTCOMES = 100
"""Of so many pairs of tied optima the outcome is told."""

_BLOCK = 1_000_000
_SAFE_BITS = 62
_SECONDS_AN_ENTRY = 2e-8
_WOULD_DO = "support_enumeration and exact_lp find the optimal strategies themselves"

GRID_OPTIMA = table_schema(
    [
        column("player", pa.int32(), "1 mixes the rows, 2 the columns", nullable=False),
        column("index", pa.int32(), "from 0 for each player; earlier ones put more weight on the first action", nullable=False),
        column("steps", pa.int32(), "n: strategies are in steps of 1/n"),
        column("strategy", pa.list_(pa.string()), "the probability of each action, multiples of 1/n, exact"),
        column("worst_case", pa.string(), "what player 2 pays player 1 when the other player replies best, exact"),
        column("gap", pa.string(), "how much that is worse than the value of the game, exact; 0: optimal among all strategies"),
        column("replies", pa.string(), "the other player's actions that hold it there, joined by +"),
        column("gap_float", pa.float64(), "the gap, rounded; null if it is beyond float64"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.grid_search:check_grid_optima",
        claims="proved",
        columns=("player", "steps", "strategy", "worst_case", "gap", "replies"),
        about="The best strategies in steps of 1/n: all that tie, for either player.",
    ),
)

GRID_OUTCOMES = table_schema(
    [
        column("x_index", pa.int32(), "player 1's strategy: its index in grid_optima", nullable=False),
        column("y_index", pa.int32(), "player 2's strategy: its index in grid_optima", nullable=False),
        column("value", pa.string(), "what player 2 pays player 1 on average when these two meet, exact"),
        column("win", pa.string(), "probability that player 1 wins, exact; null where the game has no outcomes"),
        column("draw", pa.string(), "probability of a draw, exact; null where the game has no outcomes"),
        column("lose", pa.string(), "probability that player 1 loses, exact; null where the game has no outcomes"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.grid_search:check_grid_outcomes",
        claims="proved",
        about=f"What happens when two of these strategies meet: the first {MOST_OUTCOMES} pairs.",
    ),
)

Integers = list[list[int]]
Steps = tuple[int, ...]
"""A strategy of the grid: how many steps of 1/n each action has; the sum is n."""


@dataclass(frozen=True, slots=True)
class GridSearch:
    """Try all strategies in steps of 1/n; exact.

    Costs some 20 ns a number for C(n + m - 1, n) strategies of m actions, times the opponent's actions, or strategies if he is on
    the grid, too.

    Attributes
    ----------
    steps
        n: probabilities are multiples of 1/n; 1 to a million.
    opponent
        Which replies are tried against each strategy.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"grid_optima": GRID_OPTIMA, "grid_outcomes": GRID_OUTCOMES}
    extent: ClassVar[str | None] = None

    steps: int = 12
    opponent: Literal["pure", "grid"] = "pure"

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= MOST_STRATEGIES:
            raise ConfigError("steps", f"1 to {MOST_STRATEGIES:,}", f"{self.steps:,}")

    def solve(
        self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress and at the end the tied optima of both players; `Stop` passes: half a grid has no best strategy.

        Raises
        ------
        InfeasibleGame
            If the grid is too large.
        """
        too_many = self._too_many(game.shape)
        if too_many is not None:
            raise InfeasibleGame(str(too_many))
        gains, scale = _scaled(game.payoffs)
        losses = [[-gain for gain in gains_of_column] for gains_of_column in zip(*gains, strict=True)]
        value = game_value(game.payoffs)
        mixtures: list[list[Mixture]] = []
        worst: list[Fraction] = []
        strategies = sum(_count(self.steps, actions) for actions in game.shape)
        done = 0
        for earned in (gains, losses):
            tied = _Tied()
            for block, worst_cases in self._worst_cases(earned):
                tied.add(block, worst_cases)
                done += len(block)
                yield Progress(done, strategies, {"tied": len(tied.strategies)})
            mixtures.append([[Fraction(step, self.steps) for step in steps] for steps in tied.strategies])
            worst.append(Fraction(tied.worst, scale * self._parts))
        optima = _optima(game, self.steps, mixtures, value, (worst[0], -worst[1]))
        outcomes = _outcomes(game, *mixtures)
        yield Result(
            {"grid_optima": optima, "grid_outcomes": outcomes},
            {"strategies": strategies, "tied_rows": len(mixtures[0]), "tied_columns": len(mixtures[1])},
        )

    def refuses(self, game: Any) -> str | ImpossiblePairing | None:
        """Say that the grid is too large; None if it is not or the game does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return self._too_many(shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that knows its `shape` need not be written out for that."""
        m, n = getattr(game, "shape", None) or game.form(MatrixGame).shape
        rows, columns = _count(self.steps, m), _count(self.steps, n)
        entries = 2 * rows * columns if self.opponent == "grid" else rows * (m + n) + columns * (m + n)
        return min(entries, 2 * MOST_MEETINGS) * _SECONDS_AN_ENTRY

    @property
    def _parts(self) -> int:
        """Return by what integer payoffs are scaled further because strategies are counted in steps."""
        return self.steps * (self.steps if self.opponent == "grid" else 1)

    def _too_many(self, shape: tuple[int, int]) -> str | ImpossiblePairing | None:
        counts = [_count(self.steps, actions) for actions in shape]
        for actions, count in zip(shape, counts, strict=True):
            most = min(MOST_STRATEGIES, MOST_ENTRIES // actions)
            if count > most:
                said = f"they make {_counted(count)} strategies, at most {most:,} are tried; {_WOULD_DO}"
                steps = _most_steps(actions, most)
                if not steps:
                    return f"{actions} actions are too many for any grid: {said}"
                return ImpossiblePairing("steps", f"at most {steps:,} with {actions} actions", f"{self.steps:,}", said)
        if self.opponent == "grid" and counts[0] * counts[1] > MOST_MEETINGS:
            met = f"{counts[0]:,} x {counts[1]:,} = {counts[0] * counts[1]:,} pairs of strategies meet"
            hint = f"{met}, at most {MOST_MEETINGS:,} are tried"
            return ImpossiblePairing("opponent", f"pure with steps={self.steps}, which finds the same", "grid", hint)
        return None

    def _worst_cases(self, earned: Integers) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield blocks of the mixing player's strategies, `[k, m]` steps, with what each earns in the worst case, `[k]`, scaled."""
        mine = compositions(self.steps, len(earned))
        largest = max((abs(entry) for row in earned for entry in row), default=0) * self._parts
        kind = np.int64 if largest.bit_length() < _SAFE_BITS else object
        payoffs = np.array(earned, dtype=kind)
        replies = compositions(self.steps, len(earned[0])).astype(kind).T if self.opponent == "grid" else None
        block = max(1, _BLOCK // (payoffs.shape[1] if replies is None else replies.shape[1]))
        for start in range(0, len(mine), block):
            strategies = mine[start : start + block]
            outcomes = strategies.astype(kind) @ payoffs
            yield strategies, (outcomes if replies is None else outcomes @ replies).min(axis=1)


def _most_steps(actions: int, most: int) -> int:
    """Return the finest grid that has not more strategies than `most`; 0 if there is none."""
    return bisect_right(range(MOST_STRATEGIES), most, key=lambda steps: _count(steps, actions)) - 1


def compositions(total: int, parts: int) -> np.ndarray:
    """Return all ways to write `total` as a sum of `parts` numbers from 0, `[C(total + parts - 1, total), parts]` int64.

    Falling in dictionary order.

    Examples
    --------
    >>> compositions(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    made = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total], dtype=np.int64)
    for _ in range(parts - 1):
        choices = left + 1
        ends = np.cumsum(choices)
        after = np.arange(ends[-1]) - np.repeat(ends - choices, choices)  # what is left after this part: 0, 1, ..., left
        made = np.column_stack([np.repeat(made, choices, axis=0), np.repeat(left, choices) - after])
        left = after
    return np.column_stack([made, left])


def game_value(payoffs: Matrix) -> Fraction:
    """Return the value of a zero-sum game, exact, by the simplex method; some m n (m + n) integer products.

    Examples
    --------
    >>> game_value(((Fraction(-2), Fraction(3)), (Fraction(3), Fraction(-4))))
    Fraction(1, 12)
    """
    gains, scale = _scaled(payoffs)
    shift = 1 - min(min(row) for row in gains)
    m, n = len(gains), len(gains[0])
    # Maximise the sum of y >= 0 with (A + shift) y <= 1: the maximum is 1 / (value + shift). Rows: m constraints, then the goal.
    tableau = [[entry + shift for entry in row] + [int(i == j) for j in range(m)] + [1] for i, row in enumerate(gains)]
    tableau.append([-1] * n + [0] * (m + 1))
    basis = list(range(n, n + m))
    pivot_before = 1
    while True:
        entering = next((j for j in range(n + m) if tableau[m][j] < 0), None)
        if entering is None:
            return Fraction(pivot_before, tableau[m][-1] * scale) - Fraction(shift, scale)
        ratios = [(Fraction(row[-1], row[entering]), basis[i], i) for i, row in enumerate(tableau[:m]) if row[entering] > 0]
        _, _, leaving = min(ratios)
        pivot = tableau[leaving][entering]
        for i, row in enumerate(tableau):
            if i != leaving:
                factor = row[entering]
                tableau[i] = [(pivot * a - factor * b) // pivot_before for a, b in zip(row, tableau[leaving], strict=True)]
        basis[leaving] = entering
        pivot_before = pivot


class _Tied:
    """The best strategies seen so far."""

    def __init__(self) -> None:
        self.worst = 0
        self.strategies: list[Steps] = []

    def add(self, strategies: np.ndarray, worst: np.ndarray) -> None:
        best = int(worst.max())
        if not self.strategies or best > self.worst:
            self.worst, self.strategies = best, []
        if best == self.worst:
            self.strategies += [tuple(map(int, steps)) for steps in strategies[worst == best]]


def _count(steps: int, actions: int) -> int:
    return comb(steps + actions - 1, steps)


def _counted(count: int) -> str:
    return f"{count:,}" if count < 10**18 else f"some 10^{len(str(count)) - 1}"


def _scaled(payoffs: Matrix) -> tuple[Integers, int]:
    scale = lcm(*(entry.denominator for row in payoffs for entry in row))
    return [[entry.numerator * (scale // entry.denominator) for entry in row] for row in payoffs], scale


# ---- the tables --------------------------------------------------------------------------------------------------------------

Mixture = list[Fraction]


def _optima(
    game: MatrixGame, steps: int, mixtures: list[list[Mixture]], value: Fraction, worst: tuple[Fraction, Fraction]
) -> pa.Table:
    rows = []
    columns = tuple(zip(*game.payoffs, strict=True))
    for player, replies, names in ((1, columns, game.column_actions), (2, game.payoffs, game.row_actions)):
        held, gap = worst[player - 1], abs(value - worst[player - 1])
        for index, mixture in enumerate(mixtures[player - 1]):
            holding = [name for name, reply in zip(names, replies, strict=True) if _dot(reply, mixture) == held]
            texts = [exact(one) for one in mixture]
            rows.append((player, index, steps, texts, exact(held), exact(gap), "+".join(holding), _rounded(gap)))
    return pa.table([list(cells) for cells in zip(*rows, strict=True)], schema=GRID_OPTIMA)


def _outcomes(game: MatrixGame, xs: list[Mixture], ys: list[Mixture]) -> pa.Table:
    rows = []
    for (i, x), (j, y) in islice(product(enumerate(xs), enumerate(ys)), MOST_OUTCOMES):
        parts = game.outcomes
        shares = (parts.win, parts.draw, parts.lose) if parts else (None, None, None)
        told = [exact(_mean(matrix, x, y)) if matrix else None for matrix in shares]
        rows.append((i, j, exact(_mean(game.payoffs, x, y)), *told))
    return pa.table([list(cells) for cells in zip(*rows, strict=True)], schema=GRID_OUTCOMES)


def _dot(left: tuple[Fraction, ...], right: Mixture) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction())


def _mean(matrix: Matrix, x: Mixture, y: Mixture) -> Fraction:
    return sum((p * _dot(row, y) for p, row in zip(x, matrix, strict=True) if p), Fraction())


def _rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None
