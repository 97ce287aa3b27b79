"""Where batches run. One interface for inline, local and cluster; inline came first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.events import Chunk, Task


@dataclass(frozen=True, slots=True)
class Ended:
    """A batch is over. `died` says how its worker was lost, None: it ended by itself; `node_lost`: with its whole machine."""

    died: str | None = None
    node_lost: bool = False


class Executor(Protocol):
    """Runs batches; says what happens to them."""

    slots: int
    """How many batches it wants to have at once."""

    where: str
    """For people: "2 cores of this machine"."""

    def submit(self, number: int, tasks: Sequence[Task]) -> None:
        """Start a batch; `number` names it in what `poll` says."""
        ...

    def poll(self, wait_s: float) -> Iterator[tuple[int, Chunk | Ended]]:
        """Yield what has happened, after at most about `wait_s` if nothing has."""
        ...

    def kill(self, number: int) -> None:
        """End one batch by force; `poll` says that it died."""
        ...

    def cancel(self) -> None:
        """End all batches now; their unreported points are lost."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...
