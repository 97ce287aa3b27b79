"""A sweep from its points to published, judged, recorded tables. Only the driver writes.

The path: what is known already (this directory, then its siblings) -> tasks -> scheduler -> journal, once a second -> publish ->
verify -> manifest -> report and MLflow -> findings. What is durable stays so whatever happens next; Ctrl-C publishes and ends
with 130, and the same command goes on.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console

from pipeline.checkpoints import CheckpointStore
from pipeline.display import Display
from pipeline.events import Chunk, Limits, Outcome, Task
from pipeline.executors import Executor
from pipeline.journal import Journal, locked, recorded_points
from pipeline.points import Point
from pipeline.scheduler import Scheduler
from pipeline.settings import Settings
from pipeline.store import OUTCOME, POINT, PROGRESS, parameter_column, point_array, ranks, table_files, write_text
from solvers.builder import holds_files, inputs_of
from solvers.identity import digest, lineage
from solvers.schema import info_to_json

_COMMIT_S = 1.0
_COMMIT_BYTES = 128 << 20
_PUBLISH_S = 600.0
_SMALL_S = 20.0
_FIRST_FEW = 5
_INTERRUPTED = 130


@dataclass
class Run:
    """One command at work on its directory."""

    root: Path
    points: Sequence[Point]
    settings: Settings
    console: Console
    interrupted: bool = False
    failed: bool = False
    journal: Journal = field(init=False)
    checkpoints: CheckpointStore = field(init=False)
    by_hash: dict[str, Point] = field(init=False)
    buffer: _Buffer = field(init=False)
    new: list[str] = field(default_factory=list)  # points computed or taken over by this command
    lines: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_hash = {point.hash: point for point in self.points}
        self.journal = Journal(self.root)
        self.siblings = [path for path in sorted(self.root.resolve().parent.glob("*")) if _is_sibling(path, self.root)]
        self.checkpoints = CheckpointStore(self.root, self.siblings)
        self.buffer = _Buffer()

    # ---- what is known ----

    def todo(self) -> list[Point]:
        """Return the points that must be computed, after taking over what siblings know."""
        self.journal.publish(list(self.by_hash))
        known = statuses(self.journal.recorded())
        for line in self.journal.said:
            self.console.print(line, style="yellow")
        settled = {"done"} if self.settings.retry_failed else {"done", "incomplete", "failed", "timeout"}
        wanted = [point for point in self.points if known.get(point.hash) not in settled]
        taken = self._take_from_siblings(wanted) if wanted else set()
        return [point for point in wanted if point.hash not in taken]

    def _take_from_siblings(self, wanted: Sequence[Point]) -> set[str]:
        taken: set[str] = set()
        missing = pa.array([point.hash for point in wanted], pa.string())
        for sibling in self.siblings:
            if len(taken) == len(wanted):
                break
            taken |= self._take(sibling, missing, taken)
        if taken:
            self.console.print(f"{len(taken):,} points taken over from other sweeps of {self.root.resolve().parent.name}/")
        return taken

    def _take(self, sibling: Path, missing: pa.Array, taken: set[str]) -> set[str]:
        try:
            points = pq.read_table(sibling / "points.parquet", partitioning=None)
            done = points.filter(pc.and_(pc.equal(points["status"], "done"), pc.is_valid(ranks(points["point"], missing))))
            hashes = [one for one in done["point"].cast(pa.string()).to_pylist() if one not in taken]
            if not hashes:
                return set()
            known = pa.array(hashes, pa.string())
            rows = done.filter(pc.is_valid(ranks(done["point"], known))).select(["point", *OUTCOME.names])
            names = {name for text in rows["rows"].to_pylist() for name, count in json.loads(text or "{}").items() if count}
            tables = {}
            for name in [*sorted(names), "progress"]:
                files = table_files(sibling, name)
                whole = pa.concat_tables([pq.read_table(path, partitioning=None) for path in files]) if files else None
                if whole is not None:
                    tables[name] = whole.filter(pc.is_valid(ranks(whole["point"], known)))
            if not _all_there(rows, tables):
                return set()
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return set()  # a sibling that cannot be read has nothing to give
        order = rows["point"].cast(pa.string()).to_pylist()
        self.journal.commit(_with_parameters(rows, [self.by_hash[point] for point in order]), tables)
        self._store_inputs([self.by_hash[point] for point in order])
        self.new += hashes
        return set(hashes)

    # ---- computing ----

    def compute(self, todo: list[Point], executor: Executor, limits: Limits) -> None:
        """Compute points and commit what comes, until all are reported or somebody interrupts."""
        self._store_inputs(todo)
        names = _Names(self.by_hash)
        scheduler = Scheduler(executor, limits, self.settings.compute.attempts, self._stopping)
        published = time.monotonic()
        with Display(self.console, len(self.points), len(self.points) - len(todo), executor.slots) as display:
            for chunk in scheduler.run(self._tasks(todo)):
                self._take_in(chunk)
                display.update(chunk, scheduler.busy, names)
                if self.buffer.is_due():
                    self.commit()
                if time.monotonic() - published > _PUBLISH_S:
                    self.commit()
                    self.journal.publish(list(self.by_hash))
                    published = time.monotonic()
        self.commit()

    def _tasks(self, todo: list[Point]) -> Iterator[Task]:
        if any(hasattr(point.solver, "cost") for point in todo):
            todo = sorted(todo, key=_cost, reverse=True)
        for point in todo:
            yield Task(point.hash, point.game, point.solver, point.seed, self._resume(point))

    def _resume(self, point: Point) -> bytes | None:
        if not self.checkpoints.known:
            return None
        extent = type(point.solver).extent
        at_most = int(getattr(point.solver, extent)) if extent is not None else None
        return self.checkpoints.longest(lineage(point.game, point.solver, point.seed), at_most)

    def _take_in(self, chunk: Chunk) -> None:
        for saved in chunk.saved:
            self.lines[saved.point] = saved.lineage
            self.checkpoints.save(saved)
        for outcome in chunk.finished:
            point = self.by_hash[outcome.point]
            self.new.append(outcome.point)
            self.failed = self.failed or outcome.status in ("failed", "timeout")
            if outcome.status == "done" and type(point.solver).extent is None and outcome.point in self.lines:
                self.checkpoints.drop(self.lines.pop(outcome.point))
        self.buffer.add(chunk)

    def commit(self) -> None:
        """Make all that came so far durable."""
        outcomes, tables = self.buffer.take()
        if outcomes:
            rows = outcome_table(outcomes)
            self.journal.commit(_with_parameters(rows, [self.by_hash[one.point] for one in outcomes], outcomes), tables)

    def _stopping(self) -> bool:
        return self.interrupted or (self.failed and self.settings.on_error == "stop")

    def _store_inputs(self, points: Sequence[Point]) -> None:
        classes = {type(point.game): holds_files(type(point.game)) for point in points}
        classes |= {type(point.solver): holds_files(type(point.solver)) for point in points}
        if not any(classes.values()):
            return
        folder = self.root / "inputs"
        folder.mkdir(exist_ok=True)
        for point in points:
            for part in (point.game, point.solver):
                for sha, content in inputs_of(part).items() if classes[type(part)] else ():
                    if not (folder / sha).exists():
                        partial = folder / f".{sha}"
                        partial.write_bytes(content)
                        partial.rename(folder / sha)


# ---- one command -------------------------------------------------------------------------------------------------------------


def run_sweep(points: Sequence[Point], settings: Settings, default_name: str, console: Console) -> int:
    """Compute what is missing of a sweep, publish, judge, record and show it; return the exit status.

    Raises
    ------
    DirectoryBusy
        If another driver holds the directory.
    ConfigError
        If a cluster that was asked for cannot be reached.
    """
    root = settings.folder(default_name)
    with locked(root):
        run = Run(root, points, settings, console)
        with _signals(run):
            todo = run.todo()
            if todo:
                _compute(run, todo)
            run.journal.publish(list(run.by_hash))
        from pipeline.aftermath import conclude  # noqa: PLC0415 (report and MLflow cost time to import)

        status = conclude(run)
    return _INTERRUPTED if run.interrupted else status


def default_name(points: Sequence[Point]) -> str:
    """Return the directory name of an ad-hoc sweep: what it is about, and six digits of its hash."""
    whole = digest("".join(sorted(point.hash for point in points)))
    about = [sorted({str(point.parameters[group]) for point in points}) for group in ("game", "solver")]
    return "-".join([*("+".join(names[:3]) for names in about), whole[:6]])


def dry_run(points: Sequence[Point], settings: Settings, name: str, console: Console) -> None:
    """Say what a command would do."""
    root = settings.folder(name)
    known = statuses(recorded_points(root))
    done = sum(1 for point in points if known.get(point.hash) == "done")
    other = sum(1 for point in points if known.get(point.hash, "done") != "done")
    more = f", {other:,} failed or incomplete" if other else ""
    console.print(f"{root}: {len(points):,} points, {done:,} done already{more}")
    names = _Names({point.hash: point for point in points[:_FIRST_FEW]})
    for point in points[:_FIRST_FEW]:
        console.print(f"  {names[point.hash]} seed={point.seed}", markup=False, soft_wrap=True)
    if len(points) > _FIRST_FEW:
        console.print(f"  ... {len(points) - _FIRST_FEW:,} more")


def _compute(run: Run, todo: list[Point]) -> None:
    compute = run.settings.compute
    stacks = tempfile.mkdtemp(prefix="minimex-stacks-")
    try:
        limits = Limits(compute.box_s, compute.timeout_s, compute.memory_gb, compute.checkpoint_s, stacks)
        executor, limits = _executor(run, todo, limits)
        try:
            run.compute(todo, executor, limits)
        finally:
            executor.close()
    finally:
        run.commit()
        shutil.rmtree(stacks, ignore_errors=True)


def _executor(run: Run, todo: Sequence[Point], limits: Limits) -> tuple[Executor, Limits]:
    """Return where to compute: as asked, except that one small point does not wait for Ray to start."""
    compute = run.settings.compute
    small = len(todo) == 1 and not run.settings.chose_compute and _cost(todo[0]) < _SMALL_S
    if compute.kind == "inline" or (compute.kind == "ray" and small):
        from pipeline.executors.inline import ChildExecutor, InlineExecutor  # noqa: PLC0415

        limited = compute.timeout_s is not None or compute.memory_gb is not None
        return (ChildExecutor(limits) if limited else InlineExecutor(limits)), limits
    from dataclasses import replace  # noqa: PLC0415

    from pipeline.executors.ray import RayExecutor, versions  # noqa: PLC0415

    began = time.monotonic()
    limits = replace(limits, version=versions())
    executor = RayExecutor(limits, compute.cpus, compute.address if compute.kind == "cluster" else None)
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))  # Ray takes SIGTERM for itself
    run.console.print(f"{executor.where} (Ray took {time.monotonic() - began:.0f} s to start)")
    return executor, limits


@contextmanager
def _signals(run: Run) -> Iterator[None]:
    """Let SIGINT and SIGTERM set a flag; a second one ends at once."""

    def note(number: int, frame: Any) -> None:
        if run.interrupted:
            raise KeyboardInterrupt
        run.interrupted = True

    previous = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


# ---- rows --------------------------------------------------------------------------------------------------------------------


class _Buffer:
    """Rows that came since the last commit."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.tables: dict[str, list[pa.Table]] = {}
        self.advanced: dict[str, list[Any]] = {}
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


def _progress_table(steps: Sequence[Any]) -> pa.Table:
    rows = [
        (step.point, step.done, step.total, step.elapsed_s, name, value)
        for step in steps
        for name, value in (step.metrics or {"": None}).items()
    ]
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, kind) for column, kind in zip(columns[1:], PROGRESS.types[1:], strict=True)]
    return pa.Table.from_arrays([pa.array(columns[0], pa.string()).dictionary_encode(), *arrays], schema=PROGRESS)


def outcome_table(outcomes: Sequence[Outcome]) -> pa.Table:
    """Return the rows of points.parquet without parameters; `config` and `attempts` are still null."""
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
    }
    table = pa.table(columns, schema=OUTCOME)
    return table.add_column(0, POINT, point_array([one.point for one in outcomes]))


def _map_text(values: Mapping[str, Any]) -> str:
    finite = {name: value for name, value in values.items() if value == value and abs(value) != float("inf")}  # noqa: PLR0124
    return json.dumps(finite, sort_keys=True, separators=(",", ":"))


def _with_parameters(rows: pa.Table, points: Sequence[Point], outcomes: Sequence[Outcome] = ()) -> pa.Table:
    """Put parameters and configs to outcome rows."""
    configs = pa.array([point.config for point in points], pa.string())
    rows = rows.set_column(rows.schema.get_field_index("config"), OUTCOME.field("config"), configs)
    if outcomes:
        attempts = pa.array([one.attempts for one in outcomes], pa.int32())
        rows = rows.set_column(rows.schema.get_field_index("attempts"), OUTCOME.field("attempts"), attempts)
    names = dict.fromkeys(name for point in points for name in point.parameters)
    for place, name in enumerate(names, 1):
        one, values = parameter_column(name, [point.parameters.get(name) for point in points])
        rows = rows.add_column(place, one, values)
    return rows


def statuses(points: pa.Table | None) -> Mapping[str, str]:
    """Return each recorded point's status."""
    if points is None:
        return {}
    return dict(zip(points["point"].cast(pa.string()).to_pylist(), points["status"].to_pylist(), strict=True))


def _all_there(rows: pa.Table, tables: Mapping[str, pa.Table]) -> bool:
    wanted: dict[str, int] = {}
    for text in rows["rows"].to_pylist():
        for name, count in json.loads(text or "{}").items():
            wanted[name] = wanted.get(name, 0) + count
    return all(len(tables[name]) == count if name in tables else count == 0 for name, count in wanted.items())


def _is_sibling(path: Path, root: Path) -> bool:
    return path.resolve() != root.resolve() and (path / "points.parquet").exists()


def _cost(point: Point) -> float:
    cost: Callable[[Any], float] | None = getattr(point.solver, "cost", None)
    return float(cost(point.game)) if cost is not None else 0.0


class _Names(Mapping[str, str]):
    """How people call a point, made when asked for."""

    def __init__(self, by_hash: Mapping[str, Point]) -> None:
        self.by_hash = by_hash

    def __getitem__(self, point: str) -> str:
        return " ".join(f"{name}={value}" for name, value in self.by_hash[point].parameters.items() if name != "seed")

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_hash)

    def __len__(self) -> int:
        return len(self.by_hash)


def declared_tables(points: Sequence[Point]) -> dict[str, pa.Schema]:
    """Return the schemas of all tables these points may fill."""
    return {name: schema for solver in {type(point.solver) for point in points} for name, schema in solver.tables.items()}


def keep_manifest(root: Path, points: Sequence[Point], settings: Settings, **more: Any) -> dict[str, Any]:
    """Update manifest.json: what the tables are and claim, the commands, whatever else is given; return it."""
    import importlib.metadata  # noqa: PLC0415
    import platform  # noqa: PLC0415

    path = root / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        manifest = {"format": 1, "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    schemas = declared_tables(points)
    manifest["tables"] = manifest.get("tables", {}) | {name: info_to_json(schema) for name, schema in schemas.items()}
    manifest["columns"] = manifest.get("columns", {}) | {
        name: [[one.name, str(one.type)] for one in schema] for name, schema in schemas.items()
    }
    commands = [one for one in manifest.get("commands", []) if one != settings.command]
    manifest["commands"] = [*commands, settings.command][-20:]
    manifest["experiment"] = settings.experiment or manifest.get("experiment")
    packages = ("minimex", "ray", "mlflow", "pyarrow", "numpy", "numba")
    manifest["versions"] = {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}
    manifest.update(more)
    write_text(path, json.dumps(manifest, indent=1, sort_keys=True))
    return manifest
