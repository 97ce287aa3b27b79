"""Judge the learning curves of thousands of small matrix games at once, a column at a time.

A curve passes here if it is plainly right by the rules of `curve`; nothing is said of any other, which is judged by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from solvers.contract import Verdict
from solvers.forms import GameTree, MatrixGame
from solvers.regret.check.boards import TOLERANCE
from solvers.regret.check.curve import LARGEST_GAMMA, RECOMPUTED, weights_between

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

TABLE = "curve"
_MEASURES = ("value_p1", "gain_p1", "gain_p2", "exploitability")
_NULLS = ("milli_antes", "pot_percent")
_MIXES = ("x", "y")
_TYPES = {
    "iteration": pa.int64(),
    "iterate": pa.string(),
    **dict.fromkeys((*_MEASURES, *_NULLS, "gamma"), pa.float64()),
    **dict.fromkeys(_MIXES, pa.list_(pa.float64())),
}
_MOST_NUMBERS = 20_000_000  # payoffs of all rows together; more are judged by parts


def check_curve_batch(games: Sequence[Any], tables: Mapping[str, pa.Table]) -> Iterator[tuple[int, Verdict]]:
    """Judge the rows of many games: yield each game's place and verdicts, none of a game whose rows are not all plainly right.

    Time: some 10 us a row of 3 x 3 games, a tenth of what `check_curve` takes.

    Parameters
    ----------
    games
        Games of any kind; those that give a `MatrixGame`, and no tree, are judged.
    tables
        `curve` with a first column `batch_index` that ascends: whose rows they are. May hold anything else.
    """
    table = tables.get(TABLE)
    if table is None or any(table.column_names.count(name) != 1 for name in _TYPES):
        return
    if any(table.schema.field(name).type != kind for name, kind in _TYPES.items()):
        return
    owner = table["batch_index"].to_numpy()
    count = np.bincount(owner, minlength=len(games))
    first = np.cumsum(count) - count
    plain = _in_order(table, owner, first, count)
    shapes: dict[tuple[int, int], list[tuple[int, Floats]]] = {}
    for place, game in enumerate(games):
        payoffs = _payoffs(game) if plain[place] else None
        if payoffs is not None:
            shapes.setdefault((payoffs.shape[0], payoffs.shape[1]), []).append((place, payoffs))
    for (m, n), group in shapes.items():
        rows = max(int(count[place]) for place, _ in group)
        step = max(1, _MOST_NUMBERS // (m * n * rows))
        for begin in range(0, len(group), step):
            part = group[begin : begin + step]
            for (place, _), sound in zip(part, _judge(table, part, first, count), strict=True):
                if sound:
                    yield from ((place, Verdict(TABLE, row, "recomputed", RECOMPUTED)) for row in range(int(count[place])))


def _payoffs(game: Any) -> Floats | None:
    gives = type(game).gives
    if MatrixGame not in gives or GameTree in gives:
        return None
    try:
        return np.array([[float(payoff) for payoff in row] for row in game.form(MatrixGame).payoffs])
    except OverflowError:
        return None


def _in_order(table: pa.Table, owner: Integers, first: Integers, count: Integers) -> Flags:
    """Say of each game whether its rows are last, average, last ... of ascending iterations from 1, with one gamma and no antes."""
    number = np.arange(len(owner)) - first[owner]
    wanted = pa.array(np.where(number % 2 == 0, "last", "average").astype(object), pa.string())
    right: Flags = pc.fill_null(pc.equal(table["iterate"], wanted), False).to_numpy()  # noqa: FBT003
    for name in _NULLS:
        right = right & pc.is_null(table[name]).to_numpy()
    right &= pc.is_valid(table["iteration"]).to_numpy()
    iteration = pc.fill_null(table["iteration"], 0).to_numpy()
    gamma = _numbers(table["gamma"])
    before = np.maximum(np.arange(len(owner)) - 1, 0)
    is_first = number == 0
    right &= np.where(
        is_first, iteration == 1, np.where(number % 2 == 0, iteration > iteration[before], iteration == iteration[before])
    )
    right &= is_first | (gamma == gamma[before]) | (np.isnan(gamma) & np.isnan(gamma[before]))
    right &= pc.is_null(table["gamma"]).to_numpy() | ((gamma >= 0) & (gamma <= LARGEST_GAMMA))
    sound = np.array((count > 0) & (count % 2 == 0))
    sound[owner[~right]] = False
    return sound


def _judge(table: pa.Table, part: Sequence[tuple[int, Floats]], first: Integers, count: Integers) -> Flags:
    """Say of each game whether all its rows' numbers are right, and its averages go on from each other."""
    places = np.array([place for place, _ in part])
    rows = np.concatenate([np.arange(first[place], first[place] + count[place]) for place in places])
    board = np.repeat(np.arange(len(part)), count[places])
    payoffs = np.array([one for _, one in part])
    taken = table.select(list(_TYPES)).take(pa.array(rows))
    m, n = payoffs.shape[1:]
    x, y = _lists(taken["x"], m), _lists(taken["y"], n)
    right = np.array(np.isfinite(np.hstack([x, y])).all(axis=1))
    x, y = np.where(right[:, None], x, 0.0), np.where(right[:, None], y, 0.0)
    for mix in (x, y):
        right &= (mix.min(1) >= 0) & (np.abs(mix.sum(1) - 1) <= TOLERANCE)
    earn, cost = np.einsum("rij,rj->ri", payoffs[board], y), np.einsum("rij,ri->rj", payoffs[board], x)
    value = (x * earn).sum(1)
    gains = earn.max(1) - value, value - cost.min(1)
    allowed = TOLERANCE * np.abs(payoffs).max(axis=(1, 2))[board]
    for name, number in zip(_MEASURES, (value, *gains, (gains[0] + gains[1]) / 2), strict=True):
        right &= np.abs(_numbers(taken[name]) - number) <= allowed  # false where nothing is stated
    sound = np.ones(len(part), np.bool_)
    sound[board[~right]] = False
    sound[board[1::2][~_goes_on(taken, board, np.hstack([x, y]))]] = False
    return sound


def _goes_on(taken: pa.Table, board: Integers, profiles: Floats) -> Flags:
    """Say of each average whether it can be a mean that goes on from the one before; all rows are in order."""
    iteration, gamma = taken["iteration"].to_numpy()[1::2], _numbers(taken["gamma"])[1::2]
    last, average = profiles[0::2], profiles[1::2]
    is_first = np.append(True, np.diff(board[1::2]) != 0)
    weight, own = _weights(iteration, gamma)
    total = weight[:, None] * average
    before = np.where(is_first[:, None], 0.0, np.roll(total, 1, axis=0))
    between = total - before - own[:, None] * last
    allowed = weight * (TOLERANCE + iteration * np.finfo(float).eps)
    next_one = iteration == np.where(is_first, 0, np.roll(iteration, 1)) + 1
    right: Flags = (between.min(1) >= -allowed) & (~next_one | (between.max(1) <= allowed)) & np.isfinite(weight)
    return right | np.isnan(gamma)


def _weights(iteration: Integers, gamma: Floats) -> tuple[Floats, Floats]:
    """Return for each average the weight of all iterations up to it, and that of the last."""
    pairs, place = np.unique(np.stack([np.nan_to_num(gamma), iteration.astype(np.float64)], axis=1), axis=0, return_inverse=True)
    sums = np.array([weights_between(0, int(t), float(g)) for g, t in pairs])
    with np.errstate(over="ignore"):
        own = pairs[:, 1] ** pairs[:, 0]
    return sums[place.reshape(-1)], own[place.reshape(-1)]


def _numbers(column: pa.ChunkedArray) -> Floats:
    """Return a column, NaN where it is null."""
    numbers: Floats = pc.fill_null(column, float("nan")).to_numpy()
    return numbers


def _lists(column: pa.ChunkedArray, size: int) -> Floats:
    """Return a column of lists as `[rows, size]`, NaN where a list is of another length."""
    fits = pc.fill_null(pc.equal(pc.list_value_length(column), size), False).to_numpy()  # noqa: FBT003
    numbers = np.full((len(column), size), np.nan)
    flat = pc.list_flatten(column.filter(pa.array(fits)))
    numbers[fits] = _numbers(flat).reshape(-1, size)
    return numbers
