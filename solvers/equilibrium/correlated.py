"""How well can two players do who both trust one signal? The best correlated equilibrium of a game, exactly.

A mediator draws a pair of actions from a known distribution and tells each player his own; it is a correlated equilibrium if
obeying is a best reply to obedience. These distributions form a polytope (for each action told and each other one, a linear
inequality), which holds all Nash equilibria; over it a linear objective is maximized by exact linear programming. The dual goes
with the answer: a multiplier for each temptation, with which anybody can see that no correlated equilibrium does better.

What it cannot do: list all vertices of the polytope; of several optima it delivers one, a vertex of the best face.

References
----------
Aumann, "Subjectivity and correlation in randomized strategies", Journal of Mathematical Economics 1, 1974; "Correlated
equilibrium as an expression of Bayesian rationality", Econometrica 55, 1987.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.linear import Integers, Optimum, Program, maximize, reported, scaled
from solvers.equilibrium.tables import rounded
from solvers.errors import InfeasibleGame
from solvers.forms import BimatrixGame
from solvers.schema import HeatMap, TableInfo, column, exact, table_schema

MOST_ENTRIES = 2_000_000
"""Programs of more entries (inequalities times pairs of actions) are refused: 31 x 31 actions still pass."""

CORRELATED = table_schema(
    [
        column("row", pa.string(), "what player 1 is told"),
        column("column", pa.string(), "what player 2 is told"),
        column("probability", pa.string(), "how often, exact; pairs that are not listed are never drawn"),
        column("probability_float", pa.float64(), "the probability, rounded"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.correlated:check_correlated",
        claims="proved",
        columns=("row", "column", "probability"),
        about="A correlated equilibrium: the pairs of actions that are drawn, in the order of rows and columns. Whoever is told an "
        "action gains by no other. Why none is better for the objective: correlated_dual.",
    ),
)
_MULTIPLIERS = pa.list_(pa.list_(pa.string()))
CORRELATED_DUAL = table_schema(
    [
        column("objective", pa.string(), "welfare (u1 + u2), player1 (u1), player2 (u2) or egalitarian (the lesser of u1 and u2)"),
        column("value", pa.string(), "the objective's greatest value over all correlated equilibria, exact"),
        column("u1", pa.string(), "what player 1 gets on average, exact"),
        column("u2", pa.string(), "what player 2 gets on average, exact"),
        column("value_float", pa.float64(), "the value, rounded; null if it is beyond float64"),
        column("u1_float", pa.float64(), "u1, rounded; null if it is beyond float64"),
        column("u2_float", pa.float64(), "u2, rounded; null if it is beyond float64"),
        column(
            "weights", pa.list_(pa.string()), "w1, w2: the value is the greatest w1 u1 + w2 u2, exact; egalitarian: they sum to 1"
        ),
        column(
            "multipliers1", _MULTIPLIERS, "[told][instead]: the weight of player 1's temptation to play instead what he is not told"
        ),
        column("multipliers2", _MULTIPLIERS, "the same of player 2"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.correlated:check_correlated_dual",
        claims="proved",
        columns=("objective", "value", "u1", "u2"),
        pictures=(HeatMap(("value_float",), "best correlated equilibrium"),),
        about="The proof that no correlated equilibrium does better: at each pair of actions, w1 u1 + w2 u2 and what obeying is "
        "better by than each temptation, times its multiplier, sum to at most the value. One row.",
    ),
)

Objective = Literal["welfare", "player1", "player2", "egalitarian"]
_WEIGHTS: Mapping[str, tuple[int, int]] = {"welfare": (1, 1), "player1": (1, 0), "player2": (0, 1)}


@dataclass(frozen=True, slots=True)
class Correlated:
    """Find a best correlated equilibrium and the proof that none is better; exact.

    Costs a linear program of m n variables and m (m - 1) + n (n - 1) + 1 inequalities: 5 x 5 some 10 ms, 10 x 10 30 ms,
    20 x 20 0.4 s, 30 x 30 2 s.

    Attributes
    ----------
    objective
        What is maximized: `welfare` u1 + u2, `player1` u1, `player2` u2, `egalitarian` the lesser of u1 and u2.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.bimatrix import Bimatrix
    >>> chicken = make(Bimatrix, a=[["6", "2"], ["7", "0"]], b=[["6", "7"], ["2", "0"]])
    >>> found = solve(chicken, Correlated()).tables
    >>> found["correlated_dual"]["value"].to_pylist(), found["correlated"]["probability"].to_pylist()
    (['21/2'], ['1/2', '1/4', '1/4'])
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"correlated": CORRELATED, "correlated_dual": CORRELATED_DUAL}
    extent: ClassVar[str | None] = None

    objective: Objective = "welfare"

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress while pivoting, and at the end the distribution and its proof.

        Raises
        ------
        InfeasibleGame
            If the program has more than `MOST_ENTRIES` entries.
        """
        too_large = _too_large(*game.shape)
        if too_large is not None:
            raise InfeasibleGame(too_large)
        both, _ = scaled((*game.a, *game.b))
        m, n = game.shape
        a, b = both[:m], both[m:]
        best = yield from reported(maximize(_program(a, b, self.objective)))
        drawn = {(i, j): p for i in range(m) for j in range(n) if (p := best.point[i * n + j])}
        u1 = sum((p * game.a[i][j] for (i, j), p in drawn.items()), Fraction())
        u2 = sum((p * game.b[i][j] for (i, j), p in drawn.items()), Fraction())
        if self.objective == "egalitarian":
            value = min(u1, u2)
        else:
            w1, w2 = _WEIGHTS[self.objective]
            value = w1 * u1 + w2 * u2
        tables = {"correlated": _drawn_table(game, drawn), "correlated_dual": self._dual_table((m, n), best, (value, u1, u2))}
        yield Result(tables, {"pivots": best.pivots, "pairs": len(drawn)})

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that does not tell its `shape` is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return 0.001 + 5e-6 * _entries(m, n)

    def _dual_table(self, shape: tuple[int, int], best: Optimum, values: tuple[Fraction, Fraction, Fraction]) -> pa.Table:
        prices = iter(best.dual)
        multipliers = [
            [["0" if k == told else exact(next(prices)) for k in range(count)] for told in range(count)] for count in shape
        ]
        if self.objective == "egalitarian":
            _, *weights = prices
        else:
            weights = [Fraction(one) for one in _WEIGHTS[self.objective]]
        names = ("value", "u1", "u2")
        row = {
            "objective": self.objective,
            **{name: exact(one) for name, one in zip(names, values, strict=True)},
            **{f"{name}_float": rounded(one) for name, one in zip(names, values, strict=True)},
            "weights": [exact(one) for one in weights],
            "multipliers1": multipliers[0],
            "multipliers2": multipliers[1],
        }
        return pa.Table.from_pylist([row], schema=CORRELATED_DUAL)


def _program(a: Integers, b: Integers, objective: Objective) -> Program:
    """Return the program over the pairs of actions, row by row; for `egalitarian` with the lesser payoff as last variable.

    Inequalities: each temptation of player 1, then of player 2, gains nothing; probabilities sum to at most 1; for `egalitarian`
    the last variable is at most u1 and at most u2. Payoffs in the objective are shifted to be positive, so that the sum is 1.
    """
    m, n = len(a), len(a[0])
    places = range(m * n)
    shift = 1 - min(*map(min, a), *map(min, b))
    u1 = [a[k // n][k % n] + shift for k in places]
    u2 = [b[k // n][k % n] + shift for k in places]
    rows = [
        [a[other][k % n] - a[told][k % n] if k // n == told else 0 for k in places]
        for told in range(m)
        for other in range(m)
        if other != told
    ]
    rows += [
        [b[k // n][other] - b[k // n][told] if k % n == told else 0 for k in places]
        for told in range(n)
        for other in range(n)
        if other != told
    ]
    bounds = [0] * len(rows) + [1]
    rows.append([1] * (m * n))
    if objective == "egalitarian":
        rows = [[*row, 0] for row in rows]
        rows += [[*(-one for one in u1), 1], [*(-one for one in u2), 1]]
        return Program([0] * (m * n) + [1], rows, [*bounds, 0, 0])
    w1, w2 = _WEIGHTS[objective]
    return Program([w1 * one + w2 * two for one, two in zip(u1, u2, strict=True)], rows, bounds)


def _drawn_table(game: BimatrixGame, drawn: Mapping[tuple[int, int], Fraction]) -> pa.Table:
    rows = [
        {
            "row": game.row_actions[i],
            "column": game.column_actions[j],
            "probability": exact(p),
            "probability_float": float(p),
        }
        for (i, j), p in drawn.items()
    ]
    return pa.Table.from_pylist(rows, schema=CORRELATED)


def _entries(rows: int, columns: int) -> int:
    return (rows * (rows - 1) + columns * (columns - 1) + 1) * rows * columns


def _too_large(rows: int, columns: int) -> str | None:
    if _entries(rows, columns) <= MOST_ENTRIES:
        return None
    return (
        f"a game of {rows} x {columns} actions makes a program of {_entries(rows, columns):,} entries, at most {MOST_ENTRIES:,} "
        "are solved exactly; dominance with kind=strict may leave a smaller game with the same correlated equilibria"
    )
