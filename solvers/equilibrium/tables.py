"""The tables of this family, one schema a name, and how rows are made, so that every solver's are equal cell by cell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import pyarrow as pa

from solvers.forms import BimatrixGame, Matrix, MatrixGame
from solvers.schema import HeatMap, Histogram, TableInfo, column, exact, table_schema

EQUILIBRIA = table_schema(
    [
        column("index", pa.int32(), "from 0; earlier ones put more weight on the first action where they differ", nullable=False),
        column("value", pa.string(), "what player 2 pays player 1 on average, exact"),
        column("x", pa.list_(pa.string()), "player 1's probability of each row, exact"),
        column("y", pa.list_(pa.string()), "player 2's probability of each column, exact"),
        column("x_support", pa.string(), "the rows that player 1 plays, joined by +"),
        column("y_support", pa.string(), "the columns that player 2 plays, joined by +"),
        column("value_float", pa.float64(), "the value, rounded; null if it is beyond float64"),
        column("win", pa.string(), "probability that player 1 wins, exact; null where the game has no outcomes"),
        column("draw", pa.string(), "probability of a draw, exact; null where the game has no outcomes"),
        column("lose", pa.string(), "probability that player 1 loses, exact; null where the game has no outcomes"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.equilibria:check_equilibria",
        claims="proved",
        columns=("value", "x", "y", "win", "draw", "lose"),
        pictures=(
            HeatMap(("value_float",), "value of the game"),
            HeatMap(("x_support", "y_support"), "supports"),
            Histogram(("value_float",), "value of the game", once=True),
            Histogram(("x_support", "y_support"), "support sizes of both players", parts=True),
            Histogram(("x_support", "y_support"), "how often each pair of supports occurs"),
        ),
        about="Extreme equilibria: optimal strategies of both players that are no mixtures of others, with the value.",
    ),
)

BIMATRIX_EQUILIBRIA = table_schema(
    [
        column("index", pa.int32(), "from 0; earlier ones put more weight on the first action where they differ", nullable=False),
        column("x", pa.list_(pa.string()), "player 1's probability of each row, exact"),
        column("y", pa.list_(pa.string()), "player 2's probability of each column, exact"),
        column("u1", pa.string(), "what player 1 gets on average, exact"),
        column("u2", pa.string(), "what player 2 gets on average, exact"),
        column("x_support", pa.string(), "the rows that player 1 plays, joined by +"),
        column("y_support", pa.string(), "the columns that player 2 plays, joined by +"),
        column("u1_float", pa.float64(), "u1, rounded; null if it is beyond float64"),
        column("u2_float", pa.float64(), "u2, rounded; null if it is beyond float64"),
        column("extreme", pa.bool_(), "neither x nor y is a mixture of other strategies that are in equilibrium with its partner"),
        column(
            "component", pa.int32(), "rows of one number, from 0, are linked by rows that share x or y: one connected component"
        ),
    ],
    TableInfo(
        check="solvers.equilibrium.check.bimatrix:check_bimatrix_equilibria",
        claims="proved",
        columns=("u1", "u2", "x", "y", "component"),
        pictures=(
            HeatMap(("u1_float",), "what player 1 gets"),
            HeatMap(("x_support", "y_support"), "supports"),
            Histogram((), "equilibria of a game", per_point=True),
            Histogram(("x_support", "y_support"), "support sizes of both players", parts=True),
            Histogram(("x_support", "y_support"), "how often each pair of supports occurs"),
        ),
        about="Equilibria of a general-sum game. Where all extreme ones are listed (vertex and support enumeration), equilibria "
        "are the mixtures within each set of rows in which every x meets every y, and components are the connected components of "
        "the set of all equilibria; where only some are, components with different numbers may still be one.",
    ),
)

Weights = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """A pair of optimal strategies, `[m]` and `[n]`: integer weights in lowest terms."""

    x: Weights
    y: Weights


def equilibria_table(game: MatrixGame, found: Iterable[Equilibrium]) -> pa.Table:
    """Return `equilibria` of these pairs: in falling order of x, then y, both compared as lists of probabilities."""
    mixed = sorted(((probabilities(one.x), probabilities(one.y), one) for one in found), key=lambda row: row[:2], reverse=True)
    parts = game.outcomes
    value = [mean(game.payoffs, one) for _, _, one in mixed]
    return pa.table(
        {
            "index": range(len(mixed)),
            "value": [exact(one) for one in value],
            "x": [[exact(probability) for probability in x] for x, _, _ in mixed],
            "y": [[exact(probability) for probability in y] for _, y, _ in mixed],
            "x_support": [support_text(one.x, game.row_actions) for _, _, one in mixed],
            "y_support": [support_text(one.y, game.column_actions) for _, _, one in mixed],
            "value_float": [rounded(one) for one in value],
            "win": [exact(mean(parts.win, one)) if parts else None for _, _, one in mixed],
            "draw": [exact(mean(parts.draw, one)) if parts else None for _, _, one in mixed],
            "lose": [exact(mean(parts.lose, one)) if parts else None for _, _, one in mixed],
        },
        schema=EQUILIBRIA,
    )


def bimatrix_table(game: BimatrixGame, found: Iterable[tuple[Weights, Weights]]) -> pa.Table:
    """Return `bimatrix_equilibria` of these extreme equilibria, nonnegative weights in any order: each once, in falling order."""
    pairs = {(probabilities(x), probabilities(y)): Equilibrium(x, y) for x, y in found}
    rows = sorted(pairs, reverse=True)
    u1 = [mean(game.a, pairs[row]) for row in rows]
    u2 = [mean(game.b, pairs[row]) for row in rows]
    return pa.table(
        {
            "index": range(len(rows)),
            "x": [[exact(one) for one in x] for x, _ in rows],
            "y": [[exact(one) for one in y] for _, y in rows],
            "u1": [exact(one) for one in u1],
            "u2": [exact(one) for one in u2],
            "x_support": [support_text(pairs[row].x, game.row_actions) for row in rows],
            "y_support": [support_text(pairs[row].y, game.column_actions) for row in rows],
            "u1_float": [rounded(one) for one in u1],
            "u2_float": [rounded(one) for one in u2],
            "extreme": [True] * len(rows),
            "component": components(rows),
        },
        schema=BIMATRIX_EQUILIBRIA,
    )


def components(pairs: Sequence[tuple[Hashable, Hashable]]) -> list[int]:
    """Number the connected components of the graph whose edges are these pairs, from 0 as they come up.

    Examples
    --------
    >>> components([("a", "b"), ("c", "d"), ("c", "b"), ("e", "f")])
    [0, 0, 0, 1]
    """
    parents: dict[Hashable, Hashable] = {}

    def root(node: Hashable) -> Hashable:
        while (above := parents.setdefault(node, node)) != node:
            parents[node] = node = parents.setdefault(above, above)
        return node

    for x, y in pairs:
        parents[root((2, y))] = root((1, x))
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(root((1, x)), len(numbers)) for x, _ in pairs]


def probabilities(weights: Weights) -> tuple[Fraction, ...]:
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


def support_text(weights: Weights, actions: Sequence[str]) -> str:
    return "+".join(action for weight, action in zip(weights, actions, strict=True) if weight)


def mean(matrix: Matrix, played: Equilibrium) -> Fraction:
    scale = lcm(*{entry.denominator for row in matrix for entry in row})
    total = sum(
        x * sum(entry.numerator * (scale // entry.denominator) * y for y, entry in zip(played.y, row, strict=True) if y)
        for x, row in zip(played.x, matrix, strict=True)
        if x
    )
    return Fraction(total, scale * sum(played.x) * sum(played.y))


def rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None
