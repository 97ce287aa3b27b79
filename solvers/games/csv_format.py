"""Games of two players as CSV: a block of payoffs for each player, as a spreadsheet writes them.

A block is a matrix, a line of the file a row of it. Two blocks, player 1's first, are parted by a line whose cells are all empty;
one block alone is a zero-sum game, what player 2 pays player 1. A block may be framed by names: if the first cell of its first line
is empty, the others are the columns' names and the first cell of every further line is a row's. Numbers are exact: `3`, `-1/2`,
`0.25`. Cells are parted by commas, or by semicolons or tabs if the file has no comma.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from solvers.builder import read_exact
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, Matrix

Names = tuple[str, ...]
Line = tuple[int, list[str]]

_PLAYERS = 2


@dataclass(frozen=True, slots=True)
class Block:
    """One matrix of a file, `[m, n]`, with the names around it (None: it has none)."""

    payoffs: Matrix
    row_names: Names | None
    column_names: Names | None


def read_csv(data: bytes) -> tuple[Block, ...]:
    """Read one block or two.

    Raises
    ------
    ConfigError
        With the line and the cell; its path is empty.

    Examples
    --------
    >>> (block,) = read_csv(b",left,right\\ntop,1,1/2\\nbottom,0,-0.25")
    >>> block.payoffs[1], block.row_names, block.column_names
    ((Fraction(0, 1), Fraction(-1, 4)), ('top', 'bottom'), ('left', 'right'))
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    comma = next((one for one in ",;\t" if one in text), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ConfigError("", "a CSV file", f"line {reader.line_num}: {error}") from error
    blocks = _blocks(lines)
    if not 1 <= len(blocks) <= _PLAYERS:
        raise ConfigError("", "one block of payoffs, or two parted by an empty line", f"{len(blocks)} blocks")
    return tuple(map(_block, blocks))


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    blocks: list[list[Line]] = [[]]
    for number, cells in lines:
        if any(cells):
            blocks[-1].append((number, cells))
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _block(lines: list[Line]) -> Block:
    number, first = lines[0]
    framed = not first[0]
    body = lines[1:] if framed else lines
    if not body:
        raise ConfigError("", "rows of payoffs below the columns' names", f"none below line {number}")
    for line, cells in body:
        if len(cells) != len(first):
            raise ConfigError("", f"{len(first)} cells in line {line}, as in line {number}", str(len(cells)))
    rows = tuple(
        tuple(_payoff(cell, line, place) for place, cell in enumerate(cells, start=1) if place > framed) for line, cells in body
    )
    if not rows[0]:
        raise ConfigError("", "at least one column of payoffs", f"none in line {body[0][0]}")
    return Block(rows, tuple(cells[0] for _, cells in body) if framed else None, tuple(first[1:]) if framed else None)


def _payoff(cell: str, line: int, place: int) -> Fraction:
    found = read_exact(cell)
    if found is None:
        hint = "if the first line holds names, its first cell is empty"
        raise ConfigError("", "an exact number, such as 3, 1/2 or 0.25", f"{cell!r} in line {line}, cell {place}", hint)
    return found


def write_csv(game: BimatrixGame) -> str:
    """Return a game as two blocks framed by names, or as one if it is zero-sum.

    Examples
    --------
    >>> write_csv(BimatrixGame(((Fraction(1, 2),),), ((Fraction(-1, 2),),), ("r1",), ("c1",)))
    ',c1\\nr1,1/2\\n'
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for place, payoffs in enumerate((game.a,) if game.is_zero_sum else (game.a, game.b)):
        if place:
            out.write("\n")
        writer.writerow(["", *game.column_actions])
        writer.writerows([name, *map(str, row)] for name, row in zip(game.row_actions, payoffs, strict=True))
    return out.getvalue()
