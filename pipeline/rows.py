"""From what workers report to rows of points.parquet and of the pipeline's own table `progress`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.events import Advanced, Chunk, Outcome
from pipeline.points import Point
from pipeline.store import OUTCOME, POINT, PROGRESS, parameter_column, point_array
from solvers.identity import canonical, digest

_COMMIT_S = 1.0
_COMMIT_BYTES = 128 << 20
_NO_METRICS = (("", None),)


class Buffer:
    """Rows that came since the last commit."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.tables: dict[str, list[pa.Table]] = {}
        self.advanced: dict[str, list[Advanced]] = {}
        self.bytes = 0
        self.since = time.monotonic()

    def add(self, chunk: Chunk) -> None:
        for step in chunk.advanced:
            self.advanced.setdefault(step.point, []).append(step)
        for name, table in chunk.tables.items():
            self.tables.setdefault(name, []).append(table)
            self.bytes += table.nbytes
        self.outcomes += chunk.finished

    def is_due(self) -> bool:
        return bool(self.outcomes) and (self.bytes > _COMMIT_BYTES or time.monotonic() - self.since > _COMMIT_S)

    def take(self) -> tuple[list[Outcome], dict[str, pa.Table]]:
        """Return all rows of finished points; what running ones said so far stays."""
        outcomes, tables = self.outcomes, {name: pa.concat_tables(parts) for name, parts in self.tables.items()}
        steps = [step for one in outcomes for step in self.advanced.pop(one.point, ())]
        if steps:
            tables["progress"] = _progress_table(steps)
        self.outcomes, self.tables, self.bytes, self.since = [], {}, 0, time.monotonic()
        return outcomes, tables


def _progress_table(steps: Sequence[Advanced]) -> pa.Table:
    rows = [
        (step.point, step.done, step.total, step.elapsed_s, name, value)
        for step in steps
        for name, value in (step.metrics.items() if step.metrics else _NO_METRICS)
    ]
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, kind) for column, kind in zip(columns[1:], PROGRESS.types[1:], strict=True)]
    return pa.Table.from_arrays([pa.array(columns[0], pa.string()).dictionary_encode(), *arrays], schema=PROGRESS)


def outcome_table(outcomes: Sequence[Outcome]) -> pa.Table:
    """Return the rows of points.parquet without parameters; `config`, `attempts` and `seal` are still null."""
    columns = {
        "config": pa.nulls(len(outcomes), pa.string()),
        "status": [one.status for one in outcomes],
        "error": [one.error for one in outcomes],
        "traceback": [one.traceback for one in outcomes],
        "wall_s": [one.wall_s for one in outcomes],
        "attempts": pa.nulls(len(outcomes), pa.int32()),
        "node": [one.node for one in outcomes],
        "metrics": [_map_text(one.metrics) for one in outcomes],
        "rows": [_map_text(one.rows) for one in outcomes],
        "seal": pa.nulls(len(outcomes), pa.string()),
    }
    table = pa.table(columns, schema=OUTCOME)
    return table.add_column(0, POINT, point_array([one.point for one in outcomes]))


def _map_text(values: Mapping[str, float]) -> str:
    finite = {name: value for name, value in values.items() if math.isfinite(value)}
    return json.dumps(finite, sort_keys=True, separators=(",", ":"))


def with_parameters(rows: pa.Table, points: Sequence[Point], outcomes: Sequence[Outcome] = ()) -> pa.Table:
    """Put parameters and configs to outcome rows, and seal them."""
    told: dict[str, list[Any]] = {"config": [], "seal": []}
    if outcomes:
        told["attempts"] = [one.attempts for one in outcomes]
    columns: dict[str, list[Any]] = {}
    for place, (point, status, counts) in enumerate(zip(points, rows["status"].to_pylist(), rows["rows"].to_pylist(), strict=True)):
        config, parameters = point.config, point.parameters
        told["config"].append(config)
        told["seal"].append(seal_of(point.hash, parameters, config, status, counts))
        for name, value in parameters.items():
            column = columns.setdefault(name, [])
            column += [None] * (place - len(column))
            column.append(value)
    for name, values in told.items():
        one = OUTCOME.field(name)
        rows = rows.set_column(rows.schema.get_field_index(name), one, pa.array(values, one.type))
    for place, (name, values) in enumerate(columns.items(), 1):
        rows = rows.add_column(place, *parameter_column(name, [*values, *[None] * (len(points) - len(values))]))
    return rows


def seal_of(point: str, parameters: Mapping[str, Any], config: str, status: str, rows: str) -> str:
    """Return the hash of what a row of points.parquet claims, so that a changed parameter is found though it proves nothing."""
    texts = {name: value if isinstance(value, str) else canonical(value) for name, value in parameters.items() if value is not None}
    return digest(canonical([point, texts, config, status, rows]))


def with_status(points: Sequence[Point], recorded: pa.Table | None, statuses: Sequence[str]) -> list[bool]:
    """Say of each point whether it is recorded with one of these statuses."""
    if recorded is None:
        return [False] * len(points)
    fitting = recorded.filter(pc.is_in(recorded["status"], value_set=pa.array(statuses)))["point"]
    hashes = pa.array([point.hash for point in points], pa.string())
    found: list[bool] = pc.is_in(hashes, value_set=fitting.cast(pa.string()).combine_chunks()).to_pylist()
    return found
