"""Games with forced moves: who is made to play which move, and how often, shapes the equilibrium.

A player's chosen move stands with probability 1 - sum(forced); otherwise the forced move is played in its place. Players know
both players' forced probabilities, not what is forced in this round. What the moves then pay is a base game's business:
rock-paper-scissors, in which a win pays 1, a draw 0, a loss -1, or another of `BASES`.

A probability may be a parameter's name instead of a number: then the game is a family, its payoffs polynomials in the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, Final, TypeVar, cast

from solvers.contract import FrozenMap
from solvers.errors import ConfigError, InfeasibleGame, nearest
from solvers.forms import BimatrixGame, Matrix, MatrixGame, Outcomes, ParametricGame
from solvers.games.payoffs import EXPORTS, as_form, shown
from solvers.games.polynomials import UNIT, Ranges, check_parameters, rational, ring, terms_of

F = TypeVar("F")

MOVES = ("rock", "paper", "scissors")
"""Each move beats the one before it, around the circle."""

Integers = tuple[tuple[int, ...], ...]
Forced = Mapping[str, Fraction | str]


@dataclass(frozen=True, slots=True)
class BaseGame:
    """A zero-sum game of named moves: `payoffs[i][j]` is what player 2 pays; a positive one is a win of player 1."""

    row_moves: tuple[str, ...]
    column_moves: tuple[str, ...]
    payoffs: Integers


BASES: Final[Mapping[str, BaseGame]] = {
    "rock_paper_scissors": BaseGame(MOVES, MOVES, ((0, -1, 1), (1, 0, -1), (-1, 1, 0))),
    # Sam Kass's game with lizard and Spock: around this circle each beats the one before it and the third before it
    "rpsls": BaseGame(
        ("rock", "paper", "scissors", "spock", "lizard"),
        ("rock", "paper", "scissors", "spock", "lizard"),
        ((0, -1, 1, -1, 1), (1, 0, -1, 1, -1), (-1, 1, 0, -1, 1), (1, -1, 1, 0, -1), (-1, 1, -1, 1, 0)),
    ),
    # Stein, Schere, Papier, Brunnen: rock and scissors fall into the well, paper covers it
    "rps_well": BaseGame((*MOVES, "well"), (*MOVES, "well"), ((0, -1, 1, -1), (1, 0, -1, 1), (-1, 1, 0, -1), (1, -1, 1, 0))),
    # Ferguson, "Game Theory", part II: both call a number; player 1 is paid the sum if it is odd, else pays it
    "odd_even": BaseGame(("one", "two"), ("one", "two"), ((-2, 3), (3, -4))),
    "matching_pennies": BaseGame(("heads", "tails"), ("heads", "tails"), ((1, -1), (-1, 1))),
}


@dataclass(frozen=True, slots=True)
class ForcedRps:
    """A base game, rock-paper-scissors unless another is named, in which moves are sometimes forced.

    In rock-paper-scissors `p1={rock: 1/2}` may be written `a=1/2` and `p2={scissors: 1/2}` may be written `b=1/2`; a built game
    holds `p1` and `p2` only, without moves of probability 0, so that the same game always has the same fields.

    Attributes
    ----------
    p1, p2
        For each move the probability that player 1 (2) is forced to play it, in [0, 1], together at most 1, or a parameter's name;
        None: never forced.
    a
        Short form: the probability that player 1 is forced to play their first move.
    b
        Short form: the probability that player 2 is forced to play their last move.
    base
        The game that is played, a key of `BASES`.
    parameters
        Names that stand for probabilities, at most two, each used. With them the game is a `ParametricGame` and nothing else.
    ranges
        `[least, greatest]` of each parameter, both ends in; a parameter that is not named goes from 0 to 1.

    Raises
    ------
    ConfigError
        For an unknown base or move, a probability that is negative, a sum over 1 (anywhere in the ranges), a name that is no
        parameter, a parameter that is not used, or a short form beside its long form.

    Examples
    --------
    >>> ForcedRps(a=Fraction(1, 2)) == ForcedRps(p1={"rock": Fraction(1, 2), "paper": Fraction(0)})
    True
    >>> ForcedRps(a=Fraction(1, 2)).form(MatrixGame).payoffs[2]  # scissors: half the time it is rock, which beats scissors
    (Fraction(-1, 2), Fraction(0, 1), Fraction(1, 2))
    >>> ForcedRps(a="a", parameters=("a",)).form(ParametricGame).payoffs[2][0]  # a draw with probability a, else a loss: a - 1
    (((1,), Fraction(1, 1)), ((0,), Fraction(-1, 1)))
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (MatrixGame, BimatrixGame, ParametricGame)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    p1: Mapping[str, Fraction | str] | None = None
    p2: Mapping[str, Fraction | str] | None = None
    a: Fraction | str | None = None
    b: Fraction | str | None = None
    base: str = "rock_paper_scissors"
    parameters: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[Fraction, Fraction]] | None = None

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ConfigError("base", f"one of {', '.join(BASES)}", repr(self.base), nearest(self.base, BASES))
        object.__setattr__(self, "ranges", check_parameters(self.parameters, self.ranges))
        one, two = self._base.row_moves, self._base.column_moves
        bounds = {name: (self.ranges or {}).get(name, UNIT) for name in self.parameters}
        object.__setattr__(self, "p1", _forced("p1", self.p1, ("a", self.a, one[0]), one, bounds))
        object.__setattr__(self, "p2", _forced("p2", self.p2, ("b", self.b, two[-1]), two, bounds))
        object.__setattr__(self, "a", None)
        object.__setattr__(self, "b", None)
        used = {one for forced in (self.p1, self.p2) for one in (forced or {}).values()}
        for index, name in enumerate(self.parameters):
            if name not in used:
                raise ConfigError(f"parameters[{index}]", "the name of a probability", repr(name), f"game.a={name} makes it one")

    @property
    def _base(self) -> BaseGame:
        return BASES[self.base]

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many actions each player has."""
        return len(self._base.row_moves), len(self._base.column_moves)

    def refuses(self, kind: type) -> str | None:
        """Say that a family of games is no single game, or the other way round."""
        if (kind is ParametricGame) == bool(self.parameters):
            return None
        if self.parameters:
            names = " and ".join(self.parameters)
            return f"the game's payoffs depend on {names}, here without a value; a number in place of each makes it one game"
        return "the game has no parameters; game.a=a 'game.parameters=[a]' gives it one"

    def form(self, kind: type[F]) -> F:
        """Return the game, actions in the base game's order: rock, paper, scissors; about 50 us of those.

        Raises
        ------
        InfeasibleGame
            If it `refuses`.
        """
        why = self.refuses(kind)
        if why is not None:
            raise InfeasibleGame(why)
        if kind is ParametricGame:
            return cast("F", self._family())
        return as_form(self._game(), kind)

    def _game(self) -> MatrixGame:
        base = self._base
        played1, scale1 = _played(self.p1 or {}, base.row_moves)
        played2, scale2 = _played(self.p2 or {}, base.column_moves)
        scale = scale1 * scale2

        def mean(matrix: Integers) -> Matrix:
            """Return the mean of what the moves really played are worth, for each pair of choices."""
            return tuple(tuple(Fraction(total, scale) for total in row) for row in _mean(played1, matrix, played2))

        outcomes = Outcomes(*(mean(_where(base.payoffs, sign)) for sign in (1, 0, -1)))
        return MatrixGame(mean(base.payoffs), base.row_moves, base.column_moves, outcomes)

    def _family(self) -> ParametricGame:
        base = self._base
        polynomials = ring(self.parameters)
        variables = dict(zip(self.parameters, polynomials.gens(), strict=True))

        def played(forced: Forced, moves: tuple[str, ...]) -> list[list[Any]]:
            """Return polynomials: how often each move is played (columns) when one is chosen (rows)."""
            by_force = [_polynomial(forced.get(move, Fraction(0)), polynomials, variables) for move in moves]
            free = polynomials.constant(1) - sum(by_force, polynomials.constant(0))
            return [[one + free if i == j else one for j, one in enumerate(by_force)] for i in range(len(moves))]

        payoffs = _mean(played(self.p1 or {}, base.row_moves), base.payoffs, played(self.p2 or {}, base.column_moves))
        terms = tuple(tuple(terms_of(polynomials.constant(0) + entry) for entry in row) for row in payoffs)
        ranges = tuple((self.ranges or {}).get(name, UNIT) for name in self.parameters)
        return ParametricGame(terms, self.parameters, ranges, base.row_moves, base.column_moves)


# ---- forced moves ------------------------------------------------------------------------------------------------------------


def _forced(
    path: str,
    forced: Forced | None,
    short: tuple[str, Fraction | str | None, str],
    moves: tuple[str, ...],
    bounds: Ranges,
) -> FrozenMap[Fraction | str] | None:
    """Return the forced moves of one player in their normal form: no probabilities of 0, None if there are none."""
    letter, probability, move = short
    if probability is not None:
        if forced is not None:
            raise ConfigError(letter, f"null where game.{path} is given", _said(probability), f"write it as game.{path}.{move}")
        _interval(letter, probability, bounds)
        forced = {move: probability}
    if forced is None:
        return None
    least, most = Fraction(), Fraction()
    for name, one in forced.items():
        if name not in moves:
            hint = f"{nearest(name, moves)} there are: {', '.join(moves)}".lstrip()
            raise ConfigError(f"{path}.{name}", "a move", repr(name), hint)
        low, high = _interval(f"{path}.{name}", one, bounds)
        least, most = least + low, most + high
    if most > 1:
        hint = "" if least == most else "narrower ranges keep it below: game.ranges={name: [least, greatest]}"
        to = "" if least == most else "up to "
        raise ConfigError(path, "probabilities that sum to at most 1", f"a sum of {to}{shown(most)}", hint)
    return FrozenMap({name: one for name, one in forced.items() if one}) if most else None


def _interval(path: str, probability: Fraction | str, bounds: Ranges) -> tuple[Fraction, Fraction]:
    """Return the least and greatest a probability can be; both lie in [0, 1]."""
    if isinstance(probability, str):
        if probability not in bounds:
            hint = f"parameters are {', '.join(bounds)}"
            if not bounds:
                hint = f"'game.parameters=[{probability}]' makes it one" if probability.isidentifier() else ""
            raise ConfigError(path, "an exact number, such as 1/2 or 0.25, or the name of a parameter", repr(probability), hint)
        low, high = bounds[probability]
        if low < 0 or high > 1:
            raise ConfigError(f"ranges.{probability}", "a range of probabilities, within 0 to 1", f"[{shown(low)}, {shown(high)}]")
        return low, high
    if not 0 <= probability <= 1:
        raise ConfigError(path, "a probability, 0 to 1", shown(probability))
    return probability, probability


def _said(probability: Fraction | str) -> str:
    return repr(probability) if isinstance(probability, str) else shown(probability)


def _polynomial(probability: Fraction | str, polynomials: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(probability, str):
        return variables[probability]
    return polynomials.constant(rational(probability))


# ---- payoffs -----------------------------------------------------------------------------------------------------------------


def _played(forced: Forced, moves: tuple[str, ...]) -> tuple[list[list[int]], int]:
    """Return integers over a common scale: how often each move is played (columns) when one is chosen (rows)."""
    numbers = {move: one for move, one in forced.items() if isinstance(one, Fraction)}
    scale = lcm(*(one.denominator for one in numbers.values()))
    by_force = [int(numbers.get(move, 0) * scale) for move in moves]
    free = scale - sum(by_force)
    return [[one + (free if i == j else 0) for j, one in enumerate(by_force)] for i in range(len(moves))], scale


def _mean(played1: list[list[Any]], matrix: Integers, played2: list[list[Any]]) -> list[list[Any]]:
    """Return played1 @ matrix @ played2': entries are numbers or polynomials."""
    half = [[_dot(entries, column) for entries in matrix] for column in played2]
    return [[_dot(worth, row) for worth in half] for row in played1]


def _dot(left: Any, right: Any) -> Any:
    return sum(x * y for x, y in zip(left, right, strict=True) if x != 0)


def _where(matrix: Integers, sign: int) -> Integers:
    return tuple(tuple(int((entry > 0) - (entry < 0) == sign) for entry in row) for row in matrix)
