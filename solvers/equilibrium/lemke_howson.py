"""Which equilibrium each label leads to: Lemke and Howson's paths, in exact integers.

Give every action a label. A pair of vertices of the two best-reply polytopes (see `tableau`) that has all labels is an equilibrium,
or the pair (0, 0). Drop one label of (0, 0) and walk: each step moves along an edge in one polytope, picks up a label there, and
drops in the other polytope the label that is now there twice; when the dropped label is picked up, the walk has come to an
equilibrium. Ratio tests are lexicographic, so that a walk never circles and always ends, in degenerate games too (there another
rule may lead elsewhere: the table says where this one does).

It finds at least one equilibrium of any game and need not find all of them (even all labels together may lead to one only, as in
a game that Aggarwal and Wilson gave); `vertex_enumeration` does. Costs O(m n) integer operations a step, with some (m + n)
steps a label on random games (10 x 10: 1 ms, 50 x 50: 0.1 s); games with exponentially long walks exist (Savani and von Stengel).

References
----------
Lemke and Howson, "Equilibrium points of bimatrix games", SIAM Journal 12, 1964. Shapley, "A note on the Lemke-Howson algorithm",
1974 (labels). von Stengel, Handbook of Game Theory 3, 2002. Savani and von Stengel, Econometrica 74, 2006. Ours: the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Stop, Workers
from solvers.equilibrium.tableau import Tableau, best_reply_polytopes
from solvers.equilibrium.tables import BIMATRIX_EQUILIBRIA, Weights, bimatrix_table, probabilities
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.forms import BimatrixGame
from solvers.schema import TableInfo, column, exact, table_schema

MOST_ACTIONS = 400
"""Both players' together."""
_PROGRESS_EVERY = 50
_SECONDS_A_STEP = 3e-7  # for each entry of a tableau

LEMKE_HOWSON = table_schema(
    [
        column("label", pa.int32(), "the label dropped first: rows 0 to m - 1, then columns m to m + n - 1", nullable=False),
        column("player", pa.int32(), "whose action it is, 1 or 2"),
        column("action", pa.string(), "the action"),
        column("path", pa.list_(pa.int32()), "the labels picked up, in order; the last is the one dropped first"),
        column("equilibrium", pa.int32(), "where the path ends: an index of bimatrix_equilibria"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.lemke_howson:check_lemke_howson",
        claims="proved",
        columns=("label", "player", "action", "equilibrium"),
        about="Which label leads to which equilibrium, by the path of Lemke and Howson from (0, 0).",
    ),
)


@dataclass(frozen=True, slots=True)
class LemkeHowson:
    """Walk from (0, 0) to an equilibrium for one label or for each; exact.

    Attributes
    ----------
    labels
        "all", or one label: rows are 0 to m - 1, columns m to m + n - 1.

    Raises
    ------
    ConfigError
        If a label is negative.
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"bimatrix_equilibria": BIMATRIX_EQUILIBRIA, "lemke_howson": LEMKE_HOWSON}
    extent: ClassVar[str | None] = None

    labels: Literal["all"] | int = "all"

    def __post_init__(self) -> None:
        if self.labels != "all" and self.labels < 0:
            raise ConfigError("labels", "all, or a label from 0", repr(self.labels))

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield how many labels were followed, and at the end where they led.

        Raises
        ------
        InfeasibleGame
            If there is no such label, or the game is too large.
        """
        refused = self._refuses(*game.shape)
        if refused is not None:
            raise InfeasibleGame(str(refused))
        labels = range(sum(game.shape)) if self.labels == "all" else [self.labels]
        polytopes = best_reply_polytopes(game)
        walks: list[Walk] = []
        complete = True
        try:
            for label in labels:
                for said in follow(*polytopes, label):
                    if isinstance(said, Walk):
                        walks.append(said)
                    else:
                        yield Progress(len(walks), len(labels), {"steps": said})
                yield Progress(len(walks), len(labels))
        except Stop:
            if not walks:
                raise
            complete = False
        table = bimatrix_table(game, [(walk.x, walk.y) for walk in walks])
        metrics = {"equilibria": table.num_rows, "steps": sum(len(walk.path) for walk in walks)}
        yield Result({"bimatrix_equilibria": table, "lemke_howson": _table(game, table, walks)}, metrics, complete)

    def refuses(self, game: Any) -> str | ImpossiblePairing | None:
        """Say that a game is too large or has no such label; None if it does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return self._refuses(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds."""
        m, n = (int(count) for count in getattr(game, "shape", None) or game.form(BimatrixGame).shape)
        paths = m + n if self.labels == "all" else 1
        return _SECONDS_A_STEP * paths * (m + n) * m * n

    def _refuses(self, rows: int, columns: int) -> str | ImpossiblePairing | None:
        if rows + columns > MOST_ACTIONS:
            return (
                f"a game of {rows} x {columns} actions has {rows + columns} labels, at most {MOST_ACTIONS} are followed; try pure"
            )
        if self.labels != "all" and self.labels >= rows + columns:
            wanted = f"all, or a label of a game of {rows} x {columns} actions, 0 to {rows + columns - 1}"
            return ImpossiblePairing("labels", wanted, str(self.labels))
        return None


@dataclass(frozen=True, slots=True)
class Walk:
    """One label's way: the labels it picked up, in order, and the equilibrium it came to, integer weights."""

    label: int
    path: tuple[int, ...]
    x: Weights
    y: Weights


def follow(for_x: list[list[int]], for_y: list[list[int]], label: int) -> Iterator[int | Walk]:
    """Yield now and then the steps made, at the end the walk that drops `label` first.

    Parameters
    ----------
    for_x, for_y
        `[n, m]` and `[m, n]`, as `best_reply_polytopes` gives them.

    Examples
    --------
    >>> *_, walk = follow([[1, 2], [3, 1]], [[3, 1], [1, 2]], 0)
    >>> walk.path, walk.x, walk.y
    ((3, 1, 2, 0), (1, 2), (1, 2))
    """
    n, m = len(for_x), len(for_y)
    ours = Tableau.of_polytope(for_x)
    theirs = Tableau([[*line, 1] for line in for_y], range(m), range(m, m + n))
    moving, resting = (ours, theirs) if label < m else (theirs, ours)
    path: list[int] = []
    dropped = label
    while True:
        picked = moving.enter(dropped)
        assert picked is not None  # noqa: S101 (polytopes are bounded)
        path.append(picked)
        if picked == label:
            break
        dropped = picked
        moving, resting = resting, moving
        if len(path) % _PROGRESS_EVERY == 0:
            yield len(path)
    yield Walk(label, tuple(path), ours.weights(range(m)), theirs.weights(range(m, m + n)))


def _table(game: BimatrixGame, equilibria: pa.Table, walks: list[Walk]) -> pa.Table:
    place = {
        (tuple(x), tuple(y)): index
        for index, (x, y) in enumerate(zip(equilibria["x"].to_pylist(), equilibria["y"].to_pylist(), strict=True))
    }
    actions = [(1, action) for action in game.row_actions] + [(2, action) for action in game.column_actions]
    return pa.table(
        {
            "label": [walk.label for walk in walks],
            "player": [actions[walk.label][0] for walk in walks],
            "action": [actions[walk.label][1] for walk in walks],
            "path": [walk.path for walk in walks],
            "equilibrium": [place[_text(walk.x), _text(walk.y)] for walk in walks],
        },
        schema=LEMKE_HOWSON,
    )


def _text(weights: Weights) -> tuple[str, ...]:
    return tuple(exact(one) for one in probabilities(weights))
