"""`Beads`: a string of numbers. Its form is the plain sequence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from solvers.contract import File, Source
from solvers.errors import ConfigError


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
