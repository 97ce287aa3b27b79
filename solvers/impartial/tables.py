"""The tables of heap games: `nimbers`, one row a heap, and `periods`, one row a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from solvers.forms import HeapGame
from solvers.schema import Strip, TableInfo, column, table_schema

AnyInts = np.ndarray[Any, np.dtype[np.integer[Any]]]

NIMBERS = table_schema(
    [
        column("n", pa.int64(), "counters in the heap", encoding="DELTA_BINARY_PACKED"),
        column("nimber", pa.int32(), "its nimber", encoding="BYTE_STREAM_SPLIT"),
    ],
    TableInfo(
        check="solvers.impartial.check:check_nimbers",
        claims="sampled",
        headline="none",
        pictures=(Strip("n", "nimber", row_length_from="periods.period", title="nimbers"),),
        exports={"bfile": "solvers.impartial.exports:bfile"},
        drawing="solvers.impartial.draw:growth",
        about=(
            "The nimber of every heap, one row a heap, from 0 on; no rows if they are not kept (keep_nimbers). Proved up to heap "
            "100,000, all of them where a period is proved within that, and where rare heaps are counted in periods: all are run "
            "again. Else those beyond are sampled: 64 of them are computed again."
        ),
    ),
)
PERIODS = table_schema(
    [
        column("code", pa.string(), "the game: its octal code, or its name where that is shorter"),
        column("status", pa.string(), "proved: periodic for ever; open: these heaps prove no period"),
        column("preperiod", pa.int64(), "least n0 with G(n + period) = G(n) for all n >= n0"),
        column("period", pa.int64(), "the least one"),
        column("last_exception", pa.int64(), "preperiod - 1; null if there is none"),
        column("max_nimber", pa.int32(), "largest nimber of the heaps 0 to heaps_done"),
        column("argmax", pa.int64(), "first heap that has it"),
        column("heaps_done", pa.int64(), "largest heap computed"),
        column("rare_count", pa.int64(), "rare heaps among 1 to heaps_done, by mask and parity; null if none were told"),
        column("last_rare", pa.int64(), "the largest of them; null if there is none"),
        column("mask", pa.int32(), "heap n is rare if its nimber has an even number of bits in the mask"),
        column(
            "parity", pa.int8(), "t, where instead heap n is rare if that number and n + t are both even or both odd; else null"
        ),
        column(
            "proof",
            pa.string(),
            "the theorem used: guy_smith, guy_smith_no_breaking (solvers.impartial.periods) or window (solvers.impartial.window)",
        ),
        column(
            "certificate",
            pa.string(),
            "its window as JSON: G(n + p) = G(n) was compared for all n in from..to; with window, a hash of all nimbers",
        ),
    ],
    TableInfo(
        check="solvers.impartial.check:check_periods",
        claims="sampled",
        headline="each",
        columns=("code", "status", "period", "preperiod", "max_nimber", "heaps_done", "rare_count", "last_rare", "proof"),
        about=(
            "Whether the nimbers are periodic, with the window that proves it; one row. A period is proved, and so is that these "
            "heaps prove none: all nimbers are computed again, to 100,000 heaps, and where rare heaps are counted to some 400 "
            "million. Only a row that counts none and is not decided by then is sampled, as its nimbers are, or one that says open "
            "of what another proof would prove. Each verdict says whether the row agrees with what is published."
        ),
    ),
)


class Proved(Protocol):
    """A proved least period, whatever the proof."""

    @property
    def preperiod(self) -> int: ...
    @property
    def period(self) -> int: ...
    @property
    def last_exception(self) -> int | None: ...
    @property
    def proof(self) -> str: ...

    def certificate(self) -> str:
        """Return the proof as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Rares:
    """What `periods` says of the rare heaps up to the last one computed."""

    rare_count: int
    last_rare: int | None
    mask: int
    parity: int | None


def nimbers_table(nimbers: AnyInts) -> pa.Table:
    """Return `nimbers` of the heaps 0, 1, ...; without any, the table without rows."""
    return pa.table([pa.array(np.arange(len(nimbers))), pa.array(nimbers.astype(np.int32, copy=False))], schema=NIMBERS)


def periods_table(
    game: HeapGame, found: Proved | None, *, max_nimber: int, argmax: int, heaps_done: int, rares: Rares | None = None
) -> pa.Table:
    """Return the one row of `periods`."""
    row = {
        "code": game.code,
        "status": "proved" if found else "open",
        "preperiod": found.preperiod if found else None,
        "period": found.period if found else None,
        "last_exception": found.last_exception if found else None,
        "max_nimber": max_nimber,
        "argmax": argmax,
        "heaps_done": heaps_done,
        "rare_count": rares.rare_count if rares else None,
        "last_rare": rares.last_rare if rares else None,
        "mask": rares.mask if rares else None,
        "parity": rares.parity if rares else None,
        "proof": found.proof if found else None,
        "certificate": found.certificate() if found else None,
    }
    return pa.Table.from_pylist([row], schema=PERIODS)
