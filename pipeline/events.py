"""What goes out to a batch and what comes back while it runs: plain data, a chunk at a time.

What travels by the thousand is a named tuple: it is pickled ten times faster than a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pyarrow as pa

Status = Literal["done", "incomplete", "failed", "timeout"]


class Task(NamedTuple):
    """A point as a worker needs it. `lineage` derives its random numbers; `resume` is a stored checkpoint's content."""

    point: str
    game: Any
    solver: Any
    lineage: str
    resume: bytes | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a batch and each of its points may use.

    `box_s`: after so long a batch starts no further point. `timeout_s`, `memory_gb`: of one point, None: no limit; a worker that
    goes on holding `memory_gb` more than at its first batch is replaced.
    `checkpoint_s`: store a checkpoint when so many seconds of solving would be lost without it. `stacks`: folder for the stacks
    of killed points, None: not kept.
    """

    box_s: float = 0.5
    timeout_s: float | None = None
    memory_gb: float | None = None
    checkpoint_s: float = 5.0
    stacks: str | None = None
    version: str = ""

    @property
    def grace_s(self) -> float:
        """How long after the soft stop at `timeout_s` the hard end comes."""
        return max(1.0, 0.1 * (self.timeout_s or 0.0))


@dataclass(frozen=True, slots=True)
class Advanced:
    """A `Progress` event, stamped with the seconds since its point began."""

    point: str
    done: int
    total: int | None
    elapsed_s: float
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint worth storing; `content` is what `pipeline.checkpoints` reads."""

    point: str
    lineage: str
    step: int
    content: bytes


class Outcome(NamedTuple):
    """How one point ended. `rows` counts what it delivered, by table."""

    point: str
    status: Status
    error: str | None = None
    traceback: str | None = None
    wall_s: float = 0.0
    node: str = ""
    metrics: Mapping[str, float] = {}  # never changed
    rows: Mapping[str, int] = {}  # never changed
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some events of one batch, in order of kind. `tables` hold the rows of all `finished` points, `point` first.

    `worn`: the batch's last chunk; its worker holds more memory than it should and waits to be killed.
    """

    started: str | None = None
    advanced: tuple[Advanced, ...] = ()
    saved: tuple[Saved, ...] = ()
    finished: tuple[Outcome, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    handed_back: tuple[str, ...] = ()
    worn: bool = False
