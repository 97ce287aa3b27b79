"""What a person sees while points are computed: one live line in a terminal, plain lines elsewhere, failures when they happen."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pipeline.events import Chunk, Outcome
from pipeline.standing import Standing

_PLAIN_EVERY_S = 10.0
_SHOWN_FAILURES = 20


class Display:
    """Shows how a sweep stands; a watcher."""

    def __init__(self, console: Console, standing: Standing) -> None:
        self.console, self.standing = console, standing
        self.failures = 0
        self.last_plain = time.monotonic()
        self.live = Live(console=console, get_renderable=self._line, refresh_per_second=4) if console.is_terminal else None
        if self.live is not None:
            self.live.start()

    def update(self, chunk: Chunk, standing: Standing) -> None:
        for outcome in chunk.finished:
            if outcome.status in ("failed", "timeout"):
                self._show_failure(outcome, standing.name(outcome.point))
        if self.live is None and time.monotonic() - self.last_plain > _PLAIN_EVERY_S:
            self.last_plain = time.monotonic()
            self.console.print(self._line())

    def close(self) -> None:
        if self.live is not None:
            self.live.stop()
        elif self.standing.total - self.standing.known:
            self.console.print(self._line())

    def _show_failure(self, outcome: Outcome, name: str) -> None:
        self.failures += 1
        if self.failures <= _SHOWN_FAILURES:
            self.console.print(Text(f"{outcome.status}: {name}: {outcome.error}", style="red"))
        elif self.failures == _SHOWN_FAILURES + 1:
            self.console.print(Text("further failures are not shown; they are in points.parquet", style="red"))

    def _line(self) -> Text:
        return Text(line_of(self.standing), no_wrap=True, overflow="ellipsis")


def line_of(standing: Standing) -> str:
    """Return how a sweep stands, in a line."""
    parts = [f"round {standing.round}"] if standing.round is not None else []
    parts.append(f"{standing.known + standing.finished:,}/{standing.total:,} points")
    parts += [f"{count:,} {status}" for status, count in sorted(standing.counts.items()) if status != "done"]
    if standing.known:
        parts.append(f"{standing.known:,} known before")
    if standing.finished:
        parts.append(rate_text(standing.rate))
    if standing.left:
        if standing.left_s is not None:
            parts.append(f"about {duration(standing.left_s)} left")
        parts.append(f"{standing.busy}/{standing.slots} busy")
        telling = [one for one in standing.solving.values() if one.said is not None]
        if telling:
            latest = max(telling, key=lambda one: one.since)
            of = f"/{latest.said.total:,}" if latest.said and latest.said.total else ""
            parts.append(f"{latest.name}: {latest.said.done if latest.said else 0:,}{of}")
    return " · ".join(parts)


def rate_text(rate: float) -> str:
    """Return points a second for people."""
    return f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s"  # noqa: PLR2004


def duration(seconds: float) -> str:
    """Return a time span for people."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
