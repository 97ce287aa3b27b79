"""Which points go into which batch, and what is done when one is lost.

Batches grow until they fill their time box. A dead worker charges nobody at once: its unreported points run again one by one,
and a point whose worker dies while it runs alone is the culprit; it is tried `attempts` times in all.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.events import Chunk, Limits, Outcome, Status, Task
from pipeline.executors import Ended, Executor

_FIRST_BATCH = 64
_LARGEST_BATCH = 20_000
_FILL = 1.1
_BACKSTOP_S = 10.0
_AWAY_S = 5.0
_LOST_NODES = 5  # so many machines may go under a point before it is charged with it
_QUEUED = 1  # batches that wait behind the running ones, so that no core waits for the driver


@dataclass
class _Batch:
    tasks: dict[str, Task]
    began: float
    size: int
    reported: int = 0
    placed: bool = False  # it has a core, as far as we can tell; until then it waits behind others
    heard: float = 0.0  # when something came last; 0: nothing yet


@dataclass
class Scheduler:
    """Runs tasks on an executor and yields what happens; every task is reported exactly once.

    `stopping` is asked between events: once it says True nothing more is started, running batches are cancelled.
    """

    executor: Executor
    limits: Limits
    attempts: int = 2
    stopping: Callable[[], bool] = lambda: False
    tried: dict[str, int] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)  # machines that went while a point was alone on them
    running: dict[int, _Batch] = field(default_factory=dict)
    size: float = _FIRST_BATCH
    looked: float = 0.0  # when we looked last; 0: not yet

    @property
    def queued(self) -> int:
        """How many batches wait behind the running ones: none where there is one core only."""
        return _QUEUED if self.executor.slots > 1 else 0

    @property
    def busy(self) -> int:
        """How many cores are at work."""
        return min(len(self.running), self.executor.slots)

    def current(self) -> Iterator[str]:
        """Yield the points in work: of each batch that has a core the first that is not reported."""
        for batch in self.running.values():
            if batch.placed and batch.tasks:
                yield next(iter(batch.tasks))

    def run(self, tasks: Iterable[Task]) -> Iterator[Chunk]:
        """Yield the chunks of all tasks, failed outcomes for those whose worker died, and an empty chunk when nothing has come."""
        source = iter(tasks)
        again: deque[Task] = deque()
        alone: deque[Task] = deque()
        number = 0
        while not self.stopping():
            while len(self.running) < self.executor.slots + self.queued:
                batch = self._next_batch(source, again, alone)
                if not batch:
                    break
                number += 1
                self.running[number] = _Batch({task.point: task for task in batch}, time.perf_counter(), len(batch))
                self.executor.submit(number, batch)
            if not self.running:
                return
            self._place()
            heard = False
            for which, said in self.executor.poll(0.1):
                heard = True
                if isinstance(said, Chunk):
                    again.extend(self._note(which, said))
                    yield self._counted(said)
                else:
                    yield from self._end(self.running.pop(which), said, alone)
            if not heard:
                yield Chunk()
            self._end_hung()
        self.executor.cancel()
        self.running.clear()

    def _place(self) -> None:
        """Let the time of batches that now have a core begin: the oldest ones, as many as there are cores."""
        for batch in itertools.islice(self.running.values(), self.executor.slots):
            if not batch.placed:
                batch.placed, batch.began = True, time.perf_counter()

    def _note(self, number: int, said: Chunk) -> list[Task]:
        """Take note of what a batch says and return what it hands back."""
        batch, now = self.running[number], time.perf_counter()
        if not batch.heard and said.started and not said.finished:  # its very beginning: no need to guess
            batch.began = now
        batch.heard = now
        for outcome in said.finished:
            batch.tasks.pop(outcome.point)
            batch.reported += 1
        handed_back = [batch.tasks.pop(point) for point in said.handed_back]
        self._tune(batch, said)
        if said.worn:  # all it had to say has come, no task is left that could be charged
            self.executor.kill(number)
        return handed_back

    def _counted(self, chunk: Chunk) -> Chunk:
        """Let outcomes of points that killed a worker before say so."""
        if not any(outcome.point in self.tried for outcome in chunk.finished):
            return chunk
        told = tuple(one._replace(attempts=1 + self.tried.get(one.point, 0)) for one in chunk.finished)
        return replace(chunk, finished=told)

    def _end_hung(self) -> None:
        """End batches whose point outlived the signal that should have killed it."""
        if self.limits.timeout_s is None:
            return
        self._forgive_absence()
        allowed = self.limits.timeout_s + self.limits.grace_s + _BACKSTOP_S
        for number, batch in self.running.items():
            if batch.heard and time.perf_counter() - batch.heard > allowed:
                batch.heard = time.perf_counter()
                self.executor.kill(number)

    def _forgive_absence(self) -> None:
        """Count nobody's time while we were away ourselves: waiting for a full disk, or suspended with the machine."""
        now = time.perf_counter()
        away, self.looked = now - (self.looked or now), now
        if away > _AWAY_S:
            for batch in self.running.values():
                batch.began = min(now, batch.began + away)
                batch.heard = min(now, batch.heard + away) if batch.heard else 0.0

    def _next_batch(self, source: Iterator[Task], again: deque[Task], alone: deque[Task]) -> list[Task]:
        if alone:
            return [alone.popleft()]
        batch = [again.popleft() for _ in range(min(len(again), int(self.size)))]
        while len(batch) < int(self.size):
            task = next(source, None)
            if task is None:
                break
            batch.append(task)
        share = -(-len(batch) // (self.executor.slots + self.queued))
        if len(batch) < int(self.size) and len(batch) > share:  # the last ones: a fair share for every slot
            again.extend(batch[share:])
            batch = batch[:share]
        return batch

    def _tune(self, batch: _Batch, chunk: Chunk) -> None:
        """Let the next batches fill the time box: estimates can only tune, what does not fit is handed back."""
        took = time.perf_counter() - batch.began
        if batch.reported and (took > self.limits.box_s / 5 or batch.reported == batch.size):
            fitting = _FILL * self.limits.box_s * batch.reported / max(took, 1e-6)
            self.size = min(max(1.0, fitting), 4 * self.size, _LARGEST_BATCH)

    def _end(self, batch: _Batch, end: Ended, alone: deque[Task]) -> Iterator[Chunk]:
        left = list(batch.tasks.values())
        if not left:
            return
        reason = end.died or "the worker ended without a word"
        if len(left) > 1 or batch.size > 1:
            alone.extend(left)
            return
        task = left[0]
        if end.node_lost and self.lost[task.point] < _LOST_NODES:  # a machine that goes is seldom a point's fault
            self.lost[task.point] += 1
            alone.append(task)
            return
        took = time.perf_counter() - batch.began
        self.tried[task.point] = self.tried.get(task.point, 0) + 1
        late = self.limits.timeout_s is not None and took >= self.limits.timeout_s + 0.9 * self.limits.grace_s
        if not late and self.tried[task.point] < self.attempts:
            alone.append(task)
            return
        status: Status = "timeout" if late else "failed"
        error = f"time limit of {self.limits.timeout_s} s passed, killed" if late else f"the worker died: {reason}"
        stack, tried = self._stack(task.point), self.tried[task.point]
        yield Chunk(finished=(Outcome(task.point, status, error, stack, took, "", attempts=tried),))

    def _stack(self, point: str) -> str | None:
        if self.limits.stacks is None:
            return None
        try:
            text = (Path(self.limits.stacks) / point).read_text(errors="replace").strip()
        except OSError:
            return None
        return text or None
