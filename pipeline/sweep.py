"""One command: compute what is missing of a sweep, publish, judge, record, show."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rich.console import Console

from pipeline.driver import Names, Run, cost_of
from pipeline.errors import RayLost
from pipeline.events import Limits
from pipeline.executors import Executor
from pipeline.journal import locked, recorded_points
from pipeline.points import Point
from pipeline.rows import statuses
from pipeline.settings import Settings
from solvers.errors import ConfigError
from solvers.identity import digest

_SMALL_S = 20.0
_FIRST_FEW = 5
_INTERRUPTED = 130


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
    fresh = not root.exists()
    try:
        with locked(root):
            run = Run(root, points, settings, console)
            with _signals(run):
                todo = run.todo()
                if todo:
                    _compute(run, todo)
                run.publish(last=True)
            from pipeline.aftermath import conclude  # noqa: PLC0415 (report and MLflow cost time to import)

            status = conclude(run)
    except ConfigError:
        if fresh and not (root / "points.parquet").exists():  # nothing ran: nothing is left behind
            shutil.rmtree(root, ignore_errors=True)
        raise
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
    names = Names({point.hash: point for point in points[:_FIRST_FEW]})
    for point in points[:_FIRST_FEW]:
        console.print(f"  {names[point.hash]} seed={point.seed}", soft_wrap=True)
    if len(points) > _FIRST_FEW:
        console.print(f"  ... {len(points) - _FIRST_FEW:,} more")


def _compute(run: Run, todo: list[Point]) -> None:
    """Compute points; where Ray itself ends under them, start it again and go on with the rest."""
    compute = run.settings.compute
    stacks = tempfile.mkdtemp(prefix="minimex-stacks-")
    limits = Limits(compute.box_s, compute.timeout_s, compute.memory_gb, compute.checkpoint_s, stacks)
    try:
        for attempt in range(compute.attempts + 1):
            executor, limits = _executor(run, todo, limits)
            try:
                run.compute(todo, executor, limits)
                break
            except RayLost as error:
                if attempt == compute.attempts or run.interrupted:
                    raise
                run.console.print(f"{error}; going on with another", style="yellow")
            finally:
                run.commit()
                executor.close()
            done = set(run.new)
            todo = [point for point in todo if point.hash not in done]
    finally:
        shutil.rmtree(stacks, ignore_errors=True)


def _executor(run: Run, todo: Sequence[Point], limits: Limits) -> tuple[Executor, Limits]:
    """Return where to compute: as asked, except that one small point does not wait for Ray to start."""
    compute = run.settings.compute
    small = len(todo) == 1 and not run.settings.chose_compute and cost_of(todo[0]) < _SMALL_S
    if compute.kind == "inline" or (compute.kind == "ray" and small):
        from pipeline.executors.inline import ChildExecutor, InlineExecutor  # noqa: PLC0415

        limited = compute.timeout_s is not None or compute.memory_gb is not None
        return (ChildExecutor(limits) if limited else InlineExecutor(limits)), limits
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
