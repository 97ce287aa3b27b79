"""Morra: both show some fingers and guess the other's; who alone guesses right is paid all the fingers shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, TypeVar

from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.payoffs import EXPORTS, as_form

F = TypeVar("F")

MOST_FINGERS = 4


@dataclass(frozen=True, slots=True)
class Morra:
    """Morra with some fingers; an action is what to show and what to guess.

    Symmetric, so its value is 0. With two fingers the extreme optimal strategies are 4/7 "show 1 guess 2" with 3/7 "show 2 guess
    1", and 3/5 with 2/5 of the same.

    Attributes
    ----------
    fingers
        How many a player may show, 1 to 4; a player has fingers^2 actions.

    Raises
    ------
    ConfigError
        If it is out of range.

    Examples
    --------
    >>> game = Morra(2).form(MatrixGame)
    >>> game.row_actions[1], [int(payoff) for payoff in game.payoffs[1]]
    ('show 1 guess 2', [-2, 0, 0, 3])
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    fingers: int

    def __post_init__(self) -> None:
        if not 1 <= self.fingers <= MOST_FINGERS:
            raise ConfigError("fingers", f"1 to {MOST_FINGERS}", str(self.fingers))

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return self.fingers**2, self.fingers**2

    def form(self, kind: type[F]) -> F:
        """Return the game, `[fingers^2, fingers^2]`, actions by what is shown, then by what is guessed."""
        plays = list(product(range(1, self.fingers + 1), repeat=2))
        payoffs = tuple(tuple(Fraction(_paid(*mine, *yours)) for yours in plays) for mine in plays)
        names = tuple(f"show {shown} guess {guessed}" for shown, guessed in plays)
        return as_form(MatrixGame(payoffs, names, names), kind)


def _paid(shown: int, guessed: int, their_shown: int, their_guessed: int) -> int:
    """Return what player 1 is paid."""
    return (shown + their_shown) * ((guessed == their_shown) - (their_guessed == shown))
