"""The games of learning curves as checkers see them: how two strategies do against each other, in float64.

A board says how many numbers a strategy of each player has, whether numbers are one, what a pair of them is worth and would gain,
and how strategies mix: the average of two is that of their *plans*, the probabilities of all that a player may do in a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from solvers.contract import Game
from solvers.forms import GameTree, MatrixGame
from solvers.regret.check.walk import Walk

Floats = NDArray[np.float64]

TOLERANCE = 1e-9


class Board(Protocol):
    """A game, whatever its form."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many numbers a strategy of player 1 and of player 2 has."""
        ...

    @property
    def largest(self) -> float:
        """The largest payoff, in absolute value."""
        ...

    @property
    def ante(self) -> float | None: ...

    def is_strategy(self, player: int, numbers: Floats) -> bool:
        """Say whether these finite numbers of the right count are probabilities that sum to 1 wherever the player moves."""
        ...

    def plans(self, x: Floats, y: Floats) -> Floats:
        """Return both players' plans, one after the other."""
        ...

    def measures(self, x: Floats, y: Floats) -> tuple[float, float, float]:
        """Return value_p1, gain_p1, gain_p2."""
        ...


def board_of(game: Game, sizes: tuple[int, int] | None) -> Board | None:
    """Return the game's board: of the form whose strategies have these sizes, if it gives several; None if beyond float64."""
    try:
        boards = [make(game) for kind, make in _MAKERS if kind in type(game).gives]
    except OverflowError:
        return None
    return next((board for board in boards if board.shape == sizes), boards[0])


@dataclass(frozen=True)
class MatrixBoard:
    """A matrix `[m, n]` of what player 2 pays player 1."""

    payoffs: Floats
    ante: float | None = None

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.payoffs.shape
        return m, n

    @property
    def largest(self) -> float:
        return float(np.abs(self.payoffs).max())

    def is_strategy(self, player: int, numbers: Floats) -> bool:
        return bool(numbers.min() >= 0 and abs(numbers.sum() - 1) <= TOLERANCE)

    def plans(self, x: Floats, y: Floats) -> Floats:
        return np.concatenate([x, y])

    def measures(self, x: Floats, y: Floats) -> tuple[float, float, float]:
        earn, cost = self.payoffs @ y, x @ self.payoffs
        value = float(x @ earn)
        return value, float(earn.max()) - value, value - float(cost.min())


@dataclass(frozen=True)
class TreeBoard:
    """A game tree; a strategy has a number for each slot of its player, in the order of slots."""

    walk: Walk

    @cached_property
    def own(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        owner = self.walk.tree.slot_player
        return np.flatnonzero(owner == 1), np.flatnonzero(owner == 2)  # noqa: PLR2004 (player 2)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.own[0]), len(self.own[1])

    @property
    def largest(self) -> float:
        return float(np.abs(self.walk.tree.earnings).max())

    @property
    def ante(self) -> float | None:
        ante = self.walk.tree.ante
        return None if ante is None else float(ante)

    def is_strategy(self, player: int, numbers: Floats) -> bool:
        sums = self.walk.sums(player, self._spread(player, numbers))
        return bool(numbers.min(initial=0.0) >= 0 and np.abs(sums - 1).max(initial=0.0) <= TOLERANCE)

    def plans(self, x: Floats, y: Floats) -> Floats:
        return self.walk.plans(self._spread(1, x) + self._spread(2, y))[:-1]

    def measures(self, x: Floats, y: Floats) -> tuple[float, float, float]:
        plans = self.walk.plans(self._spread(1, x) + self._spread(2, y))
        value = self.walk.mean(plans)
        return value, self.walk.best(1, plans) - value, value + self.walk.best(2, plans)

    def _spread(self, player: int, numbers: Floats) -> Floats:
        everyone = np.zeros(self.walk.tree.slots)
        everyone[self.own[player - 1]] = numbers
        return everyone


def _matrix_board(game: Game) -> MatrixBoard:
    return MatrixBoard(np.array([[float(payoff) for payoff in row] for row in game.form(MatrixGame).payoffs]))


def _tree_board(game: Game) -> TreeBoard:
    walk = Walk(game.form(GameTree))
    _ = walk.floats  # payoffs beyond float64 are found here
    return TreeBoard(walk)


_MAKERS = ((MatrixGame, _matrix_board), (GameTree, _tree_board))
