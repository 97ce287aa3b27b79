"""All extreme equilibria of a game of two players, exactly, from the vertices of both best-reply polytopes.

Mangasarian's observation: (x, y) is an extreme equilibrium if and only if x (scaled) is a vertex of the polytope of player 1's
strategies and player 2's best replies to them, y one of the other polytope, and together they carry every label: each action is
unused or a best reply. So enumerate the vertices of each polytope (see `polytope`), then match the labels. Every equilibrium is a
mixture of extreme ones (Winkels; Jansen): nothing is missing, in degenerate games neither.

Costs some 3 us a vertex and polytope: random games of 10 x 10 actions have about 1,000 (with one-digit payoffs 5 ms, and as much
for matching and writing down), 12 x 12 about 6,000, 15 x 15 about 50,000 (at most 341,088). Longer payoffs take five times as long,
very long ones a hundred times (`polytope` says when). Zero-sum games are a case like any other; for them `shapley_snow` is faster.
One equilibrium of a large game is what `lemke_howson` is for.

References
----------
Mangasarian, "Equilibrium points of bimatrix games", SIAM Journal 12, 1964. Winkels, "An algorithm to determine all equilibrium
points of a bimatrix game", 1979. Avis, Rosenberg, Savani and von Stengel, Economic Theory 42, 2010.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.polytope import Vertices, most_vertices, walk
from solvers.equilibrium.tableau import best_reply_polytopes
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA, Weights, bimatrix_table
from solvers.errors import InfeasibleGame
from solvers.forms import BimatrixGame

MOST_NUMBERS = 100_000_000
"""A game is refused whose polytopes may have more vertices than this, times actions: 17 x 17 actions pass, and 2 x 700."""

_SECONDS_A_NUMBER = 1e-7


@dataclass(frozen=True, slots=True)
class VertexEnumeration:
    """Enumerate the vertices of both best-reply polytopes and match them; exact, complete."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"bimatrix_equilibria": BIMATRIX_EQUILIBRIA}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield how many vertices were met, and at the end the extreme equilibria.

        Raises
        ------
        InfeasibleGame
            If a polytope may have more vertices than is sensible (`MOST_NUMBERS`).
        """
        too_large = _too_large(*game.shape)
        if too_large is not None:
            raise InfeasibleGame(too_large)
        sides: list[Vertices] = []
        met = 0
        for inequalities in best_reply_polytopes(game):
            for said in walk(inequalities):
                if isinstance(said, Vertices):
                    sides.append(said)
                    met += len(said.labels)
                else:
                    yield Progress(met + said)
        table = bimatrix_table(game, _matching(sides[0], sides[1], *game.shape))
        counts = {"x_vertices": len(sides[0].labels) - 1, "y_vertices": len(sides[1].labels) - 1}
        equilibria = {"equilibria": table.num_rows, "components": len(set(table["component"].to_pylist()))}
        yield Result({"bimatrix_equilibria": table}, {**equilibria, **counts})

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds."""
        shape: tuple[int, int] = getattr(game, "shape", None) or game.form(BimatrixGame).shape
        return min(_most(*shape) * sum(shape), MOST_NUMBERS) * _SECONDS_A_NUMBER


def extreme_equilibria(game: BimatrixGame) -> list[tuple[Weights, Weights]]:
    """Find all extreme equilibria.

    Returns
    -------
    list
        Pairs of nonnegative integer weights, `[m]` and `[n]`.

    Examples
    --------
    The two players like to meet, each at another place.

    >>> from fractions import Fraction as Q
    >>> a, b = ((Q(2), Q(0)), (Q(0), Q(1))), ((Q(1), Q(0)), (Q(0), Q(2)))
    >>> names = ("ballet", "football")
    >>> sorted(extreme_equilibria(BimatrixGame(a, b, names, names)))
    [((0, 1), (0, 1)), ((1, 0), (1, 0)), ((2, 1), (1, 2))]
    """
    sides = [said for inequalities in best_reply_polytopes(game) for said in walk(inequalities) if isinstance(said, Vertices)]
    return list(_matching(sides[0], sides[1], *game.shape))


def _matching(ours: Vertices, theirs: Vertices, m: int, n: int) -> Iterator[tuple[Weights, Weights]]:
    """Yield the pairs of vertices, 0 left out, that together have all `m + n` labels."""
    everything = (1 << (m + n)) - 1
    ours_0, theirs_0 = (1 << m) - 1, everything ^ ((1 << m) - 1)  # the labels of x = 0 and of y = 0
    low = (1 << n) - 1
    others = [(labels >> n) | ((labels & low) << m) for labels in theirs.labels]  # rows first, as in ours
    place = {labels: index for index, labels in enumerate(others)}
    crowded = [index for index, labels in enumerate(others) if labels.bit_count() > n]
    for index, labels in enumerate(ours.labels):
        if labels == ours_0:
            continue
        wanted = everything & ~labels
        if labels.bit_count() > m:
            partners = _containing(others, range(len(others)), wanted)
        else:
            partners = ([place[wanted]] if wanted in place else []) + _containing(others, crowded, wanted)
        for partner in partners:
            if others[partner] != theirs_0:
                yield ours.weights(index), theirs.weights(partner)


def _containing(sets: Sequence[int], among: Sequence[int], wanted: int) -> list[int]:
    return [index for index in among if sets[index] & wanted == wanted]


def _most(rows: int, columns: int) -> int:
    return max(most_vertices(rows, columns), most_vertices(columns, rows))


def _too_large(rows: int, columns: int) -> str | None:
    most = _most(rows, columns)
    if most * (rows + columns) <= MOST_NUMBERS:
        return None
    return (
        f"the best-reply polytopes of a game of {rows} x {columns} actions have up to {most:,} vertices; games to about 15 x 15 "
        "are sensible; lemke_howson finds some equilibria, pure all pure ones"
    )
