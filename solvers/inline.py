"""Solving in this process: from a notebook, in tests, and inside every worker of the pipeline."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from solvers.contract import Event, Result, Workers
from solvers.errors import ContractError, ImpossiblePairing
from solvers.identity import lineage, lineage_rng
from solvers.schema import conform

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """A shared value that never left the process."""

    value: T

    def get(self) -> T:
        return self.value

    def release(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class InlineWorkers:
    """No workers at all: everything happens here, in order."""

    def share(self, value: T) -> Held[T]:
        return Held(value)

    def map(self, fn: Callable[[T], R], items: Iterable[T], ahead: int | None = None) -> Iterator[R]:
        return map(fn, items)


def refusal(game: Any, solver: Any) -> str | ImpossiblePairing | None:
    """Say why this game and this solver cannot meet; None if they can. Cheap: no form is built.

    An error instead of text names the setting at fault, `solver.x` or `game.x`.
    """
    takes = type(solver).takes
    if takes not in type(game).gives:
        forms = ", ".join(form.__name__ for form in type(game).gives)
        return f"{type(solver).__name__} takes a {takes.__name__}, {type(game).__name__} gives {forms}"
    for group, one, asked in (("game", game, takes), ("solver", solver, game)):
        refuses = getattr(one, "refuses", None)
        reason: str | ImpossiblePairing | None = refuses(asked) if refuses is not None else None
        if reason is not None:
            return reason.under(group) if isinstance(reason, ImpossiblePairing) else reason
    return None


def solve(game: Any, solver: Any, seed: int = 0, *, workers: Workers | None = None) -> Result:
    """Solve one point here and return its result: the same tables as a sweep stores, without `point`.

    Raises
    ------
    ImpossiblePairing
        If the solver does not take what the game gives.
    SolverError
        If the point cannot be solved.
    ContractError
        If the solver breaks the contract.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.octal import Octal
    >>> from solvers.impartial.mex_dp import MexDp
    >>> kayles = solve(make(Octal, code="0.77"), MexDp(heap_limit=1000))
    >>> kayles.tables["periods"].select(["preperiod", "period"]).to_pylist()
    [{'preperiod': 71, 'period': 12}]
    """
    reason = refusal(game, solver)
    if isinstance(reason, ImpossiblePairing):
        raise reason
    if reason is not None:
        raise ImpossiblePairing("solver", "one that takes this game", type(solver).__name__, reason)
    return last_result(
        start(game.form(type(solver).takes), solver, lineage(game, solver, seed), workers or InlineWorkers()), solver
    )


def start(form: Any, solver: Any, lineage_hash: str, workers: Workers, resume: Any = None) -> Iterator[Event]:
    """Return the event generator of a solve: fresh, or going on from `resume`, a `(Checkpoint, rng)` pair."""
    checkpoint, rng = (None, lineage_rng(lineage_hash)) if resume is None else resume
    events: Iterator[Event] = solver.solve(form, resume=checkpoint, workers=workers, rng=rng)
    return events


def last_result(events: Iterable[Event], solver: Any) -> Result:
    """Run events to their end and return the one result, its tables checked against the declared schemas."""
    results = deque((event for event in events if isinstance(event, Result)), maxlen=2)
    if len(results) != 1:
        raise ContractError(f"{type(solver).__name__} yielded {len(results) or 'no'} results, wanted exactly one")
    return conforming(results[0], solver)


def conforming(result: Result, solver: Any, extra: tuple[Any, ...] = ()) -> Result:
    """Return the result with its tables exactly as declared (`extra` fields in front, for batches).

    Raises
    ------
    ContractError
        If tables are missing, undeclared, or of another schema.
    """
    declared = type(solver).tables
    if result.tables.keys() != declared.keys():
        raise ContractError(f"{type(solver).__name__} declares tables {sorted(declared)}, delivered {sorted(result.tables)}")
    tables = {}
    for name, schema in declared.items():
        for one in reversed(extra):
            schema = schema.insert(0, one)  # noqa: PLW2901
        tables[name] = conform(result.tables[name], schema, name)
    return Result(tables, result.metrics, result.complete)
