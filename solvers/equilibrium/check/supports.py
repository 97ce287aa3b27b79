"""Judge what is said of each pair of supports: solve its indifference system again, by elimination in integers.

The verdict is recomputed completely: whether the system of each player has no solution, one or many, and what the one breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import gcd, lcm
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import Refuted, judging, read_rows, see_cells
from solvers.forms import BimatrixGame, Matrix

TABLE = "supports"
COLUMNS = ("x_support", "y_support", "verdict", "violated", "equations")

Mixture = dict[int, Fraction]


@judging(TABLE)
def check_supports(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `supports`; exact, a linear system for each player and row.

    Rows are `proved` if there is one for each pair of supports, smaller supports first, and each says what its pair is. No rows:
    nothing is claimed.

    Parameters
    ----------
    game
        A game that gives a `BimatrixGame`.
    tables
        `supports`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, TABLE, COLUMNS)
    if not rows:
        return
    form = game.form(BimatrixGame)
    pairs = (2 ** len(form.row_actions) - 1) * (2 ** len(form.column_actions) - 1)
    if len(rows) != pairs:
        raise Refuted(f"expected {pairs} rows, one for each pair of supports, got {len(rows)}")
    players = (_Player(form.a, form.column_actions, "y"), _Player(tuple(zip(*form.b, strict=True)), form.row_actions, "x"))
    wanted = ((rows_, columns) for rows_ in _subsets(form.row_actions) for columns in _subsets(form.column_actions))
    for number, (row, (ours, theirs)) in enumerate(zip(rows, wanted, strict=True)):
        said = _said(form, players, ours, theirs)
        try:
            see_cells(row, said)
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        yield Verdict(TABLE, number, "proved", f"{said['verdict']}, by elimination in integers")


class _Player:
    """One who mixes: `earned` `[replies, actions]` is what each reply earns the other player."""

    def __init__(self, earned: Matrix, actions: Sequence[str], letter: str) -> None:
        self.earned, self.actions, self.letter = earned, actions, letter
        self.scale = lcm(*(entry.denominator for line in earned for entry in line))

    def equations(self, payoff: str, mixed: Sequence[int], replies: Sequence[int]) -> list[str]:
        lines = [(payoff, [self.earned[reply][one] for one in mixed]) for reply in replies]
        return [f"{left} = {self._text(entries, mixed)}" for left, entries in [*lines, ("1", [Fraction(1)] * len(mixed))]]

    def _text(self, entries: Sequence[Fraction], mixed: Sequence[int]) -> str:
        terms = [(entry, f"{self.letter}[{self.actions[one]}]") for entry, one in zip(entries, mixed, strict=True) if entry]
        if not terms:
            return "0"
        signed = "".join(
            (" - " if entry < 0 else " + ") + (name if entry in {1, -1} else f"{abs(entry)} {name}") for entry, name in terms
        )
        return signed.removeprefix(" + ") if terms[0][0] > 0 else f"-{signed.removeprefix(' - ')}"

    def mixture(self, mixed: Sequence[int], replies: Sequence[int]) -> Mixture | str:
        """Return what makes the replies earn alike, or "none" or "many"."""
        lines = [[int(self.earned[reply][one] * self.scale) for one in mixed] for reply in replies]
        system = [[entry - base for entry, base in zip(line, lines[0], strict=True)] + [0] for line in lines[1:]]
        solved = _eliminated([*system, [1] * (len(mixed) + 1)], len(mixed))
        return solved if isinstance(solved, str) else dict(zip(mixed, solved, strict=True))


def _said(
    form: BimatrixGame, players: tuple[_Player, _Player], ours: Sequence[int], theirs: Sequence[int]
) -> dict[str, str | None]:
    """Return the row of this pair of supports."""
    second, first = players
    y, x = second.mixture(theirs, ours), first.mixture(ours, theirs)
    violated: str | None = None
    if "none" in {x if isinstance(x, str) else "", y if isinstance(y, str) else ""}:
        verdict = "no_solution"
    else:
        violated = next(chain(_negative(first, x), _negative(second, y), _better(second, y, ours, "row", form.row_actions),
                              _better(first, x, theirs, "column", form.column_actions)), None)  # fmt: skip
        many = isinstance(x, str) or isinstance(y, str)
        verdict = "violated" if violated is not None else "underdetermined" if many else "equilibrium"
    return {
        "x_support": "+".join(form.row_actions[one] for one in ours),
        "y_support": "+".join(form.column_actions[one] for one in theirs),
        "verdict": verdict,
        "violated": violated,
        "equations": "; ".join([*second.equations("u1", theirs, ours), *first.equations("u2", ours, theirs)]),
    }


def _negative(player: _Player, mixture: Mixture | str) -> Iterator[str]:
    if not isinstance(mixture, str):
        yield from (f"{player.letter}[{player.actions[one]}] = {share}" for one, share in mixture.items() if share <= 0)


def _better(player: _Player, mixture: Mixture | str, replies: Sequence[int], line: str, names: Sequence[str]) -> Iterator[str]:
    if isinstance(mixture, str):
        return
    earned = [sum((share * payoffs[one] for one, share in mixture.items()), Fraction()) for payoffs in player.earned]
    most = max(earned)
    if most > earned[replies[0]]:
        yield f"{line} {names[earned.index(most)]} earns {most} > {earned[replies[0]]}"


def _eliminated(rows: list[list[int]], unknowns: int) -> list[Fraction] | str:
    """Solve integer equations, the right side last: the solution, or "none" or "many"."""
    rank = 0
    for column in range(unknowns):
        pivot = next((place for place in range(rank, len(rows)) if rows[place][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        lead = rows[rank]
        for place, row in enumerate(rows):
            if place != rank and row[column]:
                mixed = [entry * lead[column] - other * row[column] for entry, other in zip(row, lead, strict=True)]
                divisor = gcd(*mixed) or 1
                rows[place] = [entry // divisor for entry in mixed]
        rank += 1
    if any(row[-1] for row in rows[rank:]):
        return "none"
    return "many" if rank < unknowns else [Fraction(rows[place][-1], rows[place][place]) for place in range(unknowns)]


def _subsets(actions: Sequence[str]) -> list[tuple[int, ...]]:
    places = range(len(actions))
    return [chosen for size in range(1, len(actions) + 1) for chosen in combinations(places, size)]
