"""The report: everything is shown that should be, nothing a value says becomes markup, nothing odd stops it."""

import html
import json
import re
import time
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from pipeline.report import write_index, write_report
from pipeline.report.drawing import UnusableDrawing, clean, draw
from pipeline.report.findings import findings_of, points_of
from pipeline.report.groups import groups_of
from pipeline.report.histogram import histogram
from pipeline.report.markup import cell_text, data_block, shortened
from pipeline.report.pictures import picture_data
from pipeline.report.summary import places_of, summaries
from pipeline.store import CHECKS, OUTCOME, POINT, PROGRESS, SweepDir, load, parameter_column, point_array, write_table
from solvers.schema import Curve, HeatMap, Histogram, Strip, TableInfo, column, table_schema

EVIL = "<script>alert(1)</script>\"'&</table>\x01"
VOID = {"meta", "input", "br", "hr", "img", "link"}


# ---- sweeps that nobody solved -----------------------------------------------------------------------------------------------


def hashes(count):
    return [f"{index:032x}" for index in range(count)]


def points_table(parameters, **outcome):
    count = len(next(iter(parameters.values()), []))
    usual = {"status": "done", "config": "{}", "wall_s": 0.5, "attempts": 1}
    fields, columns = [pa.field("point", pa.string())], [pa.array(hashes(count), pa.string())]
    for name, values in parameters.items():
        one, values_column = parameter_column(name, values)
        fields.append(one)
        columns.append(values_column)
    for one in OUTCOME:
        fields.append(one)
        columns.append(pa.array(outcome.get(one.name, [usual.get(one.name)] * count), one.type))
    return pa.table(columns, pa.schema(fields))


def rows_table(schema, rows, columns):
    """Return a table in which point i has rows[i] rows."""
    table = pa.table({one.name: pa.array(columns[one.name], one.type) for one in schema}, schema)
    return table.add_column(0, POINT, point_array(hashes(len(rows)), rows))


def sweep(root, points, tables=None, checks=None, manifest=None):
    (root / "tables").mkdir(parents=True)
    write_table(points, root / "points.parquet")
    for name, table in (tables or {}).items():
        write_table(table, root / "tables" / f"{name}.parquet")
    if checks is not None:
        write_table(pa.Table.from_pylist(checks, CHECKS), root / "checks.parquet")
    if manifest is not None:
        (root / "manifest.json").write_text(json.dumps(manifest))
    return load(root)


def verdict(row, point, grade, reason="", table="values"):
    return {"table": table, "row": row, "point": f"{point:032x}", "grade": grade, "reason": reason}


def values_schema(*pictures, **info):
    given = {"check": "solvers.some.check:check_values", "claims": "proved"} | info
    return table_schema(
        [column("n", pa.int64()), column("value", pa.string(), "what it is worth")], TableInfo(pictures=pictures, **given)
    )


def values_sweep(root, count=3, checks=None, *pictures, **info):
    table = rows_table(values_schema(*pictures, **info), [2] * count, {"n": [0, 1] * count, "value": ["1/3", "rock"] * count})
    return sweep(root, points_table({"game.n": list(range(count))}), {"values": table}, checks)


class Page(HTMLParser):
    """Reads a page: its tags must close in order; keeps text, tags, attributes and data blocks."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.blocks, self.scripts, self.attributes, self.ids = [], "", [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        assert len(said) == len(attrs), f"an attribute twice in <{tag}>"
        self.attributes += attrs
        self.ids += [said["id"]] if "id" in said else []
        if tag not in VOID:
            self.open.append((tag, said))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, said = self.open[-1] if self.open else ("", {})
        if tag == "script":
            (self.blocks if said.get("type") == "application/json" else self.scripts).append(data)
        elif tag != "style":
            self.text += data


def page_of(sweep):
    page = Page(write_report(sweep).read_text(encoding="utf-8"))
    assert len(set(page.ids)) == len(page.ids)
    assert len(page.scripts) == 1
    return page


def drawn(sweep, picture, table="values"):
    points = points_of(sweep)
    return picture_data(
        picture, findings_of(sweep, table, points, None), points, lambda name: findings_of(sweep, name, points, None)
    )


# ---- what was proved ---------------------------------------------------------------------------------------------------------


def test_it_says_that_nobody_judged_yet_and_what_to_run(tmp_path):
    page = page_of(values_sweep(tmp_path / "demo"))

    assert "Not judged yet: run minimex verify demo (the checker is solvers.some.check:check_values)" in page.text


def test_it_counts_grades_and_names_the_checker(tmp_path):
    checks = [verdict(row, point, "proved") for point in range(3) for row in range(2)]

    page = page_of(values_sweep(tmp_path / "demo", checks=checks))

    assert "6 rows of 3 points, each claimed to be proved. Judged by solvers.some.check:check_values: 6 proved." in page.text
    assert "Every row reached what was claimed." in page.text


def test_what_is_claimed_is_the_least_of_its_rows_grades(tmp_path):
    checks = [verdict(row, point, "sampled" if point else "proved") for point in range(3) for row in range(2)]

    page = page_of(values_sweep(tmp_path / "demo", checks=checks, claims="sampled"))

    assert "each claimed to be sampled or better. Judged by solvers.some.check:check_values: 4 sampled 2 proved." in page.text


def test_refuted_rows_come_first_with_their_reason(tmp_path):
    checks = [verdict(row, point, "proved") for point in range(3) for row in range(2) if (point, row) != (2, 1)]
    checks += [verdict(1, 2, "refuted", "rock is worth nothing"), verdict(None, 1, "refuted", "a row is missing")]

    page = page_of(values_sweep(tmp_path / "demo", checks=checks))

    assert "2 refuted claims" in page.text
    assert "game.n = 2" in page.text
    assert "rock is worth nothing" in page.text
    assert "1 row fell short of the claim." in page.text
    listed = re.findall(r"<tr>.*?</tr>", (tmp_path / "demo/report.html").read_text())
    first = next(row for row in listed if "chip" in row)
    assert "refuted" in first
    assert "rock" in first


def test_rows_without_verdict_are_counted_as_not_judged(tmp_path):
    page = page_of(values_sweep(tmp_path / "demo", checks=[verdict(0, 0, "proved"), verdict(0, 1, "unchecked", "too large")]))

    assert "4 not judged yet" in page.text
    assert "Left unchecked:1: too large" in page.text


def test_of_two_verdicts_on_a_row_the_worse_counts(tmp_path):
    made = values_sweep(tmp_path / "demo", 1, [verdict(0, 0, "proved"), verdict(0, 0, "sampled"), verdict(1, 0, "proved")])

    points = points_of(made)
    checks = pa.Table.from_pylist([verdict(0, 0, "sampled"), verdict(0, 0, "proved"), verdict(1, 0, "proved")], CHECKS)

    assert findings_of(made, "values", points, checks).counts == {"sampled": 1, "proved": 1}


def test_verdicts_meet_rows_of_a_point_that_stands_in_two_places(tmp_path):
    made = values_sweep(tmp_path / "demo", 2)
    table = made.table("values")
    write_table(
        pa.concat_tables([table.slice(0, 1), table.slice(2, 2), table.slice(1, 1)]), tmp_path / "demo/tables/values.parquet"
    )
    points = points_of(load(tmp_path / "demo"))

    found = findings_of(load(tmp_path / "demo"), "values", points, pa.Table.from_pylist([verdict(1, 0, "refuted")], CHECKS))

    assert found.grade.tolist() == [-1, -1, -1, 4]


def test_a_verdict_on_a_row_that_is_not_there_touches_no_other_row(tmp_path):
    table = rows_table(values_schema(), [1, 2], {"n": [0, 0, 1], "value": ["1"] * 3})
    made = sweep(
        tmp_path / "demo", points_table({"game.n": [1, 2]}), {"values": table}, [verdict(1, 0, "refuted", "a row too few")]
    )
    points = points_of(made)

    assert findings_of(made, "values", points, pa.Table.from_pylist([verdict(1, 0, "refuted")], CHECKS)).grade.tolist() == [-1] * 3
    assert "a row too few" in page_of(made).text


def test_a_refuted_table_that_is_not_there_is_reported(tmp_path):
    checks = [{"table": "gone", "row": None, "point": None, "grade": "refuted", "reason": "the table cannot be read"}]

    page = page_of(values_sweep(tmp_path / "demo", checks=checks))

    assert "the table cannot be read" in page.text
    assert "Claims refuted: 1" in page.text


# ---- nothing becomes markup --------------------------------------------------------------------------------------------------


def test_no_value_becomes_markup(tmp_path):
    pictures = (Curve("n", ("n",), ("value",), title=EVIL), HeatMap(("value",), EVIL), Strip("n", "value", title=EVIL))
    schema = table_schema(
        [column("n", pa.int64()), column("value", pa.string(), EVIL)],
        TableInfo(check=f"solvers.x.check:{EVIL}", claims="proved", about=EVIL, pictures=pictures, drawing=EVIL),
    )
    table = rows_table(schema, [1] * 4, {"n": [1, 2, 3, 4], "value": [EVIL] * 4})
    points = points_table(
        {EVIL: [EVIL, "b", "c", "d"], "game.a": [0, 0, 1, 1], "game.b": [0, 1, 0, 1]},
        status=["done", "done", "failed", "timeout"],
        error=[None, None, EVIL, EVIL],
        traceback=[None, None, EVIL, EVIL],
    )
    checks = [verdict(0, 0, "refuted", EVIL), {**verdict(None, 1, EVIL, EVIL), "table": EVIL}, verdict(0, 1, "unchecked", EVIL)]
    manifest = {
        "commands": [EVIL, ["minimex", EVIL], {"command": EVIL}],
        "versions": {EVIL: EVIL},
        "experiment": EVIL,
        "created": EVIL,
    }
    made = sweep(tmp_path / "<script>&'", points, {"values": table}, checks, manifest)

    page = page_of(made)

    assert all("alert" not in script for script in page.scripts)
    assert all("<" not in block for block in page.blocks)
    assert all("</script>" in str(json.loads(block)) for block in page.blocks)
    assert len(page.blocks) == 3
    assert EVIL[:-1] in page.text
    assert not [key for key, _ in page.attributes if key.startswith("on")]


def test_the_page_loads_nothing(tmp_path):
    page = page_of(values_sweep(tmp_path / "demo", 3, None, Curve("n", ("n",))))

    assert not [value for key, value in page.attributes if key in ("src", "href") and not value.startswith("#")]
    assert any("default-src 'none'" in str(value) for _, value in page.attributes)


@pytest.mark.parametrize(
    ("svg", "left"),
    [
        ('<svg><script>x()</script><rect width="3"/></svg>', '<svg><rect width="3"></rect></svg>'),
        ('<svg onload="x()"><g onclick="x()"/></svg>', "<svg><g></g></svg>"),
        ('<svg><foreignObject><b xmlns="http://www.w3.org/1999/xhtml">x</b></foreignObject>t</svg>', "<svg>t</svg>"),
        ('<svg><use href="#a"/><use href="http://x/y"/></svg>', '<svg><use href="#a"></use><use></use></svg>'),
        ('<svg><a href="javascript:x()"><text>t</text></a></svg>', "<svg></svg>"),
        ('<svg><rect fill="url(http://x)" stroke="url(#g)"/></svg>', '<svg><rect stroke="url(#g)"></rect></svg>'),
        ("<svg><style>*{}</style><text>a &lt;b&gt;</text></svg>", "<svg><text>a &lt;b&gt;</text></svg>"),
        ('<svg xmlns="http://www.w3.org/2000/svg"><path style="x" d="M0 0"/></svg>', '<svg><path d="M0 0"></path></svg>'),
    ],
)
def test_a_drawing_keeps_only_what_is_harmless(svg, left):
    assert clean(svg) == left


@pytest.mark.parametrize("svg", ["<html/>", "no svg", '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "<svg>" + " " * 200_000])
def test_what_is_no_drawing_is_refused(svg):
    with pytest.raises(UnusableDrawing):
        clean(svg)


@pytest.mark.parametrize(
    "target",
    [
        "os:system",
        "solvers.inline:solve",
        "solvers.x.draw:__call__",
        "solvers.no_such.draw:draw",
        "solvers.x.drawn:draw",
        "solvers.x.draw_:draw",
    ],
)
def test_only_drawing_functions_of_ours_are_called(tmp_path, target):
    with pytest.raises(UnusableDrawing):
        draw(values_sweep(tmp_path / "demo"), target, 0, {})


# ---- pictures ----------------------------------------------------------------------------------------------------------------


def grid_sweep(root, steps=4, **more):
    values = [Fraction(index, steps - 1) for index in range(steps)]
    pairs = [(a, b) for a in values for b in values]
    parameters = {"game.a": [str(a) for a, _ in pairs], "game.b": [str(b) for _, b in pairs]}
    schema = table_schema(
        [column("value_float", pa.float64()), column("support", pa.string()), column("x", pa.list_(pa.string()))], TableInfo()
    )
    rows = [2 if a == b else 1 for a, b in pairs]
    every = [pair for pair, count in zip(pairs, rows, strict=True) for _ in range(count)]
    columns = {
        "value_float": [float(a - b) for a, b in every],
        "support": ["rock" if a > b else "paper" for a, b in every],
        "x": [["1/3", str(a)] for a, _ in every],
    }
    return sweep(root, points_table(parameters | more), {"values": rows_table(schema, rows, columns)})


def test_a_map_has_exact_axes_in_order_and_marks_cells_with_several_rows(tmp_path):
    data = drawn(grid_sweep(tmp_path / "demo"), HeatMap(("value_float",)))

    assert data["x"] == {"name": "game.a", "values": ["0", "1/3", "2/3", "1"]}
    assert data["layers"][""]["several"] == [[0, 2], [5, 2], [10, 2], [15, 2]]
    cells = data["layers"][""]["cells"]
    assert data["texts"][cells[3]] == "1"  # a = 1, b = 0
    assert data["numbers"][cells[12]] == -1.0  # a = 0, b = 1


def test_a_map_of_texts_is_one_of_categories(tmp_path):
    data = drawn(grid_sweep(tmp_path / "demo"), HeatMap(("support", "x")))

    assert data["numbers"] is None
    assert data["texts"][data["layers"][""]["cells"][3]] == "rock \u00b7 (1/3, 1)"


def test_further_parameters_are_chosen_and_seeds_that_copy_another_are_ignored(tmp_path):
    solver = [["a", "b"][index % 2] for index in range(16)]
    made = grid_sweep(tmp_path / "demo", **{"seed": list(range(16)), "game.seed": list(range(16)), "solver": solver})

    data = drawn(made, HeatMap(("value_float",)))

    assert (data["x"]["name"], data["y"]["name"]) == ("game.a", "game.b")
    assert [one["name"] for one in data["selectors"]] == ["seed", "solver"]
    assert len(data["layers"]) == 16
    assert data["layers"]["3,1"]["cells"][12] >= 0


def test_points_that_lie_on_no_map_bring_no_choice(tmp_path):
    made = grid_sweep(tmp_path / "demo", game=["a"] * 15 + ["b"])
    a = [*made.points["game.a"].to_pylist()[:15], None]
    table = made.points.set_column(made.points.schema.get_field_index("game.a"), "game.a", pa.array(a))
    write_table(table, tmp_path / "demo/points.parquet")

    data = drawn(load(tmp_path / "demo"), HeatMap(("value_float",)))

    assert data["selectors"] == []
    assert data["layers"][""]["cells"].count(-1) == 1


def test_a_map_without_two_swept_numbers_says_so(tmp_path):
    assert "two swept numbers" in drawn(values_sweep(tmp_path / "demo"), HeatMap(("value",)))


def test_exact_text_in_many_values_is_shaded(tmp_path):
    made = grid_sweep(tmp_path / "demo")
    schema = table_schema([column("value", pa.string())], TableInfo())
    write_table(rows_table(schema, [1] * 16, {"value": [f"{n}/7" for n in range(16)]}), tmp_path / "demo/tables/exact.parquet")

    assert drawn(made, HeatMap(("value",)), "exact")["numbers"][:3] == [0.0, 0.142857, 0.285714]


# ---- histograms --------------------------------------------------------------------------------------------------------------


def histogram_sweep(root, rows, pictures, **columns):
    kinds = {name: pa.array(values).type for name, values in columns.items()}
    schema = table_schema([column(name, kind) for name, kind in kinds.items()], TableInfo(pictures=pictures))
    points = points_table({"seed": list(range(len(rows)))})
    return sweep(root, points, {"values": rows_table(schema, rows, columns)})


def hovered(svg):
    """Return what a reader finds under the pointer, bar by bar."""
    return [html.unescape(text) for text in re.findall(r"<title>(.*?)</title>", svg)]


def bars_of(made, picture):
    points = points_of(made)
    findings = findings_of(made, "values", points, None)
    found = histogram(picture, findings, groups_of(points, findings.owners))
    return None if found is None else hovered("".join(panel.svg for panel in found.panels))


def test_numbers_are_counted_in_bins_and_texts_one_by_one(tmp_path):
    picture, texts = Histogram(("v",)), Histogram(("s", "t"))
    columns = {"v": [n / 40 for n in range(20)], "s": ["a"] * 15 + ["b"] * 5, "t": [None] * 18 + ["c"] * 2}
    made = histogram_sweep(tmp_path / "demo", [1] * 20, (picture,), **columns)

    bars = bars_of(made, picture)
    assert bars[:2] == ["from 0 up to 0.02: 1 row (5 %)", "from 0.02 up to 0.04: 1 row (5 %)"]
    assert len(bars) == 20
    said = ["a \u00b7 none: 15 rows (75 %)", "b \u00b7 none: 3 rows (15 %)", "b \u00b7 c: 2 rows (10 %)"]
    assert bars_of(made, texts) == said


def test_rows_per_point_are_counted_by_points(tmp_path):
    picture = Histogram((), "how many", per_point=True)
    made = histogram_sweep(tmp_path / "demo", [1] * 15 + [0] * 3 + [3] * 10, (picture,), v=[0] * 45)

    assert bars_of(made, picture) == ["1: 15 points (60 %)", "3: 10 points (40 %)"]
    assert "25 points." in page_of(made).text


def test_few_points_have_no_histogram_and_nothing_is_said(tmp_path):
    pictures = (Histogram(("v",), "spread"), HeatMap(("v",), "map"))

    page = page_of(histogram_sweep(tmp_path / "demo", [5] * 19, pictures, v=list(range(95))))

    assert "spread" not in page.text
    assert "map: not drawn. A map needs two swept numbers" in page.text


def test_beside_a_histogram_no_map_is_missed(tmp_path):
    pictures = (HeatMap(("v",), "map"), Histogram(("v",), "spread"), Histogram(("gone",), "empty"))
    made = histogram_sweep(tmp_path / "demo", [1] * 20, pictures, v=list(range(20)), gone=[float("nan")] * 20)

    page = page_of(made)

    assert "spread" in page.text
    assert "not drawn" not in page.text
    assert "empty" not in page.text


def grouped_sweep(root, sizes, rows, pictures, **columns):
    """Return a sweep over a size and a seed."""
    kinds = {name: pa.array(values).type for name, values in columns.items()}
    schema = table_schema([column(name, kind) for name, kind in kinds.items()], TableInfo(pictures=pictures))
    points = points_table({"game.size": sizes, "seed": list(range(len(sizes)))})
    return sweep(root, points, {"values": rows_table(schema, rows, columns)})


def test_points_of_another_size_have_another_histogram_and_are_summed_up_apart(tmp_path):
    picture = Histogram((), "how many", per_point=True)
    sizes, rows = [10, 2] * 20, [3, 1] * 15 + [5, 1] * 5
    made = grouped_sweep(tmp_path / "demo", sizes, rows, (picture,), v=[0] * sum(rows))

    page = page_of(made)

    assert bars_of(made, picture) == ["1: 20 points (100 %)", "3: 15 points (75 %)", "5: 5 points (25 %)"]
    assert page.text.index("game.size = 2") < page.text.index("game.size = 10")
    assert "23.5" not in page.text
    assert re.search(r"10\s*20\s*3\.5\s*0\.1987\s*0\.8885\s*3\s*3\s*5", page.text)


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [([1] * 20 + [2] * 20, 2), ([1] * 19 + [2] * 21, 1), (list(range(13)) * 20, 1), ([1] * 40, 1)],
    ids=["two", "too few in one", "too many", "one"],
)
def test_a_key_separates_points_if_it_makes_few_and_large_groups(tmp_path, sizes, groups):
    made = grouped_sweep(tmp_path / "demo", sizes, [1] * len(sizes), (), v=[0] * len(sizes))
    points = points_of(made)

    found = groups_of(points, np.arange(len(sizes)))

    assert len(found.groups) == groups
    assert sorted(np.concatenate([one.points for one in found.groups]).tolist()) == list(range(len(sizes)))


def test_parts_are_counted_and_a_point_counts_once(tmp_path):
    parts, once = Histogram(("s", "t"), "sizes", parts=True), Histogram(("v",), once=True)
    columns = {"s": ["a+b", "c"] * 20, "t": ["d+e", "f+g"] * 20, "v": [1, 7] * 20}
    made = histogram_sweep(tmp_path / "demo", [2] * 20, (parts, once), **columns)

    assert bars_of(made, parts) == ["1 \u00b7 2: 20 rows (50 %)", "2 \u00b7 2: 20 rows (50 %)"]
    assert bars_of(made, once) == ["1: 20 points (100 %)"]


def test_values_too_rare_for_a_bar_are_counted_only(tmp_path):
    picture = Histogram(("s",), "names")
    made = histogram_sweep(tmp_path / "demo", [1] * 90, (picture,), s=[f"n{n}" for n in range(90)])

    assert bars_of(made, picture) == []
    assert "90 rows, 90 different values. Not drawn: most of them are too rare for a bar." in page_of(made).text


def test_a_map_over_seeds_is_left_out_beside_a_histogram(tmp_path):
    pictures = (HeatMap(("v",), "a map"), Histogram(("v",), "spread"))
    made = grouped_sweep(tmp_path / "demo", [1] * 20 + [2] * 20, [1] * 40, pictures, v=list(range(40)))

    assert "a map" not in page_of(made).text
    assert "spread" in page_of(made).text


def test_many_points_are_summed_up_in_a_few_numbers(tmp_path):
    pictures = (Histogram((), "how many", per_point=True), Histogram(("s",), "sizes", parts=True), Histogram(("s",), "names"))
    sizes, rows = [2, 10] * 20, [1, 2] * 20
    made = grouped_sweep(tmp_path / "demo", sizes, rows, pictures, s=["a", "a", "a+b"] * 20)
    points = points_of(made)
    findings = findings_of(made, "values", points, None)

    many, shares = summaries(findings, points, places_of(points, hashes(40)))

    assert many.rows == (("2", "20", "1", "0", "0", "1", "1", "1"), ("10", "20", "2", "0", "0", "2", "2", "2"))
    assert (shares.head, shares.rows) == (
        ("game.size", "count", "1", "2"),
        (("2", "20", "100 %", ""), ("10", "40", "50 %", "50 %")),
    )
    assert list(summaries(findings, points, places_of(points, hashes(19)))) == []


def test_a_hostile_histogram_is_text(tmp_path):
    pictures = (
        Histogram((EVIL,), EVIL),
        Histogram((EVIL, "n"), EVIL),
        Histogram(("n",), EVIL),
        Histogram((), EVIL, per_point=True),
    )
    made = histogram_sweep(tmp_path / "demo", [1] * 40, pictures, **{EVIL: [EVIL] * 40, "n": list(range(40))})

    page = page_of(made)

    assert page.text.count(EVIL[:-1]) > 40
    assert len(page.scripts) == 1
    assert not [key for key, _ in page.attributes if key.startswith("on")]


def test_a_histogram_of_many_rows_takes_no_time(tmp_path):
    count = 100_000
    pictures = (Histogram(("v",)), Histogram(("s", "t")), Histogram((), per_point=True))
    columns = {
        "v": [n % 997 / 7 for n in range(count)],
        "s": [f"s{n % 5000}" for n in range(count)],
        "t": [["a", f"{n % 3}"] for n in range(count)],
    }
    made = histogram_sweep(tmp_path / "demo", [1] * count, pictures, **columns)
    points = points_of(made)
    findings = findings_of(made, "values", points, None)

    start = time.perf_counter()
    groups = groups_of(points, findings.owners)
    drawn = [histogram(picture, findings, groups) for picture in pictures]

    assert time.perf_counter() - start < 3  # 0.1 s alone; this machine may be busy
    assert all(len(panel.svg) < 20_000 for one in drawn for panel in one.panels)
    assert drawn[1].panels == ()
    assert drawn[1].notes[0] == "100,000 rows, 15,000 different values."


def curve_sweep(root, count=2, steps=5, **columns):
    schema = table_schema([column("step", pa.int64()), column("gap", pa.float64()), column("player", pa.int32())], TableInfo())
    given = {"step": list(range(1, steps + 1)) * count, "gap": [1 / n for n in range(1, steps + 1)] * count}
    given["player"] = [n % 2 for n in range(steps)] * count
    return sweep(
        root,
        points_table({"solver": [f"s{n}" for n in range(count)]}),
        {"values": rows_table(schema, [steps] * count, given | columns)},
    )


def test_a_curve_has_a_line_for_each_point_and_by_value(tmp_path):
    data = drawn(curve_sweep(tmp_path / "demo"), Curve("step", ("gap",), ("player",), log_x=True))

    assert data["labels"] == ["player", "solver"]
    assert [line[1] for line in data["lines"]] == [["0", "s0"], ["1", "s0"], ["0", "s1"], ["1", "s1"]]
    assert [data["xs"][line[0]] for line in data["lines"][:2]] == [[1, 3, 5], [2, 4]]
    assert data["log"] == [True, False]


def test_what_was_done_may_be_exchanged_for_seconds(tmp_path):
    made = curve_sweep(tmp_path / "demo")
    first = made.brief["point"].to_pylist()[0]
    stamps = {
        "point": [first] * 2,
        "done": [1, 3],
        "total": [5, 5],
        "elapsed_s": [0.5, 2.5],
        "metric": ["gap"] * 2,
        "value": [1.0] * 2,
    }
    arrays = [
        pa.array(stamps[one.name], pa.string()).dictionary_encode() if one.name == "point" else pa.array(stamps[one.name], one.type)
        for one in PROGRESS
    ]
    write_table(pa.Table.from_arrays(arrays, schema=PROGRESS), tmp_path / "demo" / "tables" / "progress.parquet")

    made = load(tmp_path / "demo")

    assert drawn(made, Curve("step", ("gap",), timed=True))["seconds"] == [[0.5, 1.5, 2.5, None, None], [None] * 5]
    assert "seconds" not in drawn(made, Curve("step", ("gap",)))


def test_long_and_many_lines_are_thinned_and_it_is_said(tmp_path):
    long = drawn(curve_sweep(tmp_path / "long", steps=2000), Curve("step", ("gap",), log_x=True))
    many = drawn(curve_sweep(tmp_path / "many", count=500), Curve("step", ("gap",)))

    assert len(long["lines"][0][2]) <= 300
    assert long["xs"][0][-1] == 2000
    assert "up to 2,000 steps" in " ".join(long["notes"])
    assert len(many["lines"]) == 120
    assert "120 of 500 lines" in " ".join(many["notes"])


def test_a_curve_without_numbers_says_so(tmp_path):
    made = curve_sweep(tmp_path / "demo", gap=[None, float("nan"), float("inf"), None, None] * 2)

    assert "No value" in drawn(made, Curve("step", ("gap",)))


def strip_sweep(root, length, period):
    nimbers = [9 if n < 5 and n % 2 else n % 3 for n in range(length)]
    values = table_schema([column("heap", pa.int64()), column("nimber", pa.int32())], TableInfo())
    periods = table_schema([column("period", pa.int64())], TableInfo())
    tables = {
        "values": rows_table(values, [length], {"heap": list(range(length)), "nimber": nimbers}),
        "periods": rows_table(periods, [1], {"period": [period]}),
    }
    return sweep(root, points_table({"game.code": ["0.77"]}), tables)


def test_a_strip_has_rows_of_the_period_and_the_row_that_repeats(tmp_path):
    one = drawn(strip_sweep(tmp_path / "demo", 1001, 3), Strip("heap", "nimber", 24, "periods.period"))["strips"][0]

    assert (one["length"], one["total"], len(one["values"])) == (3, 1001, 600)
    assert one["reference"] == [0, 1, 2]
    assert one["values"][:6] == [0, 9, 2, 9, 1, 2]


@pytest.mark.parametrize("period", [None, 100_000])
def test_a_strip_without_a_usable_period_marks_nothing(tmp_path, period):
    one = drawn(strip_sweep(tmp_path / "demo", 100, period), Strip("heap", "nimber", 24, "periods.period"))["strips"][0]

    assert (one["length"], one["reference"], one["tooLong"]) == (24, None, period)


def test_a_strip_survives_gaps_and_missing_places(tmp_path):
    schema = table_schema([column("heap", pa.int64()), column("nimber", pa.int32())], TableInfo())
    table = rows_table(schema, [4], {"heap": [2, 9, None, 4], "nimber": [1, 2, 3, 4]})

    one = drawn(sweep(tmp_path / "demo", points_table({"n": [1]}), {"values": table}), Strip("heap", "nimber"))["strips"][0]

    assert (one["first"], one["at"], one["values"]) == (2, [0, 2, 7], [1, 4, 2])


# ---- tables, failures, odd sweeps --------------------------------------------------------------------------------------------


def test_each_last_or_no_rows_are_listed(tmp_path):
    for headline, found in (("each", 6), ("last", 3), ("none", 0)):
        page = page_of(values_sweep(tmp_path / headline, headline=headline))
        assert page.text.count("1/3") + page.text.count("rock") == found


def test_long_tables_are_cut_and_it_is_said(tmp_path):
    page = page_of(values_sweep(tmp_path / "demo", 800))

    assert "1,600 rows, the first 1,000 are here" in page.text


def test_failures_are_grouped_with_their_traceback_folded(tmp_path):
    points = points_table(
        {"game.n": [1, 2, 3]},
        status=["failed", "failed", "timeout"],
        error=["ValueError: no", "ValueError: no", "3 s"],
        traceback=["Traceback: here", "Traceback: there", None],
    )

    page = page_of(sweep(tmp_path / "demo", points))

    assert "3 points found nothing" in page.text
    assert "game.n = 1 and 1 other point" in page.text
    assert "Traceback: here" in page.text
    assert "No table here has anything to show." in page.text


def test_odd_sweeps_have_reports(tmp_path):
    pictures = (Curve("n", ("n",)), HeatMap(("value",)), Strip("n", "value"))
    nothing = rows_table(values_schema(*pictures), [], {"n": [], "value": []})

    assert "0 points" in page_of(sweep(tmp_path / "empty", points_table({}), {"values": nothing}, [])).text
    assert "There are no rows." in page_of(sweep(tmp_path / "none", points_table({"a": [1]}), {"values": nothing}, [])).text
    assert "1 point" in page_of(values_sweep(tmp_path / "one", 1, None, *pictures)).text
    mixed = points_table({"game.n": [1, "x", None], "all": [None] * 3, "flag": [True, False, None], "list": [[1], [2], [1]]})
    assert "1, x, none" in page_of(sweep(tmp_path / "mixed", mixed)).text.replace('"', "")


def test_damaged_files_are_named_and_the_rest_is_shown(tmp_path):
    made = values_sweep(tmp_path / "demo")
    (tmp_path / "demo/tables/broken.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "demo/checks.parquet").write_bytes(b"")
    (tmp_path / "demo/manifest.json").write_text("{")

    page = page_of(made)

    assert "broken.parquet: cannot be read" in page.text
    assert "checks.parquet: cannot be read" in page.text
    assert "6 rows of 3 points" in page.text


def test_many_points_take_seconds_and_little_room(tmp_path):
    count = 100_000
    schema = table_schema([column("value", pa.float64())], TableInfo(pictures=(HeatMap(("value",)), Curve("value", ("value",)))))
    table = rows_table(schema, [1] * count, {"value": [float(n) for n in range(count)]})
    points = points_table({"a": [n % 400 for n in range(count)], "b": [f"{n // 400}/7" for n in range(count)]})
    made = sweep(tmp_path / "demo", points, {"values": table})

    start = time.perf_counter()
    path = write_report(made)

    assert time.perf_counter() - start < 30  # 2 s alone; this machine may be busy
    assert path.stat().st_size < 2_000_000


def test_a_report_replaces_the_last_one_whole(tmp_path):
    made = values_sweep(tmp_path / "demo")
    write_report(made)

    assert write_report(made) == tmp_path / "demo/report.html"
    assert [path.name for path in (tmp_path / "demo").glob("*.partial")] == []


def test_the_index_lists_sweeps(tmp_path):
    write_report(values_sweep(tmp_path / "one <b>", checks=[verdict(0, 0, "proved"), verdict(1, 0, "refuted")]))
    values_sweep(tmp_path / "two")
    (tmp_path / "three").mkdir()
    (tmp_path / "three/points.parquet").write_bytes(b"no")

    page = Page(write_index(tmp_path).read_text(encoding="utf-8"))

    assert "3 sweeps" in page.text
    assert "1 refuted 1 proved" in page.text
    assert "cannot be read" in page.text
    assert ("href", "one%20%3Cb%3E/report.html") in page.attributes
    assert "two (no report yet)" in page.text
    assert "No sweeps are here." in Page(write_index(tmp_path / "one <b>").read_text()).text


@pytest.mark.parametrize(
    ("value", "text"), [(["1/3", "0", "2/3"], "(1/3, 0, 2/3)"), (1e-20, "1e-20"), ({"a": [1]}, "(a: (1))"), (b"ab", "2 bytes")]
)
def test_values_are_written_as_people_read_them(value, text):
    assert cell_text(value) == text


def test_long_values_are_cut():
    assert shortened("a" * 1000).endswith("(1,000 characters)")
    assert cell_text(list(range(1000))).endswith("1,000 entries)")


def test_a_data_block_cannot_be_left():
    assert data_block(["</script><!--"]).count("<") == 2


def test_a_number_with_a_giant_exponent_stays_text(tmp_path):
    made = sweep(tmp_path / "demo", points_table({"a": ["1e999999999", "1"], "b": ["1", "2"]}))

    assert "1e999999999" in page_of(made).text
    assert isinstance(made, SweepDir)
