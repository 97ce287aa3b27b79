"""Pictures of this family: the map of a parametric game.

Two parameters: the box with its cells in colours, formulas on hovering. One: the value as a curve, a colour for each cell. Axes are
labelled at the breakpoints, exactly (1/3) where the exact text is short, else rounded with the exact text on hovering; where labels
would touch, the simpler ones stay. The root's `aria-label` says what the picture shows: the report makes it the caption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.forms import ParametricGame

SIDE, LEFT, BOTTOM, TOP, RIGHT = 420, 70, 50, 10, 26
"""The box's side and the margins around it, in pixels."""

_COLOURS = ("#7aa6c2", "#e3a857", "#93b884", "#c98b8b", "#a493c4", "#c9b458", "#7fb8ae", "#d19a6a", "#9aa5b8", "#b5899f", "#8fa45e")
_STEPS = 48
_STEPS_IN_ALL = 4000
_FONT = 'font-size="13" font-family="sans-serif"'
_TEXT = f'{_FONT} fill="currentColor"'
_ON_COLOUR = f'{_FONT} fill="#14171b" text-anchor="middle" dominant-baseline="middle"'
_LETTER, _LINE = 6.6, 19
_LONGEST_TICK = 7
_LEGEND = 14
_LONGEST = 300
_ROOT = re.compile(r"root ([0-9]+) of (.+)")
_FACTOR = re.compile(r"([A-Za-z_]\w*)(?:\^([0-9]+))?")

Terms = list[tuple[Fraction, dict[str, int]]]
Row = Mapping[str, Any]
Span = tuple[float, float]


def draw_map(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the map of a parametric game as SVG, from its tables `cells` and `pieces`; some milliseconds a piece.

    Raises
    ------
    KeyError, ValueError
        If the tables do not hold what they should.
    """
    form: ParametricGame = game.form(ParametricGame)
    cells, pieces = tables["cells"].to_pylist(), tables["pieces"].to_pylist()
    if len(form.parameters) == 1:
        return "".join(_curve(form.parameters[0], form.ranges[0], cells, pieces))
    return "".join(_plane(form.parameters, form.ranges, cells, pieces))


# ---- two parameters ----------------------------------------------------------------------------------------------------------


def _plane(names: Sequence[str], ranges: Sequence[tuple[Fraction, Fraction]], cells: list[Row], pieces: list[Row]) -> Iterator[str]:
    yield _head(f"value and supports by cells, {names[0]} across, {names[1]} up", SIDE, cells)
    spans = [(float(low), float(high)) for low, high in ranges]
    across, up = _scale(spans[0], LEFT, SIDE), _scale(spans[1], TOP + SIDE, -SIDE)
    steps = max(2, min(_STEPS, _STEPS_IN_ALL // max(1, len(pieces))))
    drawn: list[tuple[Row, str, _Room]] = []
    for piece in pieces:
        low, high = (_number(piece[name], names[0]) for name in ("low", "high"))
        middle = (low + high) / 2
        # closer at both ends: where curves meet they may be steep; never at the ends, where roots may fall together
        at = middle - (high - low) / 2 * np.cos(np.linspace(1e-4, np.pi - 1e-4, steps))
        lower, upper = (_line(piece[name], names, at, spans[1]) for name in ("lower", "upper"))
        outline = [*zip(at, lower, strict=True), *reversed(list(zip(at, upper, strict=True)))]
        path = "M" + "L".join(f"{across(a):.1f} {up(b):.1f}" for a, b in outline) + "Z"
        drawn.append((cells[piece["cell"]], path, _Room.inside(across(at), up(lower), up(upper))))
    labelled = {cell["cell"]: room for cell, _, room in sorted(drawn, key=lambda one: one[2].size)}
    for cell, path, room in drawn:
        colour = _colour(cell["cell"])
        label = "".join(room.label(cell)) if labelled[cell["cell"]] is room else ""
        yield f'<g><title>{_said(cell)}</title><path d="{path}" fill="{colour}" stroke="{colour}" stroke-width="1"/>{label}</g>'
    yield from _frame(names, SIDE)
    steep = (piece[end] for piece in pieces for end in ("low", "high"))
    yield from _ticks_below(_breakpoints(steep, names[0], ranges[0]), across, TOP + SIDE)
    flat = (piece[end] for piece in pieces for end in ("lower", "upper") if names[0] not in _names_in(piece[end]))
    yield from _ticks_beside(_breakpoints(flat, names[1], ranges[1]), up)
    yield from _legend(cells, SIDE)
    yield "</svg>"


@dataclass(frozen=True, slots=True)
class _Room:
    """The box inside a piece where its label stands, in pixels."""

    x: float
    y: float
    wide: float
    high: float

    @classmethod
    def inside(cls, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> _Room:
        """Find room over the middle half of a piece; pixels count downwards, so `upper` is less than `lower`."""
        is_box = np.ptp(lower) + np.ptp(upper) < 1
        some = slice(None) if is_box else slice(len(x) // 4, -(len(x) // 4) or None)
        left, right = float(x[some][0]), float(x[some][-1])
        top, base = float(upper[some].max()), float(lower[some].min())
        if top > base:  # the piece is bent: a number at its middle must do
            middle = len(x) // 2
            return cls(float(x[middle]), float(lower[middle] + upper[middle]) / 2, 0.0, float(lower[middle] - upper[middle]))
        return cls((left + right) / 2, (top + base) / 2, right - left, base - top)

    @property
    def size(self) -> float:
        return self.wide * self.high

    def label(self, cell: Row) -> Iterator[str]:
        """Yield the cell's number and its value, as far as there is room."""
        if self.high < _LINE - 4 or 0 < self.wide < _LETTER + 4:
            return
        value = cell["value_expression"]
        is_roomy = self.high > 2 * _LINE and self.wide > _LETTER * len(value) + 8
        y = self.y - _LINE / 2 if is_roomy else self.y
        yield f'<text x="{self.x:.1f}" y="{y:.1f}" {_ON_COLOUR} font-weight="bold">{cell["cell"]}</text>'
        if is_roomy:
            yield f'<text x="{self.x:.1f}" y="{y + _LINE:.1f}" {_ON_COLOUR}>{escape(value)}</text>'


def _line(text: str, names: Sequence[str], at: np.ndarray, within: Span) -> np.ndarray:
    """Return a bound's values, `[k]`, at values of the first parameter."""
    found = _ROOT.fullmatch(text)
    if found is None:
        return np.full(len(at), _number(text, names[1]))
    terms = _terms(found[2])
    degree = max(powers.get(names[1], 0) for _, powers in terms)
    heights = []
    for first in at:
        coefficients = [0.0] * (degree + 1)
        for factor, powers in terms:
            coefficients[degree - powers.get(names[1], 0)] += float(factor) * first ** powers.get(names[0], 0)
        heights.append(_real_root(coefficients, int(found[1])))
    return np.array([min(max(one, within[0]), within[1]) for one in heights])


def _real_root(coefficients: Sequence[float], rank: int) -> float:
    roots = np.roots(coefficients)
    real = np.sort(roots[np.abs(roots.imag) < 1e-7 * (1 + np.abs(roots))].real)
    if not len(real):
        real = np.sort(roots.real)
    return float(real[min(rank, len(real)) - 1])


# ---- one parameter -----------------------------------------------------------------------------------------------------------


def _curve(name: str, around: tuple[Fraction, Fraction], cells: list[Row], pieces: list[Row]) -> Iterator[str]:
    height = SIDE // 2
    yield _head(f"value as {name} goes from {around[0]} to {around[1]}", height, cells)
    lines = []
    for piece in pieces:
        low, high = (_number(piece[end], name) for end in ("low", "high"))
        at = np.linspace(low, high, _STEPS + 1)
        at[[0, -1]] += np.array([1e-9, -1e-9]) * (high - low)  # a denominator may be 0 at the very end
        lines.append((piece, at, _quotient(cells[piece["cell"]]["value_expression"], name, at)))
    values = np.concatenate([value for _, _, value in lines])
    least, greatest = (round(float(one), 6) for one in (values.min(), values.max()))
    if least == greatest:
        least, greatest = least - 1, greatest + 1
    across, up = _scale((float(around[0]), float(around[1])), LEFT, SIDE), _scale((least, greatest), TOP + height, -height)
    if least < 0 < greatest:
        yield f'<path d="M{LEFT} {up(0):.1f}h{SIDE}" stroke="currentColor" stroke-width="0.5" stroke-dasharray="3 3"/>'
    for piece, at, value in lines:
        path = "M" + "L".join(f"{across(a):.1f} {up(v):.1f}" for a, v in zip(at, value, strict=True))
        said = f"{name} from {piece['low']} to {piece['high']}\n"
        if piece is not lines[-1][0]:
            end = across(at[-1])
            yield f'<path d="M{end:.1f} {TOP}v{height}" stroke="currentColor" stroke-width="0.5" stroke-dasharray="2 4"/>'
        yield f'<g fill="none" stroke-linecap="round"><title>{escape(_cut(said, _LONGEST))}{_said(cells[piece["cell"]])}</title>'
        yield f'<path d="{path}" stroke="transparent" stroke-width="24"/>'
        yield f'<path d="{path}" stroke="{_colour(piece["cell"])}" stroke-width="4"/></g>'
    yield from _frame((name, "value"), height)
    ends = (piece[end] for piece in pieces for end in ("low", "high"))
    yield from _ticks_below(_breakpoints(ends, name, around), across, TOP + height)
    yield from _ticks_beside(list(_heights(cells, pieces, name, (least, greatest))), up)
    yield from _legend(cells, height)
    yield "</svg>"


def _heights(cells: list[Row], pieces: list[Row], name: str, ends: Span) -> Iterator[_Tick]:
    """Yield the values at breakpoints, exact where the breakpoint is rational, and the ends of the axis."""
    values: set[Fraction | None] = set()
    for piece in pieces:
        rational = [Fraction(piece[end]) for end in ("low", "high") if not _ROOT.fullmatch(piece[end])]
        values.update(_value_at(cells[piece["cell"]]["value_expression"], name, one) for one in rational)
    exact = [one for one in values if one is not None]
    yield from (_Tick.of(float(one), str(one), "value") for one in exact)
    slack = 1e-5 * (ends[1] - ends[0])
    yield from (_Tick.of(end, f"{end:.4g}", "value") for end in ends if all(abs(end - one) > slack for one in exact))


# ---- axes --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tick:
    """A place on an axis, what is written there, and what is said on hovering."""

    place: float
    text: str
    said: str

    @classmethod
    def of(cls, place: float, text: str, name: str) -> _Tick:
        return cls(place, text if len(text) <= _LONGEST_TICK else f"{place:.4g}", f"{name} = {_cut(text, _LONGEST)}")

    @property
    def title(self) -> str:
        return f"<title>{escape(self.said)}</title>"


def _breakpoints(texts: Iterable[str], name: str, ends: tuple[Fraction, Fraction]) -> list[_Tick]:
    """Return a tick for each of these numbers, each once, and one for each end."""
    found: dict[str, _Tick] = {}
    for text in dict.fromkeys([*map(str, ends), *texts]):
        place = _number(text, name)
        found.setdefault(f"{place:.9g}", _Tick.of(place, text, name))
    return list(found.values())


def _ticks_below(ticks: Sequence[_Tick], scale: Any, base: float) -> Iterator[str]:
    """Yield marks and labels along the lower edge."""
    for tick, is_shown in _decluttered(ticks, scale, lambda one: _LETTER * len(one.text) / 2 + 4):
        at = scale(tick.place)
        label = f'<text x="{at:.1f}" y="{base + 18}" {_TEXT} text-anchor="middle">{escape(tick.text)}</text>' if is_shown else ""
        yield f'<g>{tick.title}<path d="M{at:.1f} {base}v5" stroke="currentColor"/>{label}</g>'


def _ticks_beside(ticks: Sequence[_Tick], scale: Any) -> Iterator[str]:
    """Yield marks and labels along the left edge."""
    for tick, is_shown in _decluttered(ticks, scale, lambda _: 8.0):
        at = scale(tick.place)
        label = f'<text x="{LEFT - 9}" y="{at + 4:.1f}" {_TEXT} text-anchor="end">{escape(tick.text)}</text>' if is_shown else ""
        yield f'<g>{tick.title}<path d="M{LEFT} {at:.1f}h-5" stroke="currentColor"/>{label}</g>'


def _decluttered(ticks: Sequence[_Tick], scale: Any, half: Callable[[_Tick], float]) -> Iterator[tuple[_Tick, bool]]:
    """Say of each tick whether its label has room: the outermost first, then the simplest, then from the left."""
    ordered = sorted(ticks, key=lambda one: one.place)
    ends = (ordered[0], ordered[-1])
    taken: list[Span] = []
    for tick in sorted(ordered, key=lambda one: (one not in ends, len(one.text))):
        low, high = scale(tick.place) - half(tick), scale(tick.place) + half(tick)
        is_free = all(high <= left or right <= low for left, right in taken)
        if is_free:
            taken.append((low, high))
        yield tick, is_free


# ---- what both have ----------------------------------------------------------------------------------------------------------


def _head(about: str, height: int, cells: Sequence[Row]) -> str:
    wide, high = LEFT + SIDE + RIGHT, TOP + height + BOTTOM + _LINE * min(len(cells), _LEGEND)
    return f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="{escape(about)}">'


def _frame(names: Sequence[str], height: int) -> Iterator[str]:
    middle = TOP + height / 2
    yield f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{height}" fill="none" stroke="currentColor"/>'
    yield f'<text x="{LEFT + SIDE / 2}" y="{TOP + height + 36}" {_TEXT} text-anchor="middle">{escape(names[0])}</text>'
    turned = " rotate(-90)" if len(names[1]) > 2 else ""  # noqa: PLR2004 (two letters stand upright)
    yield f'<text transform="translate(14 {middle}){turned}" {_TEXT} text-anchor="middle">{escape(names[1])}</text>'


def _legend(cells: Sequence[Row], height: int) -> Iterator[str]:
    """Yield a line for each cell, below the picture, as many as there is room for; the title says all of it."""
    values = [_cut(cell["value_expression"], 40) for cell in cells[:_LEGEND]]
    second = 34 + _LETTER * (max(map(len, values)) + len(str(len(cells))) + 2)
    room = int((LEFT + SIDE + RIGHT - second) / _LETTER)
    for place, (cell, value) in enumerate(zip(cells, values, strict=False)):
        y = TOP + height + BOTTOM + _LINE * place
        if place == _LEGEND - 1 and len(cells) > _LEGEND:
            yield f'<text x="28" y="{y + 10}" {_TEXT}>... and {len(cells) - place} more cells</text>'
            return
        supports = _cut(f"{cell['x_support']} against {cell['y_support']}", room)
        yield f'<g><title>{_said(cell)}</title><rect x="8" y="{y}" width="12" height="12" fill="{_colour(cell["cell"])}"/>'
        yield f'<text x="28" y="{y + 10}" {_TEXT}>{cell["cell"]}: {escape(value)}</text>'
        yield f'<text x="{second:.1f}" y="{y + 10}" {_TEXT} opacity="0.7">{escape(supports)}</text></g>'


def _said(cell: Row) -> str:
    formulas = [f"value {cell['value_expression']}"]
    formulas += [f"{name} = ({', '.join(cell[name])})" for name in ("x", "y")]
    lines = [f"{cell['x_support']} against {cell['y_support']}", *formulas]
    if not cell["unique"]:
        lines.append("one of several equilibria")
    return escape("\n".join(_cut(one, _LONGEST) for one in lines))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _colour(cell: int) -> str:
    return _COLOURS[cell % len(_COLOURS)]


def _scale(around: Span, start: float, length: float) -> Any:
    low, high = around
    return lambda number: start + (number - low) / (high - low) * length


# ---- reading formulas: exactly, then in floating point where roots come in ----------------------------------------------------


def _number(text: str, name: str) -> float:
    found = _ROOT.fullmatch(text)
    if found is None:
        return float(Fraction(text))
    terms = _terms(found[2])
    degree = max(powers.get(name, 0) for _, powers in terms)
    coefficients = [0.0] * (degree + 1)
    for factor, powers in terms:
        coefficients[degree - powers.get(name, 0)] += float(factor)
    return _real_root(coefficients, int(found[1]))


def _names_in(text: str) -> set[str]:
    found = _ROOT.fullmatch(text)
    return {name for _, powers in _terms(found[2]) for name in powers} if found else set()


def _terms(text: str) -> Terms:
    """Return a polynomial's terms: factor, and powers by name."""
    made: Terms = []
    for piece in text.replace(" - ", " -").replace(" + ", " ").split(" "):
        factor, powers = Fraction(-1 if piece.startswith("-") else 1), {}
        for part in piece.removeprefix("-").split("*"):
            found = _FACTOR.fullmatch(part)
            if found is None:
                factor *= Fraction(part)
            else:
                powers[found[1]] = int(found[2] or 1)
        made.append((factor, powers))
    return made


def _parts(text: str) -> tuple[Terms, Terms]:
    """Return numerator and denominator of a value."""
    above, _, below = text.removeprefix("(").removesuffix(")").partition(")/(") if ")/(" in text else (text, "", "1")
    return _terms(above), _terms(below)


def _value_at(text: str, name: str, at: Fraction) -> Fraction | None:
    """Return a quotient's value, exact; None where its denominator is 0."""
    above, below = (sum((factor * at ** powers.get(name, 0) for factor, powers in terms), Fraction(0)) for terms in _parts(text))
    return above / below if below else None


def _quotient(text: str, name: str, at: np.ndarray) -> np.ndarray:
    above, below = _parts(text)
    quotient: np.ndarray = _values(above, name, at) / _values(below, name, at)
    return quotient


def _values(terms: Terms, name: str, at: np.ndarray) -> np.ndarray:
    values = np.zeros(len(at))
    for factor, powers in terms:
        values += float(factor) * at ** powers.get(name, 0)
    return values
