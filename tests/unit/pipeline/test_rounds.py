"""Adaptive sweeps, in one process: rounds, what functions see, what goes wrong with them; summaries. Kills are in tests/cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from conftest_tools import tables

from pipeline.journal import Journal
from pipeline.rounds import TablesSeen, points_seen
from pipeline.store import load, write_table

WALK = ["solver=walk", "solver.steps=10", "seed=0,1,2"]
GOAL = "sweep.next={function: minimex_fakes.rounds:double, goal: 50}"
ENDS = "sweep.summary=minimex_fakes.rounds:longest"
REACHED = [
    {"seed": 0, "steps": 80, "total": "80"},
    {"seed": 1, "steps": 80, "total": "80"},
    {"seed": 2, "steps": 80, "total": "80"},
]
TRUST = "trust=[minimex_fakes]"


def seen(root):
    return sorted((row["seed"], row["solver.steps"]) for row in load(root).points.select(["seed", "solver.steps"]).to_pylist())


@pytest.fixture
def done(fake):
    answer = fake(*WALK, GOAL, ENDS, "out=it/a")
    assert answer.status == 0, answer.text
    return Path("it/a")


# ---- rounds ----------------------------------------------------------------------------------------------------------------------


def test_rounds_go_on_until_nothing_is_new(done):
    assert seen(done) == [(seed, steps) for seed in range(3) for steps in (10, 20, 40, 80)]


def test_each_seed_goes_as_far_as_it_needs(fake):
    answer = fake(*WALK, "sweep.next={function: minimex_fakes.rounds:double, goal: 30}", ENDS, "out=it/a")
    assert answer.status == 0, answer.text
    assert load("it/a").table("longest")["steps"].to_pylist() == [40, 40, 80]  # goals 30, 40, 50


def test_the_same_command_again_computes_nothing(fake, done):
    before = tables(done), (done / "tables" / "longest.parquet").stat().st_mtime_ns
    answer = fake(*WALK, GOAL, ENDS, "out=it/a")
    assert "round 4: 3 further points" in answer.text
    assert "/s" not in answer.out.partition("longest")[0]  # no point, no rate
    assert (tables(done), (done / "tables" / "longest.parquet").stat().st_mtime_ns) == before


def test_first_points_by_a_function(fake, done):
    answer = fake("solver=walk", "sweep.first={function: minimex_fakes.rounds:seeds, count: 3}", GOAL, "out=it/b")
    assert answer.status == 0, answer.text
    assert seen("it/b") == seen(done)


def test_without_more_words_a_function_is_called_with_its_defaults(fake):
    answer = fake("solver=walk", "sweep.first=minimex_fakes.rounds:seeds", "dry_run=true")
    assert "3 points" in answer.text
    assert "rounds" not in answer.text


def test_a_dry_run_says_that_rounds_may_follow(fake):
    answer = fake(*WALK, GOAL, "dry_run=true")
    assert "3 points, 0 done already" in answer.text
    assert "up to 99 further rounds of what minimex_fakes.rounds:double names" in answer.text


def test_what_next_names_stands_against_the_command_line(fake):
    answer = fake("solver=walk", "solver.steps=10", "game.values=[1],[2]", "seed=0,1", GOAL, "out=it/a")
    assert answer.status == 0, answer.text
    points = load("it/a").points.select(["seed", "solver.steps", "game.values"]).to_pylist()
    found = {(one["seed"], one["solver.steps"], one["game.values"]) for one in points}
    # seeds and steps come from `next`, the two games of each still from the command line
    values = {one["game.values"] for one in points}
    assert len(values) == 2
    assert found == {
        (seed, steps, value) for seed, most in ((0, 40), (1, 40)) for steps in (10, 20, 40) for value in values if steps <= most
    }


def test_larger_steps_go_on_from_stored_ones(fake):
    answer = fake(*WALK, GOAL, "compute.checkpoint_s=0", "out=it/a")
    assert answer.status == 0, answer.text
    progress = load("it/a").table("progress")
    longest = [row["point"] for row in load("it/a").points.to_pylist() if row["solver.steps"] == 80]
    told = [row["done"] for row in progress.to_pylist() if row["point"] == longest[0]]
    assert min(told) == 50


def test_status_knows_the_round(done):
    told = json.loads((done / "status.json").read_text())
    assert (told["state"], told["round"], told["points"]) == ("ended", 4, 12)


def test_points_of_other_commands_are_not_seen_by_next(fake, done):
    before = seen(done)
    assert fake("solver=walk", "solver.steps=640", "seed=0", "out=it/a").status == 0
    assert fake(*WALK, "sweep.next={function: minimex_fakes.rounds:double, goal: 150}", ENDS, "out=it/a").status == 0
    assert set(seen(done)) - set(before) == {(0, 640), (0, 160), (1, 160), (2, 160), (2, 320)}  # goals 150, 160, 170
    assert load(done).table("longest").to_pylist()[0] == {"seed": 0, "steps": 640, "total": "640"}  # a summary sees all


# ---- what functions see ----------------------------------------------------------------------------------------------------------


def test_points_and_tables_come_in_the_order_asked_for(done):
    sweep = load(done)
    order = sweep.brief["point"].cast(pa.string()).to_pylist()[::-1][:5]
    points = points_seen(sweep, pa.array(order))
    assert points.schema.names == ["point", "game", "seed", "solver", "solver.steps", "status", "metrics"]
    assert points["point"].to_pylist() == order
    sums = TablesSeen(sweep, pa.array(order))
    assert list(sums) == ["sums"]
    assert list(dict.fromkeys(sums["sums"]["point"].to_pylist())) == order
    with pytest.raises(KeyError):
        sums["progress"]


def test_rows_are_put_in_order(fake, done):
    """As after a kill: rows of a last round were published before anybody knew which points come first."""
    before = tables(done)
    hashes = [one["point"] for one in before["points"]]
    Journal(done).sort(hashes[::-1])
    assert [one["point"] for one in tables(done)["points"]] == hashes[::-1]
    assert fake(*WALK, GOAL, ENDS, "out=it/a").status == 0
    assert tables(done) == before
    assert load(done).table("longest").to_pylist() == REACHED


# ---- what goes wrong -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("sweep.next=nothing", "sweep.next: expected a function, such as solvers.FAMILY.MODULE:FUNCTION"),
        ("sweep.next=os:system", "sweep.next: expected a function, such as"),
        ("sweep.next=os.path:join", "sweep.next: expected a function in solvers.*, got 'os.path:join' (trust=[os] admits it)"),
        ("sweep.next=solvers.nowhere:next", "No module named 'solvers.nowhere'"),
        (
            "sweep.next=minimex_fakes.rounds:doubel",
            "expected a function of minimex_fakes.rounds, got 'doubel' (did you mean double?)",
        ),
        ("sweep.next=minimex_fakes.rounds:Fraction", "expected a function of minimex_fakes.rounds, got 'Fraction'"),
        ("sweep.next={function: minimex_fakes.rounds:double, gaol: 3}", "(did you mean goal?)"),
        ("sweep.next=minimex_fakes.rounds:answers", "sweep.next: expected arguments that minimex_fakes.rounds:answers takes"),
        ("sweep.next={goal: 3}", "alone or as {function: ..., argument: ...}, got {'goal': 3}"),
        ("sweep.summary=minimex_fakes.rounds:double", "expected a function marked with solvers.contract.summarises"),
        ("sweep.most_rounds=0", "sweep.most_rounds: expected a number of rounds, at least 1, got 0"),
        ("sweep.first=minimex_fakes.rounds:raises", "sweep.first: expected arguments"),
        ("sweep.first={function: minimex_fakes.rounds:seeds, count: x}", "sweep.first: expected a function that names points"),
    ],
    ids=lambda value: value[:60],
)
def test_refused_before_anything_runs(fake, said, wanted):
    answer = fake(*WALK, said, "out=it/a")
    assert answer.status == 2
    assert wanted in answer.text
    assert not Path("it").exists()


def test_code_outside_needs_trust(minimex):
    answer = minimex("game=octal", "solver=mex_dp", "sweep.next=minimex_fakes.rounds:double")
    assert answer.status == 2
    assert "trust=[minimex_fakes] admits it" in answer.text


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("raises", "minimex_fakes.rounds:raises failed: ArithmeticError: raised on purpose (rounds.py, line"),
        ("{function: minimex_fakes.rounds:answers, json_text: '3'}", "returned 3; wanted was a list of maps as in sweep.union"),
        ("{function: minimex_fakes.rounds:answers, json_text: '[3]'}", "entry 0: 3; wanted was a list of maps"),
        ("{function: minimex_fakes.rounds:answers, json_text: '[{}]'}", "entry 0: {}; wanted was a list of maps"),
        (
            "{function: minimex_fakes.rounds:answers, json_text: '[{\"compute.cpus\": 3}]'}",
            "named what cannot be: sweep.next[0].compute.cpus",
        ),
        (
            "{function: minimex_fakes.rounds:answers, json_text: '[{\"solver.steps\": 7}]'}",
            "solver.steps: expected a multiple of 10, got 7",
        ),
        ('{function: minimex_fakes.rounds:answers, json_text: \'[{"game": "baeds"}]\'}', "(did you mean beads?)"),
    ],
    ids=lambda value: value[-60:],
)
def test_a_bad_function_loses_nothing(fake, name, wanted):
    said = name if name.startswith("{") else f"minimex_fakes.rounds:{name}"
    answer = fake(*WALK, f"sweep.next={said}", ENDS, "out=it/a")
    assert answer.status == 1
    assert wanted in answer.text
    assert "all that was computed is saved" in answer.text
    assert len(seen("it/a")) >= 3
    assert Path("it/a/report.html").exists()
    assert len(load("it/a").table("longest")) >= 3


def test_an_endless_function_is_ended(fake):
    answer = fake(*WALK, "sweep.next=minimex_fakes.rounds:endless", "sweep.most_rounds=4", "out=it/a")
    assert answer.status == 1
    assert "goes on after 4 rounds; does it ever name no new point? sweep.most_rounds allows more" in answer.text
    assert len(load("it/a").points) == 6


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("breaks", "minimex_fakes.rounds:breaks failed: KeyError: 'of the summary'"),
        ("wrong_columns", "table 'longest' was declared as"),
        ("taken_name", "has a table 'sums', and so has a solver of this sweep"),
    ],
)
def test_a_bad_summary_loses_nothing(fake, name, wanted):
    answer = fake(*WALK, f"sweep.summary=minimex_fakes.rounds:{name}", "out=it/a")
    assert answer.status == 1
    assert wanted in " ".join(answer.text.split())
    assert len(seen("it/a")) == 3
    assert load("it/a").summary_names == ()


# ---- summaries -------------------------------------------------------------------------------------------------------------------


def test_a_summary_is_shown_reported_and_verified(minimex, done):
    assert load(done).summary_names == ("longest",)
    assert load(done).table("longest").to_pylist() == REACHED
    assert "longest: 1 recomputed" in minimex("verify", done, TRUST, "strict=true").text
    assert json.loads(minimex("show", done, "longest", "to=json").out) == REACHED
    assert "Where walks end" in minimex("show", done).text
    report = (done / "report.html").read_text()
    assert '<section id="table-longest">' in report
    assert "the tables give the same summary again" in report


@pytest.mark.parametrize("column", ["seed", "steps", "total"])
def test_a_changed_cell_is_refuted(minimex, done, column):
    table = load(done).table("longest")
    cells = table[column].to_pylist()
    cells[1] = "7" if column == "total" else 7
    place = table.schema.get_field_index(column)
    write_table(table.set_column(place, table.schema.field(column), pa.array(cells)), done / "tables" / "longest.parquet")
    answer = minimex("verify", done, TRUST)
    assert answer.status == 1
    assert f"refuted: longest[] of all points: the tables give another summary: row 1, {column}:" in answer.text


@pytest.mark.parametrize("harm", ["row", "column", "file", "bytes"])
def test_a_damaged_summary_is_refuted_and_made_again(fake, minimex, done, harm):
    path, table = done / "tables" / "longest.parquet", load(done).table("longest")
    match harm:
        case "row":
            write_table(table.slice(1), path)
        case "column":
            write_table(table.drop_columns(["steps"]), path)
        case "file":
            path.unlink()
        case "bytes":
            path.write_bytes(b"nonsense")
    answer = minimex("verify", done, TRUST)
    assert answer.status == 1
    assert "refuted: longest[]" in answer.text
    assert fake(*WALK, GOAL, ENDS, "out=it/a").status == 0
    assert load(done).table("longest").to_pylist() == REACHED


def test_a_stale_summary_is_not_judged(minimex, fake, done):
    old = (done / "tables" / "longest.parquet").read_bytes()
    assert fake("solver=walk", "solver.steps=160", "seed=0", "out=it/a").status == 0  # the directory's summary is kept up
    assert load(done).table("longest")["steps"].to_pylist() == [160, 80, 80]
    (done / "tables" / "longest.parquet").write_bytes(old)
    answer = minimex("verify", done, TRUST)
    assert answer.status == 1
    assert "unchecked: longest[] of all points: points were published since" in answer.text


def test_a_directory_names_no_other_code(minimex, done):
    manifest = json.loads((done / "manifest.json").read_text())
    for name in ("os.path:join", "minimex_fakes.rounds:double", "solvers.inline:solve"):
        manifest["summary"]["function"] = name
        (done / "manifest.json").write_text(json.dumps(manifest))
        answer = minimex("verify", done, TRUST)
        assert answer.status == 1
        assert "unchecked: longest[] of all points: the summary cannot be made again" in answer.text


def test_a_table_that_lost_its_points_is_no_summary(minimex, done):
    table = load(done).table("sums")
    write_table(table.drop_columns(["point"]), done / "tables" / "sums.parquet")
    assert load(done).summary_names == ("longest",)
    answer = minimex("verify", done, TRUST)
    assert answer.status == 1
    assert "refuted: sums[]" in answer.text
