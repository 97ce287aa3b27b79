"""Simple PNG pictures of a sweep's tables, for viewers that show images only (MLflow's). The report draws its own.

Tables say how they want to be drawn (`solvers.schema`); each kind of picture is one function here. Large tables are drawn from
their first rows, many lines from the first points: a glance, not a result. Matplotlib is imported when something is drawn, and
without its pyplot, so no backend is chosen for anybody else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pipeline.distribution import Bins, Ranking, bins, distribution
from pipeline.report.findings import findings_of, points_of
from pipeline.report.groups import FEWEST_POINTS, groups_of
from pipeline.report.histogram import Values, values_of
from pipeline.store import SweepDir, parameter_values, ranks, spans, table_files, varies
from solvers.schema import Curve, HeatMap, Histogram, Picture, Strip

_ROWS = 300_000
_LINES = 24
_STRIPS = 4
_STRIP_ROWS = 60
_LEGEND = 12
_AXIS_LABELS = 12
_AXIS_VALUES = 2000
_CATEGORIES = 12


def draw_pictures(sweep: SweepDir, folder: Path) -> Iterator[Path]:
    """Draw what the tables of a sweep ask for and yield the files, `TABLE.png`, `TABLE_2.png`, ...

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    for name in sweep.table_names:
        for index, picture in enumerate(sweep.info(name).pictures):
            path = folder / (f"{name}_{index + 1}.png" if index else f"{name}.png")
            if _draw(sweep, name, picture, path):
                yield path


def point_labels(sweep: SweepDir, points: Sequence[str]) -> dict[str, str]:
    """Return a short text for each of some points: the parameters in which they, or else all, differ."""
    rows = sweep.brief.take(pc.index_in(pa.array(points, pa.string()), value_set=_hashes(sweep)))
    differ = [name for name in sweep.varied if varies(rows[name])] or sweep.varied
    columns = {short: parameter_values(rows, name) for name, short in short_names(differ).items()}
    texts = [
        " ".join(f"{name}={column[place]}" for name, column in columns.items() if column[place] is not None)
        for place in range(len(points))
    ]
    return {point: text or point[:8] for point, text in zip(points, texts, strict=True)}


def short_names(names: Sequence[str], taken: Sequence[str] = ()) -> dict[str, str]:
    """Return a name without dots for each dotted name: its last word, all of them where that is ambiguous or taken."""
    words = [name.rpartition(".")[2] for name in names]
    clash = {word for word in words if words.count(word) > 1}.union(taken)
    return {name: name.replace(".", " ") if word in clash else word for name, word in zip(names, words, strict=True)}


def _hashes(sweep: SweepDir) -> pa.Array:
    return sweep.brief["point"].combine_chunks().cast(pa.string())


def _draw(sweep: SweepDir, name: str, picture: Picture, path: Path) -> bool:
    from matplotlib.figure import Figure  # noqa: PLC0415 (costs a second)

    figure = Figure(figsize=(8, 5), dpi=120, layout="constrained")
    drawn = _KINDS[type(picture)](sweep, name, picture, figure)
    if drawn:
        figure.suptitle(picture.title or name)
        figure.savefig(path, format="png", metadata={"Software": None})
    return drawn


def _first_rows(sweep: SweepDir, name: str, columns: tuple[str, ...]) -> pa.Table:
    data = ds.dataset([str(path) for path in table_files(sweep.root, name)], format="parquet")
    return data.head(_ROWS, columns=list(dict.fromkeys(("point", *columns))))


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


# ---- curves ------------------------------------------------------------------------------------------------------------------


def _curve(sweep: SweepDir, name: str, picture: Curve, figure: Any) -> bool:
    table = _first_rows(sweep, name, (picture.x, *picture.y, *picture.by))
    axes = figure.subplots()
    found = list(spans(table["point"]).items())[:_LINES]
    labels, lines = point_labels(sweep, [point for point, _ in found]), 0
    for point, runs in found:
        rows = pa.concat_tables([table.slice(start, stop - start) for start, stop in runs])
        for values in _groups(rows, picture.by):
            part = rows
            for key, value in values.items():
                part = part.filter(pc.equal(part[key], value))
            for y in picture.y if lines < _LINES else ():
                said = [labels[point], *(f"{key}={value}" for key, value in values.items())]
                said += [y] if len(picture.y) > 1 else []
                axes.plot(_numbers(part[picture.x]), _numbers(part[y]), label=" ".join(said), linewidth=1.2)
                lines += 1
    axes.set(
        xlabel=picture.x,
        ylabel=", ".join(picture.y),
    )
    if picture.log_x:
        axes.set_xscale("log", nonpositive="mask")
    if picture.log_y:
        axes.set_yscale("log", nonpositive="mask")
    axes.grid(alpha=0.3)
    if 1 < lines <= _LEGEND:
        axes.legend(fontsize=8)
    return lines > 0


def _groups(rows: pa.Table, by: tuple[str, ...]) -> list[dict[str, Any]]:
    if not by:
        return [{}]
    groups: list[dict[str, Any]] = rows.group_by(list(by), use_threads=False).aggregate([]).to_pylist()
    return [group for group in groups if None not in group.values()]


# ---- heat maps ---------------------------------------------------------------------------------------------------------------


def _heat_map(sweep: SweepDir, name: str, picture: HeatMap, figure: Any) -> bool:
    table = _first_rows(sweep, name, picture.value)
    places, first = np.unique(np.asarray(ranks(table["point"], _hashes(sweep))), return_index=True)
    table, points = table.take(pa.array(first)), sweep.brief.take(pa.array(places))
    counts = {one: pc.count_distinct(points[one]).as_py() for one in sweep.varied}
    widest = sorted((one for one in counts if counts[one] > 1), key=lambda one: (-counts[one], "." not in one))
    if len(widest) < 2 or counts[widest[0]] > _AXIS_VALUES:  # noqa: PLR2004 (a map has two axes)
        return False
    x, y = sorted(widest[:2])
    there = pc.and_(pc.is_valid(points[x]), pc.is_valid(points[y]))  # other games may lack the parameter
    table, points = table.filter(there), points.filter(there)
    values, categories = _shades(table.select(list(picture.value)))
    (across, x_values), (up, y_values) = _axis(points[x]), _axis(points[y])
    grid = np.full((len(y_values), len(x_values)), np.nan)
    grid[up, across] = values
    axes = figure.subplots()
    image = axes.imshow(grid, origin="lower", aspect="auto", interpolation="nearest", cmap="tab20" if categories else "viridis")
    for ticks, labels, texts in (
        (axes.set_xticks, axes.set_xticklabels, x_values),
        (axes.set_yticks, axes.set_yticklabels, y_values),
    ):
        shown = np.unique(np.linspace(0, len(texts) - 1, _AXIS_LABELS).round().astype(int))
        ticks(shown)
        labels([texts[place] for place in shown])
    axes.set(xlabel=x, ylabel=y)
    if categories:
        image.set_clim(-0.5, len(categories) - 0.5)
        shown = np.arange(min(len(categories), _CATEGORIES))
        bar = figure.colorbar(image, ax=axes, boundaries=np.arange(len(categories) + 1) - 0.5, ticks=shown)
        bar.set_ticklabels([categories[place][:30] for place in shown])
    else:
        figure.colorbar(image, ax=axes)
    return True


def _axis(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Return each point's place on an axis and the axis' texts, in numerical order where all are numbers."""
    encoded = column.combine_chunks().cast(pa.string()).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=_keys(texts).__getitem__)
    place = np.empty(len(texts), dtype=np.int64)
    place[order] = np.arange(len(texts))
    return place[np.asarray(encoded.indices)], [texts[one] for one in order]


def _keys(texts: list[str]) -> list[Any]:
    try:
        return [Fraction(text) for text in texts]
    except (ValueError, ZeroDivisionError):
        return texts


def _shades(table: pa.Table) -> tuple[np.ndarray, list[str]]:
    """Return a number for each row, and the names of these numbers if they are categories."""
    if table.num_columns == 1 and _is_number(table.schema.types[0]):
        return _numbers(table[0]), []
    texts = [one.cast(pa.string()).fill_null("") for one in table.columns]
    encoded = pc.binary_join_element_wise(*texts, " ").combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices, dtype=np.float64), encoded.dictionary.to_pylist()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


# ---- strips ------------------------------------------------------------------------------------------------------------------


def _strip(sweep: SweepDir, name: str, picture: Strip, figure: Any) -> bool:
    table = _first_rows(sweep, name, (picture.index, picture.value))
    lengths = _row_lengths(sweep, picture)
    found = list(spans(table["point"]).items())[:_STRIPS]
    if not found:
        return False
    labels = point_labels(sweep, [point for point, _ in found])
    for axes, (point, runs) in zip(np.atleast_1d(figure.subplots(1, len(found))), found, strict=True):
        length = lengths.get(point) or picture.row_length
        rows = pa.concat_tables([table.slice(start, stop - start) for start, stop in runs])
        index = rows[picture.index].cast(pa.int64()).to_numpy()
        inside = (index >= 0) & (index < length * _STRIP_ROWS)
        shades, _ = _shades(rows.select([picture.value]))
        grid = np.full((int(index[inside].max(initial=0)) // length + 1) * length, np.nan)
        grid[index[inside]] = shades[inside]
        axes.imshow(grid.reshape(-1, length), aspect="auto", interpolation="nearest", cmap="viridis")
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_title(labels[point][:40], fontsize=8)
        axes.set(xlabel=f"{picture.index} mod {length}", ylabel=f"{picture.index} // {length}")
    return True


def _row_lengths(sweep: SweepDir, picture: Strip) -> Mapping[str, int]:
    table, _, column = picture.row_length_from.partition(".")
    if table not in sweep.table_names:
        return {}
    rows = _first_rows(sweep, table, (column,))
    pairs = zip(rows["point"].to_pylist(), rows[column].to_pylist(), strict=True)
    return {point: int(length) for point, length in pairs if length}


# ---- histograms --------------------------------------------------------------------------------------------------------------


def _histogram(sweep: SweepDir, name: str, picture: Histogram, figure: Any) -> bool:
    """Draw a histogram for each group of points, as the report does: see there."""
    points = points_of(sweep)
    findings = findings_of(sweep, name, points, None)
    if len(findings.owners) < FEWEST_POINTS:
        return False
    groups = groups_of(points, findings.owners)
    counted = ((groups.label(group), _counted(values_of(picture, findings, group.points))) for group in groups.groups)
    drawn = [(label, found) for label, found in counted if found is not None]
    if not drawn:
        return False
    across = math.ceil(math.sqrt(len(drawn)))
    figure.set_size_inches(8 if across == 1 else 3.2 * across, 5 if across == 1 else 2.6 * math.ceil(len(drawn) / across))
    grid = figure.subplots(math.ceil(len(drawn) / across), across, squeeze=False).ravel()
    for axes, (label, found) in zip(grid, drawn, strict=False):
        axes.set_title(label.replace("$", r"\$"), fontsize=8)
        _bars(axes, found, picture)
    for axes in grid[len(drawn) :]:
        axes.set_axis_off()
    return True


def _counted(values: Values) -> Bins | Ranking | None:
    return bins(values) if isinstance(values, np.ndarray) else distribution(values)


def _bars(axes: Any, found: Bins | Ranking, picture: Histogram) -> None:
    noun = "points" if picture.per_point or picture.once else "rows"
    if isinstance(found, Bins):
        places = np.arange(len(found.counts))
        if found.single:
            axes.bar(places + found.first, found.counts)
            axes.xaxis.get_major_locator().set_params(integer=True)
        else:
            edges = np.array([found.edge(bar) for bar in range(len(places))])
            axes.bar(edges, found.counts, width=0.95 * found.step, align="edge")
        axes.set(xlabel=", ".join(picture.value) or picture.title or "rows of a point", ylabel=noun)
        return
    texts = (" ".join("none" if part is None else str(part) for part in value) for value in found.values)
    axes.barh(np.arange(len(found.counts)), found.counts)
    axes.set_yticks(np.arange(len(found.counts)), [text[:30].replace("$", r"\$") for text in texts], fontsize=7)
    axes.invert_yaxis()
    axes.set(xlabel=f"{noun} (and {found.others} with one of {found.further} other values)" if found.others else noun)


_KINDS: Mapping[type, Callable[[SweepDir, str, Any, Any], bool]] = {
    Curve: _curve,
    HeatMap: _heat_map,
    Strip: _strip,
    Histogram: _histogram,
}
