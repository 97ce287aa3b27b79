"""Who wins a sum of heaps and nimbers, and by which moves?

A sum is worth the xor of its parts' nimbers (Sprague 1935, Grundy 1939). Who is to move wins exactly if that is not 0, and his
winning moves are those that make it 0: each part is tried with each of its moves. The nimbers of the heaps come from the plain
quadratic method. What it cannot do: heaps of more than 100,000 counters.

Conventions: of equal parts only the first is moved in, and of a heap left in two the smaller comes first; so moves that differ by
exchange or mirror are listed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, Game, Result, Workers
from solvers.forms import HeapGame, HeapSum
from solvers.impartial.mex_dp import MexDp, options_of
from solvers.schema import TableInfo, column, table_schema

LARGEST_HEAP = 100_000
MOST_ROWS = 1_000_000

Ints = np.ndarray[Any, np.dtype[np.int64]]
Move = tuple[Any, Any, Any, Any]
"""Counters removed, left, right (None: one heap at most is left) and the nimber of the whole position after it."""

HEAP_SUMS = table_schema(
    [
        column("code", pa.string(), "the game of the heaps"),
        column("position", pa.string(), "its parts: heaps by their counters, heaps of nim as *n"),
        column("nimber", pa.int32(), "what the position is worth"),
        column("winner", pa.string(), "first: who is to move; second: the other"),
        column("winning_moves", pa.int64(), "moves that win, those of equal parts and mirrored ones once"),
        column("moves", pa.int64(), "moves there are, counted alike"),
    ],
    TableInfo(
        check="solvers.impartial.check.moves:check_heap_sums",
        claims="proved",
        headline="each",
        about="What a sum of heaps and nimbers is worth and who wins it; one row.",
    ),
)
WINNING_MOVES = table_schema(
    [
        column("place", pa.int32(), "which part is moved in, from 0; of equal parts the first"),
        column("heap", pa.string(), "that part: a heap by its counters, or a heap of nim as *n"),
        column("removed", pa.int64(), "counters removed from it"),
        column("left", pa.int64(), "counters of the heap that is left, of two heaps the smaller; 0: nothing is left"),
        column("right", pa.int64(), "counters of the larger heap; null if one heap at most is left"),
        column("nimber_after", pa.int32(), "what the whole position is worth after the move"),
        column("winning", pa.bool_(), "whether that is 0"),
    ],
    TableInfo(
        check="solvers.impartial.check.moves:check_winning_moves",
        claims="proved",
        headline="each",
        columns=("heap", "removed", "left", "right", "nimber_after", "winning"),
        about="All winning moves; with all_moves the others, too, after them. Whether any is missing is judged.",
    ),
)


@dataclass(frozen=True, slots=True)
class WinningMoves:
    """List the moves that win a sum of heaps and nimbers.

    Parameters
    ----------
    all_moves
        Whether losing moves are listed, too, with what the position is worth after them.

    Notes
    -----
    As long as computing the nimbers of the largest heap takes: 10,000 counters of Kayles 0.02 s, 100,000 some 2 s. Then half the
    counters of each heap for each digit that breaks.

    References
    ----------
    R. P. Sprague (1935), P. M. Grundy (1939): the mex and xor rules. Winning Ways (1982), chapter 4.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.heap_position import HeapPosition
    >>> found = solve(make(HeapPosition, code="0.77", heaps=[5, 7, 9]), WinningMoves()).tables
    >>> found["heap_sums"].select(["nimber", "winner"]).to_pylist()
    [{'nimber': 2, 'winner': 'first'}]
    >>> for move in found["winning_moves"].to_pylist():
    ...     print(move["heap"], "->", move["left"], "+", move["right"])
    7 -> 3 + 3
    7 -> 1 + 4
    9 -> 2 + 5
    """

    all_moves: bool = False

    version: ClassVar[int] = 1
    takes: ClassVar[type] = HeapSum
    tables: ClassVar[Mapping[str, pa.Schema]] = {"heap_sums": HEAP_SUMS, "winning_moves": WINNING_MOVES}
    extent: ClassVar[str | None] = None

    def refuses(self, game: Game) -> str | None:
        """Say so if a heap is too large, or more moves would be listed than anybody reads."""
        position = game.form(HeapSum)
        if position.largest_heap > LARGEST_HEAP:
            hint = "mex_dp and sparse_space compute nimbers of larger ones, and *n puts a nimber into a position"
            return f"its largest heap has {position.largest_heap:,} counters, at most {LARGEST_HEAP:,} are taken: {hint}"
        if not self.all_moves:
            return None
        moves = sum(_count(position, place) for place in _places(position))
        hint = "solver.all_moves=false lists the winning ones"
        return f"it has {moves:,} moves, at most {MOST_ROWS:,} are listed: {hint}" if moves > MOST_ROWS else None

    def cost(self, game: Game) -> float:
        """Estimate seconds, for ordering only."""
        position = game.form(HeapSum)
        return options_of(position.largest_heap, position.rules) * position.largest_heap / 2 * 0.5e-9

    def solve(self, game: HeapSum, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield the progress and checkpoints of the nimbers, in heaps, and the result."""
        for event in MexDp(game.largest_heap).solve(game.rules, resume=resume, workers=workers, rng=rng):
            if isinstance(event, Result):
                yield self._result(game, event.tables["nimbers"]["nimber"].to_numpy().astype(np.int64))
            else:
                yield event

    def _result(self, game: HeapSum, nimbers: Ints) -> Result:
        worth = [part if is_nim else int(nimbers[part]) for part, is_nim in zip(game.parts, game.are_nimbers, strict=True)]
        total = int(np.bitwise_xor.reduce(np.array([0, *worth], np.int64)))
        found: dict[bool, list[tuple[Any, ...]]] = {True: [], False: []}
        for place in _places(game):
            rest = total ^ worth[place]
            if game.are_nimbers[place]:
                moves = _moves_of_nim(game.parts[place], rest, everything=self.all_moves)
            else:
                moves = _moves_of_heap(game.parts[place], game.rules, nimbers, rest, everything=self.all_moves)
            for move in moves:
                found[move[-1] == 0].append((place, _said(game, place), *move, move[-1] == 0))
        rows = [*found[True], *found[False]]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(WINNING_MOVES)
        sums = {
            "code": game.rules.code,
            "position": " + ".join(_said(game, place) for place in range(len(game.parts))) or "0",
            "nimber": total,
            "winner": "first" if total else "second",
            "winning_moves": len(found[True]),
            "moves": sum(_count(game, place) for place in _places(game)),
        }
        tables = {
            "heap_sums": pa.Table.from_pylist([sums], schema=HEAP_SUMS),
            "winning_moves": pa.table(
                [pa.array(cells, one.type) for cells, one in zip(columns, WINNING_MOVES, strict=True)], schema=WINNING_MOVES
            ),
        }
        return Result(tables, {"nimber": float(total), "winning_moves": float(len(found[True]))})


def _places(game: HeapSum) -> list[int]:
    """Return where each different part stands first."""
    first: dict[tuple[int, bool], int] = {}
    for place, part in enumerate(zip(game.parts, game.are_nimbers, strict=True)):
        first.setdefault(part, place)
    return list(first.values())


def _said(game: HeapSum, place: int) -> str:
    return f"*{game.parts[place]}" if game.are_nimbers[place] else str(game.parts[place])


def _count(game: HeapSum, place: int) -> int:
    """Return how many moves a part has."""
    size = game.parts[place]
    if game.are_nimbers[place]:
        return size
    lefts = [(digit, size - removed) for removed, digit in enumerate(game.rules.digits) if removed <= size]
    singles = sum(bool(digit & 1 and left == 0) + bool(digit & 2 and left > 0) for digit, left in lefts)
    return singles + sum(_splits(left, game.rules) for digit, left in lefts if digit & 4)


def _splits(left: int, rules: HeapGame) -> int:
    """Return in how many ways counters can be left in two heaps, mirrored ones counted once."""
    return max(left - rules.unequal, 0) // 2


def _moves_of_nim(size: int, rest: int, *, everything: bool) -> Iterator[Move]:
    """Yield moves of a heap of nim, those that win or all, given what the other parts are worth; ascending in what is removed."""
    for left in range(size - 1, -1, -1) if everything else [rest] * (rest < size):
        yield size - left, left, None, rest ^ left


def _moves_of_heap(size: int, rules: HeapGame, nimbers: Ints, rest: int, *, everything: bool) -> Iterator[Move]:
    """Yield moves of a heap alike; ascending in what is removed, then in the smaller heap left."""
    for removed, digit in enumerate(rules.digits[: size + 1]):
        left = size - removed
        single = rest ^ int(nimbers[left])
        allowed = digit & 2 if left else digit & 1
        if allowed and (everything or single == 0):
            yield removed, left, None, single
        if digit & 4:
            smaller = np.arange(1, _splits(left, rules) + 1)
            after = rest ^ nimbers[smaller] ^ nimbers[left - smaller]
            for a in smaller[slice(None) if everything else after == 0].tolist():
                yield removed, a, left - a, int(after[a - 1])
