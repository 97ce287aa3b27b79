"""Judge iterated elimination of dominated actions from the game and the tables alone, in exact fractions.

That an action goes is its own certificate: the mixture is better, or never worse and once better, in the game its round began
with. That one stays has another: a belief to which it is a best reply; where only pure actions may dominate, all are tried. So
every row of both tables is proved, the rounds are the first possible, and nothing is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import Refuted, clipped, dot, judging, read_mixture, read_rows, support_of
from solvers.forms import BimatrixGame, Matrix

DOMINANCE, SURVIVORS = "dominance", "survivors"
COLUMNS = ("round", "player", "action", "dominated_by", "strict", "mixture", "belief")
SURVIVOR_COLUMNS = ("player", "action", "kind", "mixed", "belief")

Row = Mapping[str, Any]
_ActionsLeft = tuple[Sequence[int], Sequence[int]]  # the player's and the other's


@judging(DOMINANCE)
def check_dominance(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `dominance`; O(m n) fractions a row.

    A row is `proved` if its mixture of other actions left dominates the action, as the table `survivors` says it must, the action
    was not dominated a round before, and rows stand in their order: round from 1 without a gap, player, action.

    Parameters
    ----------
    game
        A game that gives a `BimatrixGame`.
    tables
        `dominance` and `survivors`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, DOMINANCE, COLUMNS)
    rule = _rule(tables)
    left = _Left.of(game.form(BimatrixGame))
    for number, row in enumerate(rows):
        try:
            _judge_gone(left, rule, row)
        except Refuted as wrong:
            yield Verdict(DOMINANCE, number, "refuted", str(wrong))
            continue
        yield Verdict(DOMINANCE, number, "proved", f"{row['dominated_by']} does better, and in no earlier round")


@judging(SURVIVORS)
def check_survivors(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `survivors`; O(m n) fractions a row, O(m m n) in all where only pure actions may dominate.

    Rows are `proved` if they are the actions that `dominance` leaves, in their order, and nothing dominates them.
    """
    rows = read_rows(tables, SURVIVORS, SURVIVOR_COLUMNS)
    rule = _rule(tables)
    left = _Left.of(game.form(BimatrixGame))
    for row in read_rows(tables, DOMINANCE, COLUMNS):
        left.enter(row)
    left.close_round()
    wanted = [(side.number, place) for side in left.sides for place in side.alive]
    if len(rows) != len(wanted):
        yield Verdict(SURVIVORS, None, "refuted", f"{len(wanted)} actions are left, there are {len(rows)} rows")
    for number, (row, (player, place)) in enumerate(zip(rows, wanted, strict=False)):
        side, other = left.sides_of(player)
        if row["player"] != player or row["action"] != side.actions[place]:
            said = f"expected {side.actions[place]} of player {player}, got {clipped(row['action'])} of {clipped(row['player'])}"
            yield Verdict(SURVIVORS, number, "refuted", said)
            continue
        try:
            _see_undominated(side, (side.alive, other.alive), place, rule, row["belief"])
        except Refuted as wrong:
            yield Verdict(SURVIVORS, number, "refuted", str(wrong))
            continue
        proof = "a best reply to the belief" if rule.mixed else "no other action dominates it"
        yield Verdict(SURVIVORS, number, "proved", proof)


# ---- what was looked for, and who is left ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    weak: bool
    mixed: bool


def _rule(tables: Mapping[str, pa.Table]) -> _Rule:
    rows = read_rows(tables, SURVIVORS, SURVIVOR_COLUMNS)
    said = {(row["kind"], row["mixed"]) for row in rows}
    if len(said) != 1:
        raise Refuted("the rows of survivors do not all say the same of kind and mixed, or there are none")
    kind, mixed = said.pop()
    if kind not in ("strict", "weak") or not isinstance(mixed, bool):
        raise Refuted(f"kind, mixed: expected strict or weak, true or false, got {clipped(kind)}, {clipped(mixed)}")
    return _Rule(kind == "weak", mixed)


@dataclass(slots=True)
class _Side:
    """A player: payoffs `[own actions, other's actions]`; actions left as this round began, and as the round before did."""

    number: int
    actions: tuple[str, ...]
    payoffs: Matrix
    alive: list[int] = field(init=False)
    before: list[int] = field(init=False)
    going: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.alive = self.before = list(range(len(self.actions)))


@dataclass(slots=True)
class _Left:
    sides: tuple[_Side, _Side]
    round: int = 1
    last: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, game: BimatrixGame) -> _Left:
        columns = tuple(zip(*game.b, strict=True))
        return cls((_Side(1, game.row_actions, game.a), _Side(2, game.column_actions, columns)))

    def sides_of(self, player: int) -> tuple[_Side, _Side]:
        return (self.sides[0], self.sides[1]) if player == 1 else (self.sides[1], self.sides[0])

    def enter(self, row: Row) -> tuple[_Side, _Side, int]:
        """Take the next row's action out of the game; return its side, the other side and its place.

        Raises
        ------
        Refuted
            If the row does not stand where it should, or names no action that is left.
        """
        if type(row["round"]) is not int or row["round"] not in (self.round, self.round + 1):
            raise Refuted(f"round: expected {self.round} or {self.round + 1}, got {clipped(row['round'])}")
        if row["round"] == self.round + 1:
            if self.last == (0, 0):
                raise Refuted("rounds do not begin at 1, or one is empty")
            self.close_round()
        if type(row["player"]) is not int or row["player"] not in (1, 2):
            raise Refuted(f"player: expected 1 or 2, got {clipped(row['player'])}")
        side, other = self.sides_of(row["player"])
        if row["action"] not in side.actions or side.actions.index(row["action"]) not in side.alive:
            raise Refuted(f"action: {clipped(row['action'])} is no action left to player {side.number}")
        place = side.actions.index(row["action"])
        if (side.number, place) <= self.last:
            raise Refuted("within a round rows do not ascend by player and action")
        self.last = (side.number, place)
        side.going.add(place)
        return side, other, place

    def close_round(self) -> None:
        for side in self.sides:
            side.before = side.alive
            side.alive = [place for place in side.alive if place not in side.going]
            side.going = set()
        self.round += 1
        self.last = (0, 0)


# ---- one row -----------------------------------------------------------------------------------------------------------------


def _judge_gone(left: _Left, rule: _Rule, row: Row) -> None:
    side, other, place = left.enter(row)
    mixture = read_mixture("mixture", row["mixture"], len(side.actions))
    used = [k for k, probability in enumerate(mixture) if probability]
    if place in used or not set(used) <= set(side.alive):
        raise Refuted("mixture: uses the action itself, or one that has gone")
    if len(used) > 1 and not rule.mixed:
        raise Refuted("mixture: only pure actions may dominate")
    if row["dominated_by"] != support_of(mixture, side.actions):
        raise Refuted(f"dominated_by: expected {support_of(mixture, side.actions)!r}, got {clipped(row['dominated_by'])}")
    gains = [dot(tuple(line[j] for line in side.payoffs), mixture) - side.payoffs[place][j] for j in other.alive]
    if min(gains) < 0 or max(gains) == 0:
        raise Refuted(f"{row['dominated_by']} does not dominate {row['action']}")
    if row["strict"] is not (min(gains) > 0):
        raise Refuted(f"strict: expected {min(gains) > 0}, got {clipped(row['strict'])}")
    if not rule.weak and not row["strict"]:
        raise Refuted(f"{row['dominated_by']} dominates {row['action']} only weakly")
    if left.round > 1:
        _see_undominated(side, (side.before, other.before), place, rule, row["belief"])
    elif row["belief"] is not None:
        raise Refuted(f"belief: expected null in round 1, got {clipped(row['belief'])}")


def _see_undominated(side: _Side, left: _ActionsLeft, place: int, rule: _Rule, belief: Any) -> None:
    """Raise unless nothing dominates an action in the game of the actions left."""
    mine, theirs = left
    if not rule.mixed:
        if belief is not None:
            raise Refuted(f"belief: expected null, for only pure actions may dominate, got {clipped(belief)}")
        for k in mine:
            gains = [side.payoffs[k][j] - side.payoffs[place][j] for j in theirs]
            if min(gains) > 0 or (rule.weak and min(gains) == 0 < max(gains)):
                raise Refuted(f"{side.actions[place]} is dominated by {side.actions[k]}")
        return
    mixture = read_mixture("belief", belief, len(side.payoffs[0]))
    believed = [j for j, probability in enumerate(mixture) if probability]
    if not set(believed) <= set(theirs) or (rule.weak and len(believed) < len(theirs)):
        raise Refuted("belief: gives probability to an action that has gone, or none to one that is left")
    earned = dot(side.payoffs[place], mixture)
    better = next((k for k in mine if dot(side.payoffs[k], mixture) > earned), None)
    if better is not None:
        raise Refuted(f"belief: {side.actions[better]} is a better reply than {side.actions[place]}")
