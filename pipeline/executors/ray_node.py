"""What runs on a node of a cluster before any of its points, and what a node tells about itself.

Workers import this module while they start: it may load no numba.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SETUP_HOOK = f"{__name__}.prepare"
_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Here:
    """A batch says where it is, before its first point. `unfit`: not solved here, for `has` is not what the driver has."""

    node: str
    node_id: str
    has: str
    unfit: bool = False


@functools.lru_cache(maxsize=4)
def versions(names: Sequence[str] = ()) -> str:
    """Return what must be the same wherever points are solved: Python's version and those of the distributions named."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return _MISSING


def names_in(text: str) -> tuple[str, ...]:
    """Return the distributions that a text of `versions` speaks of."""
    return tuple(part.partition(" ")[0] for part in text.split(", ")[1:])


def differing(text: str, other: str) -> str:
    """Return the parts of one text of `versions` that the other has not."""
    return ", ".join(part for part in text.split(", ") if part not in other.split(", "))


def here(wanted: str) -> Here:
    """Say which node this is and whether it has what is wanted."""
    import ray  # noqa: PLC0415

    has, node_id = versions(names_in(wanted)), ray.get_runtime_context().get_node_id()
    return Here(name_of(platform.node(), node_id), node_id, has, has != wanted)


def name_of(host: str, node_id: str) -> str:
    """Return how a node is called: its host may have several."""
    return f"{host}/{node_id[:6]}"


def prepare() -> None:
    """Set a worker up: numba keeps what it compiles on this node, in a folder that only this user can write."""
    os.environ["NUMBA_CACHE_DIR"] = str(private_folder(f"minimex-numba-{os.geteuid()}"))


def private_folder(name: str) -> Path:
    """Return a folder of that name in this machine's temporary one; another if somebody else was there first.

    Whoever can write to it can have code of theirs run: it must be a real folder, ours, and closed to all others.
    """
    folder = Path(tempfile.gettempdir()) / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix=f"{name}-"))
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix=f"{name}-"))
