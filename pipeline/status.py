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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from pipeline.display import duration, rate_text
from pipeline.events import Chunk
from pipeline.journal import recorded_points
from pipeline.remote import fetched, folder_of, is_remote, is_uri, who_works, without_secrets
from pipeline.standing import Solving, Standing
from pipeline.store import DamagedTable, write_text
from solvers.errors import ConfigError

_EVERY_S = 2.0
_SHOWN = 20
_ATTEMPTS = 5
_SILENT_S = 60.0


class StatusFile:
    """Keeps status.json while points are computed; a watcher. What cannot be written is not missed.

    `where` says what it runs on now: machines come and go.
    """

    def __init__(self, root: Path, command: str, where: Callable[[], str]) -> None:
        self.path, self.where = root / "status.json", where
        self.about = {
            "format": 1,
            "command": command,
            "host": platform.node(),
            "pid": os.getpid(),
            "began": _stamp(time.time()),
            "recorded_before": _recorded_before(root),
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
            whole = "judging" if self.standing.round is None else "between rounds"
            self._write(whole if not self.standing.left else "interrupted")

    def _write(self, state: str) -> None:
        if self.standing is None:
            return
        with contextlib.suppress(OSError):
            write_text(self.path, json.dumps(self.about | {"where": self.where()} | _told(self.standing, state), indent=1))


def note(root: Path, state: Literal["judging", "ended", "interrupted"]) -> None:
    """Let status.json, if there is one, say how far a sweep is of which all points are computed."""
    told = _last_word(root)
    if "state" in told:
        with contextlib.suppress(OSError):
            write_text(root / "status.json", json.dumps(told | {"state": state, "updated": _stamp(time.time())}, indent=1))


def _recorded_before(root: Path) -> int | None:
    """Return how many points of any command are recorded already; None: who knows."""
    try:
        points = recorded_points(root)
    except (DamagedTable, OSError):
        return None
    return 0 if points is None else len(points)


def _told(standing: Standing, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "updated": _stamp(time.time()),
        "points": standing.total,
        "round": standing.round,
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


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is looked at.

    Attributes
    ----------
    root
        Where what is known of it lies on this machine.
    name
        How people call it: its directory, or its URI.
    running
        Whether a driver is at work.
    who
        Who that is, where only a lease tells; "" where the driver's own lock does, or nobody is.
    told
        What its driver told last; nothing of a driver before the one at work, as far as that can be known.
    """

    root: Path
    name: str
    running: bool
    who: str
    told: Mapping[str, Any]

    @classmethod
    def here(cls, root: Path, name: str = "") -> Sweep:
        running, told = _is_locked(root), _last_word(root)
        before = running and told.get("host") == platform.node() and not Path(f"/proc/{told.get('pid')}").exists()
        return cls(root, name or str(root), running, "", {} if before and Path("/proc/self").exists() else told)

    @classmethod
    def at(cls, uri: str) -> Sweep:
        """Look at a store's sweep: in its mirror while a driver of this machine is at work there, else as it was pushed last."""
        name, mirror = without_secrets(uri), folder_of(uri)
        if not is_remote(uri) or _is_locked(mirror):
            return cls.here(mirror, name)
        holder = who_works(uri)  # before its snapshot: one that ends meanwhile has pushed the end
        root = fetched(uri)
        told = _last_word(root)
        if holder is None:
            return cls(root, name, running=False, who="", told=told)
        own = (told.get("pid"), told.get("host")) == (holder.pid, holder.host)
        return cls(root, name, running=holder.pid is not None, who=holder.words, told=told if own or holder.pid is None else {})

    def status(self) -> dict[str, Any]:
        """Return how it is doing: what its driver told last, whether that still runs, and the recorded points by status.

        Raises
        ------
        ConfigError
            If there is no sweep.
        """
        if not (self.running or _is_sweep(self.root)):
            came = "no status.json and no points.parquet there" if self.root.is_dir() else "nothing there"
            raise ConfigError(self.name, "a sweep's directory", came, self.who)
        return {**self.told, "running": self.running, "recorded": _recorded(self.root)}


def _is_sweep(root: Path) -> bool:
    return any((root / name).exists() for name in ("status.json", "points.parquet", "journal"))


def _last_word(root: Path) -> dict[str, Any]:
    try:
        told = json.loads((root / "status.json").read_text())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


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


def show_status(place: str, to: str | None, console: Console) -> None:
    """Print how a sweep is doing (a directory or a URI), or each sweep of a folder.

    Raises
    ------
    ConfigError
        If there is none, or `to` is no format.
    """
    if to not in (None, "json"):
        raise ConfigError("to", "json", repr(to))
    folder = Path(place)
    single = is_uri(place) or _is_sweep(folder) or _is_locked(folder)
    if single:
        sweeps = [Sweep.at(place) if is_uri(place) else Sweep.here(folder)]
    else:
        sweeps = [Sweep.here(root) for root in sorted({path.parent for path in folder.glob("*/_lock")})]
    if not sweeps:
        came = "neither" if folder.is_dir() else "no such folder"
        raise ConfigError(str(folder), "a sweep's directory, or a folder of them", came)
    if to == "json":
        known = {sweep.name: sweep.status() for sweep in sweeps}
        console.print(json.dumps(known[sweeps[0].name] if single else known, indent=1, sort_keys=True), soft_wrap=True)
        return
    for sweep in sweeps:
        told = sweep.status()
        for line in _lines(sweep, told):
            console.print(line, soft_wrap=True)
        if single:
            _print_solving(told, console)


def _lines(sweep: Sweep, told: dict[str, Any]) -> Iterator[str]:
    if not told["running"]:
        yield from _lines_of_one_at_rest(sweep, told)
    elif told.get("state") == "judging":
        yield f"{sweep.name}: judging or drawing what was found · points recorded: {_counts(told)}"
    elif told.get("state") != "computing":
        yield f"{sweep.name}: running; starting, publishing or judging · points recorded: {_counts(told)}"
    else:
        yield from _lines_of_one_that_computes(sweep, told)
    if sweep.who:
        ago = f", {duration(_seconds_since(told['updated']))} ago" if "updated" in told else ""
        yield f"  {sweep.who}" + (f"; this is as it was pushed last{ago}" if told["running"] else "")


def _counts(told: dict[str, Any]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in sorted(told["recorded"].items())) or "none"


def _lines_of_one_at_rest(sweep: Sweep, told: dict[str, Any]) -> Iterator[str]:
    recorded, state = sum(told["recorded"].values()), told.get("state")
    if state == "ended":
        yield f"{sweep.name}: ended · {recorded:,}/{max(told.get('points', 0), recorded):,} points: {_counts(told)}"
        return
    yield f"{sweep.name}: not running · points recorded: {_counts(told)}"
    if state in ("computing", "interrupted", "between rounds", "judging"):
        how = "was interrupted" if state == "interrupted" else f"ended without a word after {told.get('updated')}"
        yield f"  it {how}; the same command goes on: {told.get('command')}"


def _lines_of_one_that_computes(sweep: Sweep, told: dict[str, Any]) -> Iterator[str]:
    finished, recorded = told.get("finished", {}), told["recorded"]
    in_all, before = sum(recorded.values()), told.get("recorded_before")
    new = in_all - before if before is not None else 0  # the journal is ahead of what the driver told up to two seconds ago
    done = told.get("known_before", 0) + max(sum(finished.values()), new)
    others = in_all > done  # points of other commands, or to be tried again
    counts = (
        finished if others else {status: max(finished.get(status, 0), recorded.get(status, 0)) for status in finished | recorded}
    )
    parts = [f"round {told['round']}"] if told.get("round") else []
    parts.append(f"{done:,}/{told.get('points', 0):,} points")
    parts += [f"{count:,} {status}" for status, count in sorted(counts.items()) if status != "done"]
    parts.append(rate_text(told.get("points_per_s", 0.0)))
    if told.get("left_s") is not None:
        parts.append(f"about {duration(told['left_s'])} left")
    parts.append(f"{told.get('busy')}/{told.get('slots')} busy")
    yield f"{sweep.name}: running for {duration(_seconds_since(told.get('began')))} · {' · '.join(parts)}"
    more = f" · in the directory: {_counts(told)}" if others else ""
    yield f"  {told.get('where')}, process {told.get('pid')} on {told.get('host')}{more}"
    silent = _seconds_since(told.get("updated"))
    if silent > _SILENT_S and not sweep.who:
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
