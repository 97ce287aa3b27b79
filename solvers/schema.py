"""What a table says about itself: its checker, what it claims, how it wants to be drawn, which columns are mere effort.

All of it travels in Arrow schema metadata (and so in the Parquet file), so that verify, report, show and export need no
knowledge of families. Pipeline and solvers both read and write it only through this module.

Exact numbers are text `"p/q"` (or `"p"`) in a column `x`, with a float64 column `x_float` beside it where people plot it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal

import pyarrow as pa

from solvers.contract import Grade
from solvers.errors import ContractError

_KEY = b"minimex"
Headline = Literal["each", "last", "none"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines of `y` columns over `x`, one for each point and each value of the `by` columns.

    `timed`: x counts what the solver's `Progress` counts as done, so that seconds may take its place.
    """

    x: str
    y: tuple[str, ...]
    by: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    title: str = ""
    timed: bool = False


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A map of `value` over two swept parameters.

    A text column (or several, joined) is drawn in categories, a number in shades. A point with several rows shows the first
    and is marked.
    """

    value: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """A sequence in rows of `row_length`: `value` at `index`.

    `row_length_from` names a column `table.column` of the same point (a period), which is used where it is not null.
    """

    index: str
    value: str
    row_length: int = 24
    row_length_from: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How the values of columns are distributed over the rows of all points of a sweep, where it has many points.

    A number is counted in bins, text (or several columns, joined) value by value. With `per_point` there is no column: what is
    counted is how many rows each point has (of those that have any). With `once` only a point's first row counts: for what all its
    rows share. With `parts` a text counts as a number: how many parts, joined by "+", it has. Points that differ in a swept key of
    few values (a size, a solver) get a histogram for each.
    """

    value: tuple[str, ...]
    title: str = ""
    per_point: bool = field(default=False, kw_only=True)
    once: bool = field(default=False, kw_only=True)
    parts: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if bool(self.value) == self.per_point:
            raise ValueError(f"a Histogram names columns or counts rows per point, not {self}")
        if self.per_point and (self.once or self.parts):
            raise ValueError(f"rows per point are counted as they are, not {self}")


Picture = Curve | HeatMap | Strip | Histogram
_PICTURES: Mapping[str, type] = {kind.__name__: kind for kind in (Curve, HeatMap, Strip, Histogram)}


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What a table says about itself.

    `check` is `solvers.<family>.check:<function>` or None (the table claims nothing); `claims` the grade its rows should reach;
    `headline` which of its rows are printed as findings: each, the last of every point, none; `columns` which columns those
    rows show (empty: all); `drawing` a function `(game, tables) -> SVG`, `solvers.<family>.draw:<function>` (or of a module
    `draw_<what>`), or None; `exports` text formats by name (`minimex show DIR TABLE to=NAME`), each
    `solvers.<family>.exports:<function>`, a function of one point's rows that yields pieces of text, or raises `ValueError` where
    these rows have none.
    """

    check: str | None = None
    claims: Grade | None = None
    headline: Headline = "each"
    columns: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    drawing: str | None = None
    exports: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


def column(
    name: str, kind: pa.DataType, about: str = "", *, effort: bool = False, encoding: str | None = None, nullable: bool = True
) -> pa.Field:
    """Describe one column; `effort` exempts it from "same tables", `encoding` is a Parquet encoding ("DELTA_BINARY_PACKED")."""
    said = {"about": about, "effort": "1" if effort else "", "encoding": encoding or ""}
    return pa.field(name, kind, nullable=nullable, metadata={key: text for key, text in said.items() if text})


def table_schema(columns: Iterable[pa.Field], info: TableInfo) -> pa.Schema:
    """Return the schema of a table, its `info` in the metadata.

    Raises
    ------
    ContractError
        If a checker is named without a claim or a claim without a checker, or `info` names a column that is not there.
    """
    fields = list(columns)
    names = {one.name for one in fields}
    if (info.check is None) != (info.claims is None):
        raise ContractError("a table names a checker exactly when it claims a grade")
    drawn = [name for picture in info.pictures for name in _columns_of(picture)]
    missing = sorted(set(info.columns).union(drawn) - names)
    if missing:
        raise ContractError(f"table info names columns that are not there: {missing}")
    said = asdict(info)
    said["pictures"] = [{"kind": type(picture).__name__, **asdict(picture)} for picture in info.pictures]
    return pa.schema(fields, metadata={_KEY: json.dumps(said, sort_keys=True).encode()})


def table_info(schema: pa.Schema) -> TableInfo:
    """Return what the table says about itself; an empty `TableInfo` where it says nothing.

    Raises
    ------
    ValueError
        If the metadata are there but damaged.
    """
    text = (schema.metadata or {}).get(_KEY)
    return info_from_json(text.decode()) if text else TableInfo(headline="none")


def info_to_json(schema: pa.Schema) -> str:
    """Return the metadata text of a schema ("" if it has none): what a manifest keeps beside the table."""
    text = (schema.metadata or {}).get(_KEY)
    return text.decode() if text else ""


def info_from_json(text: str) -> TableInfo:
    """Read what `info_to_json` wrote."""
    said = json.loads(text)
    try:
        said["pictures"] = tuple(_picture(picture) for picture in said["pictures"])
        said["columns"] = tuple(said["columns"])
        return TableInfo(**said)
    except (KeyError, TypeError) as error:
        raise ValueError(f"damaged table metadata: {error}") from error


def is_effort(one: pa.Field) -> bool:
    """Say whether a column only tells what the solve cost."""
    return bool((one.metadata or {}).get(b"effort"))


def encoding_of(one: pa.Field) -> str | None:
    """Return the Parquet encoding a column asks for."""
    text = (one.metadata or {}).get(b"encoding")
    return text.decode() if text else None


def conform(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Return the table with exactly this schema, metadata included.

    Raises
    ------
    ContractError
        If its columns or types differ.
    """
    if not table.schema.equals(schema, check_metadata=False):
        raise ContractError(
            f"table {name!r} was declared as\n{schema.remove_metadata()}\nbut came as\n{table.schema.remove_metadata()}"
        )
    return table if table.schema.equals(schema, check_metadata=True) else table.cast(schema)


def exact(value: Fraction | int) -> str:
    """Return exact text: `"p/q"` in lowest terms, or `"p"`.

    Examples
    --------
    >>> exact(Fraction(2, 4)), exact(3)
    ('1/2', '3')
    """
    return str(Fraction(value))


def _columns_of(picture: Any) -> tuple[str, ...]:
    if isinstance(picture, Curve):
        return (picture.x, *picture.y, *picture.by)
    if isinstance(picture, HeatMap | Histogram):
        return picture.value
    return (picture.index, picture.value)


def _picture(said: dict[str, Any]) -> Picture:
    kind = _PICTURES[said.pop("kind")]
    made: Picture = kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in said.items()})
    return made
