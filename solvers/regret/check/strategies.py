"""Judge strategies on a game tree: every slot once, probabilities at each set, and what the point's other tables say of them.

Where the point has a learning curve they are its last average, number by number. Where it has a value, both guarantee it. Exact
strategies are `proved` then, by exact best replies; floats are `recomputed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.contract import Verdict
from solvers.forms import GameTree
from solvers.regret.check.reading import (
    Refuted,
    Row,
    clipped,
    is_number,
    place_fault,
    read_number,
    read_rows,
    read_slots,
    rounded,
    slots_of,
    sum_faults,
)
from solvers.regret.check.walk import Floats, Walk

TABLE = "strategies"
COLUMNS = ("player", "infoset", "action", "probability", "probability_float")
FLOAT_TOLERANCE = 1e-6
"""How far a float program's strategies may fall short of its value, in units of the largest payoff."""

Strategies = list[Fraction] | list[float]


def check_strategies(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for each row of `strategies`, or one for the whole table.

    Never raises, whatever the table holds. Time: some us a row and, beside a value, some us an end of the game.

    Parameters
    ----------
    game
        A game that gives a `GameTree`.
    tables
        `strategies`, and `curve` or `values` of the same point, without the column `point`; may hold anything.
    """
    tree: GameTree = game.form(GameTree)
    # in a sweep of several solvers a point comes with empty tables where others have rows
    other = "values" if len(tables.get("curve", ())) else "curve"
    tables = {name: table for name, table in tables.items() if name != other or len(table)}
    try:
        rows = read_rows(tables, TABLE, COLUMNS)
        if not rows and not any(len(tables[name]) for name in ("curve", "values") if name in tables):
            return
        learned = _last_average(tree, tables)
        faults, numbers = _read(tree, rows, learned)
        if numbers and not any(faults) and "values" in tables:
            _fault_of_pair(tree, numbers, tables)
    except Refuted as wrong:
        yield Verdict(TABLE, None, "refuted", str(wrong))
        return
    is_exact = are_exact(numbers)
    for index, fault in enumerate(faults):
        if fault:
            yield Verdict(TABLE, index, "refuted", fault)
        elif is_exact:
            yield Verdict(TABLE, index, "proved", "the pair guarantees the value, by exact best replies")
        else:
            yield Verdict(TABLE, index, "recomputed", "the last average" if learned is not None else "probabilities")


def read_strategies(tree: GameTree, tables: Mapping[str, pa.Table]) -> Strategies:
    """Return the numbers of `strategies`, one a slot: exact ones where the table has them.

    Raises
    ------
    Refuted
        If the table is not sound by itself.
    """
    faults, numbers = _read(tree, read_slots(tree, tables, TABLE, COLUMNS), None)
    fault = next((one for one in faults if one), "")
    if fault:
        raise Refuted(f"{TABLE}: {fault}")
    return numbers


def are_exact(numbers: Strategies) -> bool:
    """Say whether these are exact numbers; no numbers are."""
    return all(isinstance(one, Fraction) for one in numbers)


def guarantees(tree: GameTree, numbers: Strategies) -> tuple[Any, Any]:
    """Return what player 1's strategy wins at least and what player 2's loses at most: exact if the numbers are."""
    walk = Walk(tree)
    if are_exact(numbers):
        plans = walk.exact_plans([Fraction(one) for one in numbers])
        return -walk.exact_best(2, plans), walk.exact_best(1, plans)
    floats = walk.plans(np.array(numbers, dtype=np.float64))
    return -walk.best(2, floats), walk.best(1, floats)


def _read(tree: GameTree, rows: list[Row], learned: Floats | None) -> tuple[list[str], Strategies]:
    slots = slots_of(tree)
    if len(rows) != len(slots):
        raise Refuted(f"expected {len(slots)} rows, one for each action of each information set, got {len(rows)}")
    is_exact = bool(rows) and rows[0]["probability"] is not None
    if is_exact and learned is not None:
        raise Refuted("probability: expected null, a learning curve holds floats")
    faults = []
    numbers: list[Any] = []
    for index, (row, slot) in enumerate(zip(rows, slots, strict=True)):
        try:
            number = _number(row, is_exact=is_exact)
            fault = place_fault(row, slot)
            if not fault and learned is not None and float(number) != learned[index]:
                fault = f"probability_float: the last average is {learned[index]!r}, stated {clipped(row['probability_float'])}"
        except Refuted as wrong:
            number, fault = Fraction(-1) if is_exact else -1.0, str(wrong)
        faults.append(fault)
        numbers.append(number)
    wrong_sums = sum_faults(tree, numbers)
    return [fault or wrong_sums.get(index, "") for index, fault in enumerate(faults)], numbers


def _number(row: Row, *, is_exact: bool) -> Fraction | float:
    stated = row["probability_float"]
    if not is_exact:
        if row["probability"] is not None:
            raise Refuted("probability: expected null, as in the first row")
        if not is_number(stated):
            raise Refuted(f"probability_float: expected a number, got {clipped(stated)}")
        return float(stated)
    number = read_number("probability", row["probability"])
    if not isinstance(stated, float) or stated != rounded(number):
        raise Refuted(f"probability_float: expected {rounded(number)!r}, got {clipped(stated)}")
    return number


def _last_average(tree: GameTree, tables: Mapping[str, pa.Table]) -> Floats | None:
    """Return the last average of the point's curve, a number a slot; None if it has no curve."""
    if "curve" not in tables:
        return None
    rows = read_rows({"curve": tables["curve"].slice(max(0, len(tables["curve"]) - 2))}, "curve", ("iterate", "x", "y"))
    last = next((row for row in reversed(rows) if row["iterate"] == "average"), None)
    if last is None:
        raise Refuted("the curve has no last average")
    numbers = np.empty(tree.slots)
    for player, name in ((1, "x"), (2, "y")):
        own = np.flatnonzero(tree.slot_player == player)
        mix = last[name]
        if not isinstance(mix, list) or len(mix) != len(own) or not all(is_number(one) for one in mix):
            raise Refuted(f"the curve's last average {name} is not a list of {len(own)} numbers")
        numbers[own] = mix
    return numbers


def _fault_of_pair(tree: GameTree, numbers: Strategies, tables: Mapping[str, pa.Table]) -> None:
    """Refute a pair that does not guarantee one value, or is exact where the value is not."""
    values = [row["value"] for row in read_rows(tables, "values", ("value",))]
    is_exact = are_exact(numbers)
    if [value is not None for value in values] != [is_exact]:
        raise Refuted("probabilities are exact exactly where the value is")
    low, high = guarantees(tree, numbers)
    allowed = 0.0 if is_exact else FLOAT_TOLERANCE * float(np.abs(tree.earnings).max())
    if high - low > allowed:
        raise Refuted(f"player 1 wins at least {float(low):.12g} and player 2 loses at most {float(high):.12g}: not one value")
