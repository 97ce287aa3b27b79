"""Iterated dominance against published examples."""

import csv
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.builder import build
from solvers.equilibrium.check.dominance import check_dominance, check_survivors
from solvers.equilibrium.dominance import Dominance
from solvers.errors import ConfigError, ImpossiblePairing
from solvers.forms import BimatrixGame
from solvers.games.bimatrix import Bimatrix

FACTS = Path(__file__).parents[3] / "facts"


def facts():
    with (FACTS / "dominance.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")] if text else []


def game_of(fact):
    return make(Bimatrix, a=rows_of(fact["a"]), b=rows_of(fact["b"]))


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["name"])
def test_known_eliminations(fact):
    game, solver = game_of(fact), Dominance(fact["kind"], fact["mixed"] == "true")

    tables = solve(game, solver).tables

    gone = [[str(row["round"]), str(row["player"]), row["action"], row["dominated_by"]] for row in tables["dominance"].to_pylist()]
    assert gone == rows_of(fact["gone"])
    verdicts = [*check_dominance(game, tables), *check_survivors(game, tables)]
    assert {verdict.grade for verdict in verdicts} == {"proved"}
    assert len(verdicts) == len(gone) + tables["survivors"].num_rows


def test_the_mixture_of_the_weak_example():
    fact = next(one for one in facts() if one["name"] == "three_rounds_weak")

    first, *_ = solve(game_of(fact), Dominance("weak")).tables["dominance"].to_pylist()

    assert first["mixture"] == ["1/4", "0", "3/4"]
    assert first["strict"] is False


def test_metrics_tell_what_is_left():
    fact = next(one for one in facts() if one["name"] == "three_rounds")

    assert solve(game_of(fact), Dominance()).metrics == {"rounds": 3, "rows_left": 1, "columns_left": 1}


def test_settings_and_sizes_are_refused():
    with pytest.raises(ConfigError, match="strict, weak"):
        build({"_target_": "solvers.equilibrium.dominance.Dominance", "kind": "strong"})

    class Huge:
        gives = (BimatrixGame,)
        shape = (300, 300)

    with pytest.raises(ImpossiblePairing, match="90,000 pairs of actions, at most 40,000"):
        solve(Huge(), Dominance())
