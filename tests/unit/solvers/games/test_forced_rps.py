"""Forced rock-paper-scissors: one set of fields for one game, and its payoffs by counting what is really played."""

from fractions import Fraction as Q
from itertools import product

import pytest

from solvers import make
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import BimatrixGame, MatrixGame, ParametricGame
from solvers.games.forced_rps import BASES, MOVES, ForcedRps
from solvers.identity import describe

BEATS = {("paper", "rock"), ("scissors", "paper"), ("rock", "scissors")}


def test_free_game_has_the_usual_payoffs():
    game = ForcedRps().form(MatrixGame)

    assert game.payoffs == ((0, -1, 1), (1, 0, -1), (-1, 1, 0))
    assert game.row_actions == game.column_actions == ("rock", "paper", "scissors")


@pytest.mark.parametrize(
    ("p1", "p2"),
    [
        ({"rock": Q(1, 2)}, {"scissors": Q(1, 2)}),
        ({"rock": Q(1, 3), "paper": Q(1, 4), "scissors": Q(1, 5)}, {"paper": Q(1, 7)}),
        ({"paper": Q(1)}, None),
        (None, {"rock": Q(2, 3), "scissors": Q(1, 3)}),
    ],
)
def test_outcomes_agree_with_playing_every_case(p1, p2):
    game = ForcedRps(p1=p1, p2=p2).form(MatrixGame)

    def cases(choice, forced):
        yield choice, 1 - sum((forced or {}).values())
        yield from (forced or {}).items()

    for (i, mine), (j, yours) in product(enumerate(MOVES), repeat=2):
        win = draw = lose = Q()
        for (move, p), (reply, q) in product(cases(mine, p1), cases(yours, p2)):
            win += p * q if (move, reply) in BEATS else 0
            draw += p * q if move == reply else 0
            lose += p * q if (reply, move) in BEATS else 0
        assert (game.outcomes.win[i][j], game.outcomes.draw[i][j], game.outcomes.lose[i][j]) == (win, draw, lose)
        assert game.payoffs[i][j] == win - lose
        assert win + draw + lose == 1


def test_short_and_long_forms_are_one_game():
    forms = [
        make(ForcedRps, a="1/2", b="0.25"),
        make(ForcedRps, p1={"rock": "0.5"}, p2={"scissors": "1/4", "rock": "0"}),
        ForcedRps(p1={"rock": Q(1, 2), "paper": Q(0)}, b=Q(1, 4)),
    ]

    assert len(set(forms)) == 1
    assert len({describe(one) for one in forms}) == 1


@pytest.mark.parametrize("fields", [{"a": "0", "b": "0"}, {"p1": {}, "p2": {}}, {"p1": {"rock": "0"}}])
def test_never_forced_is_the_free_game(fields):
    assert make(ForcedRps, **fields) == ForcedRps()


@pytest.mark.parametrize(
    ("fields", "path", "said"),
    [
        ({"p1": {"rokc": "1/2"}}, "p1.rokc", "did you mean rock?"),
        ({"p2": {"rock": "-1/2"}}, "p2.rock", "-1/2"),
        ({"p2": {"rock": "3/2", "paper": "-1/2"}}, "p2.paper", "-1/2"),
        ({"p1": {"rock": "2/3", "paper": "1/2"}}, "p1", "7/6"),
        ({"a": "7/6"}, "a", "7/6"),
        ({"b": "-1"}, "b", "-1"),
        ({"a": "1/2", "p1": {"paper": "1/2"}}, "a", "p1.rock"),
        ({"b": "0", "p2": {}}, "b", "p2.scissors"),
        ({"a": 0.5}, "a", "quote it"),
        ({"a": "1/0"}, "a", "expected an exact number, such as 1/2 or 0.25, or the name of a parameter, got '1/0'"),
        ({"p1": {"rock": "x"}}, "p1.rock", "'game.parameters=[x]' makes it one"),
        ({"base": "rpsl"}, "base", "did you mean rpsls or rps_well?"),
        ({"base": "odd_even", "p1": {"rock": "1/2"}}, "p1.rock", "there are: one, two"),
        ({"p1": {"rokc": "1/2"}}, "p1.rokc", "(did you mean rock? there are: rock, paper, scissors)"),
        ({"base": "odd_even", "b": "1/2", "p2": {"two": "1/2"}}, "b", "write it as game.p2.two"),
        ({"a": "a", "b": "c", "parameters": ["a", "b"]}, "b", "parameters are a, b"),
        ({"a": "a", "parameters": ["a", "b"]}, "parameters[1]", "game.a=b makes it one"),
        ({"a": "a", "parameters": ["a", "a"]}, "parameters[1]", "all different"),
        ({"a": "1a", "parameters": ["1a"]}, "parameters[0]", "letters, digits and _"),
        ({"p1": {"rock": "a", "paper": "b", "scissors": "c"}, "parameters": ["a", "b", "c"]}, "parameters", "at most 2"),
        ({"p1": {"rock": "a", "paper": "b"}, "parameters": ["a", "b"]}, "p1", "a sum of up to 2 (narrower ranges"),
        ({"p1": {"rock": "a", "paper": "1/4"}, "parameters": ["a"]}, "p1", "a sum of up to 5/4"),
        ({"a": "a", "parameters": ["a"], "ranges": {"a": ["0", "2"]}}, "ranges.a", "within 0 to 1"),
        ({"a": "a", "parameters": ["a"], "ranges": {"a": ["1/2", "1/2"]}}, "ranges.a", "least below greatest"),
        ({"a": "a", "parameters": ["a"], "ranges": {"b": ["0", "1"]}}, "ranges.b", "there are: a"),
        ({"ranges": {"a": ["0", "1"]}}, "ranges.a", "a parameter"),
    ],
)
def test_refuses_with_the_path(fields, path, said):
    with pytest.raises(ConfigError) as caught:
        make(ForcedRps, **fields)

    assert caught.value.path == path
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "came"),
    [
        ({"a": "1e999"}, "about 1e+999"),
        ({"a": "-1e-999"}, "about -1e-999"),
        ({"b": "1" * 500 + "/3", "p2": {}}, "about 3.7037037037"),
        ({"p1": {"rock": "0." + "6" * 999, "paper": "2/3"}}, "a sum of about 1.33333333333"),
        ({"p1": {"rock": "1", "paper": "1/" + "7" * 1990, "scissors": "0." + "0" * 980 + "1e-999"}}, "a sum of about 1"),
    ],
)
def test_long_numbers_are_short_in_messages(fields, came):
    with pytest.raises(ConfigError) as caught:
        make(ForcedRps, **fields)

    assert caught.value.came.startswith(came[:20])
    assert len(str(caught.value)) < 150


# ---- other base games --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_bases_are_matrices_with_named_moves(name):
    base = BASES[name]
    assert len(base.payoffs) == len(base.row_moves) == len(set(base.row_moves))
    assert {len(row) for row in base.payoffs} == {len(base.column_moves)} == {len(set(base.column_moves))}


@pytest.mark.parametrize(
    ("name", "beats"),
    [
        ("rock_paper_scissors", "rock scissors, paper rock, scissors paper"),
        (
            "rpsls",
            "scissors paper, paper rock, rock lizard, lizard spock, spock scissors, scissors lizard, lizard paper, paper spock, spock rock, rock scissors",
        ),
        ("rps_well", "rock scissors, paper rock, scissors paper, well rock, well scissors, paper well"),
    ],
)
def test_who_beats_whom(name, beats):
    """Sam Kass's rhyme of Rock Paper Scissors Spock Lizard; the well as German children play it."""
    base = BASES[name]
    won = {
        (mine, yours)
        for i, mine in enumerate(base.row_moves)
        for j, yours in enumerate(base.column_moves)
        if base.payoffs[i][j] == 1
    }
    lost = {
        (yours, mine) for i, mine in enumerate(base.row_moves) for j, yours in enumerate(base.row_moves) if base.payoffs[i][j] == -1
    }
    assert won == lost == {tuple(pair.split()) for pair in beats.split(", ")}


def test_short_forms_name_the_first_move_of_1_and_the_last_of_2():
    assert ForcedRps(a=Q(1, 2), b=Q(1, 3), base="rpsls") == ForcedRps({"rock": Q(1, 2)}, {"lizard": Q(1, 3)}, base="rpsls")
    assert ForcedRps(a=Q(1, 2), base="odd_even") == ForcedRps({"one": Q(1, 2)}, base="odd_even")


def test_a_forced_number_by_hand():
    """Player 1 says "two" but half the time "one": half of 3 and of -2, half of -4 and of 3."""
    game = ForcedRps({"one": Q(1, 2)}, base="odd_even").form(MatrixGame)
    assert game.payoffs == ((-2, 3), (Q(1, 2), Q(-1, 2)))
    assert game.outcomes.win[1] == (Q(1, 2), Q(1, 2))
    assert game.outcomes.draw == ((0, 0), (0, 0))


# ---- parameters --------------------------------------------------------------------------------------------------------------


def test_the_family_of_the_map_by_hand():
    """Player 1 is forced to rock with probability a, player 2 to scissors with b."""
    family = make(ForcedRps, a="a", b="b", parameters=["a", "b"]).form(ParametricGame)
    assert family.parameters == ("a", "b")
    assert family.ranges == ((0, 1), (0, 1))
    rock, _, scissors = family.payoffs
    assert rock == ((((0, 1), Q(1)),), (((0, 1), Q(2)), ((0, 0), Q(-1))), (((0, 0), Q(1)),))  # b, 2b - 1, 1
    assert scissors[2] == (((1, 0), Q(1)),)  # a


def test_a_family_is_no_single_game_and_the_other_way_round():
    family, game = make(ForcedRps, a="a", parameters=["a"]), make(ForcedRps, a="1/2")
    assert family.refuses(ParametricGame) is None
    assert game.refuses(MatrixGame) is game.refuses(BimatrixGame) is None
    for kind in (MatrixGame, BimatrixGame):
        assert "depend on a, here without a value" in family.refuses(kind)
        with pytest.raises(InfeasibleGame):
            family.form(kind)
    assert "'game.parameters=[a]' gives it one" in game.refuses(ParametricGame)
    with pytest.raises(InfeasibleGame):
        game.form(ParametricGame)


def test_one_parameter_may_stand_twice_and_have_a_range():
    family = make(ForcedRps, p1={"rock": "t", "paper": "t"}, p2={"rock": "t"}, parameters=["t"], ranges={"t": ["0", "0.5"]})
    form = family.form(ParametricGame)
    assert form.ranges == ((0, Q(1, 2)),)
    assert {exponents for row in form.payoffs for entry in row for exponents, _ in entry} <= {(0,), (1,), (2,)}
    at = ForcedRps({"rock": Q(1, 3), "paper": Q(1, 3)}, {"rock": Q(1, 3)}).form(MatrixGame)
    assert form.at((Q(1, 3),)).payoffs == at.payoffs


def test_the_whole_range_is_what_no_range_means():
    assert make(ForcedRps, a="a", parameters=["a"], ranges={"a": ["0", "1"]}) == make(ForcedRps, a="a", parameters=["a"])


def test_an_unknown_base_names_the_choices_once():
    with pytest.raises(ConfigError) as caught:
        make(ForcedRps, base="zzz")
    assert str(caught.value) == (
        "base: expected one of rock_paper_scissors, rpsls, rps_well, odd_even, matching_pennies, got 'zzz'"
    )
