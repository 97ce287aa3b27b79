"""Forced rock-paper-scissors: one set of fields for one game, and its payoffs by counting what is really played."""

from fractions import Fraction as Q
from itertools import product

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.games.forced_rps import MOVES, ForcedRps
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
        ({"p1": {"rock": "1", "paper": "1/" + "7" * 1990, "scissors": "0." + "0" * 1980 + "1e-999"}}, "a sum of about 1"),
    ],
)
def test_long_numbers_are_short_in_messages(fields, came):
    with pytest.raises(ConfigError) as caught:
        make(ForcedRps, **fields)

    assert caught.value.came.startswith(came[:20])
    assert len(str(caught.value)) < 150
