"""manifest.json: what a sweep's tables are and claim, the commands that filled it, versions, where MLflow has it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.points import Point
from pipeline.settings import Settings
from pipeline.store import read_manifest, write_text
from pipeline.tracking.where import Tracking
from solvers.builder import make
from solvers.errors import ConfigError
from solvers.schema import info_to_json

_COMMANDS = 20


def _declared_tables(points: Sequence[Point]) -> dict[str, pa.Schema]:
    """Return the schemas of all tables these points may fill."""
    return {name: schema for solver in {type(point.solver) for point in points} for name, schema in solver.tables.items()}


def keep_manifest(root: Path, points: Sequence[Point], settings: Settings, **more: Any) -> dict[str, Any]:
    """Update manifest.json: what the tables are and claim, the commands, whatever else is given; return it."""
    manifest = _read(root)
    schemas = _declared_tables(points)
    manifest["tables"] = manifest.get("tables", {}) | {name: info_to_json(schema) for name, schema in schemas.items()}
    manifest["columns"] = manifest.get("columns", {}) | {
        name: [[one.name, str(one.type)] for one in schema] for name, schema in schemas.items()
    }
    commands = [one for one in manifest.get("commands", []) if one != settings.command]
    manifest["commands"] = [*commands, settings.command][-_COMMANDS:]
    manifest["experiment"] = settings.experiment or manifest.get("experiment")
    packages = ("minimex", "ray", "mlflow", "pyarrow", "numpy", "numba")
    manifest["versions"] = {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}
    tracking = settings.tracking
    if tracking.kind != "off":
        uri = None if tracking.uri is None else tracking.store
        manifest["tracking"] = {"kind": tracking.kind, "uri": uri, "child_runs": tracking.child_runs}
    manifest.update(more)
    _write(root, manifest)
    return manifest


def note_run(root: Path, store: str, run_id: str, *, complete: bool) -> None:
    """Write down which MLflow run of a store is this directory's, and whether it tells everything."""
    manifest = _read(root)
    runs, said = manifest.get("mlflow_runs", {}), {"id": run_id, "complete": complete}
    if runs.get(store) != said:
        _write(root, {**manifest, "mlflow_runs": {**runs, store: said}})


def is_recorded(manifest: dict[str, Any], tracking: Tracking) -> bool:
    """Say whether a store's run of this directory tells everything that was published, as far as we know."""
    return bool(manifest.get("mlflow_runs", {}).get(tracking.store, {}).get("complete"))


def wanted_tracking(manifest: dict[str, Any]) -> Tracking:
    """Return where a sweep's own command wanted it recorded; beside the sweeps if nobody said so."""
    told = manifest.get("tracking")
    try:
        return make(Tracking, **told) if isinstance(told, dict) else Tracking()
    except ConfigError as error:
        raise error.under("manifest.json: tracking") from None


def _read(root: Path) -> dict[str, Any]:
    manifest = read_manifest(root) or {"format": 1, "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    manifest.setdefault("id", uuid.uuid4().hex)
    return manifest


def _write(root: Path, manifest: dict[str, Any]) -> None:
    write_text(root / "manifest.json", json.dumps(manifest, indent=1, sort_keys=True))
