"""Findings as people read them: joined with their points, cut to what fits, with what was proved."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from rich.console import Console

from pipeline.events import Outcome
from pipeline.findings import cell_text, fitting_table, headline_rows, joined, print_findings
from pipeline.journal import Journal
from pipeline.rows import outcome_table
from pipeline.store import CHECKS, load, parameter_column, point_array
from pipeline.verify import Judgement
from solvers.schema import TableInfo, column, table_schema

HASHES = [f"{number:032x}" for number in range(40)]
CLAIM = {"check": "solvers.family.check:it", "claims": "proved"}
NOBODY = Judgement(CHECKS.empty_table(), {})


def sweep(root, tables, count=3, **parameters):
    """Write a sweep of `count` points; `tables` hold columns by name, one row a point and as many as `rows` says."""
    points = outcome_table([Outcome(one, "done") for one in HASHES[:count]])
    for place, (name, values) in enumerate(parameters.items(), 1):
        field, values_column = parameter_column(name.replace("__", "."), values)
        points = points.add_column(place, field, values_column)
    written = {}
    for name, (info, rows, columns) in tables.items():
        schema = table_schema([column(key, pa.array(values).type) for key, values in columns.items()], info)
        table = pa.table({key: pa.array(values) for key, values in columns.items()}, schema=schema)
        written[name] = table.add_column(0, "point", point_array(HASHES[:count], rows))
    journal = Journal(root)
    journal.commit(points, written)
    journal.publish(HASHES[:count])
    return load(root)


def printed(found, judgement=NOBODY, points=None, width=100):
    out = io.StringIO()
    print_findings(found, judgement, HASHES if points is None else points, Console(file=out, width=width))
    return out.getvalue()


# ---- joining -----------------------------------------------------------------------------------------------------------------


def test_rows_stand_beside_their_points_parameters(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(), [2, 0, 1], {"value": ["a", "b", "c"]})}, game__n=[10, 20, 30])
    assert joined(found, "facts").to_pylist() == [
        {"game.n": 10, "value": "a", "point": HASHES[0]},
        {"game.n": 10, "value": "b", "point": HASHES[0]},
        {"game.n": 30, "value": "c", "point": HASHES[2]},
    ]


def test_only_the_points_that_are_wanted(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(), [1, 1, 1], {"value": ["a", "b", "c"]})}, game__n=[10, 20, 30])
    assert joined(found, "facts", pa.array([HASHES[1], "f" * 32])).column("value").to_pylist() == ["b"]


def test_a_column_named_as_a_parameter_is_kept_beside_it(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(), [1, 1, 1], {"seed": [7, 8, 9]})}, seed=[1, 2, 3])
    assert joined(found, "facts").schema.names == ["seed", "seed_found", "point"]
    assert joined(found, "facts")["seed_found"].to_pylist() == [7, 8, 9]


# ---- which rows --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headline", "values"), [("each", ["a", "b", "c", "d"]), ("last", ["b", "c", "d"]), ("none", [])], ids=["each", "last", "none"]
)
def test_headlines(tmp_path, headline, values):
    info = TableInfo(headline=headline)
    found = sweep(tmp_path, {"facts": (info, [2, 1, 1], {"value": ["a", "b", "c", "d"]})})
    assert headline_rows(joined(found, "facts"), info)["value"].to_pylist() == values


@pytest.mark.parametrize("rows", [0, 1])
def test_the_last_of_few(tmp_path, rows):
    info = TableInfo(headline="last")
    found = sweep(tmp_path, {"facts": (info, [1], {"value": ["a"]})}, count=1)
    assert len(headline_rows(joined(found, "facts").slice(0, rows), info)) == rows


# ---- printing ----------------------------------------------------------------------------------------------------------------


def test_a_table_without_a_checker_is_no_finding(tmp_path):
    found = sweep(tmp_path, {"notes": (TableInfo(), [1, 1, 1], {"value": ["a", "b", "c"]})})
    assert printed(found) == ""


def test_grades_stand_in_the_title(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1, 1, 1], {"value": ["a", "b", "c"]})})
    assert "facts: not judged: minimex verify" in printed(found)
    checks = pa.table([["facts"] * 3, [0] * 3, HASHES[:3], ["proved", "refuted", "proved"], [""] * 3], schema=CHECKS)
    assert "facts: 2 proved, 1 refuted" in printed(found, Judgement(checks, {}))


def test_other_points_of_the_directory_are_not_printed(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1, 1, 1], {"value": ["one", "two", "three"]})})
    said = printed(found, points=HASHES[1:2])
    assert "two" in said
    assert "one" not in said
    assert "three" not in said


def test_twenty_rows_and_where_the_rest_is(tmp_path):
    found = sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1] * 30, {"value": [f"v{n}." for n in range(30)]})}, count=30)
    said = printed(found, width=200)
    assert [f"v{n}." in said for n in range(30)] == [True] * 20 + [False] * 10
    assert f"... 10 more: minimex show {tmp_path} facts" in said


def test_the_twenty_are_shared_by_all_tables(tmp_path):
    info = TableInfo(**CLAIM)
    many = {f"t{place}": (info, [1] * 30, {"value": [f"t{place}v{n}." for n in range(30)]}) for place in range(7)}
    said = printed(sweep(tmp_path, many, count=30), width=200)
    shown = [sum(f"t{place}v{n}." in said for n in range(30)) for place in range(7)]
    assert shown == [3, 3, 3, 3, 3, 3, 2]


def test_a_table_that_wants_little_leaves_the_rest_to_others(tmp_path):
    info = TableInfo(**CLAIM)
    rows = {"few": 1, "many": 30, "some": 3}
    tables = {name: (info, [1] * count + [0] * (30 - count), {"value": ["w"] * count}) for name, count in rows.items()}

    said = printed(sweep(tmp_path, tables, count=30), width=200)

    assert said.count("\nw ") == 20
    assert "... 14 more" in said


def test_columns_are_those_the_table_names_and_parameters_that_vary(tmp_path):
    info = TableInfo(**CLAIM, columns=("value",))
    columns = {"value": ["a", "b", "c"], "other": ["x", "y", "z"]}
    said = printed(sweep(tmp_path, {"facts": (info, [1, 1, 1], columns)}, game__n=[1, 2, 3], game__m=[5, 5, 5]))
    assert said.splitlines()[1].split() == ["game.n", "value"]


def test_columns_without_a_value_are_left_out(tmp_path):
    columns = {"value": ["a", "b", "c"], "other": pa.nulls(3, pa.string())}
    said = printed(sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1, 1, 1], columns)}))
    assert said.splitlines()[1].split() == ["value"]


def test_what_does_not_fit_is_named(tmp_path):
    columns = {"value": ["a" * 30] * 3, "wide": ["b" * 30] * 3}
    said = printed(sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1, 1, 1], columns)}), width=40)
    assert "bbb" not in said
    assert "... also wide: minimex show" in " ".join(said.split())


def test_text_that_looks_like_markup_is_text(tmp_path):
    said = printed(sweep(tmp_path, {"facts": (TableInfo(**CLAIM), [1, 1, 1], {"value": ["[red]a[/red]"] * 3})}))
    assert said.count("[red]a[/red]") == 3


def test_one_column_is_shown_however_narrow_it_is():
    table, left_out = fitting_table(pa.table({"a": ["x" * 30], "b": ["y"]}), [], ["a", "b"], 10)
    assert (len(table.columns), left_out) == (1, ["b"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("1/6", "1/6"),
        (3, "3"),
        (True, "True"),
        (1 / 3, "0.333333"),
        (1e-20, "1e-20"),
        ([1 / 3, "1/3", None], "(0.3333, 1/3, )"),
        ([], "()"),
        ([[1, 2], [3]], "((1, 2), (3))"),
    ],
    ids=str,
)
def test_cells(value, text):
    assert cell_text(value) == text
