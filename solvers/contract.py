"""The contract between games, solvers, checkers and whoever runs them: the small frozen core.

A game gives a *form*, a solver takes one; games and solvers meet only there. A solver opens no file, reads no clock, sets up no
logging: it yields events, and whoever runs it decides what to keep.

Rules
-----
1. Games and solvers are frozen dataclasses; their fields are their YAML. A built object is valid (`__post_init__` refuses).
2. `Solver.solve` yields any number of `Progress` and `Checkpoint` events and then exactly one `Result`, and ends.
3. Arrays in a checkpoint may be live buffers, valid until the next `next()`. Who keeps one copies it, and keeps the whole
   generator `rng` with it (pickled: the bit generator's state alone forgets how many children were spawned).
4. A checkpoint holds everything that is needed to go on, rows found so far included. Its `step` counts in units of the field
   named by `extent`. A solver with an `extent` yields a checkpoint at its end, so that a larger extent can go on from there.
5. `Stop` may be thrown in at any yield. A solver that has something to say catches it and yields `Result(complete=False)`.
6. Same configuration and seed, same tables: on one worker, on many, after a resume at any checkpoint. Columns marked `effort`
   are exempt (see `solvers.schema`).
7. Complete means: did what its fields ask. Only time, memory and `max_*` budgets make it false.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from solvers.errors import UntrustedCode

F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)
T = TypeVar("T")
R = TypeVar("R")
V_co = TypeVar("V_co", covariant=True)

Grade = Literal["proved", "recomputed", "sampled", "unchecked", "refuted"]
GRADES: tuple[Grade, ...] = ("proved", "recomputed", "sampled", "unchecked", "refuted")
"""From best to worst. `proved`: a stored certificate implies the claim and was verified, or the claim was recomputed completely
and exactly by code that shares no method with the solver. `recomputed`: the same in floating point, within a stated tolerance.
`sampled`: parts were recomputed."""


# ---- events -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a solve is: `done` of `total` (None: nobody knows), in the solver's own unit, and named numbers worth a curve."""

    done: int
    total: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that is needed to go on from here; see rules 3 and 4."""

    step: int
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Result:
    """What a solver delivers, once, at the end.

    `tables` has exactly the names of `Solver.tables`, each with that schema. Of `solve_batch`, every table has a further int32
    column `batch_index` (first), and `metrics` and `complete` are arrays, one entry a game.
    """

    tables: Mapping[str, pa.Table]
    metrics: Mapping[str, Any] = field(default_factory=dict)
    complete: Any = True


Event = Progress | Checkpoint | Result


class Stop(Exception):
    """Thrown into a solver at a yield: time is nearly up, say what you have."""


# ---- games, solvers, workers -------------------------------------------------------------------------------------------------


class Game(Protocol):
    """Rules plus parameters.

    Optional: `refuses(kind) -> str | ImpossiblePairing | None`, cheap, says why this instance cannot give that form (see `Solver`);
    `exports`, a class variable, file formats by name, each a function `game -> text` (`minimex export`), which raises
    `InfeasibleGame` where this instance has none.

    A form's class may say `built_once = True`: building it takes longer than shipping it, so that a sweep builds it once a game.
    """

    version: ClassVar[int]
    gives: ClassVar[tuple[type, ...]]

    def form(self, kind: type[F]) -> F:
        """Return the game as that form; `kind` is one of `gives`."""
        ...


class Solver(Protocol[F_contra]):
    """A method plus settings.

    Optional: `refuses(game) -> str | ImpossiblePairing | None`, cheap, says why these settings cannot take that game (asked before
    anything runs), as text, or, if one setting is at fault, as an error whose path names it ("x");
    `solve_batch(games, rngs) -> Result` solves many small games in one call and gives what `solve` gives for each, but no
    checkpoint: with an `extent` it raises `InfeasibleGame` for games of more than a moment, which are then solved one by one;
    `cost(game) -> float` estimates seconds, for ordering only, from the game (not its form).
    """

    version: ClassVar[int]
    takes: ClassVar[type]
    tables: ClassVar[Mapping[str, pa.Schema]]
    extent: ClassVar[str | None]

    def solve(self, game: F_contra, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield events, last the one `Result`."""
        ...


class Shared(Protocol[V_co]):
    """A picklable handle to a big value that was shipped once."""

    def get(self) -> V_co:
        """Return the value; cheap after the first call in a process."""
        ...

    def release(self) -> None:
        """Say that nobody will call `get` any more."""
        ...


class Workers(Protocol):
    """How one big solve uses many cores. It never says how many there are: answers must not depend on it."""

    def share(self, value: T) -> Shared[T]:
        """Ship a big value once; pass the handle to `map`'s function through its items or `functools.partial`."""
        ...

    def map(self, fn: Callable[[T], R], items: Iterable[T], ahead: int | None = None) -> Iterator[R]:
        """Yield `fn(item)` in item order, lazily.

        `fn` is a pure module-level function (or a `functools.partial` of one): it may run twice. At most `ahead` items are
        taken from `items` before their results are asked for.
        """
        ...


# ---- verdicts ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verdict:
    """A checker's judgement of one finding, or of `count` findings in a row.

    `row` counts from 0 within the point's rows of `table`; None judges the table as a whole (a row is missing, say). A checker
    is `check(game, tables) -> Iterator[Verdict]`, its tables without the column `point`; rows it passes over are `unchecked`.
    Beside it may stand `<check>_batch(games, tables) -> Iterator[tuple[int, Verdict]]` for thousands of small points, its tables
    with `batch_index` first: it yields a game's place with each verdict, and nothing of a game that `check` itself shall judge.
    """

    table: str
    row: int | None
    grade: Grade
    reason: str = ""
    count: int = 1


# ---- sweeps as a whole -------------------------------------------------------------------------------------------------------


class Summary:
    """A function that sums up a sweep, `(points, tables) -> tables without a column point`, and what its tables are.

    `points` has one row a point: `point`, its parameters by dotted name, `status`, `metrics` (JSON) and `wall_s`, the seconds it
    took. `tables` holds the sweep's tables by name, their column `point` first, rows in the order of points. The same rows must
    give the same tables: `minimex verify` calls it again and compares. Made by `summarises`.
    """

    def __init__(self, function: Callable[..., Mapping[str, pa.Table]], tables: Mapping[str, pa.Schema]) -> None:
        self.tables = types.MappingProxyType(dict(tables))
        self.__wrapped__ = function

    def __call__(self, *given: Any, **arguments: Any) -> Mapping[str, pa.Table]:
        return self.__wrapped__(*given, **arguments)


def summarises(**tables: pa.Schema) -> Callable[[Callable[..., Mapping[str, pa.Table]]], Summary]:
    """Mark a function as a `Summary` whose tables, by name, have these schemas."""
    return lambda function: Summary(function, tables)


# ---- field types -------------------------------------------------------------------------------------------------------------


class FrozenMap(Mapping[str, V_co]):
    """A hashable, picklable mapping with text keys in sorted order: what map-valued fields become.

    Examples
    --------
    >>> FrozenMap({"b": 1, "a": 2})
    FrozenMap({'a': 2, 'b': 1})
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, V_co]) -> None:
        self._items: dict[str, V_co] = dict(sorted(items.items()))

    def __getitem__(self, key: str) -> V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenMap) and self._items == other._items

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"


@dataclass(frozen=True, slots=True)
class File:
    """An input file, already read. In YAML it is a path; what identifies it is its content."""

    data: bytes
    name: str = field(default="", compare=False)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """A user's class, `file.py:Class` in YAML: identified by the file's content, run only if trusted.

    Whoever asks for a solve trusts the file he names; `verify` of somebody's directory does not, unless told to.
    """

    code: bytes
    class_name: str
    name: str = field(default="", compare=False)
    trusted: bool = field(default=False, compare=False)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.code).hexdigest()

    def load(self) -> type:
        """Run the file and return its class.

        Raises
        ------
        UntrustedCode
            If nobody trusted it.
        AttributeError, SyntaxError, TypeError, ...
            Whatever the file does.
        """
        if not self.trusted:
            raise UntrustedCode(
                self.name or "source", "trusted code", f"{self.class_name} of a file in this directory", "trust=[source] runs it"
            )
        module = types.ModuleType(f"minimex_source_{self.sha256[:16]}")
        exec(compile(self.code, self.name or "<source>", "exec"), module.__dict__)  # noqa: S102 (trusted by its user)
        loaded = getattr(module, self.class_name)
        if not isinstance(loaded, type):
            raise TypeError(f"{self.class_name} in {self.name} is not a class")
        return loaded
