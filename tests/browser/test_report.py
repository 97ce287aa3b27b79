"""The report in a real browser: the pictures of all families are drawn, nothing goes wrong, hostile values stay text."""

import html
import json
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest

from pipeline.app import main
from pipeline.report import markup, write_index, write_report
from pipeline.store import CHECKS, OUTCOME, POINT, load, parameter_column, point_array, write_table
from solvers import make, solve
from solvers.equilibrium.parametric import Parametric
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.games.forced_rps import ForcedRps
from solvers.games.octal import Octal
from solvers.games.random_matrix import RandomMatrix
from solvers.identity import config_text, describe, digest
from solvers.impartial.mex_dp import MexDp
from solvers.regret.regret_matching import RegretMatching
from solvers.schema import Curve, HeatMap, Histogram, Strip, TableInfo, column, table_schema

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
EVIL = "<img src=x onerror=alert(1)></script>\"'"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")


def browse(page, folder, *asked):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *asked, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def dom(page, folder):
    return browse(page, folder, "--window-size=1200,1000", "--dump-dom")


def said_by_page(text):
    return {
        name: int(value)
        for name, value in re.findall(r'<html[^>]*?data-(errors)="(\d+)"', text) + re.findall(r'data-(drawn)="(\d+)"', text)
    }


def write_sweep(root, parameters, tables, hashes, configs=None):
    (root / "tables").mkdir(parents=True)
    usual = {"status": "done", "wall_s": 0.1, "attempts": 1}
    fields, columns = [pa.field("point", pa.string())], [pa.array(hashes, pa.string())]
    for name, values in parameters.items():
        one, array = parameter_column(name, values)
        fields.append(one)
        columns.append(array)
    for one in OUTCOME:
        fields.append(one)
        values = configs if one.name == "config" and configs else [usual.get(one.name, "{}")] * len(hashes)
        columns.append(pa.array(values, one.type))
    write_table(pa.table(columns, pa.schema(fields)), root / "points.parquet")
    for name, table in tables.items():
        write_table(table, root / "tables" / f"{name}.parquet")
    checks = [{"table": name, "row": 0, "point": hashes[0], "grade": "proved", "reason": ""} for name in tables]
    write_table(pa.Table.from_pylist(checks, CHECKS), root / "checks.parquet")
    (root / "manifest.json").write_text(json.dumps({"commands": ["minimex -m game.a=0,1"], "versions": {"minimex": "0"}}))
    return load(root)


def solved(root, parameters, pairs):
    results = [solve(game, solver) for game, solver in pairs]
    configs = [config_text(describe(game), describe(solver), 0) for game, solver in pairs]
    hashes = [digest(text) for text in configs]
    tables = {}
    for name in results[0].tables:
        parts = [result.tables[name] for result in results]
        tables[name] = pa.concat_tables(parts).add_column(0, POINT, point_array(hashes, [len(part) for part in parts]))
    return write_sweep(root, parameters, tables, hashes, configs)


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """Small sweeps of three families, each with the pictures its tables ask for."""
    folder = tmp_path_factory.mktemp("sweeps")
    halves = [(a, b) for a in ("0", "1/3", "2/3", "1") for b in ("0", "1/2", "1")]
    maps = [(make(ForcedRps, a=a, b=b), SupportEnumeration()) for a, b in halves]
    curves = [(make(ForcedRps, a=a, b="1/4"), make(RegretMatching, iterations=1000)) for a in ("0", "1/2")]
    strips = [(make(Octal, code=code), MexDp(heap_limit=300)) for code in ("0.77", "0.07")]
    return {
        "map": solved(folder / "map", {"game.a": [a for a, _ in halves], "game.b": [b for _, b in halves]}, maps),
        "curves": solved(folder / "curves", {"game.a": ["0", "1/2"]}, curves),
        "strips": solved(folder / "strips", {"game.code": ["0.77", "0.07"]}, strips),
    }


@pytest.mark.parametrize("name", ["map", "curves", "strips"])
def test_every_picture_is_drawn_without_errors(sweeps, tmp_path, name):
    sweep = sweeps[name]
    tables = [table for table in sweep.table_names if len(sweep.table(table))]  # of an empty one the report says so
    pictures = [picture for table in tables for picture in sweep.info(table).pictures]
    wanted = sum(not isinstance(picture, Histogram) for picture in pictures)  # those need no script

    text = dom(write_report(sweep), tmp_path)

    assert wanted > 0
    assert said_by_page(text) == {"errors": 0, "drawn": wanted}
    assert text.count('aria-sort="') == 0
    assert "↕" not in text
    assert text.count('<button type="button">') > 0


def test_a_map_has_cells_and_a_legend_and_curves_have_lines(sweeps, tmp_path):
    maps, curves = dom(write_report(sweeps["map"]), tmp_path), dom(write_report(sweeps["curves"]), tmp_path / "again")

    assert 'shape-rendering="crispEdges"' in maps
    assert "4 by 3 cells" in maps
    assert 'class="legend"' in maps
    assert curves.count('class="line"') >= 4
    assert "game.a = 1/2" in curves


def test_the_exceptions_of_kayles_are_marked(sweeps, tmp_path):
    text = dom(write_report(sweeps["strips"]), tmp_path)

    kayles = text[text.index("game.code = 0.77") : text.index("game.code = 0.07</summary>")]
    marked = [int(place) for place in re.findall(r'class="exception"[^>]*title="n (\d+):', kayles)]
    assert marked == [0, 3, 6, 9, 11, 15, 18, 21, 22, 28, 34, 39, 57, 70]  # Guy & Smith 1956: the last exception is 70


@pytest.mark.parametrize("size", ["1200,1600", "400,1200"])
def test_pictures_can_be_photographed(sweeps, tmp_path, size):
    shot = tmp_path / "shot.png"

    browse(write_report(sweeps["map"]), tmp_path, f"--window-size={size}", f"--screenshot={shot}")

    assert shot.stat().st_size > 10_000


def test_hostile_values_stay_text(tmp_path):
    pictures = (Curve("n", ("n",), ("t",), log_x=True, log_y=True, title=EVIL), HeatMap(("t",), EVIL), Strip("n", "t", title=EVIL))
    schema = table_schema([column("n", pa.int64(), EVIL), column("t", pa.string())], TableInfo(about=EVIL, pictures=pictures))
    hashes = [f"{index:032x}" for index in range(4)]
    table = pa.table({"n": pa.array([-1, 0, 1, 2]), "t": [EVIL] * 4}, schema).add_column(0, POINT, point_array(hashes))
    parameters = {"a": [0, 0, 1, 1], "b": ["0", "1/2", "0", "1/2"], EVIL: [EVIL, "x", "y", "z"]}
    sweep = write_sweep(tmp_path / "hostile", parameters, {"values": table}, hashes)

    text = dom(write_report(sweep), tmp_path)

    assert said_by_page(text) == {"errors": 0, "drawn": 3}
    assert "<img" not in text
    assert "a logarithmic axis cannot show them" in text


def test_the_index_is_a_sortable_table(sweeps, tmp_path):
    folder = sweeps["map"].root.parent

    text = dom(write_index(folder), tmp_path)

    assert said_by_page(text) == {"errors": 0, "drawn": 0}
    assert text.count('<button type="button">') == 5


def use(page, folder, script):
    """Return what a script says that uses the page as a reader would; it runs in a copy without the page's own policy."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text(encoding="utf-8"))
    helpers = """
        const said = [], say = (text) => said.push(text);
        const at = (node, x, y) => {
          const box = node.getBoundingClientRect();
          const place = {clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true};
          node.dispatchEvent(new PointerEvent("pointermove", place));
        };
        const tip = () => say(tooltip.hidden ? "hidden" : tooltip.textContent);
        """
    folder.mkdir(exist_ok=True)
    copy = folder / "copy.html"
    copy.write_text(
        text.replace("</body>", f"<script>{helpers}{script};document.body.dataset.said = JSON.stringify(said)</script></body>")
    )
    found = re.search(r'data-said="([^"]*)"', dom(copy, folder))
    assert found is not None
    return json.loads(html.unescape(found[1]))


def test_a_reader_finds_values_under_the_pointer(sweeps, tmp_path):
    over_map = "const svg = document.querySelector('.HeatMap svg'); at(svg, 0.3, 0.3); tip(); at(svg, 0, 0); tip()"
    over_curve = "const svg = document.querySelector('.Curve svg'); at(svg, 0.99, 0.4); tip()"

    cell, outside = use(write_report(sweeps["map"]), tmp_path, over_map)
    (value,) = use(write_report(sweeps["curves"]), tmp_path / "again", over_curve)

    assert re.fullmatch(r"game\.a = \d(/3)?\ngame\.b = (0|1/2|1)\nvalue_float: -?[\d.]+(\nthe first of \d rows)?", cell)
    assert outside == "hidden"
    assert re.search(r"iterate = \w+\ngame\.a = (0|1/2)\niteration = 1000\nexploitability = [\d.e-]+", value)


def test_a_reader_sorts_filters_and_switches_the_logarithm(sweeps, tmp_path):
    sort = """
        const rows = () => [...document.querySelectorAll("table.sortable tbody tr")].filter((row) => !row.hidden);
        const head = [...document.querySelectorAll("table.sortable th button")].find((one) => one.textContent === "game.a");
        head.click(); say(rows()[0].cells[0].textContent); head.click(); say(rows()[0].cells[0].textContent);
        const filter = document.querySelector(".filter input"); filter.value = "2/3"; filter.dispatchEvent(new Event("input"));
        say(rows().every((row) => row.textContent.includes("2/3")) && rows().length > 0);
        say(document.documentElement.dataset.errors)"""
    toggle = """
        const before = document.querySelector(".Curve path.line").getAttribute("d");
        for (const box of document.querySelectorAll(".Curve input")) box.click();
        say(before !== document.querySelector(".Curve path.line").getAttribute("d"));
        say(document.documentElement.dataset.errors)"""

    assert use(write_report(sweeps["map"]), tmp_path, sort) == ["0", "1", True, "0"]
    assert use(write_report(sweeps["curves"]), tmp_path / "again", toggle) == [True, "0"]


def test_a_wide_table_scrolls_before_its_texts_are_broken(tmp_path):
    """Thirteen columns do not fit; a short text stays in one line all the same, a long one is broken at 32rem."""
    numbers, texts = [f"column_{place}" for place in range(12)], ["0 1 2 8 14 24 32 34 ... 28 more", "word " * 40]
    rows = [[*("1" for _ in numbers), text] for text in texts]
    path = tmp_path / "wide.html"
    sheet = markup.table([*numbers, "lost"], rows, "2 rows", [*(True for _ in numbers), False])
    path.write_text(markup.page("wide", sheet), encoding="utf-8")
    script = """
        const one = parseFloat(getComputedStyle(document.querySelector("td")).lineHeight);
        for (const row of document.querySelectorAll("tbody tr")) say(Math.round((row.offsetHeight - 9) / one))"""

    lines, more = use(path, tmp_path / "copy", script)

    assert lines == 1
    assert 3 <= more <= 6


def test_lines_that_differ_in_their_seed_become_a_band(tmp_path):
    pairs = [(make(RandomMatrix, size=3, seed=seed), make(RegretMatching, iterations=100)) for seed in range(9)]
    sweep = solved(tmp_path / "seeds", {"game.seed": list(range(9))}, pairs)
    count = """
        const lines = () => document.querySelector(".Curve").querySelectorAll("path.line").length;
        const bands = [...document.querySelector(".Curve").querySelectorAll("input")].find((one) => one.parentNode.textContent.includes("seeds"));
        say(lines()); say(document.querySelector(".Curve .note").textContent); bands.click(); say(lines());
        say(document.documentElement.dataset.errors)"""

    banded, note, single, errors = use(write_report(sweep), tmp_path, count)

    assert (banded, errors) == (2, "0"), "last and average"
    assert single > 9, "of each seed, but those at zero throughout"
    assert "median over 9 seeds" in note


def test_a_parametric_map_says_its_formulas_under_the_pointer(tmp_path):
    games = [make(ForcedRps, a="a", b=b, parameters=names) for b, names in (("b", ["a", "b"]), ("a", ["a"]))]
    parameters = {"game": ["forced_rps"] * 2, "game.b": ["b", "a"]}
    sweep = solved(tmp_path / "maps", parameters, [(game, Parametric()) for game in games])
    captions = "document.querySelectorAll('.drawings figcaption').forEach((one) => say(one.textContent))"
    hover = "at(document.querySelector('.drawings path[fill=\"#c98b8b\"]'), 0.5, 0.5); tip()"

    said = use(write_report(sweep), tmp_path / "page", f"{captions}; {hover}")

    assert said[:2] == [
        "forced_rps: value and supports by cells, a across, b up",
        "forced_rps: value as a goes from 0 to 1 (game.b = a)",
    ]
    assert said[2].splitlines()[:2] == ["paper+scissors against rock+paper", "value 3*a*b - a - b + 1/3"]


@pytest.fixture(scope="module")
def wall(tmp_path_factory):
    """A small part of the octal catalogue: the eight codes 0.070 to 0.077, to 300 heaps."""
    out = tmp_path_factory.mktemp("catalogue") / "part"
    small = ["sweep.first.begin=56", "sweep.first.end=63", "sweep.next=null", "solver.heap_limit=300"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", list(sys.argv))  # Hydra's app puts its own there
        with pytest.raises(SystemExit) as ended:
            main(["experiment=octal_catalogue", *small, "compute=inline", "tracking=off", "quiet=true", f"out={out}"])
    assert ended.value.code == 0
    return out / "report.html"


def test_a_click_on_the_wall_shows_the_sequence(wall, tmp_path):
    """0.07 is Dawson's Kayles, period 34 from 53 on (Guy and Smith 1956); 0.077 is the cell seven to the right."""
    script = """
        const figure = document.querySelector("#table-catalogue figure.whole");
        const cells = [...figure.querySelectorAll("rect")].filter((one) => one.querySelector("title"));
        const told = () => figure.querySelector(".told").textContent;
        const click = (cell) => {
          const box = cell.getBoundingClientRect();
          cell.scrollIntoView(); const now = cell.getBoundingClientRect();
          const hit = document.elementFromPoint(now.left + box.width / 2, now.top + box.height / 2);
          say(hit === cell); hit.dispatchEvent(new MouseEvent("click", {bubbles: true}));
        };
        say(cells.length); say(told());
        click(cells[0]); say(told()); say(figure.querySelectorAll(".chosen").length);
        click(cells[7]); say(told()); say(cells[0].classList.contains("chosen"));
        figure.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"})); say(told());
        say(document.documentElement.dataset.errors)"""

    said = use(wall, tmp_path, script)

    count, before, hit, first, chosen, hit_last, last, still, left, errors = said
    nimbers = {code: solve(Octal(code), MexDp(heap_limit=23)).tables["nimbers"]["nimber"].to_pylist() for code in ("0.07", "0.077")}
    assert (count, chosen, errors) == (8, 1, "0")
    assert before.startswith("Click a cell")
    assert (hit, hit_last, still) == (True, True, False)
    assert first == f"0.07: period 34 from 53 on. {' '.join(map(str, nimbers['0.07']))} ..."
    assert last.startswith("0.077")
    assert last.endswith(f". {' '.join(map(str, nimbers['0.077']))} ...")
    assert left.startswith("0.076")
