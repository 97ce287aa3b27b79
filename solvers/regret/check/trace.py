"""Judge the trace of counterfactual regret minimisation by walks through the tree, node by node.

Recomputed in float64, within 1e-9 times the largest payoff: from the strategies of the iteration before (uniform before the
first), what each action would have earned beyond the strategy; from that and the regret before, the regret, by the row's own
settings; from both, the next strategy. By induction the rows are a run of the method from its beginning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from solvers.contract import Game, Verdict
from solvers.forms import GameTree

Row = Mapping[str, Any]

_TOLERANCE = 1e-9
_TRACED = 50
_EXPONENTS, _FLAGS = ("alpha", "beta"), ("floor", "predictive", "alternating")
_SETTINGS = (*_EXPONENTS, *_FLAGS)
_COLUMNS = ("iteration", "player", "infoset", "action", "instant_regret", "regret", "strategy", *_SETTINGS)


def check_regrets(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for each row of `regrets`, and one for the whole table if rows are missing. An empty table claims nothing.

    Never raises, whatever the table holds. Time: two walks through the tree for each iteration, about 1 us a node.
    """
    rows = _read(tables.get("regrets"))
    if isinstance(rows, str):
        yield Verdict("regrets", None, "refuted", rows)
        return
    if not rows:
        return
    tree = game.form(GameTree)
    settings = {name: rows[0][name] for name in _SETTINGS}
    missing = _missing(rows, tree.slots, tables.get("curve"))
    if missing:
        yield Verdict("regrets", None, "refuted", missing)
    if not _are_settings(settings):
        yield Verdict("regrets", None, "refuted", "alpha or beta is no number, or another setting neither true nor false")
        return
    trace = _Trace(_Tree(tree), settings)
    for begin in range(0, len(rows), tree.slots):
        for index, fault in enumerate(trace.faults(rows[begin : begin + tree.slots]), start=begin):
            yield Verdict(
                "regrets", index, "refuted" if fault else "recomputed", fault or f"within {_TOLERANCE:g} of the largest payoff"
            )


def _read(table: pa.Table | None) -> list[Row] | str:
    if table is None:
        return "the table is missing"
    for name in _COLUMNS:
        if table.column_names.count(name) != 1:
            return f"there is not exactly one column {name!r}"
    try:
        rows: list[Row] = table.select(_COLUMNS).to_pylist()
    except (ValueError, ArithmeticError) as error:  # text that is no text
        return f"the table cannot be read: {error}"
    return rows


def _missing(rows: Sequence[Row], slots: int, curve: pa.Table | None) -> str:
    """Say that iterations are not whole, or fewer than the curve has ("": all there)."""
    if len(rows) % slots:
        return f"there are not {slots} rows, one an action, of each iteration"
    if curve is None or "iteration" not in curve.column_names:
        return ""
    wanted = min(_TRACED, max((number for number in curve["iteration"].to_pylist() if type(number) is int), default=0))
    return "" if len(rows) >= wanted * slots else f"the first {wanted} iterations are not all there"


def _are_settings(settings: Row) -> bool:
    exponents = [settings[name] for name in _EXPONENTS if settings[name] is not None]
    return all(type(one) is float and math.isfinite(one) for one in exponents) and all(
        type(settings[name]) is bool for name in _FLAGS
    )


class _Tree:
    """The tree as lists, for loops in plain Python; actions are numbered over all sets, as in the table."""

    def __init__(self, tree: GameTree) -> None:
        self.parent, self.player, self.slot = tree.parent.tolist(), tree.player.tolist(), tree.slot_before.tolist()
        self.chance = [float(tree.probabilities[code]) for code in tree.probability.tolist()]
        self.paid = [0.0 if code < 0 else float(tree.payoffs[code]) for code in tree.payoff.tolist()]
        self.first: list[int] = tree.first_slot.tolist()
        names = zip(tree.infoset_player.tolist(), tree.infoset_names, tree.actions, strict=True)
        self.actions = [(player, infoset, action) for player, infoset, actions in names for action in actions]
        self.largest = max(abs(one) for one in self.paid)

    def regrets(self, me: int, profile: Sequence[float]) -> list[float]:
        """Return what each action of player `me` would have earned beyond his strategy; 0 at the other's sets."""
        weight = [self.chance[n] if s < 0 else profile[s] for n, s in enumerate(self.slot)]
        others = [1.0] * len(weight)  # how likely chance and the opponent lead to a node
        for n in range(1, len(weight)):
            parent = self.parent[n]
            others[n] = others[parent] * (1.0 if self.player[parent] == me else weight[n])
        worth = [one if me == 1 else -one for one in self.paid]  # to player `me`
        for n in range(len(weight) - 1, 0, -1):
            worth[self.parent[n]] += weight[n] * worth[n]
        found = [0.0] * len(self.actions)
        for n in range(1, len(weight)):
            parent = self.parent[n]
            if self.player[parent] == me:
                found[self.slot[n]] += others[n] * (worth[n] - worth[parent])
        return found

    def next(self, regrets: Sequence[float], guess: Sequence[float] | None = None) -> list[float]:
        """Return the strategies that follow: in proportion to positive regrets, uniform where there are none."""
        made: list[float] = []
        for begin, end in zip(self.first[:-1], self.first[1:], strict=True):
            hopes = [max(0.0, regrets[s] + (guess[s] if guess else 0.0)) for s in range(begin, end)]
            total = sum(hopes)
            made += [hope / total for hope in hopes] if total > 0 else [1 / (end - begin)] * (end - begin)
        return made


@dataclass(slots=True)
class _Trace:
    """How far the rows are judged: strategies and regrets that they state after `done` iterations."""

    tree: _Tree
    settings: Row
    done: int = 0
    profile: list[float] | None = None
    regrets: list[float] | None = None

    def faults(self, rows: Sequence[Row]) -> list[str]:
        """Say of each row of the next iteration what is wrong with it ("": nothing)."""
        self.done += 1
        tree = self.tree
        nothing = [0.0] * len(tree.actions)
        before, held = self.profile or tree.next(nothing), self.regrets or nothing
        found = [self._misplaced(row, *place) for row, place in zip(rows, tree.actions, strict=False)]
        if len(rows) < len(tree.actions) or any(found):
            return self._give_up(found)
        after = [row["strategy"] for row in rows]
        newer = [p if self.settings["alternating"] and tree.actions[s][0] == 1 else before[s] for s, p in enumerate(after)]
        instant = [one + two for one, two in zip(tree.regrets(1, before), tree.regrets(2, newer), strict=True)]
        guess = [row["instant_regret"] for row in rows] if self.settings["predictive"] else None
        wanted = tree.next([row["regret"] for row in rows], guess)
        for s, row in enumerate(rows):
            regret = self._kept(held[s] + row["instant_regret"])
            for name, number, scale in (
                ("instant_regret", instant[s], tree.largest),
                ("regret", regret, tree.largest * self.done),
                ("strategy", wanted[s], 1.0),
            ):
                if not found[s] and not abs(row[name] - number) <= _TOLERANCE * scale:
                    found[s] = f"{name} is {number:.12g}, stated {row[name]!r}"
        self.profile, self.regrets = after, [row["regret"] for row in rows]
        return found

    def _misplaced(self, row: Row, player: int, infoset: str, action: str) -> str:
        if (row["iteration"], row["player"], row["infoset"], row["action"]) != (self.done, player, infoset, action):
            return f"here belongs iteration {self.done}, player {player}, {infoset!r}, {action!r}"
        if {name: row[name] for name in _SETTINGS} != self.settings:
            return "the settings are not those of the first row"
        if not all(type(row[name]) is float and math.isfinite(row[name]) for name in ("instant_regret", "regret", "strategy")):
            return "a number is missing"
        return "" if 0 <= row["strategy"] <= 1 else "the strategy is no probability"

    def _give_up(self, found: list[str]) -> list[str]:
        """Nothing follows from an iteration that cannot be read: it and those after it are refuted where nothing else is said."""
        self.profile = self.regrets = [math.nan] * len(self.tree.actions)
        return [fault or "another row of this iteration cannot be judged, and so this" for fault in found]

    def _kept(self, regret: float) -> float:
        """Return a regret as the variant keeps it."""
        if regret > 0:
            return regret * _discount(self.done, self.settings["alpha"])
        return 0.0 if self.settings["floor"] else regret * _discount(self.done, self.settings["beta"])


def _discount(done: int, exponent: float | None) -> float:
    """Return t^exponent / (t^exponent + 1), written so that no power overflows; 1 without an exponent."""
    if exponent is None:
        return 1.0
    logarithm = exponent * math.log(done)
    if logarithm > 0:
        return 1 / (1 + math.exp(-logarithm))
    return math.exp(logarithm) / (1 + math.exp(logarithm))
