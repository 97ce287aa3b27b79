r"""Gambit's .nfg files: strategic games, here those of two players.

A file is a header (`NFG 1 R` or `NFG 1 D`, a title, the players' names), the strategies (their names, or only how many), perhaps a
comment, and payoffs: either a list of them, player 1's and player 2's for each pair of strategies, or a list of outcomes and then
an outcome's number for each pair (0: both get nothing). Pairs come with player 1's strategy moving fastest. White space means
nothing. Numbers are read exactly as they stand: `1/3`, `0.1`, `1e-3`.

Read as Gambit reads it, except that a label may not lack its quotes, and that extra or missing numbers are always refused.

References
----------
Gambit, "Game representation formats", section "The strategic game (.nfg) file format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from solvers.builder import read_exact
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, Matrix

Names = tuple[str, ...]
Pair = tuple[Fraction, Fraction]

MOST_CELLS = 4_000_000
"""Larger tables are refused before memory is asked for."""

_TOKEN = re.compile(r'\s*(?:"(?P<label>(?:\\"|[^"])*)"|(?P<sign>[{},])|(?P<word>[^\s{},"]+)|(?P<rest>\S))')
_PLAYERS = 2


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # label, sign, word, end
    text: str
    line: int

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else f"{self.text!r} in line {self.line}"


def read_nfg(data: bytes) -> tuple[Matrix, Matrix, Names | None, Names | None]:
    """Read a file's payoffs and strategy names.

    Returns
    -------
    a, b
        `[m, n]`, what player 1 and player 2 get.
    row_names, column_names
        As they stand in the file; None where it only says how many strategies there are, or names none of them.

    Raises
    ------
    ConfigError
        If it is no such file, or not of two players: what stands there and in which line; its path is empty.

    Examples
    --------
    >>> a, b, rows, columns = read_nfg(b'NFG 1 R "" { "A" "B" } { 2 2 }  1 -1  -1 1/2  0 0  .5 3')
    >>> a
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(-1, 1), Fraction(1, 2)))
    >>> b[1]
    (Fraction(1, 2), Fraction(3, 1))
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _Reader(text).game()


class _Reader:
    """A file's tokens, the next one in `now`."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.now = next(self.tokens)

    def refuse(self, wanted: str, hint: str = "") -> ConfigError:
        return ConfigError("", f"a Gambit .nfg file with {wanted}", str(self.now), hint)

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
        found = []
        while self.now.kind == "label":
            found.append(self.step().text)
        self.take("sign", f"{wanted} in quotes, and }} after them", "}")
        return tuple(found)

    def number(self, wanted: str) -> Fraction:
        found = read_exact(self.now.text) if self.now.kind == "word" else None
        if found is None:
            raise self.refuse(wanted)
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
            raise ConfigError("", f"at most {MOST_CELLS:,} pairs of strategies", f"{rows} x {columns}")
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
        players = self.labels("players' names")
        if len(players) != _PLAYERS:
            raise ConfigError("", "a game of two players", f"one of {len(players)}")

    def strategies(self) -> tuple[int, int, Names | None, Names | None]:
        self.take("sign", "{ before the strategies", "{")
        if self.sees("{"):
            names = self.labels("strategies of player 1"), self.labels("strategies of player 2")
            sizes = len(names[0]), len(names[1])
        else:
            names = (), ()
            sizes = self.count("how many strategies player 1 has"), self.count("how many strategies player 2 has")
        self.take("sign", "two players' strategies and } after them", "}")
        if not all(sizes):
            raise ConfigError("", "at least one strategy for each player", f"{sizes[0]} and {sizes[1]}")
        row_names, column_names = (one if any(one) else None for one in names)
        return *sizes, row_names, column_names

    def outcomes(self) -> list[Pair]:
        found = [(Fraction(0), Fraction(0))]  # outcome 0
        self.take("sign", "{ before the outcomes", "{")
        while self.sees("{"):
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


def _tokens(text: str) -> Iterator[_Token]:
    line, place = 1, 0
    while (found := _TOKEN.match(text, place)) is not None:
        kind = found.lastgroup or ""
        line += text.count("\n", place, found.start(kind))
        if kind == "rest":
            raise ConfigError("", "a Gambit .nfg file with quotes in pairs", f'a " in line {line} that no other follows')
        said = found[kind]
        yield _Token(kind, said.replace('\\"', '"') if kind == "label" else said, line)
        line += text.count("\n", found.start(kind), found.end())
        place = found.end()
    yield _Token("end", "", line)


# ---- writing -----------------------------------------------------------------------------------------------------------------


def write_nfg(game: BimatrixGame, title: str) -> str:
    """Return a game as a file Gambit reads, its payoffs exact.

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
    """
    lines = [
        " ".join(f"{mine[j]} {yours[j]}" for mine, yours in zip(game.a, game.b, strict=True))
        for j in range(len(game.column_actions))
    ]
    head = f'NFG 1 R {_quoted(title)} {{ "Player 1" "Player 2" }}\n\n'
    names = f"{{ {_braced(game.row_actions)}\n{_braced(game.column_actions)}\n}}\n"
    return f'{head}{names}""\n\n' + "\n".join(lines) + "\n"


def _braced(names: Names) -> str:
    return f"{{ {' '.join(map(_quoted, names))} }}"


def _quoted(label: str) -> str:
    """Return a label in quotes; a backslash, which would take the next quote's meaning, becomes a slash."""
    return '"' + label.replace("\\", "/").replace('"', '\\"') + '"'
