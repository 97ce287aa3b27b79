"""One command: compute what is missing of a sweep, publish, judge, record, show."""

from __future__ import annotations

import functools
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.driver import Run, cost_of
from pipeline.errors import RayLost, SweepCutShort
from pipeline.events import Limits
from pipeline.executors import Executor
from pipeline.hooks import HookFailed
from pipeline.journal import locked, recorded_points
from pipeline.points import Names, Point
from pipeline.remote import Remote, at_work, fetched, is_remote
from pipeline.rounds import Rounds
from pipeline.rows import with_status
from pipeline.settings import Settings
from pipeline.status import note
from solvers.errors import ConfigError
from solvers.identity import digest

_SMALL_S = 20.0
_FIRST_FEW = 5
_INTERRUPTED = 130
_TRY_AGAIN_S = 2.0


def run_sweep(points: Sequence[Point], settings: Settings, default_name: str, console: Console, rounds: Rounds) -> int:
    """Compute what is missing of a sweep, publish, judge, record and show it; return the exit status.

    Raises
    ------
    DirectoryBusy
        If another driver holds the directory.
    ConfigError
        If a cluster or a store that was asked for cannot be reached.
    """
    say = functools.partial(console.print, style="yellow", soft_wrap=True)
    with at_work(settings.out, say) as remote:
        status = _run_in(settings.folder(default_name), points, settings, console, rounds=rounds, remote=remote)
        if remote is not None:
            remote.finish()
            console.print(f"stored   {remote.store.shown}", soft_wrap=True)
    return status


def _run_in(
    root: Path, points: Sequence[Point], settings: Settings, console: Console, *, rounds: Rounds, remote: Remote | None
) -> int:
    fresh = not root.exists()
    try:
        with locked(root):
            run = Run(root, list(points), settings, console, rounds)
            if remote is not None:
                run.published = remote.published
            with _signals(run):
                lost = _compute_rounds(run)
                run.publish(last=True)
                if not run.stopping():
                    note(root, "judging")
                status = _concluded(run) if run.interrupted else None  # a second signal still ends it with our status
            if status is None:
                status = _concluded(run)
            if lost:
                console.print(f"{lost}; all that was computed is saved", style="red", soft_wrap=True)
                status = status or 1
    except ConfigError:
        if fresh and not (root / "points.parquet").exists():  # nothing ran: nothing is left behind
            shutil.rmtree(root, ignore_errors=True)
        raise
    return _INTERRUPTED if run.interrupted else status


def _concluded(run: Run) -> int:
    from pipeline.aftermath import conclude, say_interrupted  # noqa: PLC0415 (report and MLflow cost time to import)

    try:
        status = conclude(run)
    except KeyboardInterrupt:  # while it judges or draws: all rows are published
        note(run.root, "interrupted")
        say_interrupted(run)
        raise
    if not run.stopping():
        note(run.root, "ended")
    return status


def default_name(points: Sequence[Point]) -> str:
    """Return the directory name of an ad-hoc sweep: what it is about, and six digits of its hash."""
    whole = digest("".join(sorted(point.hash for point in points)))
    about = [sorted({str(point.chosen_game.name) for point in points}), sorted({str(point.chosen_solver.name) for point in points})]
    return "-".join([*("+".join(names[:3]) for names in about), whole[:6]])


def dry_run(points: Sequence[Point], settings: Settings, name: str, console: Console, rounds: Rounds) -> None:
    """Say what a command would do."""
    root = fetched(settings.out) if settings.out is not None and is_remote(settings.out) else settings.folder(name)
    recorded = recorded_points(root)
    done, other = (sum(with_status(points, recorded, statuses)) for statuses in (["done"], ["incomplete", "failed", "timeout"]))
    more = f", {other:,} failed or incomplete" if other else ""
    console.print(f"{root}: {len(points):,} points, {done:,} done already{more}")
    names = Names({point.hash: point for point in points[:_FIRST_FEW]})
    for point in points[:_FIRST_FEW]:
        seed = f" seed={point.seed}" if names.hidden else ""
        console.print(f"  {names[point.hash]}{seed}", soft_wrap=True)
    if len(points) > _FIRST_FEW:
        console.print(f"  ... {len(points) - _FIRST_FEW:,} more")
    if rounds.next is not None:
        console.print(f"  and up to {rounds.most - 1:,} further rounds of what {rounds.next.name} names", soft_wrap=True)


def _compute_rounds(run: Run) -> str:
    """Compute the points of a sweep, round by round; return why it could not go on ("" if it has come to its end)."""
    compute = run.settings.compute
    stacks = tempfile.mkdtemp(prefix="minimex-stacks-")
    limits = Limits(compute.box_s, compute.timeout_s, compute.memory_gb, compute.checkpoint_s, stacks)
    place = _Place(run, limits)
    try:
        todo: list[Point] | None = run.todo()
        while todo is not None:
            if todo:
                _compute(run, todo, place)
            todo = run.further()
    except HookFailed as error:
        return str(error)
    finally:
        place.leave()
        shutil.rmtree(stacks, ignore_errors=True)
    return ""


class _Place:
    """Where the points of one command are computed: entered for its first points, kept for further rounds."""

    def __init__(self, run: Run, limits: Limits) -> None:
        self.run, self.limits = run, limits
        self.executor: Executor | None = None
        self.kind = ""

    def enter(self, todo: Sequence[Point], *, again: bool) -> Executor | None:
        """Return where to compute these points (`again`: it was lost); None: somebody interrupted."""
        kind = _kind(self.run, todo)
        if self.kind == "inline" and kind != "inline":
            self.leave()  # one small point did not wait for Ray, many do
        if self.executor is None:
            self.kind = kind
            self.executor = (_reached_again if again else _executor)(self.run, todo, self.limits)
        return self.executor

    def leave(self) -> None:
        """Give it back."""
        if self.executor is not None:
            self.executor.close()
            self.executor = None


def _compute(run: Run, todo: list[Point], place: _Place) -> None:
    """Compute points; where Ray itself ends under them, start or reach it again and go on with the rest."""
    lost = 0  # how often Ray ended since the last point came in
    while not run.interrupted:
        executor = place.enter(todo, again=bool(lost))
        if executor is None:
            break
        try:
            run.compute(todo, executor, place.limits)
            break
        except RayLost as error:
            place.leave()
            lost += 1
            if lost > run.settings.compute.attempts:
                raise
            run.console.print(f"{error}; going on with another", style="yellow")
        finally:
            run.commit()
        done = set(run.new)
        left = [point for point in todo if point.hash not in done]
        todo, lost = left, lost if len(left) == len(todo) else 1


def _reached_again(run: Run, todo: Sequence[Point], limits: Limits) -> Executor | None:
    """Return where to go on; wait for a cluster that is gone. None: somebody interrupted.

    Raises
    ------
    SweepCutShort
        If it does not come back in time.
    """
    patience_s = run.settings.compute.patience_s
    end = time.monotonic() + patience_s
    while not run.interrupted:
        try:
            return _executor(run, todo, limits)
        except ConfigError as error:
            if time.monotonic() > end:
                run.publish(last=True)
                hint = "what was done is saved, the same command goes on"
                raise SweepCutShort(f"{error}; waited {patience_s:.0f} s (compute.patience_s); {hint}") from error
        time.sleep(_TRY_AGAIN_S)
    return None


def _kind(run: Run, todo: Sequence[Point]) -> str:
    """Return how points are computed: as asked, except that one small point does not wait for Ray to start."""
    kind = run.settings.compute.kind
    small = len(todo) == 1 and not run.settings.chose_compute and cost_of(todo[0]) < _SMALL_S
    return "inline" if kind == "ray" and small else kind


def _executor(run: Run, todo: Sequence[Point], limits: Limits) -> Executor:
    """Return where to compute these points."""
    compute = run.settings.compute
    if _kind(run, todo) == "inline":
        from pipeline.executors.inline import ChildExecutor, InlineExecutor  # noqa: PLC0415

        limited = compute.timeout_s is not None or compute.memory_gb is not None
        return ChildExecutor(limits) if limited else InlineExecutor(limits)
    from pipeline.executors.ray import RayExecutor  # noqa: PLC0415

    began = time.monotonic()
    address = compute.address if compute.kind == "cluster" else None
    say = functools.partial(run.console.print, soft_wrap=True)
    executor = RayExecutor(limits, compute.cpus, address, run.settings.trust, say)
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))  # Ray takes SIGTERM for itself
    say(f"{executor.where} (Ray took {time.monotonic() - began:.0f} s to start)")
    return executor


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
