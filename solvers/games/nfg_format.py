r"""Gambit's .nfg files: strategic games, here those of two players.

A file is a header (`NFG 1 R` or `NFG 1 D`, a title, the players' names), the strategies (their names, or only how many), perhaps a
comment, and payoffs: either a list of them, player 1's and player 2's for each pair of strategies, or a list of outcomes and then
an outcome's number for each pair (0: both get nothing). Pairs come with player 1's strategy moving fastest. White space means
nothing. Numbers are read exactly as they stand: `1/3`, `0.1`, `1e-3`.

Read as Gambit reads it, except that a label may not lack its quotes, and that extra or missing numbers are always refused.

Gambit's names are printable ASCII without two spaces in a row or one at an end. What else a name of ours holds is written as a
character reference, `&#252;` for a u with dots. So are a backslash, which Gambit 16.7 doubles each time it reads or writes one,
and the first digit of a name that is the place of a later strategy, which Gambit then takes for the same name. The file's comment
says so. References are read back here; Gambit shows them as they stand.

References
----------
Gambit, "Game representation formats", section "The strategic game (.nfg) file format".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from solvers.builder import read_exact
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, Matrix
from solvers.games.file_text import MOST_CELLS, FileText, Piece, check_written_names, read_text, why_no_number, written_number

Names = tuple[Piece, ...]
Pair = tuple[Fraction, Fraction]

_TOKEN = re.compile(r'\s*+(?:"(?P<label>(?:[^"\\]++|\\.)*+)"|(?P<sign>[{},])|(?P<word>[^\s{},"]++)|(?P<rest>\S))', re.DOTALL)
_REFERENCE = re.compile(r"&#([0-9]{1,7});")
_ESCAPED = re.compile(r'\\([\\"])')
_NO_TEXT = re.compile("[\ud800-\udfff]")
_NOT_FOR_GAMBIT = re.compile(r"[^ -~]|\\|&(?=#)|^ |(?<= ) | $")
_PLAYERS = 2
_NUMBERS_KEPT = 65_536


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # label, sign, word, end
    text: str
    offset: int


def read_nfg(data: bytes, name: str = "") -> tuple[Matrix, Matrix, Names | None, Names | None]:
    """Read a file's payoffs and strategy names; some 4 s for a million pairs of integers.

    Parameters
    ----------
    name
        The file's, for messages.

    Returns
    -------
    a, b
        `[m, n]`, what player 1 and player 2 get.
    row_names, column_names
        As they stand in the file; None where it only says how many strategies there are, or names none of them.

    Raises
    ------
    ConfigError
        If it is no such file, or not of two players: what stands there, in which line and column; its path is empty.

    Examples
    --------
    >>> a, b, rows, columns = read_nfg(b'NFG 1 R "" { "A" "B" } { 2 2 }  1 -1  -1 1/2  0 0  .5 3')
    >>> a
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(-1, 1), Fraction(1, 2)))
    >>> b[1]
    (Fraction(1, 2), Fraction(3, 1))
    """
    return _Reader(read_text(data, name, "a Gambit .nfg file", errors="surrogateescape")).game()


class _Reader:
    """A file's tokens, the next one in `now`."""

    def __init__(self, file: FileText) -> None:
        self.file = file
        self.tokens = _tokens(file)
        self.now = next(self.tokens)
        self.exact = lru_cache(_NUMBERS_KEPT)(read_exact)

    def refuse(self, wanted: str, hint: str = "", came: str | None = None) -> ConfigError:
        came = "the end of the file" if came is None and self.now.kind == "end" else came
        return self.piece().refuse(f"a Gambit .nfg file with {wanted}", hint, came)

    def piece(self) -> Piece:
        return Piece(self.file, self.now.offset, self.now.text)

    def step(self) -> _Token:
        token = self.now
        if token.kind != "end":
            self.now = next(self.tokens)
        return token

    def take(self, kind: str, wanted: str, text: str | None = None) -> str:
        if self.now.kind != kind or text not in (None, self.now.text):
            raise self.refuse(wanted)
        return self.step().text

    def sees(self, text: str) -> bool:
        return self.now.kind == "sign" and self.now.text == text

    def labels(self, wanted: str) -> Names:
        self.take("sign", f"{{ before {wanted}", "{")
        found: list[Piece] = []
        while self.now.kind == "label":
            if len(found) == MOST_CELLS:
                raise self.refuse(f"at most {MOST_CELLS:,} {wanted}", came="one more")
            found.append(self.name(wanted))
        self.take("sign", f"{wanted} in quotes, and }} after them", "}")
        return tuple(found)

    def name(self, wanted: str) -> Piece:
        token = self.step()
        name = Piece(self.file, token.offset, _unquoted(token.text))
        if _NO_TEXT.search(token.text):
            raise name.refuse(f"a Gambit .nfg file with {wanted} in UTF-8")
        return name

    def number(self, wanted: str) -> Fraction:
        found = self.exact(self.now.text) if self.now.kind == "word" else None
        if found is None:
            raise self.refuse(wanted, why_no_number(self.now.text) if self.now.kind == "word" else "")
        self.step()
        return found

    def count(self, wanted: str) -> int:
        if not (self.now.kind == "word" and re.fullmatch("[0-9]{1,9}", self.now.text)):
            raise self.refuse(wanted)
        return int(self.step().text)

    # ---- the parts of a file -------------------------------------------------------------------------------------------------

    def game(self) -> tuple[Matrix, Matrix, Names | None, Names | None]:
        self.header()
        rows, columns, row_names, column_names = self.strategies()
        if self.now.kind == "label":
            self.step()  # a comment
        if rows * columns > MOST_CELLS:
            raise self.refuse(f"at most {MOST_CELLS:,} pairs of strategies", came=f"{rows} x {columns}: payoffs")
        outcomes = self.outcomes() if self.sees("{") else None
        cells = [[self.pair(outcomes, i, j) for i in range(rows)] for j in range(columns)]
        if self.now.kind != "end":
            raise self.refuse(f"nothing after {'outcomes' if outcomes else 'payoffs'} of {rows} x {columns} pairs")
        a, b = (tuple(tuple(cells[j][i][player] for j in range(columns)) for i in range(rows)) for player in range(_PLAYERS))
        return a, b, row_names, column_names

    def header(self) -> None:
        if self.now.text == "EFG":
            raise self.refuse("NFG at its start", "an extensive game: Gambit can turn it into a strategic one")
        self.take("word", "NFG at its start", "NFG")
        self.take("word", "version 1 after NFG", "1")
        if self.now.text not in ("R", "D"):
            raise self.refuse("R or D after NFG 1")
        self.step()
        self.take("label", "a title in quotes after NFG 1 R")
        start = self.piece()
        players = self.labels("players' names")
        if len(players) != _PLAYERS:
            hint = "solvers here take games of two" if len(players) > _PLAYERS else ""
            raise start.refuse("a game of two players", hint, f"one of {len(players)}")

    def strategies(self) -> tuple[int, int, Names | None, Names | None]:
        start = self.piece()
        self.take("sign", "{ before the strategies", "{")
        if self.sees("{"):
            names = self.labels("strategies of player 1"), self.labels("strategies of player 2")
            sizes = len(names[0]), len(names[1])
        else:
            names = (), ()
            sizes = self.count("how many strategies player 1 has"), self.count("how many strategies player 2 has")
        self.take("sign", "two players' strategies and } after them", "}")
        if not all(sizes):
            raise start.refuse("at least one strategy for each player", came=f"{sizes[0]} and {sizes[1]}")
        row_names, column_names = (one if any(name.text for name in one) else None for one in names)
        return *sizes, row_names, column_names

    def outcomes(self) -> list[Pair]:
        found = [(Fraction(0), Fraction(0))]  # outcome 0
        self.take("sign", "{ before the outcomes", "{")
        while self.sees("{"):
            if len(found) > MOST_CELLS:
                raise self.refuse(f"at most {MOST_CELLS:,} outcomes", came="one more")
            self.step()
            self.take("label", "an outcome's name in quotes")
            mine = self.number("a payoff of player 1")
            self.skip_comma()
            found.append((mine, self.number("a payoff of player 2")))
            self.skip_comma()
            self.take("sign", "} after an outcome's two payoffs", "}")
        self.take("sign", "outcomes in braces, and } after them", "}")
        return found

    def skip_comma(self) -> None:
        if self.sees(","):
            self.step()

    def pair(self, outcomes: list[Pair] | None, row: int, column: int) -> Pair:
        where = f"strategies {row + 1} and {column + 1}"
        if outcomes is None:
            return self.number(f"player 1's payoff for {where}"), self.number(f"player 2's payoff for {where}")
        if self.now.kind == "word" and re.fullmatch("[0-9]{1,9}", self.now.text) and int(self.now.text) < len(outcomes):
            return outcomes[int(self.step().text)]
        raise self.refuse(f"an outcome's number for {where}", f"there are outcomes 0 to {len(outcomes) - 1}")


def _tokens(file: FileText) -> Iterator[_Token]:
    place = 0
    while (found := _TOKEN.match(file.text, place)) is not None:
        kind = found.lastgroup or ""
        if kind == "rest":
            raise Piece(file, found.start(kind), "").refuse(
                "a Gambit .nfg file with quotes in pairs", came='a " that no other follows'
            )
        yield _Token(kind, found[kind], found.start(kind) - (kind == "label"))
        place = found.end()
    yield _Token("end", "", len(file.text))


def _unquoted(label: str) -> str:
    if "\\" in label:
        label = _ESCAPED.sub(r"\1", label)
    return _REFERENCE.sub(_referred, label) if "&#" in label else label


def _referred(found: re.Match[str]) -> str:
    number = int(found[1])
    return chr(number) if number <= sys.maxunicode and not _NO_TEXT.match(chr(number)) else found[0]


# ---- writing -----------------------------------------------------------------------------------------------------------------


_SAYS_SO = "In names &#N; stands for the character of that number in Unicode: Gambit refuses or changes some in names."


def write_nfg(game: BimatrixGame, title: str) -> str:
    """Return a game as a file Gambit reads, its payoffs exact and its names as references where Gambit would refuse or change them.

    Raises
    ------
    InfeasibleGame
        If a number is too long or a name is none, so that the file would not be read again.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> print(write_nfg(BimatrixGame(((half,), (Fraction(3),)), ((-half,), (Fraction(0),)), ("top", "bottom"), ("c1",)), "Tiny"))
    NFG 1 R "Tiny" { "Player 1" "Player 2" }
    <BLANKLINE>
    { { "top" "bottom" }
    { "c1" }
    }
    ""
    <BLANKLINE>
    1/2 -1/2 3 0
    <BLANKLINE>
    >>> _quoted('1\\u20ac "net"')
    '"1&#8364; \\\\"net\\\\""'
    """
    check_written_names(game)
    lines = [
        " ".join(f"{written_number(mine[j])} {written_number(yours[j])}" for mine, yours in zip(game.a, game.b, strict=True))
        for j in range(len(game.column_actions))
    ]
    names = f"{{ {_braced(game.row_actions)}\n{_braced(game.column_actions)}\n}}"
    comment = _SAYS_SO if _REFERENCE.search(names) else ""
    head = f'NFG 1 R {_quoted(title)} {{ "Player 1" "Player 2" }}'
    return f'{head}\n\n{names}\n"{comment}"\n\n' + "\n".join(lines) + "\n"


def _braced(names: tuple[str, ...]) -> str:
    numbers = {str(number): number for number in range(1, len(names) + 1)}
    labels = [_quoted(name) for name in names]
    for place, name in enumerate(names, start=1):
        if numbers.get(name, 0) > place:
            labels[place - 1] = f'"&#{ord(name[0])};{name[1:]}"'
    return f"{{ {' '.join(labels)} }}"


def _quoted(label: str) -> str:
    """Return a label in quotes."""
    return '"' + _NOT_FOR_GAMBIT.sub(lambda found: f"&#{ord(found[0])};", label).replace('"', '\\"') + '"'
