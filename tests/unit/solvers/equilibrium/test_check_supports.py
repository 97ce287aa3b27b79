"""What is said of pairs of supports, and its checker."""

from collections import Counter

import contract_suite as suite
import pytest

from solvers import make, solve
from solvers.equilibrium.check.equilibria import check_equilibria
from solvers.equilibrium.check.supports import check_supports
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.errors import ImpossiblePairing
from solvers.games.bimatrix import Bimatrix
from solvers.games.forced_rps import ForcedRps

HALVES = make(ForcedRps, a="1/2", b="1/2")
STENGEL = make(Bimatrix, a=[["3", "3"], ["2", "5"], ["0", "6"]], b=[["3", "2"], ["2", "6"], ["3", "1"]])
DEGENERATE = make(Bimatrix, a=[["-3", "3"], ["-3", "5"]], b=[["2", "7"], ["4", "2"]])
EXPLAINING = SupportEnumeration(supports=True)


def explained(game):
    return {(row["x_support"], row["y_support"]): row for row in solve(game, EXPLAINING).tables["supports"].to_pylist()}


def test_the_49_pairs_of_forced_rock_paper_scissors():
    rows = explained(HALVES)

    assert Counter(row["verdict"] for row in rows.values()) == {"no_solution": 33, "violated": 15, "equilibrium": 1}
    assert rows["rock+scissors", "rock+paper"] == {
        "x_support": "rock+scissors",
        "y_support": "rock+paper",
        "verdict": "equilibrium",
        "violated": None,
        "equations": "u1 = 1/2 y[rock]; u1 = 1/4 y[paper]; 1 = y[rock] + y[paper]; "
        "u2 = -1/2 x[rock]; u2 = -1/4 x[scissors]; 1 = x[rock] + x[scissors]",
    }
    assert rows["rock", "rock"]["violated"] == "column paper earns 0 > -1/2"
    assert rows["rock+paper+scissors", "rock+paper+scissors"]["violated"] == "x[rock] = -1/3"


def test_degenerate_pairs_are_underdetermined_not_lost():
    rows = explained(DEGENERATE)

    assert rows["r1+r2", "c1"]["verdict"] == "underdetermined"
    assert rows["r2", "c1"]["verdict"] == "equilibrium"


@pytest.mark.parametrize("game", [HALVES, STENGEL, DEGENERATE], ids=["forced_rps", "von_stengel", "degenerate"])
@pytest.mark.parametrize("law", [suite.check_certificates, suite.check_damage, suite.check_protocol], ids=lambda law: law.__name__)
@pytest.mark.parametrize("solver", [EXPLAINING, SupportEnumeration(first=True)], ids=["supports", "first"])
def test_laws_hold_with_other_settings(game, law, solver):
    law(game, solver)


def test_first_is_one_of_all():
    tables = solve(STENGEL, SupportEnumeration(first=True)).tables["bimatrix_equilibria"]

    assert tables["x_support"].to_pylist() == ["r1"]


def test_rows_missing_or_swapped_are_refuted():
    table = solve(STENGEL, EXPLAINING).tables["supports"]

    (short,) = check_supports(STENGEL, {"supports": table.slice(1)})
    swapped = table.take([1, 0, *range(2, len(table))])

    assert short.reason == "expected 21 rows, one for each pair of supports, got 20"
    assert [one.row for one in check_supports(STENGEL, {"supports": swapped}) if one.grade == "refuted"] == [0, 1]


def test_larger_games_are_not_explained():
    game = make(Bimatrix, a=[["0"] * 7] * 7, b=[["1"] * 7] * 7)

    with pytest.raises(ImpossiblePairing, match="16,129 pairs of supports of any sizes, at most 10,000 are explained"):
        solve(game, EXPLAINING)


def test_each_game_has_rows_in_the_table_of_its_kind():
    general, zero_sum = solve(STENGEL, SupportEnumeration()).tables, solve(HALVES, SupportEnumeration()).tables

    assert (len(general["equilibria"]), len(general["bimatrix_equilibria"])) == (0, 3)
    assert (len(zero_sum["equilibria"]), len(zero_sum["bimatrix_equilibria"])) == (1, 0)
    assert list(check_equilibria(STENGEL, general)) == []
    assert [one.grade for one in check_equilibria(HALVES, general)] == ["refuted"]
    (wrong,) = check_equilibria(STENGEL, zero_sum)
    assert (wrong.grade, wrong.reason) == ("refuted", "rows, but the game is not zero-sum")
