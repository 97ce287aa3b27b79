"""Random zero-sum games: whole payoffs, all alike likely, each drawn alone; a hundred thousand of them in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.draws import RandomPayoffs
from solvers.games.payoffs import as_form

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class RandomMatrix(RandomPayoffs):
    """A zero-sum game whose payoffs are drawn as `RandomPayoffs` says, with its fields, from the bits of "random_matrix ...".

    Examples
    --------
    >>> game = RandomMatrix(2, low=-9, high=9, seed=0).form(MatrixGame)
    >>> [[int(payoff) for payoff in row] for row in game.payoffs]
    [[-1, 9], [6, -2]]
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)

    def form(self, kind: type[F]) -> F:
        """Return the game."""
        (payoffs,) = self.drawn("random_matrix", 1)
        return as_form(MatrixGame(payoffs, *self.names), kind)
