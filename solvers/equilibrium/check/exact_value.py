"""The value of a zero-sum game for checkers, with the proof: two strategies that guarantee it.

A dense simplex in fractions finds them; that it did is seen by the best replies to both, so nothing here has to be believed.
"""

from __future__ import annotations

from fractions import Fraction

from solvers.equilibrium.check.reading import Mixture, dot
from solvers.errors import ContractError
from solvers.forms import Matrix


def solve_exactly(payoffs: Matrix) -> tuple[Fraction, Mixture, Mixture]:
    """Return the value, an optimal x and an optimal y.

    Raises
    ------
    ContractError
        If the two found do not prove each other optimal: a fault of this module.

    Examples
    --------
    >>> solve_exactly(((Fraction(0), Fraction(2)), (Fraction(3), Fraction(0))))[0]
    Fraction(6, 5)
    """
    m, n = len(payoffs), len(payoffs[0])
    shift = 1 - min(min(row) for row in payoffs)
    # Player 2's program, in fractions: maximise sum y, (A + shift) y <= 1, y >= 0. Columns: n of y, m slacks, right side.
    rows = [
        [entry + shift for entry in row] + [Fraction(i == k) for k in range(m)] + [Fraction(1)] for i, row in enumerate(payoffs)
    ]
    goal = [Fraction(-1)] * n + [Fraction(0)] * (m + 1)
    basis = [n + i for i in range(m)]
    while (entering := next((j for j, cost in enumerate(goal[:-1]) if cost < 0), None)) is not None:
        leaving = min((i for i in range(m) if rows[i][entering] > 0), key=lambda i: (rows[i][-1] / rows[i][entering], basis[i]))
        pivot = rows[leaving][entering]
        rows[leaving] = [entry / pivot for entry in rows[leaving]]
        for i in range(m):
            if i != leaving:
                rows[i] = _less(rows[i], rows[leaving], rows[i][entering])
        goal = _less(goal, rows[leaving], goal[entering])
        basis[leaving] = entering
    y = [Fraction(0)] * (n + m)
    for row, variable in zip(rows, basis, strict=True):
        y[variable] = row[-1]
    total = goal[-1]
    found_x, found_y = [cost / total for cost in goal[n:-1]], [one / total for one in y[:n]]
    value = 1 / total - shift
    guaranteed = min(dot(column, found_x) for column in zip(*payoffs, strict=True))
    conceded = max(dot(row, found_y) for row in payoffs)
    are_mixtures = all(min(one) >= 0 and sum(one) == 1 for one in (found_x, found_y))
    if not (are_mixtures and guaranteed == value == conceded):
        raise ContractError(f"the checkers' simplex found {guaranteed} and {conceded} for the value {value}")
    return value, found_x, found_y


def _less(row: list[Fraction], pivot_row: list[Fraction], factor: Fraction) -> list[Fraction]:
    return [a - factor * b for a, b in zip(row, pivot_row, strict=True)] if factor else row
