"""Best correlated equilibria against Aumann's example and others known by hand."""

import csv
from fractions import Fraction as Q
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.equilibrium.check.correlated import check_correlated, check_correlated_dual
from solvers.equilibrium.correlated import Correlated
from solvers.errors import ImpossiblePairing
from solvers.forms import BimatrixGame
from solvers.games.bimatrix import Bimatrix

FACTS = Path(__file__).parents[3] / "facts"


def facts():
    with (FACTS / "correlated.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")]


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["name"])
def test_known_best_correlated_equilibria(fact):
    game = make(Bimatrix, a=rows_of(fact["a"]), b=rows_of(fact["b"]))

    tables = solve(game, Correlated(fact["objective"])).tables

    (dual,) = tables["correlated_dual"].to_pylist()
    assert [dual[name] for name in ("value", "u1", "u2")] == [fact[name] for name in ("value", "u1", "u2")]
    drawn = [["0"] * 2 for _ in range(2)]
    for row in tables["correlated"].to_pylist():
        drawn[int(row["row"][1:]) - 1][int(row["column"][1:]) - 1] = row["probability"]
    assert drawn == rows_of(fact["drawn"])
    grades = [verdict.grade for verdict in (*check_correlated(game, tables), *check_correlated_dual(game, tables))]
    assert grades == ["proved", "proved"]


def test_egalitarian_weights_sum_to_one():
    game = make(Bimatrix, a=[["2", "0"], ["0", "1"]], b=[["1", "0"], ["0", "2"]])

    (dual,) = solve(game, Correlated("egalitarian")).tables["correlated_dual"].to_pylist()

    assert sum(map(Q, dual["weights"])) == 1


def test_negative_payoffs_change_no_distribution():
    games = [
        make(Bimatrix, a=[[str(6 - off), str(2 - off)], [str(7 - off), str(0 - off)]], b=[["6", "7"], ["2", "0"]])
        for off in (0, 100)
    ]

    first, second = (solve(game, Correlated()).tables["correlated"] for game in games)

    assert first == second


def test_a_game_that_is_too_large_is_refused_with_its_size():
    class Huge:
        gives = (BimatrixGame,)
        shape = (40, 40)

    with pytest.raises(ImpossiblePairing, match=r"4,993,600 entries, at most 2,000,000.*dominance"):
        solve(Huge(), Correlated())
