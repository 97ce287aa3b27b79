"""Colonel Blotto: who wins how many fields."""

from itertools import permutations

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import MatrixGame
from solvers.games.blotto import Blotto


@pytest.mark.parametrize(("soldiers", "fields", "ways"), [(1, 1, 1), (2, 3, 6), (5, 3, 21), (4, 4, 35)])
def test_all_ways_to_spread(soldiers, fields, ways):
    game = Blotto(soldiers, fields).form(MatrixGame)
    plays = [tuple(map(int, name.split("-"))) for name in game.row_actions]
    assert len(set(plays)) == len(plays) == ways
    assert {sum(play) for play in plays} == {soldiers}
    assert game.shape == Blotto(soldiers, fields).shape == (ways, ways)


def test_payoffs_by_hand():
    total, sign = Blotto(5, 3).form(MatrixGame), Blotto(5, 3, "sign").form(MatrixGame)
    names = total.row_actions
    mine, yours = names.index("2-2-1"), names.index("0-0-5")
    assert (total.payoffs[mine][yours], sign.payoffs[mine][yours]) == (1, 1)
    mine, yours = names.index("3-2-0"), names.index("2-1-2")
    assert total.payoffs[mine][yours] == 1
    mine, yours = names.index("1-1-3"), names.index("0-0-5")
    assert (total.payoffs[mine][yours], sign.payoffs[mine][yours]) == (1, 1)
    more = Blotto(3, 4).form(MatrixGame)
    assert more.payoffs[more.row_actions.index("1-1-1-0")][more.row_actions.index("0-0-0-3")] == 2


def test_symmetric_and_blind_to_the_order_of_fields():
    game = Blotto(3, 3).form(MatrixGame)
    plays = [tuple(map(int, name.split("-"))) for name in game.row_actions]
    place = {play: index for index, play in enumerate(plays)}
    for mine in plays:
        for yours in plays:
            payoff = game.payoffs[place[mine]][place[yours]]
            assert payoff == -game.payoffs[place[yours]][place[mine]]
            for order in permutations(range(3)):
                moved = [tuple(play[one] for one in order) for play in (mine, yours)]
                assert game.payoffs[place[moved[0]]][place[moved[1]]] == payoff


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"soldiers": 0, "fields": 3}, "soldiers"),
        ({"soldiers": 3, "fields": 0}, "fields"),
        ({"soldiers": 30, "fields": 10}, "soldiers"),
        ({"soldiers": 3, "fields": 3, "score": "most"}, "score"),
    ],
)
def test_refuses_with_the_path(fields, path):
    with pytest.raises(ConfigError) as caught:
        make(Blotto, **fields)
    assert caught.value.path == path
