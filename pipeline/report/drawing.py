"""A family's own pictures: `(game, tables) -> SVG`, named by a table's metadata, called for the first points, cleaned.

Rules
-----
1. Only functions of a module `solvers.<family>.draw` or `.draw_<what>` are called: a table somebody sends us cannot choose other
   code.
2. The SVG is parsed and written again from a list of allowed elements and attributes: no scripts, no styles, no links outside.
"""

from __future__ import annotations

import html
import importlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa

from pipeline.report.markup import escape
from pipeline.store import SweepDir
from solvers.errors import MinimexError
from solvers.identity import rebuild

_TARGET = re.compile(r"(solvers(?:\.[a-z][a-z0-9_]*)+\.draw(?:_[a-z0-9]+)*):([a-z][a-z0-9_]*)")
_LONGEST = 200_000
_DRAWING_FAILS = (ArithmeticError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError, MinimexError)
"""A drawing that fails costs a line in the report, never the report."""

_ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        """svg g path rect circle ellipse line polyline polygon text tspan title desc defs marker clipPath linearGradient
        radialGradient stop use symbol pattern""",
    )
)
_ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        """id class x y x1 y1 x2 y2 cx cy r rx ry dx dy d points width height viewBox preserveAspectRatio transform fill
        fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-dashoffset stroke-linecap
        stroke-linejoin opacity font-size font-family font-weight font-style text-anchor dominant-baseline alignment-baseline
        letter-spacing textLength lengthAdjust rotate marker-start marker-mid marker-end markerWidth markerHeight markerUnits
        refX refY orient clip-path clipPathUnits offset stop-color stop-opacity gradientUnits gradientTransform patternUnits
        patternTransform href role aria-label aria-hidden shape-rendering vector-effect paint-order color overflow
        visibility""",
    )
)
_INNER_LINK = re.compile(r"#[\w.-]+")
_ABOUT = re.compile(r'<svg[^>]* aria-label="([^"]*)"')
_OUTER = re.compile(r"url\s*\(\s*(?!#)|javascript|expression|[\\@]", re.IGNORECASE)


class UnusableDrawing(MinimexError, ValueError):
    """What came is not an SVG we can show."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Clean SVG markup, and what it shows: its `aria-label`, as text ("" if it has none)."""

    svg: str
    about: str


def draw(sweep: SweepDir, target: str, point: int, tables: Mapping[str, pa.Table]) -> Drawing | None:
    """Return one point's drawing; None if the function says that there is nothing to draw.

    Raises
    ------
    UnusableDrawing
        If the function may not be called, fails, or returns no SVG.
    """

    def game() -> Any:
        return rebuild(json.loads(sweep.points_column("config")[point].as_py())["game"], "game", sweep.context())

    return _drawn(target, game, tables)


def draw_whole(target: str, tables: Mapping[str, pa.Table]) -> Drawing | None:
    """Return the drawing of a summary's tables; its function gets None for a game.

    Raises
    ------
    UnusableDrawing
        As `draw`.
    """
    return _drawn(target, lambda: None, tables)


def _drawn(target: str, game: Callable[[], Any], tables: Mapping[str, pa.Table]) -> Drawing | None:
    named = _TARGET.fullmatch(target)
    if named is None:
        raise UnusableDrawing(f"{target} is not a function of a module solvers.<family>.draw or .draw_<what>")
    try:
        function: Callable[[Any, Mapping[str, pa.Table]], str] = getattr(importlib.import_module(named[1]), named[2])
        made = function(game(), tables)
        if made == "":
            return None
        svg = clean(made)
    except _DRAWING_FAILS as error:
        raise UnusableDrawing(f"{type(error).__name__}: {error}") from error
    said = _ABOUT.match(svg)
    return Drawing(svg, html.unescape(said[1]) if said else "")


def clean(svg: str) -> str:
    """Return an SVG of which only harmless elements and attributes are left.

    Raises
    ------
    UnusableDrawing
        If it is no SVG.

    Examples
    --------
    >>> clean('<svg onload="x()"><script>y()</script><circle r="3" fill="red"/></svg>')
    '<svg><circle r="3" fill="red"></circle></svg>'
    """
    if len(svg) > _LONGEST:
        raise UnusableDrawing(f"it has {len(svg):,} characters")
    if "<!DOCTYPE" in svg.upper() or "<!ENTITY" in svg.upper():
        raise UnusableDrawing("it declares entities")
    try:
        root = ET.fromstring(svg)  # noqa: S314 (no entities, and shorter than the limit)
    except ET.ParseError as error:
        raise UnusableDrawing(f"it is no XML: {error}") from error
    if _local(root.tag) != "svg":
        raise UnusableDrawing(f"it is a <{_local(root.tag)}>")
    return _written(root)


def _written(node: ET.Element) -> str:
    name = _local(node.tag)
    if name not in _ELEMENTS:
        return ""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in _allowed(node))
    inner = "".join(_written(child) + escape(child.tail or "") for child in node)
    return f"<{name}{attributes}>{escape(node.text or '')}{inner}</{name}>"


def _allowed(node: ET.Element) -> list[tuple[str, str]]:
    found = [(_local(key), value) for key, value in node.attrib.items()]
    return [
        (key, value)
        for key, value in found
        if key in _ATTRIBUTES and (_INNER_LINK.fullmatch(value) if key == "href" else not _OUTER.search(value))
    ]


def _local(name: Any) -> str:
    return name.rpartition("}")[2] if isinstance(name, str) else ""
