"""Any zero-sum matrix game, its payoffs written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.payoffs import EXPORTS, as_form, check_names, check_payoffs, numbered

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Matrix:
    """A zero-sum matrix game: player 1 picks a row, player 2 a column, and player 2 pays player 1.

    Attributes
    ----------
    payoffs
        `[m, n]`, exact, m and n at least 1.
    row_actions, column_actions
        Names, all different, without "+" (which joins them in supports); None: r1, r2, ... and c1, c2, ...

    Raises
    ------
    ConfigError
        If the matrix is empty or ragged, or the names do not fit it.

    Examples
    --------
    >>> from solvers import make
    >>> make(Matrix, payoffs=[["0", "-1"], ["1/2", "0"]]).form(MatrixGame).payoffs
    ((Fraction(0, 1), Fraction(-1, 1)), (Fraction(1, 2), Fraction(0, 1)))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    payoffs: tuple[tuple[Fraction, ...], ...]
    row_actions: tuple[str, ...] | None = None
    column_actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        rows, columns = check_payoffs("payoffs", self.payoffs)
        object.__setattr__(self, "row_actions", check_names("row_actions", self.row_actions, "r", rows))
        object.__setattr__(self, "column_actions", check_names("column_actions", self.column_actions, "c", columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(self.payoffs), len(self.payoffs[0])

    def form(self, kind: type[F]) -> F:
        """Return the matrix game, `[m, n]`."""
        m, n = self.shape
        game = MatrixGame(self.payoffs, self.row_actions or numbered("r", m), self.column_actions or numbered("c", n))
        return as_form(game, kind)
