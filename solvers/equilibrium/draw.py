"""Pictures of this family: the map of a parametric game.

Two parameters: the box with its cells in colours, formulas on hovering. One: the value as a curve, a colour for each cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.forms import ParametricGame

SIDE, LEFT, BOTTOM, TOP, RIGHT = 420, 62, 44, 12, 14
"""The box's side and the margins around it, in pixels."""

_COLOURS = ("#7aa6c2", "#e3a857", "#93b884", "#c98b8b", "#a493c4", "#c9b458", "#7fb8ae", "#d19a6a", "#9aa5b8", "#b5899f", "#8fa45e")
_STEPS = 48
_STEPS_IN_ALL = 4000
_TEXT = 'font-size="12" font-family="sans-serif" fill="currentColor"'
_ROOT = re.compile(r"root ([0-9]+) of (.+)")
_FACTOR = re.compile(r"([A-Za-z_]\w*)(?:\^([0-9]+))?")

Terms = list[tuple[float, dict[str, int]]]
Row = Mapping[str, Any]
_LONGEST = 300


def draw_map(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return the map of a parametric game as SVG, from its tables `cells` and `pieces`; some milliseconds a piece.

    Raises
    ------
    KeyError, ValueError
        If the tables do not hold what they should.
    """
    form: ParametricGame = game.form(ParametricGame)
    cells, pieces = tables["cells"].to_pylist(), tables["pieces"].to_pylist()
    ranges = [(float(low), float(high)) for low, high in form.ranges]
    if len(form.parameters) == 1:
        return "".join(_curve(form.parameters[0], ranges[0], cells, pieces))
    return "".join(_plane(form.parameters, ranges, cells, pieces))


# ---- two parameters ----------------------------------------------------------------------------------------------------------


def _plane(names: Sequence[str], ranges: Sequence[tuple[float, float]], cells: list[Row], pieces: list[Row]) -> Iterator[str]:
    yield _head(SIDE)
    across, up = _scale(ranges[0], LEFT, SIDE), _scale(ranges[1], TOP + SIDE, -SIDE)
    steps = max(2, min(_STEPS, _STEPS_IN_ALL // max(1, len(pieces))))
    labels: dict[int, tuple[float, float, float]] = {}
    for piece in pieces:
        low, high = (_number(piece[name], names[0]) for name in ("low", "high"))
        middle = (low + high) / 2
        # closer at both ends: where curves meet they may be steep; never at the ends, where roots may fall together
        at = middle - (high - low) / 2 * np.cos(np.linspace(1e-4, np.pi - 1e-4, steps))
        lower, upper = (_line(piece[name], names, at, ranges[1]) for name in ("lower", "upper"))
        outline = [*zip(at, lower, strict=True), *reversed(list(zip(at, upper, strict=True)))]
        path = "M" + "L".join(f"{across(a):.1f} {up(b):.1f}" for a, b in outline) + "Z"
        colour, said = _colour(piece["cell"]), _said(cells[piece["cell"]])
        yield f'<path d="{path}" fill="{colour}" stroke="{colour}" stroke-width="0.6"><title>{said}</title></path>'
        room = float(np.min(upper[steps // 4 : -(steps // 4) or None] - lower[steps // 4 : -(steps // 4) or None]))
        area = room * (high - low)
        if area > labels.get(piece["cell"], (0.0, 0.0, 0.0))[0]:
            labels[piece["cell"]] = (area, middle, float(lower[steps // 2] + upper[steps // 2]) / 2)
    for cell, (_, a, b) in labels.items():
        yield f'<text x="{across(a):.1f}" y="{up(b):.1f}" {_TEXT} text-anchor="middle" dominant-baseline="middle">{cell}</text>'
    yield from _frame(names, ranges, SIDE)
    yield from _legend(cells, SIDE)
    yield "</svg>"


def _line(text: str, names: Sequence[str], at: np.ndarray, within: tuple[float, float]) -> np.ndarray:
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
            coefficients[degree - powers.get(names[1], 0)] += factor * first ** powers.get(names[0], 0)
        heights.append(_real_root(coefficients, int(found[1])))
    return np.array([min(max(one, within[0]), within[1]) for one in heights])


def _real_root(coefficients: Sequence[float], rank: int) -> float:
    roots = np.roots(coefficients)
    real = np.sort(roots[np.abs(roots.imag) < 1e-7 * (1 + np.abs(roots))].real)
    if not len(real):
        real = np.sort(roots.real)
    return float(real[min(rank, len(real)) - 1])


# ---- one parameter -----------------------------------------------------------------------------------------------------------


def _curve(name: str, around: tuple[float, float], cells: list[Row], pieces: list[Row]) -> Iterator[str]:
    height = SIDE // 2
    lines = []
    for piece in pieces:
        low, high = (_number(piece[end], name) for end in ("low", "high"))
        at = np.linspace(low, high, _STEPS + 1)
        at[[0, -1]] += np.array([1e-9, -1e-9]) * (high - low)  # a denominator may be 0 at the very end
        lines.append((piece, at, _quotient(cells[piece["cell"]]["value_expression"], name, at)))
    values = np.concatenate([value for _, _, value in lines])
    least, greatest = float(values.min()), float(values.max())
    least, greatest = (round(one, 6) for one in (least, greatest))
    if least == greatest:
        least, greatest = least - 1, greatest + 1
    across, up = _scale(around, LEFT, SIDE), _scale((least, greatest), TOP + height, -height)
    yield _head(height)
    if least < 0 < greatest:
        yield f'<path d="M{LEFT} {up(0):.1f}h{SIDE}" stroke="currentColor" stroke-width="0.5" stroke-dasharray="3 3"/>'
    for piece, at, value in lines:
        path = "M" + "L".join(f"{across(a):.1f} {up(v):.1f}" for a, v in zip(at, value, strict=True))
        said = f"{name} from {piece['low']} to {piece['high']}\n"
        yield f'<path d="{path}" fill="none" stroke="{_colour(piece["cell"])}" stroke-width="4" stroke-linecap="round">'
        yield f"<title>{escape(_shortened(said))}{_said(cells[piece['cell']])}</title></path>"
        if piece is not lines[-1][0]:
            end = across(at[-1])
            yield f'<path d="M{end:.1f} {TOP}v{height}" stroke="currentColor" stroke-width="0.5" stroke-dasharray="2 4"/>'
            if not LEFT + 30 < end < LEFT + SIDE - 30:  # no room beside the ends' own labels
                continue
            label = piece["high"] if len(piece["high"]) < 8 else f"{at[-1]:.4g}"  # noqa: PLR2004 (room for seven signs)
            yield f'<text x="{end:.1f}" y="{TOP + height + 16}" {_TEXT} text-anchor="middle">{escape(label)}</text>'
    yield from _frame((name, "value"), (around, (least, greatest)), height)
    yield from _legend(cells, height)
    yield "</svg>"


# ---- what both have ----------------------------------------------------------------------------------------------------------


def _head(height: int) -> str:
    wide = LEFT + SIDE + RIGHT + 330
    high = TOP + height + BOTTOM
    about = "How the equilibrium changes with the parameters"
    return f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="{about}">'


def _frame(names: Sequence[str], ranges: Sequence[tuple[float, float]], height: int) -> Iterator[str]:
    (left, right), (bottom, top) = ranges
    base = TOP + height
    yield f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{height}" fill="none" stroke="currentColor"/>'
    yield f'<text x="{LEFT}" y="{base + 16}" {_TEXT} text-anchor="middle">{left:.4g}</text>'
    yield f'<text x="{LEFT + SIDE}" y="{base + 16}" {_TEXT} text-anchor="middle">{right:.4g}</text>'
    yield f'<text x="{LEFT + SIDE / 2}" y="{base + 36}" {_TEXT} text-anchor="middle">{escape(names[0])}</text>'
    yield f'<text x="{LEFT - 6}" y="{base}" {_TEXT} text-anchor="end">{bottom:.4g}</text>'
    yield f'<text x="{LEFT - 6}" y="{TOP + 10}" {_TEXT} text-anchor="end">{top:.4g}</text>'
    yield f'<text x="{LEFT - 6}" y="{TOP + height / 2}" {_TEXT} text-anchor="end">{escape(names[1])}</text>'


def _legend(cells: Sequence[Row], height: int) -> Iterator[str]:
    """Yield a line for each cell, as many as there is room for; the title says all of it."""
    left = LEFT + SIDE + RIGHT + 4
    room = (height + BOTTOM) // 18
    for number, cell in enumerate(cells[:room]):
        y = TOP + 18 * number
        is_rest = number == room - 1 and len(cells) > room
        short = f"... and {len(cells) - room + 1} more" if is_rest else f"{cell['cell']}: {cell['value_expression']}"
        yield f'<rect x="{left}" y="{y}" width="12" height="12" fill="{"none" if is_rest else _colour(cell["cell"])}"/>'
        shown = short if len(short) <= 44 else f"{short[:41]}..."  # noqa: PLR2004 (the room there is)
        yield f'<text x="{left + 18}" y="{y + 10}" {_TEXT}>{escape(shown)}<title>{_said(cell)}</title></text>'


def _said(cell: Row) -> str:
    formulas = [f"value {cell['value_expression']}"]
    formulas += [f"{name} = ({', '.join(cell[name])})" for name in ("x", "y")]
    lines = [f"{cell['x_support']} against {cell['y_support']}", *formulas]
    if not cell["unique"]:
        lines.append("one of several equilibria")
    return escape("\n".join(_shortened(one) for one in lines))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _colour(cell: int) -> str:
    return _COLOURS[cell % len(_COLOURS)]


def _scale(around: tuple[float, float], start: float, length: float) -> Any:
    low, high = around
    return lambda number: start + (number - low) / (high - low) * length


# ---- reading formulas, in floating point -------------------------------------------------------------------------------------


def _number(text: str, name: str) -> float:
    found = _ROOT.fullmatch(text)
    if found is None:
        above, _, below = text.partition("/")
        return int(above) / int(below or 1)
    terms = _terms(found[2])
    degree = max(powers.get(name, 0) for _, powers in terms)
    coefficients = [0.0] * (degree + 1)
    for factor, powers in terms:
        coefficients[degree - powers.get(name, 0)] += factor
    return _real_root(coefficients, int(found[1]))


def _terms(text: str) -> Terms:
    """Return a polynomial's terms: factor, and powers by name."""
    made: Terms = []
    for piece in text.replace(" - ", " -").replace(" + ", " ").split(" "):
        factor, powers = -1.0 if piece.startswith("-") else 1.0, {}
        for part in piece.removeprefix("-").split("*"):
            found = _FACTOR.fullmatch(part)
            if found is None:
                above, _, below = part.partition("/")
                factor *= int(above) / int(below or 1)
            else:
                powers[found[1]] = int(found[2] or 1)
        made.append((factor, powers))
    return made


def _quotient(text: str, name: str, at: np.ndarray) -> np.ndarray:
    above, _, below = text.removeprefix("(").removesuffix(")").partition(")/(") if ")/(" in text else (text, "", "1")
    quotient: np.ndarray = _values(above, name, at) / _values(below, name, at)
    return quotient


def _values(text: str, name: str, at: np.ndarray) -> np.ndarray:
    values = np.zeros(len(at))
    for factor, powers in _terms(text):
        values += factor * at ** powers.get(name, 0)
    return values
