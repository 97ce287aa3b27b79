"""Games of two players as CSV: a block of payoffs for each player, as a spreadsheet writes them.

A block is a matrix, a line of the file a row of it. Two blocks, player 1's first, are parted by a line whose cells are all empty;
one block alone is a zero-sum game, what player 2 pays player 1. A block may be framed by names: if the first cell of its first line
is empty, the others are the columns' names and the first cell of every further line is a row's. Numbers are exact: `3`, `-1/2`,
`0.25`.

Cells are parted by what follows the first cell of the file if that is empty, else by semicolons or tabs if its first line has any,
else by commas. White space around a cell means nothing, unless it stands in quotes. Lines end with LF, CR LF or CR; in quotes these
belong to the cell. Text is UTF-8, with or without its mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from solvers.builder import read_exact
from solvers.forms import BimatrixGame, Matrix
from solvers.games.file_text import MOST_CELLS, FileText, Piece, check_written_names, read_text, why_no_number, written_number

Names = tuple[Piece, ...]
Line = list[Piece]

_PLAYERS = 2
_MOST = _PLAYERS * (MOST_CELLS + MOST_CELLS // 100)  # with names around them
_NUMBERS_KEPT = 65_536
_BLOCKS = "one block of payoffs, or two parted by an empty line"
_BLANK_LINES = re.compile(r'(?:[ \t,;]*+(?:""(?!")[ \t,;]*+)*+(?:\r\n|\r|\n))*+')
_FIRST_CELL_EMPTY = re.compile(r' *+(?:"" *+)?+([,;\t])')


@dataclass(frozen=True, slots=True)
class Block:
    """One matrix of a file, `[m, n]`, with the names around it (None: it has none)."""

    payoffs: Matrix
    row_names: Names | None
    column_names: Names | None

    def check_names(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> None:
        """Refuse names that differ from the first block's, `m` and `n` of them.

        Raises
        ------
        ConfigError
            With the place of the first that does; its path is empty.
        """
        for said, wanted in ((self.row_names, rows), (self.column_names, columns)):
            for name, ours in zip(said or (), wanted, strict=False):
                if name.text != ours:
                    raise name.refuse(f"{ours!r}, the name in the first block")


def read_csv(data: bytes, name: str = "") -> tuple[Block, ...]:
    """Read one block, or two of one shape; some 4 s for a million cells.

    Parameters
    ----------
    name
        The file's, for messages.

    Raises
    ------
    ConfigError
        With the line, the column and the cell; its path is empty.

    Examples
    --------
    >>> (block,) = read_csv(b",left,right\\ntop,1,1/2\\nbottom,0,-0.25")
    >>> block.payoffs[1], [name.text for name in block.row_names]
    ((Fraction(0, 1), Fraction(-1, 4)), ['top', 'bottom'])
    """
    file = read_text(data, name, "a CSV file")
    blocks = _blocks(_lines(file))
    if not blocks:
        raise Piece(file, len(file.text), "").refuse(_BLOCKS, came="0 blocks before the end of the file")
    if len(blocks) > _PLAYERS:
        raise blocks[_PLAYERS][0][0].refuse(_BLOCKS, came=f"{len(blocks)} blocks, the third")
    reader = _Reader()
    read = tuple(map(reader.block, blocks))
    m, n = len(read[0].payoffs), len(read[0].payoffs[0])
    for lines, block in zip(blocks[1:], read[1:], strict=True):
        for count, wanted, word in ((len(block.payoffs), m, "rows"), (len(block.payoffs[0]), n, "columns of payoffs")):
            if count != wanted:
                raise lines[0][0].refuse(f"{wanted} {word} in the second block, as the first has", came=f"{count}, beginning")
    return read


# ---- lines and cells ---------------------------------------------------------------------------------------------------------


def _lines(file: FileText) -> Iterator[Line]:
    """Yield a file's lines, which have at least one cell each."""
    separator = _separator(file.text)
    pattern = _cell_pattern(separator)
    place, row, total = 0, 0, 0
    cells: Line = []
    while place < len(file.text) or cells:
        found = pattern.match(file.text, place)
        at = (row, len(cells))
        if found is None:  # a quote that is not closed, or something after one that is
            rest = file.text[place:].lstrip(" \t")
            raise Piece(file, len(file.text) - len(rest), rest.splitlines()[0], at).refuse(
                "a quoted cell to end with its quote", 'a quote inside is doubled: ""'
            )
        quoted = found["quoted"]
        text = found["bare"].strip() if quoted is None else quoted.replace('""', '"')
        offset = found.start("bare") if quoted is None else found.start("quoted") - 1
        cells.append(Piece(file, offset, text, at))
        total += 1
        if total > _MOST:
            raise cells[-1].refuse(f"a CSV file of at most {_MOST:,} cells", came="one more")
        place = found.end()
        if found["end"] != separator:
            yield cells
            row, cells = row + 1, []


def _separator(text: str) -> str:
    blank = _BLANK_LINES.match(text)
    begin = blank.end() if blank else 0
    empty = _FIRST_CELL_EMPTY.match(text, begin)
    if empty is not None:
        return empty[1]
    line = re.compile(r"[^\r\n]*+").match(text, begin)
    bare = re.sub(r'"[^"]*+"?+', "", line[0] if line else "")
    if ";" in bare:
        return ";"
    return "\t" if any("\t" in part.strip() for part in bare.split(",")) else ","  # tabs around commas are white space


@lru_cache
def _cell_pattern(separator: str) -> re.Pattern[str]:
    blank = "[ \t]*+" if separator != "\t" else " *+"
    quoted = rf'"(?P<quoted>(?:[^"]++|"")*+)"{blank}'
    return re.compile(rf'{blank}(?:{quoted}|(?P<bare>(?!")[^{separator}\r\n]*+))(?P<end>{separator}|\r\n|\r|\n|\Z)')


def _blocks(lines: Iterator[Line]) -> list[list[Line]]:
    blocks: list[list[Line]] = [[]]
    for cells in lines:
        if any(cell.text for cell in cells):
            blocks[-1].append(cells)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


# ---- blocks ------------------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads blocks, each different number once."""

    def __init__(self) -> None:
        self.number = lru_cache(_NUMBERS_KEPT)(read_exact)

    def block(self, lines: Sequence[Line]) -> Block:
        first = lines[0]
        framed = not first[0].text
        body = lines[1:] if framed else lines
        if not body:
            raise first[-1].refuse("rows of payoffs below the columns' names", came="none below those")
        for cells in body:
            if len(cells) != len(first):
                model = first[0].place.partition(",")[0]
                raise cells[-1].refuse(f"{len(first)} cells in a line, as in {model}", came=f"{len(cells)}, the last")
        rows = tuple(tuple(self.payoff(cell, cells) for cell in cells[framed:]) for cells in body)
        if not rows[0]:
            raise body[0][0].refuse("at least one column of payoffs", came="none")
        return Block(rows, tuple(cells[0] for cells in body) if framed else None, tuple(first[1:]) if framed else None)

    def payoff(self, cell: Piece, cells: Line) -> Fraction:
        found = self.number(cell.text)
        if found is None:
            hint = why_no_number(cell.text)
            if not hint and re.fullmatch(r"\S+\s+\S+.*", cell.text) and len(cells) == 1:
                hint = "cells are parted by commas, semicolons or tabs"
            elif not hint:
                hint = "an empty cell is no 0" if not cell.text else "if the first line holds names, its first cell is empty"
            raise cell.refuse("an exact number, such as 3, 1/2 or 0.25", hint)
        return found


# ---- writing -----------------------------------------------------------------------------------------------------------------


def write_csv(game: BimatrixGame) -> str:
    """Return a game as two blocks framed by names, or as one if it is zero-sum.

    Raises
    ------
    InfeasibleGame
        If a number is too long or a name is none, so that the file would not be read again.

    Examples
    --------
    >>> write_csv(BimatrixGame(((Fraction(1, 2),),), ((Fraction(-1, 2),),), ("r1",), ("c1",)))
    ',c1\\nr1,1/2\\n'
    """
    check_written_names(game)
    head = ",".join(["", *map(_quoted, game.column_actions)])
    blocks = [
        [head, *(",".join([_quoted(name), *map(written_number, row)]) for name, row in zip(game.row_actions, payoffs, strict=True))]
        for payoffs in ((game.a,) if game.is_zero_sum else (game.a, game.b))
    ]
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _quoted(name: str) -> str:
    """Return a name as a cell, in quotes if it needs them to come back as it is."""
    return '"' + name.replace('"', '""') + '"' if name != name.strip() or re.search('[,;"\t\r\n]', name) else name
