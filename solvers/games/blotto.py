"""Colonel Blotto: two players spread equally many soldiers over some fields; on each, the larger number wins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, ClassVar, Literal, TypeVar

from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.payoffs import EXPORTS, as_form

F = TypeVar("F")

MOST_ACTIONS = 1500
_MANY = 10**18  # larger numbers are told by their length


@dataclass(frozen=True, slots=True)
class Blotto:
    """Symmetric Colonel Blotto; an action says how many soldiers go to each field. Its value is 0.

    Attributes
    ----------
    soldiers
        How many each player has, at least 1; all are sent.
    fields
        How many there are, at least 1; a field with equally many is nobody's. C(soldiers + fields - 1, fields - 1) actions, at most
        `MOST_ACTIONS`.
    score
        `total`: fields won minus fields lost. `sign`: 1 to whoever wins more fields.

    Raises
    ------
    ConfigError
        If there are too many actions, or none.

    References
    ----------
    Borel, "La theorie du jeu et les equations integrales a noyau symetrique", C. R. Acad. Sci. Paris 173, 1921.
    Hart, "Discrete Colonel Blotto and General Lotto games", International Journal of Game Theory 36, 2008.

    Examples
    --------
    >>> game = Blotto(2, 3).form(MatrixGame)
    >>> game.row_actions
    ('2-0-0', '1-1-0', '1-0-1', '0-2-0', '0-1-1', '0-0-2')
    >>> [int(payoff) for payoff in game.payoffs[1]]
    [0, 0, 0, 0, 0, 1]
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    soldiers: int
    fields: int
    score: Literal["total", "sign"] = "total"

    def __post_init__(self) -> None:
        for name in ("soldiers", "fields"):
            if not 1 <= getattr(self, name) <= MOST_ACTIONS:
                raise ConfigError(name, f"1 to {MOST_ACTIONS}", str(getattr(self, name)))
        if self.shape[0] > MOST_ACTIONS:
            raise self._too_many()

    def _too_many(self) -> ConfigError:
        """Return the refusal of the larger number, which is the one to lower."""
        numbers = {"soldiers": self.soldiers, "fields": self.fields}
        other, larger = sorted(numbers, key=lambda name: numbers[name])
        most = next(one for one in range(numbers[larger], 0, -1) if _ways(**{**numbers, larger: one}) <= MOST_ACTIONS)
        ways = self.shape[0]
        said = f"{ways:,}" if ways < _MANY else f"some 10^{len(str(ways)) - 1}"
        hint = f"{said} ways to spread them, at most {MOST_ACTIONS:,} are taken"
        return ConfigError(larger, f"at most {most:,} with {other}={numbers[other]}", f"{numbers[larger]:,}", hint)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        ways = _ways(self.soldiers, self.fields)
        return ways, ways

    def form(self, kind: type[F]) -> F:
        """Return the game; actions begin with all soldiers on the first field."""
        plays = list(_spread(self.soldiers, self.fields))
        payoffs = tuple(tuple(Fraction(self._paid(mine, yours)) for yours in plays) for mine in plays)
        names = tuple("-".join(map(str, play)) for play in plays)
        return as_form(MatrixGame(payoffs, names, names), kind)

    def _paid(self, mine: tuple[int, ...], yours: tuple[int, ...]) -> int:
        ahead = sum((x > y) - (x < y) for x, y in zip(mine, yours, strict=True))
        return ahead if self.score == "total" else (ahead > 0) - (ahead < 0)


def _ways(soldiers: int, fields: int) -> int:
    return comb(soldiers + fields - 1, fields - 1)


def _spread(soldiers: int, fields: int) -> Iterator[tuple[int, ...]]:
    if fields == 1:
        yield (soldiers,)
        return
    for first in range(soldiers, -1, -1):
        for rest in _spread(soldiers - first, fields - 1):
            yield (first, *rest)
