"""Random zero-sum games: the same for ever, in range, evenly spread."""

from collections import Counter
from hashlib import shake_128

import pytest

from solvers import make
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.random_matrix import RandomMatrix


def integers(game):
    return [[int(payoff) for payoff in row] for row in game.form(MatrixGame).payoffs]


def test_payoffs_are_the_documented_bits():
    bits = shake_128(b"random_matrix 2 3 -5 7 11").digest(48)
    words = [int.from_bytes(bits[start : start + 8], "little") for start in range(0, 48, 8)]
    drawn = [-5 + word * 13 // 2**64 for word in words]

    assert integers(RandomMatrix(rows=2, columns=3, low=-5, high=7, seed=11)) == [drawn[:3], drawn[3:]]


def test_all_payoffs_are_alike_likely():
    counts = Counter(
        payoff for seed in range(400) for row in integers(RandomMatrix(5, low=-1, high=2, seed=seed)) for payoff in row
    )

    assert set(counts) == {-1, 0, 1, 2}
    assert all(abs(count - 2500) < 250 for count in counts.values())  # more than five standard deviations


def test_the_same_game_has_the_same_fields():
    assert RandomMatrix(5, rows=3, columns=3) == RandomMatrix(3)
    assert RandomMatrix(5, columns=2) == RandomMatrix(rows=5, columns=2)
    assert RandomMatrix(rows=2, columns=4).shape == (2, 4)
    assert RandomMatrix(rows=2, columns=4).form(BimatrixGame).is_zero_sum


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"size": 0}, "size"),
        ({"rows": 2001}, "rows"),
        ({"low": 1, "high": 0}, "low"),
        ({"high": -10}, "high"),
        ({"high": 2**33}, "high"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_numbers_are_refused(fields, path):
    with pytest.raises(ConfigError) as error:
        make(RandomMatrix, **fields)

    assert error.value.path == path
