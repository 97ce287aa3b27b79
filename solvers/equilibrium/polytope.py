"""All vertices of a best-reply polytope {x >= 0, Wx <= 1}, exactly: integer pivoting over its graph.

The inequalities are perturbed in thought (the right side of inequality i is 1 + e^(i + 1) for an infinitesimal e), which makes the
polytope simple: each of its vertices has one basis, each basis as many neighbours as there are variables, and their graph is
connected. A depth-first walk meets every basis once, going back by pivoting back, so that one tableau is all it carries. A
degenerate vertex of the polytope itself is met as several bases, never missed; it is reported once.

Tableaux are integers over a common denominator, the last pivot; a pivot divides exactly (Edmonds, Bareiss). A compiled walk does
it in int64: products are taken in 128 bits, and the exact division is a shift and a multiplication modulo 2^64 with the inverse of
the divisor's odd part; multiplied back in 128 bits, the quotient shows whether it was short. If one was not, the walk starts again
on Python integers, some hundred times slower (10 x 10 with entries of one digit is short, of two it is not).

References
----------
Avis and Fukuda, "A pivoting algorithm for convex hulls and vertex enumeration of arrangements and polyhedra", 1992; Avis,
Rosenberg, Savani and von Stengel, "Enumeration of Nash equilibria for two-player games", Economic Theory 42, 2010. Ours: visited
bases are remembered (theirs needs no memory and more pivots), and the division.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from solvers.equilibrium.tableau import Tableau

_SHORT = 1 << 62
_WORD = 63  # labels a mask word holds: the sign bit stays free
_WORK = 200_000  # ratio tests between two looks at the clock
_FIRST_ROOM = 1024
_DONE, _TOO_SHORT = 1, 2

_LEAST = np.int64(-(2**63))

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Vertices:
    """Vertices found: a label `i < m` says that variable i is 0, `m + j` that inequality j is tight.

    Attributes
    ----------
    labels
        A bit set for each vertex.
    weights
        The vertex times some positive integer, `[m]` integers for each.
    """

    labels: list[int]
    weights: list[tuple[int, ...]]


def most_vertices(variables: int, inequalities: int) -> int:
    """Return how many vertices the polytope has at most (McMullen's upper bound theorem).

    Examples
    --------
    >>> most_vertices(2, 3), most_vertices(10, 10)
    (5, 4004)
    """
    d, facets = variables, variables + inequalities
    return comb(facets - (d + 1) // 2, facets - d) + comb(facets - (d + 2) // 2, facets - d)


def walk(inequalities: Sequence[Sequence[int]]) -> Iterator[int | Vertices]:
    """Yield now and then how many bases were met, at the end the vertices.

    Parameters
    ----------
    inequalities
        W, `[n, m]` positive integers.
    """
    if max(map(max, inequalities)) < _SHORT:
        for said in _walk_short(inequalities):
            if said is None:
                break
            yield said
        else:
            return
    yield from _walk_long(inequalities)


# ---- Python integers ---------------------------------------------------------------------------------------------------------


def _walk_long(inequalities: Sequence[Sequence[int]]) -> Iterator[int | Vertices]:
    tableau = Tableau.of_polytope(inequalities)
    variables = len(inequalities[0])
    seen = {tableau.tight()}
    found = {tableau.tight_or_degenerate(): tableau.weights(range(variables))}
    steps: list[tuple[int, int]] = []
    places = [0]
    work = 0
    while True:
        work += 1
        if work % (_WORK // 100) == 0:
            yield len(seen)
        column = places[-1]
        if column == variables:
            places.pop()
            if not steps:
                break
            tableau.pivot(*steps.pop())
            continue
        places[-1] += 1
        row = tableau.leaving(column)
        if row is None or (key := tableau.tight_after(row, column)) in seen:
            continue
        seen.add(key)
        tableau.pivot(row, column)
        steps.append((row, column))
        places.append(0)
        found[tableau.tight_or_degenerate()] = tableau.weights(range(variables))
    yield Vertices(list(found), list(found.values()))


# ---- int64 -------------------------------------------------------------------------------------------------------------------


def _walk_short(inequalities: Sequence[Sequence[int]]) -> Iterator[int | Vertices | None]:
    """Walk in int64; yield None, last, if that is too short."""
    n, m = len(inequalities), len(inequalities[0])
    tableau = np.ones((n, m + 1), np.int64)
    tableau[:, :m] = inequalities
    words = (m + n + _WORD - 1) // _WORD
    place = np.concatenate([np.arange(m), -1 - np.arange(n)])
    state = np.zeros(4, np.int64)  # denominator, depth, bases, how it ended
    state[0] = 1
    room = _FIRST_ROOM
    steps, bases, tight = np.zeros((room, 3), np.int64), np.zeros((room, words), np.int64), np.zeros((room, words), np.int64)
    points, table = np.zeros((room, m), np.int64), np.full(4 * room, -1, np.int64)
    names = np.concatenate([np.arange(m), m + np.arange(n)])  # labels by column, then by row
    _start(bases, tight, table, state, m)
    while True:
        _advance(tableau, names, place, state, steps, bases, tight, points, table, _WORK)
        if state[3] == _TOO_SHORT:
            yield None
            return
        if state[3] == _DONE:
            break
        yield int(state[2])
        if state[2] == room:
            room *= 2
            steps, bases, tight, points = (_longer(one, room) for one in (steps, bases, tight, points))
            table = np.full(4 * room, -1, np.int64)
            _rehash(bases, table, state[2])
    count = int(state[2])
    first = np.unique(tight[:count], axis=0, return_index=True)[1]
    first.sort()
    labels = tight[first, 0].tolist()
    for word in range(1, words):
        labels = [one | (more << (_WORD * word)) for one, more in zip(labels, tight[first, word].tolist(), strict=True)]
    yield Vertices(labels, [tuple(point) for point in points[first].tolist()])


def _longer(array: IntArray, room: int) -> IntArray:
    grown = np.zeros((room, *array.shape[1:]), np.int64)
    grown[: len(array)] = array
    return grown


@intrinsic
def _exactly_divided(typing: Any, a: Any, b: Any, c: Any, d: Any, shift: Any, inverse: Any) -> Any:  # noqa: PLR0917
    """(a b - c d) / (odd 2^shift), where that is an integer of 64 bits and `inverse` is that of `odd` modulo 2^64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        short = arguments[0].type
        long = type(short)(128)
        a, b, c, d, shift = (builder.sext(one, long) for one in arguments[:5])
        difference = builder.sub(builder.mul(a, b), builder.mul(c, d))
        return builder.mul(builder.trunc(builder.ashr(difference, shift), short), arguments[5])

    return types.int64(*[types.int64] * 6), generate


@intrinsic
def _is_quotient(typing: Any, quotient: Any, a: Any, b: Any, c: Any, d: Any, shift: Any, odd: Any) -> Any:  # noqa: PLR0917
    """Say whether quotient odd 2^shift = a b - c d, where 2^shift divides that."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        long = type(arguments[0].type)(128)
        quotient, a, b, c, d, shift, odd = (builder.sext(one, long) for one in arguments)
        difference = builder.sub(builder.mul(a, b), builder.mul(c, d))
        return builder.icmp_signed("==", builder.mul(quotient, odd), builder.ashr(difference, shift))

    return types.boolean(*[types.int64] * 7), generate


@intrinsic
def _compared(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the sign of a b - c d."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        short = arguments[0].type
        long = type(short)(128)
        a, b, c, d = (builder.sext(one, long) for one in arguments)
        left, right = builder.mul(a, b), builder.mul(c, d)
        more = builder.zext(builder.icmp_signed(">", left, right), short)
        less = builder.zext(builder.icmp_signed("<", left, right), short)
        return builder.sub(more, less)

    return types.int64(*[types.int64] * 4), generate


@njit(cache=True)  # pragma: no cover
def _pivot(tableau: IntArray, denominator: int, row: int, column: int) -> int:
    """Pivot and return the new denominator; 0 if an entry would not fit."""
    n, width = tableau.shape
    pivot: int = tableau[row, column]
    shift, odd = 0, denominator
    while odd & 1 == 0:
        odd >>= 1
        shift += 1
    inverse = odd  # of 3 bits; each step doubles them
    for _ in range(5):
        inverse *= 2 - odd * inverse
    fits = True
    for i in range(n):
        if i == row:
            continue
        factor = tableau[i, column]
        for j in range(width):
            old = tableau[i, j]
            new = _exactly_divided(pivot, old, factor, tableau[row, j], shift, inverse)
            fits &= new != _LEAST and _is_quotient(new, pivot, old, factor, tableau[row, j], shift, odd)
            tableau[i, j] = new
        tableau[i, column] = -factor
    tableau[row, column] = denominator
    return pivot if fits else 0


@njit(cache=True)  # pragma: no cover
def _entry(tableau: IntArray, place: IntArray, denominator: int, row: int, label: int) -> int:
    """Return the entry of the whole tableau in this row and the column of this label."""
    where = place[label]
    if where >= 0:
        entry: int = tableau[row, where]
        return entry
    return denominator if where == -1 - row else 0


@njit(cache=True)  # pragma: no cover
def _leaving(tableau: IntArray, place: IntArray, denominator: int, column: int) -> int:
    """Return the row of the lexicographically least ratio: the right side first, then the columns of the first slacks in order."""
    n, width = tableau.shape
    best = -1
    for row in range(n):
        by = tableau[row, column]
        if by <= 0:
            continue
        if best < 0:
            best = row
            continue
        least = tableau[best, column]
        sign = _compared(tableau[row, width - 1], least, tableau[best, width - 1], by)
        label = width - 1
        while sign == 0 and label < width - 1 + n:
            mine, other = _entry(tableau, place, denominator, row, label), _entry(tableau, place, denominator, best, label)
            sign = _compared(mine, least, other, by)
            label += 1
        if sign < 0:
            best = row
    return best


@njit(cache=True)  # pragma: no cover
def _slot(bases: IntArray, table: IntArray, key: IntArray) -> int:
    """Return where in the hash table this basis stands or would stand."""
    mixed: Any = np.uint64(0)
    for word in key:
        mixed = (mixed ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    slot: Any = np.int64(mixed % np.uint64(len(table)))
    while table[slot] >= 0:
        same = True
        for word in range(len(key)):
            if bases[table[slot], word] != key[word]:
                same = False
                break
        if same:
            break
        slot = slot + 1 if slot + 1 < len(table) else 0
    where: int = slot
    return where


@njit(cache=True)  # pragma: no cover
def _rehash(bases: IntArray, table: IntArray, count: int) -> None:
    for index in range(count):
        table[_slot(bases, table, bases[index])] = index


@njit(cache=True)  # pragma: no cover
def _start(bases: IntArray, tight: IntArray, table: IntArray, state: IntArray, m: int) -> None:
    for label in range(m):
        bases[0, label // 63] |= 1 << (label % 63)
    tight[0] = bases[0]
    table[_slot(bases, table, bases[0])] = 0
    state[2] = 1


@njit(cache=True)  # pragma: no cover
def _advance(  # noqa: C901, PLR0915, PLR0917 (the walk stays whole)
    tableau: IntArray,
    names: IntArray,
    place: IntArray,
    state: IntArray,
    steps: IntArray,
    bases: IntArray,
    tight: IntArray,
    points: IntArray,
    table: IntArray,
    work: int,
) -> None:
    """Go on with the walk until it ends (`state[3]` says how), room is used up, or `work` ratio tests were made."""
    n, m = tableau.shape[0], tableau.shape[1] - 1
    denominator, depth, count = state[0], state[1], state[2]
    key = np.empty(bases.shape[1], np.int64)
    here = np.empty(bases.shape[1], np.int64)
    here[:] = 0
    for column in range(m):
        here[names[column] // 63] |= 1 << (names[column] % 63)
    while work > 0 and count < len(bases):
        work -= 1
        column = steps[depth, 0]  # of a step: next column to try, row and column of the pivot that led on
        going_on = column < m
        if going_on:
            steps[depth, 0] += 1
            if depth > 0 and column == steps[depth - 1, 2]:
                continue
            row = _leaving(tableau, place, denominator, column)
            entering, leaving = names[column], names[m + row]
            key[:] = here
            key[entering // 63] ^= 1 << (entering % 63)
            key[leaving // 63] ^= 1 << (leaving % 63)
            slot = _slot(bases, table, key)
            if table[slot] >= 0:
                continue
            table[slot] = count
            bases[count] = key
            steps[depth, 1], steps[depth, 2] = row, column
            depth += 1
            steps[depth, 0] = 0
        else:
            if depth == 0:
                state[3] = _DONE
                break
            depth -= 1
            row, column = steps[depth, 1], steps[depth, 2]
            entering, leaving = names[column], names[m + row]
            here[entering // 63] ^= 1 << (entering % 63)
            here[leaving // 63] ^= 1 << (leaving % 63)
        denominator = _pivot(tableau, denominator, row, column)
        if denominator == 0:
            state[3] = _TOO_SHORT
            break
        names[column], names[m + row] = leaving, entering
        place[leaving], place[entering] = column, -1 - row
        if going_on:
            here[:] = key
            tight[count] = key
            for i in range(n):
                label = names[m + i]
                if tableau[i, m] == 0:
                    tight[count, label // 63] |= 1 << (label % 63)
                if label < m:
                    points[count, label] = tableau[i, m]
            count += 1
    state[0], state[1], state[2] = denominator, depth, count
