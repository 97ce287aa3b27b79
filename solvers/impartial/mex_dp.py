"""Nimbers of an octal game, heap by heap, by the definition; and a proof of the period where the values give one.

The nimber of a heap is the least value that no option has (mex); a heap left in two has the xor of both nimbers (Sprague 1935,
Grundy 1939). This is the plain quadratic method: the reference for faster ones, and the one to read first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numba import njit

from solvers.contract import Checkpoint, Event, Game, Progress, Result, Stop, Workers
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.impartial.periods import BREAKING, IntArray, find_period
from solvers.impartial.tables import NIMBERS, PERIODS, nimbers_table, periods_table

MOST_HEAPS = 10_000_000
MOST_UNKEPT = 100_000
"""So many heaps anybody can compute again in seconds, and needs no stored nimbers to judge the finding."""
FIRST_MILESTONE = 1_000
"""A step ends here and at every doubling, however fast it went."""
_OPTIONS_A_STEP = 300_000_000
"""Options a step: some 0.1 to 0.3 s. A checkpoint is offered after each; who runs the solve decides which to store."""


@dataclass(frozen=True, slots=True)
class MexDp:
    """Compute the nimbers of all heaps up to a limit, each as the mex of its options.

    Parameters
    ----------
    heap_limit
        Largest heap computed, 0 to 10,000,000.
    keep_nimbers
        Whether the table `nimbers` is filled; `periods` always is. Beyond 100,000 heaps the nimbers are the certificate and must
        be kept: without them nobody could judge what they prove without as much work again.

    Raises
    ------
    ConfigError
        If the limit is out of range, or nimbers that must be kept are not.

    Notes
    -----
    heap_limit² / 4 options for each breaking digit, at about 0.4 ns: 10,000 heaps of Kayles in 0.02 s, 100,000 in 2 s, a million
    in some 4 minutes. Without breaking digits heap_limit times the length of the code. Memory 4 bytes a heap.

    References
    ----------
    R. P. Sprague (1935), P. M. Grundy (1939): the mex and xor rules. Winning Ways (1982), chapter 4.

    Examples
    --------
    >>> from solvers import solve
    >>> from solvers.games.octal import Octal
    >>> solve(Octal("0.77"), MexDp(heap_limit=12)).tables["nimbers"]["nimber"].to_pylist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4]
    """

    heap_limit: int = 10_000
    keep_nimbers: bool = True

    version: ClassVar[int] = 1
    takes: ClassVar[type] = HeapGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"nimbers": NIMBERS, "periods": PERIODS}
    extent: ClassVar[str | None] = "heap_limit"

    def __post_init__(self) -> None:
        if not 0 <= self.heap_limit <= MOST_HEAPS:
            hint = "the work grows with its square: a million heaps need minutes, ten million hours, for each breaking digit"
            raise ConfigError("heap_limit", f"0 to {MOST_HEAPS}", repr(self.heap_limit), hint)
        if not self.keep_nimbers and self.heap_limit > MOST_UNKEPT:
            hint = f"beyond {MOST_UNKEPT} heaps they are the certificate; a million of them need about 1 MB"
            raise ConfigError("keep_nimbers", f"true with a heap_limit of {self.heap_limit}", "false", hint)

    def cost(self, game: Game) -> float:
        """Estimate seconds, for ordering only."""
        return options_of(self.heap_limit, game.form(HeapGame)) * self.heap_limit / 2 * 0.5e-9

    def solve(self, game: HeapGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress in heaps, checkpoints with the nimbers so far, and the result."""
        digits = np.array(game.digits, np.uint8)
        nimbers = np.zeros(self.heap_limit + 1, np.int32)  # a mex is at most the number of options: far from overflow
        done = 0
        if resume is not None:
            done = min(resume.step, self.heap_limit)
            nimbers[: done + 1] = resume.arrays["nimbers"][: done + 1]
        try:
            while done < self.heap_limit:
                milestone = _milestone_after(done)
                first, step = done + 1, max(1, _OPTIONS_A_STEP // options_of(done + 1, game))
                done = min(done + step, milestone, self.heap_limit)
                _extend(nimbers.view(np.uint32), digits, game.unequal, first, done)
                yield Progress(done, self.heap_limit, {"max_nimber": float(nimbers[: done + 1].max()), **_work(done, game)})
                if done < self.heap_limit:
                    yield Checkpoint(done, {"nimbers": nimbers[: done + 1]})
            yield Checkpoint(done, {"nimbers": nimbers})
        except Stop:
            pass
        yield self._result(game, nimbers[: done + 1])

    def _result(self, game: HeapGame, nimbers: IntArray) -> Result:
        done, largest = len(nimbers) - 1, int(nimbers.max())
        found = find_period(nimbers, game)
        tables = {
            "nimbers": nimbers_table(nimbers if self.keep_nimbers else nimbers[:0]),
            "periods": periods_table(game, found, max_nimber=largest, argmax=int(nimbers.argmax()), heaps_done=done),
        }
        return Result(tables, {"max_nimber": float(largest), **_work(done, game)}, complete=done == self.heap_limit)


def _work(heap_limit: int, game: HeapGame) -> dict[str, float]:
    """Return how many xors of two nimbers and looks at nimbers all heaps up to the limit need: exact, by closed forms."""
    lefts = [max(0, heap_limit - place - game.unequal) for place, digit in enumerate(game.digits) if digit & BREAKING]
    xors = sum(left * left // 4 for left in lefts)  # 0 + 0 + 1 + 1 + 2 + 2 + ...: half the counters of each smaller sum
    ones = sum(max(0, heap_limit - place) for place, digit in enumerate(game.digits) if digit & 2 and place)
    return {"xors": float(xors), "look_ups": float(2 * xors + ones)}


def _milestone_after(done: int) -> int:
    milestone = FIRST_MILESTONE
    while milestone <= done:
        milestone *= 2
    return milestone


def options_of(heap: int, game: HeapGame) -> int:
    """Return about how many options a heap has, at least 1."""
    return len(game.digits) + sum(1 for digit in game.digits if digit & BREAKING) * (heap // 2)


@njit(cache=True)  # pragma: no cover
def _extend(nimbers: IntArray, digits: IntArray, unequal: bool, first: int, last: int) -> None:  # noqa: FBT001
    """Fill `nimbers[first..last]`; those before `first` are known.

    `seen[v] == n` says that heap n has an option of nimber v. `size` is a power of two above all nimbers so far, hence above
    their xors; a mex can reach it, not pass it, and then it doubles. `seen[size]` is never stamped: it ends the search.
    """
    size = 1
    while size <= nimbers[:first].max():
        size *= 2
    seen = np.zeros(size + 1, np.int32)
    for n in range(first, last + 1):
        for place in range(min(n, len(digits) - 1) + 1):
            left = n - place
            if digits[place] & 1 and left == 0:
                seen[0] = n
            if digits[place] & 2 and left > 0:
                seen[nimbers[left]] = n
            if digits[place] & 4:
                both = np.uint64(left)  # unsigned, so that no index is tested for being negative: twice as fast
                for a in range(np.uint64(1), np.uint64((left - unequal) // 2 + 1)):
                    seen[nimbers[a] ^ nimbers[both - a]] = n
        mex = 0
        while seen[mex] == n:
            mex += 1
        nimbers[n] = mex
        if mex == size:
            size *= 2
            seen = np.zeros(size + 1, np.int32)
