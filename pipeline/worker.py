"""One batch of points, computed here: the only place where solvers run. Knows no Ray.

A batch is a time box: after `Limits.box_s` it starts no further point and hands the rest back. Events are gathered and leave a
chunk at a time. Whatever a point raises becomes a row with its traceback; the rest go on.
"""

from __future__ import annotations

import faulthandler
import functools
import gc
import platform
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.checkpoints import pack, unpack
from pipeline.events import Advanced, Chunk, Limits, Outcome, Saved, Task
from pipeline.store import POINT_TYPE, point_array
from solvers.contract import Checkpoint, Progress, Result, Stop, Workers
from solvers.errors import ContractError
from solvers.identity import lineage_rng
from solvers.inline import conforming, start

_FLUSH_S = 0.7  # a chunk costs some milliseconds: a batch of small points is one
_FLUSH_BYTES = 64 << 20
_GROUP = 512
_PACKING_RESTS = 20  # times as long as a checkpoint took to pack, so that large ones cost at most 5 %
_FEW_ROWS = 1000
_DOOMED_S = 60.0
_BATCH_INDEX = pa.field("batch_index", pa.int32())


FormOf = Callable[[Any, type], Any]


@functools.lru_cache(maxsize=16)
def form_here(game: Any, kind: type) -> Any:
    """Return a game's form, built here; the last ones are kept: points that differ in solver or seed share their game's."""
    return game.form(kind)


def run_batch(tasks: Sequence[Task], limits: Limits, workers: Workers, form_of: FormOf = form_here) -> Iterator[Chunk]:
    """Solve points in order and yield what happens. `form_of` gives a game's form.

    Raises
    ------
    MemoryError, KeyboardInterrupt, SystemExit
        Only from outside a point.
    """
    outbox = _Outbox()
    end = time.perf_counter() + limits.box_s
    groups = _groups(tasks, limits)
    if limits.memory_gb is not None:
        _held_at_first()
    if limits.timeout_s is not None:  # the time that passes from here is the point's
        outbox.started = tasks[0].point
        yield outbox.flush()
    worn = False
    for place, group in enumerate(groups):
        worn = place > 0 and _is_worn(limits)
        if worn or (place and time.perf_counter() > end):
            outbox.handed_back = tuple(task.point for rest in groups[place:] for task in rest)
            break
        if outbox.is_due():
            outbox.started = group[0].point
            yield outbox.flush()
        if len(group) > 1 and _solve_together(group, limits, outbox, form_of):
            continue
        for task in group:
            yield from _solve_one(task, limits, workers, outbox, form_of)
            if outbox.is_due():
                yield outbox.flush()
    if worn or _is_worn(limits):
        yield replace(outbox.flush(), worn=True)
        time.sleep(_DOOMED_S)  # until the driver, which has all by then, ends this process
    else:
        yield outbox.flush()


def _groups(tasks: Sequence[Task], limits: Limits) -> list[list[Task]]:
    """Put neighbours together that one `solve_batch` may take; others alone."""
    groups: list[list[Task]] = []
    for task in tasks:
        last = groups[-1] if groups else None
        together = hasattr(task.solver, "solve_batch") and task.resume is None and limits.timeout_s is None
        if type(task.solver).extent is not None and limits.checkpoint_s == 0:  # every checkpoint is wanted; a batch has none
            together = False
        if last is not None and together and len(last) < _GROUP and last[0].solver == task.solver and last[0].resume is None:
            last.append(task)
        else:
            groups.append([task])
    return groups


# ---- one point ---------------------------------------------------------------------------------------------------------------


def _solve_one(task: Task, limits: Limits, workers: Workers, outbox: _Outbox, form_of: FormOf) -> Iterator[Chunk]:
    began = time.perf_counter()
    try:
        with _limited(limits, task.point):
            result = yield from _drive(task, limits, workers, outbox, began, form_of=form_of)
        outbox.finished(task.point, result, began)
    except Stop:
        outbox.failed(task.point, "timeout", f"time limit of {limits.timeout_s} s reached", None, began)
    except MemoryError as error:
        said = f"memory limit of {limits.memory_gb} GB reached" if limits.memory_gb else "out of memory"
        outbox.failed(task.point, "failed", f"{said}: {error}".rstrip(": "), traceback.format_exc(), began)
    except Exception as error:  # noqa: BLE001 (the one place that catches all: it records and goes on)
        outbox.failed(task.point, "failed", f"{type(error).__name__}: {error}", traceback.format_exc(), began)


def _drive(
    task: Task, limits: Limits, workers: Workers, outbox: _Outbox, began: float, *, form_of: FormOf
) -> Generator[Chunk, None, Result]:
    """Run a solver's generator to its result (returned), passing on what it says."""
    checkpoint, rng = (None, lineage_rng(task.lineage)) if task.resume is None else unpack(task.resume)
    events = start(form_of(task.game, type(task.solver).takes), task.solver, task.lineage, workers, (checkpoint, rng))
    stored, packing_s = began, 0.0
    result: Result | None = None
    stopped = False
    event = next(events, None)
    while event is not None:
        now = time.perf_counter()
        if result is not None:
            raise ContractError(f"{type(task.solver).__name__} went on after its result")
        match event:
            case Result():
                result = conforming(event, task.solver)
            case Checkpoint(step=step):
                at_end = step == getattr(task.solver, type(task.solver).extent or "", None)
                rest_s = _PACKING_RESTS * packing_s if limits.checkpoint_s else 0.0  # 0: store every one
                if now - (began if at_end else stored) >= max(limits.checkpoint_s, rest_s):
                    outbox.saved.append(Saved(task.point, task.lineage, index(step), pack(event, rng)))
                    stored = time.perf_counter()
                    packing_s = stored - now
            case Progress():
                numbers = {name: float(value) for name, value in event.metrics.items()}
                total = None if event.total is None else index(event.total)
                outbox.advanced.append(Advanced(task.point, index(event.done), total, now - began, numbers))
            case _:
                raise ContractError(f"{type(task.solver).__name__} yielded a {type(event).__name__}")
        if outbox.is_due():
            yield outbox.flush()
        late = limits.timeout_s is not None and now - began > limits.timeout_s
        if late and not stopped and result is None:
            stopped = True
            event = _throw_stop(events)
        else:
            event = next(events, None)
    if result is None:
        raise ContractError(f"{type(task.solver).__name__} ended without a result")
    return result


def _throw_stop(events: Any) -> Any:
    try:
        return events.throw(Stop())
    except StopIteration:
        return None


# ---- many small points -------------------------------------------------------------------------------------------------------


def _solve_together(group: list[Task], limits: Limits, outbox: _Outbox, form_of: FormOf) -> bool:
    """Solve a group in one kernel call; False if that failed, so that each point answers for itself."""
    solver = group[0].solver
    began = time.perf_counter()
    try:
        with _limited(limits, group[0].point):
            forms = [form_of(task.game, type(solver).takes) for task in group]
            rngs = [lineage_rng(task.lineage) for task in group]
            result = conforming(solver.solve_batch(forms, rngs), solver, (_BATCH_INDEX,))
            parts = _split(result, len(group))
    except Exception:  # noqa: BLE001 (the points run again one by one and say what is wrong)
        return False
    share = (time.perf_counter() - began) / len(group)
    for task, (counts, metrics, complete) in zip(group, parts, strict=True):
        outbox.note(task.point, metrics, counts, share, complete=complete)
    outbox.add_tables({name: _pointed(table, group) for name, table in result.tables.items()})
    return True


def _split(result: Result, size: int) -> list[tuple[dict[str, int], dict[str, float], bool]]:
    counts = {}
    for name, table in result.tables.items():
        indices = table["batch_index"].to_numpy()
        if len(indices) and (indices.min() < 0 or indices.max() >= size or (indices[1:] < indices[:-1]).any()):
            raise ContractError(f"batch_index of table {name!r} must ascend from 0 to {size - 1}")
        counts[name] = [0] * size
        for place in indices.tolist():
            counts[name][place] += 1
    complete = result.complete if hasattr(result.complete, "__len__") else [result.complete] * size
    return [
        (
            {name: count[place] for name, count in counts.items()},
            {name: float(values[place]) for name, values in result.metrics.items()},
            bool(complete[place]),
        )
        for place in range(size)
    ]


def _pointed(table: pa.Table, group: list[Task]) -> pa.Table:
    indices = table["batch_index"].combine_chunks()
    points = pa.DictionaryArray.from_arrays(indices, pa.array([task.point for task in group], pa.string()))
    return table.set_column(0, pa.field("point", POINT_TYPE, nullable=False), points)


# ---- limits ------------------------------------------------------------------------------------------------------------------


@contextmanager
def _limited(limits: Limits, point: str) -> Iterator[None]:
    """Hold a point to its limits: an alarm that no endless loop survives, a memory limit that raises `MemoryError`.

    The alarm has SIGALRM's default action: it kills this process, after faulthandler has written the stack.
    """
    if limits.timeout_s is None and limits.memory_gb is None:
        yield
        return
    with _alarm(limits, point), _memory(limits):
        yield


@contextmanager
def _alarm(limits: Limits, point: str) -> Iterator[None]:
    if limits.timeout_s is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    file = (Path(limits.stacks) / point).open("wb") if limits.stacks and Path(limits.stacks).is_dir() else None
    previous = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if file is not None:
        faulthandler.register(signal.SIGALRM, file=file, chain=True)
    signal.setitimer(signal.ITIMER_REAL, limits.timeout_s + limits.grace_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if file is not None:
            faulthandler.unregister(signal.SIGALRM)
            file.close()
            Path(file.name).unlink(missing_ok=True)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def _memory(limits: Limits) -> Iterator[None]:
    if limits.memory_gb is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = _data_bytes() + int(limits.memory_gb * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard == resource.RLIM_INFINITY else min(allowed, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _is_worn(limits: Limits) -> bool:
    """Say whether this process goes on holding more than a point may, whatever its points gave back (libraries leak)."""
    if limits.memory_gb is None:
        return False
    allowed = _held_at_first() + limits.memory_gb * 2**30
    if _held_bytes() <= allowed:
        return False
    form_here.cache_clear()
    gc.collect()
    pa.default_memory_pool().release_unused()
    return _held_bytes() > allowed


@functools.cache
def _held_at_first() -> int:
    """Return what this process held when its first batch began."""
    return _held_bytes()


def _held_bytes() -> int:
    """Return how much memory this process alone fills."""
    _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    return (int(resident) - int(shared)) * resource.getpagesize()


def _data_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


# ---- what is on its way out --------------------------------------------------------------------------------------------------


class _Outbox:
    """Events waiting to leave."""

    def __init__(self) -> None:
        self.node = platform.node()
        self.last = time.perf_counter()
        self._clear()

    def _clear(self) -> None:
        self.started: str | None = None
        self.advanced: list[Advanced] = []
        self.saved: list[Saved] = []
        self.outcomes: list[Outcome] = []
        self.tables: dict[str, list[pa.Table]] = {}
        self.waiting: dict[str, tuple[list[str], list[int], list[pa.Table]]] = {}
        self.handed_back: tuple[str, ...] = ()
        self.bytes = 0

    def is_due(self) -> bool:
        return self.bytes > _FLUSH_BYTES or time.perf_counter() - self.last > _FLUSH_S

    def failed(self, point: str, status: Any, error: str, trace: str | None, began: float) -> None:
        wall = time.perf_counter() - began
        self.outcomes.append(Outcome(point, status, error, trace, wall, self.node))

    def finished(self, point: str, result: Result, began: float) -> None:
        """Take a result, or raise before anything of it is taken."""
        counts = {name: len(table) for name, table in result.tables.items()}
        numbers = {name: float(value) for name, value in result.metrics.items()}
        self.note(point, numbers, counts, time.perf_counter() - began, complete=bool(result.complete))
        for name, table in result.tables.items():
            points, rows, parts = self.waiting.setdefault(name, ([], [], []))
            points.append(point)
            rows.append(len(table))
            parts.append(table)
            self.bytes += table.nbytes if len(table) > _FEW_ROWS else 64 * table.num_columns * len(table)

    def note(self, point: str, metrics: Mapping[str, float], counts: Mapping[str, int], wall_s: float, *, complete: bool) -> None:
        status, error = ("done", None) if complete else ("incomplete", "a limit was reached")
        self.outcomes.append(Outcome(point, status, error, None, wall_s, self.node, metrics, counts))  # type: ignore[arg-type]

    def add_tables(self, tables: Mapping[str, pa.Table]) -> None:
        for name, table in tables.items():
            self.tables.setdefault(name, []).append(table)
            self.bytes += table.nbytes

    def flush(self) -> Chunk:
        for name, (points, rows, parts) in self.waiting.items():
            whole = pa.concat_tables(parts).combine_chunks()  # a chunk a point would be shipped one by one
            column = point_array(points, rows)
            self.tables.setdefault(name, []).append(whole.add_column(0, pa.field("point", POINT_TYPE, nullable=False), column))
        chunk = Chunk(
            self.started,
            tuple(self.advanced),
            tuple(self.saved),
            tuple(self.outcomes),
            {name: parts[0] if len(parts) == 1 else pa.concat_tables(parts) for name, parts in self.tables.items()},
            self.handed_back,
        )
        self._clear()
        self.last = time.perf_counter()
        return chunk
