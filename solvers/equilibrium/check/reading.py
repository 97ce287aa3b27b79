"""Reading what a table says as strictly as it was written: exact text in lowest terms, mixtures that are mixtures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

_EXACT = re.compile(r"-?[0-9]+(/[0-9]+)?")
_SHOWN_BITS = 200

Mixture = list[Fraction]


class Refuted(Exception):
    """What is wrong with a row."""


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


def dot(left: tuple[Fraction, ...] | Mixture, right: Mixture) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction())


def support_of(mixture: Mixture, actions: tuple[str, ...]) -> str:
    return "+".join(action for probability, action in zip(mixture, actions, strict=True) if probability)


def rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def shown(number: Fraction) -> str:
    """Return a number for a reason, rounded where it is too long to read (or for Python to write)."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _SHOWN_BITS:
        return str(number)
    nearest = rounded(number)
    return "a number beyond float64" if nearest is None else f"about {nearest!r}"


def clipped(said: Any) -> str:
    text = repr(said)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 (a line)
