"""Configs in, Ray in the middle, certified Parquet and MLflow out. Knows no game and no method."""

import os

# Read when pyarrow is imported: its own choice, mimalloc, keeps what it needed for a moment, half a gigabyte of a million points.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

from pipeline.store import SweepDir, load

__all__ = ["SweepDir", "load"]
