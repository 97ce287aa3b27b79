"""A catalogue of heap games: which are proved periodic, which stay open, which have one sequence; the functions of its sweep.

Rounds
------
1. `codes`: the games, all solved by `triage` to one limit.
2. `promote`: games of one sequence (equal digests to that limit) stand behind the first of them. It is searched further, `factor`
   times as far a round, as long as no period is proved and its rare heaps look dead (none in the second half of the heaps
   computed) or are few (one in `FEW`). Where many go on coming nobody has ever found a period, and each further heap is dear.
3. Once the first is proved, the others of its sequence are searched as far: equal beginnings prove nothing, each game gets a
   proof of its own.

`catalogue` sums up, one row a game; "open" says that the heaps computed prove no period, nothing more.

References
----------
R. K. Guy, C. A. B. Smith (1956); Winning Ways (1982), chapter 4, table 7; A. Flammenkamp's pages on octal games, whose tables
have the same columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from solvers.contract import summarises
from solvers.schema import TableInfo, column, table_schema

OCTAL = 8
FEW = 32

CATALOGUE = table_schema(
    [
        column("code", pa.string(), "the game"),
        column("same_as", pa.string(), "the first game with the same nimbers, as far as triage went; null: this is the first"),
        column("status", pa.string(), "proved: periodic for ever; open: the heaps computed prove no period"),
        column("period", pa.int64(), "the least one"),
        column("preperiod", pa.int64(), "the heap from which it holds"),
        column("max_nimber", pa.int32(), "largest nimber of the heaps computed"),
        column("rares", pa.int64(), "rare heaps among them"),
        column("last_rare", pa.int64(), "the largest rare heap"),
        column("heaps", pa.int64(), "largest heap computed"),
        column("proof", pa.string(), "which theorem"),
        column("beginning", pa.list_(pa.int32()), "nimbers of the heaps 0, 1, ..."),
    ],
    TableInfo(
        columns=("code", "same_as", "status", "period", "preperiod", "max_nimber", "rares", "last_rare", "heaps", "proof"),
        drawing="solvers.impartial.draw:wall",
        about="Every game of the catalogue, open ones first, then in the order of codes.",
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one game: the best row of `periods`, and its row of `sequences`."""

    code: str
    best: Mapping[str, Any]
    sequence: Mapping[str, Any] | None
    complete: bool

    @property
    def proved(self) -> bool:
        return bool(self.best["status"] == "proved")

    @property
    def promising(self) -> bool:
        """Say whether rare heaps look dead or are few; not where nobody told them."""
        rares, heaps = self.best["rare_count"], self.best["heaps_done"]
        return rares is not None and (2 * (self.best["last_rare"] or 0) < heaps or FEW * rares < heaps)


def codes(*, digits: int = 3, begin: int = 1, end: int | None = None, shorter: bool = True) -> list[dict[str, Any]]:
    """Return the codes 0.d1d2... with so many digits as one entry of a sweep.

    Parameters
    ----------
    begin, end
        The digits as a number in base 8: 0.077 is 63; both ends in, None: to the last. A part of the catalogue is a range of them.
    shorter
        Whether codes that end in 0 are in: those of fewer digits.

    Raises
    ------
    ValueError
        If there are no such codes.

    Examples
    --------
    >>> codes(digits=2, begin=6, end=9)
    [{'game.code': ['0.06', '0.07', '0.1', '0.11']}]
    >>> len(codes()[0]["game.code"]), len(codes(digits=4, shorter=False)[0]["game.code"])
    (511, 3584)
    """
    last = OCTAL**digits - 1 if end is None else end
    if not 1 <= begin <= last < OCTAL**digits:
        raise ValueError(f"1 <= begin <= end < {OCTAL**digits} wanted, {begin} and {last} found")
    numbers = [number for number in range(begin, last + 1) if shorter or number % OCTAL]
    return [{"game.code": [f"0.{number:0{digits}o}".rstrip("0") for number in numbers]}]


def promote(
    points: pa.Table, tables: Mapping[str, pa.Table], *, most_heaps: int, factor: int = 8, solver: str = "period_search"
) -> list[dict[str, Any]]:
    """Return the searches of the next round: one entry a limit.

    Parameters
    ----------
    most_heaps
        Nobody is searched further.
    factor
        How many times as far a round goes as the one before.
    solver
        By which method.

    Raises
    ------
    ValueError
        If a round would go no further.
    """
    if factor < 2:  # noqa: PLR2004 (once as far is no further)
        raise ValueError(f"factor: at least 2 wanted, {factor} found")
    limits: dict[int, list[str]] = {}
    for alike in _by_sequence(_entries(points, tables)):
        first, *others = alike
        if not any(entry.proved for entry in alike):
            if first.complete and first.promising and first.best["heaps_done"] < most_heaps:
                limits.setdefault(min(most_heaps, factor * first.best["heaps_done"]), []).append(first.code)
            continue
        far = min(most_heaps, max(entry.best["heaps_done"] for entry in alike if entry.proved))
        for entry in others:
            if not entry.proved and entry.best["heaps_done"] < far:
                limits.setdefault(far, []).append(entry.code)
    return [{"solver": solver, "solver.heap_limit": limit, "game.code": found} for limit, found in sorted(limits.items())]


@summarises(catalogue=CATALOGUE)
def catalogue(points: pa.Table, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return one row a game."""
    rows = []
    for first, *others in _by_sequence(_entries(points, tables)):
        rows += [_row(first, None), *(_row(entry, first.code) for entry in others)]
    rows.sort(key=lambda row: (row["status"] == "proved", row["code"]))
    return {"catalogue": pa.Table.from_pylist(rows, schema=CATALOGUE)}


def _row(entry: Entry, same_as: str | None) -> dict[str, Any]:
    best = entry.best
    return {
        **{name: best[name] for name in ("code", "status", "period", "preperiod", "max_nimber", "last_rare", "proof")},
        "same_as": same_as,
        "rares": best["rare_count"],
        "heaps": best["heaps_done"],
        "beginning": None if entry.sequence is None else entry.sequence["beginning"],
    }


def _by_sequence(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return games of one sequence together, in the order of their first ones; one without a digest is alone."""
    alike: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries:
        said = entry.sequence
        key = (said["heaps_done"], said["digest"]) if said is not None else (entry.code,)
        alike.setdefault(key, []).append(entry)
    return list(alike.values())


def _entries(points: pa.Table, tables: Mapping[str, pa.Table]) -> list[Entry]:
    """Return the games that have a row in `periods`, in the order of codes."""
    status = dict(zip(points["point"].to_pylist(), points["status"].to_pylist(), strict=True))
    periods = tables["periods"].to_pylist() if "periods" in tables else []
    sequences = {one["code"]: one for one in tables["sequences"].to_pylist()} if "sequences" in tables else {}
    best: dict[str, dict[str, Any]] = {}
    for one in periods:
        if one["code"] not in best or _worth(one) > _worth(best[one["code"]]):
            best[one["code"]] = one
    return [Entry(code, one, sequences.get(code), status.get(one["point"]) == "done") for code, one in sorted(best.items())]


def _worth(row: Mapping[str, Any]) -> tuple[bool, int]:
    """Rank rows of one game: a proof first, then whoever went further; of two proofs the shorter."""
    proved = row["status"] == "proved"
    return proved, -row["heaps_done"] if proved else row["heaps_done"]
