"""One player's decisions in a game tree as arrays for kernels, and what every method on trees needs: plans, values, best replies.

Numbers stand by *sequence*: 0 is nothing done yet, s >= 1 the player's s-th slot (`solvers.forms.sequence`). Glossary:

sigma   probability of a sequence's last action, `[S]`; entry 0 is 1
plan    probability of all of a player's own actions in a sequence, `[S]`; entry 0 is 1
value   what a sequence is worth to its player, `[S]`: chance and the opponent play their parts, he goes on as said
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.forms import SequenceForm

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class Treeplex(NamedTuple):
    """A player's sequences and sets as in `solvers.forms.sequence.Sequences`, and his payoffs by row (CSR).

    `payments[k]`, for k from `start[s]` to `start[s + 1] - 1`, is what sequence s earns him against the sequence `against[k]`.
    """

    first: Ints
    before: Ints
    start: Ints
    against: Ints
    payments: Floats


def treeplexes(form: SequenceForm) -> tuple[Treeplex, Treeplex]:
    """Return both players' arrays."""
    rows, columns, paid = form.rows, form.columns, form.payments
    order = np.lexsort((rows, columns))
    one, two = form.players
    return (
        Treeplex(one.first, one.before, _starts(rows, len(one)), columns, paid),
        Treeplex(two.first, two.before, _starts(columns, len(two)), rows[order], -paid[order]),
    )


def _starts(rows: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int32)


def uniform(plex: Treeplex) -> Floats:
    """Return the sigma that plays all actions alike."""
    sizes = np.diff(plex.first)
    return np.concatenate([[1.0], np.repeat(1 / sizes, sizes)])


# ---- kernels -----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def plan_of(plex: Treeplex, sigma: Floats, plan: Floats) -> None:
    """Write the plan of a sigma."""
    plan[0] = 1.0
    for h in range(len(plex.before)):
        reach = plan[plex.before[h]]
        for s in range(plex.first[h], plex.first[h + 1]):
            plan[s] = reach * sigma[s]


@njit(cache=True)
def earn(plex: Treeplex, opponent: Floats, value: Floats) -> None:
    """Write what each sequence earns at once, against the opponent's plan: the values before anything is passed up."""
    for s in range(len(value)):
        total = 0.0
        for k in range(plex.start[s], plex.start[s + 1]):
            total += plex.payments[k] * opponent[plex.against[k]]
        value[s] = total


@njit(cache=True)
def average_of(plex: Treeplex, sums: Floats, sigma: Floats) -> None:
    """Write the sigma of a sum of plans; uniform where none of them leads."""
    sigma[0] = 1.0
    for h in range(len(plex.before)):
        begin, end = plex.first[h], plex.first[h + 1]
        total = 0.0
        for s in range(begin, end):
            total += sums[s]
        for s in range(begin, end):
            sigma[s] = sums[s] / total if total > 0 else 1 / (end - begin)


@njit(cache=True)
def gain_of(plex: Treeplex, sigma: Floats, opponent: Floats) -> tuple[float, float]:
    """Return what the best reply would gain, and what sigma is worth, against the opponent's plan.

    The gain is a sum over information sets of what sigma falls short there of the best action, going on at one's best: no term is
    negative.
    """
    value, best, plan = np.empty(len(sigma)), np.empty(len(sigma)), np.empty(len(sigma))
    plan_of(plex, sigma, plan)
    earn(plex, opponent, value)
    best[:] = value
    gain = 0.0
    for h in range(len(plex.before) - 1, -1, -1):
        most = best[plex.first[h]]
        for s in range(plex.first[h], plex.first[h + 1]):
            most = max(most, best[s])
        mean = short = 0.0
        for s in range(plex.first[h], plex.first[h + 1]):
            mean += sigma[s] * value[s]
            short += sigma[s] * (most - best[s])
        gain += plan[plex.before[h]] * short
        value[plex.before[h]] += mean
        best[plex.before[h]] += most
    return gain, value[0]
