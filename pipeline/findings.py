"""The findings of a sweep as people read them: rows joined with their points, exact, with what was proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.report.findings import findings_of, points_of
from pipeline.report.groups import FEWEST_POINTS
from pipeline.report.summary import Sheet, places_of, summaries
from pipeline.store import SweepDir, ranks, varies
from pipeline.verify import Judgement
from solvers.schema import Histogram, TableInfo

_MOST_ROWS = 20
_FEWEST_ROWS = 4
_LONGEST_CELL = 40
_GAP = 2
_FIRST = 2  # parameters that stand before findings when room is short


def joined(sweep: SweepDir, name: str, points: pa.Array | None = None) -> pa.Table:
    """Return a table with its points' parameters in front, the point's hash last.

    Parameters
    ----------
    points
        Hashes (text) whose rows are wanted; None: all.
    """
    table = sweep.table(name)
    if points is not None:
        table = table.filter(pc.is_valid(ranks(table["point"], points)))
    places = ranks(table["point"], sweep.brief["point"].cast(pa.string()).combine_chunks())
    left = sweep.brief.select(list(sweep.parameters)).take(places)
    right = table.drop_columns(["point"])
    columns = {name: left[name] for name in left.schema.names}
    columns |= {(name if name not in columns else f"{name}_found"): right[name] for name in right.schema.names}
    return pa.table(columns | {"point": table["point"].cast(pa.string())})


def headline_rows(table: pa.Table, info: TableInfo) -> pa.Table:
    """Return the rows that are findings to show: all, the last of every point, or none."""
    if info.headline == "none" or not len(table):
        return table.slice(0, 0)
    if info.headline == "each":
        return table
    points = table["point"].combine_chunks()
    changes = pc.not_equal(points[1:], points[:-1]) if len(points) > 1 else pa.array([], pa.bool_())
    last = pa.concat_arrays([changes, pa.array([True])])
    return table.filter(last)


def print_findings(sweep: SweepDir, judgement: Judgement, points: Sequence[str], console: Console) -> None:
    """Print at most 20 findings of these points, exact, with what was proved and where the rest is; of many points a summary."""
    wanted = pa.array(list(points), pa.string())
    tables = {}
    for name in sweep.table_names:
        info = sweep.info(name)
        if info.headline != "none" and info.check is not None:
            rows = headline_rows(joined(sweep, name, wanted), info)
            if len(rows):
                tables[name] = (rows, info, _sheets(sweep, name, points))
    counts = judgement.counts()
    left = _MOST_ROWS
    for name in sweep.summary_names:
        info = sweep.info(name)
        if info.headline != "none":
            rows = sweep.table(name)
            shown = min(len(rows), max(left // 2, min(_FEWEST_ROWS, left)))
            left -= shown
            columns = [one for one in (info.columns or rows.schema.names) if rows[one].null_count < len(rows)]
            table, left_out = fitting_table(rows.slice(0, shown), [], columns, console.width)
            console.print(Text(f"{name}: of the whole sweep", style="bold"), soft_wrap=True)
            console.print(table)
            _print_rest(sweep, name, len(rows) - shown, left_out, console)
    wants = [min(len(rows), _FEWEST_ROWS if sheets else _MOST_ROWS) for rows, _, sheets in tables.values()]
    for shown, (name, (rows, info, sheets)) in zip(_shared(left, wants), tables.items(), strict=True):
        grades = ", ".join(f"{count:,} {grade}" for grade, count in counts.get(name, {}).items())
        title = f"{name}: {grades or 'not judged: minimex verify'}"
        table, left_out = fitting_table(rows.slice(0, shown), *_shown_columns(sweep, rows, info), console.width)
        console.print(Text(title, style="bold"), soft_wrap=True)  # a title of the table would be broken to its width
        for sheet in sheets:
            _print_sheet(sheet, console)
        console.print(table)
        _print_rest(sweep, name, len(rows) - shown, left_out, console)


def _print_rest(sweep: SweepDir, name: str, more: int, left_out: Sequence[str], console: Console) -> None:
    rest = [f"{more:,} more"] if more else []
    rest += [f"also {', '.join(left_out)}"] if left_out else []
    if rest:
        console.print(f"  ... {'; '.join(rest)}: minimex show {sweep.root} {name}", style="dim", soft_wrap=True)


def _shared(rows: int, wants: Sequence[int]) -> list[int]:
    """Share so many rows out: nobody gets more than it wants, those who want little get all of it.

    Examples
    --------
    >>> _shared(20, [3, 100, 2, 9])
    [3, 8, 2, 7]
    """
    given = [0] * len(wants)
    while rows and given != list(wants):
        for place, want in enumerate(wants):
            if given[place] < want and rows:
                given[place] += 1
                rows -= 1
    return given


def _sheets(sweep: SweepDir, name: str, points: Sequence[str]) -> list[Sheet]:
    """Return what is to be said of many points together."""
    if len(points) < FEWEST_POINTS or not any(isinstance(one, Histogram) for one in sweep.info(name).pictures):
        return []
    known = points_of(sweep)
    return list(summaries(findings_of(sweep, name, known, None), known, places_of(known, points)))


def _print_sheet(sheet: Sheet, console: Console) -> None:
    columns = list(zip(sheet.head, *sheet.rows, strict=True))
    fitting, width = 0, console.width
    for column in columns:
        width -= max(map(len, column)) + _GAP
        fitting += width >= -_GAP
    table = Table(header_style="", pad_edge=False, box=None)
    for column in columns[:fitting]:
        table.add_column(column[0], justify="right", no_wrap=True)
    for row in sheet.rows:
        table.add_row(*(Text(text) for text in row[:fitting]))
    console.print(Text(sheet.title, style="italic"), soft_wrap=True)
    console.print(table)


def _shown_columns(sweep: SweepDir, rows: pa.Table, info: TableInfo) -> tuple[list[str], list[str]]:
    """Return the parameters that vary and the columns to show."""
    names = rows.schema.names
    own = names[len(sweep.parameters) : -1]
    chosen = [f"{name}_found" if f"{name}_found" in names else name for name in info.columns] if info.columns else own
    said = {name.rpartition(".")[2] for name in chosen}  # a finding that repeats its parameter says it once
    varied = [name for name in sweep.parameters if name.rpartition(".")[2] not in said and varies(rows[name])]
    return varied, [name for name in chosen if name in names and rows[name].null_count < len(rows)]


def fitting_table(rows: pa.Table, varied: list[str], chosen: list[str], width: int) -> tuple[Table, list[str]]:
    """Return the table of as many columns as fit, unbroken, and the names of those that did not."""
    texts = {name: [_shortened(cell_text(value)) for value in rows[name].to_pylist()] for name in [*varied, *chosen]}
    fitting: set[str] = set()
    for name in [*varied[:_FIRST], *chosen, *varied[_FIRST:]]:
        needed = max(len(text) for text in [name, *texts[name]])
        if needed <= width or not fitting:
            fitting.add(name)
            width -= needed + _GAP
    table = Table(header_style="", pad_edge=False, box=None)
    for name in texts:
        if name in fitting:
            kind = rows.schema.field(name).type
            numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            table.add_column(name, justify="right" if numeric else "left", no_wrap=True)
    for row in zip(*(column for name, column in texts.items() if name in fitting), strict=True):
        table.add_row(*(Text(text) for text in row))
    return table, [name for name in texts if name not in fitting]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 3]}..."


def cell_text(value: Any) -> str:
    """Return a cell as people read it: lists in parentheses, floats to six digits, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"({', '.join(f'{one:.4g}' if isinstance(one, float) else cell_text(one) for one in value)})"
    return str(value)
