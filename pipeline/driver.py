"""A sweep from its points to durable rows. Only the driver writes.

The path: what is known already (this directory, then its siblings) -> tasks -> scheduler -> journal, once a second -> publish.
What is durable stays so whatever happens next.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from pipeline.checkpoints import CheckpointStore
from pipeline.display import Display
from pipeline.errors import SweepCutShort, is_full, reason_of
from pipeline.events import Chunk, Limits, Task
from pipeline.executors import Executor
from pipeline.journal import Journal, recorded_points
from pipeline.live import LiveTracking
from pipeline.manifest import keep_manifest
from pipeline.points import Names, Point
from pipeline.reuse import lent
from pipeline.rounds import Rounds
from pipeline.rows import Buffer, outcome_table, with_parameters, with_status
from pipeline.scheduler import Scheduler
from pipeline.settings import Settings
from pipeline.standing import Standing, Watcher
from pipeline.status import StatusFile
from pipeline.store import DamagedTable, load, refuted_points, replaced
from solvers.builder import inputs_of

_AGAIN_S = 3.0
_PUBLISHING_RESTS = 20  # times as long as it took, so that a sweep that grows all night spends at most 5 % of it publishing


@dataclass
class Run:
    """One command at work on its directory."""

    root: Path
    points: list[Point]
    settings: Settings
    console: Console
    rounds: Rounds
    round: int = 1  # the one that is computed
    interrupted: bool = False
    failed: bool = False
    journal: Journal = field(init=False)
    checkpoints: CheckpointStore = field(init=False)
    by_hash: dict[str, Point] = field(init=False)
    buffer: Buffer = field(init=False)
    new: list[str] = field(default_factory=list)  # points computed or taken over by this command
    lines: dict[str, str] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)
    published: Callable[[], None] = lambda: None  # called after each publishing (where its home is a store: pushes)

    def __post_init__(self) -> None:
        self.by_hash = {point.hash: point for point in self.points}
        self.journal = Journal(self.root)
        self.siblings = [path for path in sorted(self.root.resolve().parent.glob("*")) if _is_sibling(path, self.root)]
        self.checkpoints = CheckpointStore(self.root, self.siblings)
        self.buffer = Buffer()

    # ---- what is known ----

    def todo(self) -> list[Point]:
        """Return the points that must be computed, after taking over what siblings know."""
        recorded = self.journal.recorded()
        for line in self.journal.said:
            self.console.print(line, style="yellow")
        self.publish()
        if (self.root / "inputs").is_dir():
            self._store_inputs(self.points)
        return self._missing(self.points, recorded)

    def further(self) -> list[Point] | None:
        """Begin the next round, if there is one: take in its points and return those that must be computed.

        What was done is published before, because the rounds are planned from published rows alone.

        Raises
        ------
        HookFailed
            If nobody can say which points come next.
        SweepCutShort
            If it cannot be published.
        """
        if self.rounds.next is None or self.stopping():
            return None
        self.publish(last=True)
        points = self.rounds.further(load(self.root), self.points, self.round)
        if not points or self.stopping():
            return None
        self.round += 1
        self.points += points
        self.by_hash |= {point.hash: point for point in points}
        self.console.print(f"round {self.round}: {len(points):,} further point{'s' if len(points) > 1 else ''}")
        return self._missing(points, recorded_points(self.root))

    def _missing(self, points: Sequence[Point], recorded: pa.Table | None) -> list[Point]:
        settled = ["done"] if self.settings.retry_failed else ["done", "incomplete", "failed", "timeout"]
        is_settled = with_status(points, recorded, settled)
        wrong = refuted_points(self.root) if self.settings.retry_failed else set()
        wanted = [point for point, known in zip(points, is_settled, strict=True) if not known or point.hash in wrong]
        missing = [point for point in wanted if point.hash not in wrong]
        taken = self._take_from_siblings(missing) if missing else set()
        return [point for point in wanted if point.hash not in taken]

    def _take_from_siblings(self, wanted: Sequence[Point]) -> set[str]:
        taken: set[str] = set()
        missing = pa.array([point.hash for point in wanted], pa.string())
        for sibling in self.siblings:
            if len(taken) == len(wanted):
                break
            taken |= self._take(sibling, missing, taken)
        if taken:
            count = f"{len(taken):,} of {len(self.points):,} points"
            self.console.print(f"{count} are taken over from other sweeps of {self.root.resolve().parent.name}/")
        return taken

    def _take(self, sibling: Path, missing: pa.Array, taken: set[str]) -> set[str]:
        found = lent(sibling, missing, taken)
        if found is None:
            return set()
        rows, tables = found
        hashes = rows["point"].cast(pa.string()).to_pylist()
        points = [self.by_hash[point] for point in hashes]
        self._write(with_parameters(rows, points), tables)
        self._store_inputs(points)
        self.new += hashes
        return set(hashes)

    # ---- computing ----

    def compute(self, todo: list[Point], executor: Executor, limits: Limits) -> None:
        """Compute points and commit what comes, until all are reported or somebody interrupts."""
        self._store_inputs(todo)
        scheduler = Scheduler(executor, limits, self.settings.compute.attempts, self.stopping)
        turn = self.round if self.rounds.next is not None else None
        standing = Standing(Names(self.by_hash), len(self.points), len(self.points) - len(todo), executor.slots, round=turn)
        next_publishing = time.monotonic() + self.settings.compute.publish_s
        with self._watched(standing, lambda: executor.where) as watchers:
            for chunk in scheduler.run(self._tasks(todo)):
                self._take_in(chunk)
                standing.take(chunk, scheduler.current(), scheduler.busy, executor.slots)
                for watcher in watchers:
                    watcher.update(chunk, standing)
                if self.buffer.is_due():
                    self.commit()
                if time.monotonic() > next_publishing:
                    self.commit()
                    began = time.monotonic()
                    self.publish()
                    took = time.monotonic() - began
                    next_publishing = began + took + max(self.settings.compute.publish_s, _PUBLISHING_RESTS * took)
        self.commit()

    @contextmanager
    def _watched(self, standing: Standing, where: Callable[[], str]) -> Iterator[list[Watcher]]:
        """Have the computing watched."""
        watchers: list[Watcher] = []
        try:
            watchers.append(Display(self.console, standing))
            watchers.append(StatusFile(self.root, self.settings.command, where))
            if self.settings.tracking.kind != "off":
                keep = functools.partial(keep_manifest, self.root, self.points, self.settings)
                watchers.append(LiveTracking(self.root, self.settings.tracking, keep, self.console.print))
            yield watchers
        finally:
            for watcher in watchers:
                watcher.close()

    def _tasks(self, todo: list[Point]) -> Iterator[Task]:
        if any(hasattr(point.solver, "cost") for point in todo):
            todo = sorted(todo, key=cost_of, reverse=True)
        for point in todo:
            yield Task(point.hash, point.game, point.solver, point.lineage, self._resume(point))

    def _resume(self, point: Point) -> bytes | None:
        if not self.checkpoints.known:
            return None
        extent = type(point.solver).extent
        at_most = int(getattr(point.solver, extent)) if extent is not None else None
        return self.checkpoints.longest(point.lineage, at_most)

    def _take_in(self, chunk: Chunk) -> None:
        for saved in chunk.saved:
            self.lines[saved.point] = saved.lineage
            try:
                self.checkpoints.save(saved)
            except OSError as error:
                self.warn(f"checkpoints cannot be stored ({reason_of(error)}): a long solve would start again from its last one")
        for outcome in chunk.finished:
            point = self.by_hash[outcome.point]
            self.new.append(point.hash)  # the text that is here already, not another one of the same content
            self.failed = self.failed or outcome.status in ("failed", "timeout")
            if outcome.status == "done" and type(point.solver).extent is None and outcome.point in self.lines:
                self.checkpoints.drop(self.lines.pop(outcome.point))
        self.buffer.add(chunk)

    def commit(self) -> None:
        """Make all that came so far durable.

        Raises
        ------
        SweepCutShort
            If it cannot be written.
        """
        outcomes, tables = self.buffer.take()
        if outcomes:
            rows = outcome_table(outcomes)
            self._write(with_parameters(rows, [self.by_hash[one.point] for one in outcomes], outcomes), tables)

    def _write(self, rows: pa.Table, tables: Mapping[str, pa.Table]) -> None:
        """Commit rows; where the disk is full, wait for room. Meanwhile no batch is started: who would take its rows?"""
        patience = self.settings.compute.patience_s
        end = time.monotonic() + patience
        waited = False
        while True:
            try:
                self.journal.commit(rows, tables)
            except OSError as error:
                if not is_full(error) or time.monotonic() >= end or self.interrupted:
                    lost = f"{len(rows):,} point{'s' if len(rows) > 1 else ''} could not be saved"
                    would = "with room" if is_full(error) else "with that mended"
                    hint = f"what was saved before stays; {would} the same command goes on"
                    raise SweepCutShort(f"{self.root}: {reason_of(error)}: {lost}; {hint}") from error
                if not waited:
                    waited = True
                    hint = f"{len(rows):,} points wait for room ({patience:.0f} s); free some and it goes on"
                    self.console.print(f"disk full: {self.root}: {hint}", style="red", soft_wrap=True)
            else:
                if waited:
                    self.console.print("there is room again; going on", style="green")
                return
            again = time.monotonic() + _AGAIN_S
            while time.monotonic() < min(again, end) and not self.interrupted:
                time.sleep(0.1)

    def publish(self, *, last: bool = False) -> None:
        """Merge the journal into the published files; where they cannot be written all stays as it was, to be done later.

        Raises
        ------
        SweepCutShort
            If this was the last time.
        """
        try:
            self.journal.publish(list(self.by_hash))
            if last and self.round > 1:
                self.journal.sort(list(self.by_hash))
        except (OSError, DamagedTable) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            said = f"{self.root}: publishing failed ({why}); nothing is lost: what was computed is in journal/"
            if last:
                hint = "with that mended the same command publishes it and computes nothing again"
                raise SweepCutShort(f"{said}, {hint}") from error
            self.warn(f"{said}; it will be tried again")
        else:
            self.published()

    def warn(self, text: str) -> None:
        """Say something that the user should know, once."""
        if text not in self.warned:
            self.warned.add(text)
            self.console.print(text, style="yellow", soft_wrap=True)

    def stopping(self) -> bool:
        """Say whether nothing more is to be started."""
        return self.interrupted or (self.failed and self.settings.on_error == "stop")

    def _store_inputs(self, points: Sequence[Point]) -> None:
        """Keep the content of input files; a stored one that was damaged is replaced."""
        folder = self.root / "inputs"
        stored: set[str] = set()
        parts = {id(part): part for point in points for part in (point.game, point.solver)}  # many points share theirs
        for part in parts.values():
            for sha, content in inputs_of(part).items():
                if sha in stored:
                    continue
                stored.add(sha)
                if not (folder / sha).exists() or (folder / sha).read_bytes() != content:
                    folder.mkdir(exist_ok=True)
                    with replaced(folder / sha) as file:
                        file.write(content)


def _is_sibling(path: Path, root: Path) -> bool:
    return path.resolve() != root.resolve() and (path / "points.parquet").exists()


def cost_of(point: Point) -> float:
    cost: Callable[[Any], float] | None = getattr(point.solver, "cost", None)
    return float(cost(point.game)) if cost is not None else 0.0
