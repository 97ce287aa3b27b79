"""What a person sees while points are computed: one live line in a terminal, plain lines elsewhere, failures when they happen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pipeline.events import Chunk, Outcome

_PLAIN_EVERY_S = 10.0
_SHOWN_FAILURES = 20


class Display:
    """Counts outcomes and shows them; a context manager."""

    def __init__(self, console: Console, total: int, cached: int, slots: int) -> None:
        self.console, self.total, self.cached, self.slots = console, total, cached, slots
        self.counts: dict[str, int] = {}
        self.busy = 0
        self.began = time.monotonic()
        self.last_plain = self.began
        self.doing: dict[str, str] = {}
        self.live = Live(console=console, get_renderable=self._line, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.live is not None:
            self.live.stop()
        elif self.total - self.cached:
            self.console.print(self._line())

    def update(self, chunk: Chunk, busy: int, names: Mapping[str, str]) -> None:
        """Take note of a chunk; `names` says how people call its points."""
        self.busy = busy
        for step in chunk.advanced:
            of = f"/{step.total:,}" if step.total else ""
            self.doing[step.point] = f"{names.get(step.point, step.point[:8])}: {step.done:,}{of}"
        for outcome in chunk.finished:
            self.counts[outcome.status] = self.counts.get(outcome.status, 0) + 1
            self.doing.pop(outcome.point, None)
            if outcome.status in ("failed", "timeout"):
                self._show_failure(outcome, names.get(outcome.point, outcome.point[:8]))
        if self.live is None and time.monotonic() - self.last_plain > _PLAIN_EVERY_S:
            self.last_plain = time.monotonic()
            self.console.print(self._line())

    def _show_failure(self, outcome: Outcome, name: str) -> None:
        shown = self.counts.get("failed", 0) + self.counts.get("timeout", 0)
        if shown <= _SHOWN_FAILURES:
            self.console.print(Text(f"{outcome.status}: {name}: {outcome.error}", style="red"))
        elif shown == _SHOWN_FAILURES + 1:
            self.console.print(Text("further failures are not shown; they are in points.parquet", style="red"))

    def _line(self) -> Text:
        finished = sum(self.counts.values())
        elapsed = max(time.monotonic() - self.began, 1e-9)
        rate = finished / elapsed
        left = self.total - self.cached - finished
        parts = [f"{self.cached + finished:,}/{self.total:,} points"]
        parts += [f"{count:,} {status}" for status, count in sorted(self.counts.items()) if status != "done"]
        if self.cached:
            parts.append(f"{self.cached:,} known before")
        if finished:
            parts.append(f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s")  # noqa: PLR2004
        if left and finished:
            parts.append(f"about {_duration(left / rate)} left")
        if left:
            parts.append(f"{self.busy}/{self.slots} busy")
        if left and self.doing:
            parts.append(next(reversed(self.doing.values())))
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
