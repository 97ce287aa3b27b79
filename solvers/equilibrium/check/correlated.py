"""Judge correlated equilibria from the game and the tables alone, in exact fractions.

That a distribution is a correlated equilibrium is seen from its incentive constraints; that it is a best one from the stored
multipliers, by weak duality: at every pair of actions the weighted payoff and the multiplied advantages of obeying sum to at most
the value, so no distribution for which those advantages are not negative on average can earn more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import (
    Refuted,
    clipped,
    judging,
    read_number,
    read_only_row,
    read_rows,
    rounded,
    see_cells,
    see_numbers,
    shown,
)
from solvers.forms import BimatrixGame, Matrix

CORRELATED, DUAL = "correlated", "correlated_dual"
COLUMNS = ("row", "column", "probability", "probability_float")
DUAL_COLUMNS = (
    "objective",
    "value",
    "u1",
    "u2",
    "value_float",
    "u1_float",
    "u2_float",
    "weights",
    "multipliers1",
    "multipliers2",
)
FIXED_WEIGHTS = {"welfare": [1, 1], "player1": [1, 0], "player2": [0, 1]}

Row = Mapping[str, Any]
Drawn = dict[tuple[int, int], Fraction]


@judging(CORRELATED)
def check_correlated(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the rows of `correlated`; exact, O(m n (m + n)).

    They are `proved` together, if each names a pair of actions once, in order, with its positive probability, the probabilities
    sum to 1, and no player who is told an action gains by another.
    """
    form = game.form(BimatrixGame)
    drawn: Drawn = {}
    rows = read_rows(tables, CORRELATED, COLUMNS)
    for number, row in enumerate(rows):
        try:
            _enter(form, drawn, row)
        except Refuted as wrong:
            yield Verdict(CORRELATED, number, "refuted", str(wrong))
            return
    _see_equilibrium(form, drawn)
    yield Verdict(CORRELATED, 0, "proved", "obeying is a best reply to obedience", count=len(rows))


@judging(DUAL)
def check_correlated_dual(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the row of `correlated_dual`; exact, O(m n (m + n)).

    It is `proved` if the distribution of `correlated` is a correlated equilibrium that earns u1, u2 and so the value, and the
    multipliers show that none is worth more.
    """
    form = game.form(BimatrixGame)
    dual = read_only_row(tables, DUAL, DUAL_COLUMNS)
    drawn: Drawn = {}
    for row in read_rows(tables, CORRELATED, COLUMNS):
        _enter(form, drawn, row)
    _see_equilibrium(form, drawn)
    try:
        _judge_dual(form, drawn, dual)
    except Refuted as wrong:
        yield Verdict(DUAL, 0, "refuted", str(wrong))
        return
    yield Verdict(DUAL, 0, "proved", f"no correlated equilibrium is worth more than {shown(Fraction(dual['value']))}")


# ---- the distribution --------------------------------------------------------------------------------------------------------


def _enter(game: BimatrixGame, drawn: Drawn, row: Row) -> None:
    """Read the next row."""
    for name, actions in (("row", game.row_actions), ("column", game.column_actions)):
        if row[name] not in actions:
            raise Refuted(f"{name}: expected the name of an action, got {clipped(row[name])}")
    pair = game.row_actions.index(row["row"]), game.column_actions.index(row["column"])
    if drawn and pair <= max(drawn):
        raise Refuted("repeats an earlier row, or stands in the wrong order")
    probability = read_number("probability", row["probability"])
    if probability <= 0:
        raise Refuted(f"probability: expected a positive number, got {shown(probability)}")
    see_cells(row, {"probability_float": rounded(probability)})
    drawn[pair] = probability


def _see_equilibrium(game: BimatrixGame, drawn: Drawn) -> None:
    total = sum(drawn.values(), Fraction())
    if total != 1:
        raise Refuted(f"probabilities sum to {shown(total)}")
    m, n = game.shape
    for told in sorted({i for i, _ in drawn}):
        for other in range(m):
            gain = sum((p * (game.a[other][j] - game.a[told][j]) for (i, j), p in drawn.items() if i == told), Fraction())
            if gain > 0:
                raise Refuted(f"player 1, told {game.row_actions[told]}, gains by {game.row_actions[other]}")
    for told in sorted({j for _, j in drawn}):
        for other in range(n):
            gain = sum((p * (game.b[i][other] - game.b[i][told]) for (i, j), p in drawn.items() if j == told), Fraction())
            if gain > 0:
                raise Refuted(f"player 2, told {game.column_actions[told]}, gains by {game.column_actions[other]}")


# ---- the dual ----------------------------------------------------------------------------------------------------------------


def _judge_dual(game: BimatrixGame, drawn: Drawn, row: Row) -> None:
    earned = {name: _mean(matrix, drawn) for name, matrix in (("u1", game.a), ("u2", game.b))}
    w1, w2 = _read_weights(row)
    value = min(earned.values()) if row["objective"] == "egalitarian" else w1 * earned["u1"] + w2 * earned["u2"]
    for name, wanted in (*earned.items(), ("value", value)):
        see_numbers(row, {name: wanted}, "the distribution yields")
        see_cells(row, {f"{name}_float": rounded(wanted)})
    m, n = game.shape
    first, second = _read_multipliers(row, "multipliers1", m), _read_multipliers(row, "multipliers2", n)
    for i in range(m):
        for j in range(n):
            bound = w1 * game.a[i][j] + w2 * game.b[i][j]
            bound += sum((x * (game.a[i][j] - game.a[k][j]) for k, x in enumerate(first[i]) if x), Fraction())
            bound += sum((x * (game.b[i][j] - game.b[i][k]) for k, x in enumerate(second[j]) if x), Fraction())
            if bound > value:
                pair = f"{game.row_actions[i]} against {game.column_actions[j]}"
                raise Refuted(f"multipliers: they prove no more than {shown(bound)}, because of {pair}")


def _read_weights(row: Row) -> tuple[Fraction, Fraction]:
    said = row["weights"]
    if not isinstance(said, list) or len(said) != 2:  # noqa: PLR2004 (two players)
        raise Refuted(f"weights: expected two numbers, got {clipped(said)}")
    w1, w2 = (read_number("weights", text) for text in said)
    objective = row["objective"]
    if objective == "egalitarian":
        if min(w1, w2) < 0 or w1 + w2 != 1:
            raise Refuted(f"weights: expected two that are not negative and sum to 1, got {clipped(said)}")
    elif objective not in FIXED_WEIGHTS:
        raise Refuted(f"objective: expected welfare, player1, player2 or egalitarian, got {clipped(objective)}")
    elif [w1, w2] != FIXED_WEIGHTS[objective]:
        raise Refuted(f"weights: {clipped(said)} are not those of {objective}")
    return w1, w2


def _read_multipliers(row: Row, name: str, count: int) -> list[list[Fraction]]:
    said = row[name]
    if not isinstance(said, list) or [len(line) if isinstance(line, list) else -1 for line in said] != [count] * count:
        raise Refuted(f"{name}: expected {count} lists of {count} numbers, got {clipped(said)}")
    read = [[read_number(name, text) for text in line] for line in said]
    if min(map(min, read)) < 0:
        raise Refuted(f"{name}: one is negative")
    if any(read[told][told] for told in range(count)):
        raise Refuted(f"{name}: to play what one is told is no temptation, its multiplier is 0")
    return read


def _mean(matrix: Matrix, drawn: Drawn) -> Fraction:
    return sum((p * matrix[i][j] for (i, j), p in drawn.items()), Fraction())
