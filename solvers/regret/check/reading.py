"""Reading what a table says as strictly as it was written: each cell of its type, exact text in lowest terms."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa

from solvers.forms import GameTree

_EXACT = re.compile(r"-?[0-9]+(/[0-9]+)?")
_SHOWN = 80
TOLERANCE = 1e-9

Row = dict[str, Any]


class Refuted(Exception):
    """What is wrong with a table or a row."""


def read_rows(tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> list[Row]:
    """Return the rows of a table.

    Raises
    ------
    Refuted
        If it is not there, lacks one of these columns or has one twice, or cannot be read.
    """
    if name not in tables:
        raise Refuted(f"there is no table {name}")
    table = tables[name]
    missing = [one for one in columns if table.column_names.count(one) != 1]
    if missing:
        raise Refuted(f"columns that should be there once are not: {', '.join(missing)}")
    try:
        rows: list[Row] = table.select(list(columns)).to_pylist()
    except (ValueError, OverflowError, pa.ArrowException) as error:  # broken text, dates out of range ...
        raise Refuted(f"cannot be read: {error}") from error
    return rows


def read_slots(tree: GameTree, tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> list[Row]:
    """Return the rows of a table that should have one a slot: none if nobody moves and it is not there (empty ones are not stored).

    Raises
    ------
    Refuted
        As `read_rows`.
    """
    return [] if not tree.slots and name not in tables else read_rows(tables, name, columns)


def read_number(name: str, text: Any) -> Fraction:
    """Read exact text, only as we write it: lowest terms, no needless signs, zeros or denominators.

    Raises
    ------
    Refuted
        If it is anything else.
    """
    if isinstance(text, str) and _EXACT.fullmatch(text):
        above, _, below = text.partition("/")
        try:
            number = Fraction(int(above), int(below or "1"))
            if str(number) == text:
                return number
        except (ValueError, ZeroDivisionError):  # more digits than Python reads; nothing over nothing
            pass
    raise Refuted(f"{name}: expected exact text in lowest terms, got {clipped(text)}")


def rounded(number: Fraction) -> float | None:
    """Return the number as a float; None if it is beyond float64."""
    try:
        return float(number)
    except OverflowError:
        return None


def is_number(value: object) -> bool:
    """Say whether this is a finite number, not a truth value."""
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def same(name: str, stated: Any, number: Any) -> None:
    """Compare a cell with what it should be, type included.

    Raises
    ------
    Refuted
        If they differ.
    """
    if type(stated) is not type(number) or stated != number:
        raise Refuted(f"{name}: expected {clipped(number)}, got {clipped(stated)}")


def clipped(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def slots_of(tree: GameTree) -> list[tuple[int, str, str]]:
    """Return player, information set and action of each slot."""
    return [
        (player, infoset, action)
        for player, infoset, actions in zip(tree.infoset_player.tolist(), tree.infoset_names, tree.actions, strict=True)
        for action in actions
    ]


def place_fault(row: Row, slot: tuple[int, str, str]) -> str:
    """Say how a row is not that of a slot ("": it is)."""
    for name, wanted in zip(("player", "infoset", "action"), slot, strict=True):
        if type(row[name]) is not type(wanted) or row[name] != wanted:
            return f"{name}: expected {clipped(wanted)}, got {clipped(row[name])}"
    return ""


def sum_faults(tree: GameTree, numbers: Sequence[Any]) -> dict[int, str]:
    """Return, by slot, which sets' probabilities are negative or do not sum to 1 (exactly, or floats within 1e-9)."""
    faults = {}
    first = tree.first_slot.tolist()
    for begin, end in pairwise(first):
        there = numbers[begin:end]
        off = abs(sum(there) - 1)
        if any(one < 0 for one in there) or off > (0 if isinstance(there[0], Fraction) else TOLERANCE):
            faults.update(dict.fromkeys(range(begin, end), "the set has a negative probability, or they do not sum to 1"))
    return faults
