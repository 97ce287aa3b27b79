"""How the values of columns are distributed over rows: what a `Histogram` shows, in the report and in MLflow's pictures.

Numbers are counted in bins of a round width, anything else (and several columns, joined) value by value, the most frequent
first (whole numbers, if they are few, in their order). Everything is done in whole columns: a million rows take a fraction of a
second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BINS = 36
_WHOLE = 60
_BARS = 30
_RELATIVE = 1e-12


@dataclass(frozen=True, slots=True)
class Bins:
    """Bar `i` counts the numbers from `(first + i) * step` up to, but without, the next bar's; if `whole` they are integers.

    `left_out` rows have no finite number.
    """

    first: int
    step: float
    counts: tuple[int, ...]
    whole: bool
    left_out: int = 0

    @property
    def single(self) -> bool:
        """Say whether each bar is one value."""
        return self.whole and self.step == 1

    def edge(self, bar: int) -> float:
        """Return where a bar begins, and the one before it ends."""
        return (self.first + bar) * self.step

    def text(self, bar: int) -> str:
        """Say what a bar counts."""
        if self.single:
            return plain(self.edge(bar))
        if self.whole:
            return f"{plain(self.edge(bar))} to {plain(self.edge(bar + 1) - 1)}"
        return f"from {plain(self.edge(bar))} up to {plain(self.edge(bar + 1))}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The most frequent values, one part for each column, and their counts; `others` rows have one of `further` more."""

    values: tuple[tuple[Any, ...], ...]
    counts: tuple[int, ...]
    others: int = 0
    further: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers in a few numbers; `deviation` is the standard deviation (0 of a single number)."""

    count: int
    mean: float
    deviation: float
    least: float
    median: float
    greatest: float

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return self.deviation / math.sqrt(self.count)


def summary(values: npt.NDArray[np.float64]) -> Summary | None:
    """Sum up the finite ones of these numbers; None if there are none.

    Examples
    --------
    >>> summary(np.array([1.0, 1.0, 4.0]))
    Summary(count=3, mean=2.0, deviation=1.7320508075688772, least=1.0, median=1.0, greatest=4.0)
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the end of float64 the deviation may be infinite
        deviation = float(finite.std(ddof=1)) if len(finite) > 1 else 0.0
        mean, median = float(finite.mean()), float(np.median(finite))
    return Summary(len(finite), mean, deviation, float(finite.min()), median, float(finite.max()))


def parts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return how many parts, joined by "+", each text has."""
    return pc.add(pc.count_substring(column, "+"), 1)


def distribution(columns: Sequence[pa.ChunkedArray]) -> Bins | Ranking | None:
    """Count the values of these columns, all equally long; None if there is nothing to count."""
    if not columns or not len(columns[0]):
        return None
    kind = columns[0].type
    if len(columns) == 1 and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return bins(np.asarray(columns[0].cast(pa.float64(), safe=False).to_numpy(), np.float64))
    return _ranking(columns)


def bins(values: npt.NDArray[np.float64]) -> Bins | Ranking | None:
    """Count numbers in some tens of bins, integers that are close together one by one; None if none is finite.

    A single value is ranked: it has no bins.

    Examples
    --------
    >>> bins(np.array([1.0, 1.0, 3.0]))
    Bins(first=1, step=1.0, counts=(2, 0, 1), whole=True, left_out=0)
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    left_out = len(values) - len(finite)
    if low == high:
        counted = {(low,): len(finite)} | ({(None,): left_out} if left_out else {})
        return Ranking(tuple(counted), tuple(counted.values()))
    whole = bool((finite == np.floor(finite)).all())
    step = 1.0 if whole and high - low < _WHOLE else _round_step(max(high / _BINS - low / _BINS, max(-low, high) * _RELATIVE))
    step = max(1.0, step) if whole else step
    places = _places(finite, step)
    first = places.min()
    counts = np.bincount((places - first).astype(np.int64))
    return Bins(int(first), step, tuple(counts.tolist()), whole, left_out)


def recounted(given: Bins, values: npt.NDArray[np.float64]) -> Bins:
    """Count some of the numbers that made these bins in the same bins."""
    finite = values[np.isfinite(values)]
    counts = np.bincount((_places(finite, given.step) - given.first).astype(np.int64), minlength=len(given.counts))
    return replace(given, counts=tuple(counts.tolist()), left_out=len(values) - len(finite))


def _places(finite: npt.NDArray[np.float64], step: float) -> npt.NDArray[np.float64]:
    places: npt.NDArray[np.float64] = np.floor(finite / step + 1e-9)  # 0.3 / 0.1 belongs to bin 3
    return places


def plain(value: float) -> str:
    """Return a bin's edge as people write it: 0.3, not 0.30000000000000004."""
    return f"{value:.12g}" if value else "0"


def _round_step(least: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    if least < 1e-300:  # noqa: PLR2004 (powers of ten below are not exact enough)
        return 1e-300
    power = 10.0 ** math.floor(math.log10(least))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= least), 10 * power)


def _ranking(columns: Sequence[pa.ChunkedArray]) -> Ranking:
    keys = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = _encodable(column).dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        codes = codes.astype(np.int64)
        _, keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    if len(order) <= _BARS and all(pa.types.is_integer(column.type) for column in columns):
        order = np.lexsort([column.take(pa.array(first)).to_numpy() for column in reversed(columns)])
    shown = order[:_BARS]
    rows = pa.array(first[shown])
    values = zip(*(column.take(rows).to_pylist() for column in columns), strict=True)
    rest = counts[order[_BARS:]]
    return Ranking(tuple(values), tuple(counts[shown].tolist()), int(rest.sum()), len(rest))


def _encodable(column: pa.ChunkedArray) -> pa.Array:
    """Return a column whose equal values are equal and can be encoded: lists become text."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    kind = whole.type
    if not pa.types.is_nested(kind):
        return whole
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type) and not whole.flatten().null_count:
        return pc.binary_join(whole, "\x1f")
    return pa.array([repr(value) for value in whole.to_pylist()], pa.string())
