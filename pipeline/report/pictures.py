"""From findings to the data of their pictures, thinned to what an eye and a page can take.

The drawing itself is done in the browser, by `assets/curve.js`, `heatmap.js` and `strip.js`; what is left out is said in `notes`.
Histograms are few bars and come drawn, see `histogram.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.report.findings import Findings, Integers, Parameter, Points, as_float, as_number
from pipeline.report.markup import cell_text, number, plural, setting_text, shortened
from solvers.schema import Curve, HeatMap, Strip

Data = dict[str, Any]
Floats = npt.NDArray[np.float64]

_LINES = 120
_STEPS = 300
_GRID = 30_000
_CATEGORIES = 8
_STRIPS = 24
_CELLS = 600
_PERIOD_ROWS = 4
_LONGEST_ROW = 400


class OtherTables(Protocol):
    """Gives another table of the same sweep, None if there is none."""

    def __call__(self, name: str) -> Findings | None: ...


def picture_data(picture: Curve | HeatMap | Strip, findings: Findings, points: Points, other: OtherTables) -> Data | str:
    """Return what the browser needs to draw a picture, or why there is nothing to draw."""
    data: Data | str
    if not len(findings.table):
        return "There are no rows."
    if isinstance(picture, Curve):
        data = _curve(picture, findings, points, other)
    elif isinstance(picture, HeatMap):
        data = _heat_map(picture, findings, points)
    else:
        data = _strip(picture, findings, points, other)
    return data if isinstance(data, str) else {"kind": type(picture).__name__, **data}


def _numbers(column: Any) -> Floats:
    """Return a column as floats, exact text included; what is no number becomes nan."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        floats: Floats = column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64)
        return floats
    return np.array([as_float(value) for value in column.to_pylist()], np.float64)


def _short(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _evenly(count: int, wanted: int, *, log: bool = False) -> Integers:
    """Return at most `wanted` of the places 0..count-1, both ends in; growing steps if `log`."""
    if count <= wanted:
        return np.arange(count)
    places = np.geomspace(1, count, wanted) - 1 if log else np.linspace(0, count - 1, wanted)
    return np.unique(np.rint(places).astype(np.int64))


# ---- curves ------------------------------------------------------------------------------------------------------------------


def _curve(picture: Curve, findings: Findings, points: Points, other: OtherTables) -> Data | str:
    keys, groups = _line_keys(picture, findings)
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(keys))
    notes = []
    chosen = _evenly(groups, max(1, _LINES // len(picture.y)))
    if len(chosen) < groups:
        notes.append(f"{number(len(chosen))} of {number(groups)} lines are drawn, evenly chosen.")
    rows = [order[ends[line - 1] if line else 0 : ends[line]] for line in chosen.tolist()]
    longest = max(len(one) for one in rows)
    rows = [one[_evenly(len(one), _STEPS, log=picture.log_x)] for one in rows]
    if longest > _STEPS:
        notes.append(f"At most {_STEPS} of up to {number(longest)} steps of a line are drawn.")
    data = _lines(picture, findings, points, rows, _Clock(other("progress") if picture.timed else None))
    return data if isinstance(data, str) else {**data, "notes": notes}


class _Clock:
    """How long each point had taken when so much was done, as its `Progress` was stamped."""

    def __init__(self, progress: Findings | None) -> None:
        self._stamps: dict[int, tuple[Floats, Floats]] = {}
        if progress is None or not len(progress.table):
            return
        done, elapsed = _numbers(progress.table["done"]), _numbers(progress.table["elapsed_s"])
        order = np.lexsort((elapsed, done, progress.owner))
        owners, first = np.unique(progress.owner[order], return_index=True)
        for owner, rows in zip(owners.tolist(), np.split(order, first[1:]), strict=True):
            self._stamps[owner] = done[rows], elapsed[rows]

    def __bool__(self) -> bool:
        return bool(self._stamps)

    def seconds(self, owner: int, steps: Floats) -> list[float | None]:
        """Return the seconds at each step, between two stamps in proportion; None where nothing was stamped."""
        if owner not in self._stamps:
            return [None] * len(steps)
        done, elapsed = self._stamps[owner]
        return [_short(value) for value in np.interp(steps, done, elapsed, np.nan, np.nan).tolist()]


def _line_keys(picture: Curve, findings: Findings) -> tuple[Integers, int]:
    """Number the lines in order of first appearance: one for each point and each value of the `by` columns."""
    keys = findings.owner
    for name in picture.by:
        column = findings.table[name].combine_chunks()
        if pa.types.is_nested(column.type):
            column = pa.array([cell_text(value) for value in column.to_pylist()])
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False).astype(np.int64)
        keys = keys * (int(codes.max()) + 1) + codes
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse], len(first)


def _lines(picture: Curve, findings: Findings, points: Points, rows: Sequence[Integers], clock: _Clock) -> Data | str:
    taken = findings.table.select(sorted({picture.x, *picture.y, *picture.by})).take(pa.array(np.concatenate(rows)))
    x, ys = _numbers(taken[picture.x]), {name: _numbers(taken[name]) for name in picture.y}
    by = {name: [cell_text(value) for value in taken[name].to_pylist()] for name in picture.by}
    owners = findings.owner[[one[0] for one in rows]]
    varied = points.varied(np.unique(owners))
    shared: dict[bytes, int] = {}
    xs: list[list[float | None]] = []
    seconds: list[list[float | None]] = []
    lines = []
    start = 0
    for one, owner in zip(rows, owners.tolist(), strict=True):
        stop = start + len(one)
        sort = np.argsort(x[start:stop], kind="stable")
        steps = x[start:stop][sort]
        key = steps.tobytes() + (owner.to_bytes(8) if clock else b"")
        place = shared.setdefault(key, len(xs))
        if place == len(xs):
            xs.append([_short(value) for value in steps.tolist()])
            if clock:
                seconds.append(clock.seconds(owner, steps))
        said = [column[start] for column in by.values()] + [parameter.text(owner) for parameter in varied]
        for name, y in ys.items():
            if np.isfinite(y[start:stop]).any():
                lines.append([place, [name, *said], [_short(value) for value in y[start:stop][sort].tolist()]])
        start = stop
    if not lines:
        return f"No value of {', '.join(picture.y)} is a number."
    return {
        "title": picture.title or f"{', '.join(picture.y)} over {picture.x}",
        "x": picture.x,
        "y": ", ".join(picture.y),
        "log": [picture.log_x, picture.log_y],
        **_differing(["column", *by, *(one.name for one in varied)], lines),
        "xs": xs,
        **({"seconds": seconds} if any(value is not None for one in seconds for value in one) else {}),
    }


def _differing(names: list[str], lines: list[list[Any]]) -> Data:
    """Keep the labels in which lines differ."""
    kept = [place for place in range(len(names)) if len({line[1][place] for line in lines}) > 1]
    return {
        "labels": [names[place] for place in kept],
        "lines": [[x, [shortened(said[place]) for place in kept], y] for x, said, y in lines],
    }


# ---- heat maps ---------------------------------------------------------------------------------------------------------------


def _heat_map(picture: HeatMap, findings: Findings, points: Points) -> Data | str:
    owners, rows, counts = findings.firsts()
    varied = points.varied(owners)
    axes = _axes(varied, owners)
    if axes is None:
        return "A map needs two swept numbers; this sweep varied fewer."
    x, y = (_Axis(one, owners) for one in axes)
    notes = []
    step = max(1, math.ceil(math.sqrt(len(x.codes) * len(y.codes) / _GRID)))
    if step > 1:
        notes.append(f"Every {step}th value of each parameter is drawn.")
        x.thin(step)
        y.thin(step)
    inside = (x.place[owners] >= 0) & (y.place[owners] >= 0)
    owners, rows, counts = owners[inside], rows[inside], counts[inside]
    selectors = [one for one in points.varied(owners) if one.name not in (x.name, y.name)]
    texts, numbers, cells = _values(picture, findings, rows)
    layers: dict[tuple[int, ...], Data] = {}
    room = max(1, _GRID // (len(x.codes) * len(y.codes)))
    left_out = 0
    codes = np.stack([one.codes[owners] for one in selectors], axis=1).tolist() if selectors else [[]] * len(owners)
    grid = (y.place[owners] * len(x.codes) + x.place[owners]).tolist()
    for place, key, value, count in zip(grid, map(tuple, codes), cells, counts.tolist(), strict=True):
        if key not in layers and len(layers) == room:
            left_out += 1
            continue
        layer = layers.setdefault(key, {"cells": [-1] * (len(x.codes) * len(y.codes)), "several": []})
        layer["cells"][place] = value
        if count > 1:
            layer["several"].append([place, count])
    if left_out:
        notes.append(f"{plural(len(layers), 'map')} are here; {plural(left_out, 'further point')} would be on others.")
    names = _selector_values(selectors, layers)
    return {
        "title": picture.title or f"{', '.join(picture.value)} over {x.name} and {y.name}",
        "value": ", ".join(picture.value),
        "x": {"name": x.name, "values": x.texts},
        "y": {"name": y.name, "values": y.texts},
        "selectors": [
            {"name": one.name, "values": [text for _, text in named]} for one, named in zip(selectors, names, strict=True)
        ],
        "layers": {
            ",".join(str([code for code, _ in named].index(code)) for code, named in zip(key, names, strict=True)): layer
            for key, layer in layers.items()
        },
        "texts": texts,
        "numbers": numbers,
        "notes": notes,
    }


def _axes(varied: Sequence[Parameter], owners: Integers) -> tuple[Parameter, Parameter] | None:
    """Choose the two numbers with the most values, a seed only if there is nothing else; first in name order is across."""
    numeric = [one for one in varied if one.is_numeric(owners)]
    if len(numeric) < 2:  # noqa: PLR2004 (a map has two axes)
        return None

    def rank(one: Parameter) -> tuple[bool, int]:
        return one.name.rpartition(".")[2] == "seed", -len(np.unique(one.codes[owners]))

    first, second = sorted(numeric, key=rank)[:2]
    return (first, second) if varied.index(first) < varied.index(second) else (second, first)


class _Axis:
    """The values of a parameter in order; `place[i]` is where point `i` stands (-1: nowhere)."""

    def __init__(self, parameter: Parameter, owners: Integers) -> None:
        numbers = parameter.numbers
        used = [code for code in np.unique(parameter.codes[owners]).tolist() if numbers[code] is not None]
        self.name = parameter.name
        self._parameter = parameter
        self._settle(sorted(used, key=lambda code: numbers[code] or 0))

    def thin(self, step: int) -> None:
        self._settle(self.codes[::step])

    def _settle(self, codes: list[int]) -> None:
        self.codes = codes
        self.texts = [setting_text(self._parameter.values[code]) for code in codes]
        place_of = np.full(len(self._parameter.values), -1, np.int64)
        place_of[codes] = np.arange(len(codes))
        self.place = place_of[self._parameter.codes]


def _values(picture: HeatMap, findings: Findings, rows: Integers) -> tuple[list[str], list[float | None] | None, list[int]]:
    """Return the distinct values as text and, where shades suit them, as numbers; then which one each row has.

    Categories come with the most frequent first. Exact text counts as numbers where there are too many for categories.
    """
    columns = [findings.table[name].take(pa.array(rows)) for name in picture.value]
    lists = [column.to_pylist() for column in columns]
    texts = [" \u00b7 ".join(cell_text(value) or "none" for value in values) for values in zip(*lists, strict=True)]
    frequent = Counter(texts).most_common()
    number_of = {text: as_number(value) for text, value in zip(texts, lists[0], strict=True)} if len(lists) == 1 else {}
    is_text = pa.types.is_string(columns[0].type) or pa.types.is_large_string(columns[0].type)
    given = [one for one in number_of.values() if one is not None]
    shaded = bool(given) and (not is_text or (len(given) > _CATEGORIES and len(given) + ("none" in number_of) == len(number_of)))
    names = sorted(number_of, key=lambda text: number_of[text] or 0) if shaded else [text for text, _ in frequent]
    place = {text: index for index, text in enumerate(names)}
    numbers = [_short(as_float(number_of[text])) for text in names] if shaded else None
    return [shortened(text) for text in names], numbers, [place[text] for text in texts]


def _selector_values(selectors: Sequence[Parameter], layers: Mapping[tuple[int, ...], Data]) -> list[list[tuple[int, str]]]:
    """Return the values a reader may choose, for each selector: code and text, numbers in order."""
    found = []
    for index, one in enumerate(selectors):
        codes = sorted({key[index] for key in layers}, key=_natural(one))
        found.append([(code, shortened(cell_text(one.values[code])) or "none") for code in codes])
    return found


def _natural(parameter: Parameter) -> Callable[[int], tuple[bool, Any, str]]:
    def key(code: int) -> tuple[bool, Any, str]:
        value = parameter.numbers[code]
        return value is None, value or 0, cell_text(parameter.values[code])

    return key


# ---- strips ------------------------------------------------------------------------------------------------------------------


def _strip(picture: Strip, findings: Findings, points: Points, other: OtherTables) -> Data | str:
    owners = findings.owners
    varied = points.varied(owners)
    periods = _periods(picture, other)
    notes = []
    if len(owners) > _STRIPS:
        notes.append(f"The first {_STRIPS} of {plural(len(owners), 'sequence')} are here.")
    order = np.argsort(findings.owner, kind="stable")
    starts = np.searchsorted(findings.owner[order], owners[:_STRIPS])
    stops = np.searchsorted(findings.owner[order], owners[:_STRIPS], side="right")
    strips = []
    for owner, start, stop in zip(owners[:_STRIPS].tolist(), starts.tolist(), stops.tolist(), strict=True):
        one = _one_strip(picture, findings, order[start:stop], periods.get(owner))
        strips.append({"label": points.label(owner, varied), **one})
    return {
        "title": picture.title or f"{picture.value} by {picture.index}",
        "index": picture.index,
        "value": picture.value,
        "strips": strips,
        "notes": notes,
    }


def _periods(picture: Strip, other: OtherTables) -> dict[int, int]:
    """Return the row length that another table knows, by point."""
    table_name, _, column = picture.row_length_from.partition(".")
    source = other(table_name) if table_name else None
    if source is None or column not in source.table.schema.names or not len(source.table):
        return {}
    owners, rows, _ = source.firsts()
    found = source.table[column].take(pa.array(rows)).to_pylist()
    known = ((owner, as_number(value)) for owner, value in zip(owners.tolist(), found, strict=True))
    return {owner: int(value) for owner, value in known if value is not None and value >= 1}


def _one_strip(picture: Strip, findings: Findings, rows: Integers, period: int | None) -> Data:
    """Lay one sequence out: the first cells, and the next-to-last full row, from which exceptions differ."""
    index = _numbers(findings.table[picture.index].take(pa.array(rows)))
    order = np.argsort(index, kind="stable")
    rows, index = rows[order], index[order]
    known = np.isfinite(index)
    rows, index = rows[known], index[known]
    first, last = (int(index[0]), int(index[-1])) if len(index) else (0, -1)
    too_long = period is not None and period > _LONGEST_ROW
    length = period if period is not None and not too_long else picture.row_length
    shown = min(len(rows), max(_CELLS, _PERIOD_ROWS * length) // length * length or length)
    values = findings.table[picture.value]
    reference: list[Any] | None = None
    full = len(rows) // length
    contiguous = len(rows) == last - first + 1
    if period is not None and not too_long and full >= 2 and contiguous:  # noqa: PLR2004 (a next-to-last row)
        reference = _plain(values.take(pa.array(rows[(full - 2) * length : (full - 1) * length])))
    return {
        "first": first,
        "length": length,
        "total": len(rows),
        "at": None if contiguous else [int(one) - first for one in index[:shown].tolist()],
        "values": _plain(values.take(pa.array(rows[:shown]))),
        "reference": reference,
        "tooLong": period if too_long else None,
    }


def _plain(column: Any) -> list[Any]:
    return [value if isinstance(value, int) and not isinstance(value, bool) else cell_text(value) for value in column.to_pylist()]
