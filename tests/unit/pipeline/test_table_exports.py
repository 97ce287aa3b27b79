"""Formats that a table offers: only ours, of one point, never two sequences in one file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.table_exports import exports_of
from solvers.schema import TableInfo, column, info_from_json, info_to_json, table_info, table_schema

FEW = ["solver=mex_dp", "solver.heap_limit=12", "tracking=off", "compute=inline"]
KAYLES = [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4]


def lines(text):
    return [tuple(map(int, line.split(" "))) for line in text.splitlines()]


def test_a_b_file(minimex):
    minimex("game=kayles", *FEW, "out=here")
    said = minimex("show", "here", "nimbers", "to=bfile").out
    assert lines(said) == list(enumerate(KAYLES))
    assert said.endswith("12 4\n")


def test_the_overview_names_what_a_table_offers(minimex):
    minimex("game=kayles", *FEW, "out=here")
    assert "nimbers also to=bfile" in minimex("show", "here").text


def test_several_points_are_never_mixed(minimex):
    minimex("game=octal", "game.code=0.77,0.07", *FEW, "out=here")
    refused = minimex("show", "here", "nimbers", "to=bfile")
    assert (refused.status, refused.out) == (2, "")
    assert "point: expected one point, because bfile holds the rows of one, got 2 in nimbers" in refused.text
    points = pq.read_table("here/points.parquet")
    hashes = dict(zip(points["game.code"].to_pylist(), points["point"].cast(pa.string()).to_pylist(), strict=True))
    for code, point in hashes.items():
        assert f"{point[:4]} (game.code={code})" in refused.text
    assert lines(minimex("show", "here", "nimbers", "to=bfile", f"point={hashes['0.77']}").out) == list(enumerate(KAYLES))
    assert lines(minimex("show", "here", "nimbers", "to=bfile", f"point={hashes['0.07'][:6]}").out)[:5] == [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 1),
        (4, 2),
    ]


@pytest.mark.parametrize("to", ["csv", "json"])
def test_a_point_can_be_chosen_in_every_format(minimex, to):
    minimex("game=octal", "game.code=0.77,0.07", *FEW, "out=here")
    points = pq.read_table("here/points.parquet")
    first, second = points["point"].cast(pa.string()).to_pylist()
    for table in ("points", "periods", "nimbers"):
        said = minimex("show", "here", table, f"to={to}", f"point={first}").out
        assert first in said
        assert second not in said


def test_no_rows_no_file(minimex):
    minimex("game=kayles", *FEW, "solver.keep_nimbers=true,false", "out=here")
    points = pq.read_table("here/points.parquet").sort_by("solver.keep_nimbers")["point"].cast(pa.string()).to_pylist()
    refused = minimex("show", "here", "nimbers", "to=bfile", f"point={points[0]}")
    assert (refused.status, refused.out) == (2, "")
    assert f"TABLE: expected rows to write as bfile, got none of point {points[0]} in nimbers" in refused.text
    assert "no rows if they are not kept (keep_nimbers)" in refused.text
    assert lines(minimex("show", "here", "nimbers", "to=bfile").out) == list(enumerate(KAYLES))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nimbers", "to=bfil"], "to: expected one of csv, json, latex, bfile, got 'bfil' (did you mean bfile?)"),
        (["periods", "to=bfile"], "to: expected one of csv, json, latex, got 'bfile'"),
        (["nimbers", "to=bfile", "point=zz"], "point: expected the beginning of one point's hash, got 'zz', which 0 points have"),
        (["to=bfile"], "TABLE: expected a table to write"),
    ],
    ids=" ".join,
)
def test_refused(minimex, words, said):
    minimex("game=kayles", *FEW, "out=here")
    answer = minimex("show", "here", *words)
    assert answer.status == 2
    assert said in answer.text


def test_a_damaged_table_is_no_b_file(minimex):
    minimex("game=kayles", *FEW, "out=here")
    path = Path("here/tables/nimbers.parquet")
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table.slice(0, 5), table.slice(6)]), path)
    answer = minimex("show", "here", "nimbers", "to=bfile")
    assert (answer.status, answer.out) == (2, "")
    assert "heaps are missing" in answer.text


@pytest.mark.parametrize(
    "target",
    ["os:system", "solvers.impartial.mex_dp:mex", "solvers.exports_of.x:f", "pipeline.exports:f", "solvers.a.exports:b.c", 3],
)
def test_only_our_own_exporters_are_called(target):
    assert exports_of(TableInfo(exports={"text": target})) == {}


def test_what_a_table_offers_travels_with_it():
    info = TableInfo(exports={"bfile": "solvers.impartial.exports:bfile"})
    schema = table_schema([column("n", pa.int64())], info)
    assert table_info(schema) == info
    assert exports_of(info_from_json(info_to_json(schema))) == info.exports
    assert info_from_json('{"check": null, "columns": [], "pictures": []}').exports == {}
