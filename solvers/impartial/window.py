"""A heap game whose rare heaps have stopped: computed with a window of values, and periodic as soon as a window comes again.

Glossary: `G(n)` the nimber of a heap of n; `k` the last place whose digit is not zero; `r` the last rare heap; `L` the length of a
window; `s` a heap, its window is G(s - L), ..., G(s - 1). Rare and common heaps: rules 1 and 2 of `solvers.impartial.rares`.

Theorem (window)
    Fix a rule, plain or with a parity. Let w >= 0, `L > max(r, w) + k`, `s > L`, `p >= 1` be such that

    a. no heap n with r < n < s + p is rare;
    b. for each n with s <= n < s + p, every value below G(n) is the nimber of an option of n that leaves one heap, or two heaps of
       which one is rare, or two heaps of which one has at most w counters;
    c. `G(n + p) = G(n)` for s - L <= n < s.

    Then G(n + p) = G(n) for all n >= s - L, and no heap beyond r is rare.

    Proof. With a parity, p is even: n = s - 1 and n + p are common (s - 1 >= L > r), so phi(G(n)) = 1 + n + t and
    phi(G(n + p)) = 1 + n + p + t mod 2, and G(n) = G(n + p).
    Now let N >= s + p, and let G(j) = G(j - p) for s - L + p <= j < N, every heap of r + 1, ..., N - 1 be common, and b hold for
    s <= n < N. We show all of this for N. Put M = N - p >= s. Then M > L >= k, so neither M nor N can be taken whole.

    - Options that leave one heap: N - i >= N - k >= s + p - L, so G(N - i) = G(M - i).
    - Options that leave two heaps of which one, c, is rare or at most w: c <= max(r, w), because N's rare parts are smaller than N
      and so at most r. The other part is N - i - c >= N - k - max(r, w) >= s + p - L, and M - i - c >= s - L >= 1: both are
      heaps, smaller than N, and G(N - i - c) = G(M - i - c). So M and N have these options in common, nimber for nimber.

    Every value below G(M) is, by b, the nimber of such an option of M, so of one of N: b holds for N if G(N) = G(M). And G(M) is no
    option of N: the kinds above are those of M, which have other nimbers than M. Left are two common heaps: they give a value with
    which N would be rare (rule 1), but G(M), with which M is common, would make N common, as p is even where parity matters. So
    G(N) = G(M), and N is common.

Nothing here depends on how the witnesses of b were found. The kernel below marks what rule 2 says, and never looks further than
w = L - k - 1; that it ended with a common value for every heap of r + 1, ..., s + p - 1 is a and b. How far it looked before s
does not matter, and the window may reach back to rare heaps.

Where the two heaps that are left must differ it is the same if s >= 2 L: c + c = n - i with c <= max(r, w) would give n < 2 L, so
that no option of b is lost, and that other pairs are fewer takes nothing away from the proof.

Least period. The first p > 0 at which the window of s comes again is the least period of G(s - L), G(s - L + 1), ...: any period
would have brought it again. So it is the least period of the sequence's tail. (It follows that with a parity it is even.)

Least preperiod. n0 <= s - L is the least heap from which p holds: one after the last n < s - L with G(n + p) != G(n). It is found
by a second pass over the heaps up to s - L + p, with a ring of the last p values. The pass may start at an earlier heap q whose
window was kept: if that window did not come again within p heaps after q, then p does not hold from q - L, so n0 > q - L.

What it cannot do: games without breaking digits have no rare heaps worth the name (all their options leave one heap); the theorem
of Guy and Smith does them. A rare heap, or a look beyond L - k - 1, cannot be decided with a window: `Window.advance` stops
before it.

Cost: that of the kernel, some 10^7 heaps a second with twenty rare heaps; one comparison or two a heap for the window's return
(Knuth, Morris, Pratt). Memory: O(L), however far it goes; the second pass 2 p bytes.

References
----------
E. R. Berlekamp, J. H. Conway, R. K. Guy (1982), Winning Ways, chapter 4: sparse spaces; that finitely many rare heaps make a game
periodic. The window, with a, b and c as conditions that a finite computation can meet, is ours.
R. P. Brent (1980), "An improved Monte Carlo factorization algorithm", BIT 20: the windows waited for, at powers of two.
D. E. Knuth, J. H. Morris, V. R. Pratt (1977), "Fast pattern matching in strings", SIAM J. Comput. 6.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import int64, njit, uint8, uint64

from solvers.forms import HeapGame
from solvers.impartial.rares import BLOCK, LARGEST, Heaps, Nimbers, NimberTooLarge, Rule, breaking_places

HASH_START = 14695981039346656037
_FIRST_LOOKS = 16
_HASH_PRIME = 1099511628211


@dataclass(frozen=True, slots=True)
class WindowPeriod:
    """A least period, proved by a window that came again.

    Attributes
    ----------
    preperiod, period, last_place
        n0, p and k, as in `solvers.impartial.periods.Period`.
    start, length
        s and L: G(n + p) = G(n) was compared for s - L <= n < s.
    last_rare
        r; 0 if no heap is rare.
    fnv64
        Hash of G(0), ..., G(s + p - 1), see `hash_of`.
    """

    preperiod: int
    period: int
    last_place: int
    start: int
    length: int
    last_rare: int
    fnv64: int

    @property
    def proof(self) -> Literal["window"]:
        """The name of the theorem, as in `periods`."""
        return "window"

    @property
    def last_exception(self) -> int | None:
        """The last heap whose nimber breaks the period; None if there is none."""
        return self.preperiod - 1 if self.preperiod else None

    def certificate(self) -> str:
        """Return JSON: n0, p, k, s, L, r as above; `from`, `to`, the first and last n compared; fnv64 as text of 16 digits."""
        said = {"n0": self.preperiod, "p": self.period, "k": self.last_place}
        said |= {"s": self.start, "L": self.length, "r": self.last_rare, "from": self.start - self.length, "to": self.start - 1}
        return json.dumps({**said, "fnv64": f"{self.fnv64:016x}"})


def hash_of(nimbers: Nimbers, before: int = HASH_START) -> int:
    """Return the 64-bit FNV-1a hash of a sequence taken as 16-bit words, `before` being the hash of what stands before it.

    Examples
    --------
    >>> values = np.array([0, 1, 2, 3], np.uint16)
    >>> hash_of(values) == hash_of(values[2:], hash_of(values[:2]))
    True
    """
    return int(_hash(nimbers, np.uint64(before)))


class Waiting:
    """Waits in a stream of values for the return of a window, and says where it was first complete again.

    Attributes
    ----------
    start
        The heap s after the window.
    values
        `[L]` uint16, the window.
    matched
        How many of its values the end of the stream agrees with.
    """

    def __init__(self, start: int, values: Nimbers, matched: int | None = None) -> None:
        self.start = start
        self.values = values.copy()
        self._fallback = _borders(self.values)
        self.matched = int(self._fallback[-1]) if matched is None else matched

    def feed(self, stream: Nimbers) -> int | None:
        """Read values that follow; return how many of them it took to complete the window, or None."""
        taken, self.matched = _match(self.values, self._fallback, stream, self.matched)
        return int(taken) if taken else None


class Lag:
    """Compares a sequence with itself p heaps later, with a ring of p values.

    Attributes
    ----------
    heap
        The next heap to be fed.
    last_difference
        The last n so far with G(n + p) != G(n), at least the first heap fed; -1 if there is none.
    """

    def __init__(self, period: int, first: int) -> None:
        self.ring: Nimbers = np.zeros(period, np.uint16)
        self.first = self.heap = first
        self.last_difference = -1

    def feed(self, stream: Nimbers) -> None:
        """Read the values of the heaps `heap`, `heap` + 1, ..."""
        self.last_difference = int(_compare(self.ring, self.first, self.heap, stream, self.last_difference))
        self.heap += len(stream)


class Window:
    """The nimbers of a heap game from some heap on, by a window of the last ones and the rare heaps, which must have stopped.

    Parameters
    ----------
    rares
        `(positions, nimbers)` of all rare heaps, ascending.
    prefix
        `[>= length]` uint16: G(0), G(1), ...
    done, window
        The last heap computed so far, and `[length]` uint16: the nimbers of the heaps up to it.

    Attributes
    ----------
    most_looks
        The most looks for a heap so far; at most length - k - 1.
    """

    def __init__(  # noqa: PLR0917
        self, game: HeapGame, rule: Rule, rares: tuple[Heaps, Nimbers], prefix: Nimbers, done: int, window: Nimbers, step: int
    ) -> None:
        self.length = len(window)
        last_rare = int(rares[0][-1]) if len(rares[0]) else 0
        least = 2 * self.length if game.unequal else self.length + 1
        if last_rare + game.last_place + BLOCK >= self.length or done < least or len(prefix) < self.length:
            raise ValueError("a window reaches farther than the last rare heap and the last place, and lies beyond heap 0")
        self._moves = np.array(game.digits, np.int64), np.array(breaking_places(game), np.int64)
        self._farthest = self.length - game.last_place - 1
        self._rule, self._rares, self._prefix = rule, rares, prefix
        self._buffer: Nimbers = np.zeros(self.length + step, np.uint16)
        self._buffer[: self.length] = window
        self._base = done + 1 - self.length
        self._highest = int(max(prefix.max(), window.max()))
        self.done = done
        self.most_looks = 0

    def last(self) -> Nimbers:
        """Return the window: the nimbers of the last `length` heaps; a view, valid until the next `advance`."""
        end = self.done + 1 - self._base
        return self._buffer[end - self.length : end]

    def step_back(self, done: int) -> None:
        """Forget the heaps after `done`, of those that the last `advance` computed."""
        self.done = done

    def advance(self, last: int) -> Nimbers:
        """Compute the heaps up to `last`, at most `step` of them, and return their nimbers, a view.

        They are fewer than asked for if the next heap is rare, or its witnesses lie beyond the window.

        Raises
        ------
        NimberTooLarge
            If a nimber reaches `LARGEST`.
        """
        self._buffer[: self.length] = self.last().copy()
        self._base = self.done + 1 - self.length
        first = self.done + 1
        while self.done < last:
            size = min(2 * LARGEST, max(64, 2 << (self._highest + BLOCK).bit_length()))
            if self._highest >= LARGEST:
                raise NimberTooLarge(f"heap {self.done} has nimber {self._highest}; this method keeps nimbers below {LARGEST}")
            parity = -1 if self._rule.parity is None else self._rule.parity
            self.done, self._highest, looks, stuck = _advance(
                self._buffer,
                (self._base, self.done + 1, last),
                self._moves,
                self._rares,
                (self._prefix, self._farthest),
                (self._rule.phi(size), parity),
                (np.zeros(BLOCK * size, np.uint8), self._highest),
            )
            self.most_looks = max(self.most_looks, looks)
            if stuck:
                break
        return self._buffer[first - self._base : self.done + 1 - self._base]


@njit(cache=True)  # pragma: no cover
def _advance(buffer, heaps, moves, rares, near, rule, room):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901, PLR0912, PLR0917
    """Compute the heaps `first`..`last`; G(n) stands in `buffer[n - base]`. All rare heaps are below first - k - BLOCK.

    Returns the last heap computed, the highest nimber, the most looks, and whether the next heap cannot be decided. Comes back
    early where marks become too few: nimbers are to stay below half their number.
    """
    base, first, last = heaps
    digits, breaking = moves
    positions, values = rares
    prefix, farthest = near
    phi, parity = rule
    marks, highest = room
    size = len(marks) // BLOCK
    count = len(positions)
    most_looks = 0
    low = 0  # rare heaps below BLOCK: what they are joined with may lie within the block
    while low < count and positions[low] < uint64(BLOCK):
        low += 1
    n = first
    while n <= last:
        many = min(BLOCK, last - n + 1)
        marks[:] = 0
        for k in breaking:
            for j in range(uint64(low), uint64(count)):
                value, other = uint64(values[j]), uint64(n - k - base) - positions[j]
                for h in range(uint64(many)):
                    marks[h * uint64(size) + (value ^ uint64(buffer[other + h]))] = 1
        for h in range(many):
            heap = n + h
            row, here = uint64(h * size), uint64(heap - base)
            for i in range(1, len(digits)):
                if digits[i] & 2:
                    marks[row + uint64(buffer[here - uint64(i)])] = 1
            for k in breaking:
                for j in range(uint64(low)):
                    marks[row + (uint64(values[j]) ^ uint64(buffer[here - uint64(k) - positions[j]]))] = 1
            rare_phi = uint8(0) if parity < 0 else uint8((heap + parity) & 1)
            x, a = uint64(0), 1
            while True:
                while marks[row + x]:
                    x += uint64(1)
                if phi[x] != rare_phi:
                    break
                if a > farthest:
                    return heap - 1, highest, most_looks, True
                stop = min(a + _FIRST_LOOKS - 1, farthest)
                for k in breaking:
                    left = here - uint64(k)
                    for one in range(uint64(a), uint64(stop + 1)):
                        marks[row + (uint64(prefix[one]) ^ uint64(buffer[left - one]))] = 1
                a = stop + 1
            most_looks = max(most_looks, a - 1)
            buffer[here] = x
            if int64(x) > highest:
                highest = int64(x)
                if 2 * highest >= size:
                    return heap, highest, most_looks, False
        n += many
    return last, highest, most_looks, False


@njit(cache=True)  # pragma: no cover
def _hash(values, before):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    result = before
    for value in values:
        result = (result ^ np.uint64(value)) * np.uint64(_HASH_PRIME)
    return result


@njit(cache=True)  # pragma: no cover
def _borders(pattern):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return for each prefix of the pattern the length of its longest proper border; entry 0 is that of the empty one."""
    borders = np.zeros(len(pattern) + 1, np.int64)
    length = 0
    for end in range(1, len(pattern)):
        while length > 0 and pattern[length] != pattern[end]:
            length = borders[length]
        if pattern[length] == pattern[end]:
            length += 1
        borders[end + 1] = length
    return borders


@njit(cache=True)  # pragma: no cover
def _match(pattern, borders, stream, matched):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return how many values of the stream complete the pattern (0: they do not), and how much of it their end agrees with."""
    for place in range(len(stream)):
        value = stream[place]
        while matched > 0 and pattern[matched] != value:
            matched = borders[matched]
        if pattern[matched] == value:
            matched += 1
            if matched == len(pattern):
                return place + 1, borders[matched]
    return 0, matched


@njit(cache=True)  # pragma: no cover
def _compare(ring, first, heap, stream, last_difference):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    period = len(ring)
    place = heap % period
    for value in stream:
        if heap - period >= first and ring[place] != value:
            last_difference = heap - period
        ring[place] = value
        heap += 1
        place += 1
        if place == period:
            place = 0
    return last_difference
