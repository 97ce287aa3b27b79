"""Checkers that say who judged, and one whose process dies."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict


def by_whom(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Say of the first row which process judged, and how many rows of which tables it was shown."""
    time.sleep(0.02)
    yield Verdict("sums", 0, "proved", f"{os.getpid()}: {sorted((name, len(rows), rows.nbytes) for name, rows in tables.items())}")


def dying(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Die of a table of three rows, in any process but the first."""
    if len(tables["sums"]) == 3 and multiprocessing.parent_process() is not None:
        os._exit(9)
    yield Verdict("sums", 0, "proved", "judged")


def endless(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Never come to an end."""
    while True:
        time.sleep(1)
    yield Verdict("sums", 0, "proved", "")
