"""What text files of games share: their text, places in it as an editor counts them, numbers and names as they are written."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from solvers.builder import read_exact
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import BimatrixGame

MOST_CELLS = 1_000_000
"""Larger tables are refused before memory is asked for; one of this size takes up to 20 s to read."""
MOST_BYTES = 50_000_000

_NO_TEXT = re.compile("[\ud800-\udfff]")
_SHOWN = 60  # characters of a file in a message
_SHORT_BITS = 3000  # a number this short is surely read again; see `written_number`


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text and the file's name, "" if nobody knows it."""

    text: str
    name: str = ""

    def place(self, offset: int) -> str:
        """Say where a character stands, lines and columns counted from 1.

        Examples
        --------
        >>> FileText("1,2\\r\\n3,x", "mine.csv").place(7)
        'line 2, column 3 of mine.csv'
        """
        line = 1 + self.text.count("\n", 0, offset) + self.text.count("\r", 0, offset) - self.text.count("\r\n", 0, offset)
        column = offset - max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset))
        return f"line {line}, column {column}{of_file(self.name)}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stands at `offset` in a file; `cell` is its row and column in a spreadsheet, counted from 0, if it has one."""

    file: FileText
    offset: int
    text: str
    cell: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """Say where it stands: "line 2, column 3 of mine.csv, cell B2"."""
        return self.file.place(self.offset) + ("" if self.cell is None else f", cell {_letters(self.cell[1])}{self.cell[0] + 1}")

    def refuse(self, wanted: str, hint: str = "", came: str | None = None) -> ConfigError:
        """Return the error that this text was not what was wanted; its path is empty. `came`: what to call the text."""
        return ConfigError("", wanted, f"{excerpt(self.text) if came is None else came} in {self.place}", hint)


def _letters(index: int) -> str:
    """Return a spreadsheet's name of a column, counted from 0: A, B, ..., Z, AA, ..."""
    letters = ""
    index += 1
    while index:
        index, last = divmod(index - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def of_file(name: str) -> str:
    """Return " of NAME", or nothing."""
    return f" of {excerpt(name)[1:-1]}" if name else ""


def excerpt(text: str) -> str:
    """Return text in quotes, at most 60 characters of it.

    Examples
    --------
    >>> excerpt("a\\n")
    "'a\\\\n'"
    >>> excerpt("7" * 1000)[-24:]
    "7...' (1,000 characters)"
    """
    if len(text) <= _SHOWN:
        return repr(text)
    return f"{text[:_SHOWN] + '...'!r} ({len(text):,} characters)"


def read_text(data: bytes, name: str, wanted: str, *, errors: str = "strict") -> FileText:
    """Return a file's text, without the mark that may stand before UTF-8.

    Parameters
    ----------
    wanted
        What kind of file it is: "a CSV file".
    errors
        What becomes of bytes that are no UTF-8: "strict" refuses them, "surrogateescape" leaves that to the caller.

    Raises
    ------
    ConfigError
        If it is too long or in another encoding; its path is empty.
    """
    if len(data) > MOST_BYTES:
        raise ConfigError("", f"{wanted} of at most {MOST_BYTES:,} bytes", f"{len(data):,} bytes{of_file(name)}")
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        hint = 'save it as "CSV UTF-8" or as text in UTF-8; "Unicode text" is UTF-16'
        raise ConfigError("", f"{wanted} in UTF-8", f"one in UTF-16{f', {name}' if name else ''}", hint)
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return FileText(body.decode("utf-8", errors), name)
    except UnicodeDecodeError as error:
        before = FileText(body[: error.start].decode("utf-8"), name)
        came = f"the byte 0x{body[error.start]:02x} in {before.place(len(before.text))}"
        raise ConfigError("", f"{wanted} in UTF-8", came, 'save it as "CSV UTF-8" or as text in UTF-8') from None


# ---- numbers -----------------------------------------------------------------------------------------------------------------

_WHY: tuple[tuple[str, str], ...] = (
    (r"(?s).*\0.*", "a file in UTF-16 without its mark looks like this: save it as text in UTF-8"),
    (r"[+-]?\d*/0+", "a denominator is not 0"),
    (r"[+-]?\d[\d.]*,\d+|[+-]?,\d+", "a decimal comma is not read: write 0.5, or 1/2; thousands have no mark"),
    (r"[\u2010-\u2015\u2212].*", "the sign is the hyphen of the keyboard, -"),
    (r"[+-]?(nan|inf|infinity|#?n/?a|#num!|#div/0!|#value!)", "a payoff is finite and known"),
    (r".*\d\s*%", "a percentage is written as a fraction: 0.5, or 1/2"),
    (r"[+-]?[\d.]+e[+-]?\d{4,}", "an exponent has at most three digits"),
)
_LONG = 2000


def why_no_number(text: str) -> str:
    """Say what would make a number of text that is none; "" if nothing obvious would.

    Examples
    --------
    >>> why_no_number("1/0"), why_no_number("x")
    ('a denominator is not 0', '')
    """
    text = text.strip()
    if len(text) <= _LONG:
        for pattern, why in _WHY:
            if re.fullmatch(pattern, text, re.IGNORECASE):
                return why
    if len(text) > _LONG or re.fullmatch(r"[-+.\d/e]{400,}", text, re.IGNORECASE):
        return f"a number has at most {_LONG:,} characters, in lowest terms, too"
    return ""


def written_number(payoff: Fraction) -> str:
    """Return a payoff as text that is read back.

    Raises
    ------
    InfeasibleGame
        If it is longer than any number that is read.
    """
    bits = payoff.numerator.bit_length() + payoff.denominator.bit_length()
    if bits > _SHORT_BITS and (bits > 4 * _LONG or read_exact(str(payoff)) is None):
        raise InfeasibleGame(f"a payoff has some {bits * 3 // 10:,} digits, and a number in a file at most {_LONG:,} characters")
    return str(payoff)


# ---- names -------------------------------------------------------------------------------------------------------------------


def check_written_names(game: BimatrixGame) -> None:
    """Refuse names that no file gives back.

    Raises
    ------
    InfeasibleGame
        If a player's actions have names that are empty, not all different, or no Unicode text.
    """
    for player, names in enumerate((game.row_actions, game.column_actions), start=1):
        for name, count in Counter(names).items():
            if not name:
                why = "an action without a name"
            elif count > 1:
                why = f"{count} actions of the name {excerpt(name)}"
            elif _NO_TEXT.search(name):
                why = f"an action whose name, {excerpt(name)}, is no Unicode text"
            else:
                continue
            raise InfeasibleGame(f"player {player} has {why}, which no file gives back")
