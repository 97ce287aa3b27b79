"""An exact simplex tableau of Python integers: pivots that divide exactly, ratio tests that never tie.

Rows are equations: (row's variable) * D + sum of (entry * column's variable) = right side, with one positive denominator D, the
last pivot. Every entry is a minor of the first tableau (up to sign), and so every division is exact (Edmonds 1967, Bareiss 1968).

Ratio tests are lexicographic: ties of right sides are broken by the columns that belonged to the first tableau's basis, in order.
That is the same as adding e to the first right side, e^2 to the second and so on, for an infinitesimal e > 0: no two bases are
alike, no pivot stands still, and a path that is determined by its pivots ends (Dantzig, Orden and Wolfe 1955).

References
----------
von Stengel, "Computing equilibria for two-person games", Handbook of Game Theory 3, 2002, section 2.6 (integer pivoting).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, lcm

from solvers.forms import BimatrixGame, Matrix


class Tableau:
    """Rows of integers, the right side last; who is basic in which row, nonbasic in which column. Pivots change it in place.

    Parameters
    ----------
    rows
        `[r, c + 1]`.
    basic, nonbasic
        Labels of the variables, `r` and `c` of them, all different.
    """

    def __init__(self, rows: Iterable[Sequence[int]], basic: Sequence[int], nonbasic: Sequence[int]) -> None:
        self.rows = [list(row) for row in rows]
        self.basic, self.nonbasic = list(basic), list(nonbasic)
        self.order = tuple(basic)
        self.denominator = 1

    @classmethod
    def of_polytope(cls, inequalities: Sequence[Sequence[int]]) -> Tableau:
        """Return the tableau of {x >= 0, Wx <= 1}, W `[n, m]`, at x = 0: labels 0 ... m - 1 for x, m ... for the slacks."""
        n, m = len(inequalities), len(inequalities[0])
        return cls([[*row, 1] for row in inequalities], range(m, m + n), range(m))

    def leaving(self, column: int) -> int | None:
        """Return the row that leaves when this column's variable grows; None if nothing stops it."""
        rows = [row for row in range(len(self.rows)) if self.rows[row][column] > 0]
        for label in (None, *self.order):
            if len(rows) <= 1:
                break
            best: list[int] = []
            for row in rows:
                if best:
                    mine = self._entry(row, label) * self.rows[best[0]][column]
                    least = self._entry(best[0], label) * self.rows[row][column]
                    if mine > least:
                        continue
                    if mine < least:
                        best.clear()
                best.append(row)
            rows = best
        return rows[0] if rows else None

    def _entry(self, row: int, label: int | None) -> int:
        """Return an entry of the whole tableau; None: of the right side."""
        if label is None:
            return self.rows[row][-1]
        if label in self.nonbasic:
            return self.rows[row][self.nonbasic.index(label)]
        return self.denominator if self.basic[row] == label else 0

    def pivot(self, row: int, column: int) -> None:
        """Exchange the variables of a row and a column."""
        pivots, divisor = self.rows[row], self.denominator
        pivot = pivots[column]
        for index, old in enumerate(self.rows):
            if index == row:
                continue
            factor = old[column]
            if factor:
                new = [(pivot * entry - factor * other) // divisor for entry, other in zip(old, pivots, strict=True)]
            else:
                new = [pivot * entry // divisor for entry in old]
            new[column] = -factor
            self.rows[index] = new
        pivots[column] = divisor
        self.denominator = pivot
        if pivot < 0:
            self.rows = [[-entry for entry in one] for one in self.rows]
            self.denominator = -pivot
        self.basic[row], self.nonbasic[column] = self.nonbasic[column], self.basic[row]

    def enter(self, label: int) -> int | None:
        """Let a nonbasic variable grow until another becomes 0; return that one's label, None if nothing stops it."""
        column = self.nonbasic.index(label)
        row = self.leaving(column)
        if row is None:
            return None
        gone = self.basic[row]
        self.pivot(row, column)
        return gone

    def weights(self, labels: Iterable[int]) -> tuple[int, ...]:
        """Return the values of these variables, times the denominator."""
        values = {label: row[-1] for label, row in zip(self.basic, self.rows, strict=True)}
        return tuple(values.get(label, 0) for label in labels)

    def tight(self) -> int:
        """Return the labels of the nonbasic variables, as a bit set."""
        return sum(1 << label for label in self.nonbasic)

    def tight_or_degenerate(self) -> int:
        """Return the labels of all variables that are 0, as a bit set."""
        return self.tight() | sum(1 << label for label, row in zip(self.basic, self.rows, strict=True) if not row[-1])

    def tight_after(self, row: int, column: int) -> int:
        """Return what `tight` would be after that pivot."""
        return self.tight() ^ (1 << self.nonbasic[column]) ^ (1 << self.basic[row])


def best_reply_polytopes(game: BimatrixGame) -> tuple[list[list[int]], list[list[int]]]:
    """Return the inequalities of both players' polytopes, positive integers.

    Every column of `a` and every row of `b` is moved by a constant of its own, which changes no best reply, and both matrices are
    multiplied by a constant: least entries become 1, the others 1 plus integers without a common divisor.

    Returns
    -------
    list
        `[n, m]`: {x >= 0, this x <= 1}, player 1's strategies, each scaled so that player 2's best reply gets 1.
    list
        `[m, n]`: the same of player 2's strategies.

    Examples
    --------
    >>> from fractions import Fraction
    >>> one, half = Fraction(1), Fraction(1, 2)
    >>> game = BimatrixGame(((one, half), (half, one)), ((half, one), (one, one)), ("r1", "r2"), ("c1", "c2"))
    >>> best_reply_polytopes(game)
    ([[1, 1], [2, 1]], [[2, 1], [1, 2]])
    """
    return _replies(game.b), _replies(tuple(zip(*game.a, strict=True)))


def _replies(choices: Matrix) -> list[list[int]]:
    """Return a line for each reply to these choices of the other player, an entry a choice."""
    scale = lcm(*(entry.denominator for choice in choices for entry in choice))
    whole = [[entry.numerator * (scale // entry.denominator) for entry in choice] for choice in choices]
    moved = [[entry - least for entry in choice] for choice, least in zip(whole, map(min, whole), strict=True)]
    divisor = gcd(*(entry for choice in moved for entry in choice)) or 1
    return [[entry // divisor + 1 for entry in line] for line in zip(*moved, strict=True)]
