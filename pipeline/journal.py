"""Writing a sweep: the lock, the journal, publishing.

Rules
-----
1. One driver a directory: `_lock` is held by flock, so a killed driver leaves it free.
2. One commit is one directory rename: files written and synced in `journal/.<id>`, the folder synced, renamed to
   `journal/<n>-<id>`, the parent synced.
3. A journal row replaces published rows of the same point; a later journal row an earlier one.
4. Publishing merges published files and the journal, renames each file, and deletes the journal last. It can stop anywhere and
   be done again: until the journal is gone, rule 3 gives the same tables.
5. Tables past `_LARGE_BYTES` become folders: a journal file is linked into `tables/NAME/` under its commit's name, unchanged;
   rows in a part of a commit's own name are that commit's, not replaced by it.
6. What cannot be read is set aside as `_bad_*`; its points count as not computed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.store import (
    DamagedTable,
    concat_points,
    ranks,
    read_table,
    sync_folder,
    table_files,
    write_table,
)
from solvers.errors import ConfigError, MinimexError

_LARGE_BYTES = 512 << 20
_ABANDONED_S = 3600.0
_ENTRY = re.compile(r"(\d+)-[0-9a-f]+")


class DirectoryBusy(MinimexError, RuntimeError):
    """Another driver is writing to this directory."""


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold a sweep's directory.

    Raises
    ------
    DirectoryBusy
        If another process holds it.
    ConfigError
        If there can be no such folder.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        if not os.access(root, os.W_OK):
            raise PermissionError(errno.EACCES, "it may only be read")
        lock = os.open(root / "_lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise ConfigError("out", "a folder that can be written", repr(str(root)), (error.strerror or str(error)).lower()) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DirectoryBusy(f"{root}: another minimex is writing there; wait for it or choose another out=DIR") from error
        yield
    finally:
        os.close(lock)


def recorded_points(root: Path) -> pa.Table | None:
    """Return the points table as it stands, published and journal together, changing nothing; None if there is nothing.

    Raises
    ------
    DamagedTable
        If a file cannot be read.
    """
    return _merged_points(root, _entries(root / "journal"))


def _clear(root: Path) -> None:
    """Remove the half-written files of processes that were killed; a young one may still be somebody's."""
    for path in [*root.glob(".*.partial"), *(root / "tables").glob(".*.partial"), *(root / "tables").glob("*/.*.partial")]:
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                path.unlink()


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.glob("*") if _ENTRY.fullmatch(entry.name))


class Journal:
    """Commits since the last publishing, and the publishing itself."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "journal"
        self.folder.mkdir(parents=True, exist_ok=True)
        (root / "tables").mkdir(exist_ok=True)
        for leftover in self.folder.glob(".*"):
            shutil.rmtree(leftover)
        _clear(root)
        self.said: list[str] = []

    def commit(self, points: pa.Table, tables: Mapping[str, pa.Table]) -> None:
        """Make these rows durable, all of them or none."""
        number = max((int(entry.name.partition("-")[0]) for entry in self.entries()), default=0) + 1
        identity = uuid.uuid4().hex[:12]
        partial = self.folder / f".{identity}"
        try:
            partial.mkdir()
            write_table(points, partial / "points.parquet")
            for name, table in tables.items():
                if len(table):
                    write_table(table, partial / f"table_{name}.parquet")
            sync_folder(partial)
            partial.rename(self.folder / f"{number:06d}-{identity}")
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        sync_folder(self.folder)

    def entries(self) -> list[Path]:
        """Return the commits, oldest first."""
        return _entries(self.folder)

    def recorded(self) -> pa.Table | None:
        """Return the points table as it stands, published and journal together; None if there is nothing yet.

        Damaged files are set aside, and with them the points whose rows they held.
        """
        self._set_damage_aside()
        return _merged_points(self.root, self.entries())

    def publish(self, order: Sequence[str]) -> None:
        """Merge the journal into the published files; points of `order` stand last, in that order.

        Raises
        ------
        OSError
            If something cannot be written. Then nothing is lost, and it can be done again.
        DamagedTable
            If something cannot be read; `recorded` sets it aside.
        """
        entries = self.entries()
        if not entries:
            return
        points = _merged_points(self.root, entries)
        if points is None:
            return
        points = _in_order(points, _whole_order(points, order))
        places = _decoded(points["point"]).combine_chunks()
        owners = _owners(entries)
        for name in sorted({path.stem.removeprefix("table_") for entry in entries for path in entry.glob("table_*.parquet")}):
            self._publish_table(name, entries, owners, places)
        self._drop_replaced(entries, owners, places)
        write_table(points, self.root / "points.parquet")
        sync_folder(self.root / "tables")
        sync_folder(self.root)
        for entry in entries:
            doomed = entry.with_name(f".{entry.name}")
            entry.rename(doomed)
            shutil.rmtree(doomed)

    def _publish_table(self, name: str, entries: list[Path], owners: Mapping[str, str], places: pa.Array) -> None:
        files = [(entry.name, entry / f"table_{name}.parquet") for entry in entries if (entry / f"table_{name}.parquet").exists()]
        published = table_files(self.root, name)
        folder = self.root / "tables" / name
        size = sum(_unpacked_bytes(path) for path in [*published, *(path for _, path in files)])
        if folder.is_dir() or size > _LARGE_BYTES:
            self._link_parts(folder, files)
            return
        replaced = pa.array(sorted(owners), pa.string())
        parts = [_without(read_table(path), replaced) for path in published]
        parts += [_owned(read_table(path), owner, owners) for owner, path in files]
        whole = pa.concat_tables([part for part in parts if len(part)] or parts[:1], promote_options="permissive")
        whole = whole.replace_schema_metadata(parts[-1].schema.metadata)
        write_table(_in_order(whole, places), self.root / "tables" / f"{name}.parquet")

    def _link_parts(self, folder: Path, files: list[tuple[str, Path]]) -> None:
        folder.mkdir(exist_ok=True)
        single = folder.with_suffix(".parquet")
        if single.exists():
            single.rename(folder / "000000-0.parquet")
        for owner, path in files:
            target = folder / f"{owner}.parquet"
            if not target.exists():
                partial = folder / f".{owner}"
                partial.unlink(missing_ok=True)
                try:
                    os.link(path, partial)
                except OSError:
                    try:
                        shutil.copy2(path, partial)
                    except BaseException:
                        partial.unlink(missing_ok=True)
                        raise
                partial.rename(target)
        sync_folder(folder)

    def _drop_replaced(self, entries: list[Path], owners: Mapping[str, str], places: pa.Array) -> None:
        """Remove published rows of points that ran again, from tables the journal does not touch and from parts of large ones."""
        if not (self.root / "points.parquet").exists() or not owners:
            return
        published = read_table(self.root / "points.parquet")["point"]
        again = pc.is_in(pa.array(sorted(owners), pa.string()), value_set=_decoded(published))
        if not pc.any(again).as_py():
            return
        replaced = pa.array(sorted(owners), pa.string())
        touched = {path.stem.removeprefix("table_") for entry in entries for path in entry.glob("table_*.parquet")}
        for path in [*(self.root / "tables").glob("*.parquet"), *(self.root / "tables").glob("*/*.parquet")]:
            if path.parent.name == "tables" and path.stem in touched:
                continue
            table = read_table(path)
            own = pa.array(sorted(point for point, owner in owners.items() if owner != path.stem), pa.string())
            kept = _without(table, own if path.parent.name != "tables" else replaced)
            if len(kept) < len(table):
                write_table(kept, path)

    def _set_damage_aside(self) -> None:
        for entry in self.entries():
            try:
                for path in {entry / "points.parquet", *entry.glob("*.parquet")}:
                    read_table(path)
            except DamagedTable as error:
                self._aside(entry, error)
        points = self.root / "points.parquet"
        bad_tables = set()
        for path in [*(self.root / "tables").glob("*.parquet"), *(self.root / "tables").glob("*/*.parquet")]:
            try:
                _look_through(path)
            except DamagedTable as error:
                bad_tables.add(path.stem if path.parent.name == "tables" else path.parent.name)
                self._aside(path, error)
        if points.exists():
            try:
                table = read_table(points)
            except DamagedTable as error:
                self._aside(points, error)
                return
            kept = _standing(table, bad_tables, self.root)
            if len(kept) < len(table):
                self.said.append(f"{len(table) - len(kept)} points lost their rows and will run again")
                write_table(kept, points)

    def _aside(self, path: Path, error: DamagedTable) -> None:
        target = path.with_name(f"_bad_{path.name}")
        if target.is_dir():
            shutil.rmtree(target)
        path.rename(target)
        inner = f"/{error.path.name}" if error.path != path else ""
        where = f"{path.relative_to(self.root)}{inner}"
        self.said.append(f"{where} cannot be read ({error.reason}); set aside as {target.name}, its points run again")


def _look_through(path: Path) -> None:
    """Read a table's file, a piece at a time; of one that is large only its end, which says where everything is.

    Raises
    ------
    DamagedTable
        If it cannot be read.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if path.stat().st_size <= _LARGE_BYTES:
                for group in range(file.num_row_groups):
                    file.read_row_group(group)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from error


def _unpacked_bytes(path: Path) -> int:
    metadata = pq.read_metadata(path)
    return sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))


def _standing(points: pa.Table, bad_tables: Iterable[str], root: Path) -> pa.Table:
    """Return the points whose rows are all still there: none of theirs was in a table that is gone."""
    import json  # noqa: PLC0415

    gone = set(bad_tables)
    rows = points["rows"]
    named = {name for text in pc.unique(rows).to_pylist() if text for name, count in json.loads(text).items() if count}
    gone |= {name for name in named if not table_files(root, name)}
    if not gone:
        return points
    lost = [bool(text) and any(json.loads(text).get(name) for name in gone) for text in rows.to_pylist()]
    return points.filter(pc.invert(pa.array(lost, pa.bool_())))


def _merged_points(root: Path, entries: Sequence[Path]) -> pa.Table | None:
    owners = _owners(entries)
    published = root / "points.parquet"
    parts = [_without(read_table(published), pa.array(sorted(owners), pa.string()))] if published.exists() else []
    for entry in entries:
        table = read_table(entry / "points.parquet")
        if len(table):
            parts.append(_owned(table, entry.name, owners))
    parts = [part for part in parts if len(part)] or parts[:1]
    return concat_points(parts) if parts else None


def _owners(entries: Iterable[Path]) -> dict[str, str]:
    """Return the commit that has the last word on each point."""
    owners: dict[str, str] = {}
    for entry in entries:
        owners.update(dict.fromkeys(_decoded(read_table(entry / "points.parquet")["point"]).to_pylist(), entry.name))
    return owners


def _owned(table: pa.Table, owner: str, owners: Mapping[str, str]) -> pa.Table:
    """Return the rows of a commit that no later commit replaced (rows of points it does not own by itself stay with it)."""
    others = pa.array(sorted({point for point in _points_in(table) if owners.get(point, owner) > owner}), pa.string())
    return _without(table, others)


def _points_in(table: pa.Table) -> list[str]:
    found: list[str] = []
    for chunk in table["point"].chunks:
        found += (chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk).to_pylist()
    return found


def _without(table: pa.Table, points: pa.Array) -> pa.Table:
    if not len(points) or not len(table):
        return table
    return table.filter(pc.is_null(ranks(table["point"], points)))


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())


def _whole_order(points: pa.Table, order: Sequence[str]) -> pa.Array:
    """Return every point once: those not in `order` first, as they stand, then `order`."""
    last = pa.array(order, pa.string())
    standing = _decoded(points["point"]).combine_chunks()
    first = standing.filter(pc.invert(pc.is_in(standing, value_set=last)))
    return pa.concat_arrays([first, last])


def _in_order(table: pa.Table, order: pa.Array) -> pa.Table:
    """Return the rows sorted by their point's place in `order`, otherwise as they stand, in one dictionary."""
    place = ranks(table["point"], order)
    if pc.any(pc.less(place[1:], place[:-1])).as_py() if len(place) > 1 else False:
        indices = pc.sort_indices(pa.table({"place": place}), sort_keys=[("place", "ascending")])
        table = table.take(indices)
    return table.unify_dictionaries().combine_chunks()
