"""A sweep's tables joined with its points and with what the checkers said, in whole columns: 100,000 points take a second."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.report.markup import setting_text
from pipeline.store import DamagedTable, SweepDir, parameter_values, ranks, read_table
from solvers.contract import GRADES
from solvers.schema import TableInfo

Integers = npt.NDArray[np.int64]
NOT_JUDGED = -1
REFUTED = GRADES.index("refuted")
_LABEL_PARTS = 6
_EXACT = re.compile(r"[+-]?(\d+(/\d+)?|\d*\.?\d+([eE][+-]?\d{1,3})?)")
_LONGEST_NUMBER = 2000


# ---- parameters --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """A parameter of all points: point `i` has `values[codes[i]]`."""

    name: str
    codes: Integers
    values: list[Any]

    def text(self, point: int) -> str:
        return setting_text(self.values[self.codes[point]])

    @functools.cached_property
    def numbers(self) -> list[Fraction | float | int | None]:
        """Its values as numbers, None where one is none; "1/60" is a number, true is not."""
        return [as_number(value) for value in self.values]

    def is_numeric(self, points: Integers) -> bool:
        """Say whether it is a number for all these points (those that have it at all)."""
        used = np.unique(self.codes[points]).tolist()
        given = [code for code in used if self.values[code] is not None]
        return len(given) > 1 and all(self.numbers[code] is not None for code in given)


@dataclass(frozen=True)
class Points:
    """The points of a sweep, numbered as they stand in points.parquet."""

    table: pa.Table
    parameters: tuple[Parameter, ...]

    @functools.cached_property
    def hashes(self) -> pa.Array:
        return _whole(self.table["point"].cast(pa.string()))

    def varied(self, points: Integers) -> list[Parameter]:
        """Return the parameters that differ among these points; of several that always change together, the first."""
        found: dict[bytes, Parameter] = {}
        for one in self.parameters:
            _, first, inverse = np.unique(one.codes[points], return_index=True, return_inverse=True)
            if len(first) > 1:
                found.setdefault(np.argsort(np.argsort(first))[inverse].tobytes(), one)
        return list(found.values())

    def label(self, point: int, varied: Sequence[Parameter]) -> str:
        """Say which point it is by what is not the same for all."""
        given = [one for one in varied if one.values[one.codes[point]] is not None]
        said = " \u00b7 ".join(f"{one.name} = {one.text(point)}" for one in given[:_LABEL_PARTS])
        return said or f"point {self.hashes[point].as_py()[:8]}"


def points_of(sweep: SweepDir) -> Points:
    """Read a sweep's points."""
    table = sweep.brief
    return Points(table, tuple(_parameter(table, name) for name in sweep.parameters))


def as_number(value: Any) -> Fraction | float | int | None:
    """Return a value as a number if it is one, exactly if it can be.

    Examples
    --------
    >>> as_number("1/60"), as_number(3), as_number("rock"), as_number(True)
    (Fraction(1, 60), 3, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and not (len(value) <= _LONGEST_NUMBER and _EXACT.fullmatch(value)):
        return None
    try:
        return Fraction(value)
    except ZeroDivisionError:
        return None


def as_float(value: Any) -> float:
    """Return a value as a float, nan if it is no number or beyond float64."""
    found = as_number(value)
    try:
        return math.nan if found is None else float(found)
    except OverflowError:
        return math.nan


def _parameter(table: pa.Table, name: str) -> Parameter:
    column = _whole(table[name])
    if pa.types.is_null(column.type):
        return Parameter(name, np.zeros(len(column), np.int64), [None])
    encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    codes = encoded.indices
    if codes.null_count:
        codes = pc.fill_null(codes, len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    one = pa.table([values], pa.schema([table.schema.field(name).with_type(values.type)]))
    return Parameter(name, codes.to_numpy(zero_copy_only=False).astype(np.int64), parameter_values(one, name))


# ---- findings ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """A table of a sweep; row `i` is row `within[i]` of point `owner[i]`, judged `GRADES[grade[i]]` (or not judged)."""

    name: str
    info: TableInfo
    table: pa.Table
    owner: Integers
    within: Integers
    grade: Integers
    verdicts: pa.Table | None

    @functools.cached_property
    def owners(self) -> Integers:
        """The points that have rows here, in the order of points."""
        return np.unique(self.owner)

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have which grade, worst first; those without one are not counted."""
        found = np.bincount(self.grade[self.grade != NOT_JUDGED], minlength=len(GRADES))
        return {name: int(count) for name, count in reversed(list(zip(GRADES, found, strict=True))) if count}

    @property
    def is_refuted(self) -> bool:
        """Say whether any verdict refutes something here, a row or the whole table."""
        return self.verdicts is not None and bool(pc.any(pc.equal(self.verdicts["grade"], "refuted")).as_py())

    def firsts(self) -> tuple[Integers, Integers, Integers]:
        """Return every point's first row: points, rows, how many rows each has."""
        points, rows, counts = np.unique(self.owner, return_index=True, return_counts=True)
        return points, rows, counts

    def lasts(self) -> Integers:
        """Return every point's last row, in the order of the table."""
        _, rows = np.unique(self.owner[::-1], return_index=True)
        return np.sort(len(self.owner) - 1 - rows)


def checks_of(sweep: SweepDir) -> pa.Table | None:
    """Read what `verify` wrote; None if nobody judged yet.

    Raises
    ------
    DamagedTable
        If the file is there and cannot be read, or is no table of verdicts.
    """
    path = sweep.root / "checks.parquet"
    if not path.exists():
        return None
    checks = read_table(path)
    missing = {"table", "row", "point", "grade", "reason"} - set(checks.schema.names)
    if missing:
        raise DamagedTable(path, f"no column {', '.join(sorted(missing))}")
    return checks


def findings_of(sweep: SweepDir, name: str, points: Points, checks: pa.Table | None) -> Findings:
    """Read one table and join it with points and checks; rows of unknown points are left out.

    Raises
    ------
    DamagedTable
        If it cannot be read.
    """
    path = sweep.root / "tables" / name
    try:
        info = sweep.info(name)
        table = sweep.table(name)
        owner = _filled(ranks(table["point"], points.hashes))
    except (KeyError, ValueError, pa.ArrowException) as error:
        raise error if isinstance(error, DamagedTable) else DamagedTable(path, str(error).splitlines()[0]) from error
    if (owner < 0).any():
        table, owner = table.filter(pa.array(owner >= 0)), owner[owner >= 0]
    within = _within(owner)
    verdicts = None if checks is None else _verdicts_on(name, checks)
    return Findings(name, info, table, owner, within, _grades(owner, within, points, verdicts), verdicts)


def _verdicts_on(name: str, checks: pa.Table) -> pa.Table:
    mine = pc.fill_null(pc.equal(checks["table"], name), False)  # noqa: FBT003
    return checks if pc.all(mine).as_py() else checks.filter(mine)  # often there is one table: no copy


def _within(owner: Integers) -> Integers:
    """Number the rows of each point from 0, wherever they stand."""
    order = np.argsort(owner, kind="stable")
    stands = owner[order]
    starts = np.flatnonzero(np.r_[True, stands[1:] != stands[:-1]]) if len(stands) else np.zeros(0, np.int64)
    within = np.empty(len(owner), np.int64)
    within[order] = np.arange(len(owner)) - np.repeat(starts, np.diff(np.r_[starts, len(owner)]))
    return within


def _grades(owner: Integers, within: Integers, points: Points, verdicts: pa.Table | None) -> Integers:
    """Return each row's worst grade."""
    grades = np.full(len(owner), NOT_JUDGED, np.int64)
    if verdicts is None or not len(verdicts) or not len(owner):
        return grades
    judged = _filled(ranks(verdicts["point"], points.hashes))
    rows = _filled(verdicts["row"])
    said = _filled(pc.index_in(verdicts["grade"], value_set=pa.array(GRADES)))
    width = int(within.max()) + 1
    good = (judged >= 0) & (rows >= 0) & (rows < width) & (said >= 0)
    keys = owner * width + within
    order = np.argsort(keys)
    wanted = judged[good] * width + rows[good]
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    hit = keys[order[place]] == wanted
    np.maximum.at(grades, order[place[hit]], said[good][hit])
    return grades


def _filled(column: Any) -> Integers:
    filled: Integers = pc.fill_null(_whole(column), -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return filled


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def outcome_counts(table: pa.Table) -> dict[str, int]:
    """Return how many points ended in which status, those that need attention first."""
    order = ("failed", "timeout", "incomplete", "done")
    if not len(table):
        return {}
    found = {one["values"] or "?": one["counts"] for one in pc.value_counts(_whole(table["status"])).to_pylist()}
    return {name: found[name] for name in sorted(found, key=lambda name: order.index(name) if name in order else -1)}
