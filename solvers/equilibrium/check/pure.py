"""Judge how many pure equilibria a game has, none included, and that all of them are listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import Refuted, clipped, judging, read_only_row, read_rows
from solvers.forms import BimatrixGame

TABLE, LISTED = "pure_counts", "bimatrix_equilibria"
COLUMNS = ("equilibria",)

Pairs = set[tuple[str, str]]


@judging(TABLE)
def check_pure_counts(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the one row of `pure_counts`; exact, O(m n) comparisons of fractions.

    It is `proved` if the pairs of actions of which neither player would move away are as many as it says, and these pairs and no
    others are the rows of `bimatrix_equilibria`. Those rows are judged themselves by another checker.

    Parameters
    ----------
    game
        A game that gives a `BimatrixGame`.
    tables
        `pure_counts` and `bimatrix_equilibria`, without the column `point`; may hold anything. The second is not there where no
        game of a sweep has such an equilibrium.
    """
    row = read_only_row(tables, TABLE, COLUMNS)
    form = game.form(BimatrixGame)
    pairs = _stable_pairs(form)
    try:
        said = row["equilibria"]
        if type(said) is not int or said != len(pairs):
            raise Refuted(f"equilibria: there are {len(pairs)}, not {clipped(said)}")  # noqa: TRY301
        _compare(pairs, read_rows(tables, LISTED, ("x_support", "y_support")) if LISTED in tables else [])
    except Refuted as wrong:
        yield Verdict(TABLE, 0, "refuted", str(wrong))
        return
    m, n = form.shape
    yield Verdict(TABLE, 0, "proved", f"all {m} x {n} pairs of actions looked at: {len(pairs) or 'none'}")


def _compare(pairs: Pairs, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise what the list lacks or has too much."""
    listed = [(row["x_support"], row["y_support"]) for row in rows]
    missing = sorted(pairs.difference(listed))
    if missing:
        raise Refuted(f"{LISTED}: {' against '.join(missing[0])} is an equilibrium and not there")
    if len(listed) != len(pairs):
        raise Refuted(f"{LISTED}: expected {len(pairs)} rows, got {len(listed)}")


def _stable_pairs(game: BimatrixGame) -> Pairs:
    """Return the pairs of actions that are best replies to each other, by name."""
    rows, columns = game.row_actions, game.column_actions
    ours = {(row, column) for column, paid in zip(columns, zip(*game.a, strict=True), strict=True) for row in _best(rows, paid)}
    theirs = {(row, column) for row, paid in zip(rows, game.b, strict=True) for column in _best(columns, paid)}
    return ours & theirs


def _best(actions: Sequence[str], paid: Sequence[Fraction]) -> list[str]:
    best: list[str] = []
    most = paid[0]
    for action, one in zip(actions, paid, strict=True):
        if one > most:
            best, most = [], one
        if one == most:
            best.append(action)
    return best
