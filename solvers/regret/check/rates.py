"""Judge how fast a learning curve falls, from the curve itself: slopes by sums of products, in Python floats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.regret.check.reading import Refuted, is_number, read_rows

TABLE = "rates"
COLUMNS = ("from_iteration", "to_iteration", "exponent_average", "exponent_last")
TOLERANCE = 1e-6

_SPAN = 100
_FEWEST = 3


def check_rates(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for the one row of `rates`, judged by the point's `curve`; none where there is neither.

    Never raises, whatever the tables hold. Recomputed: within 1e-6. Time: a microsecond a row of the curve.
    """
    try:
        rows = read_rows(tables, TABLE, COLUMNS)
        curve = read_rows(tables, "curve", ("iteration", "iterate", "exploitability"))
        if not rows and not curve:
            return
        _compare(rows, curve)
    except Refuted as wrong:
        yield Verdict(TABLE, None, "refuted", str(wrong))
        return
    yield Verdict(TABLE, 0, "recomputed", f"slopes of the curve, within {TOLERANCE:g}")


def _compare(rows: Sequence[Mapping[str, Any]], curve: Sequence[Mapping[str, Any]]) -> None:
    if len(rows) != 1:
        raise Refuted(f"one row for the curve is wanted, {len(rows)} are there")
    row = rows[0]
    iterations = sorted({one["iteration"] for one in curve if type(one["iteration"]) is int and one["iteration"] > 0})
    if not iterations:
        raise Refuted("the curve has no iterations")
    first = next(one for one in iterations if one * _SPAN >= iterations[-1])
    wanted = {"from_iteration": first, "to_iteration": iterations[-1]}
    for name, number in wanted.items():
        if type(row[name]) is not int or row[name] != number:
            raise Refuted(f"{name}: expected {number}, got {row[name]!r}")
    for iterate in ("average", "last"):
        slope = _slope([one for one in curve if one["iterate"] == iterate and one["iteration"] in range(first, iterations[-1] + 1)])
        said = row[f"exponent_{iterate}"]
        if slope is None and said is None:
            continue
        if slope is None or not is_number(said) or abs(said - slope) > TOLERANCE * max(1.0, abs(slope)):
            raise Refuted(f"exponent_{iterate}: expected {slope!r}, got {said!r}")


def _slope(rows: Sequence[Mapping[str, Any]]) -> float | None:
    there = [(one["iteration"], one["exploitability"]) for one in rows if is_number(one["exploitability"])]
    pairs = [(math.log(iteration), math.log(height)) for iteration, height in there if height > 0]
    if len(pairs) < _FEWEST:
        return None
    count = len(pairs)
    x, y = math.fsum(a for a, _ in pairs) / count, math.fsum(b for _, b in pairs) / count
    return math.fsum((a - x) * (b - y) for a, b in pairs) / math.fsum((a - x) ** 2 for a, _ in pairs)
