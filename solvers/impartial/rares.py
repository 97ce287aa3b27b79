"""Rare and common nimbers of a heap game: how they are told apart, and the heaps' nimbers computed by means of the rare ones.

The method is Berlekamp's and Guy's, as used by Flammenkamp: almost all nimbers of such games have an odd number of bits in a mask
(they are *common*), few an even number (*rare*), and the nim sum of two common ones is rare. So every common option of a heap that
is broken in two has a rare heap on one side: there are few of those. Which rare values are options has to be found by looking, but
a few hundred looks nearly always find them all.

Glossary: `G(n)` the nimber of a heap of n; `phi(v)` = 1 if v & mask has an odd number of bits, else 0: additive under xor.

Rules
-----
1. Plain rule: heap n is rare if phi(G(n)) = 0. With a parity t (only where all digits that break stand at places of parity t):
   heap n is rare if phi(G(n)) = (n + t) mod 2. Of the two heaps a + b = n - k that are left after k were taken, let one be rare
   and one common. Then phi(G(a) xor G(b)) is 1 by the plain rule; by the other it is 1 + (a + t) + (b + t) = 1 + n - k =
   1 + n + t mod 2. Either way it is a value with which heap n would be common; and two rare or two common heaps give one with
   which it would be rare.
2. Heap n: mark all options that do not break it, and all with a rare heap on one side. Now all common options are marked. Let x
   be the least value not marked. If x is common it is the nimber. Else mark options G(a) xor G(n - k - a), for a = 1, 2, ..., all
   k at each a, until x is marked; if a has come to n / 2, x is no option: it is the nimber, and n a rare heap.
3. Any mask is right; a good one makes few heaps rare. The best is found by a Walsh-Hadamard transform W of the histogram of
   nimbers: the number of rare heaps is (heaps + W(mask)) / 2.
4. Marks are bytes, of `BLOCK` heaps at once: a rare heap's nimber is read once for all of them, and what it is joined with lies
   side by side. Rare heaps less than a block from either end, or in it, are taken heap by heap.
5. Where two heaps that are left must differ (Grundy's game), a + a is left out; rare heaps that would be joined with themselves
   in a block are taken heap by heap too.

References
----------
E. R. Berlekamp, J. H. Conway, R. K. Guy (1982), Winning Ways, chapter 4 (sparse spaces); A. Gangolli, T. Plambeck (1989), who found
the long periods of 0.16, 0.56, 0.127 and 0.376; A. Flammenkamp's pages on octal games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import int64, njit, uint8, uint64
from numpy.typing import NDArray

from solvers.errors import SolverError
from solvers.forms import HeapGame
from solvers.impartial.tables import Rares

Nimbers = NDArray[np.uint16]
Heaps = NDArray[np.uint64]
IntArray = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

BLOCK = 16
LARGEST = 1 << 15
"""Nimbers stay below: a mex of xors of two is at most this, and fits 16 bits."""
_BREAKING = 4
_FIRST_LOOKS = 8
_MORE_LOOKS = 24


class NimberTooLarge(SolverError, OverflowError):
    """A nimber is larger than this method's arrays hold."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How rare heaps are told from common ones: see rule 1. `parity` None: the plain rule."""

    mask: int
    parity: int | None = None

    def phi(self, size: int) -> NDArray[np.uint8]:
        """Return phi of 0, 1, ..., `size` - 1."""
        odd: NDArray[np.uint8] = (np.bitwise_count(np.arange(size) & self.mask) & 1).astype(np.uint8)
        return odd

    def rare_heaps(self, nimbers: Nimbers) -> Heaps:
        """Return the rare ones of the heaps 1, 2, ..., ascending; `nimbers` from G(0) on. O(heaps) time."""
        found: Heaps = _rare_heaps(nimbers, self.phi(int(nimbers.max()) + 1), _signed(self.parity))
        return found


def _signed(parity: int | None) -> int:
    return -1 if parity is None else parity


def breaking_places(game: HeapGame) -> tuple[int, ...]:
    """Return the places of the digits that allow to leave two heaps."""
    return tuple(place for place, digit in enumerate(game.digits) if digit & _BREAKING)


def best_rule(nimbers: Nimbers, game: HeapGame) -> Rule:
    """Return the rule by which the fewest of the heaps 1, 2, ... are rare; `nimbers` from G(0) on.

    O(heaps) time, at 1 ns each.

    Examples
    --------
    >>> kayles = np.array([0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4], np.uint16)
    >>> best_rule(kayles, HeapGame((0, 7, 7), "0.77"))
    Rule(mask=5, parity=None)
    """
    if len(nimbers) <= 1:
        return Rule(1)
    even, odd = _histograms(nimbers, 1 << max(1, int(nimbers.max()).bit_length()))
    plain = _walsh_hadamard(even + odd)
    rule, least = Rule(int(plain.argmin())), int(plain.min())
    parities = {place % 2 for place in breaking_places(game)}
    if len(parities) == 1:
        parity = parities.pop()
        signed = _walsh_hadamard(odd - even if parity else even - odd)
        if int(signed.min()) < least:
            rule = Rule(int(signed.argmin()), parity)
    return rule


def _walsh_hadamard(values: IntArray) -> IntArray:
    """Return sum over v of (-1)^popcount(v & mask) values[v], for every mask."""
    result = values.astype(np.int64)
    half = 1
    while half < len(values):
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result


class HeapRun:
    """The nimbers of a heap game from G(0) on, heap by heap, and the rare ones among them.

    Whoever runs it calls `choose` at heaps fixed beforehand, best at doublings: what is rare, and `most_looks`, depend on where.
    Nothing depends on how many heaps `extend` is asked for at a time.

    Attributes
    ----------
    nimbers
        `[heap_limit + 1]` uint16; filled up to `done`.
    rule
        By which the rare heaps are told.
    positions, values
        The rare heaps, ascending, and their nimbers; `rare_count` of each are filled. None are told, and none needed, in a game
        without breaking digits.
    most_looks
        How far step a of rule 2 ever went without ending in a rare heap.
    max_nimber
        The largest nimber so far.
    """

    def __init__(self, game: HeapGame, heap_limit: int) -> None:
        self.game = game
        self.digits = np.array(game.digits, np.int64)
        self.leaving_one = np.flatnonzero(self.digits & 2)
        self.breaking = np.array(breaking_places(game), np.int64)
        self.unequal = np.int64(game.unequal)
        self.nimbers: Nimbers = np.zeros(heap_limit + 1, np.uint16)
        self.rule = Rule(1)
        self.done = 0
        self.most_looks = 0
        self.max_nimber = 0
        self.rare_count = 0
        self._take_rares(np.zeros(0, np.uint64))

    def state(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on, as arrays; the nimbers are a view."""
        said = np.array([self.rule.mask, _signed(self.rule.parity), self.most_looks], np.int64)
        return {"nimbers": self.nimbers[: self.done + 1], "rule": said}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from where `state` was taken: at most at this run's limit."""
        known = state["nimbers"]
        mask, parity, looks = map(int, state["rule"])
        self.done, self.rule, self.most_looks = len(known) - 1, Rule(mask, None if parity < 0 else parity), looks
        self.nimbers[: len(known)] = known
        self.max_nimber = int(known.max())
        self._tell_rares()

    def rares(self) -> Rares | None:
        """Return what the tables say of the rare heaps; None if the game has no breaking digits."""
        if not len(self.breaking):
            return None
        last = int(self.positions[self.rare_count - 1]) if self.rare_count else None
        return Rares(self.rare_count, last, self.rule.mask, self.rule.parity)

    def choose(self) -> None:
        """Take the rule that suits the nimbers so far best."""
        rule = best_rule(self.nimbers[: self.done + 1], self.game)
        if rule != self.rule:
            self.rule = rule
            self._tell_rares()

    def extend(self, last: int) -> None:
        """Compute the heaps up to `last`.

        Raises
        ------
        NimberTooLarge
            If a nimber reaches `LARGEST`.
        """
        while self.done < last:
            if len(self.positions) < self.rare_count + BLOCK:
                self._take_rares(self.positions[: self.rare_count].copy())
            size = min(2 * LARGEST, max(64, 2 << (self.max_nimber + BLOCK).bit_length()))
            found = _extend(
                self.nimbers,
                (self.done + 1, last),
                (self.digits, self.leaving_one, self.breaking, self.unequal),
                (self.positions, self.values, self.rare_count),
                (self.rule.phi(size), _signed(self.rule.parity)),
                np.zeros(BLOCK * size, np.uint8),
            )
            self.done, self.rare_count, looks, largest = found
            self.most_looks, self.max_nimber = max(self.most_looks, looks), max(self.max_nimber, largest)
            if self.max_nimber >= LARGEST:
                said = f"a nimber of {self.max_nimber} by heap {self.done}: this method keeps them below {LARGEST}"
                raise NimberTooLarge(f"{said}; mex_dp takes larger ones")

    def _tell_rares(self) -> None:
        known = self.nimbers[: self.done + 1]
        self._take_rares(self.rule.rare_heaps(known) if len(self.breaking) else np.zeros(0, np.uint64))

    def _take_rares(self, positions: Heaps) -> None:
        self.rare_count = len(positions)
        self.positions: Heaps = np.zeros(max(64, 2 * len(positions)), np.uint64)
        self.positions[: len(positions)] = positions
        self.values: Nimbers = np.zeros(len(self.positions), np.uint16)
        self.values[: len(positions)] = self.nimbers[positions]


@njit(cache=True)  # pragma: no cover
def _histograms(nimbers, size):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Count the nimbers of the even heaps 2, 4, ... and of the odd ones."""
    counts = np.zeros((2, size), np.int64)
    for n in range(1, len(nimbers)):
        counts[n & 1, nimbers[n]] += 1
    return counts[0], counts[1]


@njit(cache=True)  # pragma: no cover
def _rare_heaps(nimbers, phi, parity):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return the rare heaps; counted first, so that the array is as long as they are many."""
    count = 0
    for n in range(1, len(nimbers)):
        count += phi[nimbers[n]] == (0 if parity < 0 else (n + parity) & 1)
    found = np.empty(count, np.uint64)
    count = 0
    for n in range(1, len(nimbers)):
        if phi[nimbers[n]] == (0 if parity < 0 else (n + parity) & 1):
            found[count] = n
            count += 1
    return found


@njit(cache=True)  # pragma: no cover
def _extend(nimbers, heaps, moves, rares, rule, marks):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901, PLR0912, PLR0915, PLR0917
    """Compute nimbers of the heaps `heaps` (first, last), both in, or until there may be no room for marks or rare ones.

    Marks of a heap are `size` bytes. Nimbers are below size / 2, so their xors are, so a mex is at most that; once one is, we
    return. Returns the last heap computed, the number of rare ones, the most looks, and the largest nimber. Indices are unsigned
    where loops are long, so that none is tested for being negative.
    """
    first, last = heaps
    digits, leaving_one, breaking, unequal = moves
    positions, values, count = rares
    phi, parity = rule
    size = len(marks) // BLOCK
    places = len(digits) - 1
    most_looks, largest = 0, uint64(0)
    n = first
    while n <= last and count + BLOCK <= len(positions):
        many = min(BLOCK, last - n + 1)
        marks[: many * size] = 0
        low = 0  # rare heaps below are nearer to the heaps' ends than a block
        while low < count and positions[low] < uint64(BLOCK):
            low += 1
        whole = many == BLOCK and n > places + 2 * BLOCK  # no low rare heap is what is left, nor half of it
        if whole:
            for k in breaking:
                high = count
                while high > low and int64(positions[high - 1]) >= n - k:
                    high -= 1
                for j in range(uint64(low), uint64(high)):
                    if unequal and n - k <= 2 * int64(positions[j]) < n - k + BLOCK:
                        continue
                    value, other = uint64(values[j]), uint64(n - k) - positions[j]
                    for h in range(uint64(BLOCK)):
                        marks[h * uint64(size) + (value ^ uint64(nimbers[other + h]))] = 1
        else:
            low = count
        for h in range(many):
            heap = n + h
            row = uint64(h * size)
            if heap <= places and digits[heap] & 1:
                marks[row] = 1
            for i in leaving_one:
                if heap > i:
                    marks[row + uint64(nimbers[uint64(heap - i)])] = 1
            for k in breaking:
                left = heap - k
                for j in range(uint64(low)):
                    if not whole and (int64(positions[j]) >= left or (unequal and 2 * int64(positions[j]) == left)):
                        continue
                    marks[row + (uint64(values[j]) ^ uint64(nimbers[uint64(left) - positions[j]]))] = 1
                j = count - 1
                while j >= low and int64(positions[j]) >= n - k:
                    if int64(positions[j]) < left and not (unequal and 2 * int64(positions[j]) == left):
                        marks[row + (uint64(values[j]) ^ uint64(nimbers[uint64(left) - positions[j]]))] = 1
                    j -= 1
                if unequal and whole:
                    j = np.searchsorted(positions[:count], uint64(max(0, n - k + 1) // 2))
                    while j < count and 2 * int64(positions[j]) < n - k + BLOCK:
                        if j >= low and int64(positions[j]) < n - k and 2 * int64(positions[j]) != left:
                            marks[row + (uint64(values[j]) ^ uint64(nimbers[uint64(left) - positions[j]]))] = 1
                        j += 1
            rare_phi = uint8(0) if parity < 0 else uint8((heap + parity) & 1)
            x, a, half = uint64(0), 1, heap // 2 if len(breaking) else 0
            while True:
                while marks[row + x]:
                    x += uint64(1)
                if phi[x] != rare_phi or not len(breaking):
                    most_looks = max(most_looks, a - 1)
                    break
                if a > half:
                    positions[count], values[count] = heap, x
                    count += 1
                    break
                stop = min(a + (_FIRST_LOOKS if a == 1 else _MORE_LOOKS) - 1, half)
                for k in breaking:
                    left = uint64(max(0, heap - k))
                    for one in range(uint64(a), uint64(max(0, min(stop, (heap - k - unequal) // 2)) + 1)):
                        marks[row + (uint64(nimbers[one]) ^ uint64(nimbers[left - one]))] = 1
                a = stop + 1
            nimbers[heap] = x
            largest = max(largest, x)
            if 2 * int64(x) >= size:
                return heap, count, most_looks, largest
        n += many
    return n - 1, count, most_looks, largest
