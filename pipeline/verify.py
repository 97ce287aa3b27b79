"""Judging every finding again, from a directory alone: Parquet files and stored inputs, no solver.

Checkers are named by the tables themselves (`solvers.<family>.check:<function>`, or of a module below it); where a file lost its
metadata the manifest knows; a table of which neither says how it is judged is `unchecked`, and that is not all right. Before a
checker is asked, the pipeline judges what it can itself: files that cannot be read, columns that changed, points whose content
does not match their hash, rows missing, too many or of points that delivered none. Rows that a checker passes over are `unchecked`.
Summaries (`pipeline.summaries`) are made again: equal is `recomputed`.

A checker may have a sister for many small points, `<function>_batch(games, tables)`, which yields `(place, Verdict)`; points
that it passes over go to the checker itself, one by one, in several processes where that takes long (`pipeline.judges`).
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.journal import DirectoryBusy, locked
from pipeline.judges import Case, Judge, Jury, heard, sister_of
from pipeline.rows import seal_of
from pipeline.store import CHECKS, DamagedTable, SweepDir, load, parameter_values, ranks, read_table, write_table
from pipeline.summaries import judged_summaries
from solvers.contract import GRADES, Verdict
from solvers.errors import ConfigError, MinimexError
from solvers.schema import TableInfo

_LOOKS = 5
_TOLD_EVERY_S = 10.0
_SAVED_EVERY_S = 20.0
_SLICE = 10_000
_TOGETHER = 2_000
_FEW_ROWS = 1_000
_OWN_TABLES = ("progress",)
_RANK: dict[str, int] = {grade: place for place, grade in enumerate(GRADES)}

Heard = Callable[[int], None]


@dataclass(frozen=True)
class Judgement:
    """The outcome of a verification. `checks` is what checks.parquet holds; `unwritten` says why it could not be written, if so."""

    checks: pa.Table
    claims: Mapping[str, str]
    unwritten: str = ""

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many verdicts of each grade each table has."""
        found: dict[str, dict[str, int]] = {}
        for row in self.checks.group_by(["table", "grade"]).aggregate([([], "count_all")]).to_pylist():
            found.setdefault(row["table"], {})[row["grade"]] = row["count_all"]
        return {name: dict(sorted(grades.items(), key=lambda pair: _RANK[pair[0]])) for name, grades in sorted(found.items())}

    def holds(self, *, strict: bool = False) -> bool:
        """Say whether nothing is refuted and every table reaches the grade it claims (`strict`: proved or recomputed).

        A table that is known to claim nothing has no verdicts; one of which nothing is known may not stay unchecked.
        """
        for name, grades in self.counts().items():
            least = "recomputed" if strict else self.claims.get(name, "sampled")
            if any(_RANK[grade] > _RANK[least] for grade in grades):
                return False
        return True


def _nobody(judged: int) -> None:
    """Hear nothing."""


class Telling:
    """Says now and then how many of so many points are judged."""

    def __init__(self, total: int, say: Callable[[str], None]) -> None:
        self.total, self.say, self.last = total, say, time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self.last > _TOLD_EVERY_S

    def __call__(self, judged: int) -> None:
        if self.is_due():
            self.last = time.monotonic()
            self.say(f"judging: {judged:,}/{self.total:,} points")


def verify_folder(
    folder: str | Path, trust: Sequence[str] = (), say: Callable[[str], None] = lambda _: None, processes: int = 1
) -> tuple[SweepDir, Judgement]:
    """Judge what a directory has; one where a sweep is running keeps its checks.parquet, which that sweep writes itself."""
    with ExitStack() as stack:
        root = load(folder).root
        with suppress(ConfigError):  # it may only be read, so nobody writes there
            try:
                stack.enter_context(locked(root))
            except DirectoryBusy:
                return _verify_meanwhile(root, trust, processes)
        sweep = load(root)
        return sweep, verify(sweep, trust, heard=Telling(len(sweep.brief), say), processes=processes)


def _verify_meanwhile(root: Path, trust: Sequence[str], processes: int) -> tuple[SweepDir, Judgement]:
    """Judge what is published of a running sweep: again if a publishing came in between (its files are renamed one by one)."""
    for _ in range(_LOOKS):
        before, sweep = _stamps(root), load(root)
        judged = verify(sweep, trust, write=False, processes=processes)
        if _stamps(root) == before:
            break
    return sweep, replace(judged, unwritten="a sweep is running there and judges its points at its end")


def _stamps(root: Path) -> list[tuple[Path, int, int]]:
    files = [root / "points.parquet", *(root / "tables").rglob("*.parquet")]
    return sorted((path, path.stat().st_mtime_ns, path.stat().st_ino) for path in files if path.exists())


def verify(
    sweep: SweepDir,
    trust: Sequence[str] = (),
    only: Sequence[str] | None = None,
    *,
    write: bool = True,
    heard: Heard = _nobody,
    processes: int = 1,
) -> Judgement:
    """Judge a sweep's findings and write checks.parquet (where that cannot be written, the judgement says why).

    Parameters
    ----------
    trust
        Packages whose classes may be built, "source" for users' files stored with the sweep.
    only
        Judge these points and keep earlier verdicts on the others; None: judge all.
    heard
        Called after each point with how many of them are judged. What was judged of `only` so far is written now and then, so that
        whoever is killed goes on from there.
    processes
        How many may judge at once, where it takes long.

    Raises
    ------
    DamagedTable
        If points.parquet itself cannot be read.
    """
    earlier = [] if only is None else [_earlier(sweep, only)]
    saved = time.monotonic()

    def judged(count: int) -> None:
        nonlocal saved
        if write and earlier and time.monotonic() - saved > _SAVED_EVERY_S:
            with suppress(OSError):  # it is said at the end
                write_table(pa.concat_tables([*earlier, court.verdicts()]), sweep.root / "checks.parquet")
            saved = time.monotonic()
        heard(count)

    court = _Court(sweep, trust, processes, judged)
    court.judge(only)
    checks = pa.concat_tables([*earlier, court.verdicts()])
    unwritten = ""
    try:
        if write:
            write_table(checks, sweep.root / "checks.parquet")
    except OSError as error:
        unwritten = error.strerror or str(error)
    return Judgement(checks, {name: info.claims for name, info in court.infos.items() if info.claims}, unwritten)


def judgement(sweep: SweepDir) -> Judgement:
    """Return what checks.parquet says (nothing if it is not there)."""
    claims = {name: str(info.claims) for name in sweep.table_names if (info := sweep.info(name)).claims}
    return Judgement(_earlier(sweep, ()), claims)


def unjudged(sweep: SweepDir, points: Sequence[str]) -> list[str]:
    """Return those of these points that claim something and have no verdict."""
    claiming = {name for name in sweep.table_names if sweep.info(name).check}
    counts = pc.unique(sweep.brief["rows"]).to_pylist()
    texts = [text for text in counts if text and any(json.loads(text).get(name) for name in claiming)]
    hashes = sweep.brief["point"].cast(pa.string())
    open_ones = pc.and_not(pc.is_in(sweep.brief["rows"], value_set=pa.array(texts, pa.string())), pc.is_in(hashes, _judged(sweep)))
    asked = pc.and_(open_ones, pc.is_in(hashes, value_set=pa.array(points, pa.string())))
    return list(hashes.filter(asked).to_pylist())


def _judged(sweep: SweepDir) -> pa.Array:
    return pc.unique(_earlier(sweep, ())["point"].drop_null())


def _earlier(sweep: SweepDir, without: Sequence[str]) -> pa.Table:
    try:
        checks = read_table(sweep.root / "checks.parquet").cast(CHECKS)
    except (DamagedTable, ValueError, pa.ArrowException):
        return CHECKS.empty_table()
    known, again = _hashes(sweep), pa.array(without, pa.string())
    kept = pc.and_not(pc.is_in(checks["point"], value_set=known), pc.is_in(checks["point"], value_set=again))
    return checks.filter(kept)


def _hashes(sweep: SweepDir) -> pa.Array:
    return sweep.brief["point"].cast(pa.string()).combine_chunks()


class _Rows:
    """The rows of a table by point, wherever they stand; points by their place in `points`."""

    def __init__(self, table: pa.Table, points: pa.Array) -> None:
        kind = table["point"].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
            raise ValueError(f"its column point holds {kind}")
        owner = pc.fill_null(ranks(table["point"], points), -1).to_numpy()
        self.order = np.argsort(owner, kind="stable")
        self.ends = np.searchsorted(owner[self.order], np.arange(-1, len(points)), side="right")
        self.strangers = pc.unique(table["point"].filter(pa.array(owner < 0))).cast(pa.string()).to_pylist()
        self.table = table.drop_columns(["point"])

    def count(self, place: int) -> int:
        """Return how many rows a point has."""
        return int(self.ends[place + 1] - self.ends[place])

    def together(self, places: Sequence[int]) -> pa.Table:
        """Return the rows of these points, one point after the other, with its position in `places` as `batch_index`."""
        rows = np.concatenate([self.order[self.ends[place] : self.ends[place + 1]] for place in places])
        owner = np.repeat(np.arange(len(places), dtype=np.int32), [self.count(place) for place in places])
        return self.table.take(rows).add_column(0, "batch_index", pa.array(owner))

    def of(self, place: int) -> pa.Table:
        """Return a point's rows, as they stand in the table."""
        rows = self.order[self.ends[place] : self.ends[place + 1]]
        if not len(rows):
            return self.table.slice(0, 0)
        if rows[-1] - rows[0] + 1 == len(rows):
            return self.table.slice(rows[0], len(rows))
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        return pa.concat_tables([self.table.slice(run[0], len(run)) for run in runs])


@dataclass(frozen=True, slots=True)
class _Point:
    """A row of points.parquet: its place there, and how many rows of each table were delivered."""

    place: int
    hash: str
    config: str
    promised: Mapping[str, int]


class _Court:
    """One verification at work."""

    def __init__(self, sweep: SweepDir, trust: Sequence[str], processes: int = 1, heard: Heard = _nobody) -> None:
        self.sweep, self.trust, self.processes, self.heard = sweep, tuple(trust), processes, heard
        self.judged = 0
        self.checkers = Judge(sweep.context(trust))
        self.points = _hashes(sweep)
        self.said: list[pa.Table] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in CHECKS.names}  # what was said since
        self.infos: dict[str, TableInfo] = {}
        self.tables: dict[str, _Rows] = {}
        self.told: dict[tuple[str, str], list[Verdict]] = {}  # what was said of many points at once, until their turn comes

    def verdicts(self) -> pa.Table:
        self._pack()
        return pa.concat_tables(self.said)

    def _pack(self) -> None:
        self.said.append(pa.table(self.columns, schema=CHECKS))
        self.columns = {name: [] for name in CHECKS.names}

    def say(self, table: str, row: int | None, point: str | None, grade: str, reason: str) -> None:
        for name, value in zip(CHECKS.names, (table, row, point, grade, reason), strict=True):
            self.columns[name].append(value)

    def judge(self, only: Sequence[str] | None) -> None:
        self._open_tables()
        wanted = self.points if only is None else pa.array(only, pa.string())
        marks = pa.table(
            {
                "hash": self.points,
                "first": pc.index_in(self.points, value_set=self.points),
                "wanted": pc.is_in(self.points, value_set=wanted),
            }
        )
        start = 0
        total = int(pc.sum(marks["wanted"]).as_py() or 0)
        with Jury(self.checkers, self.processes, total) as jury:
            for rows in self.sweep.points_in_pieces(_SLICE):
                self._judge_piece(rows, marks.slice(start, len(rows)), start, jury)
                start += len(rows)
                self._pack()
        for name, rows in self.tables.items():
            for point in rows.strangers:
                self.say(name, None, point, "refuted", "rows of a point that points.parquet does not have")
        for name, grade, reason in judged_summaries(self.sweep, self.trust):
            self.say(name, None, None, grade, reason)

    def _judge_piece(self, rows: pa.Table, marks: pa.Table, start: int, jury: Jury) -> None:
        """Judge some of points.parquet's rows, the first of which stands at `start`."""
        columns = [column.to_pylist() for column in marks.columns]
        columns += [rows[name].to_pylist() for name in ("config", "status", "rows", "seal")]
        names = self.sweep.parameters
        parameters = [parameter_values(rows, name) for name in names]
        wanted: list[_Point] = []
        for place, (point, first, is_wanted, *told) in enumerate(zip(*columns, strict=True)):
            if first != start + place:
                self.say("points", None, point, "refuted", "listed twice")
            elif is_wanted:
                wanted.append(_Point(first, point, told[0], _promised(_delivered(told[1], told[2]))))
                self._count_rows(wanted[-1])
            values = {name: column[place] for name, column in zip(names, parameters, strict=True)}
            if is_wanted and seal_of(point, values, *told[:3]) != told[3]:
                self.say("points", None, point, "refuted", "its row in points.parquet is not the one that was written")
        self._judge_together(wanted)
        for one, said in zip(wanted, jury.verdicts(map(self._case, wanted)), strict=True):
            for name in one.promised:
                together = self.told.pop((one.hash, name), [])
                verdicts = heard(together, name, self.tables[name].count(one.place)) if together else said.get(name, [])
                for verdict in verdicts:
                    for row in (None,) if verdict.row is None else range(verdict.row, verdict.row + verdict.count):
                        self.say(name, row, one.hash, verdict.grade, verdict.reason)
            self.judged += 1
            self.heard(self.judged)

    def _open_tables(self) -> None:
        declared = self.sweep.manifest.get("columns", {})
        promised = set(self.sweep.manifest.get("tables", {}))
        for name in sorted({*self.sweep.table_names, *promised} - set(_OWN_TABLES)):
            try:
                self.infos[name] = self.sweep.info(name)
                if name not in self.sweep.table_names:
                    continue
                if not self.sweep.is_described(name):
                    self.say(name, None, None, "unchecked", "neither the table nor the manifest says how it is judged")
                table = self.sweep.table(name)
                rows = _Rows(table, self.points)
            except (MinimexError, ValueError, KeyError, pa.ArrowException) as error:
                self.say(name, None, None, "refuted", f"the table cannot be read: {error}")
                continue
            came = [[one.name, str(one.type)] for one in table.schema if one.name != "point"]
            if name in declared and _plain(came) != _plain(declared[name]):
                self.say(name, None, None, "refuted", f"its columns are {came}, declared were {declared[name]}")
            self.tables[name] = rows

    def _count_rows(self, point: _Point) -> None:
        for name in {**point.promised, **self.tables}:
            have, delivered = self.tables[name].count(point.place) if name in self.tables else 0, point.promised.get(name, 0)
            if have != delivered:
                self.say(name, None, point.hash, "refuted", f"{have} rows, but {delivered} were delivered")

    def _judge_together(self, points: Sequence[_Point]) -> None:
        """Ask the checkers that take many points at once."""
        for name, table in self.tables.items():
            check = self._check_of(name)
            if check is None or sister_of(check, self.trust) is None:
                continue
            for start in range(0, len(points), _TOGETHER):
                asked = [
                    one
                    for one in points[start : start + _TOGETHER]
                    if 0 < table.count(one.place) == one.promised.get(name, 0) <= _FEW_ROWS
                    and self.checkers.can_build(one.hash, one.config)
                ]
                if len(asked) > 1:
                    places = [one.place for one in asked]
                    tables = {other: rows.together(places) for other, rows in self.tables.items()}
                    said = self.checkers.judge_together(name, check, [(one.hash, one.config) for one in asked], tables)
                    self.told.update({(point, name): verdicts for point, verdicts in said.items()})

    def _case(self, point: _Point) -> Case:
        checks = {name: check for name in point.promised if (check := self._check_of(name)) and (point.hash, name) not in self.told}
        return Case(
            point.hash, point.config, checks, {name: one.of(point.place) for name, one in self.tables.items()} if checks else {}
        )

    def _check_of(self, name: str) -> str | None:
        return self.infos[name].check if name in self.infos else None


def _delivered(status: str, rows: str) -> str:
    return rows if status in ("done", "incomplete") else "{}"


def _plain(columns: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return names and types without what other writers of Parquet change: names of list items, 64-bit offsets."""
    return [[name, re.sub(r"<\w+: ", "<", kind).replace("large_", "")] for name, kind in columns]


@functools.lru_cache(maxsize=1024)
def _promised(rows: str) -> Mapping[str, int]:
    try:
        said = json.loads(rows)
        return {str(name): int(count) for name, count in said.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
