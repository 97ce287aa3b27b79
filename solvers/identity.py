"""Who a point is: the hash of its canonical content.

Identity = blake2b-128 of canonical JSON {game: target, version, fields; solver: the same; seed}. Where and how a point is computed
is not part of it. Lineage = the same without the solver's `extent` field: runs of one lineage continue each other.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from solvers.builder import Context, build, encode_fields
from solvers.errors import ConfigError

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: Any) -> str:
    """Return canonical JSON text: sorted keys, no spaces, floats by repr."""
    return _ENCODER.encode(value)


def describe(built: Any, *, without: str | None = None) -> str:
    """Return the canonical text of a game or solver: target, version, fields (`without` leaves one out)."""
    cls = type(built)
    fields = encode_fields(built)
    if without is not None:
        fields.pop(without)
    return canonical({"target": f"{cls.__module__}.{cls.__qualname__}", "version": cls.version, "fields": fields})


def config_text(game: str, solver: str, seed: int) -> str:
    """Return the canonical text of a point, given those of its game and solver."""
    return f'{{"game":{game},"seed":{seed},"solver":{solver}}}'


def digest(text: str) -> str:
    """Return blake2b-128 as 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def lineage(game: Any, solver: Any, seed: int) -> str:
    """Return the hash that all extents of one solve share."""
    return lineage_of(describe(game), solver, seed)


def lineage_of(game: str, solver: Any, seed: int) -> str:
    """Return the lineage of a game given by its canonical text: quick where a sweep has few solvers."""
    return digest(config_text(game, _without_extent(solver), seed))


@functools.lru_cache(maxsize=64)
def _without_extent(solver: Any) -> str:
    return describe(solver, without=type(solver).extent)


def lineage_rng(lineage_hash: str) -> np.random.Generator:
    """Return the generator of a lineage, so that extended and fresh runs agree."""
    return np.random.default_rng(int(lineage_hash, 16))


def rebuild(described: Mapping[str, Any], path: str, context: Context) -> Any:
    """Build a game or solver again from its canonical description.

    Raises
    ------
    ConfigError
        If it cannot be built, or the rules have another version by now.
    """
    built = build({"_target_": described["target"], **described["fields"]}, path, context)
    if type(built).version != described["version"]:
        wanted = f"version {type(built).version} of {described['target']}"
        raise ConfigError(f"{path}.version", wanted, f"version {described['version']}", "run the sweep again with this minimex")
    return built
