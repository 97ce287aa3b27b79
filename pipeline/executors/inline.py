"""Batches in this process, one at a time; in a child process where limits must be held.

A time limit ends with a signal that kills, and a memory limit makes allocations fail: neither may happen to the driver.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from pipeline.events import Chunk, Limits, Task
from pipeline.executors import Ended
from pipeline.worker import run_batch
from solvers.inline import InlineWorkers


class InlineExecutor:
    """Runs each batch to its end inside `poll`, in this process."""

    slots = 1
    where = "this process"

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running: tuple[int, Iterator[Chunk]] | None = None

    def submit(self, number: int, tasks: Sequence[Task]) -> None:
        self.running = number, run_batch(tasks, self.limits, InlineWorkers())

    def poll(self, wait_s: float) -> Iterator[tuple[int, Chunk | Ended]]:
        if self.running is None:
            return
        number, chunks = self.running
        chunk = next(chunks, None)
        if chunk is None:
            self.running = None
            yield number, Ended()
        else:
            yield number, chunk

    def kill(self, number: int) -> None:
        """Nothing to do: this process holds no point to a limit."""

    def cancel(self) -> None:
        self.running = None

    def close(self) -> None:
        self.running = None


class ChildExecutor:
    """Runs each batch in a fresh child process, which may die without harm."""

    slots = 1
    where = "a child process"

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running: tuple[int, Any, Connection] | None = None

    def submit(self, number: int, tasks: Sequence[Task]) -> None:
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(theirs, list(tasks), self.limits), daemon=True)
        child.start()
        theirs.close()
        self.running = number, child, mine

    def poll(self, wait_s: float) -> Iterator[tuple[int, Chunk | Ended]]:
        if self.running is None:
            return
        number, child, pipe = self.running
        if not pipe.poll(wait_s):
            return
        try:
            said = pipe.recv()
        except EOFError:
            child.join()
            said = Ended(f"the worker process ended with exit code {child.exitcode}")
        if isinstance(said, Ended):
            child.join()
            pipe.close()
            self.running = None
        yield number, said

    def kill(self, number: int) -> None:
        if self.running is not None:
            self.running[1].kill()

    def cancel(self) -> None:
        if self.running is not None:
            _, child, pipe = self.running
            child.kill()
            child.join()
            pipe.close()
            self.running = None

    def close(self) -> None:
        self.cancel()


def _child(pipe: Connection, tasks: list[Task], limits: Limits) -> None:
    for chunk in run_batch(tasks, limits, InlineWorkers()):
        pipe.send(chunk)
    pipe.send(Ended())
    pipe.close()
