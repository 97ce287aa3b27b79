"""How a sweep stands while it runs: counted once, for everybody who watches it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.events import Advanced, Chunk

_SAMPLES = 20
_RECENT = 0.25


@dataclass(slots=True)
class Solving:
    """A point being solved.

    Attributes
    ----------
    since
        When it began, of `time.monotonic`.
    said
        What it told last; None: nothing yet.
    way
        (elapsed_s, done) of what it told: first, and some twenty times in the last quarter of its time.
    """

    point: str
    name: str
    since: float
    said: Advanced | None = None
    way: list[tuple[float, int]] = field(default_factory=list)

    def take(self, said: Advanced) -> None:
        """Take note of what it told."""
        if self.way and (said.done < self.way[-1][1] or said.elapsed_s < self.way[-1][0]):
            self.way.clear()  # another worker goes on from a checkpoint
        self.said = said
        if len(self.way) > 2 and self.way[-1][0] - self.way[-2][0] < self._stretch_s / _SAMPLES:  # noqa: PLR2004
            self.way.pop()
        self.way.append((said.elapsed_s, said.done))
        while len(self.way) > 2 and self.way[2][0] <= said.elapsed_s - self._stretch_s:  # noqa: PLR2004
            del self.way[1]

    @property
    def _stretch_s(self) -> float:
        return _RECENT * (self.way[-1][0] - self.way[0][0])

    @property
    def solving_s(self) -> float:
        return time.monotonic() - self.since

    @property
    def left_s(self) -> float | None:
        """Seconds it may still need if it goes on as in the last quarter of its time; None: who knows.

        Its mean so far would promise too much: of work that grows most is still to come. What it told first is where it began,
        be it at a checkpoint.
        """
        if self.said is None or not self.said.total:
            return None
        now, done = self.way[-1]
        earlier = (one for one in self.way if one[0] <= now - self._stretch_s and one[1] < done)
        began, before = max(earlier, default=(now, done))
        if before == done:
            return None
        return (now - began) * max(self.said.total - done, 0) / (done - before)


@dataclass
class Standing:
    """One command's count of its points.

    Attributes
    ----------
    total, known
        Points asked for, and those of them that were done before.
    counts
        Outcomes of this command by status.
    solving
        The points in work, by hash, oldest first.
    busy, slots
        Cores at work, and cores there are.
    round
        The round of an adaptive sweep that is computed; None: it is none.
    """

    names: Mapping[str, str]
    total: int
    known: int
    slots: int
    busy: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    solving: dict[str, Solving] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    round: int | None = None

    def take(self, chunk: Chunk, current: Iterable[str], busy: int, slots: int) -> None:
        """Take note of a chunk; `current` are the points in work as far as the scheduler can tell."""
        self.busy, self.slots = busy, slots
        for outcome in chunk.finished:
            self.counts[outcome.status] = self.counts.get(outcome.status, 0) + 1
        now = time.monotonic()
        solving = {}
        for point in current:
            solving[point] = self.solving.get(point) or Solving(point, self.name(point), now)
        self.solving = solving
        for step in chunk.advanced:
            if step.point in solving:
                solving[step.point].take(step)
                solving[step.point].since = now - step.elapsed_s

    def name(self, point: str) -> str:
        """Return how people call a point."""
        return self.names.get(point, point[:8])

    @property
    def finished(self) -> int:
        """How many points this command has finished."""
        return sum(self.counts.values())

    @property
    def left(self) -> int:
        return self.total - self.known - self.finished

    @property
    def elapsed_s(self) -> float:
        return max(time.monotonic() - self.began, 1e-9)

    @property
    def rate(self) -> float:
        """Points a second so far."""
        return self.finished / self.elapsed_s

    @property
    def left_s(self) -> float | None:
        """Seconds until the end if it goes on as it did; None: nothing to go by."""
        if not self.left:
            return 0.0
        guesses = [one.left_s for one in self.solving.values() if one.left_s is not None]
        if self.finished:
            guesses.append(self.left / self.rate)
        return max(guesses) if guesses else None


class Watcher(Protocol):
    """Somebody who looks on while points are computed. None of them may slow or end a sweep."""

    def update(self, chunk: Chunk, standing: Standing) -> None:
        """Take note: called for every chunk, and several times a second (with an empty one) while nothing comes."""
        ...

    def close(self) -> None:
        """Computing is over."""
        ...
