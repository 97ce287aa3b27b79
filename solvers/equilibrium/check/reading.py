"""Reading what a table says as strictly as it was written: exact text in lowest terms, mixtures that are mixtures."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from solvers.contract import Verdict
from solvers.forms import Matrix, MatrixGame

_EXACT = re.compile(r"-?[0-9]+(/[0-9]+)?")
_SHOWN_BITS = 200

Mixture = list[Fraction]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Check = Callable[[Any, Mapping[str, pa.Table]], Iterator[Verdict]]


class Refuted(Exception):
    """What is wrong with a row, or with a table."""


def judging(table: str) -> Callable[[Check], Check]:
    """Decorate a checker: a `Refuted` that it raises ends it and refutes the table as a whole."""

    def decorated(check: Check) -> Check:
        @functools.wraps(check)
        def judge(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
            try:
                yield from check(game, tables)
            except Refuted as wrong:
                yield Verdict(table, None, "refuted", str(wrong))

        return judge

    return decorated


# ---- a table, a cell -----------------------------------------------------------------------------------------------------------


def read_rows(tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a table.

    Raises
    ------
    Refuted
        If it is not there, lacks one of these columns or has one twice, or cannot be read.
    """
    if name not in tables:
        raise Refuted(f"there is no table {name}")
    table = tables[name]
    missing = [one for one in columns if table.column_names.count(one) != 1]
    if missing:
        raise Refuted(f"columns that should be there once are not: {', '.join(missing)}")
    try:
        rows: list[dict[str, Any]] = table.select(list(columns)).to_pylist()
    except (ValueError, OverflowError, pa.ArrowException) as error:  # broken text, dates out of range ...
        raise Refuted(f"cannot be read: {error}") from error
    return rows


def read_only_row(tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> dict[str, Any]:
    """Return the row of a table that should have one; raises as `read_rows` does."""
    rows = read_rows(tables, name, columns)
    if len(rows) != 1:
        raise Refuted(f"{name}: expected one row, got {len(rows)}")
    return rows[0]


def read_mixture(name: str, said: Any, count: int) -> Mixture:
    if not isinstance(said, list) or len(said) != count:
        raise Refuted(f"{name}: expected {count} probabilities, got {clipped(said)}")
    mixture = [read_number(name, text) for text in said]
    if min(mixture) < 0:
        raise Refuted(f"{name}: a probability is negative: {shown(min(mixture))}")
    if sum(mixture) != 1:
        raise Refuted(f"{name}: probabilities sum to {shown(sum(mixture, Fraction()))}")
    return mixture


def read_number(name: str, text: Any) -> Fraction:
    """Read exact text, only as we write it: lowest terms, no needless signs, zeros or denominators."""
    if isinstance(text, str) and _EXACT.fullmatch(text):
        try:
            number = Fraction(text)
            if str(number) == text:
                return number
        except (ValueError, ZeroDivisionError):  # more digits than Python reads; nothing over nothing
            pass
    raise Refuted(f"{name}: expected exact text in lowest terms, got {clipped(text)}")


# ---- what a row should say -----------------------------------------------------------------------------------------------------


def see_cells(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise unless these cells are what they should be, their types included."""
    for name, right in wanted.items():
        if type(row[name]) is not type(right) or row[name] != right:
            raise Refuted(f"{name}: expected {clipped(right)}, got {clipped(row[name])}")


def see_numbers(row: Mapping[str, Any], wanted: Mapping[str, Fraction], why: str = "x and y yield") -> None:
    """Raise unless these cells are the exact text of these numbers."""
    for name, right in wanted.items():
        said = read_number(name, row[name])
        if said != right:
            raise Refuted(f"{name}: {why} {shown(right)}, not {shown(said)}")


def see_outcomes(game: MatrixGame, row: Mapping[str, Any], x: Mixture, y: Mixture) -> None:
    """Raise unless `win`, `draw` and `lose` are what happens when x meets y, null in a game without outcomes."""
    names = ("win", "draw", "lose")
    if game.outcomes is None:
        see_cells(row, dict.fromkeys(names))
    else:
        see_numbers(row, {name: mean(getattr(game.outcomes, name), x, y) for name in names})


def mean(matrix: Matrix, x: Mixture, y: Mixture) -> Fraction:
    return dot([dot(line, y) for line in matrix], x)


def dot(left: tuple[Fraction, ...] | Mixture, right: Mixture) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction())


def support_of(mixture: Mixture, actions: tuple[str, ...]) -> str:
    return "+".join(action for probability, action in zip(mixture, actions, strict=True) if probability)


def rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


# ---- reasons -------------------------------------------------------------------------------------------------------------------


def shown(number: Fraction) -> str:
    """Return a number for a reason, rounded where it is too long to read (or for Python to write)."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _SHOWN_BITS:
        return str(number)
    nearest = rounded(number)
    return "a number beyond float64" if nearest is None else f"about {nearest!r}"


def clipped(said: Any) -> str:
    text = repr(said)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 (a line)


# ---- many at once --------------------------------------------------------------------------------------------------------------

_SHORT = r"^(?P<above>-?[0-9]{1,18})(?:/(?P<below>[0-9]{1,18}))?$"


def read_ratios(texts: pa.Array) -> tuple[Integers, Integers, Flags]:
    """Read exact texts as `read_number` does, those of at most 18 digits.

    Returns
    -------
    above, below, read
        Numerators and denominators, int64, and which texts were read; the others are 0/1.

    Examples
    --------
    >>> above, below, read = read_ratios(pa.array(["1/2", "-3", "2/4", "01", None, "1/1", "3/0"]))
    >>> above.tolist(), below.tolist()
    ([1, -3, 0, 0, 0, 0, 0], [2, 1, 1, 1, 1, 1, 1])
    >>> read.tolist()
    [True, True, False, False, False, False, False]
    """
    encoded = texts.dictionary_encode()  # the same few numbers come again and again
    known = pc.extract_regex(encoded.dictionary, _SHORT)
    fits = pc.is_valid(known)
    above = pc.if_else(fits, pc.struct_field(known, "above"), "0").cast(pa.int64())
    below_text = pc.struct_field(known, "below")
    is_whole = pc.equal(pc.fill_null(below_text, ""), "")
    below = pc.if_else(is_whole, "1", below_text).cast(pa.int64())
    written = pc.if_else(
        is_whole, above.cast(pa.string()), pc.binary_join_element_wise(above.cast(pa.string()), below.cast(pa.string()), "/")
    )
    p, q = above.to_numpy(zero_copy_only=False), below.to_numpy(zero_copy_only=False)
    as_we_write = pc.fill_null(pc.equal(written, encoded.dictionary), False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    whole = is_whole.to_numpy(zero_copy_only=False)
    read = fits.to_numpy(zero_copy_only=False) & as_we_write & (whole | ((q > 1) & (np.gcd(p, q) == 1)))
    place = pc.fill_null(encoded.indices, -1).to_numpy()  # a null reads the entry put last
    return np.append(np.where(read, p, 0), 0)[place], np.append(np.where(read, q, 1), 1)[place], np.append(read, False)[place]
