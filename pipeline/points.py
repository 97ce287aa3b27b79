"""A point: one game, one solver, one seed, every value filled in."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from solvers.identity import canonical, config_text, digest, lineage_of


@dataclass(frozen=True, slots=True)
class Chosen:
    """The game or the solver of points: its name, the object, its canonical text, the values it was given by dotted name."""

    name: str | None
    value: Any
    text: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Point:
    """One (game, solver, seed); its hash is its identity.

    A sweep may have a million: what can be told from the parts, which points share, is told when it is asked for.
    """

    hash: str
    chosen_game: Chosen = field(compare=False)
    chosen_solver: Chosen = field(compare=False)
    seed: int = field(compare=False)

    @property
    def game(self) -> Any:
        return self.chosen_game.value

    @property
    def solver(self) -> Any:
        return self.chosen_solver.value

    @property
    def config(self) -> str:
        """The canonical text from which the point can be built again."""
        return config_text(self.chosen_game.text, self.chosen_solver.text, self.seed)

    @property
    def lineage(self) -> str:
        """The hash that all extents of its solve share."""
        return lineage_of(self.chosen_game.text, self.solver, self.seed)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The swept and chosen values under their dotted names: what people call the point."""
        game, solver = self.chosen_game, self.chosen_solver
        return {"game": game.name, "solver": solver.name, **game.parameters, **solver.parameters, "seed": self.seed}


def point_of(game: Chosen, solver: Chosen, seed: int) -> Point:
    """Return the point of a game and a solver."""
    return Point(digest(config_text(game.text, solver.text, seed)), game, solver, seed)


class Names(Mapping[str, str]):
    """How people call a point, made when asked for."""

    def __init__(self, by_hash: Mapping[str, Point]) -> None:
        self.by_hash = by_hash

    @functools.cached_property
    def hidden(self) -> tuple[str, ...]:
        """What all of them share and nobody asked for: the seed, unless there are several."""
        first = next(iter(self.by_hash.values()), None)
        return ("seed",) if all(first is None or point.seed == first.seed for point in self.by_hash.values()) else ()

    def __getitem__(self, point: str) -> str:
        parameters = self.by_hash[point].parameters.items()
        return " ".join(
            f"{name}={value if isinstance(value, str) else canonical(value)}"
            for name, value in parameters
            if name not in self.hidden
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_hash)

    def __len__(self) -> int:
        return len(self.by_hash)
