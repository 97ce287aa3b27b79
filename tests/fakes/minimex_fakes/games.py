"""`Beads`: a string of numbers. Its form is the plain sequence. `Pearls`: the same, in a form that is costly to build."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from solvers.contract import File, Source
from solvers.errors import ConfigError, InfeasibleGame


@dataclass(frozen=True, slots=True)
class Sequence:
    """The form: numbers, read round and round."""

    values: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Beads:
    """Numbers from the fields, from a file (one a line) and from a user's class (its `values()`)."""

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (Sequence,)

    values: tuple[Fraction, ...] = ()
    file: File | None = None
    source: Source | None = None
    seed: int = 0
    refused: bool = False

    def __post_init__(self) -> None:
        for place, value in enumerate(self.values):
            if value < 0:
                raise ConfigError(f"values[{place}]", "a number of at least 0", str(value))

    def refuses(self, kind: type) -> str | None:
        return "this instance refuses on purpose" if self.refused else None

    def form(self, kind: type) -> Any:
        values = list(self.values)
        if self.file is not None:
            values += [Fraction(line) for line in self.file.data.decode().split()]
        if self.source is not None:
            values += [Fraction(value) for value in self.source.load()().values()]
        return kind(tuple(values) or (Fraction(1),))


@dataclass(frozen=True, slots=True)
class Shell:
    """A form that says it is costly to build."""

    built_once: ClassVar[bool] = True

    values: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Pearls:
    """Numbers whose form takes a while; each time it is built, the process that does it is noted in a file."""

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (Shell,)

    values: tuple[Fraction, ...] = (Fraction(1),)
    note: str = ""
    fails: bool = False

    def form(self, kind: type) -> Any:
        if self.note:
            with Path(self.note).open("a") as file:
                file.write(f"{os.getpid()}\n")
        if self.fails:
            raise InfeasibleGame("no pearls in it")
        return kind(self.values)
