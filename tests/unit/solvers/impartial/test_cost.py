"""The summary of counted work: slopes that are known, who has none, and the picture."""

import json
import re
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from pipeline.report.drawing import clean
from solvers.games.octal import Octal
from solvers.games.subtraction import Subtraction
from solvers.impartial.cost import SLOPES, WORK, slopes
from solvers.impartial.draw_cost import cost
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.tables import PERIODS
from solvers.inline import solve


def summary(*pairs):
    """Return the summary of a sweep over (game, limit)."""
    results = [solve(game, MexDp(limit)) for game, limit in pairs]
    names = [f"p{place}" for place, _ in enumerate(pairs)]
    points = pa.table(
        {"point": names, "metrics": [json.dumps(dict(result.metrics)) for result in results], "wall_s": [None] * len(names)}
    )
    rows = [result.tables["periods"].add_column(0, "point", pa.array([name])) for name, result in zip(names, results, strict=True)]
    return slopes(points, {"periods": pa.concat_tables(rows)})


def made(work):
    """Return the summary of work made up: {code: {n: xors}}."""
    rows = [(code, n, xors) for code, found in work.items() for n, xors in found.items()]
    names = [f"p{place}" for place, _ in enumerate(rows)]
    points = pa.table({"point": names, "metrics": [json.dumps({"xors": xors, "look_ups": 2 * xors}) for _, _, xors in rows]})
    points = points.append_column("wall_s", pa.array([n**1.5 / 1e6 for _, n, _ in rows]))
    known = [{"point": name, "code": code, "heaps_done": n} for name, (code, n, _) in zip(names, rows, strict=True)]
    schema = PERIODS.insert(0, pa.field("point", pa.string())).remove_metadata()
    return slopes(points, {"periods": pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in known], schema)})


def test_the_plain_method_is_quadratic():
    """Of a digit that breaks, n^2 / 4 xors: slope 2, whatever the game."""
    found = summary(*((Octal(code), limit) for code in ("0.77", "0.007") for limit in (1000, 2000, 4000)))
    rows = found["slopes"].to_pylist()
    assert [(row["code"], row["from"], row["to"]) for row in rows] == [("0.007", 1000, 4000), ("0.77", 1000, 4000)]
    assert all(row["slope"] == pytest.approx(2, abs=0.01) for row in rows)
    first = next(row for row in found["work"].to_pylist() if row["code"] == "0.77")
    assert rows[0]["slope_of_time"] is None
    assert (first["n"], first["xors"]) == (1000, 999**2 // 4 + 998**2 // 4)


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_the_slope_is_the_power(power):
    (row,) = made({"0.77": {n: 7 * n**power for n in (10, 20, 30, 1000)}})["slopes"].to_pylist()
    assert row == {"code": "0.77", "from": 10, "to": 1000, "slope": power, "slope_of_time": 1.5}


def test_what_lies_beside_the_line_counts():
    (row,) = made({"0.77": {1: 1, 10: 1, 100: 10_000}})["slopes"].to_pylist()
    assert row["slope"] == 2
    (row,) = made({"0.77": {1: 1, 10: 1000, 100: 100}})["slopes"].to_pylist()
    assert row["slope"] == 1


def test_who_has_no_slope():
    """One limit only; no xor at all."""
    found = summary((Octal("0.77"), 100), (Subtraction((1, 3)), 100), (Subtraction((1, 3)), 200))
    assert found["work"]["code"].to_pylist() == ["0.77"]
    assert len(found["slopes"]) == 0
    assert cost(None, found) == ""


def test_an_empty_sweep():
    empty = slopes(pa.table({name: pa.array([], pa.string()) for name in ("point", "metrics", "wall_s")}), {})
    assert empty["work"].equals(WORK.empty_table())
    assert empty["slopes"].equals(SLOPES.empty_table())


def test_the_picture_has_a_dot_a_limit_and_a_line_of_that_slope():
    work = {"0.77": {n: n**2 for n in (100, 1000, 10_000)}, "0.<7": {n: 5 * n**2 for n in (100, 10_000)}}
    svg = clean(cost(None, made(work)))
    dots = [
        (float(node.get("cx")), float(node.get("cy"))) for node in ET.fromstring(svg).iter("circle") if float(node.get("cx")) < 640
    ]
    assert len(dots) == 5
    assert len({x for x, _ in dots}) == 3
    lines = re.findall(r'd="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', svg)
    assert len(lines) == 2
    for line in lines:
        x, y, to_x, to_y = map(float, line)
        assert (x, y) in dots
        assert (to_x, to_y) in dots
    assert "0.&lt;7: slope 2.00" in svg
    assert "slope 2.00" in svg
