"""What does the plain method cost, and how does that grow? A summary of a sweep over limits: work and time, and their slopes.

Work is counted: `xors`, exact numbers that solvers give as metrics, the same on any machine. Time is that of the machine that
computed a point, with whatever else it did.

The slope of a game is that of the straight line through (log n, log xors) with the least sum of squares: what grows with the
square of n has slope 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from solvers.contract import summarises
from solvers.schema import TableInfo, column, table_schema

DIGITS = 4
"""Decimals of a slope: beyond, machines may differ."""

_FEWEST = 2

WORK = table_schema(
    [
        column("code", pa.string(), "the game: its octal code, or its name where that is shorter"),
        column("n", pa.int64(), "largest heap computed, in counters"),
        column("xors", pa.int64(), "xors of two nimbers that all heaps up to it need"),
        column("look_ups", pa.int64(), "looks at nimbers that they need"),
        column("seconds", pa.float64(), "how long they took"),
    ],
    TableInfo(
        headline="none", about="How much the plain method has to do up to each limit, counted exactly, and how long that took."
    ),
)
SLOPES = table_schema(
    [
        column("code", pa.string(), "the game: its octal code, or its name where that is shorter"),
        column("from", pa.int64(), "the least of the largest heaps"),
        column("to", pa.int64(), "the largest of them"),
        column("slope", pa.float64(), f"of log xors against log n, to {DIGITS} decimals: 2 if work grows with the square"),
        column("slope_of_time", pa.float64(), "of log seconds against log n"),
    ],
    TableInfo(
        columns=("code", "from", "to", "slope", "slope_of_time"),
        drawing="solvers.impartial.draw_cost:cost",
        about="How work and time of the plain method grow with the largest heap: a line fitted to the logarithms.",
    ),
)


@summarises(slopes=SLOPES, work=WORK)
def slopes(points: pa.Table, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return one row of `work` a game and limit whose point counted xors, and one of `slopes` a game with two limits at least."""
    told = {row["point"]: (row["metrics"], row["wall_s"]) for row in points.to_pylist()}
    periods = tables["periods"].to_pylist() if "periods" in tables else []
    counted: dict[tuple[str, int], dict[str, Any]] = {}
    for row in periods:
        text, seconds = told[row["point"]]
        metrics = json.loads(text or "{}")
        if metrics.get("xors"):
            work = {name: int(metrics[name]) for name in ("xors", "look_ups")}
            counted[row["code"], row["heaps_done"]] = {"code": row["code"], "n": row["heaps_done"], **work, "seconds": seconds}
    rows = [counted[key] for key in sorted(counted)]
    games = {code: [row for row in rows if row["code"] == code] for code in dict.fromkeys(row["code"] for row in rows)}
    lines = [_line(code, found) for code, found in games.items() if len(found) >= _FEWEST]
    return {"work": pa.Table.from_pylist(rows, schema=WORK), "slopes": pa.Table.from_pylist(lines, schema=SLOPES)}


def _line(code: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    timed = [(row["n"], row["seconds"]) for row in rows if row["seconds"]]
    return {
        "code": code,
        "from": rows[0]["n"],
        "to": rows[-1]["n"],
        "slope": round(slope([(row["n"], row["xors"]) for row in rows]), DIGITS),
        "slope_of_time": round(slope(timed), DIGITS) if len(timed) >= _FEWEST else None,
    }


def slope(pairs: Sequence[tuple[int, float]]) -> float:
    """Return the slope of the straight line nearest to (log n, log work), by least squares; two different n at least.

    Examples
    --------
    >>> round(slope([(10, 300), (20, 1200), (40, 4800)]), 9)
    2.0
    """
    across, up = ([math.log(value) for value in column] for column in zip(*pairs, strict=True))
    middle, height = (math.fsum(values) / len(values) for values in (across, up))
    spread = math.fsum((x - middle) ** 2 for x in across)
    return math.fsum((x - middle) * (y - height) for x, y in zip(across, up, strict=True)) / spread
