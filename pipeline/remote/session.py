"""Writers and readers of a sweep whose home is a store."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import SweepCutShort
from pipeline.journal import DirectoryBusy, locked
from pipeline.remote import mirror as mirrors
from pipeline.remote.lease import Holder, Lease
from pipeline.remote.mirror import Record, Say, each, is_remote, mirror_of
from pipeline.remote.objects import Store, StoreLost, local_path, open_store
from pipeline.remote.snapshot import AT, MANIFEST, Head, Snapshot, Stored
from solvers.errors import ConfigError


class Remote:
    """One writer at work on a sweep in a store; `mirror` is where it works."""

    def __init__(self, store: Store, mirror: Path, lease: Lease, say: Say) -> None:
        self.store, self.mirror, self.lease, self.say = store, mirror, lease, say
        self.lost = False

    def published(self) -> None:
        """Push what was just published, if the store can be reached; if not, say so once.

        Raises
        ------
        SweepCutShort
            If somebody else has committed meanwhile.
        """
        try:
            self.push()
        except OSError as error:
            if not self.lost:
                self.say(f"{error}; points go on into {self.mirror}, pushing is tried again at each publishing")
            self.lost = True
        else:
            if self.lost:
                self.say(f"{self.store.shown} is back; all that was published is there")
            self.lost = False

    def finish(self) -> None:
        """Push the last time.

        Raises
        ------
        SweepCutShort
            If that fails.
        """
        try:
            self.push()
        except OSError as error:
            raise SweepCutShort(f"{error}; everything is in {self.mirror}, the same command pushes it") from error

    def push(self) -> None:
        """Commit the mirror as it stands, if it is not what was committed last.

        Raises
        ------
        StoreLost
            If the store does not do as asked; the snapshot before stands.
        SweepCutShort
            If the store's snapshot is not the one this mirror came from.
        """
        record = Record.of(self.mirror)
        if record.home != self.store.shown:
            record.home = self.store.shown
            record.keep(self.mirror)
        self._refuse_if_moved(record)
        before = record.head.snapshot if record.head is not None else Snapshot(0, "", {})
        number, identity = before.number + 1, uuid.uuid4().hex[:8]
        files = mirrors.files_of(self.mirror)
        shas = {name: record.sha256(name, path) for name, path in files.items()}
        kept = {name: one for name, one in before.files.items() if shas.get(name) == one.sha256}
        about = mirrors.about_of(self.mirror)
        if kept.keys() == files.keys() == before.files.keys() and (record.head is None or about == record.head.about):
            return
        record.stamps = {name: stamp for name, stamp in record.stamps.items() if name in files}

        def upload(name: str) -> Stored:
            at = f"snapshots/{number:06d}-{identity}/{name}"
            return Stored(at, *self.store.upload(files[name], at))

        new = [name for name in files if name not in kept]
        stored = {**kept, **dict(zip(new, each(upload, new), strict=True))}
        self._refuse_if_moved(record)
        record.coming = Head(Snapshot(number, identity, dict(sorted(stored.items()))), about)
        record.keep(self.mirror)
        content = record.coming.text.encode()
        each(lambda name: self.store.put(name, content), [MANIFEST])  # in a thread: Ctrl-C must not cut it into half an object
        record.head, record.coming = record.coming, None
        record.keep(self.mirror)
        with contextlib.suppress(StoreLost):  # the next push does it
            self._remove_old(record.head.snapshot, before)

    def _refuse_if_moved(self, record: Record) -> None:
        try:
            found = Head.of(self.store)
        except ConfigError as error:
            raise SweepCutShort(f"{error}; everything is in {self.mirror}") from error
        if not self.lease.lost and record.settle(self.mirror, found):
            return
        raise SweepCutShort(
            f"{self.store.shown}: somebody else has written there meanwhile, nothing is overwritten; "
            f"the rows of this command are in {self.mirror}, the same command merges them"
        )

    def _remove_old(self, now: Snapshot, before: Snapshot) -> None:
        kept = {one.at for snapshot in (now, before) for one in snapshot.files.values()}
        folders = {found[1] for at in kept if (found := AT.fullmatch(at))}
        for name in self.store.names("snapshots"):
            found = AT.fullmatch(name)
            if found is None or name in kept:
                continue
            if found[1] in folders:
                self.store.remove(name)
            else:
                folders.add(found[1])
                self.store.remove_folder(found[1])


@contextlib.contextmanager
def at_work(out: str | None, say: Say) -> Iterator[Remote | None]:
    """Hold the home of a sweep, if it is in a store: the mirror is the store's snapshot, and nobody else writes there.

    Raises
    ------
    ConfigError
        If the store does not answer or refuses; within some fifteen seconds.
    DirectoryBusy
        If somebody else is at work there.
    """
    if out is None or not is_remote(out):
        yield None
        return
    store, mirror = open_store(out), mirror_of(out)
    with _nothing_left_of_a_refusal(mirror), contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(mirrors.beside(mirror)))
        except DirectoryBusy:
            hint = f"wait for it or choose another out; its rows come into {mirror}"
            raise DirectoryBusy(f"{store.shown}: another minimex is writing there, started in this very folder; {hint}") from None
        try:
            Head.of(store)  # where something else lies no lease is put
            lease = held.enter_context(Lease(store))
            mirrors.bring_up_to_date(store, Head.of(store), mirror, say)
        except StoreLost as error:
            raise ConfigError("out", "a store that can be reached and written", repr(store.shown), str(error)) from error
        yield Remote(store, mirror, lease, say)


@contextlib.contextmanager
def _nothing_left_of_a_refusal(mirror: Path) -> Iterator[None]:
    """Remove what a request has made that was refused before it did anything: the folder of the lock, and those above it."""
    beside = mirrors.beside(mirror)
    made = [folder for folder in (beside.parent, beside.parent.parent) if not folder.exists()]
    fresh = not beside.exists()
    try:
        yield
    except (ConfigError, DirectoryBusy):
        if fresh:
            shutil.rmtree(beside, ignore_errors=True)
        for folder in made:
            with contextlib.suppress(OSError):  # somebody else's things are in it
                folder.rmdir()
        raise


def fetched(uri: str) -> Path:
    """Return the folder that holds the current snapshot of a URI's sweep (none, if nothing lies there).

    It is its mirror or, where that cannot be written or holds what was never pushed, a temporary one.

    Raises
    ------
    ConfigError
        If the store does not answer, or something else lies there.
    """
    local = local_path(uri)
    if local is not None:
        return local
    store, mirror = open_store(uri), mirror_of(uri)
    try:
        head = Head.of(store)
        if head is None and not mirror.exists():  # nothing there, nothing left behind
            return mirror
        with contextlib.ExitStack() as held, contextlib.suppress(DirectoryBusy, ConfigError):
            held.enter_context(locked(mirrors.beside(mirror)))
            if mirrors.bring_up_to_date(store, head, mirror, None):
                return mirror
        folder = Path(tempfile.mkdtemp(prefix="minimex-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        if head is not None:
            mirrors.fetch_latest(store, head, folder / mirror.name, None)
    except StoreLost as error:
        raise _no_answer(store, mirror, error) from error
    return folder / mirror.name


def _no_answer(store: Store, mirror: Path, error: StoreLost) -> ConfigError:
    known = f"; what was fetched before: {mirror}" if (mirror / "points.parquet").exists() else ""
    return ConfigError(store.shown, "a store that can be reached", "no answer", f"{error}{known}")


def who_works(uri: str) -> Holder | None:
    """Return who is at work on a URI's sweep; None if nobody is.

    Raises
    ------
    ConfigError
        If the store does not answer.
    """
    store = open_store(uri)
    try:
        return Lease(store).holder()
    except StoreLost as error:
        raise _no_answer(store, mirror_of(uri), error) from error


def give_back(uri: str, folder: Path, say: Say) -> None:
    """Push what was written into a folder that `fetched` gave (verdicts, a report); where that cannot be, say why."""
    if not is_remote(uri):
        return
    store = open_store(uri)
    try:
        with Lease(store) as lease:
            Remote(store, folder, lease, say).push()
    except (DirectoryBusy, SweepCutShort, OSError) as error:
        say(f"not stored: {error}")
    else:
        say(f"stored   {store.shown}")
