"""Strategies on a game tree as somebody hands them in: a CSV or Parquet file in the columns of the table `strategies`.

Columns: `player`, `infoset`, `action`, and `probability` (exact text such as 1/3 or 0.25, or a float) or `probability_float`, which
counts where `probability` is empty. Further columns do not matter, but `point`, if it is there, must be the same in all rows.

A float is the binary fraction it is. Where the probabilities of an information set sum to 1 within 1e-9 but not exactly, the
likeliest action takes the difference; so denominators stay powers of two, and exact answers short.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from solvers.builder import read_exact
from solvers.contract import File
from solvers.errors import ConfigError, did_you_mean
from solvers.forms import GameTree

TOLERANCE = Fraction(1, 10**9)

_MAGIC = b"PAR1"
_NAMES = ("player", "infoset", "action")
_PROBABILITIES = ("probability", "probability_float")

Slot = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class Given:
    """Probabilities by player, information set and action, as the file has them."""

    probabilities: Mapping[Slot, Fraction]

    def misfit(self, tree: GameTree) -> str | None:
        """Say what keeps these from being strategies on the tree; None if nothing does."""
        wanted = _slots(tree)
        missing = next((slot for slot in wanted if slot not in self.probabilities), None)
        if missing is not None:
            return f"the file has no probability for player {missing[0]} at {missing[1]!r} of the action {missing[2]!r}"
        known = set(wanted)
        unknown = next((slot for slot in self.probabilities if slot not in known), None)
        if unknown is not None:
            player, infoset, action = unknown
            hint = did_you_mean(infoset, {one[1] for one in wanted if one[0] == player})
            return f"the game has no action {action!r} of player {player} at {infoset!r} ({hint})"
        for infoset, slots in _sets(tree):
            off = abs(sum((self.probabilities[slot] for slot in slots), Fraction()) - 1)
            if off > TOLERANCE:
                return f"the probabilities of player {slots[0][0]} at {infoset!r} miss 1 by {float(off):g}, more than 1e-9"
        return None

    def strategies(self, tree: GameTree) -> tuple[list[Fraction], int]:
        """Return a probability for each slot, exact, and at how many sets the likeliest action took what was missing to 1."""
        numbers: list[Fraction] = []
        adjusted = 0
        for _, slots in _sets(tree):
            there = [self.probabilities[slot] for slot in slots]
            off = 1 - sum(there, Fraction())
            if off:
                adjusted += 1
                there[there.index(max(there))] += off
            numbers += there
        return numbers, adjusted


@lru_cache(maxsize=4)
def read(file: File) -> Given:
    """Read a file.

    Raises
    ------
    ConfigError
        With the row; its path is empty.

    Examples
    --------
    >>> read(File(b"player,infoset,action,probability\\n1,J,bet,1/3\\n1,J,pass,2/3")).probabilities[1, "J", "pass"]
    Fraction(2, 3)
    """
    found: dict[tuple[Any, Slot], Fraction] = {}
    for number, row in enumerate(_parquet_rows(file.data) if file.data.startswith(_MAGIC) else _csv_rows(file.data), 1):
        point, slot = row.get("point"), _slot(number, row)
        if (point, slot) in found:
            raise ConfigError("", "each action of an information set once", f"row {number}: {slot} again")
        found[point, slot] = _probability(number, row)
    if not found:
        raise ConfigError("", "a file with a row for each action", "no row")
    points = {point for point, _ in found}
    if len(points) > 1:
        raise ConfigError("", "the strategies of one point", f"those of {len(points)} points", "keep the rows of one")
    return Given({slot: probability for (_, slot), probability in found.items()})


def uniform(tree: GameTree) -> list[Fraction]:
    """Return strategies that play all actions alike, a probability for each slot."""
    return [Fraction(1, len(actions)) for actions in tree.actions for _ in actions]


# ---- files -------------------------------------------------------------------------------------------------------------------


def _parquet_rows(data: bytes) -> list[dict[str, Any]]:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        names = file.schema_arrow.names
        _refuse_columns(names)
        rows: list[dict[str, Any]] = file.read([one for one in (*_NAMES, *_PROBABILITIES, "point") if one in names]).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError("", "a Parquet or CSV file", str(error)) from error
    return rows


def _csv_rows(data: bytes) -> Iterator[dict[str, Any]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("", "a Parquet file, or a CSV file in UTF-8", str(error)) from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        _refuse_columns(reader.fieldnames or [])
        yield from reader
    except csv.Error as error:
        raise ConfigError("", "a CSV file", f"line {reader.line_num}: {error}") from error


def _refuse_columns(names: Any) -> None:
    missing = [one for one in _NAMES if one not in names]
    if missing or not set(_PROBABILITIES) & set(names):
        wanted = "the columns player, infoset, action and probability (or probability_float)"
        raise ConfigError("", wanted, ", ".join(map(str, names)) or "none")


def _slot(number: int, row: Mapping[str, Any]) -> Slot:
    player, infoset, action = (row[name] for name in _NAMES)
    if str(player) not in {"1", "2"}:
        raise ConfigError("", "player 1 or 2", f"row {number}: {player!r}")
    if not isinstance(infoset, str) or not isinstance(action, str):
        raise ConfigError("", "texts for infoset and action", f"row {number}: {infoset!r}, {action!r}")
    return int(player), infoset, action


def _probability(number: int, row: Mapping[str, Any]) -> Fraction:
    said = next((row[name] for name in _PROBABILITIES if row.get(name) not in {None, ""}), None)
    exact = _exact(said, is_float=row.get("probability") in {None, ""})
    if exact is None or not 0 <= exact <= 1 + TOLERANCE:
        raise ConfigError("", "a probability, such as 1/3 or 0.25", f"row {number}: {said!r}")
    return exact


def _exact(said: Any, *, is_float: bool) -> Fraction | None:
    if isinstance(said, str):
        exact = read_exact(said)
        return Fraction(float(exact)) if is_float and exact is not None and abs(exact) <= 2 else exact  # noqa: PLR2004
    if isinstance(said, int | float) and not isinstance(said, bool) and math.isfinite(said):
        return Fraction(said)
    return None


# ---- trees -------------------------------------------------------------------------------------------------------------------


def _sets(tree: GameTree) -> Iterator[tuple[str, list[Slot]]]:
    for player, infoset, actions in zip(tree.infoset_player.tolist(), tree.infoset_names, tree.actions, strict=True):
        yield infoset, [(player, infoset, action) for action in actions]


def _slots(tree: GameTree) -> list[Slot]:
    return [slot for _, slots in _sets(tree) for slot in slots]
