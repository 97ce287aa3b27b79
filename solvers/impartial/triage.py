"""What kind of sequence has this heap game? Its nimbers to a limit in few words: period, digest, beginning; one game of thousands.

The nimbers are those of `sparse_space`; they are not kept. Games whose digests agree have the same nimbers as far as computed, the
whole sequence compared from heap 0 on (shifts of one another are told apart). That says nothing of larger heaps: 0.161 and 0.36
agree to heap 518 and differ at 519.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, Game, Result, Stop, Workers
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.impartial.sparse_space import SparseSpace
from solvers.impartial.tables import PERIODS
from solvers.schema import TableInfo, column, table_schema

MOST_HEAPS = 100_000
"""As far as the checker recomputes whole sequences."""
BEGINNING = 32

SEQUENCES = table_schema(
    [
        column("code", pa.string(), "the game"),
        column("heaps_done", pa.int64(), "largest heap of the digest"),
        column("digest", pa.string(), "blake2b, 16 bytes, of the nimbers of the heaps 0 to heaps_done, each 4 bytes, least first"),
        column("beginning", pa.list_(pa.int32()), "nimbers of the heaps 0, 1, ..., at most 32 of them"),
    ],
    TableInfo(
        check="solvers.impartial.check:check_sequences",
        claims="proved",
        headline="none",
        about="The nimbers as a whole: equal digests, equal nimbers to heaps_done. One row.",
    ),
)


@dataclass(frozen=True, slots=True)
class Triage:
    """Compute the nimbers of all heaps up to a limit and tell them in two rows.

    Parameters
    ----------
    heap_limit
        Largest heap computed, 0 to 100,000.

    Raises
    ------
    ConfigError
        If the limit is out of range.

    Notes
    -----
    The time of `SparseSpace`: all 511 games 0.abc to 32,768 heaps take half a minute on one core. Memory 14 bytes a heap.

    Examples
    --------
    >>> from solvers import solve
    >>> from solvers.games.octal import Octal
    >>> one, other = (solve(Octal(code), Triage(1000)).tables["sequences"].to_pylist()[0] for code in ("0.26", "0.27"))
    >>> one["beginning"][:8], one["digest"] == other["digest"]
    ([0, 0, 1, 2, 3, 0, 1, 2], True)
    """

    heap_limit: int = 32_768

    version: ClassVar[int] = 1
    takes: ClassVar[type] = HeapGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"periods": PERIODS, "sequences": SEQUENCES}
    extent: ClassVar[str | None] = "heap_limit"

    def __post_init__(self) -> None:
        if not 0 <= self.heap_limit <= MOST_HEAPS:
            raise ConfigError("heap_limit", f"0 to {MOST_HEAPS}", repr(self.heap_limit), "solver=sparse_space goes further")

    def refuses(self, game: Game) -> str | None:
        """Say why the method cannot take this game, if so."""
        refuses: Callable[[Game], str | None] | None = getattr(self._method, "refuses", None)
        return None if refuses is None else refuses(game)

    def cost(self, game: Game) -> float:
        """Estimate seconds, for ordering only."""
        return self._method.cost(game)

    @property
    def _method(self) -> SparseSpace:
        return SparseSpace(self.heap_limit, keep_nimbers=True)

    def solve(self, game: HeapGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield what `SparseSpace` yields, and the result in few words."""
        events = cast("Generator[Event, None, None]", self._method.solve(game, resume=resume, workers=workers, rng=rng))
        event = next(events)
        while not isinstance(event, Result):
            try:
                yield event
            except Stop as stop:
                event = events.throw(stop)
            else:
                event = next(events)
        tables = {"periods": event.tables["periods"], "sequences": _sequences(game, event.tables["nimbers"]["nimber"].to_numpy())}
        yield Result(tables, event.metrics, event.complete)


def _sequences(game: HeapGame, nimbers: np.ndarray) -> pa.Table:
    digest = hashlib.blake2b(nimbers.astype("<i4").tobytes(), digest_size=16).hexdigest()
    row = {"code": game.code, "heaps_done": len(nimbers) - 1, "digest": digest, "beginning": nimbers[:BEGINNING].tolist()}
    return pa.Table.from_pylist([row], schema=SEQUENCES)
