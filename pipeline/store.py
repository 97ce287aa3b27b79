"""The tables of a sweep, as they lie on disk: where things are, how they are read and written.

    outputs/NAME/
      _lock  journal/<n>-<id>/*.parquet                   see `pipeline.journal`
      points.parquet  tables/NAME.parquet (or NAME/*.parquet, where a table is large)
      checkpoints/  inputs/<sha256>  checks.parquet  manifest.json  report.html

Readers need no lock: every file is replaced by a rename.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from solvers.builder import Context
from solvers.errors import ConfigError, MinimexError, did_you_mean
from solvers.schema import TableInfo, encoding_of, info_from_json, info_to_json

POINT_TYPE = pa.dictionary(pa.int32(), pa.string())
POINT = pa.field("point", POINT_TYPE, nullable=False)
OUTCOME = pa.schema(
    [
        pa.field("config", pa.string()),
        pa.field("status", pa.string()),
        pa.field("error", pa.string()),
        pa.field("traceback", pa.string()),
        pa.field("wall_s", pa.float64()),
        pa.field("attempts", pa.int32()),
        pa.field("node", pa.string()),
        pa.field("metrics", pa.string()),
        pa.field("rows", pa.string()),
        pa.field("seal", pa.string()),
    ]
)
"""Columns of points.parquet after `point` and the parameters. `metrics` and `rows` (rows delivered by table) are JSON maps;
`seal` is a hash of what the row claims (see `pipeline.rows.seal_of`)."""

CHECKS = pa.schema(
    [("table", pa.string()), ("row", pa.int64()), ("point", pa.string()), ("grade", pa.string()), ("reason", pa.string())]
)
PROGRESS = pa.schema(
    [
        POINT,
        ("done", pa.int64()),
        ("total", pa.int64()),
        ("elapsed_s", pa.float64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)
"""The pipeline's own table: what solves said on their way, stamped with wall time; one row a metric."""

_LONG = ("config", "traceback", "seal")
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_JSON = {b"json": b"1"}
_CURE = "the sweep's own command, given again, computes what it held"
_CURES = {"checks.parquet": "minimex verify judges again"}


class DamagedTable(MinimexError, ValueError):
    """A file that should hold a table cannot be read. What the disk itself refuses (`[Errno 13]`) no command of ours mends."""

    def __init__(self, path: Path, reason: str, cure: str | None = None) -> None:
        if cure is None:
            cure = "" if reason.startswith("[Errno") else _CURES.get(path.name, _CURE)
        super().__init__(f"{path}: cannot be read ({reason}){'; ' if cure else ''}{cure}")
        self.path, self.reason = path, reason


# ---- reading a sweep ---------------------------------------------------------------------------------------------------------


def load(folder: str | Path) -> SweepDir:
    """Open a sweep's directory for reading, from a notebook for instance: `load("outputs/tour").table("equilibria")`.

    A URI (`s3://BUCKET/NAME`) is fetched first.

    Raises
    ------
    ConfigError
        If the folder holds no sweep.
    """
    from pipeline.remote import fetched, is_uri, without_secrets  # noqa: PLC0415 (it stands on this module)

    root = Path(folder).expanduser()
    if is_uri(str(folder)):
        root, folder = fetched(str(folder)), without_secrets(str(folder))
    if not (root / "points.parquet").exists():
        beside = [path.parent.name for path in root.glob("*/points.parquet")]
        if beside:
            raise ConfigError(str(folder), "one sweep's directory", "a folder of sweeps", f"it holds {', '.join(sorted(beside))}")
        if any((root / "journal").glob("*")):
            hint = "they are in journal/: the command at work there publishes them, or the same command given again"
            raise ConfigError(str(folder), "published points", "none yet", hint)
        came = "no points.parquet there" if root.is_dir() else "no such folder"
        raise ConfigError(str(folder), "a sweep's directory", came, "a sweep's directory is printed at its end")
    return SweepDir(root)


@dataclass(frozen=True)
class SweepDir:
    """A published sweep, read-only."""

    root: Path

    @functools.cached_property
    def points(self) -> pa.Table:
        """One row a point: `point`, its parameters by dotted name, then `config`, `status`, `error`, ... (see `OUTCOME`)."""
        return read_table(self._points_file, self._points_columns)

    @functools.cached_property
    def brief(self) -> pa.Table:
        """`points` without the columns that make a million of them half a gigabyte: config, traceback and seal."""
        return read_table(self._points_file, [name for name in self._points_columns if name not in _LONG])

    def points_in_pieces(self, rows: int) -> Iterator[pa.Table]:
        """Yield `points` some rows at a time, so that they are never in memory together.

        Raises
        ------
        DamagedTable
            If they cannot be read, or are others by now than those of `brief`.
        """
        path = self._points_file
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                if file.metadata.num_rows != len(self.brief):
                    raise DamagedTable(path, "it changed while it was read", "try again")
                for batch in file.iter_batches(rows, columns=self._points_columns):
                    yield pa.Table.from_batches([batch])
        except (OSError, pa.ArrowException) as error:
            raise DamagedTable(path, str(error).splitlines()[0]) from error

    def points_column(self, name: str) -> pa.ChunkedArray:
        """Return one column of `points`; it is read each time."""
        return read_table(self._points_file, [name])[name]

    @property
    def _points_file(self) -> Path:
        return self.root / "points.parquet"

    @functools.cached_property
    def _points_columns(self) -> list[str]:
        try:
            names: list[str] = pq.read_schema(self._points_file).names
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedTable(self._points_file, str(error).splitlines()[0]) from error
        missing = [name for name in ("point", *OUTCOME.names) if names.count(name) != 1]
        if missing:
            raise DamagedTable(self._points_file, f"it has no column {', '.join(missing)}")
        return names

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """What else there is to know: experiment, commands, versions, what tables claim, the MLflow run."""
        return read_manifest(self.root)

    @property
    def name(self) -> str:
        return self.root.resolve().name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Dotted names of the parameters that have a column in `points`."""
        return tuple(name for name in self._points_columns if name != "point" and name not in OUTCOME.names)

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters that take more than one value."""
        return tuple(name for name in self.parameters if varies(self.brief[name]))

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the published tables, without summaries."""
        return tuple(name for name in self._all_names if not self._is_summary(name))

    @property
    def summary_names(self) -> tuple[str, ...]:
        """Names of the tables of the sweep as a whole: they have no column `point`."""
        return tuple(name for name in self._all_names if self._is_summary(name))

    def _is_summary(self, name: str) -> bool:
        """Say so if a table has no column `point`, unless a solver of this sweep declares it: then that is damage."""
        path = self.root / "tables" / f"{name}.parquet"
        return path.exists() and _is_pointless(path, path.stat().st_mtime_ns) and name not in self.manifest.get("columns", {})

    @property
    def _all_names(self) -> tuple[str, ...]:
        found = {path.stem for path in (self.root / "tables").glob("*.parquet")}
        found |= {path.name for path in (self.root / "tables").glob("*") if path.is_dir()}
        return tuple(sorted(name for name in found if _TABLE_NAME.fullmatch(name)))

    def table(self, name: str) -> pa.Table:
        """Return one table; its column `point` says whose rows they are, rows of one point stand together.

        Raises
        ------
        ConfigError
            If there is no such table.
        DamagedTable
            If it cannot be read.
        """
        files = table_files(self.root, name)
        if not files:
            raise ConfigError("TABLE", f"a table of {self.root}", repr(name), did_you_mean(name, self._all_names))
        parts = [read_table(path) for path in files]
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts)

    def info(self, name: str) -> TableInfo:
        """Return what a table says about itself; where its file lost the metadata, what the manifest kept."""
        own, kept = self._own_text(name), self._kept_text(name)
        info = TableInfo(headline="none")
        with contextlib.suppress(ValueError):
            info = info_from_json(own) if own else info
        return info_from_json(kept) if info.check is None and kept else info

    def is_described(self, name: str) -> bool:
        """Say whether anything is known of what a table claims, be it that it claims nothing."""
        return bool(self._own_text(name) or self._kept_text(name))

    def _own_text(self, name: str) -> str:
        files = table_files(self.root, name)
        try:
            return info_to_json(pq.read_schema(files[0])) if files else ""
        except (OSError, ValueError, pa.ArrowException):
            return ""

    def _kept_text(self, name: str) -> str:
        return str(self.manifest.get("tables", {}).get(name, ""))

    def context(self, trust: Sequence[str] = ()) -> Context:
        """Return what is needed to build this sweep's games again: its stored inputs, those that are what their names say."""
        contents = [(path.name, path.read_bytes()) for path in (self.root / "inputs").glob("*") if path.is_file()]
        inputs = {name: content for name, content in contents if hashlib.sha256(content).hexdigest() == name}
        return Context(trust=tuple(trust), inputs=inputs, folder=None)


@functools.lru_cache(maxsize=256)
def _is_pointless(path: Path, changed: int) -> bool:
    """Say whether a table has no column `point`; `changed` is when it was written."""
    try:
        return "point" not in pq.read_schema(path).names
    except (OSError, ValueError, pa.ArrowException):
        return False


_MANIFEST: Mapping[str, type] = {
    "id": str,
    "tables": dict,
    "columns": dict,
    "versions": dict,
    "tracking": dict,
    "summary": dict,
    "mlflow_runs": dict,
    "commands": list,
}


def read_manifest(root: Path) -> dict[str, Any]:
    """Return what manifest.json says, without what is damaged; nothing where it is not there."""
    try:
        said = json.loads((root / "manifest.json").read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(said, dict):
        return {}
    return {name: value for name, value in said.items() if isinstance(value, _MANIFEST.get(name, object))}


def sweeps_folder(root: Path) -> Path:
    """Return the folder of sweeps that a directory belongs to: where it lies; a mirror of a store's lies one deeper."""
    folder = root.resolve().parent
    return folder.parent if folder.name == ".remote" else folder


def table_files(root: Path, name: str) -> list[Path]:
    """Return the files that make up a table."""
    if not _TABLE_NAME.fullmatch(name):
        return []
    single, folder = root / "tables" / f"{name}.parquet", root / "tables" / name
    return ([single] if single.exists() else []) + sorted(folder.glob("*.parquet"))


def refuted_points(root: Path) -> set[str]:
    """Return the points of which checks.parquet says that something is refuted (none where it cannot be read)."""
    try:
        checks = pq.read_table(root / "checks.parquet", columns=["point", "grade"], partitioning=None)
        return set(checks.filter(pc.equal(checks["grade"], "refuted"))["point"].drop_null().to_pylist())
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return set()


# ---- files -------------------------------------------------------------------------------------------------------------------


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one Parquet file, or some columns of it.

    Raises
    ------
    DamagedTable
        If it is not a Parquet file, or a damaged one, or has no such column.
    """
    try:
        table = pq.read_table(path, columns=columns, partitioning=None, page_checksum_verification=True)
        return table if columns is None else table.select(columns)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from error


def write_table(table: pa.Table, path: Path) -> None:
    """Write one Parquet file, durable when this returns, in the encodings its columns ask for; the file appears at once, whole."""
    write_pieces(table.schema, [table], path)


def write_pieces(schema: pa.Schema, pieces: Iterable[pa.Table], path: Path) -> None:
    """Write one Parquet file as `write_table` does, from pieces that need not be in memory together."""
    encodings = {one.name: encoding_of(one) for one in schema if encoding_of(one)}
    dictionary = [name for name in schema.names if name not in encodings]
    with (
        replaced(path) as file,
        pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=dictionary,
            column_encoding=encodings or None,
            use_compliant_nested_type=False,  # a list column reads back as it was declared
            write_page_checksum=True,  # a flipped bit is found, not read
        ) as writer,
    ):
        for piece in pieces:
            writer.write_table(piece)


def write_text(path: Path, text: str) -> None:
    """Replace a small text file at once, whole."""
    with replaced(path, durable=False) as file:
        file.write(text.encode())


@contextlib.contextmanager
def replaced(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write to that takes the place of `path` at the end; where writing fails nothing of it is left.

    Its name is this process's own, and nothing that lies there under that name is followed: reports and verdicts are also written
    without the lock, and into directories that others made.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    try:
        with partial.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        partial.rename(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ---- columns of parameters: native where all agree, canonical JSON text where types differ ----------------------------------


def parameter_column(name: str, values: Sequence[Any]) -> tuple[pa.Field, pa.Array]:
    """Return a column of parameter values: of their own type where they share one (null aside), else JSON text."""
    kinds = {type(value) for value in values if value is not None}
    native = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    if len(kinds) <= 1 and kinds <= native.keys():
        kind = native[next(iter(kinds))] if kinds else pa.null()
        try:
            return pa.field(name, kind), pa.array(values, kind)
        except (OverflowError, pa.ArrowInvalid):
            pass
    texts = [None if value is None else json.dumps(value, sort_keys=True, separators=(",", ":")) for value in values]
    return pa.field(name, pa.string(), metadata=_JSON), pa.array(texts, pa.string())


def parameter_values(table: pa.Table, name: str) -> list[Any]:
    """Return a parameter column as the values that were put in."""
    values: list[Any] = table[name].to_pylist()
    if (table.schema.field(name).metadata or {}).get(b"json"):
        return [None if text is None else json.loads(text) for text in values]
    return values


def varies(column: pa.ChunkedArray) -> bool:
    """Say whether a column has more than one value, null among them.

    Examples
    --------
    >>> varies(pa.chunked_array([[1, None]])), varies(pa.chunked_array([pa.nulls(2)]))  # a parameter given as null is of no type
    (True, False)
    """
    return len(pc.unique(column)) > 1


def concat_points(tables: Sequence[pa.Table]) -> pa.Table:
    """Stack points tables whose parameter columns may differ."""
    names = list(dict.fromkeys(name for table in tables for name in table.schema.names if name not in ("point", *OUTCOME.names)))
    parts = [table.select(["point"]).cast(pa.schema([POINT])) for table in tables]
    for name in names:
        fields = {
            (one.type, bool(one.metadata)) for table in tables if name in table.schema.names for one in [table.schema.field(name)]
        }
        fields.discard((pa.null(), False))
        if len(fields) <= 1:
            kind, as_json = next(iter(fields), (pa.null(), False))
            one = pa.field(name, kind, metadata=_JSON if as_json else None)
            columns = [_native_column(table, name, kind) for table in tables]
        else:
            values = [parameter_values(table, name) if name in table.schema.names else [None] * len(table) for table in tables]
            one, whole = parameter_column(name, [value for part in values for value in part])
            ends = _ends(values)
            columns = [pa.chunked_array([whole[end - len(part) : end]], whole.type) for part, end in zip(values, ends, strict=True)]
        parts = [part.append_column(one, column) for part, column in zip(parts, columns, strict=True)]
    for one in OUTCOME:
        parts = [part.append_column(one, table[one.name]) for part, table in zip(parts, tables, strict=True)]
    return pa.concat_tables(parts)


def _native_column(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    if name not in table.schema.names or table.schema.field(name).type == pa.null():
        return pa.chunked_array([pa.nulls(len(table), kind)], kind)
    return table[name]


def _ends(parts: Iterable[Sequence[Any]]) -> list[int]:
    ends, total = [], 0
    for part in parts:
        total += len(part)
        ends.append(total)
    return ends


# ---- columns of point hashes -------------------------------------------------------------------------------------------------


def point_array(points: Sequence[str], rows: Sequence[int] | None = None) -> pa.DictionaryArray:
    """Return a `point` column: each point as many times as `rows` says (once each if None)."""
    import numpy as np  # noqa: PLC0415 (kept out of `minimex list`)

    indices = np.arange(len(points), dtype=np.int32)
    if rows is not None:
        indices = np.repeat(indices, rows)
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(points, pa.string()))


def ranks(column: pa.ChunkedArray, order: pa.Array) -> pa.ChunkedArray:
    """Return each row's place of its point in `order` (null where it is not there), without unpacking the column."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    chunks = column.unify_dictionaries().chunks
    known = chunks[0].dictionary if chunks else pa.array([], pa.string())
    places = pc.index_in(known, value_set=order)  # once: that costs as much as `order` is long
    return pa.chunked_array([places.take(chunk.indices) for chunk in chunks], pa.int32())


def spans(column: pa.ChunkedArray) -> Mapping[str, list[tuple[int, int]]]:
    """Return where each point's rows stand: `(start, stop)` runs by point, in order of first appearance."""
    import numpy as np  # noqa: PLC0415

    found: dict[str, list[tuple[int, int]]] = {}
    base = 0
    for chunk in column.chunks:
        if not len(chunk):
            continue
        encoded = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        names = encoded.dictionary.to_pylist()
        cuts = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        starts = [0, *cuts.tolist()]
        for start, stop in zip(starts, [*cuts.tolist(), len(codes)], strict=True):
            found.setdefault(names[int(codes[start])], []).append((base + start, base + stop))
        base += len(codes)
    return found
