"""`Walk` does all a good solver may do; `Trouble` all a bad one may; `Trivial` as little as possible."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from minimex_fakes.games import Sequence, Shell
from solvers.contract import Checkpoint, Event, Progress, Result, Shared, Stop, Workers
from solvers.errors import ConfigError
from solvers.schema import Curve, TableInfo, column, exact, table_schema

SUMS = table_schema(
    [
        column("step", pa.int64(), "steps walked"),
        column("total", pa.string(), "exact sum of the first `step` values"),
        column("total_float", pa.float64(), "the same"),
        column("noise", pa.float64(), "sum of the first `step` random numbers"),
        column("noise_hex", pa.string(), "the same, to the last bit"),
        column("seconds", pa.float64(), "differs from run to run", effort=True),
    ],
    TableInfo(
        check="minimex_fakes.check:check_sums",
        claims="proved",
        headline="last",
        pictures=(Curve("step", ("total_float",)),),
        about="Sums along a walk",
    ),
)


def add(shared: Shared[tuple[Fraction, ...]], places: tuple[int, int]) -> Fraction:
    """Sum a stretch of the walk."""
    values = shared.get()
    return sum((values[place % len(values)] for place in range(*places)), Fraction(0))


@dataclass(frozen=True, slots=True)
class Walk:
    """Sums up `steps` values (a multiple of ten), ten at a time, and random numbers; a child generator is spawned every ten."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {"sums": SUMS}
    extent: ClassVar[str | None] = "steps"

    steps: int = 100
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        if self.steps < 10 or self.steps % 10:
            raise ConfigError("steps", "a multiple of 10", str(self.steps))

    def cost(self, game: Any) -> float:
        return 1e-6 * self.steps

    def solve(self, game: Sequence, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        shared = workers.share(game.values)
        texts: list[str] = []
        noises = np.zeros(self.steps // 10)  # a live buffer for all checkpoints
        begin = 0
        if resume is not None:
            begin = resume.step
            texts = [bytes(text).decode() for text in resume.arrays["totals"]]
            noises[: begin // 10] = resume.arrays["noises"]
        stretches = [(start, start + 10) for start in range(begin, self.steps, 10)]
        sums = workers.map(functools.partial(add, shared), stretches, ahead=3)
        try:
            for (start, stop), part in zip(stretches, sums, strict=True):
                child = rng.spawn(1)[0]
                place = start // 10
                noises[place] = (noises[place - 1] if place else 0.0) + child.random() + rng.random(10).sum()
                texts.append(exact((Fraction(texts[-1]) if texts else Fraction(0)) + part))
                if self.pause_s:
                    time.sleep(self.pause_s)
                yield Checkpoint(stop, {"totals": np.array([text.encode() for text in texts]), "noises": noises[: place + 1]})
                yield Progress(stop, self.steps, {"total": float(Fraction(texts[-1]))})
        except Stop:
            yield self._result(texts, noises, complete=False)
            return
        finally:
            shared.release()
        yield self._result(texts, noises, complete=True)

    def _result(self, texts: list[str], noises: np.ndarray, *, complete: bool) -> Result:
        size = len(texts)
        totals = [float(Fraction(text)) for text in texts]
        noise = noises[:size].tolist()
        columns = [
            range(10, 10 * size + 1, 10),
            texts,
            totals,
            noise,
            [one.hex() for one in noise],
            [time.perf_counter()] * size,
        ]
        table = pa.table(dict(zip(SUMS.names, columns, strict=True)), schema=SUMS)
        return Result({"sums": table}, {"total": totals[-1] if totals else 0.0}, complete)


FIRSTS = table_schema(
    [
        column("first", pa.string(), "the first value"),
        column("noise", pa.float64(), "one random number"),
        column("noise_hex", pa.string(), ""),
    ],
    TableInfo(check="minimex_fakes.check:check_firsts", claims="proved", about="First values"),
)


def firsts(games: Many[Sequence], rngs: Many[np.random.Generator]) -> pa.Table:
    """Return a row a game."""
    noise = [rng.random() for rng in rngs]
    columns = {"first": [exact(game.values[0]) for game in games], "noise": noise, "noise_hex": [one.hex() for one in noise]}
    return pa.table(columns, schema=FIRSTS)


@dataclass(frozen=True, slots=True)
class Trivial:
    """Tells the first value: many at a time, if asked."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None

    def solve(self, game: Sequence, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        yield Result({"firsts": firsts([game], [rng])})

    def solve_batch(self, games: Many[Sequence], rngs: Many[np.random.Generator]) -> Result:
        table = firsts(games, rngs).add_column(0, pa.field("batch_index", pa.int32()), pa.array(range(len(games)), pa.int32()))
        return Result({"firsts": table}, {}, np.ones(len(games), dtype=bool))


@dataclass(frozen=True, slots=True)
class Opener:
    """Tells the first value of what is costly to build."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Shell
    tables: ClassVar[Mapping[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None

    pause_s: float = 0.0

    def solve(self, game: Shell, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        time.sleep(self.pause_s)
        yield Result({"firsts": firsts([Sequence(game.values)], [rng])})


WORKED = table_schema([column("loops", pa.int64(), "rounds done")], TableInfo(headline="none", about="Work done"))


@dataclass(frozen=True, slots=True)
class Busy:
    """Keeps a core busy and says so in as few words as a table can have."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {"worked": WORKED}
    extent: ClassVar[str | None] = None

    loops: int = 100_000

    def solve(self, game: Sequence, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        for _ in range(self.loops):
            pass
        yield Result({"worked": pa.Table.from_arrays([pa.array([self.loops])], schema=WORKED)})


MARKUP = (
    "<img src=x onerror=document.documentElement.dataset.ran=1></script><script>document.documentElement.dataset.ran=2</script>\"'"
)

# ---- what a limit must end -------------------------------------------------------------------------------------------------------


def _spin() -> None:
    """Loop for ever in machine code."""

    def loop(n: int) -> int:
        while n > 0:
            n += 1 if n < 1000 else -1
        return n

    import numba

    numba.njit(loop)(1)


def _block() -> None:
    """Do as a C library that takes the alarm away and blocks all signals, keeps the interpreter's lock and does not come back."""
    libc = ctypes.PyDLL(None)
    libc.signal(signal.SIGALRM, ctypes.c_void_p(1))  # SIG_IGN: otherwise a thread of numpy's would take it
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    libc.pause()


def _creep() -> None:
    """Take more and more, 3.75 GB in the end, and keep it for a while."""
    held = []
    for _ in range(60):
        held.append(np.ones(1 << 23))
        time.sleep(0.03)
    time.sleep(20)


_LEAKED: list[np.ndarray] = []


def _leak() -> None:
    """Never give back 100 MB."""
    _LEAKED.append(np.ones(100 * 2**20 // 8))


_BEYOND: Mapping[str, Callable[[], Any]] = {
    "spin": _spin,
    "block": _block,
    "huge": lambda: np.ones(50 * 2**30 // 8),
    "crumbs": lambda: [bytes(200) for _ in range(20_000_000)],
    "creep": _creep,
    "leak": _leak,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Fails in the way asked for, on games whose first value is one of `points`; on others tells the first value."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None

    kind: Literal[
        "raise",
        "hang",
        "spin",
        "ignore",
        "block",
        "die",
        "allocate",
        "huge",
        "crumbs",
        "creep",
        "leak",
        "wrong",
        "nothing",
        "plausible",
        "hostile",
        "markup",
    ] = "raise"
    points: tuple[int, ...] = ()
    pause_s: float = 0.0

    def solve(self, game: Sequence, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        time.sleep(self.pause_s)
        first = game.values[0]
        if first in self.points:
            _BEYOND.get(self.kind, int)()
            yield from self._fail()
            if self.kind in ("nothing", "markup"):
                return
            if self.kind == "plausible":
                first += 1
        yield Result({"firsts": firsts([Sequence((first,))], [rng])})

    def _fail(self) -> Iterator[Event]:
        match self.kind:
            case "raise" | "hostile":
                raise ArithmeticError(MARKUP if self.kind == "hostile" else "raised on purpose")
            case "ignore":  # as a C library may: the alarm is blocked
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
                while True:
                    time.sleep(0.01)
            case "die":
                os._exit(7)
            case "hang":
                while True:
                    time.sleep(0.01)
            case "allocate":
                blocks = [np.ones(1 << 27) for _ in range(64)]
                yield Progress(len(blocks))
            case "markup":
                yield Progress(1, 2, {MARKUP: 1.0})
                columns = {"first": [MARKUP], "noise": [0.5], "noise_hex": [MARKUP]}
                yield Result({"firsts": pa.table(columns, schema=FIRSTS)}, {MARKUP: 1.0})
            case "wrong":
                yield Result({"firsts": pa.table({"other": [1]})})


@dataclass(frozen=True, slots=True)
class Mixed:
    """Three bad points among good ones: raises on 13, hangs on 47, dies on 71."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None

    pause_s: float = 0.0

    def solve(self, game: Sequence, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        kind = {13: "raise", 47: "hang", 71: "die"}.get(int(game.values[0]), "raise")
        bad = Trouble(kind=kind, points=(13, 47, 71), pause_s=self.pause_s)  # type: ignore[arg-type]
        return bad.solve(game, resume=resume, workers=workers, rng=rng)
