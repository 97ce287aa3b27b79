"""Histograms as SVG, drawn here and not in the browser: a few dozen bars, whose counts a reader finds under the pointer.

Points in several groups (`pipeline.report.groups`) have a small histogram each, numbers over the same bins, so that they can be
compared, with a table of means and extremes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.distribution import Bins, Ranking, Summary, bins, distribution, parts_of, plain, recounted, summary
from pipeline.report.findings import Findings
from pipeline.report.groups import FEWEST_POINTS, Groups
from pipeline.report.markup import cell_text, escape, number, plural, shortened
from solvers.schema import Histogram

Values = npt.NDArray[np.float64] | list[pa.ChunkedArray]

_TOP, _BOTTOM = 10, 44
_ROW = 19
_LETTER = 6.6


@dataclass(frozen=True, slots=True)
class _Format:
    """How large a histogram is, in pixels, and how much is written on it."""

    width: int
    height: int
    left: int
    x_ticks: int
    y_ticks: int
    letters: int
    room_for_count: int
    rows: int
    says_count: bool


_LARGE = _Format(560, 250, 58, 9, 5, 30, 104, rows=30, says_count=True)
_SMALL = _Format(280, 180, 50, 5, 3, 16, 48, rows=10, says_count=False)
_RIGHT = 14


@dataclass(frozen=True, slots=True)
class Panel:
    """One histogram: of which points (markup-free, "" if of all), its SVG, and its numbers summed up."""

    label: str
    svg: str
    summary: Summary | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture's title, its histograms and what is to be said about them."""

    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def histogram(picture: Histogram, findings: Findings, groups: Groups) -> Drawn | None:
    """Draw how values are distributed; None where there are too few points (or no values) for that to mean anything.

    Values most of which are too rare for a bar of their own are not drawn, but counted in a note.
    """
    if len(findings.owners) < FEWEST_POINTS:
        return None
    title, what = picture.title or f"Distribution of {_what(picture)}", _what(picture)
    noun = "point" if picture.per_point or picture.once else "row"
    found = _counted(values_of(picture, findings, findings.owners))
    if found is None:
        return None
    form = _LARGE if len(groups.groups) == 1 else _SMALL
    panels = []
    for group in groups.groups:
        values = values_of(picture, findings, group.points)
        own = recounted(found, values) if isinstance(found, Bins) and isinstance(values, np.ndarray) else _counted(values)
        own = _cut(own, form.rows) if isinstance(own, Ranking) else own
        if own is None or (isinstance(own, Ranking) and own.others > sum(own.counts)):
            continue
        about = ", ".join(part for part in (title, groups.label(group)) if part)
        made = _columns(own, about, what, noun, form) if isinstance(own, Bins) else _bars(own, about, noun, form)
        panels.append(Panel(groups.label(group), made, summary(values) if isinstance(values, np.ndarray) else None))
    total = len(findings.owners) if noun == "point" else len(findings.table)
    return Drawn(title, tuple(panels), tuple(_notes(found, plural(total, noun), noun, panels, len(groups.groups))))


def values_of(picture: Histogram, findings: Findings, points: npt.NDArray[np.int64]) -> Values:
    """Return what a picture counts of some points: numbers, or columns of anything."""
    if picture.per_point:
        return np.bincount(findings.owner, minlength=int(points.max(initial=0)) + 1)[points].astype(np.float64)
    if picture.once:
        owners, rows, _ = findings.firsts()
        rows = rows[np.isin(owners, points)]
    else:
        rows = np.flatnonzero(np.isin(findings.owner, points))
    columns = [findings.table[name].take(pa.array(rows)) for name in picture.value]
    if picture.parts:
        columns = [parts_of(column) for column in columns]
    kind = columns[0].type
    if len(columns) == 1 and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return np.asarray(columns[0].cast(pa.float64(), safe=False).to_numpy(), np.float64)
    return columns


def _counted(values: Values) -> Bins | Ranking | None:
    return bins(values) if isinstance(values, np.ndarray) else distribution(values)


def _cut(found: Ranking, rows: int) -> Ranking:
    """Return a ranking of so many values; the rest are others."""
    rest = found.counts[rows:]
    return Ranking(found.values[:rows], found.counts[:rows], found.others + sum(rest), found.further + len(rest))


def _what(picture: Histogram) -> str:
    if picture.per_point:
        return picture.title or "rows of a point"
    return ", ".join(picture.value)


def _notes(found: Bins | Ranking, head: str, noun: str, panels: Sequence[Panel], groups: int) -> list[str]:
    notes = [f"{head}."]
    if isinstance(found, Bins):
        notes += [f"{plural(found.left_out, noun)} without a finite number left out."] if found.left_out else []
        if groups == 1 and panels and panels[0].summary is not None:
            notes.append(f"{said(panels[0].summary)}.")
        return notes
    notes = [f"{head}, {plural(len(found.values) + found.further, 'different value')}."]
    if len(panels) < groups:
        which = "Not drawn where" if panels else "Not drawn:"
        notes.append(f"{which} most of them are too rare for a bar.")
    return notes


def said(one: Summary) -> str:
    """Say a summary in a line."""
    spread = f"standard deviation {one.deviation:.4g}, median {one.median:.4g}"
    return f"Mean {one.mean:.4g}, {spread}, from {one.least:.4g} to {one.greatest:.4g}"


def _svg(width: int, height: float, label: str, parts: Sequence[str]) -> str:
    inner = "\n".join(parts)
    return f'<svg viewBox="0 0 {width} {height:g}" role="img" aria-label="{escape(label)}">\n{inner}\n</svg>'


def _said(text: str, count: int, total: int, noun: str) -> str:
    return f"<title>{escape(text)}: {plural(count, noun)} ({100 * count / total:.3g} %)</title>"


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


# ---- numbers: columns over an axis -------------------------------------------------------------------------------------------


def _columns(found: Bins, title: str, what: str, noun: str, form: _Format) -> str:
    across, down = form.width - form.left - _RIGHT, form.height - _TOP - _BOTTOM
    width = across / len(found.counts)
    total = sum(found.counts)
    step = _tick_step(max(found.counts), form.y_ticks)
    top = -(-max(found.counts) // step) * step
    base = _TOP + down
    parts = []
    for tick in range(0, top + 1, step):
        y = base - down * tick / top
        parts.append(f'<path class="rule" d="M{form.left} {y:.1f}h{across}"/>')
        parts.append(_text(form.left - 6, y + 4, number(tick), "end"))
    gap = min(2.0, 0.15 * width)
    for bar, count in enumerate(found.counts):
        if count:
            x, tall = form.left + bar * width, max(1.0, down * count / top)
            parts.append(
                f'<g class="column">{_said(found.text(bar), count, total, noun)}'
                f'<rect class="reach" x="{x:.2f}" y="{_TOP}" width="{width:.2f}" height="{down}"/>'
                f'<rect x="{x + gap / 2:.2f}" y="{base - tall:.2f}" width="{width - gap:.2f}" height="{tall:.2f}"/></g>'
            )
    parts.append(f'<path class="frame" d="M{form.left} {base}h{across}"/>')
    parts += [_text(form.left + place * width, base + 16, text, "middle") for place, text in _x_ticks(found, form.x_ticks)]
    parts.append(_text(form.left + across / 2, form.height - 8, what, "middle", "name"))
    middle = _TOP + down / 2
    parts.append(f'<text class="name" transform="translate(11 {middle:g}) rotate(-90)" text-anchor="middle">{noun}s</text>')
    label = f"{title}: {plural(total, noun)} in {plural(len(found.counts), 'bar')}"
    return _svg(form.width, form.height, label, parts)


def _x_ticks(found: Bins, ticks: int) -> list[tuple[float, str]]:
    """Return the places to label, in bars from the first: edges, or the middle of bars that are one value."""
    bars = len(found.counts)
    step = _tick_step(bars, ticks)
    shift, last = (0.5, bars - 1) if found.single else (0.0, bars)
    return [(bar + shift, plain(found.edge(bar))) for bar in range(-found.first % step, last + 1, step)]


def _tick_step(most: int, ticks: int) -> int:
    """Return the least 1, 2 or 5 times a power of ten of which few reach `most`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power * ticks >= most:
                return factor * power
        power *= 10


# ---- anything else: one bar a value ------------------------------------------------------------------------------------------


def _bars(found: Ranking, title: str, noun: str, form: _Format) -> str:
    """Draw a bar for each value; all others together are a line of text, or their bar would dwarf these."""
    total = sum(found.counts) + found.others
    texts = [" \u00b7 ".join(cell_text(part) or "none" for part in value) for value in found.values]
    rows = [(text, count, "column") for text, count in zip(texts, found.counts, strict=True)]
    if found.others:
        rows.append((plural(found.further, "other"), found.others, "column others"))
    labels = [text if len(text) <= form.letters else f"{text[: form.letters - 1]}\u2026" for text, _, _ in rows]
    left = 14 + _LETTER * max(len(label) for label in labels)
    across = form.width - left - form.room_for_count
    most = max(found.counts)
    parts = []
    for place, ((text, count, kind), label) in enumerate(zip(rows, labels, strict=True)):
        y = _ROW * place + 4
        long = 0.0 if kind != "column" else max(1.0, across * count / most)
        share = f"{100 * count / total:.3g} %"
        parts.append(
            f'<g class="{kind}">{_said(shortened(text), count, total, noun)}'
            f'<rect class="reach" x="0" y="{y}" width="{form.width}" height="{_ROW}"/>'
            f'<rect x="{left:.1f}" y="{y + 2}" width="{long:.2f}" height="{_ROW - 4}"/>'
            f"{_text(left - 6, y + 14, label, 'end')}"
            f"{_text(left + long + 6, y + 14, f'{number(count)} ({share})' if form.says_count else share, 'start')}</g>"
        )
    label = f"{title}: {plural(total, noun)}, {plural(len(rows), 'bar')}"
    return _svg(form.width, _ROW * len(rows) + 8, label, parts)
