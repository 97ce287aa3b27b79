"""The folder on this machine where a sweep is worked on whose home is a store, and what it knows of that store."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pipeline.journal import Journal, locked
from pipeline.remote.objects import Store, is_uri, local_path, without_secrets
from pipeline.remote.snapshot import MANIFEST, PLACE, Head
from pipeline.store import write_text
from solvers.errors import ConfigError

_RECORD = "remote.json"
_AT_ONCE = 8
_GLOBS = ("*.parquet", "report.html", "status.json", "tables/*.parquet", "tables/*/*.parquet", "inputs/*", "checkpoints/*/*.npz")

Say = Callable[[str], None]
T = TypeVar("T")
U = TypeVar("U")


def folder_of(out: str) -> Path:
    """Return the folder on this machine where the sweep of an `out` is worked on: itself, or the mirror of a URI."""
    if not is_uri(out):
        return Path(out).expanduser()
    return local_path(out) or mirror_of(out)


def is_remote(out: str | None) -> bool:
    """Say whether an `out` is neither a folder nor `file://`."""
    return out is not None and is_uri(out) and local_path(out) is None


def mirror_of(uri: str) -> Path:
    """Return the folder in which a URI's sweep is worked on here."""
    shown = without_secrets(uri)
    last = re.sub(r"[^\w.-]", "_", shown.rpartition("/")[2]).strip(".")[:60] or "sweep"
    return Path("outputs/.remote") / f"{last}-{hashlib.blake2b(shown.encode(), digest_size=3).hexdigest()}"


def home_of(root: Path) -> str:
    """Return where a sweep lives: of a mirror its URI, of any other directory its path."""
    return Record.of(root).home or str(root.resolve())


@dataclass
class Record:
    """What a mirror knows of its store (`remote.json`).

    Attributes
    ----------
    home
        The URI, as it may be shown.
    head
        What it was fetched from or pushed last; None: it never was.
    coming
        What a push was about to put when it was last heard of: if the store has it, it arrived.
    stamps
        Size, time of change, inode and sha256 of files, so that what did not change is not read again.
    """

    home: str = ""
    head: Head | None = None
    coming: Head | None = None
    stamps: dict[str, tuple[int, int, int, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, mirror: Path) -> Record:
        try:
            said = json.loads((mirror / _RECORD).read_text())
            head, coming = (None if said[name] is None else Head.read(said[name]) for name in ("head", "coming"))
            return cls(
                str(said["home"]),
                head,
                coming,
                {name: (int(a), int(b), int(c), str(sha)) for name, (a, b, c, sha) in said["stamps"].items()},
            )
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return cls()

    def keep(self, mirror: Path) -> None:
        heads = {name: None if head is None else head.text for name, head in (("head", self.head), ("coming", self.coming))}
        write_text(mirror / _RECORD, json.dumps({"home": self.home, **heads, "stamps": self.stamps}))

    def settle(self, mirror: Path, found: Head | None) -> bool:
        """Say whether the store's head is this mirror's, be it by a put that nobody heard the answer of."""
        if found is not None and found.is_same(self.coming):
            self.head, self.coming = self.coming, None
            self.keep(mirror)
        return found is self.head or (found is not None and found.is_same(self.head))

    def sha256(self, name: str, path: Path) -> str:
        stat = path.stat()
        known = self.stamps.get(name)
        stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if known is None or known[:3] != stamp:
            with path.open("rb") as file:
                known = (*stamp, hashlib.file_digest(file, "sha256").hexdigest())
            self.stamps[name] = known
        return known[3]


def files_of(mirror: Path) -> dict[str, Path]:
    """Return the files of a mirror that belong into a snapshot, by name."""
    found = {path.relative_to(mirror).as_posix(): path for pattern in _GLOBS for path in mirror.glob(pattern)}
    return {
        name: path for name, path in sorted(found.items()) if PLACE.fullmatch(name) and not path.is_symlink() and path.is_file()
    }


def about_of(mirror: Path) -> dict[str, Any]:
    try:
        said = json.loads((mirror / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in said.items() if name != "snapshot"} if isinstance(said, dict) else {}


def _is_ahead(mirror: Path, record: Record) -> bool:
    """Say whether a mirror holds anything that was never pushed."""
    if any((mirror / "journal").glob("[0-9]*")):
        return True
    pushed = record.head.snapshot.files if record.head is not None else {}
    own = {name: path for name, path in files_of(mirror).items() if name != "status.json"}
    return any(name not in pushed or pushed[name].sha256 != record.sha256(name, path) for name, path in own.items())


def _is_whole(mirror: Path, head: Head | None) -> bool:
    """Say whether nobody has emptied a mirror by hand."""
    return head is None or "points.parquet" not in head.snapshot.files or (mirror / "points.parquet").exists()


def _fetch(store: Store, head: Head, folder: Path, damaged: Say | None) -> None:
    """Download a snapshot into a new folder.

    Where a file is damaged and somebody listens to that, an empty one takes its place, which the journal sets aside.

    Raises
    ------
    FileNotFoundError
        If a file is gone and nobody listens.
    ValueError
        If one is not what the manifest says and nobody listens.
    """

    def get(name: str) -> None:
        one = head.snapshot.files[name]
        try:
            store.download(one.at, folder / name, one.bytes, one.sha256)
        except (FileNotFoundError, ValueError) as error:
            if damaged is None:
                raise
            damaged(f"{name} is damaged in the store ({error}); what it held is computed again")
            (folder / name).write_bytes(b"")

    folder.mkdir(parents=True)
    each(get, head.snapshot.files)
    if head.about:
        write_text(folder / MANIFEST, json.dumps(head.about, indent=1, sort_keys=True))
    Record(store.shown, head).keep(folder)


def fetch_latest(store: Store, head: Head, folder: Path, damaged: Say | None) -> None:
    """Download what is current, however often somebody commits meanwhile: a snapshot goes when two newer ones have come."""
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            return _fetch(store, head, folder, damaged)
        except (FileNotFoundError, ValueError) as error:
            latest = Head.of(store)
            if latest is None or latest.is_same(head):
                hint = f"{error}; the command that made it mends it"
                raise ConfigError(store.shown, "a sweep that is whole", "a damaged one", hint) from None
            head = latest


def _aside(mirror: Path, say: Say) -> None:
    """Let a mirror give way, what it has journalled published, so that its rows can be taken over."""
    with locked(mirror):
        journal = Journal(mirror)
        journal.recorded()
        journal.publish([])
        number = next(n for n in range(1, 1 << 20) if not mirror.with_name(f"{mirror.name}.{n}").exists())
        target = mirror.with_name(f"{mirror.name}.{number}")
        mirror.rename(target)
    say(f"somebody else has written meanwhile; what was here and never stored is in {target}, and is taken over")


def bring_up_to_date(store: Store, head: Head | None, mirror: Path, say: Say | None) -> bool:
    """Let a mirror be the store's snapshot, and say whether it is; without `say` nothing that was never pushed is touched."""
    record = Record.of(mirror)
    if record.settle(mirror, head) and _is_whole(mirror, head):
        return True
    ahead = mirror.exists() and _is_ahead(mirror, record)
    if ahead and say is None:
        return False
    incoming = beside(mirror) / "incoming"
    if head is not None:
        fetch_latest(store, head, incoming, say)
    if ahead and say is not None:
        _aside(mirror, say)
    elif mirror.exists():
        with locked(mirror):
            shutil.rmtree(mirror)
    if head is not None:
        incoming.rename(mirror)
    return True


def beside(mirror: Path) -> Path:
    """Return the folder that holds a mirror's lock while it is exchanged (no sweep, so no sibling's rows are looked for in it)."""
    return mirror.with_name(f".{mirror.name}")


def each(work: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """Do many requests, some at a time; the first that fails ends it."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
