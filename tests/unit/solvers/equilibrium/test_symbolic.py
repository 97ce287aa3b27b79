"""The expected value as a polynomial, and what its derivatives say."""

from fractions import Fraction as Q

import pytest

from solvers import solve
from solvers.equilibrium.check.expressions import read_polynomial, read_quotient, value_at
from solvers.equilibrium.check.reading import Refuted
from solvers.equilibrium.check.symbolic import check_polynomials
from solvers.equilibrium.expressions import variables, write_polynomial
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.equilibrium.symbolic import Symbolic
from solvers.errors import ImpossiblePairing
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix

HALVES = ForcedRps(a=Q(1, 2), b=Q(1, 2))
NAMES = tuple(f"{letter}_{move}" for letter in "pq" for move in ("rock", "paper", "scissors"))


def rows(game):
    return solve(game, Symbolic()).tables["polynomials"].to_pylist()


def test_the_example_of_issue_4():
    value = rows(HALVES)[0]

    assert value["expression"] == (
        "1/2*p_rock*q_rock + p_rock*q_scissors + 1/4*p_paper*q_rock - 1/4*p_paper*q_paper"
        " + 1/4*p_scissors*q_paper + 1/2*p_scissors*q_scissors"
    )
    assert value["terms"] == 6


def test_derivatives_and_indifferences():
    said = {(row["kind"], *row["actions"]): row["expression"] for row in rows(HALVES)}

    assert said["earns", "paper"] == "1/4*q_rock - 1/4*q_paper"
    assert said["costs", "paper"] == "-1/4*p_paper + 1/4*p_scissors"
    assert said["indifferent", "rock", "paper"] in (
        "1/4*q_rock + 1/4*q_paper + q_scissors",
        "1/2*p_rock + 1/2*p_paper - 1/4*p_scissors",
    )
    assert len(said) == 1 + 3 + 3 + 2  # both players' indifferences have the same actions here


def test_at_the_equilibrium_it_is_the_value_and_actions_that_are_played_do_alike():
    (equilibrium,) = solve(HALVES, SupportEnumeration()).tables["equilibria"].to_pylist()
    at = [Q(one) for one in equilibrium["x"] + equilibrium["y"]]
    said = {(row["kind"], *row["variables"]): value_at(read_polynomial("it", row["expression"], NAMES), at) for row in rows(HALVES)}

    assert said["value",] == Q(equilibrium["value"]) == said["earns", "p_rock"] == said["earns", "p_scissors"]
    assert said["earns", "p_paper"] < Q(1, 6)
    assert said["indifferent", "q_rock", "q_paper"] == 0


def test_a_game_of_nothing_has_the_polynomial_0():
    value, *_ = rows(Matrix(((Q(), Q()),)))

    assert (value["expression"], value["terms"]) == ("0", 0)


@pytest.mark.parametrize("name", [("a+", "a-"), ("1", "?")])
def test_names_that_fall_together_are_numbered(name):
    game = Matrix(((Q(1), Q(2)),), column_actions=("x y", "x_y"))

    assert rows(game)[0]["expression"] == "p_r1*q_1 + 2*p_r1*q_2"
    assert {verdict.grade for verdict in check_polynomials(game, solve(game, Symbolic()).tables)} == {"proved"}
    assert len(set(variables("p", name))) == 2


def test_refuses_what_nobody_reads():
    with pytest.raises(ImpossiblePairing, match="21 x 20 actions has a polynomial of up to 420 terms, at most 400"):
        solve(Matrix(((Q(),) * 20,) * 21), Symbolic())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "+ a",
        "a + a",
        "2*a*a",
        "b*a",
        "0*a",
        "a^0",
        "a^1.5",
        "1/0",
        "2/4*a",
        "a  + b",
        "c",
        "a*2",
        "a - -b",
        "a-b",
        None,
        3,
    ],
)
def test_the_reader_is_strict(text):
    with pytest.raises(Refuted):
        read_polynomial("it", text, ("a", "b"))


def test_what_is_written_is_read_back():
    terms = {(3, 0): Q(-1, 2), (1, 12): Q(1), (0, 0): Q(7)}

    assert read_polynomial("it", write_polynomial(terms.items(), ("a", "b")), ("a", "b")) == terms
    assert read_quotient("it", "(a - 1)/(b)", ("a", "b")) == ({(1, 0): 1, (0, 0): -1}, {(0, 1): 1})
    with pytest.raises(Refuted, match="denominator is 0"):
        read_quotient("it", "(a)/(0)", ("a", "b"))


def test_the_checker_compares_every_coefficient():
    table = solve(HALVES, Symbolic()).tables["polynomials"]
    row = table.to_pylist()[0]
    off = row["expression"].replace("p_rock*q_scissors", "2*p_rock*q_scissors")
    damaged = table.set_column(4, "expression", [[off, *table["expression"].to_pylist()[1:]]])

    first, *others = check_polynomials(HALVES, {"polynomials": damaged})

    assert (first.row, first.grade) == (0, "refuted")
    assert "is 2, not 1" in first.reason
    assert {verdict.grade for verdict in others} == {"proved"}
