"""Judge the best strategies of a grid: walk the whole grid again, another way, and compare.

The grid is walked by stars and bars, a few ten thousand strategies at a time. The gap is judged against the value of the game,
which two strategies prove that guarantee it (duality).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb, lcm
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.exact_value import solve_exactly
from solvers.equilibrium.check.reading import (
    Mixture,
    Refuted,
    clipped,
    dot,
    judging,
    mean,
    read_mixture,
    read_rows,
    rounded,
    see_cells,
    see_numbers,
    see_outcomes,
)
from solvers.forms import Matrix, MatrixGame

OPTIMA, OUTCOMES = "grid_optima", "grid_outcomes"
OPTIMA_COLUMNS = ("player", "index", "steps", "strategy", "worst_case", "gap", "replies", "gap_float")
OUTCOME_COLUMNS = ("x_index", "y_index", "value", "win", "draw", "lose")
MOST_STRATEGIES = 1_000_000
MOST_OUTCOMES = 100

_BLOCK = 50_000
_SAFE = 2**62


@judging(OPTIMA)
def check_grid_optima(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge `grid_optima`: the table must be, cell by cell, what walking the grid again gives; C(n + m - 1, n) m n products.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `grid_optima`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, OPTIMA, OPTIMA_COLUMNS)
    steps = _steps(rows)
    matrix = game.form(MatrixGame)
    wanted = _expected(matrix, steps)
    if len(rows) != len(wanted):
        raise Refuted(f"{len(wanted)} strategies tie for the best in steps of 1/{steps}, the table has {len(rows)}")
    for number, (row, should) in enumerate(zip(rows, wanted, strict=True)):
        try:
            see_cells(row, should)
        except Refuted as wrong:
            yield Verdict(OPTIMA, number, "refuted", str(wrong))
            continue
        yield Verdict(OPTIMA, number, "proved", f"none of the strategies in steps of 1/{steps} does better")


@judging(OUTCOMES)
def check_grid_outcomes(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge `grid_outcomes`: each pair of strategies of `grid_optima` in its place, with what happens when they meet; exact.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `grid_optima` and `grid_outcomes`, without the column `point`; may hold anything.
    """
    matrix = game.form(MatrixGame)
    rows = read_rows(tables, OUTCOMES, OUTCOME_COLUMNS)
    xs, ys = _mixtures(matrix, read_rows(tables, OPTIMA, OPTIMA_COLUMNS))
    pairs = list(islice(product(enumerate(xs), enumerate(ys)), MOST_OUTCOMES))
    if len(rows) != len(pairs):
        raise Refuted(f"expected a row for each of {len(pairs)} pairs of strategies, got {len(rows)}")
    for number, (row, ((i, x), (j, y))) in enumerate(zip(rows, pairs, strict=True)):
        try:
            _judge_outcome(matrix, row, (i, j), x, y)
        except Refuted as wrong:
            yield Verdict(OUTCOMES, number, "refuted", str(wrong))
            continue
        yield Verdict(OUTCOMES, number, "proved", "recomputed from the two strategies")


def _judge_outcome(game: MatrixGame, row: Mapping[str, Any], place: tuple[int, int], x: Mixture, y: Mixture) -> None:
    if (row["x_index"], row["y_index"]) != place:
        raise Refuted(f"expected the strategies {place}, got {(row['x_index'], row['y_index'])}")
    see_numbers(row, {"value": mean(game.payoffs, x, y)})
    see_outcomes(game, row, x, y)


def _mixtures(game: MatrixGame, rows: list[dict[str, Any]]) -> tuple[list[Mixture], list[Mixture]]:
    by_player: tuple[list[Mixture], list[Mixture]] = ([], [])
    for row in rows:
        if row["player"] not in (1, 2):
            raise Refuted(f"{OPTIMA}.player: expected 1 or 2, got {clipped(row['player'])}")
        by_player[row["player"] - 1].append(read_mixture("strategy", row["strategy"], game.shape[row["player"] - 1]))
    return by_player


def _steps(rows: Sequence[Mapping[str, Any]]) -> int:
    said = {row["steps"] for row in rows}
    steps = said.pop() if len(said) == 1 else None
    if not isinstance(steps, int) or steps < 1:
        raise Refuted("expected rows, all with the same number of steps")
    return steps


def _expected(game: MatrixGame, steps: int) -> list[dict[str, Any]]:
    """Return the table as it should be."""
    value, _, _ = solve_exactly(game.payoffs)
    columns: Matrix = tuple(zip(*game.payoffs, strict=True))
    as_paid = tuple(tuple(-entry for entry in row) for row in game.payoffs)
    made = []
    for player, sign, replies, names in ((1, 1, columns, game.column_actions), (2, -1, as_paid, game.row_actions)):
        worst, tied = _walk(replies, steps)
        for index, numerators in enumerate(tied):
            mixture = [Fraction(one, steps) for one in numerators]
            holding = [name for name, reply in zip(names, replies, strict=True) if dot(reply, mixture) == worst]
            gap = sign * value - worst
            made.append(
                {
                    "player": player,
                    "index": index,
                    "steps": steps,
                    "strategy": [str(one) for one in mixture],
                    "worst_case": str(sign * worst),
                    "gap": str(gap),
                    "replies": "+".join(holding),
                    "gap_float": rounded(gap),
                }
            )
    return made


def _walk(replies: Matrix, steps: int) -> tuple[Fraction, list[tuple[int, ...]]]:
    """Return the best worst case against these replies, each an earning for each action, and all strategies that have it."""
    actions = len(replies[0])
    count = comb(steps + actions - 1, actions - 1)
    if count > MOST_STRATEGIES:
        raise Refuted(f"steps: a grid of {count:,} strategies, more than are ever searched")
    scale = lcm(*(entry.denominator for reply in replies for entry in reply))
    scaled = [[int(entry * scale) for entry in reply] for reply in replies]
    small = max(abs(entry) for reply in scaled for entry in reply) * steps < _SAFE
    earned = np.array(scaled, dtype=np.int64 if small else object).T
    best, tied = None, list[tuple[int, ...]]()
    bars = combinations(range(steps + actions - 1), actions - 1)
    while block := list(islice(bars, _BLOCK)):
        places = np.array(block, dtype=np.int64).reshape(len(block), actions - 1)
        ends = np.full((len(block), 1), steps + actions - 1)
        strategies = np.diff(np.hstack([np.full_like(ends, -1), places, ends]), axis=1) - 1
        worst = (strategies.astype(earned.dtype) @ earned).min(axis=1)
        highest = int(worst.max())
        if best is None or highest > best:
            best, tied = highest, []
        if highest == best:
            tied += [tuple(one) for one in strategies[worst == best].tolist()]
    return Fraction(best or 0, scale * steps), sorted(tied, reverse=True)
