"""Random bimatrix games: the same for ever, within their bounds, and as even as they say."""

from collections import Counter

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame
from solvers.games.random_bimatrix import RandomBimatrix


def test_a_published_game_stays_what_it_is():
    """PCG64 of seed 2026, numpy 2.x: a change here makes stored sweeps refuted."""
    game = make(RandomBimatrix, size=2, low=-9, high=9, seed=2026).form(BimatrixGame)
    assert (game.a, game.b) == (((-6, 3), (-1, -2)), ((-3, 6), (8, -6)))


def test_shape_and_bounds():
    game = make(RandomBimatrix, rows=40, columns=30, low=-2, high=1, seed=3)
    form = game.form(BimatrixGame)
    assert form.shape == game.shape == (40, 30)
    counts = Counter(int(entry) for matrix in (form.a, form.b) for row in matrix for entry in row)
    assert set(counts) == {-2, -1, 0, 1}
    assert all(abs(count - 600) < 110 for count in counts.values())  # 5 standard deviations
    assert form.a != form.b


def test_seeds_give_different_games_and_one_seed_the_same():
    games = [make(RandomBimatrix, seed=seed).form(BimatrixGame) for seed in range(50)]
    assert len({game.a for game in games}) == 50
    assert games[7] == RandomBimatrix(seed=7).form(BimatrixGame)


def test_one_game_has_one_set_of_fields():
    assert make(RandomBimatrix, size=9, rows=2, columns=3) == make(RandomBimatrix, size=2, columns=3)
    assert make(RandomBimatrix, size=4, rows=4, columns=4) == make(RandomBimatrix, size=4)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"size": 0}, "size"),
        ({"rows": 2001}, "rows"),
        ({"low": 3, "high": 2}, "low"),
        ({"high": -10}, "high"),
        ({"low": -(2**32)}, "low"),
        ({"low": 0, "high": 2**32}, "high"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refuses_with_the_path(fields, path):
    with pytest.raises(ConfigError) as caught:
        make(RandomBimatrix, **fields)
    assert caught.value.path == path
