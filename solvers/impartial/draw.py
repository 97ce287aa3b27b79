"""Pictures of this family: the wall of a catalogue, 8 panels of 8 x 8 games; the growth of nimbers, in one long picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

LARGE, SMALL = 26, 11
"""The side of a cell, of three digits and of four, in pixels."""

GAP, LEFT, TOP = 20, 14, 34
"""The space between panels and the margins, in pixels."""

_SIDE = 8
_MOST_TOLD = 600  # cells that say what they are; of more, the picture would be too long
_SHORT = 24
_KINDS = {
    "proved": ("#5b9a76", "proved periodic"),
    "far": ("#b9d7a8", "proved by a further search"),
    "dead": ("#e3a857", "open, rare heaps look dead"),
    "open": ("#b5523f", "open"),
    "none": ("#d9dde3", "not computed"),
}
_TEXT = 'font-size="10" font-family="sans-serif" fill="currentColor"'

Row = Mapping[str, Any]


def wall(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the wall of a catalogue as SVG: panels by the first digit, rows by the second, columns by the third.

    Of four digits the panels stand 8 by 8. `game` is not asked.

    Raises
    ------
    KeyError, ValueError
        If the table does not hold what it should.
    """
    rows = {row["code"].removeprefix("0.").ljust(3, "0"): row for row in tables["catalogue"].to_pylist()}
    digits = max((len(code) for code in rows), default=3)
    if digits > 4 or not all(set(code) <= set("01234567") for code in rows):  # noqa: PLR2004 (a picture has two dimensions)
        raise ValueError("a wall has codes of at most four digits")
    rows = {code.ljust(digits, "0"): row for code, row in rows.items()}
    return "".join(_wall(rows, digits))


def _wall(rows: Mapping[str, Row], digits: int) -> Iterator[str]:
    across, down, cell = (4, 2, LARGE) if digits == 3 else (_SIDE, _SIDE, SMALL)  # noqa: PLR2004 (as the docstring says)
    panel = _SIDE * cell + GAP
    usual = Counter(row["heaps"] for row in rows.values()).most_common(1)
    far = usual[0][0] if usual else 0
    width, height = LEFT + across * panel, TOP + down * (panel + 6)
    yield f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="wall of games">'
    yield from _legend([_kind(row, far) for row in rows.values()])
    loud = len(rows) <= _MOST_TOLD
    cells: dict[str, list[str]] = {}
    for place in range(across * down):
        head = f"{place:0{digits - 2}o}"
        left, top = LEFT + place % across * panel, TOP + 14 + place // across * (panel + 6)
        yield f'<text x="{left}" y="{top - 4}" {_TEXT}>0.{head}...</text>'
        for number in range(_SIDE * _SIDE):
            row = rows.get(f"{head}{number:02o}")
            x, y = left + number % _SIDE * cell, top + number // _SIDE * cell
            kind = _kind(row, far)
            if row is None or not loud:
                cells.setdefault(kind, []).append(f"M{x} {y}h{cell - 1}v{cell - 1}h-{cell - 1}z")
            else:
                box = f'<rect x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill="{_KINDS[kind][0]}">'
                yield f"{box}<title>{escape(_told(row))}</title></rect>"
    for kind, paths in cells.items():
        yield f'<path fill="{_KINDS[kind][0]}" d="{"".join(paths)}"/>'
    yield "</svg>"


def _legend(kinds: list[str]) -> Iterator[str]:
    x = LEFT
    for kind, (colour, text) in _KINDS.items():
        if kind in kinds:
            label = f"{text}: {kinds.count(kind)}"
            yield f'<rect x="{x}" y="4" width="10" height="10" fill="{colour}"/><text x="{x + 14}" y="13" {_TEXT}>{label}</text>'
            x += 26 + 6 * len(label)


def _kind(row: Row | None, usual: int) -> str:
    """Return the kind of a cell; `usual` is how far most games were computed."""
    if row is None:
        return "none"
    if row["status"] == "proved":
        return "proved" if row["heaps"] <= usual else "far"
    return "dead" if row["rares"] is not None and 2 * (row["last_rare"] or 0) < row["heaps"] else "open"


def _told(row: Row) -> str:
    """Say what is known of a game, in a line or two."""
    if row["status"] == "proved":
        said = f"period {row['period']} from {row['preperiod']} on"
    else:
        rares = "" if row["rares"] is None else f", {row['rares']} rare, the last {row['last_rare']}"
        said = f"open to {row['heaps']}{rares}"
    same = f", as {row['same_as']}" if row["same_as"] else ""
    beginning = " ".join(map(str, (row["beginning"] or [])[:_SHORT]))
    return f"{row['code']}{same}: {said}. {beginning} ..."


# ---- growth ------------------------------------------------------------------------------------------------------------------

COLUMNS, ROWS, DOT = 200, 64, 4
"""Cells of the picture across and up, and their side in pixels."""

_SHADES = ("#d3dce8", "#9db4d0", "#5f83b1", "#27466f")


def growth(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the nimbers of all heaps in one picture as SVG: heaps to the right, nimbers upward, darker where there are more.

    A periodic game fills a band of even height; of the open ones the band grows. `game` is not asked. Time: 0.1 us a heap.

    Raises
    ------
    KeyError, ValueError
        If the table does not hold what it should.
    """
    return "".join(_growth(tables["nimbers"]["n"].to_numpy(), tables["nimbers"]["nimber"].to_numpy()))


def _growth(heaps: Any, nimbers: Any) -> Iterator[str]:
    last, most = int(heaps.max(initial=0)), int(nimbers.max(initial=0))
    shape = (min(last + 1, COLUMNS), min(most + 1, ROWS))
    counts, _, _ = np.histogram2d(heaps, nimbers, bins=shape, range=((0, last + 1), (0, most + 1)))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    levels = np.where(counts > 0, 1 + np.digitize(shares, (1 / 64, 1 / 32, 1 / 16)), 0)
    width, height = shape[0] * DOT, shape[1] * DOT
    yield f'<svg viewBox="0 0 {width + 70} {height + 40}" width="{width + 70}" height="{height + 40}" role="img" '
    yield f'aria-label="nimbers of the heaps 0 to {last}">'
    for level, shade in enumerate(_SHADES, start=1):
        yield f'<path d="{"".join(_runs(levels == level, height))}" stroke="{shade}" stroke-width="{DOT}" fill="none"/>'
    yield f'<text x="{width + 44}" y="18" {_TEXT}>{most}</text><text x="{width + 44}" y="{height + 10}" {_TEXT}>0</text>'
    yield f'<text x="40" y="{height + 26}" {_TEXT}>heap 0</text>'
    yield f'<text x="{width + 40}" y="{height + 26}" text-anchor="end" {_TEXT}>{last:,}</text>'
    yield f'<text x="0" y="18" {_TEXT}>nimber</text></svg>'


def _runs(cells: Any, height: int) -> Iterator[str]:
    """Yield a line for each run of cells in a column; the picture begins 40 pixels to the right and 10 down."""
    for column, filled in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], filled.astype(np.int8), [0]])))
        for start, stop in edges.reshape(-1, 2).tolist():
            yield f"M{40 + column * DOT + DOT // 2} {10 + height - start * DOT}v-{(stop - start) * DOT}"
