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
import json
import math
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.store import (
    POINT_TYPE,
    DamagedTable,
    concat_points,
    ranks,
    read_table,
    sync_folder,
    table_files,
    write_pieces,
    write_table,
)
from solvers.errors import ConfigError, MinimexError

_LARGE_BYTES = 512 << 20
_PIECE = 131_072  # rows: what DuckDB likes a row group to have
_STATUS = ["point", "status"]
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
        If there can be no such folder, or it holds something else.
    """
    try:
        if _is_foreign(root):
            hint = "minimex would write its report.html and tables among what is there"
            raise ConfigError("out", "a new or empty folder, or a sweep's directory", repr(str(root)), hint)
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


def _is_foreign(root: Path) -> bool:
    """Say whether a folder has things in it and yet is no sweep's directory (nor the mirror of one)."""
    if not root.is_dir() or any((root / name).exists() for name in ("_lock", "remote.json")):
        return False
    if not any(not path.name.startswith(".") and path.name != "lost+found" for path in root.iterdir()):
        return False
    try:  # one that came from elsewhere, without its lock
        return not {"point", "config", "status"} <= set(pq.read_schema(root / "points.parquet").names)
    except (OSError, ValueError, pa.ArrowException):
        return True


def recorded_points(root: Path) -> pa.Table | None:
    """Return each point's hash and status as it stands, published and journal together, changing nothing; None: there is nothing.

    Raises
    ------
    DamagedTable
        If a file cannot be read.
    """
    entries = _entries(root / "journal")
    return _merged_points(root, entries, _Owners(entries), _STATUS)


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
        """Return each point's hash and status as it stands, published and journal together; None if there is nothing yet.

        Damaged files are set aside, and with them the points whose rows they held.
        """
        self._set_damage_aside()
        return recorded_points(self.root)

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
        owners = _Owners(entries)
        points = _merged_points(self.root, entries, owners, ["point"])
        if points is None:
            return
        places = _whole_order(points["point"], order)
        for name in sorted({path.stem.removeprefix("table_") for entry in entries for path in entry.glob("table_*.parquet")}):
            self._publish_table(name, entries, owners, places)
        self._drop_replaced(entries, owners)
        _write_in_order(_merged_points(self.root, entries, owners), places, self.root / "points.parquet")
        sync_folder(self.root / "tables")
        sync_folder(self.root)
        for entry in entries:
            doomed = entry.with_name(f".{entry.name}")
            entry.rename(doomed)
            shutil.rmtree(doomed)
        pa.default_memory_pool().release_unused()  # a process of many hours gives back what it needed for a moment

    def sort(self, order: Sequence[str]) -> None:
        """Put published rows in the order that `publish` gives them, if they stand in another one.

        So they do where a killed sweep's rows were published before it was known which points come first.
        """
        published = self.root / "points.parquet"
        if not published.exists():
            return
        points = read_table(published, ["point"])["point"]
        places = _whole_order(points, order)
        if _decoded(points).combine_chunks().equals(places):
            return
        for path in (self.root / "tables").glob("*.parquet"):
            if path.stem.startswith("_bad_"):
                continue
            table = read_table(path)
            if "point" in table.schema.names:
                _write_in_order(table, places, path)
        _write_in_order(read_table(published), places, published)

    def _publish_table(self, name: str, entries: list[Path], owners: _Owners, places: pa.Array) -> None:
        files = [(entry.name, entry / f"table_{name}.parquet") for entry in entries if (entry / f"table_{name}.parquet").exists()]
        published = table_files(self.root, name)
        folder = self.root / "tables" / name
        size = sum(_unpacked_bytes(path) for path in [*published, *(path for _, path in files)])
        if folder.is_dir() or size > _LARGE_BYTES:
            self._link_parts(folder, files)
            return
        merged = _merged_rows([*(("", path) for path in published), *files], owners)
        _write_in_order(merged, places, self.root / "tables" / f"{name}.parquet")

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

    def _drop_replaced(self, entries: list[Path], owners: _Owners) -> None:
        """Remove published rows of points that ran again, from tables the journal does not touch and from parts of large ones."""
        if not (self.root / "points.parquet").exists():
            return
        published = read_table(self.root / "points.parquet", ["point"])
        if len(owners.kept([("", published)])[0]) == len(published):
            return
        touched = {path.stem.removeprefix("table_") for entry in entries for path in entry.glob("table_*.parquet")}
        for path in [*(self.root / "tables").glob("*.parquet"), *(self.root / "tables").glob("*/*.parquet")]:
            if (path.parent.name == "tables" and path.stem in touched) or path.stem.startswith("_bad_"):
                continue
            table = read_table(path)
            if "point" not in table.schema.names:  # a summary: made again from the others
                continue
            (kept,) = owners.kept([(path.stem, table)])  # a part of a large table has the name of its commit
            if len(kept) < len(table):
                write_table(kept, path)

    def _set_damage_aside(self) -> None:
        for entry in self.entries():
            try:
                for path in {entry / "points.parquet", *entry.glob("*.parquet")}:
                    _look_through(path)
            except DamagedTable as error:
                self._aside(entry, error)
        points = self.root / "points.parquet"
        bad_tables = set()
        for path in [*(self.root / "tables").glob("*.parquet"), *(self.root / "tables").glob("*/*.parquet")]:
            try:
                _look_through(path, at_most=_LARGE_BYTES)
            except DamagedTable as error:
                bad_tables.add(path.stem if path.parent.name == "tables" else path.parent.name)
                self._aside(path, error)
        if points.exists():
            try:
                _look_through(points)
                lost = _lost(read_table(points, ["rows"])["rows"], bad_tables, self.root)
            except DamagedTable as error:
                self._aside(points, error)
                return
            if lost is not None:
                table = read_table(points)
                kept = table.filter(pc.invert(lost))
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


def _look_through(path: Path, at_most: float = math.inf) -> None:
    """Read a table's file, a piece at a time; of one that has more bytes than so only its end, which says where everything is.

    Raises
    ------
    DamagedTable
        If it cannot be read.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if path.stat().st_size <= at_most:
                for group in range(file.num_row_groups):
                    file.read_row_group(group)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from error


def _unpacked_bytes(path: Path) -> int:
    metadata = pq.read_metadata(path)
    return sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))


def _lost(rows: pa.ChunkedArray, bad_tables: Iterable[str], root: Path) -> pa.Array | None:
    """Say for each point's row counts whether some of these rows are gone with their table; None: nobody lost any."""
    gone = set(bad_tables)
    named = {name for text in pc.unique(rows).to_pylist() if text for name, count in json.loads(text).items() if count}
    gone |= {name for name in named if not table_files(root, name)}
    if not gone:
        return None
    lost = [bool(text) and any(json.loads(text).get(name) for name in gone) for text in rows.to_pylist()]
    return pa.array(lost, pa.bool_()) if any(lost) else None


class _Owners:
    """Which commit has the last word on each point of the journal."""

    def __init__(self, entries: Sequence[Path]) -> None:
        columns = [_decoded(read_table(entry / "points.parquet", ["point"])["point"]) for entry in entries]
        encoded = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()).combine_chunks()
        encoded = encoded.dictionary_encode()
        self.number = {entry.name: number for number, entry in enumerate(entries)}
        self.points = encoded.dictionary
        self.last = np.zeros(len(self.points), np.int64)  # the number of the last commit that has a row of the point
        numbers = np.repeat(np.arange(len(entries)), [len(column) for column in columns])
        np.maximum.at(self.last, encoded.indices.to_numpy(), numbers)

    def kept(self, parts: Sequence[tuple[str, pa.Table]]) -> list[pa.Table]:
        """Return what stands of some tables, each given with its commit: rows of points that no later commit has.

        A commit that is not in the journal came before it. Rows of points that a commit itself has no word on stay with it.
        """
        column = pa.chunked_array([chunk for _, part in parts for chunk in part["point"].cast(POINT_TYPE).chunks], POINT_TYPE)
        place = pc.fill_null(ranks(column, self.points), -1).to_numpy()
        numbers = np.repeat([self.number.get(commit, -1) for commit, _ in parts], [len(part) for _, part in parts])
        stands = place < 0
        stands[~stands] = self.last[place[~stands]] <= numbers[~stands]
        if stands.all():
            return [part for _, part in parts]
        ends = np.cumsum([len(part) for _, part in parts])
        return [part.filter(pa.array(stands[end - len(part) : end])) for (_, part), end in zip(parts, ends.tolist(), strict=True)]


def _merged_points(root: Path, entries: Sequence[Path], owners: _Owners, columns: Sequence[str] | None = None) -> pa.Table | None:
    files = [("", root / "points.parquet"), *((entry.name, entry / "points.parquet") for entry in entries)]
    parts = owners.kept([(commit, read_table(path, columns)) for commit, path in files if commit or path.exists()])
    parts = [part for part in parts if len(part)] or parts[:1]
    if not parts:
        return None
    return concat_points(parts) if columns is None else pa.concat_tables(parts)


def _merged_rows(files: Sequence[tuple[str, Path]], owners: _Owners) -> pa.Table:
    parts = owners.kept([(commit, read_table(path)) for commit, path in files])
    whole = pa.concat_tables([part for part in parts if len(part)] or parts[:1], promote_options="permissive")
    return whole.replace_schema_metadata(parts[-1].schema.metadata)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())


def _whole_order(points: pa.ChunkedArray, order: Sequence[str]) -> pa.Array:
    """Return every point once: those not in `order` first, as they stand, then `order`."""
    last = pa.array(order, pa.string())
    standing = _decoded(points).combine_chunks()
    first = standing.filter(pc.invert(pc.is_in(standing, value_set=last)))
    return pa.concat_arrays([first, last])


def _write_in_order(table: pa.Table, order: pa.Array, path: Path) -> None:
    """Write the rows sorted by their point's place in `order`, otherwise as they stand.

    Of a million points that is most of what the driver holds, so it is sorted piece by piece, never as a whole.
    """
    place = pc.fill_null(ranks(table["point"], order), len(order)).to_numpy()
    rows = np.argsort(place, kind="stable") if (place[1:] < place[:-1]).any() else None
    write_pieces(table.schema, _pieces(table, rows), path)


def _pieces(table: pa.Table, rows: npt.NDArray[np.int64] | None) -> Iterator[pa.Table]:
    place = table.schema.get_field_index("point")
    for start in range(0, len(table), _PIECE):
        if rows is None:
            piece = table.slice(start, _PIECE)
        else:
            wanted = rows[start : start + _PIECE]
            first, last = int(wanted.min()), int(wanted.max())  # near each other as a rule: `take` copies all it is given first
            piece = table.slice(first, last - first + 1).take(pa.array(wanted - first))
        points = _decoded(piece["point"]).dictionary_encode()  # its own points only: all of a dictionary would be written each time
        yield piece.set_column(place, table.schema.field("point"), points)
