"""Rows of `equilibria` for thousands of games at once: the same cells as `tables.equilibria_table` makes, column by column.

The text of a hundred thousand games costs more than finding their equilibria, so Arrow writes the numbers: some 4 us a game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from solvers.equilibrium.tables import EQUILIBRIA, Equilibrium, mean
from solvers.forms import MatrixGame, Outcomes
from solvers.schema import exact

_EXACT_FLOATS = 2**53

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ExtremeStrategies:
    """Extreme optimal strategies of some zero-sum games of one shape, m x n.

    Attributes
    ----------
    x, y
        `[all x, m]` and `[all y, n]`, game after game, within a game in falling order: nonnegative weights, int64 or Python's
        integers (dtype object).
    x_counts, y_counts
        `[games]`, how many each game has: at least 1.
    value
        `[games, 2]`, above and below the line, below positive.
    """

    x: Array
    x_counts: npt.NDArray[np.int64]
    y: Array
    y_counts: npt.NDArray[np.int64]
    value: Array


def extreme_pairs_table(games: Sequence[MatrixGame], places: Sequence[int], found: ExtremeStrategies) -> pa.Table:
    """Return `equilibria` of these games, every x with every y, with `batch_index` (from `places`) in front."""
    counts = found.x_counts * found.y_counts
    game = np.repeat(np.arange(len(games)), counts)
    index = np.arange(len(game)) - np.repeat(np.cumsum(counts) - counts, counts)
    x = (np.cumsum(found.x_counts) - found.x_counts)[game] + index // found.y_counts[game]
    y = (np.cumsum(found.y_counts) - found.y_counts)[game] + index % found.y_counts[game]
    rows = [one.row_actions for one, count in zip(games, found.x_counts.tolist(), strict=True) for _ in range(count)]
    columns = [one.column_actions for one, count in zip(games, found.y_counts.tolist(), strict=True) for _ in range(count)]
    values = found.value[:, 0], found.value[:, 1]
    cells = {
        "batch_index": pa.array(np.asarray(places, np.int32)[game]),
        "index": pa.array(index.astype(np.int32)),
        "value": ratio_texts(*values).take(game),
        "x": _mixture_texts(found.x).take(x),
        "y": _mixture_texts(found.y).take(y),
        "x_support": _support_texts(found.x, rows).take(x),
        "y_support": _support_texts(found.y, columns).take(y),
        "value_float": _floats(*values).take(game),
        **_outcomes([games[place].outcomes for place in game.tolist()], found, x, y),
    }
    schema = EQUILIBRIA.insert(0, pa.field("batch_index", pa.int32()))
    return pa.table([cells[name] for name in schema.names], schema=schema)


def ratio_texts(above: Array, below: Array) -> pa.Array:
    """Return exact text of ratios, below positive.

    Examples
    --------
    >>> ratio_texts(np.array([2, -3, 0]), np.array([4, 3, 5])).to_pylist()
    ['1/2', '-1', '0']
    """
    divisor = np.gcd(above, below)
    above, below = above // divisor, below // divisor
    if above.dtype == object:
        pairs = zip(above.tolist(), below.tolist(), strict=True)
        return pa.array([str(p) if q == 1 else f"{p}/{q}" for p, q in pairs], pa.string())
    whole = pa.array(above).cast(pa.string())
    return pc.if_else(pa.array(below == 1), whole, pc.binary_join_element_wise(whole, pa.array(below).cast(pa.string()), "/"))


def _mixture_texts(weights: Array) -> pa.Array:
    count, actions = weights.shape
    texts = ratio_texts(weights.ravel(), np.repeat(weights.sum(axis=1), actions))
    return pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32) * actions), texts)


def _support_texts(weights: Array, names: Sequence[tuple[str, ...]]) -> pa.Array:
    """Return the names of the actions that each mixture plays; few differ, so each text is made once."""
    known: dict[tuple[str, ...], dict[int, str]] = {}
    masks = ((weights > 0).astype(np.int64) @ (1 << np.arange(weights.shape[1]))).tolist()
    texts = []
    for mask, actions in zip(masks, names, strict=True):
        mine = known.get(actions)
        if mine is None:
            mine = known[actions] = {}
        text = mine.get(mask)
        if text is None:
            text = mine[mask] = "+".join(action for place, action in enumerate(actions) if mask >> place & 1)
        texts.append(text)
    return pa.array(texts, pa.string())


def _floats(above: Array, below: Array) -> pa.Array:
    """Return the ratios, rounded to nearest; null beyond float64."""
    if above.dtype != object and max(int(np.abs(above).max()), int(below.max())) < _EXACT_FLOATS:
        return pa.array(above / below)
    return pa.array([_nearest(p, q) for p, q in zip(above.tolist(), below.tolist(), strict=True)], pa.float64())


def _nearest(above: int, below: int) -> float | None:
    try:
        return above / below  # rounded once, whatever their size
    except OverflowError:
        return None


def _outcomes(parts: Sequence[Outcomes | None], found: ExtremeStrategies, x: Array, y: Array) -> dict[str, pa.Array]:
    names = ("win", "draw", "lose")
    if not any(parts):
        return {name: pa.nulls(len(parts), pa.string()) for name in names}
    played = [Equilibrium(tuple(one), tuple(two)) for one, two in zip(found.x[x].tolist(), found.y[y].tolist(), strict=True)]
    return {
        name: pa.array(
            [exact(mean(getattr(part, name), pair)) if part else None for part, pair in zip(parts, played, strict=True)],
            pa.string(),
        )
        for name in names
    }
