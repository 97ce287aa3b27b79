"""Rock-paper-scissors with forced moves: who is made to play which move, and how often, shapes the equilibrium.

A player's chosen move stands with probability 1 - sum(forced); otherwise the forced move is played in its place. Players know
both players' forced probabilities, not what is forced in this round. A win pays 1, a draw 0, a loss -1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import ClassVar, TypeVar, cast

from solvers.contract import FrozenMap
from solvers.errors import ConfigError, did_you_mean
from solvers.forms import BimatrixGame, Matrix, MatrixGame, Outcomes, as_bimatrix

F = TypeVar("F")

MOVES = ("rock", "paper", "scissors")
"""Each move beats the one before it, around the circle."""


@dataclass(frozen=True, slots=True)
class ForcedRps:
    """Rock-paper-scissors in which moves are sometimes forced.

    `p1={rock: 1/2}` may be written `a=1/2` and `p2={scissors: 1/2}` may be written `b=1/2`; a built game holds `p1` and `p2`
    only, without moves of probability 0, so that the same game always has the same fields.

    Attributes
    ----------
    p1, p2
        For each move the probability that player 1 (2) is forced to play it, in [0, 1], together at most 1; None: never forced.
    a
        Short form: the probability that player 1 is forced to play rock.
    b
        Short form: the probability that player 2 is forced to play scissors.

    Raises
    ------
    ConfigError
        For an unknown move, a probability that is negative, a sum over 1, or a short form beside its long form.

    Examples
    --------
    >>> ForcedRps(a=Fraction(1, 2)) == ForcedRps(p1={"rock": Fraction(1, 2), "paper": Fraction(0)})
    True
    >>> ForcedRps(a=Fraction(1, 2)).form(MatrixGame).payoffs[2]  # scissors: half the time it is rock, which beats scissors
    (Fraction(-1, 2), Fraction(0, 1), Fraction(1, 2))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame)

    p1: Mapping[str, Fraction] | None = None
    p2: Mapping[str, Fraction] | None = None
    a: Fraction | None = None
    b: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "p1", _forced("p1", self.p1, "a", self.a, "rock"))
        object.__setattr__(self, "p2", _forced("p2", self.p2, "b", self.b, "scissors"))
        object.__setattr__(self, "a", None)
        object.__setattr__(self, "b", None)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(MOVES), len(MOVES)

    def form(self, kind: type[F]) -> F:
        """Return the matrix game, `[3, 3]`, actions rock, paper, scissors; about 50 us."""
        played1, scale1 = _played(self.p1 or {})
        played2, scale2 = _played(self.p2 or {})
        scale = scale1 * scale2

        def matrix(*differences: int) -> Matrix:
            """Return the probability that player 1's move lies this far past player 2's, for each pair of choices."""
            return tuple(
                tuple(
                    Fraction(sum(row[(j + past) % 3] * column[j] for past in differences for j in range(3)), scale)
                    for column in played2
                )
                for row in played1
            )

        outcomes = Outcomes(win=matrix(1), draw=matrix(0), lose=matrix(2))
        payoffs = tuple(
            tuple(win - lose for win, lose in zip(wins, loses, strict=True))
            for wins, loses in zip(outcomes.win, outcomes.lose, strict=True)
        )
        game = MatrixGame(payoffs, MOVES, MOVES, outcomes)
        return cast("F", as_bimatrix(game) if kind is BimatrixGame else game)


def _forced(
    path: str, forced: Mapping[str, Fraction] | None, short: str, probability: Fraction | None, move: str
) -> FrozenMap[Fraction] | None:
    """Return the forced moves of one player in their normal form: positive probabilities only, None if there are none."""
    if probability is not None:
        if forced is not None:
            raise ConfigError(short, f"null where {path} is given", _shown(probability), f"write it as {path}.{move}")
        if not 0 <= probability <= 1:
            raise ConfigError(short, "a probability, 0 to 1", _shown(probability))
        forced = {move: probability}
    if forced is None:
        return None
    for name, one in forced.items():
        if name not in MOVES:
            raise ConfigError(f"{path}.{name}", "a move", repr(name), did_you_mean(name, MOVES))
        if not 0 <= one <= 1:
            raise ConfigError(f"{path}.{name}", "a probability, 0 to 1", _shown(one))
    total = sum(forced.values(), Fraction())
    if total > 1:
        raise ConfigError(path, "probabilities that sum to at most 1", f"a sum of {_shown(total)}")
    return FrozenMap({name: one for name, one in forced.items() if one}) if total else None


def _shown(number: Fraction) -> str:
    """Return a number as it reads in a message: exact if that takes at most some 30 digits, else rounded to twelve."""
    above, below = number.numerator, number.denominator
    if above.bit_length() + below.bit_length() <= 100:  # noqa: PLR2004 (30 digits)
        return str(number)
    return f"about {(Decimal(above) / Decimal(below)).normalize():.12g}"


def _played(forced: Mapping[str, Fraction]) -> tuple[list[list[int]], int]:
    """Return `[3, 3]` integers over a common scale: how often each move is played (columns) when one is chosen (rows)."""
    scale = lcm(*(one.denominator for one in forced.values()))
    by_force = [int(forced.get(move, 0) * scale) for move in MOVES]
    free = scale - sum(by_force)
    return [[by_force[j] + (free if i == j else 0) for j in range(3)] for i in range(3)], scale
