"""How a sweep is doing, seen from another shell: `status.json`, which its driver keeps, and what the journal has.

The driver replaces the file every two seconds; that it still runs is told by the directory's lock, not by the file.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.display import duration, rate_text
from pipeline.events import Chunk
from pipeline.journal import recorded_points
from pipeline.standing import Solving, Standing
from pipeline.store import DamagedTable, write_text
from solvers.errors import ConfigError

_EVERY_S = 2.0
_SHOWN = 20
_ATTEMPTS = 5
_SILENT_S = 60.0


class StatusFile:
    """Keeps status.json while points are computed; a watcher. What cannot be written is not missed."""

    def __init__(self, root: Path, command: str, where: str) -> None:
        self.path = root / "status.json"
        self.about = {
            "format": 1,
            "command": command,
            "host": platform.node(),
            "pid": os.getpid(),
            "where": where,
            "began": _stamp(time.time()),
        }
        self.last: float | None = None
        self.standing: Standing | None = None

    def update(self, chunk: Chunk, standing: Standing) -> None:
        self.standing = standing
        if self.last is None or time.monotonic() - self.last >= _EVERY_S:
            self.last = time.monotonic()
            self._write("computing")

    def close(self) -> None:
        if self.standing is not None:
            self.standing.solving = {}
            self._write("ended" if not self.standing.left else "interrupted")

    def _write(self, state: str) -> None:
        if self.standing is None:
            return
        with contextlib.suppress(OSError):
            write_text(self.path, json.dumps(self.about | _told(self.standing, state), indent=1))


def _told(standing: Standing, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "updated": _stamp(time.time()),
        "points": standing.total,
        "known_before": standing.known,
        "finished": standing.counts,
        "points_per_s": round(standing.rate, 3),
        "elapsed_s": round(standing.elapsed_s, 1),
        "left_s": None if standing.left_s is None else round(standing.left_s, 1),
        "busy": standing.busy,
        "slots": standing.slots,
        "solving": [_told_point(one) for one in list(standing.solving.values())],
    }


def _told_point(one: Solving) -> dict[str, Any]:
    said = one.said
    return {
        "point": one.point,
        "name": one.name,
        "solving_s": round(one.solving_s, 1),
        "done": None if said is None else said.done,
        "total": None if said is None else said.total,
        "left_s": None if one.left_s is None else round(one.left_s, 1),
        "metrics": {} if said is None else dict(said.metrics),
    }


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _seconds_since(stamp: Any) -> float:
    try:
        return max((datetime.now(UTC) - datetime.fromisoformat(str(stamp))).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return 0.0


# ---- looking -----------------------------------------------------------------------------------------------------------------


def status_of(root: Path) -> dict[str, Any]:
    """Return how a sweep is doing: what its driver told last, whether that still runs, and the recorded points by status.

    Raises
    ------
    ConfigError
        If the folder is no sweep's directory.
    """
    if not any((root / name).exists() for name in ("status.json", "points.parquet", "journal")):
        raise ConfigError(str(root), "a sweep's directory", "no status.json and no points.parquet there")
    try:
        told = json.loads((root / "status.json").read_text())
    except (OSError, ValueError):
        told = {}
    told = told if isinstance(told, dict) else {}
    return {**told, "running": _is_locked(root), "recorded": _recorded(root)}


def _is_locked(root: Path) -> bool:
    try:
        with (root / "_lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _recorded(root: Path) -> dict[str, int]:
    for attempt in range(_ATTEMPTS):
        try:
            points = recorded_points(root)
        except (DamagedTable, OSError):  # the driver publishes just now
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.2)
            continue
        return {} if points is None else dict(Counter(points["status"].to_pylist()))
    return {}


def show_status(folder: Path, to: str | None, console: Console) -> None:
    """Print how a sweep is doing, or each sweep of a folder."""
    if to not in (None, "json"):
        raise ConfigError("to", "json", repr(to))
    single = any((folder / name).exists() for name in ("status.json", "points.parquet", "journal"))
    roots = [folder] if single else sorted({path.parent for path in folder.glob("*/_lock")})
    if not roots:
        raise ConfigError(
            str(folder), "a sweep's directory, or a folder of them", "neither" if folder.is_dir() else "no such folder"
        )
    if to == "json":
        known = {str(root): status_of(root) for root in roots}
        console.print(json.dumps(known[str(folder)] if single else known, indent=1, sort_keys=True), soft_wrap=True)
        return
    for root in roots:
        told = status_of(root)
        for line in _lines(root, told):
            console.print(line, soft_wrap=True)
        if single:
            _print_solving(told, console)


def _lines(root: Path, told: dict[str, Any]) -> Iterator[str]:
    recorded = told["recorded"]
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(recorded.items())) or "none"
    if not told["running"]:
        cut = told.get("state") in ("computing", "interrupted")
        yield f"{root}: not running · points recorded: {counts}"
        if cut:
            how = "was interrupted" if told["state"] == "interrupted" else f"ended without a word after {told.get('updated')}"
            yield f"  it {how}; the same command goes on: {told.get('command')}"
        return
    if told.get("state") != "computing":
        yield f"{root}: running, not computing (reading, publishing or judging) · points recorded: {counts}"
        return
    done = sum(told.get("finished", {}).values()) + told.get("known_before", 0)
    parts = [f"{done:,}/{told.get('points', 0):,} points"]
    parts += [f"{count:,} {status}" for status, count in sorted(told.get("finished", {}).items()) if status != "done"]
    parts.append(rate_text(told.get("points_per_s", 0.0)))
    if told.get("left_s") is not None:
        parts.append(f"about {duration(told['left_s'])} left")
    parts.append(f"{told.get('busy')}/{told.get('slots')} busy")
    yield f"{root}: running for {duration(_seconds_since(told.get('began')))} · {' · '.join(parts)}"
    yield f"  {told.get('where')}, process {told.get('pid')} on {told.get('host')} · points recorded: {counts}"
    if (silent := _seconds_since(told.get("updated"))) > _SILENT_S:
        yield f"  nothing heard from it for {duration(silent)}"


def _print_solving(told: dict[str, Any], console: Console) -> None:
    solving = told.get("solving", []) if told["running"] else []
    if not solving:
        return
    table = Table(box=None, pad_edge=False)
    for name in ("in work", "for", "done", "left", "metrics"):
        table.add_column(name, overflow="fold")
    for one in sorted(solving, key=lambda one: -one["solving_s"])[:_SHOWN]:
        of = f" of {one['total']:,}" if one["total"] else ""
        done = "" if one["done"] is None else f"{one['done']:,}{of}"
        left = "" if one["left_s"] is None else f"about {duration(one['left_s'])}"
        metrics = ", ".join(f"{name} {value:.6g}" for name, value in one["metrics"].items())
        table.add_row(one["name"], duration(one["solving_s"]), done, left, metrics)
    console.print(table)
    if len(solving) > _SHOWN:
        console.print(f"... {len(solving) - _SHOWN} more")
