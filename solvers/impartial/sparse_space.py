"""Nimbers of an octal game, millions of heaps a second where few of them are rare; and a proof of the period where they give one.

The nimbers are those of the plain method (`mex_dp`), by looking at far fewer options: `solvers.impartial.rares` says which, and
whose method it is (Berlekamp, Guy; Flammenkamp's programs). What it cannot do: be fast where many heaps are rare (0.007: one in
six), prove that a game is not periodic, or stop when a period is proved (it goes to its limit).
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
from solvers.impartial.periods import find_period
from solvers.impartial.rares import BLOCK, HeapRun, breaking_places
from solvers.impartial.tables import NIMBERS, PERIODS, nimbers_table, periods_table

MOST_HEAPS = 1_000_000_000
MOST_KEPT = 10_000_000
FIRST_CHOICE = 64
"""A rule is chosen at this heap and at every doubling, whatever the limit and the steps: what is rare depends on it."""
_OPTIONS_A_STEP = 200_000_000
"""Options a step: some 0.1 to 0.3 s. A checkpoint is offered after each; who runs the solve decides which to store."""


@dataclass(frozen=True, slots=True)
class SparseSpace:
    """Compute the nimbers of all heaps up to a limit, by means of the rare ones.

    Parameters
    ----------
    heap_limit
        Largest heap computed, 0 to 1,000,000,000.
    keep_nimbers
        Whether the table `nimbers` is filled; `periods` always is. At most 10,000,000 are kept.

    Raises
    ------
    ConfigError
        If the limit is out of range, or more nimbers are to be kept than a table should hold.

    Notes
    -----
    For each heap and breaking digit one look at each rare heap (0.2 ns) and some dozen others (50 ns a heap); for each rare heap a
    look at all heaps. A million heaps of Kayles (9 rare) take 0.05 s, of 0.36 (515 rare) 0.8 s; 100,000 of 0.007 (17,000 rare)
    1.5 s. Memory 2 bytes a heap, and 2 more while a period is looked for; 12 more where nimbers are kept.

    References
    ----------
    See `solvers.impartial.rares`.

    Examples
    --------
    >>> from solvers import solve
    >>> from solvers.games.octal import Octal
    >>> found = solve(Octal("0.77"), SparseSpace(heap_limit=1000))
    >>> found.tables["nimbers"]["nimber"].to_pylist()[:13]
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4]
    >>> found.tables["periods"].select(["period", "preperiod", "rare_count", "last_rare"]).to_pylist()
    [{'period': 12, 'preperiod': 71, 'rare_count': 9, 'last_rare': 70}]
    """

    heap_limit: int = 10_000
    keep_nimbers: bool = True

    version: ClassVar[int] = 1
    takes: ClassVar[type] = HeapGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"nimbers": NIMBERS, "periods": PERIODS}
    extent: ClassVar[str | None] = "heap_limit"

    def __post_init__(self) -> None:
        if not 0 <= self.heap_limit <= MOST_HEAPS:
            raise ConfigError(
                "heap_limit", f"0 to {MOST_HEAPS}", repr(self.heap_limit), "all nimbers are in memory, 2 bytes a heap"
            )
        if self.keep_nimbers and self.heap_limit > MOST_KEPT:
            hint = f"at most {MOST_KEPT} nimbers are kept; the period is found and proved without storing them"
            raise ConfigError("keep_nimbers", f"false with a heap_limit of {self.heap_limit}", "true", hint)

    def cost(self, game: Game) -> float:
        """Estimate seconds, for ordering only: as if the rare heaps grew with the root of the limit."""
        breaking = len(breaking_places(game.form(HeapGame)))
        return self.heap_limit * (6e-8 + 2e-9 * breaking * math.sqrt(self.heap_limit))

    def solve(self, game: HeapGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress in heaps, checkpoints with the nimbers so far and the rule, and the result."""
        run = HeapRun(game, self.heap_limit)
        if resume is not None and resume.step <= self.heap_limit:
            run.restore(resume.arrays)
        try:
            while run.done < self.heap_limit:
                if _is_choice(run.done):
                    run.choose()
                run.extend(min(run.done + _step_of(run), _choice_after(run.done), self.heap_limit))
                yield Progress(run.done, self.heap_limit, _metrics(run))
                if run.done < self.heap_limit:
                    yield Checkpoint(run.done, run.state())
            yield Checkpoint(run.done, run.state())
        except Stop:
            pass
        yield self._result(run)

    def _result(self, run: HeapRun) -> Result:
        nimbers = run.nimbers[: run.done + 1]
        found = find_period(nimbers, run.game)
        tables = {
            "nimbers": nimbers_table(nimbers if self.keep_nimbers else nimbers[:0]),
            "periods": periods_table(
                run.game,
                found,
                max_nimber=run.max_nimber,
                argmax=int((nimbers == run.max_nimber).argmax()),
                heaps_done=run.done,
                rares=run.rares(),
            ),
        }
        return Result(tables, _metrics(run), complete=run.done == self.heap_limit)


def _metrics(run: HeapRun) -> dict[str, float]:
    told = run.rares()
    rares = {"rares": float(told.rare_count), "last_rare": float(told.last_rare or 0)} if told else {}
    return {"max_nimber": float(run.max_nimber), **rares}


def _is_choice(done: int) -> bool:
    return done >= FIRST_CHOICE and done == _choice_after(done - 1)


def _choice_after(done: int) -> int:
    return max(FIRST_CHOICE, 1 << done.bit_length())


def _step_of(run: HeapRun) -> int:
    """Return how many heaps make a step: whole blocks."""
    options: int = 100 + len(run.digits) + len(run.breaking) * run.rare_count
    return max(1, _OPTIONS_A_STEP // options // BLOCK) * BLOCK
