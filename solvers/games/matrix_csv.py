"""A game of two players from a CSV file: one block of payoffs if it is zero-sum, else one for each player."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from solvers.contract import File
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame, as_bimatrix
from solvers.games.csv_format import read_csv
from solvers.games.nfg import named
from solvers.games.payoffs import EXPORTS, as_form, not_zero_sum

F = TypeVar("F")

PENNIES = File(b",heads,tails\nheads,1,-1\ntails,-1,1\n")
"""Matching pennies, as a file would give it."""


@dataclass(frozen=True, slots=True)
class MatrixCsv:
    """A game as a spreadsheet writes it: see `solvers.games.csv_format`. A `MatrixGame`, too, if it is zero-sum.

    Attributes
    ----------
    path
        The file. None: matching pennies.

    Raises
    ------
    ConfigError
        If it cannot be read (with line, column and cell), its blocks do not match, or names are not all different or have a "+".

    Examples
    --------
    >>> MatrixCsv(File(b"1/2,0\\n0.1,3")).form(MatrixGame).payoffs
    ((Fraction(1, 2), Fraction(0, 1)), (Fraction(1, 10), Fraction(3, 1)))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (BimatrixGame, MatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    path: File | None = None

    def __post_init__(self) -> None:
        _game(self.path or PENNIES)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return _game(self.path or PENNIES).shape

    def refuses(self, kind: type) -> str | None:
        """Say which payoffs keep it from being zero-sum, where that is wanted."""
        if kind is not MatrixGame:
            return None
        game = _game(self.path or PENNIES)
        return not_zero_sum(game.a, game.b, keys=False)

    def form(self, kind: type[F]) -> F:
        """Return the game, `[m, n]`."""
        return as_form(_game(self.path or PENNIES), kind)


@lru_cache(maxsize=32)
def _game(file: File) -> BimatrixGame:
    try:
        first, *others = read_csv(file.data, file.name)
        m, n = len(first.payoffs), len(first.payoffs[0])
        rows, columns = named(first.row_names, "r", m), named(first.column_names, "c", n)
        for other in others:
            other.check_names(rows, columns)
    except ConfigError as error:
        raise error.under("path") from None
    if others:
        return BimatrixGame(first.payoffs, others[0].payoffs, rows, columns)
    return as_bimatrix(MatrixGame(first.payoffs, rows, columns))
