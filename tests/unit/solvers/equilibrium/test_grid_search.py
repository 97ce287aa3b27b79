"""Grid search: known answers, ties, gaps, sizes."""

import csv
from fractions import Fraction as Q
from math import comb
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.equilibrium.check.grid_search import check_grid_optima, check_grid_outcomes
from solvers.equilibrium.grid_search import (
    GRID_OPTIMA,
    MOST_ENTRIES,
    MOST_STRATEGIES,
    GridSearch,
    _count,
    _most_steps,
    compositions,
    game_value,
)
from solvers.errors import ConfigError, ImpossiblePairing
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix

FACTS = Path(__file__).parents[3] / "facts" / "grid_search.csv"
PENNIES = Matrix(((Q(1), Q(-1)), (Q(-1), Q(1))))


def facts():
    with FACTS.open(newline="") as file:
        return list(csv.DictReader(file))


def tables(game, **settings):
    return {name: table.to_pylist() for name, table in solve(game, GridSearch(**settings)).tables.items()}


@pytest.mark.parametrize("opponent", ["pure", "grid"])
@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["name"])
def test_known_answers(fact, opponent):
    found = tables(ForcedRps(a=Q(fact["a"]), b=Q(fact["b"])), steps=int(fact["steps"]), opponent=opponent)
    row, column = found["grid_optima"]
    (outcome,) = found["grid_outcomes"]

    assert (row["strategy"], column["strategy"]) == (fact["x"].split(), fact["y"].split())
    assert (row["worst_case"], column["worst_case"]) == (fact["worst_case_row"], fact["worst_case_column"])
    assert [Q(row["gap"]), Q(column["gap"])] == [Q(1, 6) - Q(fact["worst_case_row"]), Q(fact["worst_case_column"]) - Q(1, 6)]
    assert {name: outcome[name] for name in ("value", "win", "draw", "lose")} == {
        name: fact[name] for name in ("value", "win", "draw", "lose")
    }


def test_a_coarse_grid_misses_the_value():
    """By hand: (1/2, 0, 1/2) earns 1/4, 1/8, 3/4; (1/2, 1/2, 0) costs 1/4, 0, 1/8 and (0, 1, 0) costs 0, -1/4, 1/4."""
    found = tables(ForcedRps(a=Q(1, 2), b=Q(1, 2)), steps=2)["grid_optima"]

    assert [(row["player"], row["strategy"], row["worst_case"], row["gap"], row["replies"]) for row in found] == [
        (1, ["1/2", "0", "1/2"], "1/8", "1/24", "paper"),
        (2, ["1/2", "1/2", "0"], "1/4", "1/12", "rock"),
        (2, ["0", "1", "0"], "1/4", "1/12", "scissors"),
    ]


def test_all_ties_are_given_with_their_gap():
    found = tables(PENNIES, steps=1)

    assert [(row["player"], row["index"], row["strategy"], row["worst_case"], row["gap"]) for row in found["grid_optima"]] == [
        (1, 0, ["1", "0"], "-1", "1"),
        (1, 1, ["0", "1"], "-1", "1"),
        (2, 0, ["1", "0"], "1", "1"),
        (2, 1, ["0", "1"], "1", "1"),
    ]
    assert [row["replies"] for row in found["grid_optima"]] == ["c2", "c1", "r1", "r2"]
    assert [(row["x_index"], row["y_index"], row["value"]) for row in found["grid_outcomes"]] == [
        (0, 0, "1"),
        (0, 1, "-1"),
        (1, 0, "-1"),
        (1, 1, "1"),
    ]


def test_of_very_many_ties_a_hundred_pairs_meet():
    nothing = Matrix(((Q(),) * 3,) * 3)

    found = tables(nothing, steps=12)

    assert len(found["grid_optima"]) == 2 * comb(14, 2)
    assert len(found["grid_outcomes"]) == 100
    assert {verdict.grade for verdict in check_grid_outcomes(nothing, solve(nothing, GridSearch()).tables)} == {"proved"}


@pytest.mark.parametrize("opponent", ["pure", "grid"])
def test_payoffs_beyond_64_bits_are_exact(opponent):
    huge = 10**30
    game = make(Matrix, payoffs=[[str(huge), str(-huge)], [str(-huge), str(huge + 1)]])

    found = tables(game, steps=2, opponent=opponent)

    assert [row["worst_case"] for row in found["grid_optima"]] == ["0", "1/2"]
    assert {verdict.grade for verdict in check_grid_optima(game, solve(game, GridSearch(2)).tables)} == {"proved"}


@pytest.mark.parametrize("opponent", ["pure", "grid"])
def test_blocks_do_not_show(monkeypatch, opponent):
    game = Matrix(((Q(), Q(1), Q(-1)), (Q(), Q(), Q()), (Q(), Q(-1), Q(1))))
    whole = solve(game, GridSearch(steps=5, opponent=opponent)).tables
    assert len(whole["grid_optima"]) > 4

    monkeypatch.setattr("solvers.equilibrium.grid_search._BLOCK", 7)
    monkeypatch.setattr("solvers.equilibrium.check.grid_search._BLOCK", 4)

    assert solve(game, GridSearch(steps=5, opponent=opponent)).tables == whole
    assert {verdict.grade for verdict in check_grid_optima(game, whole)} == {"proved"}


def test_compositions_are_all_there_once_in_order():
    made = compositions(5, 4).tolist()

    assert len(made) == comb(8, 3)
    assert made == sorted(made, reverse=True)
    assert len({tuple(one) for one in made}) == len(made)
    assert all(sum(one) == 5 and min(one) >= 0 for one in made)


def test_value_of_games_with_one_action():
    assert game_value(((Q(-7, 2),),)) == Q(-7, 2)
    assert game_value(((Q(3), Q(-1), Q(2)),)) == -1
    assert game_value(((Q(3),), (Q(5),))) == 5


@pytest.mark.parametrize(
    ("shape", "settings", "said"),
    [
        ((8, 2), {"steps": 30}, "steps: expected at most 20 with 8 actions, got 30 .they make 10,295,472 strategies"),
        ((60, 60), {"steps": 60}, "strategies, at most 333,333 are tried; support_enumeration and exact_lp find"),
        (
            (4, 4),
            {"steps": 100, "opponent": "grid"},
            "opponent: expected pure with steps=100.* pairs of strategies meet, at most 2,000,000,000 are tried",
        ),
    ],
)
def test_refuses_grids_that_are_too_large_and_says_how_large(shape, settings, said):
    with pytest.raises(ImpossiblePairing, match=said):
        solve(Matrix(((Q(),) * shape[1],) * shape[0]), GridSearch(**settings))


@pytest.mark.parametrize(("actions", "steps"), [(1, 999_999), (2, 999_999), (3, 1412), (8, 20), (60, 3), (5000, 0)])
def test_the_finest_grid_that_is_tried_is_told(actions, steps):
    most = min(MOST_STRATEGIES, MOST_ENTRIES // actions)

    assert _most_steps(actions, most) == steps
    assert _count(steps, actions) <= most
    assert actions == 1 or _count(steps + 1, actions) > most


@pytest.mark.parametrize("steps", [0, -3, 1_000_001])
def test_refuses_steps_out_of_range(steps):
    with pytest.raises(ConfigError, match="steps: expected 1 to 1,000,000"):
        GridSearch(steps=steps)


def judge(rows):
    import pyarrow as pa

    return [
        (verdict.grade, verdict.reason)
        for verdict in check_grid_optima(PENNIES, {"grid_optima": pa.Table.from_pylist(rows, GRID_OPTIMA)})
    ]


def test_the_checker_misses_a_tie_and_a_better_strategy():
    rows = solve(PENNIES, GridSearch(steps=3)).tables["grid_optima"].to_pylist()

    assert {grade for grade, _ in judge(rows)} == {"proved"}
    assert judge(rows[:-1]) == [("refuted", "4 strategies tie for the best in steps of 1/3, the table has 3")]
    worse = [{**row, "strategy": ["1", "0"], "worst_case": "-1", "gap": "1", "replies": "c2", "gap_float": 1.0} for row in rows[:1]]
    assert judge(worse + rows[1:])[0][0] == "refuted"


@pytest.mark.parametrize("steps", [None, 0, 10**9])
def test_the_checker_is_not_made_to_walk_for_ever(steps):
    rows = [{**row, "steps": steps} for row in solve(PENNIES, GridSearch(steps=3)).tables["grid_optima"].to_pylist()]

    assert judge(rows)[0][0] == "refuted"
