"""One equilibrium and the value of a zero-sum matrix game, exactly, by linear programming: for games of hundreds of actions.

HiGHS solves the program in floating point and so tells which actions are played and which are best replies; FLINT solves *all*
those equations exactly, and both players' inequalities are verified in integers. Where that proves nothing, the simplex method
in integers decides (`solvers.equilibrium.linear`).

What it cannot do: list all equilibria. It delivers one, a vertex of each player's optimal strategies, and says where it can
prove at once that there is no other (the metric `unique`, 1; no such metric where that is open).

References
----------
Dantzig, "A proof of the equivalence of the programming problem and the game problem", 1951.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.linear import is_unique, reported, scaled, solve_game
from solvers.equilibrium.tables import EQUILIBRIA, Equilibrium, equilibria_table
from solvers.errors import InfeasibleGame
from solvers.forms import MatrixGame

MOST_ENTRIES = 1_000_000
"""Larger matrices are refused: 1000 x 1000 still passes."""


@dataclass(frozen=True, slots=True)
class ExactLp:
    """Solve the linear program of a zero-sum matrix game; exact.

    Costs, for small random integers: 3 x 3 0.2 ms, 50 x 50 8 ms, 200 x 200 0.1 s, 500 x 500 1.5 s. Payoffs that floats cannot
    tell apart go to the simplex method in integers: 50 x 50 0.2 s, 80 x 80 2 s.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.matrix import Matrix
    >>> odd_or_even = solve(make(Matrix, payoffs=[["-2", "3"], ["3", "-4"]]), ExactLp())
    >>> odd_or_even.tables["equilibria"].select(["value", "x"]).to_pylist(), odd_or_even.metrics["unique"]
    ([{'value': '1/12', 'x': ['7/12', '5/12']}], 1.0)
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"equilibria": EQUILIBRIA}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress while pivoting and at the end one equilibrium.

        Raises
        ------
        InfeasibleGame
            If the matrix has more than `MOST_ENTRIES` entries.
        """
        too_large = _too_large(*game.shape)
        if too_large is not None:
            raise InfeasibleGame(too_large)
        payoffs, _ = scaled(game.payoffs)
        play = yield from reported(solve_game(payoffs))
        metrics = {"equilibria": 1.0, "pivots": float(play.pivots)}
        if is_unique(payoffs, play):
            metrics["unique"] = 1.0
        yield Result({"equilibria": equilibria_table(game, [Equilibrium(play.x, play.y)])}, metrics)

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that does not tell its `shape` is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        entries: int = m * n
        return 0.0002 + 2e-6 * entries + 5e-9 * math.sqrt(entries) * entries


def _too_large(rows: int, columns: int) -> str | None:
    if rows * columns <= MOST_ENTRIES:
        return None
    return (
        f"a game of {rows} x {columns} actions has {rows * columns:,} payoffs, at most {MOST_ENTRIES:,} are solved exactly; "
        "regret_matching approaches an equilibrium of any size"
    )
