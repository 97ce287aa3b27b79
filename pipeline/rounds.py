"""Adaptive sweeps: once all points of a round are done, a function names further ones, until it names none that is new.

Nothing is kept of a round but its points' rows. A command given again goes through the rounds from the first: each is planned from
the rows of the rounds before it, those alone and in their order, so it asks for the same points, and those that are done are known.
Hence a `next` function must depend on nothing else: no clock, no random numbers, no files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.hooks import Hook, HookFailed, hook_of, summary_of
from pipeline.points import Point
from pipeline.store import SweepDir, parameter_column, parameter_values, ranks
from solvers.errors import ConfigError

Planner = Callable[[Sequence[Mapping[str, Any]]], Iterator[Point]]

_TOLD = ("status", "metrics")
_OWN_TABLES = ("progress",)


@dataclass(frozen=True, slots=True)
class Rounds:
    """How a sweep goes on after its first points.

    Attributes
    ----------
    next
        Names further points; None: there are none.
    summary
        Sums up the sweep when it is published; None: nobody does.
    most
        How many rounds there may be; more are taken for an error of `next`.
    plan
        Makes points of what `next` named.
    """

    next: Hook | None
    summary: Hook | None
    most: int
    plan: Planner

    def further(self, sweep: SweepDir, points: Sequence[Point], rounds_done: int) -> list[Point]:
        """Return the points of the next round; none if the sweep is at its end.

        Parameters
        ----------
        points
            Those of all rounds so far, in order; all of them are done in some way.

        Raises
        ------
        HookFailed
            If `next` fails, names what cannot be planned, or would go on beyond `most` rounds.
        """
        if self.next is None:
            return []
        known = {point.hash for point in points}
        order = pa.array([point.hash for point in points], pa.string())
        entries = self.next.entries(points_seen(sweep, order), TablesSeen(sweep, order))
        try:
            found = [point for point in self.plan(entries) if point.hash not in known]
        except ConfigError as error:
            raise HookFailed(f"{self.next.path}: {self.next.name} named what cannot be: {error}") from error
        if found and rounds_done >= self.most:
            hint = "does it ever name no new point? sweep.most_rounds allows more"
            raise HookFailed(f"{self.next.path}: {self.next.name} goes on after {self.most} rounds; {hint}")
        return found


def rounds_of(sweep: Mapping[str, Any], trust: Sequence[str], plan: Planner) -> Rounds:
    """Read the keys `next`, `summary` and `most_rounds` of a config's `sweep`.

    Raises
    ------
    ConfigError
        If they name no function, or no number of rounds.
    """
    most = sweep.get("most_rounds")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ConfigError("sweep.most_rounds", "a number of rounds, at least 1", repr(most))
    named = hook_of(sweep.get("next"), "sweep.next", trust, takes=2)
    return Rounds(named, summary_of(sweep.get("summary"), "sweep.summary", trust), most, plan)


# ---- what the functions see --------------------------------------------------------------------------------------------------


def points_seen(sweep: SweepDir, order: pa.Array, more: Sequence[str] = ()) -> pa.Table:
    """Return these points' hashes, parameters, statuses and metrics, and `more` columns, one row a point, in this order.

    It looks the same whatever else the directory holds: parameters that none of these points has are left out.
    """
    rows = _in_order(sweep.brief.select(["point", *sweep.parameters, *_TOLD, *more]), order)
    columns: list[tuple[pa.Field, Any]] = [(pa.field("point", pa.string()), rows["point"].cast(pa.string()))]
    for name in sorted(sweep.parameters):
        values = parameter_values(rows, name)
        if any(value is not None for value in values):
            columns.append(parameter_column(name, values))
    columns += [(pa.field(name, pa.string()), rows[name]) for name in _TOLD]
    columns += [(rows.schema.field(name), rows[name]) for name in more]
    return pa.Table.from_arrays([column for _, column in columns], schema=pa.schema([one for one, _ in columns]))


class TablesSeen(Mapping[str, pa.Table]):
    """The rows that some points have in a sweep's tables, in the order of these points; a table is read when it is asked for."""

    def __init__(self, sweep: SweepDir, order: pa.Array) -> None:
        self.sweep, self.order = sweep, order
        self.read: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names():
            raise KeyError(name)
        if name not in self.read:
            self.read[name] = _in_order(self.sweep.table(name), self.order)
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> list[str]:
        return [name for name in self.sweep.table_names if name not in _OWN_TABLES]


def _in_order(table: pa.Table, order: pa.Array) -> pa.Table:
    """Return the rows of these points, point by point in this order, their column `point` as text."""
    place = ranks(table["point"], order)
    if place.null_count:
        there = pc.is_valid(place)
        table, place = table.filter(there), place.filter(there)
    codes = place.combine_chunks()
    if len(codes) > 1 and pc.any(pc.less(codes[1:], codes[:-1])).as_py():
        table = table.take(pc.array_sort_indices(codes))  # stable: rows of a point stay as they stand
    at = table.schema.get_field_index("point")
    return table.set_column(at, pa.field("point", pa.string()), table["point"].cast(pa.string()))
