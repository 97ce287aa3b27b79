"""Is this heap game periodic? Computes nimbers until a period is proved, or a limit is reached, in memory that stops growing.

The method is that of `solvers.impartial.sparse_space`; what is added is how a period is looked for, and what is kept.

Rules
-----
1. *All values.* First all values are kept. At 64 heaps and at each doubling the theorem of Guy and Smith is tried on them
   (`periods`), and a new rule for rare heaps is chosen.
2. *Window.* At a doubling D, `FIRST_WINDOW` or later, the rare heaps look dead if the last one is so far below D / 2, and every
   look at witnesses since D / 2 as well, that a window of D / 2 values holds what is looked at, with as much again to spare. From
   there on the rule stays and only the window is kept, beside G(0) ... G(D). A period is proved as in `window`: the windows
   before D + 1, 2 D + 1, 4 D + 1, ... are waited for, each until the next.
3. *Way back.* If a heap beyond turns out to be rare after all, or its witnesses lie beyond the window, then values are needed
   that are gone. They are computed again from D on, all kept, and no window is taken before that heap. This at most doubles the
   work each time, and D has at least doubled since.
4. *Preperiod.* Once a window came again the period is certain; a second pass over part of the heaps finds from where on it holds.
5. What is found does not depend on the limit, on steps or on resumes, except that at the limit Guy and Smith are tried once more
   if all values are there.

What it cannot do: say that a game is not periodic, or find one where rare heaps go on coming (0.007): there it keeps all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, Game, Progress, Result, Stop, Workers
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.impartial.periods import Period, find_period
from solvers.impartial.rares import BLOCK, HeapRun, Heaps, Nimbers, Rule, breaking_places
from solvers.impartial.tables import NIMBERS, PERIODS, Rares, nimbers_table, periods_table
from solvers.impartial.window import HASH_START, Lag, Waiting, Window, WindowPeriod, hash_of

MOST_HEAPS = 10**12
MOST_KEPT = 10_000_000
FIRST_MILESTONE = 64
FIRST_WINDOW = 1 << 18
"""Windows are taken from here on: below, all values are cheap."""
STEP = 1 << 18
_OPTIONS_A_STEP = 200_000_000

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class PeriodSearch:
    """Search for the least period of a heap game, and prove it.

    Parameters
    ----------
    heap_limit
        Largest heap computed, 0 to 10^12. The search ends before if a period is proved.
    keep_nimbers
        Whether the table `nimbers` is filled, as far as the search went; `periods` always is. None: if heap_limit is 10,000,000 at
        most. More are never kept.

    Raises
    ------
    ConfigError
        If the limit is out of range, or it is true and more nimbers are to be kept than a table should hold.

    Notes
    -----
    Time: as `SparseSpace`, and a second pass of up to the same length once a period was found. Memory: 2 bytes a heap as long as
    rare heaps come, then no more; 2 bytes times the period while the preperiod is looked for. 0.104 (period 11,770,282 from
    197,769,598 on) takes about a minute.

    References
    ----------
    See `solvers.impartial.rares`, `periods` and `window`.

    Examples
    --------
    >>> from solvers import solve
    >>> from solvers.games.octal import Octal
    >>> found = solve(Octal("0.77"), PeriodSearch(heap_limit=1000))
    >>> found.tables["periods"].select(["period", "preperiod", "heaps_done", "proof"]).to_pylist()
    [{'period': 12, 'preperiod': 71, 'heaps_done': 256, 'proof': 'guy_smith'}]
    """

    heap_limit: int = 20_000
    keep_nimbers: bool | None = None

    version: ClassVar[int] = 1
    takes: ClassVar[type] = HeapGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"nimbers": NIMBERS, "periods": PERIODS}
    extent: ClassVar[str | None] = "heap_limit"

    def __post_init__(self) -> None:
        if not 0 <= self.heap_limit <= MOST_HEAPS:
            raise ConfigError("heap_limit", f"0 to {MOST_HEAPS}", repr(self.heap_limit), "10^11 heaps take hours at the best")
        if self.keep_nimbers and self.heap_limit > MOST_KEPT:
            hint = f"at most {MOST_KEPT} nimbers are kept; the period is found and proved without storing them"
            raise ConfigError("keep_nimbers", f"null or false with a heap_limit of {self.heap_limit}", "true", hint)

    @property
    def keeps(self) -> bool:
        """Say whether nimbers are kept."""
        return self.heap_limit <= MOST_KEPT if self.keep_nimbers is None else self.keep_nimbers

    def cost(self, game: Game) -> float:
        """Estimate seconds, for ordering only: as if no period were found, and the rare heaps grew with the root of the limit."""
        breaking = len(breaking_places(game.form(HeapGame)))
        return self.heap_limit * (1e-7 + 2e-9 * breaking * min(math.sqrt(self.heap_limit), 1000.0))

    def solve(self, game: HeapGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress in heaps, checkpoints of bounded size once rare heaps have stopped, and the result."""
        limit, keep = self.heap_limit, self.keeps
        search = _Search(game, keep=keep)
        if resume is not None and not (keep and _without_values(resume.arrays)):
            search.restore(resume.arrays)
        if search.done > limit:
            search = _Search(game, keep=keep)
        step, complete = 0, False
        try:
            while search.unfinished(limit):
                search.advance(limit)
                yield Progress(min(search.farthest, limit), limit, search.metrics())
                if step < search.farthest < limit:
                    step = search.farthest
                    yield Checkpoint(step, search.state())
            yield Checkpoint(limit, search.state())
            complete = True
        except Stop:
            pass
        yield Result(search.tables(), search.metrics(), complete)


class _Search:
    """One search: all of it can be told by `state` and taken up again by `restore`.

    Attributes
    ----------
    done
        The largest heap whose nimber is known.
    farthest
        How far the work is, in heaps, never less than before: values computed again do not count, the second pass does.
    found
        The period, once all is known about it.
    """

    def __init__(self, game: HeapGame, *, keep: bool) -> None:
        self.game = game
        self.keep = keep
        self.done = self.farthest = 0
        self.found: Period | WindowPeriod | None = None
        self.run: HeapRun | None = HeapRun(game, FIRST_MILESTONE)
        self.not_before = 0
        self.stream: _Stream | None = None
        self.second: _SecondPass | None = None

    def unfinished(self, limit: int) -> bool:
        """Say whether there is something left to do."""
        return self.found is None and (self.second is not None or self.done < limit)

    def advance(self, limit: int) -> None:
        """Take one step, of some tenths of a second."""
        if self.second is not None:
            self.farthest += self.second.advance()
            self.found = self.second.found
        elif self.stream is not None:
            self._advance_stream(self.stream, limit)
        elif self.run is not None:
            self._advance_run(self.run, limit)

    # ---- all values, rule 1

    def _advance_run(self, run: HeapRun, limit: int) -> None:
        if self.done == len(run.nimbers) - 1:
            self.run = run = _with_room(run)
            run.choose()
            run.most_looks = 0
        options = 100 + len(run.digits) + len(run.breaking) * run.rare_count
        step = max(1, min(STEP, _OPTIONS_A_STEP // options) // BLOCK) * BLOCK
        run.extend(min(self.done + step, len(run.nimbers) - 1, limit))
        self.done = run.done
        self.farthest = max(self.farthest, self.done)
        if self.done == len(run.nimbers) - 1:
            self.found = find_period(run.nimbers, self.game)
            if self.found is None and self._look_dead(run):
                self.stream = _Stream.after(run, self.game, keep=self.keep)
                self.run = None

    def _look_dead(self, run: HeapRun) -> bool:
        told = run.rares()
        if told is None or self.done < max(FIRST_WINDOW, self.not_before):
            return False
        reach = max(told.last_rare or 0, run.most_looks) + self.game.last_place + 2 * BLOCK
        return 2 * reach <= self.done // 2

    # ---- a window, rules 2 and 3

    def _advance_stream(self, stream: _Stream, limit: int) -> None:
        period = stream.advance(limit)
        if stream.stuck:
            self.not_before = stream.done + 1
            self.run, self.stream = stream.way_back(self.game), None
            self.done = self.run.done
            return
        self.done = stream.done
        self.farthest = max(self.farthest, self.done)
        if period is not None:
            self.second = _SecondPass(stream, self.game, period)

    # ---- what is known

    def rares(self) -> Rares | None:
        """Return what `periods` says of the rare heaps."""
        return self.run.rares() if self.run is not None else self.stream.rares() if self.stream is not None else None

    def metrics(self) -> dict[str, float]:
        """Return numbers worth a curve."""
        told = self.rares()
        return {"rares": float(told.rare_count), "last_rare": float(told.last_rare or 0)} if told else {}

    def tables(self) -> dict[str, pa.Table]:
        """Return both tables, as far as the search went."""
        if self.run is not None:
            values = self.run.nimbers[: self.done + 1]
            found = self.found or find_period(values, self.game)
            highest, argmax = int(values.max()), int(values.argmax())
        else:
            assert self.stream is not None  # noqa: S101 (either of them is there)
            values, found = self.stream.kept, self.found
            highest, argmax = self.stream.max_nimber, self.stream.argmax
        row = periods_table(self.game, found, max_nimber=highest, argmax=argmax, heaps_done=self.done, rares=self.rares())
        return {"nimbers": nimbers_table(values if self.keep else values[:0]), "periods": row}

    # ---- checkpoints

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on, as arrays."""
        state = {"search": np.array([self.done, self.farthest, self.not_before], np.int64)}
        if self.run is not None:
            state |= {"room": np.array([len(self.run.nimbers) - 1]), **self.run.state()}
        if self.stream is not None:
            state |= self.stream.state()
        if self.second is not None:
            state |= self.second.state()
        return state

    def restore(self, state: Arrays) -> None:
        """Go on from where `state` was taken."""
        self.done, self.farthest, self.not_before = map(int, state["search"])
        if "room" in state:
            self.run = HeapRun(self.game, int(state["room"][0]))
            self.run.restore(state)
            if self.done == len(self.run.nimbers) - 1:
                self.found = find_period(self.run.nimbers, self.game)
            return
        self.run, self.stream = None, _Stream.restored(state, self.game, keep=self.keep)
        if "ring" in state:
            self.second = _SecondPass(self.stream, self.game, len(state["ring"]))
            self.second.restore(state)
            self.found = self.second.found


def _without_values(state: Arrays) -> bool:
    """Say whether a search's state holds a window in place of all values: one for a limit so large that none are kept."""
    return "stream" in state and "kept" not in state


def _with_room(run: HeapRun) -> HeapRun:
    """Return the same run with room for twice as many heaps."""
    larger = HeapRun(run.game, 2 * run.done)
    larger.restore(run.state())
    return larger


class _Stream:
    """Rule 2: values computed with a window, and windows waited for.

    Attributes
    ----------
    prefix
        `[D + 1]`: G(0), ..., G(D).
    kept
        All values so far if they are kept, else the prefix.
    waiting, earlier
        The window waited for now, and the one before.
    stuck
        Whether the next heap cannot be decided.
    """

    def __init__(self, game: HeapGame, rule: Rule, rares: tuple[Heaps, Nimbers], prefix: Nimbers, *, keep: bool) -> None:
        self.game, self.rule, self.positions, self.values = game, rule, *rares
        self.prefix = self.kept = prefix
        self.keep = keep
        self.length = (len(prefix) - 1) // 2
        self.max_nimber, self.argmax = int(prefix.max()), int(prefix.argmax())
        self.fnv64 = HASH_START
        self.waiting: Waiting | None = None
        self.earlier: Waiting | None = None
        self.window = self.window_after(len(prefix) - 1, prefix[-self.length :])
        self.stuck = False

    @classmethod
    def after(cls, run: HeapRun, game: HeapGame, *, keep: bool) -> _Stream:
        """Return the stream that goes on from a run with all values."""
        rares = run.positions[: run.rare_count].copy(), run.values[: run.rare_count].copy()
        stream = cls(game, run.rule, rares, run.nimbers[: run.done + 1].copy(), keep=keep)
        stream.fnv64 = hash_of(stream.prefix)
        return stream

    def window_after(self, done: int, values: Nimbers) -> Window:
        """Return the engine that goes on after heap `done`, `values` being the window there."""
        return Window(self.game, self.rule, (self.positions, self.values), self.prefix, done, values, STEP)

    @property
    def done(self) -> int:
        """The last heap computed."""
        return self.window.done

    def advance(self, limit: int) -> int | None:
        """Take a step; return the period if a window came again: `done` is then the first heap that shows it."""
        milestone = (len(self.prefix) - 1) << ((self.done // (len(self.prefix) - 1)).bit_length() - 1)
        if self.done == milestone:
            self.earlier, self.waiting = self.waiting, Waiting(self.done + 1, self.window.last())
        assert self.waiting is not None  # noqa: S101 (the first milestone is the prefix's end)
        first, last = self.done + 1, min(self.done + STEP, 2 * milestone, limit)
        values = self.window.advance(last)
        taken = self.waiting.feed(values)
        self.stuck = taken is None and self.done < last
        if taken is not None:
            values = values[:taken]
            self.window.step_back(first + taken - 1)
        if len(values) and int(values.max()) > self.max_nimber:
            self.max_nimber, self.argmax = int(values.max()), first + int(values.argmax())
        self.fnv64 = hash_of(values, self.fnv64)
        if self.keep:
            self.kept = np.concatenate([self.kept, values])
        return None if taken is None else self.done + 1 - self.waiting.start

    def way_back(self, game: HeapGame) -> HeapRun:
        """Rule 3: return a run of all values up to the prefix's end."""
        run = HeapRun(game, len(self.prefix) - 1)
        parity = -1 if self.rule.parity is None else self.rule.parity
        run.restore({"nimbers": self.prefix, "rule": np.array([self.rule.mask, parity, 0], np.int64)})
        return run

    def rares(self) -> Rares:
        """Return what `periods` says of the rare heaps."""
        last = int(self.positions[-1]) if len(self.positions) else None
        return Rares(len(self.positions), last, self.rule.mask, self.rule.parity)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on, as arrays."""
        parity = -1 if self.rule.parity is None else self.rule.parity
        numbers = [self.done, self.rule.mask, parity, self.max_nimber, self.argmax]
        state: dict[str, np.ndarray] = {
            "stream": np.array(numbers, np.int64),
            "fnv64": np.array([self.fnv64], np.uint64),
            "prefix": self.prefix,
            "positions": self.positions,
            "values": self.values,
            "window": self.window.last(),
        }
        if self.keep:
            state["kept"] = self.kept
        for name, one in (("waiting", self.waiting), ("earlier", self.earlier)):
            if one is not None:
                state |= {name: one.values, f"{name}_at": np.array([one.start, one.matched], np.int64)}
        return state

    @classmethod
    def restored(cls, state: Arrays, game: HeapGame, *, keep: bool) -> _Stream:
        """Return the stream whose `state` that was."""
        done, mask, parity, highest, argmax = map(int, state["stream"])
        rule = Rule(mask, None if parity < 0 else parity)
        stream = cls(game, rule, (state["positions"], state["values"]), state["prefix"], keep=keep)
        stream.window = stream.window_after(done, state["window"])
        stream.max_nimber, stream.argmax, stream.fnv64 = highest, argmax, int(state["fnv64"][0])
        stream.kept = state["kept"] if keep else stream.prefix
        stream.waiting, stream.earlier = (
            Waiting(int(state[f"{name}_at"][0]), state[name], int(state[f"{name}_at"][1])) if name in state else None
            for name in ("waiting", "earlier")
        )
        return stream


class _SecondPass:
    """Rule 4: the heaps once more, from a kept window that does not yet recur, to find from where on the period holds."""

    def __init__(self, stream: _Stream, game: HeapGame, period: int) -> None:
        assert stream.waiting is not None  # noqa: S101 (a window came again)
        self.stream, self.game = stream, game
        self.start = stream.waiting.start
        self.last = self.start - stream.length + period - 1
        self.found: WindowPeriod | None = None
        if stream.earlier is not None and period < stream.earlier.start:
            done, values = stream.earlier.start - 1, stream.earlier.values
            self._begin(period, done, values, done + 1 - stream.length, values)
        else:
            prefix = stream.prefix
            self._begin(period, len(prefix) - 1, prefix[-stream.length :], 0, prefix[: self.last + 1])

    def _begin(self, period: int, done: int, window: Nimbers, first: int, values: Nimbers) -> None:
        self.window = self.stream.window_after(done, window)
        self.lag = Lag(period, first)
        self.lag.feed(values)

    def advance(self) -> int:
        """Take a step and return how many heaps it did; with the last one `found` is there."""
        last = min(self.window.done + STEP, self.last)
        done = max(0, last - self.window.done)
        if done:
            self.lag.feed(self.window.advance(last))
        if self.lag.heap > self.last:
            self._conclude()
        return done

    def _conclude(self) -> None:
        stream, lag = self.stream, self.lag
        last_rare = stream.rares().last_rare or 0
        self.found = WindowPeriod(
            lag.last_difference + 1,
            len(lag.ring),
            self.game.last_place,
            self.start,
            stream.length,
            last_rare,
            stream.fnv64,
        )

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on, beside the stream's own arrays."""
        numbers = [self.window.done, self.lag.first, self.lag.heap, self.lag.last_difference]
        return {"second": np.array(numbers, np.int64), "second_window": self.window.last(), "ring": self.lag.ring}

    def restore(self, state: Arrays) -> None:
        """Go on from where `state` was taken."""
        done, self.lag.first, self.lag.heap, self.lag.last_difference = map(int, state["second"])
        self.lag.ring = state["ring"].copy()
        self.window = self.stream.window_after(done, state["second_window"])
        if self.lag.heap > self.last:
            self._conclude()
