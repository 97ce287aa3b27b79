"""All pure equilibria of a game of two players: pairs of actions, each a best reply to the other.

Compare every entry with the best of its column (player 1) and of its row (player 2): O(m n) comparisons of exact numbers, so a
thousand by a thousand actions are fine. Many games have none. So the number is a finding of its own, in `pure_counts`: 0 is a row
there, and with it goes the claim that no pure equilibrium is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA, bimatrix_table
from solvers.forms import BimatrixGame
from solvers.schema import HeatMap, Histogram, TableInfo, column, table_schema

PURE_COUNTS = table_schema(
    [column("equilibria", pa.int64(), "how many pairs of actions are best replies to each other; 0: no pure equilibrium")],
    TableInfo(
        check="solvers.equilibrium.check.pure:check_pure_counts",
        claims="proved",
        pictures=(HeatMap(("equilibria",), "pure equilibria"), Histogram(("equilibria",), "pure equilibria of a game")),
        about="How many pure equilibria the game has; bimatrix_equilibria lists all of them. One row, also where there is none.",
    ),
)


@dataclass(frozen=True, slots=True)
class Pure:
    """Look at every pair of actions; exact, complete as far as pure equilibria go."""

    version: ClassVar[int] = 2
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"bimatrix_equilibria": BIMATRIX_EQUILIBRIA, "pure_counts": PURE_COUNTS}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield the pure equilibria and how many there are."""
        m, n = game.shape
        found = pure_equilibria(game)
        table = bimatrix_table(game, [(_alone(i, m), _alone(j, n)) for i, j in found])
        counts = pa.table({"equilibria": [len(found)]}, schema=PURE_COUNTS)
        yield Result({"bimatrix_equilibria": table, "pure_counts": counts}, {"equilibria": len(found)})


def pure_equilibria(game: BimatrixGame) -> list[tuple[int, int]]:
    """Find the pairs of actions of which each is a best reply to the other.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> a, b = ((Q(2), Q(0)), (Q(0), Q(1))), ((Q(1), Q(0)), (Q(0), Q(2)))
    >>> names = ("ballet", "football")
    >>> pure_equilibria(BimatrixGame(a, b, names, names))
    [(0, 0), (1, 1)]
    """
    best1 = [max(column) for column in zip(*game.a, strict=True)]
    best2 = [max(row) for row in game.b]
    return [
        (i, j)
        for i, (ours, theirs) in enumerate(zip(game.a, game.b, strict=True))
        for j, (one, other) in enumerate(zip(ours, theirs, strict=True))
        if one == best1[j] and other == best2[i]
    ]


def _alone(place: int, count: int) -> tuple[int, ...]:
    return tuple(int(one == place) for one in range(count))
