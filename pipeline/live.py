"""MLflow while a sweep runs: a process of its own tells it how far the sweep and its long points are.

Rules
-----
1. A short sweep is not touched. After `_QUIET_S` the process starts, because importing MLflow costs seconds; it is niced.
2. The driver never waits for it. They talk over a socket of whole messages: what does not fit now is merged into what is told
   next. If the process dies, hangs or loses its server, the user reads one line and the sweep goes on.
3. It only begins runs (status RUNNING) and adds to their curves; `track` completes the same runs from the published directory.
   Where the driver is killed or interrupted it marks them KILLED, and the next command goes on with them.
4. It ends with the driver, however that ends: within seconds of the socket's end by itself, else by force.
"""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from pipeline.events import Advanced, Chunk
from pipeline.manifest import note_run
from pipeline.standing import Standing
from pipeline.store import SweepDir, sweeps_folder
from pipeline.tracking import reach
from pipeline.tracking.runs import CONTENT, ENDED, LIVE, RunWriter
from pipeline.tracking.where import Tracking

_QUIET_S = 10.0  # of a sweep, until MLflow hears of it; of a point, until it gets a run
_EVERY_S = 5.0
_AGAIN_S = 15.0
_CLOSING_S = 3.0
_LAST_S = 15.0
_LARGEST = 60_000  # bytes of a message: far below what a socket takes at once
_ROOM = 1 << 20
_MOST_STEPS = 200  # of a curve, kept until they can be told


# ---- in the driver -----------------------------------------------------------------------------------------------------------


@dataclass
class _Curve:
    """What a long point told since MLflow was told last: `steps` of (done, time in ms, metrics)."""

    name: str
    since_ms: int
    steps: list[tuple[int, int, dict[str, float]]] = field(default_factory=list)
    status: str | None = None

    def add(self, step: Advanced, now_ms: int) -> None:
        self.steps.append((step.done, now_ms, dict(step.metrics)))
        if len(self.steps) > _MOST_STEPS:
            del self.steps[-2::-2]  # every second one, not the last


class LiveTracking:
    """Feeds the process that tells MLflow; a watcher of the sweep.

    Parameters
    ----------
    root
        The sweep's directory.
    keep
        Writes manifest.json as it is to be before MLflow hears of the sweep.
    said
        Takes lines meant for the user.
    """

    def __init__(self, root: Path, settings: Tracking, keep: Callable[[], Any], said: Callable[[str], None]) -> None:
        self.root, self.settings, self.keep, self.said = root, settings, keep, said
        self.began_ms = _now_ms()
        self.told = time.monotonic()
        self.due = self.told + _QUIET_S
        self.finished = 0
        self.curves: dict[str, _Curve] = {}
        self.young: dict[str, _Curve] = {}  # points that may become long
        self.long: set[str] = set()
        self.process: Any = None
        self.link: socket.socket | None = None
        self.complained = False
        self.standing: Standing | None = None

    def update(self, chunk: Chunk, standing: Standing) -> None:
        self.standing = standing
        self._note(chunk, standing)
        self._hear()
        if time.monotonic() >= self.due:
            if self.process is None:
                self._start()
            self._tell(standing)

    def close(self) -> None:
        """Let it tell the last, and end it."""
        if self.process is None:
            return
        if self.standing is not None:
            self._tell(self.standing, end="KILLED" if self.standing.left else "RUNNING")
        if self.link is not None:
            with contextlib.suppress(OSError):
                self.link.shutdown(socket.SHUT_WR)
        self.process.join(_CLOSING_S)
        if self.process.is_alive():  # it waits for a server or a database; `track` finds what it began
            self.complained = True
            self.process.kill()
            self.process.join()
        self._hear()
        self._drop_link()

    def _note(self, chunk: Chunk, standing: Standing) -> None:
        now_ms = _now_ms()
        for step in chunk.advanced:
            if step.point not in self.long and len(self.long) >= self.settings.child_runs:
                continue
            curve = self.curves.get(step.point) or self.young.get(step.point)
            if curve is None:
                curve = self.young[step.point] = _Curve(standing.name(step.point), now_ms - round(1000 * step.elapsed_s))
            curve.add(step, now_ms)
            if step.elapsed_s >= _QUIET_S and step.point in self.young:
                self.long.add(step.point)
                self.curves[step.point] = self.young.pop(step.point)
        for outcome in chunk.finished if self.long or self.young else ():
            self.young.pop(outcome.point, None)
            if outcome.point in self.long:
                curve = self.curves.setdefault(outcome.point, _Curve(standing.name(outcome.point), now_ms))
                curve.status = ENDED.get(outcome.status, "FINISHED")

    def _start(self) -> None:
        self.due = math.inf
        resource_tracker.ensure_running()  # it would let SIGINT through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C is the driver's; the process inherits this
        try:
            self.keep()
            mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                arguments = (theirs, self.root.resolve(), self.settings, self.began_ms)
                process = multiprocessing.get_context("spawn").Process(target=_serve, args=arguments, daemon=True)
                process.start()
        except OSError as error:
            self._complain(reach.in_few_words(error))
        else:
            mine.settimeout(0)
            self.process, self.link = process, mine
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _tell(self, standing: Standing, end: str | None = None) -> None:
        """Send what is new; keep it where there is no room for it now."""
        if self.link is None:
            return
        now = time.monotonic()
        self.due = now + _EVERY_S
        counts = {"done": standing.known, "failed": 0}
        for status, count in standing.counts.items():
            counts[status] = counts.get(status, 0) + count
        since = now - self.told
        rate = (standing.finished - self.finished) / since if since > 1 else standing.rate
        metrics = {f"points/{status}": count for status, count in counts.items()} | {"points_per_s": rate, "busy": standing.busy}
        try:
            self.link.send(_message(metrics, self.curves, end))
        except BlockingIOError:
            return
        except OSError:
            self._lost()
        else:
            self.told, self.finished, self.curves = now, standing.finished, {}

    def _hear(self) -> None:
        while self.link is not None:
            try:
                said = self.link.recv(_ROOM)
            except BlockingIOError:
                return
            except OSError:
                said = b""
            if not said:
                self._lost()
                return
            told = json.loads(said)
            if "run" in told:
                with contextlib.suppress(OSError):
                    note_run(self.root, self.settings.store, told["run"], complete=False)
            else:
                self._complain(told["lost"])

    def _lost(self) -> None:
        self._drop_link()
        self.due = math.inf
        self.process.join(1.0)
        if self.process.exitcode != 0:
            self._complain(f"the process that tells it ended with exit code {self.process.exitcode}")

    def _complain(self, why: str) -> None:
        if not self.complained:
            self.complained = True
            where = self.settings.shown(sweeps_folder(self.root))
            self.said(f"tracking: MLflow at {where} cannot follow the sweep ({why}); it goes on, MLflow is told at its end")

    def _drop_link(self) -> None:
        if self.link is not None:
            self.link.close()
            self.link = None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _message(metrics: dict[str, float], curves: dict[str, _Curve], end: str | None) -> bytes:
    """Return a message that fits: of long curves every second step is left out until it does."""
    steps = {point: curve.steps for point, curve in curves.items()}
    while True:
        told = {
            point: {"name": curve.name, "since_ms": curve.since_ms, "steps": steps[point], "status": curve.status}
            for point, curve in curves.items()
            if steps[point] or curve.status
        }
        content = json.dumps({"at_ms": _now_ms(), "metrics": metrics, "curves": told, "end": end}).encode()
        if len(content) <= _LARGEST or not any(steps.values()):
            return content
        steps = {point: those[::-1][::2][::-1] if len(those) > 1 else [] for point, those in steps.items()}


# ---- in the process of its own -----------------------------------------------------------------------------------------------


def _serve(link: socket.socket, root: Path, settings: Tracking, began_ms: int) -> None:
    """Tell MLflow what comes, until the driver or its socket ends."""
    _detach()
    scribe = _Scribe(root, settings, began_ms)
    again, lost = 0.0, False
    with reach.undisturbed(), reach.quick():
        try:
            expected = reach.failures()
        except ImportError as error:
            _answer(link, {"lost": reach.in_few_words(error)})
            return
        while said := _next(link):
            try:
                if time.monotonic() >= again or said["end"] is not None:  # what is left out `track` adds at the end
                    if scribe.run is None:
                        _answer(link, {"run": scribe.open().run_id})
                    scribe.tell(said)
            except expected as error:
                if not lost:
                    _answer(link, {"lost": reach.in_few_words(error)})
                again, lost = time.monotonic() + _AGAIN_S, True
            if said["end"] is not None:
                return
        with contextlib.suppress(*expected):  # the driver is gone
            scribe.end("KILLED")


def _detach() -> None:
    """Hold nothing of the driver's: no terminal, no better priority, no longer life."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.nice(10)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            time.sleep(_LAST_S)
            os._exit(1)  # a server that never answers, a database that stays locked

    threading.Thread(target=follow, daemon=True).start()


def _next(link: socket.socket) -> dict[str, Any] | None:
    try:
        said = link.recv(_ROOM)
    except OSError:
        return None
    told: dict[str, Any] | None = json.loads(said) if said else None
    return told


def _answer(link: socket.socket, told: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        link.send(json.dumps(told).encode())


@dataclass
class _Scribe:
    """The sweep's run and its long points' as MLflow has them."""

    root: Path
    settings: Tracking
    began_ms: int
    run: RunWriter | None = None
    points: dict[str, RunWriter] = field(default_factory=dict)
    begun: dict[str, RunWriter] = field(default_factory=dict)  # by a driver that was killed
    last: dict[tuple[str, str], int] = field(default_factory=dict)  # by run and metric: the last step it has

    def open(self) -> RunWriter:
        """Find the sweep's run or begin it."""
        sweep = SweepDir(self.root)
        client, experiment = reach.open_store(self.settings, sweeps_folder(self.root), sweep.manifest.get("experiment"))
        run = RunWriter.open(client, experiment, sweep, self.settings)
        if run is None:
            run = RunWriter.of_sweep(client, experiment, sweep, self.began_ms, {LIVE: "yes"})
        else:
            client.update_run(run.run_id, status="RUNNING")
            run.log({}, {LIVE: "yes"}, [])
            run.tags = {**run.tags, LIVE: "yes"}
            unfinished = [child for child in run.children() if CONTENT not in child.data.tags]
            self.begun = {child.data.tags["minimex.point"]: RunWriter.of(client, child) for child in unfinished}
        self.run = run
        return run

    def tell(self, said: dict[str, Any]) -> None:
        """Add to the curves of the sweep and of its points; end what has ended."""
        if self.run is None:
            return
        at_ms = said["at_ms"]
        self.run.log({}, {}, self.run.metrics(said["metrics"], at_ms, self.run.step(at_ms)))
        for point, curve in said["curves"].items():
            self._tell_point(self.run, point, curve)
        if said["end"] == "KILLED":
            self.end("KILLED")

    def end(self, status: str) -> None:
        """Mark all that still runs."""
        for writer in [*self.points.values(), *([self.run] if self.run else [])]:
            writer.client.set_terminated(writer.run_id, status)

    def _tell_point(self, run: RunWriter, point: str, curve: dict[str, Any]) -> None:
        child = self.points.get(point) or self._child(run, point, curve)
        metrics = []
        for done, at_ms, values in curve["steps"]:
            metrics += [one for one in child.metrics(values, at_ms, done) if self._is_new(child, one)]
        if metrics:
            child.log({}, {}, metrics)
        if curve["status"] is not None:
            run.client.set_terminated(child.run_id, curve["status"])
            del self.points[point]

    def _child(self, run: RunWriter, point: str, curve: dict[str, Any]) -> RunWriter:
        child = self.begun.pop(point, None)
        if child is None:
            told = {"mlflow.parentRunId": run.run_id, "minimex.point": point, LIVE: "yes"}
            child = RunWriter.create(run.client, run.experiment, curve["name"] or point[:8], curve["since_ms"], told)
        else:
            run.client.update_run(child.run_id, status="RUNNING")
        self.points[point] = child
        return child

    def _is_new(self, child: RunWriter, metric: Any) -> bool:
        key = child.run_id, metric.key
        if key not in self.last:
            there = child.client.get_metric_history(*key)
            self.last[key] = max((one.step for one in there), default=-1)
        new = metric.step > self.last[key]
        self.last[key] = max(metric.step, self.last[key])
        return bool(new)
