"""Nimbers once more by the plain method, from the rules alone, and the periods that they prove.

Options are sets, kept as the bits of Python integers; the splits of a sum are gathered once for all digits that break. Periods are
searched for shift by shift, by comparing the tail first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.forms import HeapGame

FULL = 100_000
"""The largest heap up to which an unproved sequence is recomputed."""
_TAIL = 32

IntArray = np.ndarray[Any, np.dtype[np.int64]]
AnyInts = np.ndarray[Any, np.dtype[np.integer[Any]]]


@dataclass(frozen=True, slots=True)
class Known:
    """G(0), G(1), ... as far as recomputed, and `(preperiod, period)` if these values prove one."""

    values: AnyInts
    period: tuple[int, int] | None

    def nimber(self, heap: int) -> int | None:
        """Return G(heap), or None where it is not known."""
        if heap < len(self.values):
            return int(self.values[heap])
        if self.period is None:
            return None
        preperiod, period = self.period
        return int(self.values[preperiod + (heap - preperiod) % period])

    def nimbers(self, heaps: int) -> AnyInts:
        """Return G(0), G(1), ..., so many of them or as many as are known."""
        if self.period is None or heaps <= len(self.values):
            return self.values[:heaps]
        preperiod, period = self.period
        further = np.arange(len(self.values), heaps)
        return np.concatenate([self.values, self.values[preperiod + (further - preperiod) % period]])


@functools.lru_cache(maxsize=8)
def recomputed(form: HeapGame, limit: int) -> Known:
    """Recompute up to heap `limit` (at most `FULL`), or until a period is proved."""
    source = recompute(form)
    values: list[int] = []
    for size in (2**power for power in itertools.count(8)):
        values += itertools.islice(source, min(size, min(limit, FULL) + 1) - len(values))
        array = np.array(values, np.int64)
        period = least_period(array, form)
        if period is not None or len(values) < size or len(values) > limit:
            break
    array.setflags(write=False)
    return Known(array, period)


def recompute(form: HeapGame) -> Iterator[int]:
    """Yield G(0), G(1), ...; option sets are integers whose bit v says that an option has nimber v."""
    whole = {place for place, digit in enumerate(form.digits) if digit & 1}
    leave_one = np.array([place for place, digit in enumerate(form.digits) if digit & 2], np.int64)
    breaking = splits(form)
    nimbers = np.zeros(256, np.int64)
    pairs = [0, 0]  # pairs[s]: the nimbers of two heaps, none empty, of s counters together
    width = 1  # a power of two above every nimber so far
    yield 0
    for n in itertools.count(1):
        if n == len(nimbers):
            nimbers = np.concatenate([nimbers, np.zeros(n, np.int64)])
        options = int(n in whole)
        if len(leave_one):
            options |= _bits(nimbers[n - leave_one[leave_one < n]], width)
        if breaking:
            if n > 1:
                half = (n - form.unequal) // 2
                pairs.append(_bits(nimbers[1 : half + 1] ^ nimbers[n - 1 : n - half - 1 : -1], width))
            for place in itertools.takewhile(n.__gt__, breaking):
                options |= pairs[n - place]
        nimbers[n] = (~options & (options + 1)).bit_length() - 1  # the lowest bit that is not set
        width *= 2 if nimbers[n] == width else 1
        yield int(nimbers[n])


def _bits(values: IntArray, width: int) -> int:
    marked = np.zeros(width, np.bool_)
    marked[values] = True
    return int.from_bytes(np.packbits(marked, bitorder="little").tobytes(), "little")


def mex_of_heap(form: HeapGame, heap: int, nimbers: AnyInts) -> int:
    """Return the mex of one heap's options, given the nimbers of all smaller ones."""
    options: list[AnyInts] = [np.zeros(int(heap < len(form.digits) and form.digits[heap] & 1), np.int64)]
    options += [nimbers[[heap - place]] for place, digit in enumerate(form.digits) if digit & 2 and place < heap]
    for left in (heap - place for place in splits(form) if heap - place > 1):
        half = (left - form.unequal) // 2
        options.append(nimbers[1 : half + 1] ^ nimbers[left - 1 : left - half - 1 : -1])
    values = np.unique(np.concatenate(options))
    gaps = np.flatnonzero(values != np.arange(len(values)))
    return int(gaps[0]) if len(gaps) else len(values)


def splits(form: HeapGame) -> list[int]:
    return [place for place, digit in enumerate(form.digits) if digit & 4]


def window(preperiod: int, period: int, form: HeapGame) -> int:
    """Return the first n that need not be compared.

    With m = max(preperiod, 1) and k the last place: G(n + period) = G(n) for preperiod <= n < 2m + period + k proves it for ever;
    if no digit splits a heap, preperiod <= n < m + k does.
    """
    m = max(preperiod, 1)
    return 2 * m + period + form.last_place if splits(form) else m + form.last_place


def least_period(values: IntArray, form: HeapGame) -> tuple[int, int] | None:
    """Return (preperiod, period) of the least period that the values prove, or None.

    A window has at least period + k comparisons (k without splits, and at least one), and what was computed beyond it must agree
    as well: so the last few values tell most shifts off at once. No theorem is known where two heaps that are left must differ.
    """
    if form.unequal:
        return None
    heaps, k = len(values), form.last_place
    for period in np.flatnonzero(values[-2::-1] == values[-1]) + 1:
        tail = min(_TAIL, heaps - period, period + k if splits(form) else max(k, 1))
        if not np.array_equal(values[heaps - tail :], values[heaps - tail - period : heaps - period]):
            continue
        differ = np.flatnonzero(values[period:] != values[:-period])
        preperiod = int(differ[-1]) + 1 if len(differ) else 0
        if window(preperiod, int(period), form) + period <= heaps:
            return preperiod, int(period)
    return None
