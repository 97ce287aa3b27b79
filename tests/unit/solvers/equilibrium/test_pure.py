"""Pure equilibria: what is found, and what the checker says of counts that are wrong and lists that are not complete."""

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.pure import check_pure_counts
from solvers.equilibrium.pure import Pure
from solvers.games.bimatrix import Bimatrix
from solvers.games.random_bimatrix import RandomBimatrix

GAMES = {
    "prisoners_dilemma": ("3 0;5 1", "3 5;0 1", [("r2", "c2")]),
    "battle_of_the_sexes": ("2 0;0 1", "1 0;0 2", [("r1", "c1"), ("r2", "c2")]),
    "matching_pennies": ("1 -1;-1 1", "-1 1;1 -1", []),
    "indifferent": ("0 0", "0 0", [("r1", "c1"), ("r1", "c2")]),
}


def game_of(name):
    a, b = ([row.split() for row in one.split(";")] for one in GAMES[name][:2])
    return make(Bimatrix, a=a, b=b)


def verdicts(game, tables):
    return [(verdict.row, verdict.grade) for verdict in check_pure_counts(game, tables)]


@pytest.mark.parametrize("name", GAMES)
def test_known_games(name):
    tables = solve(game_of(name), Pure()).tables

    found = tables["bimatrix_equilibria"]
    assert list(zip(found["x_support"].to_pylist(), found["y_support"].to_pylist(), strict=True)) == GAMES[name][2]
    assert tables["pure_counts"].to_pylist() == [{"equilibria": len(GAMES[name][2])}]


@pytest.mark.parametrize("name", GAMES)
def test_what_is_found_is_proved_also_where_there_is_none(name):
    game = game_of(name)

    assert verdicts(game, solve(game, Pure()).tables) == [(0, "proved")]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("off", [-1, 1])
def test_a_wrong_number_is_refuted(name, off):
    game = game_of(name)
    tables = dict(solve(game, Pure()).tables)
    tables["pure_counts"] = pa.table({"equilibria": [len(GAMES[name][2]) + off]}, schema=tables["pure_counts"].schema)

    assert verdicts(game, tables) == [(0, "refuted")]


def test_an_equilibrium_that_is_not_listed_is_named():
    game = game_of("battle_of_the_sexes")
    tables = dict(solve(game, Pure()).tables)
    tables["bimatrix_equilibria"] = tables["bimatrix_equilibria"].slice(0, 1)

    (verdict,) = check_pure_counts(game, tables)

    assert (verdict.row, verdict.grade) == (0, "refuted")
    assert "r2 against c2" in verdict.reason


@pytest.mark.parametrize("name", GAMES)
def test_a_list_that_is_not_stored_is_an_empty_one(name):
    game = game_of(name)
    counts = {"pure_counts": solve(game, Pure()).tables["pure_counts"]}

    assert verdicts(game, counts) == [(0, "refuted" if GAMES[name][2] else "proved")]


def test_a_mixed_equilibrium_among_the_pure_ones_is_refuted():
    game = game_of("battle_of_the_sexes")
    tables = dict(solve(game, Pure()).tables)
    listed = tables["bimatrix_equilibria"].to_pylist()
    mixed = {**listed[0], "x_support": "r1+r2", "y_support": "c1+c2"}
    tables["bimatrix_equilibria"] = pa.Table.from_pylist([listed[0], mixed, listed[1]], tables["bimatrix_equilibria"].schema)

    assert verdicts(game, tables) == [(0, "refuted")]


@pytest.mark.parametrize(
    "tables", [{}, {"pure_counts": pa.table({"equilibria": pa.array([], pa.int64())})}], ids=["no table", "no row"]
)
def test_a_count_that_is_not_there_is_refuted(tables):
    assert verdicts(game_of("matching_pennies"), tables) == [(None, "refuted")]


def test_random_games_agree_with_the_checker_and_some_have_none():
    games = [RandomBimatrix(size=3, low=0, high=3, seed=seed) for seed in range(60)]
    results = [solve(game, Pure()).tables for game in games]

    assert all(verdicts(game, tables) == [(0, "proved")] for game, tables in zip(games, results, strict=True))
    counts = {tables["pure_counts"]["equilibria"][0].as_py() for tables in results}
    assert {0, 1, 2} <= counts


def test_a_sweep_without_any_pure_equilibrium_says_so_and_proves_it(minimex):
    answer = minimex("game=matching_pennies", "solver=pure", "out=it", "tracking=off", "compute=inline")

    assert answer.status == 0
    assert "pure_counts: 1 proved" in answer.text
    assert minimex("verify", "it", "strict=true").status == 0
