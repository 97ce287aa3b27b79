"""A sweep in few words, for whoever keeps its record (MLflow): parameters, aggregates, whether it was verified, its first findings.

Knows no MLflow. Everything is read from the published directory, and nothing is unpacked row by row that grows with the sweep,
except the points' metrics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pipeline.pictures import short_names
from pipeline.store import SweepDir, parameter_values, read_table, spans, table_files
from solvers.contract import GRADES

STATUSES = ("done", "incomplete", "failed", "timeout")

_HEADLINES = 100
_TEXT = 500
_CELL = 200
_LISTED = 8
_TARGETS = (
    r'^\{"game":\{"fields":.*?"target":"(?P<game>[^"]+)","version":\d+\},"seed":.*"target":"(?P<solver>[^"]+)","version":\d+\}\}$'
)


def read_checks(sweep: SweepDir) -> pa.Table | None:
    """Return the verdicts; None if nobody verified the sweep."""
    path = sweep.root / "checks.parquet"
    return read_table(path) if path.exists() else None


def parameter_texts(sweep: SweepDir) -> dict[str, str]:
    """Return the games, the solvers, and which values each parameter takes, each at most 500 characters."""
    games, solvers = _games_and_solvers(sweep)
    return {"games": listed(games), "solvers": listed(solvers)} | {
        name: values_text(sweep.brief[name]) for name in sweep.parameters
    }


def _games_and_solvers(sweep: SweepDir) -> tuple[list[str], list[str]]:
    """Return the chosen games and solvers: by the name they were chosen by, else by class."""
    names = []
    for kind in ("game", "solver"):
        chosen = pc.drop_null(pc.unique(sweep.brief[kind])).to_pylist() if kind in sweep.parameters else []
        names.append(sorted(str(one) for one in chosen) or _classes(sweep, kind))
    return names[0], names[1]


def _classes(sweep: SweepDir, kind: str) -> list[str]:
    found = pc.extract_regex(pc.drop_null(sweep.points_column("config")), _TARGETS)
    return sorted(one.rpartition(".")[2] for one in pc.unique(pc.struct_field(found, kind)).drop_null().to_pylist())


def values_text(column: pa.ChunkedArray) -> str:
    """Say which values a parameter takes: all of them if they are few, else how many, from where to where."""
    values = [value for value in pc.unique(column).to_pylist() if value is not None]
    if len(values) > _LISTED and all(isinstance(value, int | float) for value in values):
        return f"{len(values)} values, {min(values)} to {max(values)}"
    return listed([str(value) for value in values])


def listed(texts: list[str]) -> str:
    """Join texts, at most 500 characters."""
    whole = ", ".join(texts)
    if len(whole) <= _TEXT:
        return whole
    head = whole[: _TEXT - 40]
    return f"{head[: head.rfind(', ')] if ', ' in head else head}, ... ({len(texts)} values)"


def _row_count(sweep: SweepDir, name: str) -> int:
    return sum(pq.read_metadata(path).num_rows for path in table_files(sweep.root, name))


def verified(sweep: SweepDir, checks: pa.Table | None) -> str:
    """Say whether every finding was judged and reached the grade its table claims: yes, no or unjudged."""
    claims = {name: sweep.info(name).claims for name in sweep.table_names}
    if checks is None or not len(checks) or not any(claims.values()):
        return "unjudged"
    judged = checks.group_by(["table", "grade"]).aggregate([]).to_pylist()
    reached = [GRADES.index(one["grade"]) <= GRADES.index(claims.get(one["table"]) or "unchecked") for one in judged]
    if not all(reached):
        return "no"
    rows = checks.filter(pc.is_valid(checks["row"])).group_by(["table", "point", "row"]).aggregate([])
    count = {one["values"]: one["counts"] for one in rows["table"].value_counts().to_pylist()}
    return "yes" if all(count.get(name, 0) >= _row_count(sweep, name) for name, grade in claims.items() if grade) else "unjudged"


def aggregates(sweep: SweepDir, checks: pa.Table | None) -> tuple[int, dict[str, float]]:
    """Return how many numbers were not finite, and the numbers that describe the sweep as a whole."""
    statuses = {one["values"]: one["counts"] for one in sweep.brief["status"].value_counts().to_pylist()}
    said: dict[str, float] = {f"points/{status}": statuses.get(status, 0) for status in STATUSES}
    said["points/all"] = len(sweep.brief)
    said["wall_s/total"] = pc.sum(sweep.brief["wall_s"]).as_py() or 0.0
    said["wall_s/max"] = pc.max(sweep.brief["wall_s"]).as_py() or 0.0
    for name in sweep.table_names:
        if sweep.info(name).check is not None:
            said[f"findings/{name}"] = _row_count(sweep, name)
    if checks is not None:
        grades = {one["values"]: one["counts"] for one in checks["grade"].value_counts().to_pylist()}
        said |= {f"verdicts/{grade}": grades.get(grade, 0) for grade in GRADES}
    dropped, texts = 0, [text for text in sweep.brief["metrics"].to_pylist() if text]
    values: dict[str, list[float]] = {}
    for metrics in json.loads(f"[{','.join(texts)}]"):
        for name, value in metrics.items():
            if isinstance(value, int | float):
                values.setdefault(name, []).append(number(value))
    for name, numbers in values.items():
        column = np.asarray(numbers, dtype=np.float64)
        finite = column[np.isfinite(column)]
        dropped += len(column) - len(finite)
        if len(finite):
            said |= {f"{name}/mean": float(finite.mean()), f"{name}/min": float(finite.min()), f"{name}/max": float(finite.max())}
    return dropped, said


def number(value: Any) -> float:
    """Return a number as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


# ---- first findings -----------------------------------------------------------------------------------------------------------


def first_findings(sweep: SweepDir, checks: pa.Table | None) -> Iterator[tuple[str, str]]:
    """Yield each table's first headline rows, summaries first, in the form that MLflow shows as a table (pandas' `split`)."""
    for name in sweep.summary_names:
        info = sweep.info(name)
        if info.headline != "none":
            rows = sweep.table(name).slice(0, _HEADLINES)
            names = list(info.columns) or rows.schema.names
            cells = zip(*(map(_cell, rows[one].to_pylist()) for one in names), strict=True)
            yield name, json.dumps({"columns": names, "data": list(cells)})
    for name in sweep.table_names:
        info = sweep.info(name)
        if info.headline == "none":
            continue
        data = ds.dataset([str(path) for path in table_files(sweep.root, name)], format="parquet")
        columns = list(info.columns) or [one for one in data.schema.names if one != "point"]
        if info.headline == "each":
            rows = data.head(_HEADLINES, columns=["point", *columns])
            places = _places(rows["point"].to_pylist())
        else:
            runs = list(spans(data.to_table(columns=["point"])["point"]).values())[:_HEADLINES]
            rows = data.scanner(columns=["point", *columns]).take(pa.array([one[-1][1] - 1 for one in runs], pa.int64()))
            places = [sum(stop - start for start, stop in one) - 1 for one in runs]
        if len(rows):
            yield name, _split_json(sweep, rows, columns, _grades(checks, name, rows["point"].to_pylist(), places))


def _places(points: list[str]) -> list[int]:
    """Return the place of each row within its point."""
    seen: dict[str, int] = {}
    places = []
    for point in points:
        places.append(seen.get(point, 0))
        seen[point] = places[-1] + 1
    return places


def _grades(checks: pa.Table | None, name: str, points: list[str], places: list[int]) -> list[str]:
    """Return the worst grade that each row got; "" where it was not judged."""
    if checks is None:
        return [""] * len(points)
    mine = pc.and_(pc.equal(checks["table"], name), pc.is_in(checks["point"], value_set=pa.array(sorted(set(points)))))
    worst: dict[tuple[str, int], int] = {}
    for one in checks.filter(mine).to_pylist():
        key = (one["point"], one["row"])
        worst[key] = max(worst.get(key, 0), GRADES.index(one["grade"]))
    found = [worst.get(key) for key in zip(points, places, strict=True)]
    return ["" if grade is None else GRADES[grade] for grade in found]


def _split_json(sweep: SweepDir, rows: pa.Table, columns: list[str], grades: list[str]) -> str:
    points = rows["point"].to_pylist()
    wanted = pc.index_in(pa.array(points, pa.string()), value_set=sweep.brief["point"].combine_chunks().cast(pa.string()))
    parameters = sweep.brief.take(wanted)
    varied = [name for name in sweep.varied if parameters[name].null_count < len(rows) and not _told(parameters[name], name, rows)]
    parts = [parameter_values(parameters, name) for name in varied] + [rows[name].to_pylist() for name in columns]
    data = [[_cell(value) for value in row] for row in zip(*parts, grades, points, strict=True)]
    names = short_names(varied, (*columns, "grade", "point")).values()  # MLflow's UI shows nothing under a name with a dot
    return json.dumps({"columns": [*names, *columns, "grade", "point"], "data": data})


def _told(parameter: pa.ChunkedArray, name: str, rows: pa.Table) -> bool:
    """Say whether the table has the parameter as a column of its own."""
    word = name.rpartition(".")[2]
    return word in rows.schema.names and parameter.type == rows.schema.field(word).type and parameter.equals(rows[word])


def _cell(value: Any) -> Any:
    """Return a value that JSON has and a browser reads exactly."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    text = cell_text(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 4]} ..."


def cell_text(value: Any) -> str:
    return json.dumps(value, default=str) if isinstance(value, list | dict) else str(value)
