"""Judge who wins a sum of heaps and nimbers, and the list of its winning moves, from the tables and the rules alone.

How it differs from the solver: nimbers are those that the checkers of `nimbers` compute; each row is judged by the rules on its
own, not found in a list made again; that no move is missing is judged by counting, over ordered pairs of heaps. All is exact, so
every right row is proved.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.contract import Game, Verdict
from solvers.forms import HeapSum
from solvers.impartial.check.plain import IntArray, recomputed

ROW = ("place", "heap", "removed", "left", "right", "nimber_after", "winning")
SUMS = ("code", "position", "nimber", "winner", "winning_moves", "moves")


@dataclass(frozen=True)
class Judged:
    """A position with the nimbers of its game's heaps, the names of its parts, and what they and the whole are worth."""

    position: HeapSum
    heap_nimbers: IntArray
    names: Sequence[str]
    worth: Sequence[int]
    total: int

    @cached_property
    def first(self) -> Mapping[str, int]:
        """Where a part stands first, by name."""
        return {name: place for place, name in reversed(list(enumerate(self.names)))}

    def after(self, place: int, removed: int, left: int, right: int | None) -> int | None:
        """Return what the position is worth after a move; None if the rules do not allow it."""
        size, rules = self.position.parts[place], self.position.rules
        if min(removed, left, right or 0) < 0 or removed + left + (right or 0) != size:
            return None
        rest = self.total ^ self.worth[place]
        if self.position.are_nimbers[place]:
            return rest ^ left if removed > 0 and right is None else None
        digit = rules.digits[removed] if removed < len(rules.digits) else 0
        if right is None:
            allowed = removed > 0 and digit & (2 if left else 1)
            return rest ^ int(self.heap_nimbers[left]) if allowed else None
        allowed = digit & 4 and 1 <= left <= right and not (rules.unequal and left == right)
        return rest ^ int(self.heap_nimbers[left] ^ self.heap_nimbers[right]) if allowed else None

    def counts(self) -> tuple[int, int]:
        """Return how many moves win and how many there are, of equal parts and mirrored ones one."""
        counted = [self._counts_at(place) for place in self.first.values()]
        return sum(won for won, _ in counted), sum(there for _, there in counted)

    def _counts_at(self, place: int) -> tuple[int, int]:
        size, rules, rest = self.position.parts[place], self.position.rules, self.total ^ self.worth[place]
        if self.position.are_nimbers[place]:
            return int(rest < size), size
        won, there = 0, 0
        for removed, digit in enumerate(rules.digits):
            left = size - removed
            alone = self.after(place, removed, left, None) if left >= 0 else None
            won, there = won + (alone == 0), there + (alone is not None)
            if digit & 4 and left > 1:
                values = self.heap_nimbers[1:left]
                ordered = int(np.count_nonzero(values ^ values[::-1] == rest))  # each split twice, equal heaps once
                equal = left % 2 == 0
                won += (ordered - (equal and rest == 0)) // 2 + (equal and rest == 0 and not rules.unequal)
                there += (left - 1 - equal) // 2 + (equal and not rules.unequal)
        return won, there


def check_winning_moves(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge every row of `winning_moves`, and whether winning moves are missing, or some but not all of the others."""
    columns = _columns(tables, "winning_moves", ROW)
    if columns is None:
        yield Verdict("winning_moves", None, "refuted", f"columns {', '.join(ROW)} wanted")
        return
    judged = _judged(game)
    rows = list(zip(*columns, strict=True))
    seen = Counter((row[0], *row[2:5]) for row in rows)
    right = Counter[bool]()
    for number, row in enumerate(rows):
        reason = _wrong(judged, row) or ("this move is listed twice" if seen[row[0], *row[2:5]] > 1 else "")
        right[row[-1] is True] += not reason
        yield Verdict("winning_moves", number, "refuted" if reason else "proved", reason)
    won, there = judged.counts()
    if right[True] != won:
        yield Verdict("winning_moves", None, "refuted", f"{won} winning moves there are, {right[True]} are listed")
    if right[False] not in (0, there - won):
        yield Verdict(
            "winning_moves", None, "refuted", f"{there - won} losing moves there are, {right[False]} are listed: all or none"
        )


def check_heap_sums(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the one row of `heap_sums`."""
    columns = _columns(tables, "heap_sums", SUMS)
    if columns is None or len(columns[0]) != 1:
        yield Verdict("heap_sums", None, "refuted", f"one row with the columns {', '.join(SUMS)} wanted")
        return
    judged = _judged(game)
    won, there = judged.counts()
    said = (judged.position.rules.code, " + ".join(judged.names) or "0")
    wanted = (*said, judged.total, "first" if judged.total else "second", won, there)
    for name, right, (came,) in zip(SUMS, wanted, columns, strict=True):
        if type(came) is not type(right) or came != right:
            yield Verdict("heap_sums", 0, "refuted", f"{name}: {right!r} wanted, {str(came)[:60]} found")
            return
    yield Verdict("heap_sums", 0, "proved")


def _wrong(judged: Judged, row: tuple[Any, ...]) -> str:
    """Say what is wrong with one move; "" if nothing."""
    place, heap, removed, left, right, after, winning = row
    numbers = (place, removed, left, after, 0 if right is None else right)
    if not all(type(one) is int for one in numbers):
        return "numbers wanted"
    if judged.first.get(heap) != place:
        return f"a part and its place wanted, of equal ones the first; {str(heap)[:60]} at {place} found"
    wanted = judged.after(place, removed, left, right)
    if wanted is None:
        return "the rules know no such move"
    if after != wanted:
        return f"the position is worth {wanted} after it, {after} found"
    return "" if winning is (wanted == 0) else f"a move wins exactly if 0 is left, {winning} found"


def _judged(game: Game) -> Judged:
    position = game.form(HeapSum)
    known = recomputed(position.rules, position.largest_heap)
    nimbers = np.array([known.nimber(heap) for heap in range(position.largest_heap + 1)], np.int64)
    parts = list(zip(position.parts, position.are_nimbers, strict=True))
    names = [f"*{part}" if is_nim else str(part) for part, is_nim in parts]
    worth = [part if is_nim else int(nimbers[part]) for part, is_nim in parts]
    return Judged(position, nimbers, names, worth, functools.reduce(operator.xor, worth, 0))


def _columns(tables: Mapping[str, pa.Table], table: str, names: Sequence[str]) -> list[list[Any]] | None:
    """Return columns as Python values; None if one is not there or cannot be read."""
    try:
        return [tables[table].column(name).to_pylist() for name in names]
    except (KeyError, ValueError, OverflowError):
        return None
