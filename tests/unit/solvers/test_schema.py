"""What tables say about themselves travels with them, and what does not conform is refused."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from solvers.errors import ContractError
from solvers.schema import (
    Curve,
    HeatMap,
    Histogram,
    Strip,
    TableInfo,
    column,
    conform,
    encoding_of,
    exact,
    info_from_json,
    info_to_json,
    is_effort,
    table_info,
    table_schema,
)

COLUMNS = [
    column("n", pa.int64(), "how many", encoding="DELTA_BINARY_PACKED", nullable=False),
    column("value", pa.string()),
    column("nodes", pa.int64(), effort=True),
]
INFO = TableInfo(
    check="solvers.family.check:check_it",
    claims="proved",
    headline="last",
    columns=("value",),
    pictures=(
        Curve("n", ("nodes",), by=("value",), log_x=True, title="a curve"),
        HeatMap(("value",), "a map"),
        Strip("n", "nodes", 12, "periods.period", "a strip"),
        Histogram(("n", "value"), "a histogram"),
        Histogram((), per_point=True),
    ),
    drawing="solvers.family.draw:draw",
    about="What it is",
)


def test_info_survives_the_schema():
    assert table_info(table_schema(COLUMNS, INFO)) == INFO


def test_info_survives_parquet(tmp_path):
    schema = table_schema(COLUMNS, INFO)
    pq.write_table(schema.empty_table(), tmp_path / "it.parquet")
    read = pq.read_schema(tmp_path / "it.parquet")
    assert table_info(read) == INFO
    assert [(encoding_of(one), is_effort(one)) for one in read] == [("DELTA_BINARY_PACKED", False), (None, False), (None, True)]
    assert read.field("n").metadata[b"about"] == b"how many"
    assert not read.field("n").nullable


def test_info_survives_json():
    assert info_from_json(info_to_json(table_schema(COLUMNS, INFO))) == INFO


def test_a_table_that_says_nothing_claims_nothing():
    schema = pa.schema([("n", pa.int64())])
    assert table_info(schema) == TableInfo(headline="none")
    assert info_to_json(schema) == ""


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "nonsense",
        '{"pictures": [{"kind": "Pie"}], "columns": []}',
        '{"pictures": [{"kind": "Histogram", "value": []}], "columns": []}',
        '{"pictures": [], "columns": [], "colour": 1}',
    ],
)
def test_damaged_metadata_are_a_value_error(text):
    with pytest.raises(ValueError):
        info_from_json(text)


@pytest.mark.parametrize(
    ("check", "claims"), [("solvers.family.check:check_it", None), (None, "proved")], ids=["no claim", "no checker"]
)
def test_claim_and_checker_go_together(check, claims):
    with pytest.raises(ContractError, match="a table names a checker exactly when it claims a grade"):
        table_schema(COLUMNS, TableInfo(check=check, claims=claims))


@pytest.mark.parametrize(
    "info",
    [
        TableInfo(columns=("gone",)),
        TableInfo(pictures=(Curve("gone", ("n",)),)),
        TableInfo(pictures=(Curve("n", ("gone",)),)),
        TableInfo(pictures=(Curve("n", ("nodes",), by=("gone",)),)),
        TableInfo(pictures=(HeatMap(("value", "gone")),)),
        TableInfo(pictures=(Histogram(("value", "gone")),)),
        TableInfo(pictures=(Strip("n", "gone"),)),
        TableInfo(pictures=(Strip("gone", "n"),)),
    ],
    ids=str,
)
def test_columns_that_are_not_there_are_refused(info):
    with pytest.raises(ContractError, match=r"columns that are not there: \['gone'\]"):
        table_schema(COLUMNS, info)


@pytest.mark.parametrize(("value", "per_point"), [((), False), (("n",), True)])
def test_a_histogram_counts_values_or_rows_per_point(value, per_point):
    with pytest.raises(ValueError, match="names columns or counts rows per point"):
        Histogram(value, per_point=per_point)


def test_conform_gives_a_table_its_metadata():
    schema = table_schema(COLUMNS, INFO)
    bare = pa.table({"n": [1], "value": ["1/2"], "nodes": [3]}, schema=schema).replace_schema_metadata(None)
    found = conform(bare, schema, "it")
    assert found.schema.equals(schema, check_metadata=True)
    assert found.to_pylist() == bare.to_pylist()


@pytest.mark.parametrize(
    "table",
    [
        {"n": [1], "value": ["x"]},
        {"n": [1], "value": ["x"], "nodes": [1], "more": [1]},
        {"value": ["x"], "n": [1], "nodes": [1]},
        {"n": [1.0], "value": ["x"], "nodes": [1]},
        {"n": pa.array([1], pa.int32()), "value": ["x"], "nodes": [1]},
        {"n": [1], "value": [b"x"], "nodes": [1]},
    ],
    ids=["missing", "too many", "order", "float", "int32", "bytes"],
)
def test_tables_of_another_shape_are_refused(table):
    schema = table_schema([one.with_nullable(nullable=True) for one in COLUMNS], INFO)
    with pytest.raises(ContractError, match=r"table 'it' was declared as\n(.|\n)*but came as\n"):
        conform(pa.table(table), schema, "it")


@pytest.mark.parametrize(("value", "text"), [(Fraction(-2, 4), "-1/2"), (Fraction(4, 2), "2"), (0, "0"), (10**30, "1" + "0" * 30)])
def test_exact_text_is_in_lowest_terms(value, text):
    assert exact(value) == text


@pytest.mark.parametrize("how", ["once", "parts"])
def test_rows_per_point_are_counted_as_they_are(how):
    with pytest.raises(ValueError, match="counted as they are"):
        Histogram((), per_point=True, **{how: True})
