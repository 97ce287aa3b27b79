"""From a command to its points: order, precedence, seeds, nested keys, and what is recorded as a parameter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest_tools import FAKE

from pipeline import sweep as sweep_module

RPS = ["game=forced_rps", "solver=support_enumeration"]
OCTAL = ["game=octal", "solver=mex_dp"]


@pytest.fixture
def plan(minimex, monkeypatch):
    """Return a function from a command's words to its points, or to what it refuses."""

    def planned(*words):
        found = []
        monkeypatch.setattr(sweep_module, "dry_run", lambda points, *rest: found.extend(points))
        answer = minimex(*words, "dry_run=true")
        return found if answer.status == 0 else answer.text

    return planned


@pytest.fixture
def experiment(workdir):
    """Return a function that writes an experiment of the user's own and gives the words that choose it."""

    def write(text):
        folder = Path("mine/experiment")
        folder.mkdir(parents=True)
        (folder / "own.yaml").write_text("# @package _global_\n# ours\n" + text)
        return ["--config-dir", "mine", "experiment=own"]

    return write


FORCED = "defaults:\n  - override /game: forced_rps\n  - override /solver: support_enumeration\n"


def told(points, *names):
    return [tuple(point.parameters.get(name) for name in names) for point in points]


def fields(point, group="game"):
    return json.loads(point.config)[group]["fields"]


# ---- products ----------------------------------------------------------------------------------------------------------------


def test_groups_vary_slowest_and_the_last_key_fastest(plan):
    points = plan("-m", "game=octal", "solver=mex_dp", "seed=1,2", "game.code=0.7,0.77", "solver.heap_limit=10,20")
    assert told(points, "seed", "game.code", "solver.heap_limit") == [
        (seed, code, limit) for seed in (1, 2) for code in ("0.7", "0.77") for limit in (10, 20)
    ]


def test_a_grid_goes_before_what_is_typed_as_keys(plan, experiment):
    words = experiment(FORCED + "sweep:\n  grid: {game.a: [0, 1]}\n")
    assert told(plan(*words, "game.b=0,1"), "game.a", "game.b") == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]


def test_a_point_asked_for_twice_comes_once(plan):
    points = plan("-m", *RPS, "game.a=0.5,1/2,2/4,0")
    assert told(points, "game.a") == [("1/2",), ("0",)]


def test_different_words_for_one_game_are_one_point(plan):
    union = "sweep.union=[{game.a: 1/2}, {game.p1: {rock: 0.5}}, {game.p1: {rock: 0.5, paper: 0}}]"
    (point,) = plan(*RPS, union)
    forced = {name: value for name, value in fields(point).items() if name in ("p1", "p2", "a", "b")}
    assert forced == {"p1": {"rock": "1/2"}, "p2": None, "a": None, "b": None}


def test_a_union_runs_part_after_part_under_a_common_grid(plan):
    points = plan(*RPS, "game.b=0,1", "sweep.union=[{game.a: [1/4]}, {game.a: [1/2, 3/4]}]")
    assert told(points, "game.a", "game.b") == [("1/4", "0"), ("1/4", "1"), ("1/2", "0"), ("1/2", "1"), ("3/4", "0"), ("3/4", "1")]


def test_hydras_ranges_and_choices_are_swept(plan):
    assert told(plan("-m", *OCTAL, "solver.heap_limit=range(1,4)"), "solver.heap_limit") == [(1,), (2,), (3,)]
    assert told(plan("-m", *OCTAL, "game.code=choice(0.7,0.77)"), "game.code") == [("0.7",), ("0.77",)]


# ---- who has the last word ---------------------------------------------------------------------------------------------------


def test_a_typed_key_replaces_an_experiments_grid(plan, experiment):
    words = experiment(FORCED + 'sweep:\n  grid: {game.a: [0, "1/2", 1], game.b: [0, 1]}\n')
    assert told(plan(*words, "game.a=1/3"), "game.a", "game.b") == [("1/3", "0"), ("1/3", "1")]


def test_a_typed_key_replaces_an_experiments_zip(plan, experiment):
    words = experiment(FORCED + "sweep:\n  zip: {game.a: [0, 1], game.b: [1, 0]}\n")
    assert told(plan(*words, "game.a=1/3"), "game.a", "game.b") == [("1/3", "1"), ("1/3", "0")]


def test_a_typed_key_replaces_an_experiments_union(plan, experiment):
    words = experiment(FORCED + "sweep:\n  union:\n    - {game.a: [0, 1]}\n    - {game.a: 0, game.b: 1}\n")
    assert told(plan(*words, "game.a=1/3"), "game.a", "game.b") == [("1/3", None), ("1/3", "1")]


def test_a_typed_key_replaces_an_experiments_value(plan, experiment):
    words = experiment(FORCED + 'game:\n  a: "1/2"\n  b: "1/4"\n')
    assert told(plan(*words, "game.a=1/3"), "game.a", "game.b") == [("1/3", "1/4")]


def test_a_typed_map_replaces_keys_below_it(plan, experiment):
    words = experiment(FORCED + 'sweep:\n  grid: {game.p1.rock: ["1/8", "1/4"]}\n')
    (point,) = plan(*words, "game.p1={paper: 1/2}")
    assert fields(point)["p1"] == {"paper": "1/2"}


def test_a_typed_grid_replaces_an_experiments_grid_key_by_key(plan, experiment):
    words = experiment(FORCED + "sweep:\n  grid: {game.a: [0, 1], game.b: [0, 1]}\n")
    assert told(plan(*words, "sweep.grid={game.a: [1/3]}"), "game.a", "game.b") == [("1/3", "0"), ("1/3", "1")]


def test_a_typed_zip_replaces_the_experiments_keys(plan, experiment):
    words = experiment(FORCED + "sweep:\n  grid: {game.a: [0, 1], game.b: [0, 1]}\n")
    points = plan(*words, "sweep.zip={game.a: [1/3, 1/2], game.b: [1/5, 1/4]}")
    assert told(points, "game.a", "game.b") == [("1/3", "1/5"), ("1/2", "1/4")]


def test_a_typed_union_replaces_the_experiments_union(plan, experiment):
    words = experiment(FORCED + "sweep:\n  union:\n    - {game.a: [0, 1]}\n")
    assert told(plan(*words, "sweep.union=[{game.b: 1/2}]"), "game.a", "game.b") == [(None, "1/2")]


def test_a_typed_solver_replaces_the_experiments(plan, experiment):
    words = experiment(FORCED + "sweep:\n  grid: {solver: [support_enumeration, regret_matching]}\n")
    assert told(plan(*words, "solver=regret_matching"), "solver") == [("regret_matching",)]


# ---- seeds -------------------------------------------------------------------------------------------------------------------


def test_random_games_follow_the_seed(plan):
    points = plan(*FAKE, "solver=trivial", "-m", "seed=3,4")
    assert [(point.seed, point.game.seed) for point in points] == [(3, 3), (4, 4)]


def test_a_games_own_seed_may_be_fixed(plan):
    points = plan(*FAKE, "solver=trivial", "-m", "seed=3,4", "game.seed=7")
    assert [(point.seed, point.game.seed) for point in points] == [(3, 7), (4, 7)]


@pytest.mark.parametrize("sweep", ["seed=0,1,2", "seed=range(0,3)", "sweep.grid={seed: [0,1,2]}", "sweep.grid={seed: '0:2:1'}"])
def test_seeds_are_whole_numbers_however_they_are_swept(plan, sweep):
    points = plan("-m", *OCTAL, sweep)
    assert [(point.seed, point.parameters["seed"]) for point in points] == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize("seed", ["x", "1.5", "true", "null", "[1]"])
def test_other_seeds_are_refused(plan, seed):
    assert "seed: expected a whole number, got" in plan(*OCTAL, f"seed={seed}")


def test_a_link_to_the_seed_stands_alone(plan, workdir):
    folder = Path("mine/game")
    folder.mkdir(parents=True)
    (folder / "linked.yaml").write_text('# ours\n_target_: minimex_fakes.games.Beads\nvalues: ["${seed}"]\n')
    said = plan(
        "--config-dir", "mine", *(word for word in FAKE if word != "game=beads"), "game=linked", "solver=trivial", "-m", "seed=3,4"
    )
    assert "game.values: expected ${seed} alone, or no link to the seed" in said


# ---- keys below a field ------------------------------------------------------------------------------------------------------


def test_a_key_below_a_field_changes_that_part_only(plan):
    points = plan("-m", *RPS, "game.p1.rock=1/8,1/4", "game.p1.paper=1/2")
    assert [fields(point)["p1"] for point in points] == [{"paper": "1/2", "rock": rock} for rock in ("1/8", "1/4")]
    assert told(points, "game.p1.rock", "game.p1.paper") == [("1/8", "1/2"), ("1/4", "1/2")]


@pytest.mark.parametrize("order", [1, -1])
def test_a_field_and_a_key_below_it_go_together(plan, order):
    words = ["game.p1={paper: 1/2}", "game.p1.rock=1/4"][::order]
    (point,) = plan(*RPS, *words)
    assert fields(point)["p1"] == {"paper": "1/2", "rock": "1/4"}


def test_places_in_lists_are_keys_too(plan):
    (point,) = plan("game=matrix", "solver=support_enumeration", "game.payoffs.1.0=7/2")
    assert fields(point)["payoffs"] == [["-2", "3"], ["7/2", "-4"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["game.payoffs.2.0=1"], "game.payoffs.2: expected a place from 0 to 1, got '2'"),
        (["game.payoffs.0.0.0=1"], "expected game.payoffs.0.0 itself to be set"),
        (["game.payofs.0=1"], "game.payofs: expected a field of Matrix, got an unknown key (did you mean payoffs?)"),
    ],
)
def test_keys_that_lead_nowhere_are_refused(plan, words, said):
    assert said in plan("game=matrix", "solver=support_enumeration", *words)


# ---- parameters --------------------------------------------------------------------------------------------------------------


def test_what_was_chosen_is_recorded_and_nothing_else(plan):
    (point,) = plan(*OCTAL, "game.code=.770", "solver.heap_limit=1e3")
    assert point.parameters == {
        "game": "octal",
        "solver": "mex_dp",
        "game.code": ".770",
        "solver.heap_limit": 1000,
        "seed": 0,
    }


def test_an_experiments_changed_values_are_recorded_unchanged_ones_not(plan, experiment):
    words = experiment(
        "defaults:\n  - override /game: octal\n  - override /solver: mex_dp\nsolver:\n  heap_limit: 77\n  keep_nimbers: true\n"
    )
    (point,) = plan(*words)
    assert point.parameters == {"game": "octal", "solver": "mex_dp", "solver.heap_limit": 77, "seed": 0}


def test_files_are_recorded_by_the_path_that_was_typed(plan):
    Path("beads.txt").write_text("5\n")
    (point,) = plan(*FAKE, "solver=trivial", "game.values=[]", "game.file=beads.txt")
    assert point.parameters["game.file"] == "beads.txt"
    assert "beads" not in point.config


# ---- refusals ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep.zip={game: [octal], solver: [mex_dp]}"], "sweep.zip.game: expected game.*, solver.* or seed, got a group"),
        (["game.a=0", "sweep.zip={game.a: [1], game.b: [0]}"], "game.a: expected a key that is given once"),
        (["sweep.zip={game.a: [1,2], game.b: [0]}"], "sweep.zip: expected lists of one length"),
        (["sweep.grid=[1]"], "sweep.grid: expected a map of keys to choices"),
        (["sweep.union={game.a: 1}"], "sweep.union: expected a list of maps"),
        (["sweep.union=[{gme.a: 1}]"], "sweep.union[0].gme.a: expected game, solver, game.*, solver.* or seed, got another key"),
        (["sweep.union=[{game.a: 1}, {game.a: []}]"], "sweep.union[1].game.a: expected at least one choice"),
        (
            ["+sweep.gird={game.a: 1}"],
            "sweep.gird: expected a key of sweep, got an unknown key (did you mean sweep.grid or sweep.first or sweep.zip?)",
        ),
        (["game.a=interval(0,1)"], "game.a: expected choices or a range"),
        (["-m", "compute.cpus=1,2"], "compute.cpus: expected one value, got compute.cpus=1,2"),
        (["-m", "game.a=0,x"], "game.a: expected an exact number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(plan, words, said):
    assert said in plan(*RPS, *words)


def test_impossible_pairs_are_dropped_from_a_product_if_asked(plan):
    words = ["-m", "game=octal,matrix", "solver=mex_dp,support_enumeration,regret_matching"]
    assert "these take it: mex_dp" in plan(*words)
    assert told(plan(*words, "skip_impossible=true"), "game", "solver") == [
        ("octal", "mex_dp"),
        ("matrix", "support_enumeration"),
        ("matrix", "regret_matching"),
    ]


def test_refusing_instances_are_dropped_one_by_one(plan):
    words = [*FAKE, "solver=trivial", "-m", "game.refused=true,false"]
    assert "this instance refuses on purpose" in plan(*words)
    assert told(plan(*words, "skip_impossible=true"), "game.refused") == [(False,)]


def test_nothing_left_is_refused(plan):
    said = plan("game=octal", "solver=support_enumeration", "skip_impossible=true")
    assert "sweep: expected at least one point, got none (skip_impossible left out every pair)" in said
