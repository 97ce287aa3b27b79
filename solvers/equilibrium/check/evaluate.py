"""Judge evaluations of two given strategies: all of it follows from them and the game, and is computed again, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import (
    Mixture,
    Refuted,
    dot,
    judging,
    read_mixture,
    read_only_row,
    read_rows,
    rounded,
    see_cells,
    see_numbers,
    see_outcomes,
    shown,
)
from solvers.forms import MatrixGame

OUTCOMES, ACTION_VALUES = "outcomes", "action_values"
COLUMNS = (
    "value",
    "win",
    "draw",
    "lose",
    "gain_row",
    "gain_column",
    "x",
    "y",
    "value_float",
    "gain_row_float",
    "gain_column_float",
)
ACTION_COLUMNS = ("player", "action", "value", "best", "value_float")

Row = Mapping[str, Any]


@judging(OUTCOMES)
def check_outcomes(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the row of `outcomes`: `proved` if all of it follows from its x and y. O(m n) fractions.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `outcomes`, without the column `point`; may hold anything.
    """
    matrix = game.form(MatrixGame)
    row = read_only_row(tables, OUTCOMES, COLUMNS)
    try:
        _judge(matrix, row)
    except Refuted as wrong:
        yield Verdict(OUTCOMES, 0, "refuted", str(wrong))
        return
    yield Verdict(OUTCOMES, 0, "proved", "recomputed from x and y")


@judging(ACTION_VALUES)
def check_action_values(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `action_values`: `proved` if it follows from x and y of `outcomes`. O(m n) fractions."""
    matrix = game.form(MatrixGame)
    x, y = _mixtures(matrix, read_only_row(tables, OUTCOMES, COLUMNS))
    rows = read_rows(tables, ACTION_VALUES, ACTION_COLUMNS)
    wanted = []
    for player, names, values in ((1, matrix.row_actions, _earned(matrix, y)), (2, matrix.column_actions, _received(matrix, x))):
        wanted += [(player, name, value, value == max(values)) for name, value in zip(names, values, strict=True)]
    if len(rows) != len(wanted):
        yield Verdict(ACTION_VALUES, None, "refuted", f"the game has {len(wanted)} actions, there are {len(rows)} rows")
    for number, (row, (player, action, value, best)) in enumerate(zip(rows, wanted, strict=False)):
        try:
            see_numbers(row, {"value": value}, f"{action} earns")
            see_cells(row, {"player": player, "action": action, "best": best, "value_float": rounded(value)})
        except Refuted as wrong:
            yield Verdict(ACTION_VALUES, number, "refuted", str(wrong))
            continue
        yield Verdict(ACTION_VALUES, number, "proved", f"recomputed: {shown(value)}")


def _mixtures(game: MatrixGame, row: Row) -> tuple[Mixture, Mixture]:
    return read_mixture("x", row["x"], len(game.row_actions)), read_mixture("y", row["y"], len(game.column_actions))


def _earned(game: MatrixGame, y: Mixture) -> Mixture:
    return [dot(payoffs, y) for payoffs in game.payoffs]


def _received(game: MatrixGame, x: Mixture) -> Mixture:
    return [-dot(payoffs, x) for payoffs in zip(*game.payoffs, strict=True)]


def _judge(game: MatrixGame, row: Row) -> None:
    x, y = _mixtures(game, row)
    earned, received = _earned(game, y), _received(game, x)
    value = dot(earned, x)
    exactly = {"value": value, "gain_row": max(earned) - value, "gain_column": max(received) + value}
    see_numbers(row, exactly)
    see_cells(row, {f"{name}_float": rounded(wanted) for name, wanted in exactly.items()})
    see_outcomes(game, row, x, y)
