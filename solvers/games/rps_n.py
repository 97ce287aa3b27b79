"""Rock-paper-scissors with any odd number of moves, around a circle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, Matrix, MatrixGame, Outcomes
from solvers.games.payoffs import EXPORTS, as_form, check_names, numbered

F = TypeVar("F")

MOST_MOVES = 999


@dataclass(frozen=True, slots=True)
class RpsN:
    """Each move beats the (n - 1) / 2 before it, around the circle, and loses to as many after it; a win pays 1.

    Value 0; playing all moves alike is the only optimal strategy.

    Attributes
    ----------
    n
        How many moves, odd, 3 to `MOST_MOVES`.
    names
        Their names around the circle, all different, without "+"; None: m1, m2, ...

    Raises
    ------
    ConfigError
        If n is even or out of range, or the names do not fit it.

    References
    ----------
    Fisher and Ryan, "Optimal strategies for a generalized 'scissors, paper, and stone' game", Amer. Math. Monthly 99, 1992.

    Examples
    --------
    >>> [int(payoff) for payoff in RpsN(5).form(MatrixGame).payoffs[0]]  # the first beats the fourth and the fifth
    [0, -1, -1, 1, 1]
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    n: int
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not (3 <= self.n <= MOST_MOVES and self.n % 2):  # noqa: PLR2004 (the smallest circle)
            raise ConfigError("n", f"an odd number, 3 to {MOST_MOVES}", str(self.n), "only then can each beat as many as beat it")
        object.__setattr__(self, "names", check_names("names", self.names, "m", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return self.n, self.n

    def form(self, kind: type[F]) -> F:
        """Return the game, `[n, n]`, with its wins, draws and losses."""
        half = self.n // 2
        ahead = [[(i - j) % self.n for j in range(self.n)] for i in range(self.n)]

        def where(low: int, high: int) -> Matrix:
            return tuple(tuple(Fraction(low <= steps <= high) for steps in row) for row in ahead)

        outcomes = Outcomes(win=where(1, half), draw=where(0, 0), lose=where(half + 1, self.n - 1))
        payoffs = tuple(tuple(Fraction((steps > 0) - 2 * (steps > half)) for steps in row) for row in ahead)
        names = self.names or numbered("m", self.n)
        return as_form(MatrixGame(payoffs, names, names, outcomes), kind)
