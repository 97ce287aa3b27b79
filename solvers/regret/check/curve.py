"""Judge learning curves, of matrix games and of game trees, from the game and the table alone.

Recomputed in float64, within 1e-9 times the largest payoff: in each row x and y are probability distributions over the game's
actions (of a tree: at each information set), and the value, both gains and the exploitability follow from them, in payoffs, antes
and pots. The rows belong together: iterations ascend from 1, each has its last and its average strategies, in this order, and each
average can be the mean of strategies played, iteration t weighing t^gamma: that of the average before, of some in between, and of
the last. What is averaged on a tree are plans, the probabilities of all that a player may do. Where gamma is null that is not
judged. Not judged: that a learner led there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from solvers.contract import Game, Verdict
from solvers.regret.check.boards import TOLERANCE, Board, Floats, board_of

Row = Mapping[str, Any]

_ITERATES = ("last", "average")
_NUMBERS = (
    "iteration",
    "iterate",
    "exploitability",
    "gain_p1",
    "gain_p2",
    "value_p1",
    "milli_antes",
    "pot_percent",
    "gamma",
)
_MIXES = ("x", "y")
LARGEST_GAMMA = 100.0
RECOMPUTED = f"within {TOLERANCE:g} of the largest payoff"
_SUMMED_SINGLY = 1000


def check_curve(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for each row of `curve`, and one for the whole table if rows are missing from its beginning.

    Never raises, whatever the table holds. Time: one product of the matrix with each of the recorded strategies; of a tree, some
    passes over its ends (5 ms for 100,000 of them) for each.
    """
    rows = _read(tables.get("curve"))
    if isinstance(rows, str):
        yield Verdict("curve", None, "refuted", rows)
        return
    if not rows or rows[0]["iteration"] != 1:
        yield Verdict("curve", None, "refuted", "the curve does not begin at iteration 1")
    mixes = {name: tables["curve"][name].combine_chunks() for name in _MIXES}
    board = board_of(game, _sizes(mixes))
    if board is None:
        yield Verdict("curve", None, "refuted", "the payoffs are beyond float64")
        return
    faults = _order_faults(rows)
    played = _Played(rows[0]["gamma"] if rows else None)
    for index, row in enumerate(rows):
        fault = faults[index] or _row_fault(board, row, mixes, index, played)
        yield Verdict("curve", index, "refuted" if fault else "recomputed", fault or RECOMPUTED)


def _row_fault(board: Board, row: Row, mixes: Mapping[str, pa.Array], index: int, played: _Played) -> str:
    strategies: list[Floats] = []
    for player, (name, size) in enumerate(zip(_MIXES, board.shape, strict=True), 1):
        numbers = _numbers(mixes[name], index, size)
        if numbers is None:
            return f"{name} is not a list of {size} numbers"
        if not board.is_strategy(player, numbers):
            return f"{name} is not a probability distribution"
        strategies.append(numbers)
    x, y = strategies
    return _measure_fault(row, board, x, y) or played.fault(row, board.plans(x, y))


def _numbers(mixes: pa.Array, index: int, size: int) -> Floats | None:
    """Return a row's list as an array; None if it is not one of so many finite numbers."""
    kind = mixes.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    if not (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)):
        return None
    values = mixes[index].values
    if values is None or len(values) != size or values.null_count:
        return None
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _sizes(mixes: Mapping[str, pa.Array]) -> tuple[int, int] | None:
    """Return how long the lists of the first row are; None if it has none."""
    lengths = []
    for column in mixes.values():
        values = column[0].values if len(column) and pa.types.is_list(column.type) else None
        if values is None:
            return None
        lengths.append(len(values))
    return lengths[0], lengths[1]


def _read(table: pa.Table | None) -> list[Row] | str:
    """Return the rows as Python values, or what is wrong with the table."""
    if table is None:
        return "the table is missing"
    for name in (*_NUMBERS, *_MIXES):
        if table.column_names.count(name) != 1:
            return f"there is not exactly one column {name!r}"
    try:
        rows: list[Row] = table.select(list(_NUMBERS)).to_pylist()
    except (ValueError, ArithmeticError) as error:  # text that is no text, dates out of range
        return f"the table cannot be read: {error}"
    return rows


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


def _measure_fault(row: Row, board: Board, x: Floats, y: Floats) -> str:
    value, gain_p1, gain_p2 = board.measures(x, y)
    exploitability = (gain_p1 + gain_p2) / 2
    found = {"value_p1": value, "gain_p1": gain_p1, "gain_p2": gain_p2, "exploitability": exploitability}
    for name, number in found.items():
        fault = _number_fault(name, row[name], number, TOLERANCE * board.largest)
        if fault:
            return fault
    for name, share in (("milli_antes", 1000), ("pot_percent", 100 / 2)):
        if board.ante is None:
            fault = f"{name} is stated, but the game has no ante" if row[name] is not None else ""
        else:
            unit = share / board.ante
            fault = _number_fault(name, row[name], exploitability * unit, TOLERANCE * board.largest * unit)
        if fault:
            return fault
    return ""


def _number_fault(name: str, stated: object, number: float, allowed: float) -> str:
    if not _is_number(stated) or not abs(stated - number) <= allowed:
        return f"{name} is {number:.12g}, stated {stated!r}"
    return ""


@dataclass(slots=True)
class _Played:
    """What the sound rows so far say of the plans played: their weighted sum up to iteration `summed`, and those of `last_at`."""

    gamma: Any
    summed: int = 0
    weight: float = 0.0
    total: Floats | float = 0.0
    last_at: int = 0
    last: Floats | float = 0.0

    def fault(self, row: Row, plans: Floats) -> str:
        """Take the next sound row; say why it is no mean that goes on from the average before ("": it can be one)."""
        gamma, iteration = row["gamma"], row["iteration"]
        if gamma != self.gamma:
            return f"gamma is stated as {gamma!r}, and in the first row as {self.gamma!r}"
        if gamma is None:
            return ""
        if not _is_number(gamma) or not 0 <= gamma <= LARGEST_GAMMA:
            return f"gamma is stated as {gamma!r}, wanted is a number from 0 to {LARGEST_GAMMA:g}"
        if row["iterate"] == "last":
            self.last_at, self.last = iteration, plans
            return ""
        weight = self.weight + weights_between(self.summed, iteration, gamma)
        if not math.isfinite(weight):
            return "iterations weigh more than float64 holds"
        has_last = self.last_at == iteration
        between = weight * plans - self.total - (float(iteration) ** gamma * self.last if has_last else 0.0)
        allowed = weight * (TOLERANCE + iteration * np.finfo(float).eps)  # a sum of so many floats
        nothing_between = has_last and iteration == self.summed + 1
        if (between < -allowed).any() or (nothing_between and (between > allowed).any()):
            return f"the average of iteration {iteration} is no mean that goes on from that of iteration {self.summed}"
        self.summed, self.weight, self.total = iteration, weight, weight * plans
        return ""


def weights_between(after: int, to: int, gamma: float) -> float:
    """Return the sum of t^gamma over `after` < t <= `to`; far out by Euler and Maclaurin, to 1e-13 of it.

    Examples
    --------
    >>> weights_between(0, 4, 2.0), weights_between(10, 11, 1.0), weights_between(0, 10**6, 1.0)
    (30.0, 11.0, 500000500000.0)
    """
    try:
        near = min(to, max(after, _SUMMED_SINGLY))
        total = math.fsum(float(t) ** gamma for t in range(after + 1, near + 1))
        if near < to:
            a, b = float(near), float(to)
            total += (b ** (gamma + 1) - a ** (gamma + 1)) / (gamma + 1) + (b**gamma - a**gamma) / 2
            total += gamma * (b ** (gamma - 1) - a ** (gamma - 1)) / 12
            total -= gamma * (gamma - 1) * (gamma - 2) * (b ** (gamma - 3) - a ** (gamma - 3)) / 720
    except OverflowError:
        return math.inf
    return total


def _is_number(value: object) -> TypeGuard[float | int]:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
