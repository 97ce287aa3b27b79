"""Histograms as SVG, drawn here and not in the browser: a few dozen bars, whose counts a reader finds under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.distribution import Bins, Ranking, bins, distribution, plain
from pipeline.report.findings import Findings
from pipeline.report.markup import cell_text, escape, number, plural, shortened
from solvers.schema import Histogram

_POINTS = 20
_WIDTH = 560
_HEIGHT = 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 10, 44
_ROW = 19
_LETTER = 6.6
_LONGEST_LABEL = 30
_ROOM_FOR_COUNT = 104
_Y_TICKS = 5
_X_TICKS = 9


@dataclass(frozen=True, slots=True)
class Drawn:
    """A histogram's title, its markup and what is to be said about it."""

    title: str
    svg: str
    notes: tuple[str, ...]


def histogram(picture: Histogram, findings: Findings) -> Drawn | None:
    """Draw how values are distributed; None where there are too few points (or no values) for that to mean anything."""
    if len(findings.owners) < _POINTS:
        return None
    if picture.per_point:
        found = bins(np.bincount(findings.owner)[findings.owners].astype(np.float64))
        what, noun = "rows of a point", "point"
    else:
        found = distribution([findings.table[name] for name in picture.value])
        what, noun = ", ".join(picture.value), "row"
    if found is None:
        return None
    title = picture.title or f"Distribution of {what}"
    total = len(findings.owners) if picture.per_point else len(findings.table)
    head = plural(total, noun)
    if isinstance(found, Bins):
        left_out = f"{plural(found.left_out, noun)} without a finite number left out." if found.left_out else ""
        return Drawn(title, _columns(found, title, what, noun), tuple(one for one in (f"{head}.", left_out) if one))
    kinds = plural(len(found.values) + found.further, "different value")
    return Drawn(title, _bars(found, title, noun), (f"{head}, {kinds}.",))


def _svg(height: float, label: str, parts: Sequence[str]) -> str:
    inner = "\n".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{escape(label)}">\n{inner}\n</svg>'


def _said(text: str, count: int, total: int, noun: str) -> str:
    return f"<title>{escape(text)}: {plural(count, noun)} ({100 * count / total:.3g} %)</title>"


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


# ---- numbers: columns over an axis -------------------------------------------------------------------------------------------


def _columns(found: Bins, title: str, what: str, noun: str) -> str:
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    width = across / len(found.counts)
    total = sum(found.counts)
    step = _tick_step(max(found.counts), _Y_TICKS)
    top = -(-max(found.counts) // step) * step
    base = _TOP + down
    parts = []
    for tick in range(0, top + 1, step):
        y = base - down * tick / top
        parts.append(f'<path class="rule" d="M{_LEFT} {y:.1f}h{across}"/>')
        parts.append(_text(_LEFT - 6, y + 4, number(tick), "end"))
    gap = min(2.0, 0.15 * width)
    for bar, count in enumerate(found.counts):
        if count:
            x, tall = _LEFT + bar * width, max(1.0, down * count / top)
            parts.append(
                f'<g class="column">{_said(found.text(bar), count, total, noun)}'
                f'<rect class="reach" x="{x:.2f}" y="{_TOP}" width="{width:.2f}" height="{down}"/>'
                f'<rect x="{x + gap / 2:.2f}" y="{base - tall:.2f}" width="{width - gap:.2f}" height="{tall:.2f}"/></g>'
            )
    parts.append(f'<path class="frame" d="M{_LEFT} {base}h{across}"/>')
    parts += [_text(_LEFT + place * width, base + 16, text, "middle") for place, text in _x_ticks(found)]
    parts.append(_text(_LEFT + across / 2, _HEIGHT - 8, what, "middle", "name"))
    middle = _TOP + down / 2
    parts.append(f'<text class="name" transform="translate(11 {middle:g}) rotate(-90)" text-anchor="middle">{noun}s</text>')
    return _svg(_HEIGHT, f"{title}: {plural(total, noun)} in {plural(len(found.counts), 'bar')}", parts)


def _x_ticks(found: Bins) -> list[tuple[float, str]]:
    """Return the places to label, in bars from the first: edges, or the middle of bars that are one value."""
    bars = len(found.counts)
    step = _tick_step(bars, _X_TICKS)
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


def _bars(found: Ranking, title: str, noun: str) -> str:
    """Draw a bar for each value; all others together are a line of text, or their bar would dwarf these."""
    total = sum(found.counts) + found.others
    texts = [" \u00b7 ".join(cell_text(part) or "none" for part in value) for value in found.values]
    rows = [(text, count, "column") for text, count in zip(texts, found.counts, strict=True)]
    if found.others:
        rows.append((f"{number(found.further)} others", found.others, "column others"))
    labels = [text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}\u2026" for text, _, _ in rows]
    left = 14 + _LETTER * max(len(label) for label in labels)
    across = _WIDTH - left - _ROOM_FOR_COUNT
    most = max(found.counts)
    parts = []
    for place, ((text, count, kind), label) in enumerate(zip(rows, labels, strict=True)):
        y = _ROW * place + 4
        long = 0.0 if kind != "column" else max(1.0, across * count / most)
        parts.append(
            f'<g class="{kind}">{_said(shortened(text), count, total, noun)}'
            f'<rect class="reach" x="0" y="{y}" width="{_WIDTH}" height="{_ROW}"/>'
            f'<rect x="{left:.1f}" y="{y + 2}" width="{long:.2f}" height="{_ROW - 4}"/>'
            f"{_text(left - 6, y + 14, label, 'end')}"
            f"{_text(left + long + 6, y + 14, f'{number(count)} ({100 * count / total:.3g} %)', 'start')}</g>"
        )
    return _svg(_ROW * len(rows) + 8, f"{title}: {plural(total, noun)}, {plural(len(rows), 'bar')}", parts)
