"""A picture of what a method costs: counted work against the largest heap, both axes logarithmic, with the fitted lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import pyarrow as pa

WIDTH, HEIGHT = 560, 360
"""Of the framed part, in pixels."""

LEFT, TOP, RIGHT, BELOW = 74, 14, 150, 46
"""The room around it, in pixels."""

_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
_TEXT = 'font-size="12" font-family="sans-serif" fill="currentColor"'
_FEW_DECADES = 2
_ROOM = 0.04
_LINE = 16

Pairs = list[tuple[int, int]]


def cost(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the work of each game as SVG, from the tables `work` and `slopes`; "" if no game has a slope. `game` is not asked.

    Raises
    ------
    KeyError, ValueError
        If the tables do not hold what they should.
    """
    slopes = {row["code"]: row["slope"] for row in tables["slopes"].to_pylist()}
    work: dict[str, Pairs] = {code: [] for code in slopes}
    for row in tables["work"].to_pylist():
        if row["code"] in work:
            work[row["code"]].append((row["n"], row["xors"]))
    return "".join(_drawing(work, slopes)) if work else ""


def _drawing(work: Mapping[str, Pairs], slopes: Mapping[str, float]) -> Iterator[str]:
    across = _Scale([n for pairs in work.values() for n, _ in pairs], LEFT, LEFT + WIDTH)
    up = _Scale([xors for pairs in work.values() for _, xors in pairs], TOP + HEIGHT, TOP)
    wide, high = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BELOW
    about = "xors against the largest heap, both axes logarithmic"
    yield f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="{about}">'
    yield f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
    for value in across.ticks():
        x = across.place(math.log(value))
        yield f'<path d="M{x:.1f} {TOP}v{HEIGHT}" stroke="currentColor" stroke-opacity="0.12"/>'
        yield f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle" {_TEXT}>{value:,}</text>'
    for value in up.ticks():
        y = up.place(math.log(value))
        yield f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="currentColor" stroke-opacity="0.12"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" {_TEXT}>{_short(value)}</text>'
    for place, (code, pairs) in enumerate(work.items()):
        yield from _line(pairs, slopes[code], _COLOURS[place % len(_COLOURS)], across, up)
        y = TOP + 12 + _LINE * place
        said = f"{code}: slope {slopes[code]:.2f}"
        yield f'<circle cx="{LEFT + WIDTH + 16}" cy="{y - 4}" r="4" fill="{_COLOURS[place % len(_COLOURS)]}"/>'
        yield f'<text x="{LEFT + WIDTH + 26}" y="{y}" {_TEXT}>{escape(said)}</text>'
    yield f'<text x="{LEFT + WIDTH / 2}" y="{high - 8}" text-anchor="middle" {_TEXT}>n, counters of the largest heap</text>'
    yield f'<text x="4" y="{TOP + 10}" {_TEXT}>xors</text></svg>'


def _line(pairs: Pairs, slope: float, colour: str, across: _Scale, up: _Scale) -> Iterator[str]:
    """Yield the dots of a game and the straight line of its slope through their middle."""
    logs = [(math.log(n), math.log(xors)) for n, xors in pairs]
    middle, height = (math.fsum(values) / len(values) for values in zip(*logs, strict=True))
    ends = (min(logs)[0], max(logs)[0])
    line = "L".join(f"{across.place(x):.1f} {up.place(height + slope * (x - middle)):.1f}" for x in ends)
    yield f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    for x, y in logs:
        yield f'<circle cx="{across.place(x):.1f}" cy="{up.place(y):.1f}" r="4" fill="{colour}"/>'


class _Scale:
    """A logarithmic axis that has room for these values, from pixel `start` to pixel `stop`."""

    def __init__(self, values: Sequence[int], start: float, stop: float) -> None:
        low, high = math.log(min(values)), math.log(max(values))
        room = _ROOM * (high - low) or 1.0
        self.low, self.high = low - room, high + room
        self.start, self.stop = start, stop

    def place(self, log: float) -> float:
        """Return where the value of this logarithm stands."""
        return self.start + (self.stop - self.start) * (log - self.low) / (self.high - self.low)

    def ticks(self) -> list[int]:
        """Return round values on the axis: powers of ten, and 2 and 5 times those where there are few."""
        least, most = math.floor(self.low / math.log(10)), math.ceil(self.high / math.log(10))
        firsts = (1, 2, 5) if (self.high - self.low) / math.log(10) < _FEW_DECADES else (1,)
        values = [first * 10**power for power in range(max(least, 0), most + 1) for first in firsts]
        return [value for value in values if self.low <= math.log(value) <= self.high]


def _short(value: int) -> str:
    """Return a round value in few characters.

    Examples
    --------
    >>> _short(500), _short(200_000_000)
    ('500', '2e8')
    """
    digits = str(value)
    return digits if value < 10_000 else f"{digits[0]}e{len(digits) - 1}"  # noqa: PLR2004 (five digits are long)
