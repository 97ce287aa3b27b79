"""What one sweep may take over from another: rows of points that are done there, nothing refuted among them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.store import OUTCOME, ranks, read_table, refuted_points, table_files


def lent(sibling: Path, missing: pa.Array, taken: set[str]) -> tuple[pa.Table, dict[str, pa.Table]] | None:
    """Return the points that a sibling has of those that are missing, and their rows by table; None if there are none.

    Parameters
    ----------
    missing
        Point hashes.
    taken
        Those of them that nobody needs any more.

    Notes
    -----
    A sibling that cannot be read, or lacks rows it counted, lends nothing.
    """
    try:
        points = read_table(sibling / "points.parquet", ["point", "status"])
        done = points.filter(pc.and_(pc.equal(points["status"], "done"), pc.is_valid(ranks(points["point"], missing))))
        unfit = taken | refuted_points(sibling)
        hashes = [one for one in done["point"].cast(pa.string()).to_pylist() if one not in unfit]
        if not hashes:
            return None
        known = pa.array(hashes, pa.string())
        rows = read_table(sibling / "points.parquet", ["point", *OUTCOME.names])
        rows = rows.filter(pc.is_valid(ranks(rows["point"], known)))
        counts = [json.loads(text or "{}") for text in pc.unique(rows["rows"]).to_pylist()]
        names = {name for one in counts for name, count in one.items() if count}
        tables = {}
        for name in [*sorted(names), "progress"]:
            files = table_files(sibling, name)
            whole = pa.concat_tables([read_table(path) for path in files]) if files else None
            if whole is not None:
                tables[name] = whole.filter(pc.is_valid(ranks(whole["point"], known)))
        return (rows, tables) if _all_there(rows, tables) else None
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def _all_there(rows: pa.Table, tables: Mapping[str, pa.Table]) -> bool:
    wanted: dict[str, int] = {}
    for one in rows["rows"].value_counts().to_pylist():
        for name, count in json.loads(one["values"] or "{}").items():
            wanted[name] = wanted.get(name, 0) + count * one["counts"]
    return all(len(tables[name]) == count if name in tables else count == 0 for name, count in wanted.items())
