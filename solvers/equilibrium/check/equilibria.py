"""Judge equilibria of zero-sum matrix games from the game and the table alone.

An equilibrium is its own certificate: with exact fractions, recompute what each action earns against the other player's mixture
and see that no action earns more. Not judged: whether further equilibria are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import (
    Mixture,
    Refuted,
    clipped,
    dot,
    read_mixture,
    read_number,
    read_rows,
    rounded,
    shown,
    support_of,
)
from solvers.forms import Matrix, MatrixGame

TABLE = "equilibria"
COLUMNS = ("index", "value", "x", "y", "x_support", "y_support", "value_float", "win", "draw", "lose")

Pair = tuple[Mixture, Mixture]


def check_equilibria(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `equilibria`; exact, O(m n) fractions a row.

    A row is `proved` if x and y are probability distributions, the value is x'Ay, no row earns player 1 more and no column costs
    player 2 less, everything else the row says follows from them, and it stands in its place: index from 0, pairs (x, y) strictly
    falling in dictionary order.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `equilibria`, without the column `point`; may hold anything.
    """
    try:
        rows = read_rows(tables, TABLE, COLUMNS)
    except Refuted as wrong:
        yield Verdict(TABLE, None, "refuted", str(wrong))
        return
    if not rows:
        yield Verdict(TABLE, None, "refuted", "no rows, but a finite zero-sum game has an equilibrium")
        return
    matrix = game.form(MatrixGame)
    before: Pair | None = None
    for number, row in enumerate(rows):
        try:
            before = _judge(matrix, row, number, before)
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        m, n = matrix.shape
        yield Verdict(TABLE, number, "proved", f"equilibrium: none of {m} rows and {n} columns does better than {row['value']}")


def _judge(game: MatrixGame, row: Mapping[str, Any], number: int, before: Pair | None) -> Pair:
    """Return x and y of row `number`, or raise what is wrong with it; `before` is the last pair that was right."""
    x = read_mixture("x", row["x"], len(game.row_actions))
    y = read_mixture("y", row["y"], len(game.column_actions))
    value = read_number("value", row["value"])
    earned = [dot(payoffs, y) for payoffs in game.payoffs]
    paid = [dot(payoffs, x) for payoffs in zip(*game.payoffs, strict=True)]
    if dot(earned, x) != value:
        raise Refuted(f"value: x and y yield {shown(dot(earned, x))}, not {shown(value)}")
    if max(earned) > value:
        best = game.row_actions[earned.index(max(earned))]
        raise Refuted(f"not an equilibrium: {best} earns player 1 {shown(max(earned))} against y, more than {shown(value)}")
    if min(paid) < value:
        best = game.column_actions[paid.index(min(paid))]
        raise Refuted(f"not an equilibrium: {best} costs player 2 {shown(min(paid))} against x, less than {shown(value)}")
    if before is not None and (x, y) >= before:
        raise Refuted("repeats an earlier row, or stands in the wrong order")
    said = {
        "index": number,
        "x_support": support_of(x, game.row_actions),
        "y_support": support_of(y, game.column_actions),
        "value_float": rounded(value),
    }
    for name, wanted in said.items():
        if type(row[name]) is not type(wanted) or row[name] != wanted:
            raise Refuted(f"{name}: expected {wanted!r}, got {clipped(row[name])}")
    _judge_outcomes(game, row, x, y)
    return x, y


def _judge_outcomes(game: MatrixGame, row: Mapping[str, Any], x: Mixture, y: Mixture) -> None:
    for name in ("win", "draw", "lose"):
        if game.outcomes is None:
            if row[name] is not None:
                raise Refuted(f"{name}: expected null, for the game has no outcomes, got {clipped(row[name])}")
            continue
        matrix: Matrix = getattr(game.outcomes, name)
        wanted = dot([dot(line, y) for line in matrix], x)
        if read_number(name, row[name]) != wanted:
            raise Refuted(f"{name}: x and y yield {shown(wanted)}, not {clipped(row[name])}")
