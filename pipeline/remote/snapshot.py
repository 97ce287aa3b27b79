"""What manifest.json in a store says, and which names in it are believed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeGuard

from pipeline.remote.objects import Store
from solvers.errors import ConfigError

MANIFEST = "manifest.json"

_LARGEST = 256 << 20
_PLACES = (
    r"(points|checks)\.parquet|report\.html|status\.json|inputs/[0-9a-f]{64}|checkpoints/[0-9a-f]{8,64}/[0-9]{1,20}\.npz"
    r"|tables/[a-z][a-z0-9_]{0,99}(/[0-9]{6,12}-[0-9a-f]{1,32})?\.parquet"
)
PLACE = re.compile(_PLACES)
"""Where a sweep keeps what belongs into a snapshot, relative to its directory."""

AT = re.compile(rf"(snapshots/[0-9]{{6,12}}-[0-9a-f]{{8}})/({_PLACES})")
"""Where a store keeps it: the folder of the push that wrote it, and its place."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of a snapshot: the object that holds it, its size, its sha256."""

    at: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed state of a sweep; `files` by their names in its directory."""

    number: int
    id: str
    files: Mapping[str, Stored]

    @classmethod
    def read(cls, told: Any) -> Snapshot:
        """Return what a manifest tells, if a sweep of ours can have told it.

        Raises
        ------
        ValueError
            With what cannot be.
        """
        if not (isinstance(told, dict) and _is_count(told.get("number")) and re.fullmatch(r"[0-9a-f]{8}", str(told.get("id")))):
            raise ValueError("no snapshot in it")
        files = told.get("files")
        if not isinstance(files, dict):
            raise ValueError("its snapshot has no files")  # noqa: TRY004 (what is wrong is the content)
        return cls(told["number"], told["id"], {name: _stored(name, said) for name, said in files.items()})


def _stored(name: str, said: Any) -> Stored:
    if not PLACE.fullmatch(name):
        raise ValueError(f"a sweep keeps no {name[:80]!r}")
    told = said if isinstance(said, dict) else {}
    at, size, sha = told.get("at"), told.get("bytes"), told.get("sha256")
    found = AT.fullmatch(at) if isinstance(at, str) else None
    if found is None or found[2] != name:
        raise ValueError(f"{name} cannot be at {str(at)[:80]!r}")
    if not (_is_count(size) and isinstance(sha, str) and re.fullmatch(r"[0-9a-f]{64}", sha)):
        raise ValueError(f"{name} has no size and sha256")
    return Stored(found[0], size, sha)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


@dataclass(frozen=True, slots=True)
class Head:
    """What manifest.json in a store says: the snapshot, and everything else."""

    snapshot: Snapshot
    about: Mapping[str, Any]

    @property
    def text(self) -> str:
        return json.dumps({**self.about, "snapshot": asdict(self.snapshot)}, indent=1, sort_keys=True)

    @classmethod
    def of(cls, store: Store) -> Head | None:
        """Return what lies in a store, None if there is no sweep.

        Raises
        ------
        ConfigError
            If something else lies there.
        """
        try:
            return store.parsed(MANIFEST, _LARGEST, cls.read)
        except ValueError as error:
            hint = f"its {MANIFEST}: {error}; choose another prefix, or copy it to a folder with the store's own tools"
            raise ConfigError("out", "a sweep's prefix, or an empty one", repr(store.shown), hint) from None

    @classmethod
    def read(cls, content: bytes | str) -> Head:
        said = json.loads(content)
        if not isinstance(said, dict):
            raise ValueError("no JSON object")  # noqa: TRY004
        return cls(Snapshot.read(said.pop("snapshot", None)), said)

    def is_same(self, other: Head | None) -> bool:
        mine = (self.snapshot.number, self.snapshot.id)
        return other is not None and mine == (other.snapshot.number, other.snapshot.id)
