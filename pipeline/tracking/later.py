"""`minimex track`: record a published directory when its own command did not, or could not, or elsewhere again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from pipeline.journal import locked
from pipeline.manifest import wanted_tracking
from pipeline.remote import give_back, is_remote
from pipeline.store import DamagedTable, SweepDir, load, sweeps_folder, table_files
from pipeline.tracking.record import track
from pipeline.tracking.where import Tracking, ui_lines
from solvers.builder import make
from solvers.errors import ConfigError

_KINDS = ("sqlite", "server")


def track_later(folder: str, kind: str | None, uri: str | None, console: Console) -> bool:
    """Record a directory in MLflow, by default in the database beside it; say where it is, and return whether that worked.

    Raises
    ------
    ConfigError
        If the folder holds no sweep, its command wanted a store of its own and none is named, or the store cannot be one.
    DirectoryBusy
        If a command is at work there.
    DamagedTable
        If a file of the sweep's cannot be read: no store is told half of a sweep.
    """
    sweep = load(folder)
    settings = _settings(wanted_tracking(sweep.manifest), kind, uri)
    with locked(sweep.root):
        _read_all(sweep)
        store_folder = Path("outputs").resolve() if is_remote(folder) else sweeps_folder(sweep.root)
        if track(sweep, settings, store_folder, console.print) is None:
            return False
    give_back(folder, sweep.root, console.print)
    for line in ui_lines(settings, store_folder):
        console.print(line, soft_wrap=True)
    return True


def _read_all(sweep: SweepDir) -> None:
    """Read every table once, some rows at a time; it costs no more than to upload them.

    Raises
    ------
    DamagedTable
        If one cannot be read.
    """
    _ = sweep.brief  # it has the columns it must have
    checks = sweep.root / "checks.parquet"
    tables = [path for name in (*sweep.table_names, *sweep.summary_names) for path in table_files(sweep.root, name)]
    for path in [sweep.root / "points.parquet", *([checks] if checks.exists() else []), *tables]:
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                for _ in file.iter_batches():
                    pass
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedTable(path, str(error).splitlines()[0]) from error


def _settings(wanted: Tracking, kind: str | None, uri: str | None) -> Tracking:
    if kind not in (None, *_KINDS):
        raise ConfigError("tracking", "sqlite or server", repr(kind))
    if uri is not None and kind is None:
        kind = "server" if uri.startswith(("http://", "https://")) else "sqlite"
    if uri is None and kind in (None, wanted.kind):
        if wanted.uri is not None:  # a directory from somebody else must not choose whom we talk to, or what we create
            raise ConfigError("uri", "the store by its name", "only what the directory says", f"uri={wanted.uri}")
        return wanted
    try:
        return make(Tracking, kind=kind, uri=uri or None, child_runs=wanted.child_runs)
    except ConfigError as error:
        raise ConfigError(error.path, error.wanted, error.came, error.hint.replace("tracking.uri=", "uri=")) from None
