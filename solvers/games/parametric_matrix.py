"""Any zero-sum matrix game whose payoffs are polynomials in one or two named parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar, cast

from solvers.errors import ConfigError
from solvers.forms import ParametricGame
from solvers.games.payoffs import check_names, check_payoffs, numbered
from solvers.games.polynomials import UNIT, check_parameters, read_polynomial, terms_of

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class ParametricMatrix:
    """A family of zero-sum matrix games, one for each value of the parameters.

    A built game holds its payoffs multiplied out and in order, so that the same game always has the same fields.

    Attributes
    ----------
    payoffs
        `[m, n]` polynomials as text, numbers exact: what player 2 pays player 1.
    parameters
        Their names, one or two; each is used.
    ranges
        `[least, greatest]` of each parameter, both ends in; a parameter that is not named goes from 0 to 1.
    row_actions, column_actions
        Names, all different, without "+" (which joins them in supports); None: r1, r2, ... and c1, c2, ...

    Raises
    ------
    ConfigError
        If an entry is no polynomial in the parameters, the matrix is empty or ragged, or names or ranges do not fit.

    Examples
    --------
    >>> from solvers import make
    >>> game = make(ParametricMatrix, payoffs=[["(1 - a)^2", "0"], ["-1/2", "a"]], parameters=["a"])
    >>> game.payoffs[0][0]
    'a^2 - 2*a + 1'
    >>> game.form(ParametricGame).payoffs[0][0]
    (((2,), Fraction(1, 1)), ((1,), Fraction(-2, 1)), ((0,), Fraction(1, 1)))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (ParametricGame,)

    payoffs: tuple[tuple[Fraction | str, ...], ...]
    parameters: tuple[str, ...]
    ranges: Mapping[str, tuple[Fraction, Fraction]] | None = None
    row_actions: tuple[str, ...] | None = None
    column_actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ConfigError("parameters", "one or two names", "none", "game=matrix has none")
        object.__setattr__(self, "ranges", check_parameters(self.parameters, self.ranges))
        rows, columns = check_payoffs("payoffs", self.payoffs)
        object.__setattr__(self, "row_actions", check_names("row_actions", self.row_actions, "r", rows))
        object.__setattr__(self, "column_actions", check_names("column_actions", self.column_actions, "c", columns))
        read = [[self._read(i, j) for j in range(columns)] for i in range(rows)]
        for place, name in enumerate(self.parameters):
            if not any(entry.degrees()[place] > 0 for row in read for entry in row):
                raise ConfigError(f"parameters[{place}]", "a parameter that payoffs depend on", repr(name))
        object.__setattr__(self, "payoffs", tuple(tuple(map(str, row)) for row in read))

    def _read(self, i: int, j: int) -> Any:
        try:
            return read_polynomial(str(self.payoffs[i][j]), self.parameters)
        except ConfigError as error:
            raise error.under(f"payoffs[{i}][{j}]") from None

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(self.payoffs), len(self.payoffs[0])

    def form(self, kind: type[F]) -> F:
        """Return the family, `[m, n]`."""
        m, n = self.shape
        payoffs = tuple(tuple(terms_of(self._read(i, j)) for j in range(n)) for i in range(m))
        ranges = tuple((self.ranges or {}).get(name, UNIT) for name in self.parameters)
        rows, columns = self.row_actions or numbered("r", m), self.column_actions or numbered("c", n)
        return cast("F", ParametricGame(payoffs, self.parameters, ranges, rows, columns))
