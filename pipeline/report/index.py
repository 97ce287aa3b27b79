"""An index over a folder of sweeps."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.report.findings import checks_of, outcome_counts
from pipeline.report.markup import chip, escape, number, page, plural, table
from pipeline.report.page import write_page
from pipeline.store import DamagedTable, SweepDir
from solvers.contract import GRADES


def write_index(folder: Path) -> Path:
    """Write `index.html` into a folder of sweeps and return its path: one row for each subfolder with a points.parquet."""
    roots = sorted(path.parent for path in folder.glob("*/points.parquet"))
    head = ["sweep", "points", "status", "grades", "published"]
    rows = [_row(SweepDir(root)) for root in roots]
    name = folder.resolve().name
    found = (
        table(head, rows, plural(len(rows), "sweep"), [False, True, False, False, False]) if rows else "<p>No sweeps are here.</p>"
    )
    body = f'<header><h1>{escape(name)}</h1></header><main id="main"><section>{found}</section></main>'
    path = folder / "index.html"
    write_page(path, page(f"{name} \u00b7 minimex", body))
    return path


def _row(sweep: SweepDir) -> list[str]:
    path = sweep.root / "points.parquet"
    published = f"{datetime.fromtimestamp(path.stat().st_mtime).astimezone():%Y-%m-%d %H:%M}"
    try:
        status = pq.read_table(path, columns=["status"], partitioning=None)
    except (OSError, ValueError) as error:
        return [_link(sweep), "", f"cannot be read: {escape(str(error).splitlines()[0])}", "", published]
    counts = " ".join(chip(f"{number(count)} {name}", name) for name, count in outcome_counts(status).items())
    return [_link(sweep), number(len(status)), counts, _grades(sweep), published]


def _link(sweep: SweepDir) -> str:
    if not (sweep.root / "report.html").exists():
        return f'{escape(sweep.name)} <span class="muted">(no report yet)</span>'
    return f'<a href="{escape(quote(sweep.root.name))}/report.html">{escape(sweep.name)}</a>'


def _grades(sweep: SweepDir) -> str:
    try:
        checks = checks_of(sweep)
    except DamagedTable:
        return "cannot be read"
    if checks is None:
        return '<span class="muted">not judged yet</span>'
    found = {one["values"]: one["counts"] for one in pc.value_counts(checks["grade"].combine_chunks()).to_pylist()}
    return " ".join(chip(f"{number(found[name])} {name}", name) for name in reversed(GRADES) if name in found)
