"""Judge polynomials: read them back, compare all coefficients with the payoffs, and see what the value is at an equilibrium."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.exact_value import solve_exactly
from solvers.equilibrium.check.expressions import Terms, read_polynomial, value_at
from solvers.equilibrium.check.reading import Refuted, judging, read_rows, see_cells
from solvers.forms import MatrixGame

TABLE = "polynomials"
COLUMNS = ("index", "kind", "actions", "variables", "expression", "terms")


@judging(TABLE)
def check_polynomials(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `polynomials`: the coefficients must be the payoffs (their differences), the terms in falling order.

    The expected value is also evaluated at an equilibrium of the game, where it must be the value of the game.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `polynomials`, without the column `point`; may hold anything.
    """
    matrix = game.form(MatrixGame)
    rows = read_rows(tables, TABLE, COLUMNS)
    wanted = _expected(matrix)
    if len(rows) != len(wanted):
        raise Refuted(f"expected {len(wanted)} polynomials, got {len(rows)}")
    for number, (row, should) in enumerate(zip(rows, wanted, strict=True)):
        try:
            _judge(matrix, row, number, should)
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        yield Verdict(TABLE, number, "proved", "every coefficient is as the payoffs say")


Row = tuple[str, list[str], list[str], Terms]


def _judge(game: MatrixGame, row: Mapping[str, Any], number: int, should: Row) -> None:
    kind, actions, by, terms = should
    names = _variables("p", game.row_actions) + _variables("q", game.column_actions)
    said = read_polynomial("expression", row["expression"], names)
    if said != terms:
        off = next(iter(sorted(said.items() ^ terms.items())))[0]
        raise Refuted(f"expression: the coefficient at {off} is {said.get(off, 0)}, not {terms.get(off, 0)}")
    if list(said) != sorted(said, reverse=True):
        raise Refuted("expression: its terms are not in order")
    see_cells(row, {"index": number, "kind": kind, "actions": actions, "variables": by, "terms": len(terms)})
    if kind == "value":
        value, x, y = solve_exactly(game.payoffs)
        if value_at(said, x + y) != value:
            raise Refuted(f"expression: at an equilibrium it is {value_at(said, x + y)}, not {value}")


def _expected(game: MatrixGame) -> list[Row]:
    m, n = game.shape
    p, q = _variables("p", game.row_actions), _variables("q", game.column_actions)

    def one(*places: int) -> tuple[int, ...]:
        return tuple(int(place in places) for place in range(m + n))

    def linear(entries: Sequence[Fraction], first: int) -> Terms:
        return {one(first + place): entry for place, entry in enumerate(entries) if entry}

    value = {one(i, m + j): entry for i, row in enumerate(game.payoffs) for j, entry in enumerate(row) if entry}
    columns = list(zip(*game.payoffs, strict=True))
    made: list[Row] = [("value", [], [], value)]
    made += [("earns", [game.row_actions[i]], [p[i]], linear(row, m)) for i, row in enumerate(game.payoffs)]
    made += [("costs", [game.column_actions[j]], [q[j]], linear(column, 0)) for j, column in enumerate(columns)]
    for lines, names, variables, first in ((game.payoffs, game.row_actions, p, m), (columns, game.column_actions, q, 0)):
        for k in range(len(lines) - 1):
            difference = [ours - theirs for ours, theirs in zip(lines[k], lines[k + 1], strict=True)]
            made.append(("indifferent", list(names[k : k + 2]), list(variables[k : k + 2]), linear(difference, first)))
    return made


def _variables(letter: str, actions: Sequence[str]) -> list[str]:
    """Return what the probabilities are called: by the action, all else than letters and digits as _, or else numbered."""
    named = [letter + "_" + re.sub("[^a-zA-Z0-9]", "_", action) for action in actions]
    return named if len(named) == len(set(named)) else [f"{letter}_{k + 1}" for k in range(len(actions))]
