r"""Gambit's .efg files: games in extensive form, here zero-sum ones of two players.

A file is a header (`EFG 2 R` or `EFG 2 D`, a title, the players' names, perhaps a comment) and the nodes, each followed by all that
comes after it, in the order of its moves:

    c "name" SET "its name" { "move" 1/2 "move" 1/2 } OUTCOME          chance moves
    p "name" PLAYER SET "its name" { "move" "move" } OUTCOME           a player moves
    t "name" OUTCOME                                                   the end

SET numbers information sets, of chance and of each player from 1 on; name and moves of a set may be left out but the first time.
OUTCOME is 0, or a number that is followed the first time, and may be later, by `"its name" { payoff, payoff }`. White space means
nothing, nor do commas between payoffs. Numbers are read exactly as they stand: `1/3`, `0.1`, `1e-3`.

Rules
-----
1. What a player gets at an end is the sum over the outcomes on the path there, that of the end included.
2. A node's name, an outcome's name, the title and comments mean nothing.
3. If all information sets of a player have different names, they go by them. If not, those whose name is empty, a whole number or
   shared go by their numbers.
4. Moves without a name, and moves of one set that share a name, are numbered from 1: 1, 2, ...

Read as Gambit reads it, except that chances that are 0 are refused, and that what contradicts an earlier line is refused.

References
----------
Gambit, "Game representation formats", section "The extensive game (.efg) file format".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple

from solvers.builder import read_exact
from solvers.errors import ConfigError
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.forms.tree import CHANCE, END, MOST_NODES

Names = tuple[str, ...]
Pair = tuple[Fraction, Fraction]
Set = tuple[int, int]
"""Whose (0: chance), and the number in the file."""

_TOKEN = re.compile(r'\s*(?:"(?P<label>(?:\\"|[^"])*)"|(?P<sign>[{},])|(?P<word>[^\s{},"]+)|(?P<rest>\S))')
_PLAYERS = 2
_NOTHING: Pair = (Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Efg:
    """What a file says: the tree, with player 1's payoffs, and by how much payoffs fail to sum to 0 (None: not by a constant).

    `sums`: two ends' sums of payoffs with the lines they stand in, if those differ.
    """

    tree: GameTree
    total: Fraction | None
    sums: tuple[tuple[Fraction, int], ...]


def read_efg(data: bytes) -> Efg:
    """Read a file.

    Time: about 40 us a node.

    Raises
    ------
    ConfigError
        If it is no such file, not of two players, chances do not sum to 1, or a player forgets what he knew or did: what stands
        there and in which line; its path is empty.

    Examples
    --------
    >>> pennies = b'''EFG 2 R "Matching pennies" { "A" "B" }
    ... p "" 1 1 "" { "h" "t" } 0
    ... p "" 2 1 "" { "h" "t" } 0
    ... t "" 1 "win" { 1, -1 }
    ... t "" 2 "loss" { -1, 1 }
    ... p "" 2 1 0
    ... t "" 2
    ... t "" 1'''
    >>> read_efg(pennies).tree.histories
    {'nodes': 7, 'ends': 4, 'chance_nodes': 0, 'infosets_p1': 1, 'infosets_p2': 1}
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _Reader(text).game()


# ---- words -------------------------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str  # label, sign, word, end
    text: str
    line: int

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else f"{self.text!r} in line {self.line}"


def _tokens(text: str) -> Iterator[_Token]:
    line, place = 1, 0
    while (found := _TOKEN.match(text, place)) is not None:
        kind = found.lastgroup or ""
        line += text.count("\n", place, found.start(kind))
        if kind == "rest":
            raise ConfigError("", "a Gambit .efg file with quotes in pairs", f'a " in line {line} that no other follows')
        said = found[kind]
        yield _Token(kind, said.replace('\\"', '"') if kind == "label" else said, line)
        line += text.count("\n", found.start(kind), found.end())
        place = found.end()
    yield _Token("end", "", line)


# ---- nodes -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _InfoSet:
    name: str
    moves: Names
    chances: tuple[Fraction, ...]  # of chance's sets
    line: int  # where it stands first
    came_from: tuple[Set, int] | None  # its player's set and move before


@dataclass(slots=True)
class _Node:
    line: int
    owner: int  # 1, 2, CHANCE, END
    infoset: Set
    paid: Pair  # up to here
    children: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A node some of whose moves are still to come, and each player's last own move before it."""

    node: int
    moves: int
    paid: Pair
    own: tuple[tuple[Set, int] | None, ...]


class _Reader:
    """A file's tokens, the next one in `now`, and what was read so far."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.now = next(self.tokens)
        self.sets: dict[Set, _InfoSet] = {}
        self.outcomes: dict[int, Pair] = {}
        self.nodes: list[_Node] = []

    def refuse(self, wanted: str, hint: str = "") -> ConfigError:
        return ConfigError("", f"a Gambit .efg file with {wanted}", str(self.now), hint)

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

    def number(self, wanted: str) -> Fraction:
        found = read_exact(self.now.text) if self.now.kind == "word" else None
        if found is None:
            raise self.refuse(wanted)
        self.step()
        return found

    def count(self, wanted: str, least: int = 0) -> int:
        if not (self.now.kind == "word" and re.fullmatch("[0-9]{1,9}", self.now.text) and int(self.now.text) >= least):
            raise self.refuse(wanted)
        return int(self.step().text)

    # ---- the parts of a file -------------------------------------------------------------------------------------------------

    def game(self) -> Efg:
        self.header()
        self.read_nodes()
        if self.now.kind != "end":
            raise self.refuse("nothing after the last node")
        ends = [node for node in self.nodes if node.owner == END]
        sums = [(sum(node.paid), node.line) for node in ends]
        other = next((one for one in sums if one[0] != sums[0][0]), None)
        named = self.names()
        tree = extract(0, lambda place: self.look(place, named))
        return Efg(tree, sums[0][0] if other is None else None, () if other is None else (sums[0], other))  # type: ignore[arg-type]

    def header(self) -> None:
        if self.now.text == "NFG":
            raise self.refuse("EFG at its start", "a strategic game: game=nfg reads it")
        self.take("word", "EFG at its start", "EFG")
        self.take("word", "version 2 after EFG", "2")
        if self.now.text not in ("R", "D"):
            raise self.refuse("R or D after EFG 2")
        self.step()
        self.take("label", "a title in quotes after EFG 2 R")
        self.take("sign", "{ before players' names", "{")
        players = 0
        while self.now.kind == "label":
            self.step()
            players += 1
        self.take("sign", "players' names in quotes, and } after them", "}")
        if players != _PLAYERS:
            raise ConfigError("", "a game of two players", f"one of {players}")
        if self.now.kind == "label":
            self.step()  # a comment

    def read_nodes(self) -> None:
        waiting: list[_Open] = []
        own: tuple[tuple[Set, int] | None, ...] = (None, None)
        paid = _NOTHING
        while not self.nodes or waiting:
            if len(self.nodes) >= MOST_NODES:
                raise ConfigError("", f"at most {MOST_NODES:,} nodes", f"more by line {self.now.line}")
            while waiting and len(self.nodes[waiting[-1].node].children) == waiting[-1].moves:
                waiting.pop()
            if self.nodes and not waiting:
                return
            if waiting:
                above = waiting[-1]
                before = self.nodes[above.node]
                paid, own = above.paid, above.own
                if before.owner != CHANCE:
                    step = (before.infoset, len(before.children))
                    own = (step, own[1]) if before.owner == 1 else (own[0], step)
                before.children.append(len(self.nodes))
            node = self.node(paid, own)
            self.nodes.append(node)
            if node.owner != END:
                waiting.append(_Open(len(self.nodes) - 1, len(self.sets[node.infoset].moves), node.paid, own))

    def node(self, paid: Pair, own: tuple[tuple[Set, int] | None, ...]) -> _Node:
        line = self.now.line
        letter = self.now.text if self.now.kind == "word" else ""
        if letter not in ("c", "p", "t"):
            wanted = (
                f"a node (c, p or t) for each move of the {len(self.nodes)} nodes so far" if self.nodes else "a node: c, p or t"
            )
            raise self.refuse(wanted)
        self.step()
        self.take("label", "a node's name in quotes")
        owner, place = END, (END, 0)
        if letter != "t":
            owner = CHANCE if letter == "c" else self.count("the number of a player, 1 or 2", 1)
            if owner > _PLAYERS:
                raise ConfigError("", "player 1 or 2", f"player {owner} in line {line}")
            place = (owner, self.count("the number of an information set, from 1", 1))
            self.infoset(place, line, None if owner == CHANCE else own[owner - 1])
        gained = self.outcome()
        return _Node(line, owner, place, (paid[0] + gained[0], paid[1] + gained[1]) if gained is not _NOTHING else paid)

    def infoset(self, place: Set, line: int, came_from: tuple[Set, int] | None) -> None:
        """Read a set's name and moves, if they stand here, and hold them against what earlier nodes of it said."""
        known = self.sets.get(place)
        name = self.step().text if self.now.kind == "label" else None
        whose = "of chance" if place[0] == CHANCE else f"of player {place[0]}"
        if not self.sees("{"):
            if known is None:
                raise self.refuse(f"the moves of information set {place[1]} {whose}, which stands here first, in braces")
        else:
            moves, chances = self.moves(place[0] == CHANCE, line)
            if known is None:
                known = self.sets[place] = _InfoSet(name or "", moves, chances, line, came_from)
            elif (known.moves, known.chances) != (moves, chances):
                said = f"{_listed(moves, chances)} in line {line}"
                raise ConfigError(
                    "", f"the moves {_listed(known.moves, known.chances)} of set {place[1]} {whose}, as in line {known.line}", said
                )
        if place[0] != CHANCE and known.came_from != came_from:
            first, here = (_told(one) for one in (known.came_from, came_from))
            wanted = "perfect recall: at all nodes of an information set its player did and knew the same before"
            said = f"set {place[1]} {whose} after {first} in line {known.line}, after {here} in line {line}"
            raise ConfigError("", wanted, said)

    def moves(self, with_chances: bool, line: int) -> tuple[Names, tuple[Fraction, ...]]:  # noqa: FBT001 (private)
        self.step()
        moves, chances = [], []
        while self.now.kind == "label":
            moves.append(self.step().text)
            if with_chances:
                chances.append(self.number(f"a probability after the move {moves[-1]!r} of chance"))
        self.take("sign", "moves in quotes, each of chance with its probability, and } after them", "}")
        if not moves:
            raise ConfigError("", "at least one move", f"none in line {line}")
        if with_chances and (sum(chances) != 1 or min(chances) <= 0):
            hint = "leave out moves that never happen, with what follows them" if min(chances) == 0 else ""
            raise ConfigError(
                "",
                "probabilities that are positive and sum to 1",
                _listed(moves, chances) + f", sum {sum(chances)}, in line {line}",
                hint,
            )
        return tuple(moves), tuple(chances)

    def outcome(self) -> Pair:
        line = self.now.line
        number = self.count("an outcome's number, 0 for none")
        if self.now.kind == "label":
            self.step()
        if self.sees("{"):
            self.step()
            mine = self.number("a payoff of player 1")
            self.skip_comma()
            pair = (mine, self.number("a payoff of player 2"))
            self.skip_comma()
            self.take("sign", "} after an outcome's two payoffs", "}")
            if number == 0:
                raise ConfigError("", "no payoffs of outcome 0, which is none", f"some in line {line}")
            if self.outcomes.setdefault(number, pair) != pair:
                raise ConfigError("", f"the payoffs of outcome {number} as they stood before", f"others in line {line}")
        if number == 0:
            return _NOTHING
        if number not in self.outcomes:
            raise ConfigError("", f"payoffs of outcome {number}, which stands here first", f"none in line {line}")
        return self.outcomes[number]

    def skip_comma(self) -> None:
        if self.sees(","):
            self.step()

    # ---- the tree ------------------------------------------------------------------------------------------------------------

    def names(self) -> dict[Set, tuple[str, Names]]:
        """Return what each information set and its moves are called; see rules 3 and 4."""
        used = Counter((place[0], known.name) for place, known in self.sets.items())
        unclear = {owner for (owner, _), many in used.items() if many > 1}
        found = {}
        for (owner, number), known in self.sets.items():
            is_name = owner not in unclear or (used[owner, known.name] == 1 and known.name and not known.name.isdecimal())
            is_list = all(known.moves) and len(set(known.moves)) == len(known.moves)
            found[owner, number] = known.name if is_name else str(number), known.moves if is_list else _numbers(len(known.moves))
        return found

    def look(self, place: int, named: Mapping[Set, tuple[str, Names]]) -> Chance | Decision | Payoff:
        node = self.nodes[place]
        if node.owner == END:
            return Payoff(node.paid[0])
        name, moves = named[node.infoset]
        if node.owner == CHANCE:
            return Chance(tuple(zip(self.sets[node.infoset].moves, self.sets[node.infoset].chances, node.children, strict=True)))
        return Decision(node.owner, name, tuple(zip(moves, node.children, strict=True)))


def _numbers(count: int) -> Names:
    return tuple(map(str, range(1, count + 1)))


def _listed(moves: list[str] | Names, chances: list[Fraction] | tuple[Fraction, ...]) -> str:
    return (
        ", ".join(f"{move!r} {chance}" for move, chance in zip(moves, chances, strict=True))
        if chances
        else ", ".join(map(repr, moves))
    )


def _told(came_from: tuple[Set, int] | None) -> str:
    return "nothing of his" if came_from is None else f"move {came_from[1] + 1} of his set {came_from[0][1]}"


# ---- writing -----------------------------------------------------------------------------------------------------------------


def write_efg(tree: GameTree, title: str) -> str:
    r"""Return a tree as a file Gambit reads, numbers exact; read again it is the same tree.

    Except that names with a backslash get a slash instead, and that `ante` has no place in it.

    Examples
    --------
    >>> def look(position):
    ...     return Payoff(Fraction(position)) if position else Decision(1, "first", (("up", 1), ("down", -2)))
    >>> print(write_efg(extract(0, look), "Tiny"))
    EFG 2 R "Tiny" { "Player 1" "Player 2" }
    <BLANKLINE>
    p "" 1 1 "first" { "up" "down" } 0
    t "" 1 "" { 1, -1 }
    t "" 2 "" { -2, 2 }
    <BLANKLINE>
    """
    lines = [f'EFG 2 R {_quoted(title)} {{ "Player 1" "Player 2" }}', ""]
    seen: Counter[int] = Counter()
    numbers = [seen.update([player]) or seen[player] for player in tree.infoset_player.tolist()]
    heads = [
        f'p "" {player} {number} {_quoted(name)} {{ {" ".join(map(_quoted, moves))} }} 0'
        for player, number, name, moves in zip(tree.infoset_player.tolist(), numbers, tree.infoset_names, tree.actions, strict=True)
    ]
    outcomes = [f't "" {place} "" {{ {paid}, {-paid} }}' for place, paid in enumerate(tree.payoffs, start=1)]
    start, nodes = tree.children
    chance = 0
    for here, (player, infoset, paid) in enumerate(
        zip(tree.player.tolist(), tree.infoset.tolist(), tree.payoff.tolist(), strict=True)
    ):
        if player == END:
            lines.append(outcomes[paid])
        elif player == CHANCE:
            chance += 1
            after = nodes[start[here] : start[here + 1]].tolist()
            moves = (f"{_quoted(tree.labels[tree.label[one]])} {tree.probabilities[tree.probability[one]]}" for one in after)
            lines.append(f'c "" {chance} "" {{ {" ".join(moves)} }} 0')
        else:
            lines.append(heads[infoset])
    return "\n".join(lines) + "\n"


def _quoted(label: str) -> str:
    """Return a label in quotes; a backslash, which would take the next quote's meaning, becomes a slash."""
    return '"' + label.replace("\\", "/").replace('"', '\\"') + '"'


def _to_efg(game: Any) -> str:
    return write_efg(game.form(GameTree), type(game).__name__)


EXPORTS: Final[Mapping[str, Callable[[Any], str]]] = {"efg": _to_efg}
"""Of every game that gives a `GameTree`: Gambit's .efg, payoffs exact."""
