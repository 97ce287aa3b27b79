"""manifest.json: what a sweep's tables are and claim, the commands that filled it, versions, the MLflow run."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.points import Point
from pipeline.settings import Settings
from pipeline.store import write_text
from solvers.schema import info_to_json

_COMMANDS = 20


def _declared_tables(points: Sequence[Point]) -> dict[str, pa.Schema]:
    """Return the schemas of all tables these points may fill."""
    return {name: schema for solver in {type(point.solver) for point in points} for name, schema in solver.tables.items()}


def keep_manifest(root: Path, points: Sequence[Point], settings: Settings, **more: Any) -> dict[str, Any]:
    """Update manifest.json: what the tables are and claim, the commands, whatever else is given; return it."""
    path = root / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        manifest = {"format": 1, "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
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
    manifest.update(more)
    write_text(path, json.dumps(manifest, indent=1, sort_keys=True))
    return manifest
