"""Judge equilibria of zero-sum matrix games from the game and the table alone.

An equilibrium is its own certificate: with exact fractions, recompute what each action earns against the other player's mixture
and see that no action earns more. Not judged: whether further equilibria are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.forms import Matrix, MatrixGame

TABLE = "equilibria"
COLUMNS = ("index", "value", "x", "y", "x_support", "y_support", "value_float", "win", "draw", "lose")

_EXACT = re.compile(r"-?[0-9]+(/[0-9]+)?")
_SHOWN_BITS = 200

Mixture = list[Fraction]
Pair = tuple[Mixture, Mixture]


class _Refuted(Exception):
    """What is wrong with a row."""


def check_equilibria(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `equilibria`; exact, O(m n) fractions a row.

    A row is `proved` if x and y are probability distributions, the value is x'Ay, no row earns player 1 more and no column costs
    player 2 less, everything else the row says follows from them, and it stands in its place: index from 0, pairs (x, y) strictly
    falling in dictionary order.

    Parameters
    ----------
    game
        A game that gives a `MatrixGame`.
    tables
        `equilibria`, without the column `point`; may hold anything.
    """
    try:
        rows = _read(tables)
    except _Refuted as wrong:
        yield Verdict(TABLE, None, "refuted", str(wrong))
        return
    matrix = game.form(MatrixGame)
    before: Pair | None = None
    for number, row in enumerate(rows):
        try:
            before = _judge(matrix, row, number, before)
        except _Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        m, n = matrix.shape
        yield Verdict(TABLE, number, "proved", f"equilibrium: none of {m} rows and {n} columns does better than {row['value']}")


def _read(tables: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
    if TABLE not in tables:
        raise _Refuted(f"there is no table {TABLE}")
    table = tables[TABLE]
    missing = [name for name in COLUMNS if table.column_names.count(name) != 1]
    if missing:
        raise _Refuted(f"columns that should be there once are not: {', '.join(missing)}")
    if not table.num_rows:
        raise _Refuted("no rows, but a finite zero-sum game has an equilibrium")
    try:
        rows: list[dict[str, Any]] = table.select(COLUMNS).to_pylist()
    except (ValueError, OverflowError, pa.ArrowException) as error:  # broken text, dates out of range ...
        raise _Refuted(f"cannot be read: {error}") from error
    return rows


def _judge(game: MatrixGame, row: Mapping[str, Any], number: int, before: Pair | None) -> Pair:
    """Return x and y of row `number`, or raise what is wrong with it; `before` is the last pair that was right."""
    x = _mixture("x", row["x"], len(game.row_actions))
    y = _mixture("y", row["y"], len(game.column_actions))
    value = _number("value", row["value"])
    earned = [_dot(payoffs, y) for payoffs in game.payoffs]
    paid = [_dot(payoffs, x) for payoffs in zip(*game.payoffs, strict=True)]
    if _dot(earned, x) != value:
        raise _Refuted(f"value: x and y yield {_shown(_dot(earned, x))}, not {_shown(value)}")
    if max(earned) > value:
        best = game.row_actions[earned.index(max(earned))]
        raise _Refuted(f"not an equilibrium: {best} earns player 1 {_shown(max(earned))} against y, more than {_shown(value)}")
    if min(paid) < value:
        best = game.column_actions[paid.index(min(paid))]
        raise _Refuted(f"not an equilibrium: {best} costs player 2 {_shown(min(paid))} against x, less than {_shown(value)}")
    if before is not None and (x, y) >= before:
        raise _Refuted("repeats an earlier row, or stands in the wrong order")
    said = {
        "index": number,
        "x_support": _support(x, game.row_actions),
        "y_support": _support(y, game.column_actions),
        "value_float": _rounded(value),
    }
    for name, wanted in said.items():
        if type(row[name]) is not type(wanted) or row[name] != wanted:
            raise _Refuted(f"{name}: expected {wanted!r}, got {_clipped(row[name])}")
    _judge_outcomes(game, row, x, y)
    return x, y


def _judge_outcomes(game: MatrixGame, row: Mapping[str, Any], x: Mixture, y: Mixture) -> None:
    for name in ("win", "draw", "lose"):
        if game.outcomes is None:
            if row[name] is not None:
                raise _Refuted(f"{name}: expected null, for the game has no outcomes, got {_clipped(row[name])}")
            continue
        matrix: Matrix = getattr(game.outcomes, name)
        wanted = _dot([_dot(line, y) for line in matrix], x)
        if _number(name, row[name]) != wanted:
            raise _Refuted(f"{name}: x and y yield {_shown(wanted)}, not {_clipped(row[name])}")


def _mixture(name: str, said: Any, count: int) -> Mixture:
    if not isinstance(said, list) or len(said) != count:
        raise _Refuted(f"{name}: expected {count} probabilities, got {_clipped(said)}")
    mixture = [_number(name, text) for text in said]
    if min(mixture) < 0:
        raise _Refuted(f"{name}: a probability is negative: {_shown(min(mixture))}")
    if sum(mixture) != 1:
        raise _Refuted(f"{name}: probabilities sum to {_shown(sum(mixture, Fraction()))}")
    return mixture


def _number(name: str, text: Any) -> Fraction:
    """Read exact text, only as we write it: lowest terms, no needless signs, zeros or denominators."""
    if isinstance(text, str) and _EXACT.fullmatch(text):
        try:
            number = Fraction(text)
            if str(number) == text:
                return number
        except (ValueError, ZeroDivisionError):  # more digits than Python reads; nothing over nothing
            pass
    raise _Refuted(f"{name}: expected exact text in lowest terms, got {_clipped(text)}")


def _dot(left: tuple[Fraction, ...] | Mixture, right: Mixture) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction())


def _support(mixture: Mixture, actions: tuple[str, ...]) -> str:
    return "+".join(action for probability, action in zip(mixture, actions, strict=True) if probability)


def _rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _shown(number: Fraction) -> str:
    """Return a number for a reason, rounded where it is too long to read (or for Python to write)."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _SHOWN_BITS:
        return str(number)
    rounded = _rounded(number)
    return "a number beyond float64" if rounded is None else f"about {rounded!r}"


def _clipped(said: Any) -> str:
    text = repr(said)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 (a line)
