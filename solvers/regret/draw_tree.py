"""The picture of a small game tree with strategies on it.

From left to right: chance is a diamond, player 1 a circle, player 2 a square; nodes of one information set have one colour and are
joined by a dashed line. A move's line is as wide as its probability; what chance and both players never reach is pale. At the
ends stands what player 2 pays player 1. Of larger trees the first moves are drawn, as many as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.forms import GameTree
from solvers.forms.tree import CHANCE, END

STEP, ROW, LEFT, TOP, RIGHT, BOTTOM = 158, 21, 20, 48, 150, 14
"""From a node to those after it, from an end to the next one, and margins, in pixels."""
MOST_NODES = 150
MINUS = "\N{MINUS SIGN}"

_COLOURS = (
    "#5b8fb9",
    "#d9903d",
    "#6fa35c",
    "#bd6a6a",
    "#8b76b8",
    "#b39b2f",
    "#4f9f93",
    "#c07a4a",
    "#6b7fa3",
    "#a86c8f",
    "#7c9442",
    "#8a8a8a",
)
_LABEL = 96  # room for a move's name and probability, left of the node it leads to
_NEVER = 5e-4  # what would be written 0.000
_MOST_SIGNS = 60
_HALF = 6.0


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the drawn nodes are: `[x, y]` by number. `cut` are those whose later moves are left out."""

    at: dict[int, tuple[float, float]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    rows: int = 0
    moves: int = 0


def draw_tree(game: Any, tables: Mapping[str, pa.Table]) -> str:
    """Return a game tree with the strategies of the table `strategies` as SVG; some milliseconds, and what the tree takes.

    Raises
    ------
    KeyError, ValueError
        If the table does not hold what it should.
    """
    tree: GameTree = game.form(GameTree)
    layout = _placed(tree)
    return "".join(_drawn(tree, layout, *_probabilities(tree, tables["strategies"])))


def _probabilities(tree: GameTree, strategies: pa.Table) -> tuple[list[float], list[str]]:
    """Return for each node the probability of the move into it, and how it is written; 1 and nothing where nobody said it."""
    said = {
        (row["player"], row["infoset"], row["action"]): (row["probability_float"], row["probability"])
        for row in strategies.to_pylist()
    }
    numbers, texts = [1.0], [""]
    for node in range(1, len(tree)):
        parent = int(tree.parent[node])
        if tree.player[parent] == CHANCE:
            chance = tree.probabilities[tree.probability[node]]
            number, text = float(chance), str(chance)
        elif not said:
            number, text = 1.0, ""
        else:
            place = int(tree.infoset[parent])
            key = (int(tree.player[parent]), tree.infoset_names[place], tree.actions[place][tree.move[node]])
            number, text = said[key][0], said[key][1] or ""
        numbers.append(number)
        texts.append(text if 0 < len(text) <= 7 or (not text and not said) else f"{number:.3f}")  # noqa: PLR2004 (room for seven signs)
    return numbers, texts


# ---- where everything is -----------------------------------------------------------------------------------------------------


def _placed(tree: GameTree) -> _Layout:
    """Place as many moves as fit: ends in rows, other nodes in the middle of what follows them."""
    depth = np.zeros(len(tree), dtype=np.int64)
    for node in range(1, len(tree)):
        depth[node] = depth[tree.parent[node]] + 1
    fits = np.flatnonzero(np.cumsum(np.bincount(depth)) <= MOST_NODES)
    moves = int(fits[-1])
    drawn = np.flatnonzero(depth <= moves).tolist()
    cut = {node for node in drawn if depth[node] == moves and tree.player[node] != END}
    rows: dict[int, float] = {}
    ends = 0
    for node in drawn:  # in the order of the tree: an end's row is after those before it
        if tree.player[node] == END or node in cut:
            rows[node] = float(ends)
            ends += 1
    start, children = tree.children
    for node in reversed(drawn):
        if node not in rows:
            below = children[start[node] : start[node + 1]]
            rows[node] = (rows[int(below[0])] + rows[int(below[-1])]) / 2
    at = {node: (LEFT + STEP * float(depth[node]), TOP + ROW * (rows[node] + 0.5)) for node in drawn}
    return _Layout(at, cut, ends, moves)


# ---- the drawing -------------------------------------------------------------------------------------------------------------


def _drawn(tree: GameTree, layout: _Layout, numbers: list[float], texts: list[str]) -> Iterator[str]:
    wide, high = LEFT + STEP * layout.moves + RIGHT, TOP + ROW * layout.rows + BOTTOM
    wide = max(wide, 640)
    about = "The game tree with the strategies found"
    yield f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img" aria-label="{about}">'
    yield from _legend(tree, layout)
    reach = {0: 1.0}
    for node in layout.at:
        if node:
            reach[node] = reach[int(tree.parent[node])] * numbers[node]
            yield _edge(tree, layout, node, numbers[node], texts[node], is_pale=reach[node] < _NEVER)
    yield from _links(tree, layout)
    for node in layout.at:
        yield _node(tree, layout, node, reach[node])
    yield "</svg>"


def _edge(tree: GameTree, layout: _Layout, node: int, number: float, text: str, *, is_pale: bool) -> str:
    (x, y), (left, above) = layout.at[node], layout.at[int(tree.parent[node])]
    stroke = f'stroke="currentColor" stroke-width="{0.6 + 4 * number:.2f}" stroke-opacity="{0.25 if is_pale else 0.55}"'
    dashed = ' stroke-dasharray="2 3"' if number < _NEVER else ""
    path = f'<path d="M{left:.0f} {above:.1f}L{x - _LABEL:.0f} {y:.1f}H{x:.0f}" fill="none" {stroke}{dashed}/>'
    said = _shortened(_move(tree, node), 14 - len(text))
    label = f"{said} {text}".strip()
    return path + _text(
        x - _LABEL + 2, y - 4, label, 11, opacity=0.45 if is_pale else 1.0, title=f"{_move(tree, node)}: {number:.6g}"
    )


def _links(tree: GameTree, layout: _Layout) -> Iterator[str]:
    """Join the nodes of each information set by dashed arcs; sets of one depth bend differently."""
    members: dict[int, list[int]] = {}
    for node in layout.at:
        if tree.infoset[node] >= 0 and node not in layout.cut:
            members.setdefault(int(tree.infoset[node]), []).append(node)
    ranks: dict[float, int] = {}
    for infoset, nodes in members.items():
        if len(nodes) == 1:
            continue
        x, _ = layout.at[nodes[0]]
        ranks[x] = rank = ranks.get(x, -1) + 1
        bend = 16.0 + 16 * (rank % 6)  # half of it is seen
        for one, other in pairwise(nodes):
            (x, y), (right, below) = layout.at[one], layout.at[other]
            middle = f"{(x + right) / 2 + bend:.1f} {(y + below) / 2:.1f}"
            stroke = f'stroke="{_colour(infoset)}" stroke-width="1.6" stroke-dasharray="5 4"'
            yield f'<path d="M{x:.0f} {y:.1f}Q{middle} {right:.0f} {below:.1f}" fill="none" {stroke}/>'


def _node(tree: GameTree, layout: _Layout, node: int, reach: float) -> str:
    x, y = layout.at[node]
    player, infoset = int(tree.player[node]), int(tree.infoset[node])
    opacity = 0.45 if reach < _NEVER else 1.0
    said = escape(f"reached with probability {reach:.6g}")
    if player == END:
        paid = tree.payoffs[tree.payoff[node]]
        return _text(x + 7, y + 4, _signed(paid), 12, opacity=opacity, title=f"player 2 pays {paid}, {said}", weight=True)
    knows = tree.infoset_names[infoset] if infoset >= 0 else ""
    if node in layout.cut:
        rest = _text(x + 12, y + 4, f"{_shortened(knows, 12)} … {_after(tree, node):,} nodes".lstrip(), 11, opacity=opacity)
    else:
        rest = _text(x, y - 10, _shortened(knows, 12), 10, opacity=opacity, anchor="middle") if knows else ""
    if player == CHANCE:
        points = f"{x} {y - _HALF - 1:.1f} {x + _HALF + 1} {y:.1f} {x} {y + _HALF + 1:.1f} {x - _HALF - 1} {y:.1f}"
        return f'<polygon points="{points}" fill="currentColor" opacity="{opacity}"><title>chance, {said}</title></polygon>{rest}'
    title = f"<title>player {player}: {escape(_shortened(knows))}, {said}</title>"
    paint = f'fill="{_colour(infoset)}" stroke="currentColor" stroke-width="0.8"'
    if player == 1:
        shape = f'<circle cx="{x:.0f}" cy="{y:.1f}" r="{_HALF}" {paint}>{title}</circle>'
    else:
        shape = f'<rect x="{x - _HALF:.0f}" y="{y - _HALF:.1f}" width="{2 * _HALF}" height="{2 * _HALF}" {paint}>{title}</rect>'
    return shape + rest


def _legend(tree: GameTree, layout: _Layout) -> Iterator[str]:
    yield f'<polygon points="{LEFT} 7 {LEFT + 7} 14 {LEFT} 21 {LEFT - 7} 14" fill="currentColor"/>'
    yield _text(LEFT + 12, 18, "chance", 12)
    yield f'<circle cx="{LEFT + 76}" cy="14" r="{_HALF}" fill="none" stroke="currentColor"/>'
    yield _text(LEFT + 87, 18, "player 1", 12)
    yield f'<rect x="{LEFT + 148}" y="8" width="{2 * _HALF}" height="{2 * _HALF}" fill="none" stroke="currentColor"/>'
    yield _text(LEFT + 165, 18, "player 2", 12)
    yield f'<path d="M{LEFT + 226} 14h28" stroke="{_colour(1)}" stroke-width="1.6" stroke-dasharray="5 4"/>'
    yield _text(LEFT + 260, 18, "cannot tell apart", 12)
    yield _text(LEFT + 370, 18, "at the ends: what player 2 pays player 1", 12)
    if layout.cut:
        count = f"{layout.moves} move{'' if layout.moves == 1 else 's'}" if layout.moves else "no move"
        said = f"{len(tree):,} nodes, too many to draw: here {'are' if layout.moves > 1 else 'is'} the first {count}"
        yield _text(LEFT - 7, 38, said if layout.moves else f"{len(tree):,} nodes: too many even after the first move", 12)


# ---- words -------------------------------------------------------------------------------------------------------------------


def _move(tree: GameTree, node: int) -> str:
    parent = int(tree.parent[node])
    if tree.player[parent] == CHANCE:
        name: str = tree.labels[int(tree.label[node])]
        return name
    action: str = tree.actions[int(tree.infoset[parent])][int(tree.move[node])]
    return action


def _after(tree: GameTree, node: int) -> int:
    """Return how many nodes follow: in depth-first order, those before the first that hangs on something earlier."""
    outside = np.flatnonzero(tree.parent[node + 1 :] < node)
    return int(outside[0]) if len(outside) else len(tree) - node - 1


def _signed(paid: Fraction) -> str:
    return f"{'+' if paid > 0 else MINUS if paid < 0 else ''}{abs(paid)}"


def _text(
    x: float, y: float, said: str, size: int, *, opacity: float = 1.0, anchor: str = "", title: str = "", weight: bool = False
) -> str:
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += ' font-weight="bold"' if weight else ""
    more += f' opacity="{opacity}"' if opacity < 1 else ""
    inner = f"<title>{escape(_shortened(title))}</title>" if title else ""
    where = f'x="{x:.0f}" y="{y:.1f}" font-size="{size}" font-family="sans-serif" fill="currentColor"'
    return f"<text {where}{more}>{escape(said)}{inner}</text>"


def _shortened(text: str, most: int = _MOST_SIGNS) -> str:
    return text if len(text) <= most else f"{text[: max(1, most - 1)]}…"


def _colour(infoset: int) -> str:
    return _COLOURS[infoset % len(_COLOURS)]
