"""Formats that a table offers besides those that any table has: text made of the rows of one point.

Which there are is the solvers' business: the table's metadata name them (`solvers.schema.TableInfo.exports`), each a function of
the rows, without the column `point`, that yields pieces of text. Only functions of a module `solvers.<family>.exports` are called:
a table somebody sends us cannot choose other code.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TextIO

import pyarrow as pa

from pipeline.findings import cell_text
from pipeline.store import SweepDir, spans
from solvers.errors import ConfigError
from solvers.schema import TableInfo

Writer = Callable[[pa.Table], Iterable[str]]

_TARGET = re.compile(r"(solvers(?:\.[a-z][a-z0-9_]*)+\.exports):([a-z][a-z0-9_]*)")
_SHOWN = 5


def exports_of(info: TableInfo) -> Mapping[str, str]:
    """Return the formats a table offers and the functions it names for them; none where that is not how they are named."""
    named = info.exports if isinstance(info.exports, dict) else {}
    return {name: target for name, target in named.items() if isinstance(target, str) and _TARGET.fullmatch(target)}


def write_export(sweep: SweepDir, name: str, to: str, point: str | None, out: TextIO) -> None:
    """Write one point's rows of a table, or a summary, in a format that it offers.

    Raises
    ------
    ConfigError
        If no point is named and several have rows, there are no rows, or these cannot be written so.
    """
    table = sweep.table(name)
    rows = table if name in sweep.summary_names else _of_one_point(sweep, name, table, to, point)
    try:
        out.writelines(writer(exports_of(sweep.info(name))[to])(rows))
    except (ValueError, LookupError, TypeError, ImportError, AttributeError, pa.ArrowException) as error:
        raise ConfigError("to", f"a table that can be written as {to}", name, str(error)) from error


def _of_one_point(sweep: SweepDir, name: str, table: pa.Table, to: str, point: str | None) -> pa.Table:
    """Return the rows of the one point, without its column."""
    runs = spans(table["point"])
    if point is None and len(runs) > 1:
        hint = f"point=HASH chooses: {'; '.join(_described(sweep, list(runs)))}"
        raise ConfigError("point", f"one point, because {to} holds the rows of one", f"{len(runs):,} in {name}", hint)
    chosen = next(iter(runs), "") if point is None else point
    if not runs.get(chosen):
        hint = sweep.info(name).about
        raise ConfigError("TABLE", f"rows to write as {to}", f"none{f' of point {chosen}' if chosen else ''} in {name}", hint)
    return pa.concat_tables([table.slice(start, stop - start) for start, stop in runs[chosen]]).drop_columns(["point"])


def _described(sweep: SweepDir, points: list[str]) -> list[str]:
    """Say of some points what their hash begins with and how their parameters differ."""
    brief = sweep.brief.select(["point", *sweep.varied])
    known = {row.pop("point"): row for row in brief.to_pylist()}
    size = next(size for size in range(4, 33) if len({point[:size] for point in known}) == len(known))
    said = [f"{one[:size]} ({', '.join(f'{k}={cell_text(v)}' for k, v in known.get(one, {}).items())})" for one in points[:_SHOWN]]
    return said + ["..."] * (len(points) > _SHOWN)


def writer(target: str) -> Writer:
    """Return the function that a table names; it is one of `exports_of`."""
    module, _, function = target.partition(":")
    found: Writer = getattr(importlib.import_module(module), function)
    return found
