"""Commands as people type them: what they answer, what they refuse and how, what they leave on disk."""

from __future__ import annotations

import csv
import io
import json
import os
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.store import load

FACT = ["game=forced_rps", 'game.p1={rock: "1/2"}', 'game.p2={scissors: "1/2"}', "solver=support_enumeration"]
QUICK = ["tracking=off", "compute=inline"]


# ---- answers -----------------------------------------------------------------------------------------------------------------


def test_one_point_prints_its_exact_findings(minimex):
    answer = minimex(*FACT, *QUICK, "out=here")
    assert answer.status == 0
    assert "equilibria: 1 proved" in answer.text
    assert "1/6 (1/3, 0, 2/3) (1/3, 2/3, 0) 4/9 5/18 5/18" in answer.text
    row = load("here").table("equilibria").to_pylist()[0]
    assert (row["value"], row["x"], row["y"]) == ("1/6", ["1/3", "0", "2/3"], ["1/3", "2/3", "0"])
    assert (row["win"], row["lose"], row["draw"]) == ("4/9", "5/18", "5/18")


def test_short_forms_are_the_same_point(minimex):
    minimex(*FACT, *QUICK, "out=long")
    minimex("game=forced_rps", "game.a=0.5", "game.b=1/2", "solver=support_enumeration", *QUICK, "out=short")
    assert load("long").points["point"].to_pylist() == load("short").points["point"].to_pylist()


def test_a_matrix_from_the_command_line(minimex):
    answer = minimex("game=matrix", 'game.payoffs=[["0","-1"],["1/2","0"]]', "solver=support_enumeration", *QUICK)
    assert answer.status == 0
    assert "equilibria: 1 proved" in answer.text


def test_the_name_of_an_ad_hoc_sweep_ends_in_its_hash(minimex):
    minimex(*FACT, *QUICK)
    (folder,) = Path("outputs").iterdir()
    assert folder.name.startswith("forced_rps-support_enumeration-")
    assert len(folder.name.rpartition("-")[2]) == 6


def test_kayles_period_is_proved_and_recorded(minimex):
    answer = minimex("experiment=kayles_period", *QUICK)
    assert answer.status == 0
    rows = load("outputs/kayles_period").table("periods").to_pylist()
    found = {row["code"]: (row["period"], row["preperiod"]) for row in rows}
    assert found == {"0.77": (12, 71), "0.07": (34, 53), "0.137": (34, 52)}
    assert "periods: 3 proved" in answer.text


@pytest.mark.parametrize("code", ["0.4", "0.04"])
def test_period_one_from_zero_is_not_proved(minimex, code):
    minimex("game=octal", f"game.code={code}", "solver=mex_dp", "solver.heap_limit=3000", *QUICK, "out=here")
    row = load("here").table("periods").to_pylist()[0]
    assert (row["period"], row["preperiod"]) != (1, 0)


def test_tour_meets_every_family(minimex):
    answer = minimex(*QUICK)
    assert answer.status == 0
    sweep = load("outputs/tour")
    assert {"equilibria", "curve", "cells", "bimatrix_equilibria", "dominance", "periods", "nimbers"} <= set(sweep.table_names)
    assert set(sweep.table("equilibria")["value"].to_pylist()) == {"1/6"}
    assert "refuted" not in answer.text
    assert Path("outputs/tour/report.html").stat().st_size < 2 << 20


@pytest.mark.parametrize("a", [Fraction(number, 60) for number in (0, 7, 20, 21, 33, 40, 41, 60)])
def test_diagonal_of_the_forced_map(minimex, a):
    minimex("game=forced_rps", f"game.a={a}", f"game.b={a}", "solver=support_enumeration", *QUICK, "out=here")
    third = Fraction(1, 3)
    wanted = 0 if a <= third else a - third if a <= 2 * third else 2 * a - 1
    assert {Fraction(value) for value in load("here").table("equilibria")["value"].to_pylist()} == {wanted}


def test_quiet_prints_nothing(minimex):
    answer = minimex(*FACT, *QUICK, "quiet=true")
    assert (answer.status, answer.out, answer.err) == (0, "", "")


def test_at_most_twenty_findings_are_printed(minimex):
    answer = minimex("game=forced_rps", "solver=support_enumeration", "sweep.grid={game.a: '0:1:1/30'}", *QUICK)
    assert "... " in answer.text
    assert "more: minimex show" in answer.text
    assert sum(line.startswith(("0", "1")) for line in answer.out.splitlines()) <= 22


# ---- sweeps ------------------------------------------------------------------------------------------------------------------


def swept(folder, name):
    return load(folder).points[name].to_pylist()


def test_grid_is_exact_with_both_ends(minimex):
    minimex("game=forced_rps", "solver=support_enumeration", "sweep.grid={game.a: '0:1:1/7'}", *QUICK, "out=here")
    assert swept("here", "game.a") == [str(Fraction(number, 7)) for number in range(8)]


def test_product_has_the_last_key_fastest(minimex):
    minimex("-m", "game=forced_rps", "solver=support_enumeration", "game.a=0,1", "game.b=0,1/2,1", *QUICK, "out=here")
    assert list(zip(swept("here", "game.a"), swept("here", "game.b"), strict=True)) == [
        (a, b) for a in ("0", "1") for b in ("0", "1/2", "1")
    ]


def test_zip_goes_side_by_side(minimex):
    minimex("game=forced_rps", "solver=support_enumeration", "sweep.zip={game.a: [0, 1/2], game.b: [1, 1/3]}", *QUICK, "out=here")
    assert list(zip(swept("here", "game.a"), swept("here", "game.b"), strict=True)) == [("0", "1"), ("1/2", "1/3")]


def test_union_may_name_other_games_and_solvers(minimex):
    union = "sweep.union=[{game: octal, solver: mex_dp, game.code: [0.77, 0.7], solver.heap_limit: 200}, {game: matrix, solver: support_enumeration}]"
    assert minimex(union, *QUICK, "out=here").status == 0
    assert swept("here", "game") == ["octal", "octal", "matrix"]
    assert swept("here", "game.code") == ["0.77", "0.7", None]


def test_groups_are_swept_too(minimex):
    answer = minimex("-m", "game=forced_rps,matrix", "solver=support_enumeration,regret_matching", "dry_run=true")
    assert "4 points" in answer.text


def test_a_key_swept_on_the_command_line_replaces_the_experiments(minimex):
    answer = minimex("experiment=forced_rps_grid", "game.a=0,1/2", "dry_run=true")
    assert "122 points" in answer.text
    answer = minimex("experiment=forced_rps_grid", "sweep.grid={game.a: [0], game.b: [0, 1]}", "dry_run=true")
    assert "2 points" in answer.text


def test_the_map_has_3721_points(minimex):
    assert "3,721 points" in minimex("experiment=forced_rps_grid", "dry_run=true").text


def test_dry_run_computes_nothing_and_knows_what_is_done(minimex):
    sweep = ["-m", "game=octal", "game.code=0.77,0.7,0.3", "solver=mex_dp", "solver.heap_limit=100", "out=here"]
    assert "3 points, 0 done" in minimex(*sweep, "dry_run=true").text
    assert not Path("here").exists()
    minimex("game=octal", "game.code=0.7", "solver=mex_dp", "solver.heap_limit=100", "out=here", *QUICK)
    assert "3 points, 1 done" in minimex(*sweep, "dry_run=true").text


def test_what_was_typed_is_kept(minimex):
    minimex(
        "game=matrix", "game.payoffs=[[0.1234567012345670123, 1e30],[0.10, -2]]", "solver=support_enumeration", *QUICK, "out=here"
    )
    config = json.loads(load("here").points["config"][0].as_py())
    assert config["game"]["fields"]["payoffs"] == [
        ["1234567012345670123/10000000000000000000", "1" + 30 * "0"],
        ["1/10", "-2"],
    ]


def test_maps_are_replaced_not_merged(minimex):
    Path("mine/experiment").mkdir(parents=True)
    Path("mine/experiment/half.yaml").write_text(
        "# @package _global_\n# ours\ndefaults:\n  - override /game: forced_rps\n  - override /solver: support_enumeration\n"
        'game:\n  p1: {rock: "1/2"}\n'
    )
    minimex("--config-dir", "mine", "experiment=half", 'game.p1={paper: "1/2"}', *QUICK, "out=here")
    assert json.loads(load("here").points["config"][0].as_py())["game"]["fields"]["p1"] == {"paper": "1/2"}


def test_seeds_follow_into_random_games(fake):
    fake("solver=trivial", "-m", "seed=1,2", "out=here")
    games = [json.loads(text)["game"]["fields"]["seed"] for text in load("here").points["config"].to_pylist()]
    assert games == [1, 2]


# ---- refusals: exit 2, the path, what was wanted, what came, what would do --------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["game=octal", "game.code=0.8", "solver=mex_dp"], "game.code: expected digits from 0 to 7, got '0.8'"),
        (
            ["game=octal", "solver=mex_dp", "solver.heap_limt=3"],
            "solver.heap_limt: expected a field of MexDp, got an unknown key (did you mean heap_limit?)",
        ),
        (["game=octal", "solver=mex_dp", "solver.heap_limit=x"], "solver.heap_limit: expected int, got 'x'"),
        (["game=octal", "solver=mex_dp", "solver.heap_limit=2.5"], "solver.heap_limit: expected int, got '2.5'"),
        (["game=forced_rps", "solver=support_enumeration", 'game.p1={rok: "1/2"}'], "game.p1.rok"),
        (["game=forced_rps", "solver=support_enumeration", "game.a=1e999"], "game.a"),
        (
            ["game=forced_rps", "solver=support_enumeration", "game.a=range(0,1,0.1)"],
            "sweep.grid={key: 'start:stop:step'} is exact",
        ),
        (["game=matrix", "solver=support_enumeration", "game.payoffs=[[1,2],[3]]"], "game.payoffs[1]"),
        (["game=matrix", "solver=support_enumeration", "game.payoffs=[[1/0]]"], "game.payoffs[0][0]: expected an exact number"),
        (["game=forced_rps", "solver=support_enumeration", "game.a=1/0"], "game.a: expected an exact number"),
        (["game=forced_rps", "solver=support_enumeration", "game.b=-1/2"], "game.b: expected a probability, 0 to 1, got -1/2"),
        (
            ["game=forced_rps", "solver=support_enumeration", "game.p1={rock: 2/3, paper: 2/3}"],
            "game.p1: expected probabilities that sum to at most 1, got a sum of 4/3",
        ),
        (
            ["game=forced_rps", "game.base=rpsls", "solver=support_enumeration", "game.p1={well: 1}"],
            "game.p1.well: expected a move",
        ),
        (["game=forced_rps", "solver=support_enumeration", "game.base=chess"], "game.base: expected one of rock_paper_scissors"),
        (
            ["game=forced_rps", "solver=support_enumeration", "game.a=a", "game.parameters=[a]"],
            "the game's payoffs depend on a, here without a value",
        ),
        (["game=forced_rps", "solver=support_enumeration", "game.a=a"], "'game.parameters=[a]' makes it one"),
        (
            ["game=bimatrix", "solver=regret_matching", "game.a=[[1,2],[3]]"],
            "game.a[1]: expected 2 entries, as in the first row, got 1",
        ),
        (
            ["game=bimatrix", "solver=regret_matching", "game.a=[[1,2]]", "game.b=[[1,2],[3,4]]"],
            "game.b: expected 1 row, as a has",
        ),
        (["game=bimatrix", "solver=regret_matching", "game.a=[]"], "game.a: expected at least one row"),
        (["game=chicken", "solver=regret_matching"], "the game is not zero-sum: game.a[0][0] is 6 and game.b[0][0] is 6"),
        (["game=nfg", "solver=regret_matching", "game.path=nowhere.nfg"], "game.path: expected a file that can be read"),
        (
            ["game=parametric_matrix", "solver=regret_matching", "game.payoffs=[[c]]"],
            "game.payoffs[0][0]: expected a polynomial in a",
        ),
        (["export", "nowhere", "format=nfg"], "nowhere: expected a sweep's directory"),
        (["export"], "usage: minimex export DIR"),
        (["game=octal", "solver=regret_matching"], "these take it: mex_dp"),
        (["game=octal"], "solver: expected a solver, got nothing (solver= one of mex_dp, "),
        (["solver=winning_moves"], "game: expected a game, got nothing (game= one of heap_position)"),
        (["game=octl", "solver=mex_dp"], "game: expected one of "),
        (["game=octl", "solver=mex_dp"], "got 'octl' (did you mean octal?)"),
        (["game=octal", "solver=mex_dp", "foo=1"], "foo: expected a key minimex knows, got an unknown key"),
        (
            ["game=octal", "solver=mex_dp", "+trsut=[x]"],
            "trsut: expected a key minimex knows, got an unknown key (did you mean trust?)",
        ),
        (["game=octal", "solver=mex_dp", "compute.cups=2"], "compute.cups: expected a key minimex knows"),
        (["game=octal", "solver=mex_dp", "compute.adress=x"], "(did you mean compute.address?)"),
        (["game=octal", "solver=mex_dp", "tracking.zzz=x"], "(there are: tracking.child_runs, tracking.kind, tracking.uri)"),
        (["experiment=tuor"], "(did you mean tour?)"),
        (["game=octal", "solver=mex_dp", "compute.timeout_s=-1"], "compute.timeout_s: expected a number above 0"),
        (
            ["game=octal", "solver=mex_dp", "compute=inlin"],
            "compute: expected one of cluster, inline, ray, got 'inlin' (did you mean inline",
        ),
        (["game=octal", "solver=mex_dp", "on_error=shrug"], "on_error: expected one of continue, stop"),
        (["game=octal", "solver=mex_dp", "seed=x"], "seed: expected a whole number, got 'x'"),
        (["game=octal", "solver=mex_dp", "sweep.grid={gme.code: [1]}"], "sweep.grid.gme.code: expected game, solver"),
        (["game=octal", "solver=mex_dp", "sweep.grid={game.code: []}"], "at least one choice"),
        (["game=octal", "solver=mex_dp", "sweep.grid={solver.heap_limit: '9:1:1'}"], "a step that leads from start to stop"),
        (["game=forced_rps", "solver=support_enumeration", "sweep.zip={game.a: [0,1], game.b: [0]}"], "lists of one length"),
        (["game=octal", "solver=mex_dp", "-m", "out=a,b"], "can be swept"),
        (["game=octal", "solver=mex_dp", "tracking=server"], "tracking.uri"),
        (["game=octal", "solver=mex_dp", "game._target_=os.system"], "_target_"),
        (["game=forced_rps", "solver=regret_matching", "solver.opponent=[0.5,0.5]"], "solver.opponent: expected a list of 3"),
        (["game=octal", "solver=mex_dp", "out="], "out: expected a folder, got nothing"),
        (["game=octal", "solver=mex_dp", "out=/dev/null"], "out: expected a folder that can be written, got '/dev/null'"),
        (["game=octal", "solver=mex_dp", "out=/dev/null/below"], "out: expected a folder that can be written"),
        (["game=octal", "solver=mex_dp", "game.code=glob(*)"], "game.code: expected"),
        (["game=octal", "solver=mex_dp", "solver.heap_limit=range(5,5)"], "solver.heap_limit: expected at least one choice"),
        (["game=octal", "solver=mex_dp", "seed=range(0,1000000000)"], "seed: expected at most 10,000,000 points"),
        (["game=octal", "solver=mex_dp", "solver.heap_limit=range(1,5,0)"], "a step that is not 0"),
        (
            ["game=forced_rps", "solver=support_enumeration", "sweep.grid={game.a: '0:1:1/31623', game.b: '0:1:1/31623'}"],
            "at most 10,000,000 points, got 1,000,077,376",
        ),
        (["game=forced_rps", "solver=support_enumeration", "sweep.grid={game.a: '0:1:2/3'}"], "steps that hit both ends"),
        (["game=octal", "solver=mex_dp", "game.code=0.7", "game.code=0.77"], "game.code: expected a key that is given once"),
        (
            ["game=octal", "solver=mex_dp", "game.code=0.7", "sweep.grid={game.code: [0.77]}"],
            "game.code: expected a key that is given once",
        ),
        (
            ["game=forced_rps", "solver=support_enumeration", "sweep.union=[{game.a: [1]}]", "game.a=0"],
            "game.a: expected a key that is given once",
        ),
        (["game=octal", "solver=mex_dp", "compute.cpus=100000"], "compute.cpus: expected at most"),
        (["game=octal", "solver=mex_dp", "out=a b(c"], "out: expected a value of Hydra's grammar, got a b(c"),
        (["game=octal", "solver=mex_dp", "out=${nope.nope}"], "${nope.nope}"),
        (["lst"], "did you mean list?"),
        (["verify", "nowhere"], "nowhere: expected a sweep's directory"),
        (["verify"], "usage: minimex verify DIR"),
        (["show", "nowhere"], "nowhere: expected a sweep's directory"),
        (["list", "gmes"], "did you mean games?"),
        (["verify", "nowhere", "strct=true"], "did you mean strict"),
        (["verify", "nowhere", "cpus=0"], "cpus: expected a number of cores"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(minimex, arguments, said):
    answer = minimex(*arguments)
    assert answer.status == 2
    assert said in answer.text
    assert "Traceback" not in answer.text
    assert not Path("outputs").exists()


@pytest.mark.parametrize(
    "text",
    ["game: {code: [", "a: 1\na: 2\n", "# @package _global_\ndefaults:\n  - override /game: nope\n"],
    ids=["cut off", "twice", "nowhere"],
)
def test_a_broken_experiment_is_one_line(minimex, text):
    Path("mine/experiment").mkdir(parents=True)
    Path("mine/experiment/broken.yaml").write_text(text)
    answer = minimex("--config-dir", "mine", "experiment=broken")
    assert answer.status == 2
    assert len(answer.err.strip().splitlines()) == 1
    assert "Traceback" not in answer.text


def test_a_trusted_module_that_raises_is_one_line(minimex, monkeypatch, workdir):
    Path("raises_at_import.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(workdir))
    Path("mine/game").mkdir(parents=True)
    Path("mine/game/raises.yaml").write_text("# raises\n_target_: raises_at_import.Game\n")
    answer = minimex("--config-dir", "mine", "trust=[raises_at_import]", "game=raises", "solver=mex_dp")
    assert answer.status == 2
    assert "_target_: expected a module that can be imported" in answer.text
    assert "ZeroDivisionError" in answer.text


def test_a_bad_value_anywhere_in_a_sweep_refuses_it_before_anything_runs(minimex):
    answer = minimex("-m", "game=octal", "game.code=0.7,0.77,0.9", "solver=mex_dp", *QUICK)
    assert answer.status == 2
    assert not Path("outputs").exists()


def test_impossible_pairs_can_be_left_out(minimex):
    sweep = ["-m", "game=octal,matrix", "solver=mex_dp,support_enumeration", "dry_run=true"]
    assert minimex(*sweep).status == 2
    answer = minimex(*sweep, "skip_impossible=true")
    assert answer.status == 0
    assert "2 points" in answer.text


def test_an_instance_may_refuse(fake):
    answer = fake("solver=trivial", "game.refused=true")
    assert answer.status == 2
    assert "this instance refuses on purpose" in answer.text


def test_foreign_classes_need_trust(minimex):
    fakes = Path(__file__).parents[1] / "fakes" / "fake_conf"
    answer = minimex("--config-dir", fakes, "game=beads", "solver=trivial", *QUICK)
    assert answer.status == 2
    assert "trust=[minimex_fakes] admits it" in answer.text


def test_busy_directory_is_refused(minimex):
    from pipeline.journal import locked

    with locked(Path("here")):
        answer = minimex(*FACT, *QUICK, "out=here")
    assert answer.status == 2
    assert "another minimex is writing there" in answer.text


# ---- again: resume, reuse, extend, retry -------------------------------------------------------------------------------------


def test_the_same_command_again_computes_nothing(fake):
    fake("solver=walk", "-m", "seed=1,2,3", "out=here")
    stamp = load("here").table("sums")["seconds"].to_pylist()
    answer = fake("solver=walk", "-m", "seed=1,2,3", "out=here")
    assert answer.status == 0
    assert load("here").table("sums")["seconds"].to_pylist() == stamp


def test_a_directory_accumulates(fake):
    fake("solver=walk", "-m", "seed=1,2", "out=here")
    fake("solver=trivial", "-m", "seed=2,3", "out=here")
    assert len(load("here").points) == 4
    assert set(load("here").table_names) == {"sums", "firsts", "progress"}


def test_siblings_are_reused(fake):
    fake("solver=walk", "-m", "seed=1,2", "out=all/one")
    answer = fake("solver=walk", "-m", "seed=2,3", "out=all/two")
    assert "1 of 2 points are taken over" in answer.text
    first = {row["point"]: row["seconds"] for row in load("all/one").table("sums").to_pylist()}
    second = {row["point"]: row["seconds"] for row in load("all/two").table("sums").to_pylist()}
    (shared,) = first.keys() & second.keys()
    assert first[shared] == second[shared]
    assert "refuted" not in answer.text


def test_failed_points_wait_for_retry(fake):
    sweep = ["solver=trouble", "solver.points=[2]", "sweep.grid={game.values: [[1], [2], [3]]}", "out=here"]
    assert fake(*sweep).status == 1
    assert load("here").points["status"].to_pylist() == ["done", "failed", "done"]
    before = load("here").points["wall_s"].to_pylist()
    assert fake(*sweep).status == 1
    assert load("here").points["wall_s"].to_pylist() == before
    assert fake(*sweep, "retry_failed=true").status == 1
    after = load("here").points["wall_s"].to_pylist()
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]


def test_a_failed_point_says_why(fake):
    answer = fake("solver=trouble", "sweep.grid={game.values: [[1], [2]]}", "solver.points=[2]", "out=here")
    assert answer.status == 1
    assert "ArithmeticError: raised on purpose" in answer.text
    row = load("here").points.to_pylist()[1]
    assert row["error"] == "ArithmeticError: raised on purpose"
    assert "minimex_fakes" in row["traceback"]


def test_a_refuted_point_is_neither_lent_nor_kept(fake):
    plausible = ["solver=trouble", "solver.kind=plausible", "game.values=[1]"]
    assert fake(*plausible, "solver.points=[2]", "out=all/one").status == 0
    spoil(Path("all/one/tables/firsts.parquet"))
    assert fake(*plausible, "solver.points=[2]", "out=all/two").status == 1, "copied, judged, refuted"
    again = fake(*plausible, "solver.points=[2]", "retry_failed=true", "out=all/two")
    assert again.status == 0
    assert load("all/two").table("firsts")["first"].to_pylist() == ["1"]
    assert "taken over" not in fake(*plausible, "solver.points=[2]", "out=all/two").text


def spoil(path):
    table = pq.read_table(path)
    place = table.schema.get_field_index("first")
    pq.write_table(table.set_column(place, table.schema.field(place), [["7"]]), path)


def test_on_error_stop_starts_no_further_point(fake):
    answer = fake(
        "solver=trouble",
        "solver.points=[1]",
        "sweep.grid={game.values: [[1],[2],[3],[4]]}",
        "on_error=stop",
        "out=here",
        "compute.box_s=0.001",
        "solver.pause_s=0.01",
    )
    assert answer.status == 1
    assert len(load("here").points) < 4


@pytest.mark.parametrize("kind", ["wrong", "nothing"])
def test_broken_contracts_are_rows_too(fake, kind):
    assert fake("solver=trouble", "solver.points=[1]", f"solver.kind={kind}", "out=here").status == 1
    assert "ContractError" in load("here").points["error"][0].as_py()


def test_a_larger_extent_goes_on_from_the_stored_run(fake):
    fake("solver=walk", "solver.steps=50", "compute.checkpoint_s=0", "out=all/short")
    fake("solver=walk", "solver.steps=100", "compute.checkpoint_s=0", "out=all/long")
    assert len(load("all/long").table("progress")) == 5, "only the difference is walked"
    fake("solver=walk", "solver.steps=100", "out=fresh/long")
    columns = ["step", "total", "noise", "noise_hex"]
    assert load("all/long").table("sums").select(columns).equals(load("fresh/long").table("sums").select(columns))


def test_input_files_are_identified_by_content(fake, minimex):
    Path("beads.txt").write_text("5\n7\n")
    fake("solver=trivial", "game.values=[]", "game.file=beads.txt", "out=here")
    Path("copy.txt").write_text("5\n7\n")
    fake("solver=trivial", "game.values=[]", "game.file=copy.txt", "out=here")
    assert len(load("here").points) == 1
    Path("beads.txt").write_text("6\n")
    fake("solver=trivial", "game.values=[]", "game.file=beads.txt", "out=here")
    assert sorted(load("here").table("firsts")["first"].to_pylist()) == ["5", "6"]
    Path("beads.txt").unlink()
    Path("copy.txt").unlink()
    assert minimex("verify", "here", "trust=[minimex_fakes]").status == 0


def test_a_missing_input_file_is_refused(fake):
    answer = fake("solver=trivial", "game.file=nowhere.txt")
    assert answer.status == 2
    assert "game.file: expected a file that can be read, got 'nowhere.txt' (no such file or directory)" in answer.text


# ---- looking -----------------------------------------------------------------------------------------------------------------


def test_list_names_everything(minimex):
    import conf

    answer = minimex("list")
    assert answer.status == 0
    for path in Path(conf.__file__).parent.glob("*/*.yaml"):
        if path.parent.name in ("game", "solver", "experiment"):
            assert path.stem in answer.text
    assert "solvers for heap_position winning_moves" in answer.text
    assert "winning_moves takes heap_position" in minimex("list", "games").text


def test_help_and_cfg_keep_working(minimex):
    assert "minimex experiment=kayles_period" in minimex("--help").out
    answer = minimex("game=octal", "game.code=0.10", "--cfg", "job")
    assert answer.status == 0
    assert "code: '0.10'" in answer.out
    assert "minimex 0" in minimex("--version").out


def test_completion_knows_groups(minimex, monkeypatch):
    monkeypatch.setenv("COMP_LINE", "minimex game=oc")
    monkeypatch.setenv("COMP_POINT", "15")
    assert "game=octal" in minimex("-sc", "query=bash").out


def test_show_joins_tables_with_their_points(minimex):
    minimex("-m", "game=forced_rps", "game.a=0,1/2", "solver=support_enumeration", *QUICK, "out=here")
    assert "2 done" in minimex("show", "here").text
    rows = list(csv.DictReader(io.StringIO(minimex("show", "here", "equilibria", "to=csv").out)))
    assert [row["game.a"] for row in rows] == ["0", "1/2"]
    assert rows[0]["x"] == "1/3 1/3 1/3"
    assert json.loads(minimex("show", "here", "equilibria", "to=json").out)[0]["x"] == ["1/3", "1/3", "1/3"]
    assert r"\begin{tabular}" in minimex("show", "here", "equilibria", "to=latex").out
    assert "game=forced_rps" in minimex("show", "here", "equilibria").text
    answer = minimex("show", "here", "equilibriums")
    assert answer.status == 2
    assert "did you mean equilibria?" in answer.text
    assert minimex("show", "here", "equilibria", "to=xml").status == 2


def test_report_and_index(minimex):
    minimex(*FACT, *QUICK, "out=all/one")
    (Path("all/one") / "report.html").unlink()
    assert minimex("report", "all/one").status == 0
    assert (Path("all/one") / "report.html").exists()
    assert minimex("report", "all").status == 0
    assert (Path("all") / "index.html").exists()


def test_python_gives_the_same_tables(minimex):
    from solvers import make, solve
    from solvers.equilibrium.support_enumeration import SupportEnumeration
    from solvers.games.forced_rps import ForcedRps

    minimex(*FACT, *QUICK, "out=here")
    alone = solve(make(ForcedRps, a="1/2", b="1/2"), SupportEnumeration()).tables["equilibria"]
    assert load("here").table("equilibria").drop_columns(["point"]).to_pylist() == alone.to_pylist()


def test_duckdb_reads_the_tables_as_they_are(minimex):
    duckdb = pytest.importorskip("duckdb")
    minimex("-m", "game=forced_rps", "game.a=0,1/2", "solver=support_enumeration", *QUICK, "out=here")
    rows = duckdb.sql(
        "select p.\"game.a\", e.value, e.x from 'here/tables/equilibria.parquet' e join 'here/points.parquet' p using (point)"
    ).fetchall()
    assert rows == [("0", "0", ["1/3", "1/3", "1/3"]), ("1/2", "-1/6", ["0", "1/3", "2/3"])]


def test_nothing_is_written_elsewhere(minimex, workdir):
    minimex(*FACT, *QUICK)
    assert os.listdir(workdir) == ["outputs"]
    assert not list(workdir.rglob("multirun*"))


def test_encodings_of_long_tables(minimex):
    minimex("game=octal", "solver=mex_dp", "solver.heap_limit=5000", *QUICK, "out=here")
    group = pq.ParquetFile("here/tables/nimbers.parquet").metadata.row_group(0)
    encodings = {group.column(place).path_in_schema: group.column(place).encodings for place in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in encodings["n"]
    assert "BYTE_STREAM_SPLIT" in encodings["nimber"]


@pytest.mark.parametrize("words", [("show",), ("status",), ("verify",), ("report",), ("dry_run",)], ids=lambda words: words[0])
def test_damaged_points_are_said_once_with_their_cure(minimex, fake, words):
    assert fake("solver=trivial", "seed=1,2", "out=it").status == 0
    path = Path("it/points.parquet")
    path.write_bytes(path.read_bytes()[:200])
    answer = fake("solver=trivial", "seed=1,2", "out=it", "dry_run=true") if words == ("dry_run",) else minimex(*words, "it")
    assert answer.status == 2
    assert answer.text.startswith("minimex: it/points.parquet: cannot be read (")
    assert answer.text.endswith("); the sweep's own command, given again, computes what it held")
    assert fake("solver=trivial", "seed=1,2", "out=it").status == 0
    assert minimex("show", "it").status == 0


def test_a_report_that_cannot_be_written_is_no_sweep_that_goes_on(minimex, fake):
    assert fake("solver=trivial", "seed=1,2", "out=outs/it").status == 0
    for page, words in (("outs/it/report.html", "outs/it"), ("outs/index.html", "outs")):
        Path(page).unlink(missing_ok=True)
        Path(page).mkdir()
        answer = minimex("report", words)
        assert answer.status == 1
        assert answer.text == f"minimex: {page}: the report could not be written: is a directory"


def test_a_name_that_no_disk_takes_is_refused(minimex, fake):
    for more in ([], ["dry_run=true"]):
        answer = fake("solver=trivial", f"out={'a' * 300}", *more)
        assert answer.status == 2
        assert "minimex: out: expected a folder that can be written, got 'aaa" in answer.text
        assert answer.text.endswith("(file name too long)")
    assert "goes on" not in minimex("show", "a" * 300).text


@pytest.mark.parametrize(
    ("asked", "said", "fits", "never"),
    [
        ("game=prisoners_dilemma solver=shapley_snow", "the game is not zero-sum", "vertex_enumeration", "shapley_snow"),
        (
            "game=random_matrix game.size=40 solver=vertex_enumeration",
            "lemke_howson finds some equilibria, pure all pure ones",
            "exact_lp",
            "shapley_snow",
        ),
    ],
)
def test_a_refusal_tells_all_its_advice_and_names_solvers_that_take_this_very_game(minimex, asked, said, fits, never):
    answer = minimex(*asked.split())
    assert answer.status == 2
    assert said in answer.text
    names = answer.text.rpartition("(these take it: ")[2].strip(")\n").split(", ")
    assert fits in names
    assert never not in names
