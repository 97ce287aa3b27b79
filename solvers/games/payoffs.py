"""What games given by matrices share: payoffs and names that fit together, zero sums, and the files they can be written to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, TypeVar, cast

from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import BimatrixGame, Matrix, MatrixGame, as_bimatrix
from solvers.games.csv_format import write_csv
from solvers.games.nfg_format import write_nfg

E = TypeVar("E")
F = TypeVar("F")


def check_payoffs(path: str, payoffs: tuple[tuple[E, ...], ...], like: tuple[str, int, int] | None = None) -> tuple[int, int]:
    """Return how many rows and columns a matrix has.

    Parameters
    ----------
    path
        The field it stands in.
    like
        The field of a matrix whose rows and columns it must match, and how many those are.

    Raises
    ------
    ConfigError
        If it is empty or ragged, or does not match.
    """
    if not payoffs:
        raise ConfigError(path, "at least one row", "none")
    if like is not None and len(payoffs) != like[1]:
        raise ConfigError(path, f"{_many(like[1], 'row', 'rows')}, as {like[0]} has", str(len(payoffs)))
    columns = len(payoffs[0]) if like is None else like[2]
    if not columns:
        raise ConfigError(f"{path}[0]", "at least one column", "none")
    for index, row in enumerate(payoffs):
        if len(row) != columns:
            model = "in the first row" if like is None else f"{like[0]} has"
            raise ConfigError(f"{path}[{index}]", f"{_many(columns, 'entry', 'entries')}, as {model}", str(len(row)))
    return len(payoffs), columns


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Return names for actions that have none: r1, r2, ..."""
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


def check_names(path: str, names: tuple[str, ...] | None, letter: str, count: int) -> tuple[str, ...] | None:
    """Return checked names of actions; None where they are what None stands for, so that the same game has the same fields.

    Raises
    ------
    ConfigError
        If they are not `count` different ones, none empty, none with the "+" that joins them in supports.
    """
    if names is None:
        return None
    if len(names) != count:
        one = {"r": "row", "c": "column"}.get(letter, "move")
        raise ConfigError(path, f"{_many(count, 'name', 'names')}, one for each {one}", str(len(names)))
    wrong = wrong_name(names)
    if wrong is not None:
        index, wanted, hint = wrong
        raise ConfigError(f"{path}[{index}]", wanted, repr(names[index]), hint)
    return None if names == numbered(letter, count) else names


def wrong_name(names: tuple[str, ...]) -> tuple[int, str, str] | None:
    """Return the first name that cannot be one by its index, what is wanted instead and a hint; None if all are good."""
    seen = Counter(names)
    for index, name in enumerate(names):
        if not name or "+" in name:
            return index, 'a name without "+"', '"+" joins the names of a support'
        if seen[name] > 1:
            return index, "names that are all different", ""
    return None


def not_zero_sum(a: Matrix, b: Matrix, *, keys: bool = True) -> str | None:
    """Say which entries keep a game from being zero-sum, by their keys or by their place in a file; None if it is."""
    for i, (ours, theirs) in enumerate(zip(a, b, strict=True)):
        for j, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if x != -y:
                if keys:
                    return f"the game is not zero-sum: game.a[{i}][{j}] is {shown(x)} and game.b[{i}][{j}] is {shown(y)}"
                return f"the game is not zero-sum: row {i + 1} against column {j + 1} pays {shown(x)} and {shown(y)}"
    return None


def as_form(game: BimatrixGame | MatrixGame, kind: type[F]) -> F:
    """Return a game as a `MatrixGame` or a `BimatrixGame`.

    Raises
    ------
    InfeasibleGame
        If a zero-sum game is wanted and this one is none.
    """
    if isinstance(game, MatrixGame):
        return cast("F", as_bimatrix(game) if kind is BimatrixGame else game)
    if kind is BimatrixGame:
        return cast("F", game)
    why = not_zero_sum(game.a, game.b)
    if why is not None:
        raise InfeasibleGame(why)
    return cast("F", MatrixGame(game.a, game.row_actions, game.column_actions, game.outcomes))


_SHORT_BITS = 100  # some 30 digits


def shown(number: Fraction) -> str:
    """Return a number as it reads in a message: exact if that takes at most some 30 digits, else rounded to twelve."""
    above, below = number.numerator, number.denominator
    if above.bit_length() + below.bit_length() <= _SHORT_BITS:
        return str(number)
    from decimal import Decimal  # noqa: PLC0415 (rarely needed)

    return f"about {(Decimal(above) / Decimal(below)).normalize():.12g}"


# ---- files -------------------------------------------------------------------------------------------------------------------


def _to_nfg(game: Any) -> str:
    return write_nfg(game.form(BimatrixGame), type(game).__name__)


def _to_csv(game: Any) -> str:
    return write_csv(game.form(BimatrixGame))


EXPORTS: Final[Mapping[str, Callable[[Any], str]]] = {"nfg": _to_nfg, "csv": _to_csv}
"""Of every game that gives a `BimatrixGame`: Gambit's .nfg, and CSV as `matrix_csv` reads it. Payoffs are exact in both."""
