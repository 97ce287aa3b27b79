"""Plans and best replies on the sequence form in exact arithmetic, and exact plans from the float solution of a linear program.

Numbers stand by sequence, as in `solvers.forms.sequence`. A float vertex of the program tells which sequences are played and which
of the opponent's are as good for him as his best. Those facts alone determine the plan: each set's played sequences share what
leads there, and the opponent's best sequences at a set earn the same. These equations are solved exactly. Most unknowns go at
once: one played sequence a set is what the others leave, and the value of the opponent's set is that of its best sequence. What
remains has as many unknowns as the plan has free choices, and is solved by FLINT.

Nothing here is believed: `worst_value` says what a plan guarantees, and two plans that guarantee the same value prove each other.

References
----------
von Stengel 1996, "Efficient computation of behavior strategies", Games and Economic Behavior 14.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from solvers.forms import GameTree, SequenceForm
from solvers.forms.sequence import Sequences

Floats = NDArray[np.float64]
Form = dict[int, int]
"""A linear form in the free choices: coefficient by number of the choice; number 0 is the constant 1."""

_PRIME = 2**61 - 1


@dataclass(frozen=True, eq=False)
class Side:
    """The game as one player sees it.

    Attributes
    ----------
    mine, theirs
        Sequences of this player and of the other.
    my, their, paid
        `[K]`: pairs of sequences, and what each pays this player, times `scale`, over chance's probability.
    scale
        A positive integer.
    """

    mine: Sequences
    theirs: Sequences
    my: list[int]
    their: list[int]
    paid: list[int]
    scale: int


def sides(form: SequenceForm) -> tuple[Side, Side]:
    """Return the game as both players see it; exact."""
    payments = form.exact_payments()
    scale = lcm(*{one.denominator for one in payments})
    paid = [one.numerator * (scale // one.denominator) for one in payments]
    rows, columns = form.rows.tolist(), form.columns.tolist()
    one, two = form.players
    return Side(one, two, rows, columns, paid, scale), Side(two, one, columns, rows, [-value for value in paid], scale)


def plan_of(sequences: Sequences, sigma: list[Fraction]) -> list[Fraction]:
    """Return the plan of probabilities `[S]` of last actions; entry 0 of both is 1."""
    plan = [Fraction(1)] * len(sequences)
    for h, before in enumerate(sequences.before.tolist()):
        for s in _set(sequences, h):
            plan[s] = plan[before] * sigma[s]
    return plan


def sigma_of(sequences: Sequences, plan: list[Fraction]) -> list[Fraction]:
    """Return the probabilities of last actions; all alike where the plan does not lead."""
    sigma = [Fraction(1)] * len(sequences)
    for h, before in enumerate(sequences.before.tolist()):
        there = _set(sequences, h)
        for s in there:
            sigma[s] = plan[s] / plan[before] if plan[before] else Fraction(1, len(there))
    return sigma


def to_integers(numbers: list[Fraction]) -> tuple[list[int], int]:
    """Return integers and the positive one by which to divide them."""
    scale = lcm(*{one.denominator for one in numbers})
    return [one.numerator * (scale // one.denominator) for one in numbers], scale


def earned(side: Side, theirs: tuple[list[int], int]) -> tuple[list[int], int]:
    """Return what each own sequence earns at once against the other's plan: integers `[S]` and what to divide them by."""
    plan, scale = theirs
    value = [0] * len(side.mine)
    for my, their, paid in zip(side.my, side.their, side.paid, strict=True):
        value[my] += paid * plan[their]
    return value, scale * side.scale


def best_replies(sequences: Sequences, value: list[int]) -> None:
    """Pass values up in place: each sequence then holds what it is worth if one goes on by best replies; entry 0 the whole."""
    for h in range(len(sequences.before) - 1, -1, -1):
        value[sequences.before[h]] += max(value[s] for s in _set(sequences, h))


def best_value(side: Side, theirs: list[Fraction]) -> Fraction:
    """Return what a best reply to the other's plan earns."""
    value, scale = earned(side, to_integers(theirs))
    best_replies(side.mine, value)
    return Fraction(value[0], scale)


def mean_value(side: Side, mine: list[Fraction], theirs: list[Fraction]) -> Fraction:
    """Return what one plan earns its player against the other."""
    value, scale = earned(side, to_integers(theirs))
    weights, mine_scale = to_integers(mine)
    return Fraction(sum(a * b for a, b in zip(value, weights, strict=True) if b), scale * mine_scale)


def slot_columns(tree: GameTree) -> dict[str, Any]:
    """Return player, information set and action of each slot: the columns in which tables name it."""
    return {
        "player": tree.slot_player,
        "infoset": np.repeat(np.array(tree.infoset_names, dtype=object), np.diff(tree.first_slot)),
        "action": [action for actions in tree.actions for action in actions],
    }


# ---- from floats -------------------------------------------------------------------------------------------------------------


def exact_plan(side: Side, plan: Floats, slack: Floats, price: Floats, tolerance: float) -> list[Fraction] | None:
    """Return the plan that a float vertex means, solved exactly; None if its facts do not determine one.

    Parameters
    ----------
    side
        The game as this player sees it.
    plan
        `[S]`: his plan, nearly.
    slack
        `[T]`: how much each sequence of the other falls short of the best at its set.
    price
        `[T]`: the other's plan. Where it is positive, that sequence is best for sure.
    tolerance
        What is smaller counts as 0.
    """
    forms, choices = _choices(side.mine, plan, tolerance)
    equations = _equations(side, forms, slack, price, tolerance)
    free = _solve(equations, choices)
    if free is None:
        return None
    integers, scale = free
    solved = []
    for form in forms:
        total = sum(factor * (integers[choice - 1] if choice else scale) for choice, factor in form.items())
        solved.append(Fraction(total, scale))
    return solved if min(solved) >= 0 else None


def _choices(sequences: Sequences, plan: Floats, tolerance: float) -> tuple[list[Form], int]:
    """Write each sequence's plan in free choices: all played sequences of a set but its likeliest, which is what they leave."""
    forms: list[Form] = [{0: 1}, *({} for _ in range(len(sequences) - 1))]
    choices = 0
    for h, before in enumerate(sequences.before.tolist()):
        if not forms[before]:
            continue
        there = _set(sequences, h)
        likeliest = max(there, key=lambda s: plan[s])
        rest = dict(forms[before])
        for s in there:
            if s != likeliest and plan[s] > tolerance:
                choices += 1
                forms[s] = {choices: 1}
                rest[choices] = -1
        forms[likeliest] = rest
    return forms, choices


def _equations(side: Side, forms: list[Form], slack: Floats, price: Floats, tolerance: float) -> list[Form]:
    """Return what must be 0, surest first: how the other's best sequences at each of his sets differ.

    The program states the worth of a set that the other has no reason to reach only as "no more than": such a set is loose, and so
    is what leads there. Its worth is whatever satisfies the one equation in which it stands, which says nothing else.
    """
    worth: list[Form] = [{} for _ in range(len(side.theirs))]
    for my, their, paid in zip(side.my, side.their, side.paid, strict=True):
        _add(worth[their], forms[my], paid)
    loose = [False] * len(side.theirs)
    found: list[tuple[float, float, Form]] = []
    for h in range(len(side.theirs.before) - 1, -1, -1):
        before = int(side.theirs.before[h])
        there = _set(side.theirs, h)
        tight = [s for s in there if not loose[s] and (slack[s] <= tolerance or price[s] > tolerance)]
        if tight:
            best = max(tight, key=lambda s: (price[s], -slack[s]))
            _add(worth[before], worth[best], 1)
            for s in tight:
                if s != best:
                    _add(worth[s], worth[best], -1)
                    found.append((-price[s] if price[s] > tolerance else 0.0, slack[s], worth[s]))
        else:
            loose[before] = True
        for s in there:
            worth[s] = {}
    return [differ for _, _, differ in sorted(found, key=lambda one: one[:2]) if differ]


def _add(form: Form, other: Form, factor: int) -> None:
    for choice, coefficient in other.items():
        total = form.get(choice, 0) + factor * coefficient
        if total:
            form[choice] = total
        else:
            form.pop(choice, None)


def _solve(equations: list[Form], choices: int) -> tuple[list[int], int] | None:
    """Return the free choices as integers and what to divide them by; the first independent equations decide."""
    if not choices:
        return [], 1
    if len(equations) < choices:
        return None
    columns = [[0] * len(equations) for _ in range(choices)]
    for place, form in enumerate(equations):
        for choice, coefficient in form.items():
            if choice:
                columns[choice - 1][place] = coefficient % _PRIME
    kept = _pivots(nmod_mat(choices, len(equations), [entry for column in columns for entry in column], _PRIME))
    if len(kept) < choices:
        return None
    rows = [[equations[place].get(choice, 0) for choice in range(1, choices + 1)] for place in kept]
    right = [-equations[place].get(0, 0) for place in kept]
    try:
        solution = fmpz_mat(rows).solve(fmpz_mat(choices, 1, right))
    except ZeroDivisionError:
        return None
    numbers = [Fraction(int(solution[place, 0].p), int(solution[place, 0].q)) for place in range(choices)]
    return to_integers(numbers)


def _pivots(matrix: nmod_mat) -> list[int]:
    """Return the first columns that are linearly independent."""
    reduced, rank = matrix.rref()
    found: list[int] = []
    for place in range(rank):
        column = found[-1] + 1 if found else 0
        while not int(reduced[place, column]):
            column += 1
        found.append(column)
    return found


def _set(sequences: Sequences, h: int) -> range:
    return range(int(sequences.first[h]), int(sequences.first[h + 1]))
