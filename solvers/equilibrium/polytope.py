"""All vertices of a best-reply polytope {x >= 0, Wx <= 1}, exactly: integer pivoting over its graph.

The inequalities are perturbed in thought (the right side of inequality i is 1 + e^(i + 1) for an infinitesimal e), which makes the
polytope simple: each of its vertices has one basis, each basis as many neighbours as there are variables, and their graph is
connected. A depth-first walk meets every basis once, going back by pivoting back, so that one tableau is all it carries. A
degenerate vertex of the polytope itself is met as several bases, never missed; it is reported once.

Tableaux are integers over a common denominator, the last pivot; a pivot divides exactly (Edmonds, Bareiss). A compiled walk does
it in 64 bits (see `words`); if an entry would not fit, the walk starts again in 128 bits, and if that is too short on Python
integers: five times, then a hundred times slower. 10 x 10 payoffs of one digit need 64 bits, of two to nine digits 128.

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

from solvers.equilibrium.tableau import Tableau
from solvers.equilibrium.words import Entries, compared, inverse, is_quotient, negative, pack, quotient, shifted, sign, twos, unpack

_WORD = 63  # labels a mask word holds: the sign bit stays free
_WORK = 200_000  # ratio tests between two looks at the clock
_FIRST_ROOM = 1024
_DONE, _TOO_SHORT = 1, 2

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Vertices:
    """Vertices found: a label `i < m` says that variable i is 0, `m + j` that inequality j is tight.

    Attributes
    ----------
    labels
        A bit set for each vertex.
    points
        `[vertices, m]` entries of `words`, or Python's integers (dtype object): each vertex times some positive integer. They stay
        as the walk left them, for few are asked for, and thousands of tuples more would often have Python look through all
        objects of the process for garbage, longer than the walk takes.
    """

    labels: list[int]
    points: Entries

    def weights(self, index: int) -> tuple[int, ...]:
        """Return a vertex times some positive integer, `[m]` integers."""
        (weights,) = unpack(self.points[index : index + 1])
        return tuple(weights)


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
    largest = max(map(max, inequalities))
    for bits, long in ((64, False), (128, True)):
        if largest.bit_length() > bits - 2:
            continue
        for said in _walk_short(inequalities, long=long):
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
    yield Vertices(list(found), np.array(list(found.values()), object))


# ---- int64 -------------------------------------------------------------------------------------------------------------------


def _walk_short(inequalities: Sequence[Sequence[int]], *, long: bool = False) -> Iterator[int | Vertices | None]:
    """Walk in int64, or in 128 bits; yield None, last, if that is too short."""
    n, m = len(inequalities), len(inequalities[0])
    tableau = pack([[*row, 1] for row in inequalities], long=long)
    (ends,) = pack([[0, 1]], long=long)
    words = (m + n + _WORD - 1) // _WORD
    place = np.concatenate([np.arange(m), -1 - np.arange(n)])
    names = np.concatenate([np.arange(m), m + np.arange(n)])  # labels by column, then by row
    state = np.zeros(3, np.int64)  # depth, bases, how it ended
    room = _FIRST_ROOM
    steps, bases, tight = np.zeros((room, 3), np.int64), np.zeros((room, words), np.int64), np.zeros((room, words), np.int64)
    points, table = np.zeros((room, m), tableau.dtype), np.full(4 * room, -1, np.int64)
    _start(bases, tight, table, state, m)
    while True:
        _advance(tableau, names, place, ends, state, steps, bases, tight, points, table, _WORK)
        if state[2] == _TOO_SHORT:
            yield None
            return
        if state[2] == _DONE:
            break
        count = int(state[1])
        yield count
        if count == room:
            room *= 2
            steps, bases, tight, points = (_longer(one, room) for one in (steps, bases, tight, points))
            table = np.full(4 * room, -1, np.int64)
            _rehash(bases, table, count)
    count = int(state[1])
    first = np.unique(tight[:count], axis=0, return_index=True)[1]
    first.sort()
    labels = tight[first, 0].tolist()
    for word in range(1, words):
        labels = [one | (more << (_WORD * word)) for one, more in zip(labels, tight[first, word].tolist(), strict=True)]
    yield Vertices(labels, points[first])


def _longer(array: Entries, room: int) -> Entries:
    grown = np.zeros((room, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


@njit(cache=True)  # pragma: no cover
def _pivot(tableau: Entries, denominator: Any, row: int, column: int) -> bool:
    """Pivot; the pivot is the new denominator. Say whether all entries fit."""
    n, width = tableau.shape
    pivot = tableau[row, column]
    shift = twos(denominator)
    odd = shifted(denominator, shift)
    by = inverse(odd)
    fits = True
    for i in range(n):
        if i == row:
            continue
        factor = tableau[i, column]
        for j in range(width):
            old = tableau[i, j]
            new = quotient(pivot, old, factor, tableau[row, j], shift, by)
            fits &= is_quotient(new, pivot, old, factor, tableau[row, j], shift, odd)
            tableau[i, j] = new
        tableau[i, column] = negative(factor)
    tableau[row, column] = denominator
    return fits


@njit(cache=True)  # pragma: no cover
def _entry(tableau: Entries, place: IntArray, ends: Entries, row: int, label: int) -> Any:
    """Return the entry of the whole tableau in this row and the column of this label; `ends`: 0 and the denominator."""
    where = place[label]
    if where >= 0:
        return tableau[row, where]
    return ends[1] if where == -1 - row else ends[0]


@njit(cache=True)  # pragma: no cover
def _leaving(tableau: Entries, place: IntArray, ends: Entries, column: int) -> int:
    """Return the row of the lexicographically least ratio: the right side first, then the columns of the first slacks in order."""
    n, width = tableau.shape
    best = -1
    for row in range(n):
        by = tableau[row, column]
        if sign(by) <= 0:
            continue
        if best < 0:
            best = row
            continue
        least = tableau[best, column]
        order = compared(tableau[row, width - 1], least, tableau[best, width - 1], by)
        label = width - 1
        while order == 0 and label < width - 1 + n:
            mine, other = _entry(tableau, place, ends, row, label), _entry(tableau, place, ends, best, label)
            order = compared(mine, least, other, by)
            label += 1
        if order < 0:
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
    state[1] = 1


@njit(cache=True)  # pragma: no cover
def _advance(  # noqa: C901, PLR0915, PLR0917 (the walk stays whole)
    tableau: Entries,
    names: IntArray,
    place: IntArray,
    ends: Entries,
    state: IntArray,
    steps: IntArray,
    bases: IntArray,
    tight: IntArray,
    points: Entries,
    table: IntArray,
    work: int,
) -> None:
    """Go on with the walk until it ends (`state[2]` says how), room is used up, or `work` ratio tests were made."""
    n, m = tableau.shape[0], tableau.shape[1] - 1
    depth, count = state[0], state[1]
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
            row = _leaving(tableau, place, ends, column)
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
                state[2] = _DONE
                break
            depth -= 1
            row, column = steps[depth, 1], steps[depth, 2]
            entering, leaving = names[column], names[m + row]
            here[entering // 63] ^= 1 << (entering % 63)
            here[leaving // 63] ^= 1 << (leaving % 63)
        pivot = tableau[row, column]
        if not _pivot(tableau, ends[1], row, column):
            state[2] = _TOO_SHORT
            break
        ends[1] = pivot
        names[column], names[m + row] = leaving, entering
        place[leaving], place[entering] = column, -1 - row
        if going_on:
            here[:] = key
            tight[count] = key
            for i in range(n):
                label = names[m + i]
                if sign(tableau[i, m]) == 0:
                    tight[count, label // 63] |= 1 << (label % 63)
                if label < m:
                    points[count, label] = tableau[i, m]
            count += 1
    state[0], state[1] = depth, count
