"""Checkers at work: in this process as long as that is quick, then in several beside it.

A `Judge` builds a point's game again and asks the checkers that its tables name (`solvers.<family>.check:<function>`, or of a
module below it); what they pass over or break at is `unchecked`. A `Jury` gives the same verdicts in the same order: it begins
alone, and where much is left it has processes of its own judge by their side, each of which sees one point's rows at a time.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from pipeline.environment import ONE_THREAD, environment
from solvers.builder import Context
from solvers.contract import Verdict
from solvers.errors import MinimexError
from solvers.identity import digest, rebuild

_ALONE_S = 3.0  # a process takes about two seconds to begin
_WORTH_S = 0.002  # less for a point, and carrying its rows to another process costs more
_SHARE_S = 0.5
_LARGEST_SHARE = 500
_AHEAD = 4  # shares for each process that may be done before their turn comes
_KEPT_GAMES = 64
_CHECKER = re.compile(r"solvers(\.[a-z_0-9]+)+\.check(\.[a-z_0-9]+)?:[a-z_0-9]+")
_UNBUILT = (MinimexError, ValueError, KeyError, TypeError, AttributeError)

Check = Callable[[Any, Mapping[str, pa.Table]], Iterator[Verdict]]
CheckBatch = Callable[[Sequence[Any], Mapping[str, pa.Table]], Iterator[tuple[int, Verdict]]]
Verdicts = dict[str, list[Verdict]]


@dataclass(frozen=True, slots=True)
class Case:
    """A point to judge: which checker is asked of which table, and its rows of all of them."""

    point: str
    config: str
    checks: Mapping[str, str]
    tables: Mapping[str, Any]  # pa.Table, or bytes on the way to a process: an Arrow stream


class Judge:
    """Builds games again and asks their checkers."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.games: dict[str, Any] = {}  # the last ones, by their canonical text

    def game(self, point: str, config: str) -> Any:
        """Build the game of a point again: the same one if it was among the last.

        Raises
        ------
        MinimexError, ValueError, KeyError, TypeError, AttributeError
            If it cannot be built, or the config is not the point's.
        """
        if digest(config) != point:
            raise ValueError("the point's config does not match its hash")
        described = json.loads(config)["game"]
        text = json.dumps(described)
        game = self.games.get(text)
        if game is None:
            if len(self.games) >= _KEPT_GAMES:
                self.games.clear()
            game = self.games[text] = rebuild(described, "game", self.context)
        return game

    def judge(self, case: Case) -> Verdicts:
        """Return what the checkers say of a point, by table."""
        said: Verdicts = {}
        for name, check in case.checks.items():
            try:
                game = self.game(case.point, case.config)
            except _UNBUILT as error:
                said[name] = [Verdict(name, None, "unchecked", f"the game cannot be built again: {error}")]
                continue
            if name in case.tables:
                said[name] = heard(self._asked(check, game, case.tables), name, len(case.tables[name]))
        return said

    def _asked(self, check: str, game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
        yield from checker(check, self.context.trust)(game, tables)

    def judge_together(self, name: str, check: str, points: Sequence[tuple[str, str]], tables: Mapping[str, pa.Table]) -> Verdicts:
        """Ask the checker's sister of many points (hash, config), whose rows have `batch_index`; return verdicts by hash.

        Nothing of a point that the checker itself shall judge, nor if the sister breaks: the checker says what is wrong.
        """
        sister = sister_of(check, self.context.trust)
        said: Verdicts = {}
        if sister is not None:
            with suppress(Exception):
                for place, verdict in list(sister([self.game(*one) for one in points], tables)):
                    said.setdefault(points[place][0], []).append(verdict)
                return said
        return {}

    def can_build(self, point: str, config: str) -> bool:
        """Say whether the point's game can be built."""
        with suppress(*_UNBUILT):
            self.game(point, config)
            return True
        return False


def heard(verdicts: Iterable[Verdict], name: str, size: int) -> list[Verdict]:
    """Return what a checker says of a table with so many rows; where it breaks, and rows that it passes over, are unchecked."""
    said: list[Verdict] = []
    judged: set[int] = set()
    try:
        for verdict in verdicts:
            if verdict.row is not None:
                judged.update(range(verdict.row, verdict.row + verdict.count))
            said.append(verdict)
    except Exception as error:  # noqa: BLE001 (a checker that breaks on damaged rows has not judged them)
        said.append(Verdict(name, None, "unchecked", f"the checker broke: {type(error).__name__}: {error}"))
    said += [Verdict(name, row, "unchecked", "passed over by the checker") for row in range(size) if row not in judged]
    return said


@functools.cache
def checker(name: str, trust: tuple[str, ...]) -> Check:
    """Return a checker.

    Raises
    ------
    ValueError
        If the name is none of a checker of ours or of a trusted package.
    ImportError, AttributeError
        If there is no such one.
    """
    package = name.partition(".")[0]
    if not _CHECKER.fullmatch(name) and package not in trust:
        raise ValueError(f"{name!r} is not a checker of solvers.*")
    module, _, function = name.partition(":")
    found: Check = getattr(importlib.import_module(module), function)
    return found


@functools.cache
def sister_of(name: str | None, trust: tuple[str, ...]) -> CheckBatch | None:
    """Return the checker's sister for many points, if it has one."""
    if name is None:
        return None
    with suppress(ValueError, ImportError, AttributeError):
        checker(name, trust)
        module, _, function = name.partition(":")
        found: CheckBatch | None = getattr(importlib.import_module(module), f"{function}_batch", None)
        return found
    return None


def cores() -> int:
    """Return how many of this machine's cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- several processes -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Helper:
    process: Any
    pipe: Connection
    share: int = -1  # which one it is at, -1: none
    since: float = 0.0


class Jury:
    """Judges cases in their order, with up to so many processes where it takes long. Its processes end with its `with` block."""

    def __init__(self, judge: Judge, processes: int, total: int) -> None:
        self.judge, self.processes, self.left = judge, processes, total
        self.alone_s, self.alone = 0.0, 0
        self.each_s = 0.0  # what a case took lately
        self.helpers: list[_Helper] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for helper in self.helpers:
            helper.process.kill()
            helper.pipe.close()
        for helper in self.helpers:
            helper.process.join()
        self.helpers = []

    def verdicts(self, cases: Iterable[Case]) -> Iterator[Verdicts]:
        """Yield what is said of each case."""
        waiting = iter(cases)
        for case in waiting:
            if self._is_worth_it():
                yield from self._in_processes(itertools.chain([case], waiting))
                return
            yield self._alone(case)

    def _is_worth_it(self) -> bool:
        is_long = self.alone_s > _ALONE_S and self.left * self.each_s > _ALONE_S
        return self.processes > 1 and is_long and self.each_s > _WORTH_S

    def _share(self) -> int:
        return min(max(int(_SHARE_S / self.each_s), 1), _LARGEST_SHARE)

    def _alone(self, case: Case) -> Verdicts:
        began = time.monotonic()
        said = self.judge.judge(case)
        self.alone_s += time.monotonic() - began
        self.alone += 1
        self.each_s = self.alone_s / self.alone
        self.left -= 1
        return said

    def _in_processes(self, cases: Iterator[Case]) -> Iterator[Verdicts]:
        """Hand out shares of cases; a share whose process dies is judged here, and without processes so is the rest."""
        if not self.helpers:
            self.helpers = _started(min(self.processes, -(-self.left // self._share())), self.judge.context)
        shares: dict[int, list[Case]] = {}
        done: dict[int, list[Verdicts]] = {}
        handed, turn = 0, 0
        while True:
            for helper in [one for one in self.helpers if one.share < 0]:
                share = list(itertools.islice(cases, self._share())) if handed - turn < _AHEAD * self.processes else []
                if share:
                    shares[handed], helper.share, helper.since = share, handed, time.monotonic()
                    handed += 1
                    if not _handed_over(helper, share):
                        done[helper.share] = self._bereft(helper, shares)
            if turn == handed:
                break
            if turn in done:
                yield from done.pop(turn)
                self.left -= len(shares.pop(turn))
                turn += 1
            else:
                self._listen(shares, done)
        yield from map(self._alone, cases)

    def _listen(self, shares: Mapping[int, Sequence[Case]], done: dict[int, list[Verdicts]]) -> None:
        by_pipe = {one.pipe: one for one in self.helpers if one.share >= 0}
        for pipe in wait(list(by_pipe)):
            helper = by_pipe[pipe]  # type: ignore[index]
            try:
                done[helper.share] = helper.pipe.recv()
                self.each_s = max(time.monotonic() - helper.since, 1e-9) / len(shares[helper.share])
                helper.share = -1
            except (EOFError, OSError):
                done[helper.share] = self._bereft(helper, shares)

    def _bereft(self, helper: _Helper, shares: Mapping[int, Sequence[Case]]) -> list[Verdicts]:
        """Judge here what a process took with it."""
        self.helpers.remove(helper)
        helper.pipe.close()
        helper.process.join()
        return [self.judge.judge(case) for case in shares[helper.share]]


def _handed_over(helper: _Helper, share: Sequence[Case]) -> bool:
    try:
        helper.pipe.send([replace(case, tables={name: _packed(rows) for name, rows in case.tables.items()}) for case in share])
    except OSError:
        return False
    return True


def _packed(rows: pa.Table) -> bytes:
    """Write rows as an Arrow stream: of a slice only what it shows (a pickle takes all that stands behind it)."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())


def _unpacked(tables: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {name: pa.ipc.open_stream(rows).read_all() for name, rows in tables.items()}


def _started(processes: int, context: Context) -> list[_Helper]:
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the threads of Arrow and Ray half alive
    helpers = []
    with environment(ONE_THREAD), _without_ctrl_c():
        for _ in range(processes):
            mine, theirs = spawn.Pipe()
            process = spawn.Process(target=_help, args=(theirs, context), daemon=True)
            process.start()
            theirs.close()
            helpers.append(_Helper(process, mine))
    return helpers


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let processes that start now never hear of Ctrl-C, which reaches all of a terminal's: whoever started them ends them."""
    resource_tracker.ensure_running()  # it would let SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited; where set later, it comes while they import
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _help(pipe: Connection, context: Context) -> None:
    """Judge what comes, in a process that ends with the one that started it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    judge = Judge(context)
    with suppress(EOFError, OSError):
        while True:
            share = pipe.recv()
            pipe.send([judge.judge(replace(case, tables=_unpacked(case.tables))) for case in share])


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
