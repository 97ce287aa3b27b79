"""Judge the value of a game tree by the strategies beside it: player 1's wins it at least, player 2's loses it at most.

Exact best replies to exact strategies prove it. Where only floats are known it is recomputed, within 1e-6 of the largest payoff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.contract import Verdict
from solvers.forms import GameTree
from solvers.regret.check.reading import Refuted, Row, clipped, is_number, read_number, read_rows, rounded, same
from solvers.regret.check.strategies import FLOAT_TOLERANCE, Strategies, are_exact, guarantees, read_strategies

TABLE = "values"
COLUMNS = ("value", "value_float", "method")
EXACT, FLOAT = "sequence form, exact", "sequence form, float64"


def check_values(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for the row of `values`.

    Never raises, whatever the tables hold. Time: some us an end of the game.

    Parameters
    ----------
    game
        A game that gives a `GameTree`.
    tables
        `values` and `strategies`, without the column `point`; may hold anything.
    """
    tree: GameTree = game.form(GameTree)
    try:
        rows = read_rows(tables, TABLE, COLUMNS)
        if not rows and (len(tables.get("curve", ())) or not len(tables.get("strategies", ()))):
            return  # the point of a learner, in a sweep where others have values; or of one that was stopped
        if len(rows) != 1:
            raise Refuted(f"expected one row, got {len(rows)}")  # noqa: TRY301
    except Refuted as wrong:
        yield Verdict(TABLE, None, "refuted", str(wrong))
        return
    try:
        numbers = read_strategies(tree, tables)
        reason = _proof(tree, rows[0], numbers) if rows[0]["value"] is not None else _evidence(tree, rows[0], numbers)
    except Refuted as wrong:
        yield Verdict(TABLE, 0, "refuted", str(wrong))
        return
    yield Verdict(TABLE, 0, "proved" if rows[0]["value"] is not None else "recomputed", reason)


def _proof(tree: GameTree, row: Row, numbers: Strategies) -> str:
    if not tree.is_exact:
        raise Refuted("value: the numbers of the game are rounded, so no exact value is known")
    if not are_exact(numbers):
        raise Refuted("the value is exact, the strategies beside it are not")
    value = read_number("value", row["value"])
    same("value_float", row["value_float"], rounded(value))
    same("method", row["method"], EXACT)
    low, high = guarantees(tree, numbers)
    if low != value or high != value:
        raise Refuted(f"value: player 1 wins at least {clipped(str(low))}, player 2 loses at most {clipped(str(high))}")
    return "both strategies guarantee it, by exact best replies"


def _evidence(tree: GameTree, row: Row, numbers: Strategies) -> str:
    same("method", row["method"], FLOAT)
    stated = row["value_float"]
    if not is_number(stated):
        raise Refuted(f"value_float: expected a number, got {clipped(stated)}")
    low, high = guarantees(tree, numbers)
    allowed = FLOAT_TOLERANCE * float(np.abs(tree.earnings).max())
    if not low - allowed <= stated <= high + allowed or high - low > allowed:
        raise Refuted(f"value_float: player 1 wins at least {float(low):.12g}, player 2 loses at most {float(high):.12g}")
    return f"both strategies guarantee it, within {FLOAT_TOLERANCE:g} of the largest payoff"
