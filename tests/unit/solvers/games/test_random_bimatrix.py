"""Random bimatrix games: the same for ever, within their bounds, and as even as they say."""

from collections import Counter
from hashlib import shake_128

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame
from solvers.games.random_bimatrix import RandomBimatrix


def test_payoffs_are_the_documented_bits():
    """A change here makes stored sweeps refuted."""
    bits = shake_128(b"random_bimatrix 2 3 -5 7 11").digest(96)
    words = [int.from_bytes(bits[start : start + 8], "little") for start in range(0, 96, 8)]
    drawn = [-5 + word * 13 // 2**64 for word in words]

    game = make(RandomBimatrix, rows=2, columns=3, low=-5, high=7, seed=11).form(BimatrixGame)

    assert [list(row) for row in (*game.a, *game.b)] == [drawn[:3], drawn[3:6], drawn[6:9], drawn[9:]]


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
