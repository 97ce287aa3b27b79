"""Judge paths of Lemke and Howson: each step is a basis that differs by one label, and feasible bases have one such neighbour.

The polytopes are {x >= 0, Wx <= 1 + perturbation}, the right side of inequality i being 1 + e^(i + 1) for an infinitesimal e > 0,
where W is the other player's payoffs, every choice of x moved to least entry 0, all divided by the common divisor, plus 1. So all
vertices are simple, and an edge ends in exactly one other vertex: it is enough to solve for the vertex that the path names and to
see that it lies in the polytope. That takes a linear system a step, in fractions, and no pivoting rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import Mixture, Refuted, clipped, judging, read_mixture, read_rows, see_cells
from solvers.forms import BimatrixGame, Matrix

TABLE = "lemke_howson"
COLUMNS = ("label", "player", "action", "path", "equilibrium")

Lines = list[list[Fraction]]


@judging(TABLE)
def check_lemke_howson(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `lemke_howson`; exact, O((m + n)^3) fractions a step.

    A row is `proved` if the path starts by dropping its label at (0, 0), every step leads to a vertex of the perturbed polytope,
    drops next what was picked up, ends when it picks up its own label, and the equilibrium named is that end. Labels rise.

    Parameters
    ----------
    game
        A game that gives a `BimatrixGame`.
    tables
        `lemke_howson` and `bimatrix_equilibria`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, TABLE, COLUMNS)
    equilibria = read_rows(tables, "bimatrix_equilibria", ("x", "y"))
    if not rows:
        raise Refuted("no rows, but every label leads somewhere")
    form = game.form(BimatrixGame)
    polytopes = (_inequalities(form.b), _inequalities(tuple(zip(*form.a, strict=True))))
    before = -1
    for number, row in enumerate(rows):
        try:
            _judge(form, polytopes, row, equilibria, before)
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        before = row["label"]
        yield Verdict(TABLE, number, "proved", f"{len(row['path'])} steps, each to the other end of an edge")


def _judge(
    game: BimatrixGame, polytopes: tuple[Lines, Lines], row: Mapping[str, Any], equilibria: Sequence[Mapping[str, Any]], before: int
) -> None:
    m, n = game.shape
    label = row["label"]
    if type(label) is not int or not before < label < m + n:
        raise Refuted(f"label: expected one of {before + 1} to {m + n - 1}, got {clipped(label)}")
    see_cells(row, {"player": 1 if label < m else 2, "action": [*game.row_actions, *game.column_actions][label]})
    ends = _walked(polytopes, label, row["path"])
    place = row["equilibrium"]
    if type(place) is not int or not 0 <= place < len(equilibria):
        raise Refuted(f"equilibrium: expected an index of bimatrix_equilibria, got {clipped(place)}")
    found: list[Mixture] = [read_mixture(name, equilibria[place][name], count) for name, count in (("x", m), ("y", n))]
    if found != ends:
        raise Refuted(f"equilibrium: the path does not end at {place}")


def _walked(polytopes: tuple[Lines, Lines], label: int, path: Any) -> list[Mixture]:
    """Return the two mixtures where a path ends, each step of it judged."""
    n, m = len(polytopes[0]), len(polytopes[1])
    if not isinstance(path, list) or not all(type(one) is int and 0 <= one < m + n for one in path):
        raise Refuted(f"path: expected labels, got {clipped(path)}")
    if path.count(label) != 1 or path[-1] != label:
        raise Refuted(f"path: expected to end where {label} is picked up, got {clipped(path)}")
    zeros = [set(range(m)), set(range(m, m + n))]
    vertices: list[list[Fraction]] = [[], []]
    side, dropped = (0 if label < m else 1), label
    for step, picked in enumerate(path):
        if dropped not in zeros[side] or picked in zeros[side]:
            raise Refuted(f"path: step {step} cannot drop {dropped} and pick up {picked}")
        zeros[side] = zeros[side] - {dropped} | {picked}
        vertex = _vertex(polytopes[side], zeros[side], first=0 if side == 0 else m, slack=m if side == 0 else 0)
        if vertex is None:
            raise Refuted(f"path: step {step} picks up {picked}, which is no vertex")
        vertices[side] = vertex
        side, dropped = 1 - side, picked
    if not all(any(vertex) for vertex in vertices):
        raise Refuted("path: comes back to (0, 0)")
    return [[one / sum(vertex) for one in vertex] for vertex in vertices]


def _inequalities(choices: Matrix) -> Lines:
    """Return W, a line for each reply to these choices of the other player."""
    scale = lcm(*(entry.denominator for choice in choices for entry in choice))
    whole = [[(entry - min(choice)) * scale for entry in choice] for choice in choices]
    divisor = gcd(*(int(entry) for choice in whole for entry in choice)) or 1
    return [[entry / divisor + 1 for entry in line] for line in zip(*whole, strict=True)]


def _vertex(lines: Lines, zeros: set[int], *, first: int, slack: int) -> list[Fraction] | None:
    """Return the unperturbed vertex where these labels are 0; None if that is no vertex of the perturbed polytope.

    Variables have the labels from `first` on, the slack of line i has `slack + i`. Solved are the lines that are tight for the
    variables that are not 0, once for each power of e; the values, and the slacks of the other lines, must be lexicographically
    positive.
    """
    n, m = len(lines), len(lines[0])
    free = [j for j in range(m) if first + j not in zeros]
    tight = [i for i in range(n) if slack + i in zeros]
    if len(free) != len(tight):
        return None
    sides = [[Fraction(1), *(Fraction(int(power == i)) for power in range(n))] for i in range(n)]
    solved = _solved([[*(lines[i][j] for j in free), *sides[i]] for i in tight])
    if solved is None:
        return None
    rest = [
        [
            side - sum((lines[i][j] * one[power] for j, one in zip(free, solved, strict=True)), Fraction())
            for power, side in enumerate(sides[i])
        ]
        for i in range(n)
        if i not in tight
    ]
    if not all(next((entry for entry in row if entry), Fraction()) > 0 for row in (*solved, *rest)):
        return None
    values = dict(zip(free, solved, strict=True))
    return [values[j][0] if j in values else Fraction() for j in range(m)]


def _solved(rows: Lines) -> Lines | None:
    """Return the right sides after Gauss and Jordan; None if the square part is singular."""
    for step in range(len(rows)):
        pivot = next((place for place in range(step, len(rows)) if rows[place][step]), None)
        if pivot is None:
            return None
        rows[step], rows[pivot] = rows[pivot], rows[step]
        lead = rows[step][step]
        rows[step] = [entry / lead for entry in rows[step]]
        for place, row in enumerate(rows):
            if place != step and row[step]:
                factor = row[step]
                rows[place] = [entry - factor * other for entry, other in zip(row, rows[step], strict=True)]
    return [row[len(rows) :] for row in rows]
