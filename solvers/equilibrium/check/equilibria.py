"""Judge equilibria of zero-sum matrix games from the game and the table alone.

An equilibrium is its own certificate: with exact fractions, recompute what each action earns against the other player's mixture
and see that no action earns more. Not judged: whether further equilibria are missing.

`check_equilibria_batch` says the same of thousands of small games at once, in 64-bit integers, a column at a time, where no number
can overflow; what it does not find right at once is left to `check_equilibria`, which says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import (
    Flags,
    Integers,
    Mixture,
    Refuted,
    dot,
    judging,
    read_mixture,
    read_number,
    read_ratios,
    read_rows,
    rounded,
    see_cells,
    see_numbers,
    see_outcomes,
    shown,
    support_of,
)
from solvers.forms import BimatrixGame, MatrixGame

TABLE = "equilibria"
COLUMNS = ("index", "value", "x", "y", "x_support", "y_support", "value_float", "win", "draw", "lose")

Pair = tuple[Mixture, Mixture]

_TYPES = {
    "index": pa.int32(),
    "value": pa.string(),
    "x": pa.list_(pa.string()),
    "y": pa.list_(pa.string()),
    "x_support": pa.string(),
    "y_support": pa.string(),
    "value_float": pa.float64(),
}
_MOST = 2.0**62
_EXACT_FLOATS = 2**53


@judging(TABLE)
def check_equilibria(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `equilibria`; exact, O(m n) fractions a row.

    A row is `proved` if x and y are probability distributions, the value is x'Ay, no row earns player 1 more and no column costs
    player 2 less, everything else the row says follows from them, and it stands in its place: index from 0, pairs (x, y) strictly
    falling in dictionary order.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame` or a `BimatrixGame`; one that is not zero-sum has no rows.
    tables
        `equilibria`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, TABLE, COLUMNS)
    matrix = _zero_sum(game)
    if (matrix is None) == bool(rows):
        said = "rows, but the game is not zero-sum" if rows else "no rows, but a finite zero-sum game has an equilibrium"
        yield Verdict(TABLE, None, "refuted", said)
    if matrix is None:
        return
    before: Pair | None = None
    for number, row in enumerate(rows):
        try:
            before = _judge(matrix, row, number, before)
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        yield Verdict(TABLE, number, "proved", _proof(matrix, row["value"]))


def _zero_sum(game: Any) -> MatrixGame | None:
    """Return the game as a `MatrixGame`; None if it is not zero-sum: then it has no rows here."""
    refuses = getattr(game, "refuses", None)
    if MatrixGame in type(game).gives and (refuses is None or refuses(MatrixGame) is None):
        form: MatrixGame = game.form(MatrixGame)
        return form
    both: BimatrixGame = game.form(BimatrixGame)
    return MatrixGame(both.a, both.row_actions, both.column_actions, both.outcomes) if both.is_zero_sum else None


def _proof(game: MatrixGame, value: str) -> str:
    m, n = game.shape
    return f"equilibrium: none of {m} rows and {n} columns does better than {value}"


def _judge(game: MatrixGame, row: Mapping[str, Any], number: int, before: Pair | None) -> Pair:
    """Return x and y of row `number`, or raise what is wrong with it; `before` is the last pair that was right."""
    x = read_mixture("x", row["x"], len(game.row_actions))
    y = read_mixture("y", row["y"], len(game.column_actions))
    value = read_number("value", row["value"])
    earned = [dot(payoffs, y) for payoffs in game.payoffs]
    paid = [dot(payoffs, x) for payoffs in zip(*game.payoffs, strict=True)]
    see_numbers(row, {"value": dot(earned, x)})
    if max(earned) > value:
        best = game.row_actions[earned.index(max(earned))]
        raise Refuted(f"not an equilibrium: {best} earns player 1 {shown(max(earned))} against y, more than {shown(value)}")
    if min(paid) < value:
        best = game.column_actions[paid.index(min(paid))]
        raise Refuted(f"not an equilibrium: {best} costs player 2 {shown(min(paid))} against x, less than {shown(value)}")
    if before is not None and (x, y) >= before:
        raise Refuted("repeats an earlier row, or stands in the wrong order")
    wanted = {
        "index": number,
        "x_support": support_of(x, game.row_actions),
        "y_support": support_of(y, game.column_actions),
        "value_float": rounded(value),
    }
    see_cells(row, wanted)
    see_outcomes(game, row, x, y)
    return x, y


# ---- many small games at once --------------------------------------------------------------------------------------------------


def check_equilibria_batch(games: Sequence[Any], tables: Mapping[str, pa.Table]) -> Iterator[tuple[int, Verdict]]:
    """Judge the rows of many games: yield each game's place and verdicts, none of a game whose rows are not all plainly right.

    Parameters
    ----------
    games
        Games that give a `MatrixGame`.
    tables
        `equilibria` with a first column `batch_index` that ascends: whose rows they are. May hold anything else.
    """
    table = tables.get(TABLE)
    if table is None or any(table.column_names.count(name) != 1 for name in COLUMNS):
        return
    if any(table.schema.field(name).type != kind for name, kind in _TYPES.items()):
        return
    matrices = [_zero_sum(game) for game in games]
    owner = table["batch_index"].to_numpy()
    first = np.searchsorted(owner, np.arange(len(games)))
    number = np.arange(len(owner)) - first[owner]
    right = _plain_columns_are_right(table, number)
    shapes: dict[tuple[int, int], list[int]] = {}
    for place, matrix in enumerate(matrices):
        if matrix is not None and matrix.outcomes is None:
            shapes.setdefault(matrix.shape, []).append(place)
    judged = np.zeros(len(owner), np.bool_)
    for places in shapes.values():
        position = np.full(len(games), -1)
        position[places] = np.arange(len(places))
        rows = np.flatnonzero(right & (position[owner] >= 0))
        judged[rows] = _judge_rows(
            [one for place in places if (one := matrices[place])], position[owner[rows]], number[rows], table.take(rows)
        )
    sound = np.bincount(owner, minlength=len(games)) > 0
    sound[owner[~judged]] = False
    values = table["value"].to_pylist()
    for row in np.flatnonzero(sound[owner]).tolist():
        place = int(owner[row])
        matrix = matrices[place]
        if matrix is not None:
            yield place, Verdict(TABLE, int(number[row]), "proved", _proof(matrix, values[row]))


def _plain_columns_are_right(table: pa.Table, number: Integers) -> Flags:
    """Say of each row whether its index is right and it has no outcomes."""
    right = pc.equal(table["index"], pa.array(number))
    for name in ("win", "draw", "lose"):
        right = pc.and_(right, pc.is_null(table[name]))
    flags: Flags = pc.fill_null(right, False).to_numpy()  # noqa: FBT003
    return flags


def _judge_rows(games: Sequence[MatrixGame], game: Integers, number: Integers, table: pa.Table) -> Flags:
    """Say of each row whether it is plainly right.

    Parameters
    ----------
    games
        Of one shape, without outcomes.
    game, number
        `[rows]`, whose a row is, and its number among that game's rows.
    """
    m, n = games[0].shape
    a, scale, right = _in_integers(games, game)
    x, x_total, x_right = _read_mixtures(table["x"], m)
    y, y_total, y_right = _read_mixtures(table["y"], n)
    above, below, read = read_ratios(table["value"].combine_chunks())
    most = np.abs(a).max(axis=(1, 2), initial=1) * np.maximum(x_total, y_total).astype(np.float64) * below
    right &= x_right & y_right & read & (most < _MOST)
    right &= np.abs(above.astype(np.float64)) * scale * np.maximum(x_total, y_total) < _MOST
    right &= x_total.astype(np.float64) * np.append(x_total[:1], x_total[:-1]) < _MOST  # what `_falls` multiplies
    right &= y_total.astype(np.float64) * np.append(y_total[:1], y_total[:-1]) < _MOST
    keep = np.flatnonzero(right)
    if len(keep) < len(right):  # nothing is computed with numbers that could overflow
        again = table.take(keep)
        right[keep] = _judge_rows(games, game[keep], number[keep], again) if len(keep) else False
        return right
    earned, paid = np.einsum("rij,rj->ri", a, y), np.einsum("rij,ri->rj", a, x)
    right &= (earned * below[:, None] <= (above * scale * y_total)[:, None]).all(axis=1)
    right &= (paid * below[:, None] >= (above * scale * x_total)[:, None]).all(axis=1)
    right &= _falls(game, number, x, x_total, y, y_total)
    right &= _supports(x, games, game, "row_actions") == np.array(table["x_support"].to_pylist(), object)
    right &= _supports(y, games, game, "column_actions") == np.array(table["y_support"].to_pylist(), object)
    exact = np.maximum(np.abs(above), below) < _EXACT_FLOATS
    right &= exact & (table["value_float"].to_numpy() == above / below)
    return right


def _in_integers(games: Sequence[MatrixGame], game: Integers) -> tuple[Integers, Integers, Flags]:
    """Return `[rows, m, n]` payoffs times their common denominator, `[rows]` those, and which of them are short."""
    m, n = games[0].shape
    entries, scales = [], []
    for one in games:
        ratios = [entry.as_integer_ratio() for row in one.payoffs for entry in row]
        scale = lcm(*[below for _, below in ratios])
        whole = [above * (scale // below) for above, below in ratios]
        is_short = scale < 2**31 and max(map(abs, whole)) < 2**31
        entries.append(whole if is_short else [0] * (m * n))
        scales.append(scale if is_short else 0)
    scale_of = np.array(scales, np.int64)[game]
    return np.array(entries, np.int64).reshape(len(games), m, n)[game], np.maximum(scale_of, 1), scale_of > 0


def _read_mixtures(column: pa.ChunkedArray, actions: int) -> tuple[Integers, Integers, Flags]:
    """Return `[rows, actions]` weights, `[rows]` their sums, and which rows are mixtures with short numbers."""
    fits = pc.fill_null(pc.equal(pc.list_value_length(column), actions), False)  # noqa: FBT003
    lists = pc.if_else(fits, column, pa.scalar(["0"] * actions, column.type)).combine_chunks()
    above, below, read = (one.reshape(-1, actions) for one in read_ratios(lists.flatten()))
    total = np.ones(len(above), np.int64)
    right: Flags = np.logical_and.reduce(read & (above >= 0), axis=1)
    for place in range(actions):
        step = below[:, place] // np.gcd(total, below[:, place])
        right &= total.astype(np.float64) * step < _MOST
        total = np.where(right, total * np.where(right, step, 1), 1)
    right &= (above <= below).all(axis=1)
    weights = np.where(right[:, None], above, 0) * (total[:, None] // np.where(right[:, None], below, 1))
    right &= weights.astype(np.float64).sum(axis=1) < _MOST
    right &= weights.sum(axis=1) == total
    return weights, total, right


def _falls(game: Integers, number: Integers, *mixtures: Integers) -> Flags:
    """Say of each row whether it comes after the row before it, in falling order of x, then y, or is the first of its game."""
    x, x_total, y, y_total = mixtures
    differences = np.concatenate(
        [x[:-1] * x_total[1:, None] - x[1:] * x_total[:-1, None], y[:-1] * y_total[1:, None] - y[1:] * y_total[:-1, None]], axis=1
    )
    leading = differences[np.arange(len(differences)), (differences != 0).argmax(axis=1)] > 0
    follows = (game[1:] == game[:-1]) & (number[1:] == number[:-1] + 1)
    falls: Flags = np.concatenate([[True], leading & follows])[: len(game)] | (number == 0)
    return falls


def _supports(weights: Integers, games: Sequence[MatrixGame], game: Integers, names: str) -> Any:
    """Return `[rows]` texts: the names of the actions with a weight, joined."""
    texts: dict[tuple[tuple[str, ...], int], str] = {}
    bits = 1 << np.arange(weights.shape[1])
    said = []
    for mask, place in zip(((weights > 0) @ bits).tolist(), game.tolist(), strict=True):
        actions = getattr(games[place], names)
        text = texts.get((actions, mask))
        if text is None:
            text = texts[actions, mask] = "+".join(action for bit, action in enumerate(actions) if mask >> bit & 1)
        said.append(text)
    return np.array(said, object)
