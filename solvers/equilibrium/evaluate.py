"""How good are two given strategies against each other in a zero-sum matrix game? The value, and what a better reply would gain.

Each player's mixture is given; nothing is searched. The table `outcomes` says what they are worth together and what each player
leaves on the table; `action_values` what each pure action would earn against the other's mixture. All in exact fractions.

What it cannot do: find strategies. Both gains are 0 exactly at an equilibrium; `exact_lp` finds one.

Cost: O(m n) fractions, about 1 ms for 30 x 30.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, FrozenMap, Progress, Result, Workers
from solvers.equilibrium.tables import rounded
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame, did_you_mean
from solvers.forms import MatrixGame
from solvers.schema import HeatMap, TableInfo, column, exact, table_schema

_LOOKED_THROUGH = 10_000  # games of more payoffs are not written out while planning

OUTCOMES = table_schema(
    [
        column("value", pa.string(), "what player 2 pays player 1 on average when x meets y, exact"),
        column("win", pa.string(), "probability that player 1 wins, exact; null where the game has no outcomes"),
        column("draw", pa.string(), "probability of a draw, exact; null where the game has no outcomes"),
        column("lose", pa.string(), "probability that player 1 loses, exact; null where the game has no outcomes"),
        column("gain_row", pa.string(), "what player 1 would gain by a best reply to y, exact; 0 if x is one"),
        column("gain_column", pa.string(), "what player 2 would gain by a best reply to x, exact; 0 if y is one"),
        column("x", pa.list_(pa.string()), "player 1's probability of each row, exact"),
        column("y", pa.list_(pa.string()), "player 2's probability of each column, exact"),
        column("value_float", pa.float64(), "the value, rounded; null if it is beyond float64"),
        column("gain_row_float", pa.float64(), "gain_row, rounded; null if it is beyond float64"),
        column("gain_column_float", pa.float64(), "gain_column, rounded; null if it is beyond float64"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.evaluate:check_outcomes",
        claims="proved",
        columns=("value", "win", "draw", "lose", "gain_row", "gain_column", "x", "y"),
        pictures=(HeatMap(("value_float",), "value of x against y"), HeatMap(("gain_row_float",), "what player 1 could gain")),
        about="What two given strategies are worth against each other. One row.",
    ),
)
ACTION_VALUES = table_schema(
    [
        column("player", pa.int32(), "1 or 2", nullable=False),
        column("action", pa.string(), "a pure action of that player"),
        column(
            "value",
            pa.string(),
            "what it earns its player on average against the other's mixture, exact (player 2: what he is paid)",
        ),
        column("best", pa.bool_(), "whether no action earns its player more"),
        column("value_float", pa.float64(), "the value, rounded; null if it is beyond float64"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.evaluate:check_action_values",
        claims="proved",
        headline="none",
        columns=("player", "action", "value", "best"),
        about="What each action would earn its player against the other's mixture (the x and y of outcomes): rows, then columns.",
    ),
)

Given = Mapping[str, Fraction] | tuple[Fraction, ...] | None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Evaluate two given mixed strategies against each other; exact.

    Attributes
    ----------
    x, y
        Player 1's and player 2's mixture: a probability for each action in order, or a map from names of actions to probabilities
        (those not named are 0); None: all alike.

    Raises
    ------
    ConfigError
        If a probability is negative or they do not sum to 1.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.forced_rps import ForcedRps
    >>> forced = make(ForcedRps, a="1/2", b="1/2")
    >>> given = make(Evaluate, x={"rock": "1/3", "scissors": "2/3"}, y=["1/3", "2/3", "0"])
    >>> solve(forced, given).tables["outcomes"].select(["value", "win", "draw", "lose", "gain_row"]).to_pylist()
    [{'value': '1/6', 'win': '4/9', 'draw': '5/18', 'lose': '5/18', 'gain_row': '0'}]
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"outcomes": OUTCOMES, "action_values": ACTION_VALUES}
    extent: ClassVar[str | None] = None

    x: Given = None
    y: Given = None

    def __post_init__(self) -> None:
        for path, given in (("x", self.x), ("y", self.y)):
            if isinstance(given, Mapping):
                _refuse(path, {f"{path}.{name}": one for name, one in given.items()})
                object.__setattr__(self, path, FrozenMap({name: one for name, one in given.items() if one}))
            elif given is not None:
                _refuse(path, {f"{path}[{index}]": one for index, one in enumerate(given)})

    def solve(
        self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield the result.

        Raises
        ------
        InfeasibleGame
            If a mixture does not fit the game's actions.
        """
        misfit = self._misfit(game)
        if misfit is not None:
            raise InfeasibleGame(str(misfit.under("solver")))
        x, y = _mixture(self.x, game.row_actions), _mixture(self.y, game.column_actions)
        earned = [_dot(row, y) for row in game.payoffs]
        paid = [-_dot(entries, x) for entries in zip(*game.payoffs, strict=True)]
        value = _dot(earned, x)
        gains = {"gain_row": max(earned) - value, "gain_column": max(paid) + value}
        parts = game.outcomes
        outcomes = {
            "value": exact(value),
            "win": exact(_dot([_dot(row, y) for row in parts.win], x)) if parts else None,
            "draw": exact(_dot([_dot(row, y) for row in parts.draw], x)) if parts else None,
            "lose": exact(_dot([_dot(row, y) for row in parts.lose], x)) if parts else None,
            **{name: exact(gain) for name, gain in gains.items()},
            "x": [exact(one) for one in x],
            "y": [exact(one) for one in y],
            "value_float": rounded(value),
            **{f"{name}_float": rounded(gain) for name, gain in gains.items()},
        }
        actions = [
            {"player": player, "action": name, "value": exact(one), "best": one == max(all_values), "value_float": rounded(one)}
            for player, names, all_values in ((1, game.row_actions, earned), (2, game.column_actions, paid))
            for name, one in zip(names, all_values, strict=True)
        ]
        tables = {
            "outcomes": pa.Table.from_pylist([outcomes], schema=OUTCOMES),
            "action_values": pa.Table.from_pylist(actions, schema=ACTION_VALUES),
        }
        yield Result(tables)

    def refuses(self, game: Any) -> ImpossiblePairing | None:
        """Say which mixture does not fit; None if both do, or if it takes solving to know."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        if shape is None or (self.x is None and self.y is None):
            return None
        lengths = _lengths(self.x, self.y, shape)
        if lengths is not None or shape[0] * shape[1] > _LOOKED_THROUGH:
            return lengths
        return self._misfit(game.form(MatrixGame))

    def cost(self, game: Any) -> float:
        """Return rough seconds; a game that does not tell its `shape` is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return float(2e-4 + 1e-6 * m * n)

    def _misfit(self, game: MatrixGame) -> ImpossiblePairing | None:
        for path, given, kind, names in (("x", self.x, "row", game.row_actions), ("y", self.y, "column", game.column_actions)):
            unknown = [name for name in given if name not in names] if isinstance(given, Mapping) else []
            if unknown:
                return ImpossiblePairing(
                    f"{path}.{unknown[0]}", f"the name of a {kind} of the game", repr(unknown[0]), did_you_mean(unknown[0], names)
                )
        return _lengths(self.x, self.y, game.shape)


def _lengths(x: Given, y: Given, shape: tuple[int, int]) -> ImpossiblePairing | None:
    for path, given, count, kind in (("x", x, shape[0], "row"), ("y", y, shape[1], "column")):
        if isinstance(given, tuple) and len(given) != count:
            return ImpossiblePairing(path, f"a list of {count}, a probability for each {kind} of the game", f"{len(given)}")
    return None


def _refuse(path: str, given: Mapping[str, Fraction]) -> None:
    for where, probability in given.items():
        if not 0 <= probability <= 1:
            raise ConfigError(where, "a probability, 0 to 1", str(probability))
    total = sum(given.values(), Fraction())
    if total != 1:
        raise ConfigError(path, "probabilities that sum to 1", f"a sum of {total}")


def _mixture(given: Given, actions: Sequence[str]) -> tuple[Fraction, ...]:
    if given is None:
        return (Fraction(1, len(actions)),) * len(actions)
    if isinstance(given, Mapping):
        return tuple(given.get(name, Fraction()) for name in actions)
    return given


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction())
