"""A point: one game, one solver, one seed, every value filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from solvers.identity import config_text, digest, lineage_of


@dataclass(frozen=True, slots=True)
class Point:
    """One (game, solver, seed); its hash is its identity, `config` the canonical text it can be built from again.

    `lineage` is the hash that all extents of its solve share.

    `parameters` are the swept and chosen values under their dotted names: what people call the point.
    """

    hash: str
    config: str
    game: Any
    solver: Any
    seed: int
    lineage: str
    parameters: Mapping[str, Any] = field(compare=False)


def point_of(game: tuple[Any, str], solver: tuple[Any, str], seed: int, parameters: Mapping[str, Any]) -> Point:
    """Return the point of a built game and solver, each with its canonical text."""
    config = config_text(game[1], solver[1], seed)
    line = lineage_of(game[1], solver[0], seed)
    return Point(digest(config), config, game[0], solver[0], seed, line, parameters)
