"""Random games of two players: whole payoffs, all alike likely, each drawn alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from solvers.forms import BimatrixGame
from solvers.games.draws import RandomPayoffs
from solvers.games.payoffs import as_form

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class RandomBimatrix(RandomPayoffs):
    """A general-sum game, drawn as `RandomPayoffs` says, with its fields, from the bits of "random_bimatrix ...".

    Player 1's payoffs are drawn first. (Version 1 took numpy's PCG64 for the bits.)

    Examples
    --------
    >>> game = RandomBimatrix(2, low=-9, high=9, seed=0).form(BimatrixGame)
    >>> [[int(payoff) for payoff in row] for row in game.a]
    [[0, -3], [0, 8]]
    """

    version: ClassVar[int] = 2
    gives: ClassVar[tuple[type, ...]] = (BimatrixGame,)

    def form(self, kind: type[F]) -> F:
        """Return the game."""
        a, b = self.drawn("random_bimatrix", 2)
        return as_form(BimatrixGame(a, b, *self.names), kind)
