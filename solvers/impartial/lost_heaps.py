"""Which single heaps are lost for the player to move? A summary of a sweep: those of nimber 0, game by game.

The nimbers are those that the sweep stored, so the count ends with them; all lost heaps are there, as the rows of `nimbers` that
are 0. Where a period is proved, the heaps of one period say the rest: none of nimber 0 among them means that there are no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from solvers.contract import summarises
from solvers.schema import TableInfo, column, table_schema

WIDTH = 20
"""Characters in which the first lost heaps are told, without how many more there are."""

_BALL = "7"

LOST_HEAPS = table_schema(
    [
        column("code", pa.string(), "the game: its octal code, or its name where that is shorter"),
        column("balls", pa.string(), "the places of its digits, if all are 7: so many are knocked out of a row; else null"),
        column("status", pa.string(), "proved: periodic for ever; open: the heaps computed prove no period"),
        column("period", pa.int64(), "the least one"),
        column("preperiod", pa.int64(), "the heap from which it holds"),
        column("heaps", pa.int64(), "largest heap computed"),
        column("lost_count", pa.int64(), "lost heaps from 0 to there"),
        column("last_lost", pa.int64(), "the largest of them"),
        column("lost_per_period", pa.int64(), "lost heaps in each period: 0 if there are no others; null if no period is proved"),
        column("lost", pa.string(), "the first lost heaps, and how many more there are"),
    ],
    TableInfo(
        columns=(
            "balls",
            "code",
            "status",
            "period",
            "preperiod",
            "heaps",
            "lost_count",
            "last_lost",
            "lost_per_period",
            "lost",
        ),
        about=(
            "Heaps that are lost for the player to move, game by game, as far as their nimbers are stored; all of them are the "
            "rows of nimbers whose nimber is 0."
        ),
    ),
)


@summarises(lost_heaps=LOST_HEAPS)
def lost_heaps(points: pa.Table, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return one row a point that has a row of `periods` and its nimbers; a heap is lost if its nimber is 0."""
    periods, nimbers = (tables.get(name) for name in ("periods", "nimbers"))
    if periods is None or nimbers is None:
        return {"lost_heaps": LOST_HEAPS.empty_table()}
    lost: dict[str, list[int]] = defaultdict(list)
    zeros = nimbers.filter(pc.equal(nimbers["nimber"], 0))
    for point, heap in zip(zeros["point"].to_pylist(), zeros["n"].to_pylist(), strict=True):
        lost[point].append(heap)
    rows = [_row(row, lost[row["point"]]) for row in periods.to_pylist() if row["point"] in lost]
    return {"lost_heaps": pa.Table.from_pylist(rows, schema=LOST_HEAPS)}


def _row(found: Mapping[str, Any], lost: list[int]) -> dict[str, Any]:
    """Return the row of one game: what is known of its period, and its lost heaps in ascending order."""
    start, period = found["preperiod"], found["period"]
    return {
        **{name: found[name] for name in ("code", "status", "period", "preperiod")},
        "balls": balls(found["code"]),
        "heaps": found["heaps_done"],
        "lost_count": len(lost),
        "last_lost": max(lost),
        "lost_per_period": None if period is None else sum(start <= heap < start + period for heap in lost),
        "lost": beginning(sorted(lost)),
    }


def balls(code: str) -> str | None:
    """Return the places of the digit 7 of an octal code; None if it has another digit, or none, or is no code.

    Examples
    --------
    >>> balls("0.7007"), balls("0.137"), balls("subtraction {1,3}")
    ('1 4', None, None)
    """
    first, _, rest = code.partition(".")
    if first != "0" or not rest or set(rest) - {"0", _BALL} or _BALL not in rest:
        return None
    return " ".join(str(place) for place, digit in enumerate(rest, start=1) if digit == _BALL)


def beginning(heaps: list[int]) -> str:
    """Return as many of the heaps as `WIDTH` characters hold, one at least, and how many more there are.

    Examples
    --------
    >>> beginning([0, 2]), beginning(list(range(0, 400, 2)))
    ('0 2', '0 2 4 6 8 10 12 14 ... 192 more')
    """
    texts = [str(heap) for heap in heaps[: WIDTH // 2]]
    shown = max(1, sum(len(" ".join(texts[: place + 1])) <= WIDTH for place in range(len(texts))))
    more = len(heaps) - shown
    return " ".join(texts[:shown]) + (f" ... {more:,} more" if more else "")
