"""Learning in the triangle of mixed strategies: where the last strategies go round, and how the averages spiral in.

A player with three actions has a triangle: a corner is an action, a point the mix that is as near to each corner as that action is
likely. The strategies of single recorded iterations are dots, the later the stronger; those of the first iterations, which are
recorded one by one, are joined. The averages are a line. Other games have no picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import pyarrow as pa

from solvers.forms import MatrixGame

SIDE, MARGIN, GAP, TOP, LEGEND = 300, 46, 34, 44, 50
"""A triangle's side, the room around it, between two, above for the player, below for the legend, in pixels."""

_CORNERS = 3
_LAST, _AVERAGE = "#d9903d", "#5b8fb9"
_PALEST = 0.25
_LONGEST = 14
_TOLERANCE = 1e-6
_TEXT = 'font-size="12" font-family="sans-serif" fill="currentColor"'

Mixes = list[tuple[int, list[float]]]


def draw_triangles(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the triangles of the players with three actions as SVG, from the table `curve`; "" where no player has three.

    Raises
    ------
    KeyError, ValueError, TypeError
        If the table does not hold what it should.
    """
    if MatrixGame not in type(game).gives:
        return ""
    form: MatrixGame = game.form(MatrixGame)
    curve = tables["curve"].select(["iteration", "iterate", "x", "y"]).to_pylist()
    players = []
    for player, (column, names) in enumerate((("x", form.row_actions), ("y", form.column_actions)), 1):
        mixes = {kind: [(row["iteration"], row[column]) for row in curve if row["iterate"] == kind] for kind in ("last", "average")}
        if len(names) == _CORNERS and curve and all(_is_mix(mix) for kind in mixes.values() for _, mix in kind):
            players.append((player, names, mixes))
    return "".join(_drawing(players)) if players else ""


def _is_mix(mix: Sequence[float]) -> bool:
    """Say whether this is one mix of three actions (and not, of a tree, those of several information sets)."""
    return len(mix) == _CORNERS and abs(math.fsum(mix) - 1) < _TOLERANCE


def _drawing(players: Sequence[tuple[int, Sequence[str], Mapping[str, Mixes]]]) -> Iterator[str]:
    wide = len(players) * (SIDE + 2 * MARGIN) + (len(players) - 1) * GAP
    base = TOP + SIDE * math.sqrt(3) / 2
    high = math.ceil(base + LEGEND + 24)
    about = "Where strategies go while players learn"
    yield f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="{about}">'
    for place, (player, names, mixes) in enumerate(players):
        yield from _triangle(f"player {player}", names, mixes, MARGIN + place * (SIDE + 2 * MARGIN + GAP), base)
    yield from _legend(base + LEGEND + 8)
    yield "</svg>"


def _triangle(title: str, names: Sequence[str], mixes: Mapping[str, Mixes], left: float, base: float) -> Iterator[str]:
    corners = ((left, base), (left + SIDE, base), (left + SIDE / 2, TOP))

    def at(mix: Sequence[float]) -> str:
        total = math.fsum(mix)
        across, down = (sum(p * corner[axis] for p, corner in zip(mix, corners, strict=True)) / total for axis in (0, 1))
        return f"{across:.1f} {down:.1f}"

    def dot(iteration: int, mix: Sequence[float], kind: str, look: str) -> str:
        across, down = at(mix).split()
        numbers = ", ".join(f"{p:.4g}" for p in mix)
        return f'<circle cx="{across}" cy="{down}" {look}><title>{kind}, iteration {iteration:,}: ({numbers})</title></circle>'

    outline = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in corners) + "Z"
    yield f'<path d="{outline}" fill="none" stroke="currentColor" stroke-width="1"/>'
    yield f'<text x="{left - MARGIN + 4}" y="14" {_TEXT} font-weight="bold">{title}</text>'
    for name, (across, down), below in zip(names, corners, (20, 20, -8), strict=True):
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."
        yield f'<text x="{across:.1f}" y="{down + below:.1f}" {_TEXT} text-anchor="middle">{escape(shown)}'
        yield f"<title>{escape(name)}</title></text>"
    last, averages = mixes["last"], mixes["average"]
    first = [mix for place, (iteration, mix) in enumerate(last, 1) if iteration == place]
    yield f'<path d="M{"L".join(map(at, first))}" fill="none" stroke="{_LAST}" stroke-width="1" stroke-opacity="0.6"/>'
    for iteration, mix in last:
        look = f'r="3" fill="{_LAST}" fill-opacity="{_shade(iteration, last[-1][0]):.2f}"'
        yield dot(iteration, mix, "last", look)
    yield f'<path d="M{"L".join(at(mix) for _, mix in averages)}" fill="none" stroke="{_AVERAGE}" stroke-width="2"/>'
    for iteration, mix in averages[:-1]:
        yield dot(iteration, mix, "average", f'r="1.8" fill="{_AVERAGE}"')
    yield dot(*averages[-1], "average", f'r="5" fill="{_AVERAGE}" stroke="currentColor" stroke-width="1.5"')


def _shade(iteration: int, most: int) -> float:
    return _PALEST + (1 - _PALEST) * (math.log(iteration) / math.log(most) if most > 1 else 1.0)


def _legend(y: float) -> Iterator[str]:
    yield f'<circle cx="{MARGIN}" cy="{y:.1f}" r="3" fill="{_LAST}"/>'
    yield f'<text x="{MARGIN + 10}" y="{y + 4:.1f}" {_TEXT}>last, stronger later</text>'
    yield f'<path d="M{MARGIN + 140} {y:.1f}h22" stroke="{_AVERAGE}" stroke-width="2"/>'
    yield f'<circle cx="{MARGIN + 162}" cy="{y:.1f}" r="5" fill="{_AVERAGE}" stroke="currentColor" stroke-width="1.5"/>'
    yield f'<text x="{MARGIN + 174}" y="{y + 4:.1f}" {_TEXT}>average, to its end</text>'
