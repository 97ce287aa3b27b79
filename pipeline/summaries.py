"""Tables of a sweep as a whole: made by a function that the sweep names, stored beside the others without a column `point`.

A summary claims nothing but that it is what the sweep's tables give. Whoever verifies makes it again: what differs is refuted.
It is of all points of its directory, whichever command they came with; where points were published since, it is stale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipeline.hooks import Hook, HookFailed, summary_of
from pipeline.rounds import TablesSeen, points_seen
from pipeline.store import DamagedTable, SweepDir, table_files, write_table
from solvers.contract import Grade
from solvers.errors import ContractError, MinimexError
from solvers.schema import conform

_OF = b"minimex summary of"
_KEY = "summary"


def write_summaries(sweep: SweepDir, hook: Hook) -> dict[str, Any]:
    """Make a sweep's summary and store what is new of it; return what the manifest keeps of it.

    Raises
    ------
    HookFailed
        If the function fails, or its tables are not those it declares.
    OSError
        If they cannot be written.
    """
    made = _made(sweep, hook)
    taken = sorted(set(made) & {*sweep.table_names, *sweep.manifest.get("columns", {})})
    if taken:
        raise HookFailed(f"{hook.path}: {hook.name} has a table {taken[0]!r}, and so has a solver of this sweep")
    for name in sweep.summary_names:
        if name not in made and name in _names_kept(sweep):  # of another function before
            (sweep.root / "tables" / f"{name}.parquet").unlink()
    stamp = _stamp(sweep)
    for name, table in made.items():
        marked = table.replace_schema_metadata({**(table.schema.metadata or {}), _OF: stamp})
        if not _is_stored(sweep, name, marked):
            write_table(marked, sweep.root / "tables" / f"{name}.parquet")
    return {_KEY: {"function": hook.name, "arguments": dict(hook.arguments), "tables": sorted(made)}}


def kept_summary(sweep: SweepDir, trust: Sequence[str]) -> Hook | None:
    """Return the function by which a directory's summary was made; None: it has none.

    Raises
    ------
    MinimexError
        If what the manifest names is no summary, or not trusted.
    """
    kept = sweep.manifest.get(_KEY)
    if not kept:
        return None
    arguments = kept.get("arguments", {})
    node = {**(arguments if isinstance(arguments, Mapping) else {}), "function": kept.get("function")}
    return summary_of(node, "manifest.json: summary", trust)


def judged_summaries(sweep: SweepDir, trust: Sequence[str]) -> Iterator[tuple[str, Grade, str]]:
    """Yield each summary table with a grade and a reason: the summary is made again and compared."""
    promised = _names_kept(sweep)
    for name in sorted(set(promised) - set(sweep.summary_names)):
        yield name, "refuted", "the summary's table is missing"
    if not sweep.summary_names:
        return
    try:
        hook = kept_summary(sweep, trust)
        made = {} if hook is None else _made(sweep, hook)
    except (MinimexError, ValueError, KeyError, pa.ArrowException) as error:
        for name in sweep.summary_names:
            yield name, "unchecked", f"the summary cannot be made again: {error}"
        return
    stamp = _stamp(sweep)
    for name in sweep.summary_names:
        if name not in made:
            yield name, "unchecked", "it has no points, and nothing says how it was made"
            continue
        yield name, *_compared(sweep, name, made[name], stamp)


def _compared(sweep: SweepDir, name: str, made: pa.Table, stamp: bytes) -> tuple[Grade, str]:
    try:
        stored = sweep.table(name)
    except DamagedTable as error:
        return "refuted", f"the table cannot be read: {error.reason}"
    if stored.schema.equals(made.schema, check_metadata=False) and stored.equals(made):
        return "recomputed", "the tables give the same summary again"
    if (stored.schema.metadata or {}).get(_OF) != stamp:
        return "unchecked", "points were published since; the sweep's own command sums them up"
    return "refuted", f"the tables give another summary: {_difference(stored, made)}"


def _difference(stored: pa.Table, made: pa.Table) -> str:
    if stored.schema.names != made.schema.names or stored.schema.types != made.schema.types:
        return f"columns {', '.join(made.schema.names)}"
    if len(stored) != len(made):
        return f"{len(made):,} rows, {len(stored):,} found"
    for name in made.schema.names:
        for row, (wanted, came) in enumerate(zip(made[name].to_pylist(), stored[name].to_pylist(), strict=True)):
            if wanted != came:
                return f"row {row}, {name}: {wanted!r}, {came!r} found"
    return "other values"


def _made(sweep: SweepDir, hook: Hook) -> dict[str, pa.Table]:
    """Return what the function makes of all points.

    Raises
    ------
    HookFailed
        If it fails, or makes other tables than it declares.
    """
    order = sweep.brief["point"].cast(pa.string()).combine_chunks()
    found = hook.call(points_seen(sweep, order, ["wall_s"]), TablesSeen(sweep, order))
    declared: Mapping[str, pa.Schema] = hook.function.tables  # type: ignore[attr-defined]
    if (
        not isinstance(found, Mapping)
        or set(found) != set(declared)
        or not all(isinstance(one, pa.Table) for one in found.values())
    ):
        raise HookFailed(f"{hook.path}: {hook.name} did not return the tables it declares: {', '.join(sorted(declared))}")
    pointed = [name for name, schema in declared.items() if "point" in schema.names]
    if pointed:
        raise HookFailed(f"{hook.path}: {hook.name}: a summary's table has no column point, {pointed[0]!r} has")
    try:
        return {name: conform(found[name], schema, name) for name, schema in declared.items()}
    except ContractError as error:
        raise HookFailed(f"{hook.path}: {hook.name}: {error}") from error


def _is_stored(sweep: SweepDir, name: str, table: pa.Table) -> bool:
    if not table_files(sweep.root, name):
        return False
    try:
        stored = sweep.table(name)
    except DamagedTable:
        return False
    return bool(stored.schema.equals(table.schema, check_metadata=True) and stored.equals(table))


def _stamp(sweep: SweepDir) -> bytes:
    """Return a hash of what all points' rows claim, and of how long they took."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("seal", "wall_s"):
        for value in sweep.points_column(name).to_pylist():
            digest.update(str(value).encode())
    return digest.hexdigest().encode()


def _names_kept(sweep: SweepDir) -> list[str]:
    kept = sweep.manifest.get(_KEY, {}).get("tables", [])
    return [str(name) for name in kept] if isinstance(kept, list) else []
