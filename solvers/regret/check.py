"""Judge learning curves from the game and the table alone.

Recomputed in float64, within 1e-9 times the largest payoff: in each row x and y are probability distributions over the game's
actions, and the value, both gains and the exploitability follow from them. The rows belong together: iterations ascend from 1,
each has its last and its average strategies, in this order, and each average can be the mean of strategies played: that of the
average before, of some in between, and of the last. Not judged: that a learner led there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from solvers.contract import Game, Verdict
from solvers.forms import MatrixGame

Floats = NDArray[np.float64]
Row = Mapping[str, Any]

_TOLERANCE = 1e-9
_ITERATES = ("last", "average")
_COLUMNS = ("iteration", "iterate", "exploitability", "gain_p1", "gain_p2", "value_p1", "x", "y")


def check_curve(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for each row of `curve`, and one for the whole table if rows are missing from its beginning.

    Never raises, whatever the table holds. Time: one product of the matrix with each of the recorded strategies.
    """
    rows = _read(tables.get("curve"))
    if isinstance(rows, str):
        yield Verdict("curve", None, "refuted", rows)
        return
    if not rows or rows[0]["iteration"] != 1:
        yield Verdict("curve", None, "refuted", "the curve does not begin at iteration 1")
    payoffs = _payoffs(game)
    if payoffs is None:
        yield Verdict("curve", None, "refuted", "the payoffs are beyond float64")
        return
    faults = _order_faults(rows)
    played = _Played()
    for index, row in enumerate(rows):
        fault = faults[index] or _profile_fault(row, payoffs.shape) or _measure_fault(row, payoffs) or played.fault(row)
        yield Verdict("curve", index, "refuted" if fault else "recomputed", fault or f"within {_TOLERANCE:g} of the largest payoff")


def _read(table: pa.Table | None) -> list[Row] | str:
    """Return the rows as Python values, or what is wrong with the table."""
    if table is None:
        return "the table is missing"
    for name in _COLUMNS:
        if table.column_names.count(name) != 1:
            return f"there is not exactly one column {name!r}"
    try:
        rows: list[Row] = table.select(_COLUMNS).to_pylist()
    except (ValueError, ArithmeticError) as error:  # text that is no text, dates out of range
        return f"the table cannot be read: {error}"
    return rows


def _payoffs(game: Game) -> Floats | None:
    try:
        return np.array([[float(payoff) for payoff in row] for row in game.form(MatrixGame).payoffs])
    except OverflowError:
        return None


def _order_faults(rows: list[Row]) -> list[str]:
    """Say for each row what is wrong with its place among the others ("": nothing)."""
    faults = []
    before = (0, 1)
    present = {(row["iteration"], row["iterate"]) for row in rows if _place(row)}
    for row in rows:
        place = _place(row)
        if place is None:
            faults.append("the iteration is no number, or the iterate neither last nor average")
            continue
        other = _ITERATES[1 - place[1]]
        if place <= before:
            faults.append("iterations do not ascend from 1, or average stands before last")
        elif (row["iteration"], other) not in present:
            faults.append(f"iteration {place[0]} has no {other}")
        else:
            faults.append("")
        before = max(before, place)
    return faults


def _place(row: Row) -> tuple[int, int] | None:
    iteration, iterate = row["iteration"], row["iterate"]
    if type(iteration) is not int or iterate not in _ITERATES:
        return None
    return iteration, _ITERATES.index(iterate)


def _profile_fault(row: Row, shape: tuple[int, ...]) -> str:
    for name, size in zip(("x", "y"), shape, strict=True):
        mix = row[name]
        if not isinstance(mix, list) or len(mix) != size or not all(_is_number(p) for p in mix):
            return f"{name} is not a list of {size} numbers"
        if min(mix) < 0 or abs(math.fsum(mix) - 1) > _TOLERANCE:
            return f"{name} is not a probability distribution"
    return ""


def _measure_fault(row: Row, payoffs: Floats) -> str:
    x, y = np.array(row["x"], dtype=float), np.array(row["y"], dtype=float)
    rows_earn, columns_cost = payoffs @ y, x @ payoffs
    value = float(x @ rows_earn)
    gain_p1, gain_p2 = float(rows_earn.max()) - value, value - float(columns_cost.min())
    found = {"value_p1": value, "gain_p1": gain_p1, "gain_p2": gain_p2, "exploitability": (gain_p1 + gain_p2) / 2}
    allowed = _TOLERANCE * float(np.abs(payoffs).max())
    for name, number in found.items():
        stated = row[name]
        if not _is_number(stated) or not abs(stated - number) <= allowed:
            return f"{name} is {number:.12g}, stated {stated!r}"
    return ""


@dataclass(slots=True)
class _Played:
    """What the sound rows so far say of the strategies played: their sum up to iteration `summed`, and those of `last_at`."""

    summed: int = 0
    total: Floats | float = 0.0
    last_at: int = 0
    last: Floats | float = 0.0

    def fault(self, row: Row) -> str:
        """Take the next sound row; say why it is no mean that goes on from the average before ("": it can be one)."""
        iteration, profile = row["iteration"], np.array([*row["x"], *row["y"]], dtype=float)
        if row["iterate"] == "last":
            self.last_at, self.last = iteration, profile
            return ""
        has_last = self.last_at == iteration
        between = iteration * profile - self.total - (self.last if has_last else 0.0)
        allowed = iteration * (_TOLERANCE + iteration * np.finfo(float).eps)  # a sum of so many floats
        nothing_between = has_last and iteration == self.summed + 1
        if between.min() < -allowed or (nothing_between and between.max() > allowed):
            return f"the average of iteration {iteration} is no mean that goes on from that of iteration {self.summed}"
        self.summed, self.total = iteration, iteration * profile
        return ""


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
