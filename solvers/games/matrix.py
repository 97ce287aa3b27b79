"""Any zero-sum matrix game, its payoffs written out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar, cast

from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame, as_bimatrix

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

    payoffs: tuple[tuple[Fraction, ...], ...]
    row_actions: tuple[str, ...] | None = None
    column_actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.payoffs:
            raise ConfigError("payoffs", "at least one row", "none")
        columns = len(self.payoffs[0])
        if not columns:
            raise ConfigError("payoffs[0]", "at least one column", "none")
        for index, row in enumerate(self.payoffs):
            if len(row) != columns:
                raise ConfigError(f"payoffs[{index}]", f"{columns} entries, as in the first row", str(len(row)))
        object.__setattr__(self, "row_actions", _names("row_actions", self.row_actions, "r", len(self.payoffs)))
        object.__setattr__(self, "column_actions", _names("column_actions", self.column_actions, "c", columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(self.payoffs), len(self.payoffs[0])

    def form(self, kind: type[F]) -> F:
        """Return the matrix game, `[m, n]`."""
        m, n = self.shape
        game = MatrixGame(self.payoffs, self.row_actions or _numbered("r", m), self.column_actions or _numbered("c", n))
        return cast("F", as_bimatrix(game) if kind is BimatrixGame else game)


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


def _names(path: str, names: tuple[str, ...] | None, letter: str, count: int) -> tuple[str, ...] | None:
    """Return checked names; None where they are what None stands for, so that the same game has the same fields."""
    if names is None:
        return None
    if len(names) != count:
        raise ConfigError(path, f"{count} names, one for each {path.partition('_')[0]}", str(len(names)))
    seen = Counter(names)
    for index, name in enumerate(names):
        if not name or "+" in name:
            raise ConfigError(f"{path}[{index}]", 'a name without "+"', repr(name), '"+" joins the names of a support')
        if seen[name] > 1:
            raise ConfigError(f"{path}[{index}]", "names that are all different", repr(name))
    return None if names == _numbered(letter, count) else names
