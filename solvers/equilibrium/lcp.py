"""One equilibrium of a game of two players, or several: Lemke's method on the linear complementarity problem, exactly.

With costs C = (a constant - payoffs) > 0 of player 1 and D of player 2, an equilibrium is a solution z = (x, y, u, v) >= 0 of

    C y - u 1 >= 0,  D'x - v 1 >= 0,  1'x >= 1,  1'y >= 1,   each inequality tight or its variable 0.

Lemke adds z0 times a covering vector, here (C q, D'p, 1, 1) for a pair (p, q) of mixed strategies: then x + z0 p and y + z0 q are
mixed strategies, z0 = 1 is where both play the *prior* (p, q), and as z0 falls to 0 the players move from their best replies to it
to an equilibrium, as in the tracing procedure of van den Elzen and Talman. So every prior leads to an equilibrium; which one
depends on it. Pivots are lexicographic, in integers: no path circles. A ray, on which z0 would never reach 0, does not occur (von
Stengel, van den Elzen and Talman).

It finds some equilibria, not all: `vertex_enumeration` does. Costs O((m + n)^2) integer operations a step, with some m + n steps a
prior (10 x 10: 3 ms).

References
----------
Lemke, "Bimatrix equilibrium points and mathematical programming", Management Science 11, 1965. van den Elzen and Talman, "A
procedure for finding Nash equilibria in bi-matrix games", 1991. von Stengel, van den Elzen and Talman, Econometrica 70, 2002.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Stop, Workers
from solvers.equilibrium.tableau import Tableau, best_reply_polytopes
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA, Weights, bimatrix_table
from solvers.errors import InfeasibleGame
from solvers.forms import BimatrixGame

MOST_ACTIONS = 200
"""Both players' together."""
_PROGRESS_EVERY = 50
_SECONDS_AN_ENTRY = 3e-7


@dataclass(frozen=True, slots=True)
class Lcp:
    """Follow Lemke's path from one prior or from several; exact.

    Attributes
    ----------
    priors
        "uniform": from the pair of uniform mixtures; "pure": from that and from every pair of actions.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"bimatrix_equilibria": BIMATRIX_EQUILIBRIA}
    extent: ClassVar[str | None] = None

    priors: Literal["uniform", "pure"] = "uniform"

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield how many priors were followed, and at the end the equilibria they led to.

        Raises
        ------
        InfeasibleGame
            If the game is too large.
        """
        refused = _too_large(*game.shape)
        if refused is not None:
            raise InfeasibleGame(refused)
        m, n = game.shape
        found: list[tuple[Weights, Weights]] = []
        complete = True
        total = self._paths(m, n)
        try:
            for done, (p, q) in enumerate(self._priors(m, n)):
                for said in follow(game, p, q):
                    if isinstance(said, int):
                        yield Progress(done, total, {"steps": said})
                    else:
                        found.append(said)
                yield Progress(done + 1, total)
        except Stop:
            if not found:
                raise
            complete = False
        table = bimatrix_table(game, found)
        yield Result({"bimatrix_equilibria": table}, {"equilibria": table.num_rows, "paths": len(found)}, complete)

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds."""
        m, n = (int(count) for count in getattr(game, "shape", None) or game.form(BimatrixGame).shape)
        return _SECONDS_AN_ENTRY * self._paths(m, n) * float(m + n) ** 3

    def _paths(self, m: int, n: int) -> int:
        return 1 if self.priors == "uniform" else 1 + m * n

    def _priors(self, m: int, n: int) -> Iterator[tuple[Weights, Weights]]:
        yield (1,) * m, (1,) * n
        if self.priors == "pure":
            for row, column in product(range(m), range(n)):
                yield tuple(int(i == row) for i in range(m)), tuple(int(j == column) for j in range(n))


def follow(game: BimatrixGame, p: Weights, q: Weights) -> Iterator[int | tuple[Weights, Weights]]:
    """Yield now and then the steps made, at the end the equilibrium to which the prior (p, q) leads.

    Parameters
    ----------
    p, q
        `[m]` and `[n]` nonnegative integer weights, not all 0.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> a, b = ((Q(2), Q(0)), (Q(0), Q(1))), ((Q(1), Q(0)), (Q(0), Q(2)))
    >>> names = ("ballet", "football")
    >>> meeting = BimatrixGame(a, b, names, names)
    >>> [next(follow(meeting, *prior)) for prior in (((1, 1), (1, 1)), ((1, 0), (1, 0)))]
    [((0, 1), (0, 1)), ((1, 0), (1, 0))]
    """
    m, n = game.shape
    tableau, start = _begin(game, p, q)
    size = m + n + 2  # labels: w 0 to size - 1, z size to 2 size - 1, z0 2 size
    row = _least(tableau)
    gone = tableau.basic[row]
    tableau.pivot(row, start)
    steps = 0
    while gone != 2 * size:
        partner = gone + size if gone < size else gone - size
        left = tableau.enter(partner)
        assert left is not None  # noqa: S101 (no rays: see the module)
        gone = left
        steps += 1
        if steps % _PROGRESS_EVERY == 0:
            yield steps
    z = tableau.weights(range(size, 2 * size))
    yield z[:m], z[m : m + n]


def _begin(game: BimatrixGame, p: Weights, q: Weights) -> tuple[Tableau, int]:
    """Return the tableau of w = q + M z + d z0 at z = 0 and z0's column; row by row scaled to integers."""
    d_lines, c_lines = ([[-entry for entry in line] for line in lines] for lines in best_reply_polytopes(game))
    least_c, least_d = (1 - min(map(min, lines)) for lines in (c_lines, d_lines))
    c = [[entry + least_c for entry in line] for line in c_lines]  # [m, n], player 1's costs, from 1
    d = [[entry + least_d for entry in line] for line in d_lines]  # [n, m], player 2's
    m, n = len(c), len(d)
    sum_p, sum_q = sum(p), sum(q)
    scale = sum_p * sum_q  # z0 is counted in units of 1 / scale
    rows: list[list[int]] = []
    for line in c:
        cover = sum(entry * weight for entry, weight in zip(line, q, strict=True)) * sum_p
        rows.append([*[0] * m, *(-entry for entry in line), 1, 0, -cover, 0])
    for line in d:
        cover = sum(entry * weight for entry, weight in zip(line, p, strict=True)) * sum_q
        rows.append([*(-entry for entry in line), *[0] * n, 0, 1, -cover, 0])
    rows.append([*[-1] * m, *[0] * n, 0, 0, -scale, -1])
    rows.append([*[0] * m, *[-1] * n, 0, 0, -scale, -1])
    size = m + n + 2
    return Tableau(rows, range(size), [*range(size, 2 * size), 2 * size]), size


def _least(tableau: Tableau) -> int:
    """Return the row that z0 enters: the least right side over its covering entry, ties by the last row."""
    rows = tableau.rows
    best = 0
    for row in range(1, len(rows)):
        # both covering entries are negative in the tableau, so their product keeps the order
        if rows[row][-1] * -rows[best][-2] <= rows[best][-1] * -rows[row][-2]:
            best = row
    return best


def _too_large(rows: int, columns: int) -> str | None:
    if rows + columns <= MOST_ACTIONS:
        return None
    return (
        f"both players of a game of {rows} x {columns} have {rows + columns} actions together, at most {MOST_ACTIONS} are taken; "
        "lemke_howson takes twice as many, pure any number"
    )
