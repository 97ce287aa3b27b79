"""Configs in, Ray in the middle, certified Parquet and MLflow out. Knows no game and no method."""

from pipeline.store import SweepDir, load

__all__ = ["SweepDir", "load"]
