"""`minimex show DIR [TABLE] [to=FORMAT] [point=HASH]`: a table joined with its points, on the screen or as text for other programs.

Formats that any table has are here; a table may offer more (`solvers.schema.TableInfo.exports`), each of the rows of one point.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.export import one_point
from pipeline.findings import cell_text, fitting_table, joined
from pipeline.remote import is_remote, without_secrets
from pipeline.store import SweepDir, load
from pipeline.table_exports import exports_of, write_export
from pipeline.verify import judgement
from solvers.errors import ConfigError, nearest

_SCREEN_ROWS = 200


def show(folder: str, table: str | None, to: str | None, console: Console, *, point: str | None = None) -> None:
    """Print a sweep's tables, or one of them.

    Parameters
    ----------
    point
        Only rows of the point whose hash begins like this.

    Raises
    ------
    ConfigError
        If there is no such sweep, table, format or point, or a format of one point's rows is wanted of several.
    """
    sweep = load(folder)
    name = without_secrets(folder) if is_remote(folder) else str(sweep.root)
    if table is None:
        if to is not None:
            names = ("points", *sweep.summary_names, *sweep.table_names)
            raise ConfigError("TABLE", "a table to write", "nothing", f"one of {', '.join(names)}")
        _show_overview(sweep, name, console)
        return
    own = exports_of(sweep.info(table))
    if to is not None and to not in FORMATS and to not in own:
        raise ConfigError("to", f"one of {', '.join((*FORMATS, *own))}", repr(to), nearest(to, (*FORMATS, *own)))
    chosen = None if point is None else one_point(sweep, point)
    if to is not None and to in own:
        write_export(sweep, table, to, chosen, sys.stdout)
        return
    rows = _rows(sweep, table, chosen)
    if to is not None:
        FORMATS[to](rows, sys.stdout)
    else:
        _show_rows(sweep, name, table, rows, console)


def _rows(sweep: SweepDir, table: str, point: str | None) -> pa.Table:
    """Return a table as it is shown, or one point's rows of it."""
    if table in sweep.summary_names:
        if point is not None:
            raise ConfigError("point", "a table of points", f"{table}, a summary of them all")
        return sweep.table(table)
    if table != "points":
        return joined(sweep, table, None if point is None else pa.array([point], pa.string()))
    return sweep.points if point is None else sweep.points.filter(pc.equal(sweep.points["point"].cast(pa.string()), point))


def _show_overview(sweep: SweepDir, place: str, console: Console) -> None:
    statuses = sweep.points.group_by("status").aggregate([([], "count_all")]).to_pylist()
    console.print(f"{place}: " + ", ".join(f"{row['count_all']:,} {row['status']}" for row in statuses))
    counts = judgement(sweep).counts()
    overview = Table(box=None, pad_edge=False, header_style="")
    for name in ("table", "rows", "verdicts", "about"):
        overview.add_column(name, justify="right" if name == "rows" else "left")
    for name in (*sweep.summary_names, *sweep.table_names):
        grades = ", ".join(f"{count:,} {grade}" for grade, count in counts.get(name, {}).items())
        about = sweep.info(name).about or ("what solves said on their way" if name == "progress" else "")
        overview.add_row(name, f"{len(sweep.table(name)):,}", grades, about)
    console.print(overview)
    offered = {name: exports_of(sweep.info(name)) for name in (*sweep.summary_names, *sweep.table_names)}
    more = "".join(f", {name} also to={' or '.join(own)}" for name, own in offered.items() if own)
    console.print(f"minimex show {place} TABLE shows one; to=csv, json or latex writes it{more}", style="dim", soft_wrap=True)


def _show_rows(sweep: SweepDir, place: str, name: str, rows: pa.Table, console: Console) -> None:
    constant = [one for one in sweep.parameters if one not in sweep.varied and one in rows.schema.names]
    if constant and len(sweep.points):
        said = ", ".join(f"{one}={cell_text(sweep.points[one][0].as_py())}" for one in constant)
        console.print(Text(said, style="dim"))
    empty = {one for one in rows.schema.names if rows[one].null_count == len(rows)}
    shown = [one for one in rows.schema.names if one not in {*constant, *empty, "point"}] or rows.schema.names
    varied = [one for one in shown if one in sweep.parameters]
    own = [one for one in shown if one not in varied]
    table, left_out = fitting_table(rows.slice(0, _SCREEN_ROWS), varied, own, console.width)
    console.print(table)
    rest = [f"{len(rows) - _SCREEN_ROWS:,} more rows"] if len(rows) > _SCREEN_ROWS else []
    rest += [f"also {', '.join(left_out)}"] if left_out else []
    if rest:
        console.print(f"{'; '.join(rest)}: minimex show {place} {name} to=csv", style="dim", soft_wrap=True)


# ---- formats -----------------------------------------------------------------------------------------------------------------


def _write_csv(rows: pa.Table, out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows.schema.names)
    for batch in rows.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            writer.writerow([" ".join(map(str, value)) if isinstance(value, list) else value for value in row.values()])


def _write_json(rows: pa.Table, out: TextIO) -> None:
    out.write("[")
    separator = "\n"
    for batch in rows.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            out.write(separator + json.dumps(row))
            separator = ",\n"
    out.write("\n]\n")


_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
)


def _write_latex(rows: pa.Table, out: TextIO) -> None:
    names = [name for name in rows.schema.names if name != "point"]
    out.write(f"\\begin{{tabular}}{{{'l' * len(names)}}}\n\\hline\n")
    out.write(" & ".join(name.translate(_LATEX) for name in names) + " \\\\\n\\hline\n")
    out.writelines(" & ".join(_latex_cell(value) for value in row.values()) + " \\\\\n" for row in rows.select(names).to_pylist())
    out.write("\\hline\n\\end{tabular}\n")


def _latex_cell(value: Any) -> str:
    return cell_text(value).translate(_LATEX)


FORMATS: Mapping[str, Callable[[pa.Table, TextIO], None]] = {"csv": _write_csv, "json": _write_json, "latex": _write_latex}
