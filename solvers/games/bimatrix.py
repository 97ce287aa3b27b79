"""Any game of two players, a matrix of payoffs for each written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.payoffs import EXPORTS, as_form, check_names, check_payoffs, not_zero_sum, numbered

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Bimatrix:
    """A game of two players: player 1 picks a row, player 2 a column, and each gets an entry of a matrix.

    It is a `MatrixGame`, too, if what one gets the other always pays.

    Attributes
    ----------
    a, b
        `[m, n]`, exact, m and n at least 1: what player 1 and what player 2 get.
    row_actions, column_actions
        Names, all different, without "+" (which joins them in supports); None: r1, r2, ... and c1, c2, ...

    Raises
    ------
    ConfigError
        If a matrix is empty or ragged, the two do not match, or the names do not fit them.

    Examples
    --------
    >>> from solvers import make
    >>> game = make(Bimatrix, a=[["2", "0"], ["0", "1"]], b=[["1", "0"], ["0", "2"]])
    >>> game.form(BimatrixGame).is_zero_sum
    False
    >>> game.refuses(MatrixGame)
    'the game is not zero-sum: game.a[0][0] is 2 and game.b[0][0] is 1'
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (BimatrixGame, MatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    a: tuple[tuple[Fraction, ...], ...]
    b: tuple[tuple[Fraction, ...], ...]
    row_actions: tuple[str, ...] | None = None
    column_actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        rows, columns = check_payoffs("a", self.a)
        check_payoffs("b", self.b, like=("a", rows, columns))
        object.__setattr__(self, "row_actions", check_names("row_actions", self.row_actions, "r", rows))
        object.__setattr__(self, "column_actions", check_names("column_actions", self.column_actions, "c", columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(self.a), len(self.a[0])

    def refuses(self, kind: type) -> str | None:
        """Say which entries keep it from being zero-sum, where that is wanted."""
        return not_zero_sum(self.a, self.b) if kind is MatrixGame else None

    def form(self, kind: type[F]) -> F:
        """Return the game, `[m, n]`."""
        m, n = self.shape
        rows, columns = self.row_actions or numbered("r", m), self.column_actions or numbered("c", n)
        return as_form(BimatrixGame(self.a, self.b, rows, columns), kind)
