"""Judge evaluations of two given strategies: all of it follows from them and the game, and is computed again, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import Mixture, Refuted, clipped, dot, read_mixture, read_number, read_rows, rounded, shown
from solvers.forms import Matrix, MatrixGame

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
    try:
        row = _only_row(tables)
    except Refuted as wrong:
        yield Verdict(OUTCOMES, None, "refuted", str(wrong))
        return
    try:
        _judge(matrix, row)
    except Refuted as wrong:
        yield Verdict(OUTCOMES, 0, "refuted", str(wrong))
        return
    yield Verdict(OUTCOMES, 0, "proved", "recomputed from x and y")


def check_action_values(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `action_values`: `proved` if it follows from x and y of `outcomes`. O(m n) fractions."""
    matrix = game.form(MatrixGame)
    try:
        x, y = _mixtures(matrix, _only_row(tables))
        rows = read_rows(tables, ACTION_VALUES, ACTION_COLUMNS)
    except Refuted as wrong:
        yield Verdict(ACTION_VALUES, None, "refuted", str(wrong))
        return
    wanted = []
    for player, names, values in ((1, matrix.row_actions, _earned(matrix, y)), (2, matrix.column_actions, _received(matrix, x))):
        wanted += [(player, name, value, value == max(values)) for name, value in zip(names, values, strict=True)]
    if len(rows) != len(wanted):
        yield Verdict(ACTION_VALUES, None, "refuted", f"the game has {len(wanted)} actions, there are {len(rows)} rows")
    for number, (row, (player, action, value, best)) in enumerate(zip(rows, wanted, strict=False)):
        try:
            if read_number("value", row["value"]) != value:
                raise Refuted(f"value: {action} earns {shown(value)}, not {clipped(row['value'])}")  # noqa: TRY301 (one way out)
            _see(row, {"player": player, "action": action, "best": best, "value_float": rounded(value)})
        except Refuted as wrong:
            yield Verdict(ACTION_VALUES, number, "refuted", str(wrong))
            continue
        yield Verdict(ACTION_VALUES, number, "proved", f"recomputed: {shown(value)}")


def _only_row(tables: Mapping[str, pa.Table]) -> Row:
    rows = read_rows(tables, OUTCOMES, COLUMNS)
    if len(rows) != 1:
        raise Refuted(f"expected one row of outcomes, got {len(rows)}")
    return rows[0]


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
    for name, wanted in exactly.items():
        if read_number(name, row[name]) != wanted:
            raise Refuted(f"{name}: x and y yield {shown(wanted)}, not {clipped(row[name])}")
    _see(row, {f"{name}_float": rounded(wanted) for name, wanted in exactly.items()})
    for name in ("win", "draw", "lose"):
        if game.outcomes is None:
            _see(row, {name: None})
            continue
        chances: Matrix = getattr(game.outcomes, name)
        wanted = dot([dot(line, y) for line in chances], x)
        if read_number(name, row[name]) != wanted:
            raise Refuted(f"{name}: x and y yield {shown(wanted)}, not {clipped(row[name])}")


def _see(row: Row, wanted: Mapping[str, Any]) -> None:
    for name, right in wanted.items():
        if type(row[name]) is not type(right) or row[name] != right:
            raise Refuted(f"{name}: expected {right!r}, got {clipped(row[name])}")
