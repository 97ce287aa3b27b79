"""Tables for people and for other programs: nothing lost, nothing taken for markup."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.show import FORMATS

ROWS = pa.table(
    {
        "game.a": ["1/2", "a,b"],
        "x": [["1/3", "2/3"], None],
        "n": [None, 2**60],
        "ok": [True, False],
        "text": ['"&%$#_{}~^\\', "two\nlines"],
        "float": [0.1, 1e-300],
        "point": ["0" * 32, "1" * 32],
    }
)


def written(form, rows=ROWS):
    out = io.StringIO()
    FORMATS[form](rows, out)
    return out.getvalue()


def test_csv_reads_back():
    first, second = csv.DictReader(io.StringIO(written("csv")))
    assert first["x"] == "1/3 2/3"
    assert (first["n"], second["n"]) == ("", str(2**60))
    assert [first["text"], second["text"]] == ROWS["text"].to_pylist()
    assert float(first["float"]) == 0.1
    assert second["game.a"] == "a,b"


def test_json_reads_back():
    assert json.loads(written("json")) == ROWS.to_pylist()


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_without_rows_is_still_a_table(form):
    said = written(form, ROWS.slice(0, 0))
    assert said
    if form == "json":
        assert json.loads(said) == []


def test_latex_escapes_what_means_something_to_it():
    said = written("latex")
    assert r'"\&\%\$\#\_\{\}\textasciitilde{}\^{}\textbackslash{} & 0.1' in said
    assert "point" not in said
    assert said.count(r"\\") == 3
    assert r"\begin{tabular}{llllll}" in said


def test_long_tables_are_written_whole():
    rows = pa.table({"n": range(25_000)})
    assert len(written("csv", rows).splitlines()) == 25_001
    assert [row["n"] for row in json.loads(written("json", rows))] == list(range(25_000))


# ---- the command -------------------------------------------------------------------------------------------------------------

SWEEP = ["-m", "game=forced_rps", "game.a=0,1/2", "solver=support_enumeration", "tracking=off", "compute=inline", "out=here"]


def test_points_are_a_table_too(minimex):
    minimex(*SWEEP)
    rows = json.loads(minimex("show", "here", "points", "to=json").out)
    assert [(row["game.a"], row["status"]) for row in rows] == [("0", "done"), ("1/2", "done")]


def test_the_overview_counts_rows_and_verdicts(minimex):
    minimex(*SWEEP)
    assert "equilibria 2 2 proved" in minimex("show", "here").text
    pq.write_table(pq.read_table("here/checks.parquet").slice(0, 0), "here/checks.parquet")
    assert "2 proved" not in minimex("show", "here").text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["equilibrium"], "did you mean equilibria?"),
        (["../points"], "TABLE: expected a table of here, got '../points'"),
        (["to=csv"], "TABLE: expected a table to write, got nothing (one of points, equilibria)"),
        (["equilibria", "to=cvs"], "did you mean csv?"),
        (["equilibria", "rows=3"], "rows: expected an option of show"),
        (["a", "b"], "usage: minimex show DIR"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(minimex, words, said):
    minimex(*SWEEP)
    answer = minimex("show", "here", *words)
    assert answer.status == 2
    assert said in answer.text


def test_a_damaged_table_is_said_so(minimex):
    minimex(*SWEEP)
    path = Path("here/tables/equilibria.parquet")
    path.write_bytes(path.read_bytes()[:100])
    answer = minimex("show", "here", "equilibria")
    assert answer.status == 2
    assert "equilibria.parquet: cannot be read" in answer.text
