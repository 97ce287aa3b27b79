"""The nimbers of many heaps once more, each with a witness for every smaller value; and the window proof judged on them.

How it differs from the solvers: one heap at a time, every option that is looked at is stamped with the heap it was looked at for,
and witnesses are looked for one by one; no blocks, no marks to clear, no window: all values are kept, a byte or two each.

That a value x of heap n is right needs two things. Every smaller value is stamped: some option has it. And x is none: by the rule
that mask and parity give (which must suit the places of breaking digits, `suits`), two parts that are both rare or both common give
a value with which n would be rare, a rare and a common one give a value with which n would be common. All options with a rare part
are stamped, so a common x without a stamp is no option; and a rare x is taken only when all options are stamped.

The window theorem, as judged here: let r be the last rare heap up to s + p - 1, and let every rare value that had to be witnessed
for a heap of s, ..., s + p - 1 have a witness with a part of at most w; let L > max(r, w) + k, s > L (s >= 2 L where parts must
differ), and G(n + p) = G(n) for s - L <= n < s. Then for n >= s + p all that is looked at lies p heaps after what was looked at for
n - p, and has the same nimber; so has n. (In full: `solvers.impartial.window`.)

Cost, most of it for witnesses: some 0.2 us a heap of 0.104 (20 rare heaps), 1.5 us of 0.36 (500).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from solvers.forms import HeapGame

LONGEST = 400_000_000
"""The most heaps run again: a byte or two each."""
MOST_WORK = 60_000_000_000
"""The most options, roughly counted: some three to five minutes."""
SAMPLES = 64
_SAMPLED_OPTIONS = 4_000_000_000
_NIMBERS = 1 << 16
_TAIL = 32
_AT_ONCE = 64

Values = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]


@dataclass(frozen=True, slots=True)
class Rerun:
    """What running a game again gave.

    Attributes
    ----------
    values
        `[heaps + 1]`, G(0), G(1), ...
    rares
        The rare heaps, ascending.
    farthest
        w: the smaller part of the farthest witness that was needed from heap `since` on.
    sampled
        How many heaps were computed by the mex of all their options as well.
    """

    values: Values
    rares: np.ndarray[Any, np.dtype[np.int64]]
    farthest: int
    sampled: int


def suits(form: HeapGame, mask: int, parity: int | None) -> bool:
    """Say whether mask and parity are a rule by which rare heaps of this game may be told."""
    places = _splits(form)
    return bool(places) and mask < _NIMBERS and (parity is None or {place % 2 for place in places} == {parity})


def too_long(form: HeapGame, heaps: int, rare_count: int) -> bool:
    """Say whether a game is not run again: it takes too much time or memory."""
    return heaps > LONGEST or heaps * (20 + rare_count * len(_splits(form))) > MOST_WORK


def run_again(form: HeapGame, heaps: int, rule: tuple[int, int | None], most: tuple[int, int], since: int) -> Rerun | str:
    """Compute G(0), ..., G(heaps).

    Parameters
    ----------
    rule
        Mask and parity, such that `suits`.
    most
        The number of rare heaps and the largest nimber that are claimed: the run ends where there are more.
    since
        The heap from which on witnesses count for `farthest`.

    Returns
    -------
    Rerun or str
        A text says why the claims are wrong.
    """
    mask, parity = rule
    rare_count, max_nimber = most
    if max_nimber >= _NIMBERS // 2:
        return f"max_nimber: below {_NIMBERS // 2} wanted, {max_nimber} found"
    values: Values = np.zeros(heaps + 1, np.uint8 if max_nimber <= np.iinfo(np.uint8).max else np.uint16)
    rares = np.zeros(min(rare_count, heaps), np.int64)
    whole = np.array([place for place, digit in enumerate(form.digits) if digit & 1], np.int64)
    one = np.array([place for place, digit in enumerate(form.digits) if digit & 2], np.int64)
    two = np.array(_splits(form), np.int64)
    done, count, farthest = _run(
        values, rares, (whole, one, two, int(form.unequal)), (mask, -1 if parity is None else parity), max_nimber, since
    )
    if done <= heaps:
        what = f"max_nimber: more than {max_nimber}" if count <= len(rares) else f"rare_count: more than {rare_count}"
        return f"{what} wanted, by heap {done}"
    budget = _SAMPLED_OPTIONS // (1 + heaps * len(two))
    chosen = np.random.default_rng(0).integers(0, heaps + 1, min(SAMPLES, max(4, budget)))
    for heap in map(int, chosen):
        mex = int(_mex(values, heap, (whole, one, two, int(form.unequal))))
        if mex != values[heap]:
            return f"heap {heap} has nimber {mex} by all its options, {values[heap]} by the rule of mask {mask}"
    return Rerun(values, rares[:count], farthest, len(chosen))


def provable(values: Values, form: HeapGame) -> tuple[int, int] | None:
    """Return (preperiod, period) if Guy and Smith prove one by many values, at least 1000, of a game with breaking digits."""
    heaps = len(values)
    candidates = np.flatnonzero(values[-2::-1] == values[-1]) + 1
    candidates = candidates[candidates < heaps - _TAIL]
    for back in range(1, _TAIL):
        candidates = candidates[values[heaps - 1 - back - candidates] == values[heaps - 1 - back]]
    for period in map(int, candidates):
        preperiod = _first_from_which(values, period)
        if 2 * max(preperiod, 1) + 2 * period + form.last_place <= heaps and not form.unequal:
            return preperiod, period
    return None


def wrong_period(values: Values, preperiod: int, period: int) -> str:
    """Say why these values do not have that least period from that heap on; "" if they do."""
    heaps = len(values)
    if period < 1 or preperiod + 2 * period > heaps:
        return f"period: two of {period} from {preperiod} on do not lie within {heaps - 1} heaps"
    first = _first_from_which(values, period)
    if first != preperiod:
        return f"preperiod: {first} wanted for period {period}, {preperiod} found"
    for prime in _primes_of(period):
        part = period // prime
        if _first_from_which(values, part) <= preperiod:
            return f"period: {part} holds from heap {preperiod} on, {period} found"
    return ""


def wanted_window(again: Rerun, form: HeapGame, preperiod: int, period: int, said: dict[str, Any]) -> dict[str, Any] | str:
    """Return the certificate of a window proof that is right, the window's length as it was `said`; a text if none is right."""
    heaps = len(again.values)
    start, length, k = heaps - period, said["L"], form.last_place
    last = int(again.rares[-1]) if len(again.rares) else 0
    if length <= max(last, again.farthest) + k:
        return f"certificate: L above {max(last, again.farthest) + k} wanted, {length} found"
    if start < (2 * length if form.unequal else length + 1) or preperiod > start - length:
        return f"certificate: a window of {length} values before heap {start} reaches too far down"
    wanted = {"n0": preperiod, "p": period, "k": k, "s": start, "L": length, "r": last}
    return {**wanted, "from": start - length, "to": start - 1, "fnv64": f"{int(_fnv(again.values)):016x}"}


def _splits(form: HeapGame) -> list[int]:
    return [place for place, digit in enumerate(form.digits) if digit & 4]


def _primes_of(number: int) -> list[int]:
    primes, divisor = [], 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            primes.append(divisor)
            while number % divisor == 0:
                number //= divisor
        divisor += 1
    return primes + [number] * (number > 1)


@njit(cache=True)  # pragma: no cover
def _first_from_which(values, period):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return the least n from which values[n + period] == values[n], to the end."""
    n = len(values) - period
    while n > 0 and values[n - 1] == values[n - 1 + period]:
        n -= 1
    return n


@njit(cache=True)  # pragma: no cover
def _fnv(values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """FNV-1a, 64 bits, of 16-bit words."""
    state = np.uint64(0xCBF29CE484222325)
    for n in range(len(values)):
        state ^= np.uint64(values[n])
        state *= np.uint64(0x100000001B3)
    return state


@njit(cache=True)  # pragma: no cover
def _run(values, rares, moves, rule, most, since):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901, PLR0912, PLR0917
    """Fill `values`; return the heap after the last one that is right, how many are rare, and the farthest witness from `since` on.

    Ends early before a heap with a nimber above `most`, or with one rare heap more than there is room for (its number says so).
    """
    whole, one, two, unequal = moves
    mask, parity = rule
    stamp = np.zeros(_NIMBERS, np.int64)
    odd = np.zeros(_NIMBERS, np.uint8)
    for v in range(_NIMBERS):
        bits, left = 0, v & mask
        while left:
            bits ^= 1
            left &= left - 1
        odd[v] = bits
    count, farthest = 0, 0
    for n in range(1, len(values)):
        for place in whole:
            if place == n:
                stamp[0] = n
        for place in one:
            if place < n:
                stamp[values[n - place]] = n
        for place in two:
            both, known = n - place, count
            while known and rares[known - 1] >= both:
                known -= 1
            for c in rares[:known]:
                if not (unequal and c + c == both):
                    stamp[values[c] ^ values[both - c]] = n
        when_rare = 0 if parity < 0 else (n + parity) % 2
        x, part, needed = 0, 0, 0
        while True:
            if stamp[x] == n:
                x += 1
            elif odd[x] != when_rare:
                break
            elif part + part >= n:
                if count == len(rares):
                    return n, count + 1, farthest
                rares[count] = n
                count += 1
                break
            elif n >= since:  # the least part that does
                part += 1
                needed = part
                for place in two:
                    other = n - place - part
                    if other > 0 and not (unequal and other == part):
                        stamp[values[part] ^ values[other]] = n
            else:
                before = part
                part = min(part + _AT_ONCE, (n + 1) // 2)
                for place in two:
                    both = n - place
                    for i in range(before + 1, min(part, both - 1) + 1):
                        if not (unequal and i + i == both):
                            stamp[values[i] ^ values[both - i]] = n
        if x > most:
            return n, count, farthest
        if n >= since and needed > farthest:
            farthest = needed
        values[n] = x
    return len(values), count, farthest


@njit(cache=True)  # pragma: no cover
def _mex(values, n, moves):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return the least value that no option of heap n has, all of them looked at."""
    whole, one, two, unequal = moves
    has = np.zeros(_NIMBERS + 1, np.bool_)
    for place in whole:
        if place == n and n > 0:
            has[0] = True
    for place in one:
        if place < n:
            has[values[n - place]] = True
    for place in two:
        part, other = 1, n - place - 1
        while part <= other:
            if not (unequal and part == other):
                has[values[part] ^ values[other]] = True
            part += 1
            other -= 1
    mex = 0
    while has[mex]:
        mex += 1
    return mex
