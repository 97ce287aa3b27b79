"""Games by name: the equilibria that their sources give are equilibria of what `conf/game` has, judged with fractions alone."""

import csv
from fractions import Fraction as Q
from itertools import product
from pathlib import Path

import pytest
import yaml

import conf
from solvers.builder import build
from solvers.forms import BimatrixGame

FACTS = Path(__file__).parents[3] / "facts" / "classic_games.csv"
ROWS = list(csv.DictReader(FACTS.open(encoding="utf-8")))
CLASSICS = ("matching_pennies", "prisoners_dilemma", "battle_of_the_sexes", "chicken", "stag_hunt")


def configured(name):
    path = Path(conf.__file__).parent / "game" / f"{name}.yaml"
    return build(yaml.safe_load(path.read_text(encoding="utf-8")), "game").form(BimatrixGame)


def earned(matrix, x, y):
    return sum(p * q * entry for p, row in zip(x, matrix, strict=True) for q, entry in zip(y, row, strict=True))


def pure(count):
    return [[Q(i == j) for j in range(count)] for i in range(count)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['game']} {row['x']}")
def test_published_equilibria(row):
    game = configured(row["game"])
    x, y = ([Q(text) for text in row[name].split()] for name in "xy")
    assert sum(x) == sum(y) == 1
    assert (earned(game.a, x, y), earned(game.b, x, y)) == (Q(row["u1"]), Q(row["u2"]))
    assert max(earned(game.a, other, y) for other in pure(len(x))) == Q(row["u1"])
    assert max(earned(game.b, x, other) for other in pure(len(y))) == Q(row["u2"])


@pytest.mark.parametrize("name", CLASSICS)
def test_no_equilibrium_of_two_by_two_is_missing(name):
    """By hand: pure pairs, and the one mixed pair that makes both indifferent."""
    game = configured(name)
    (a, b), (c, d) = game.a
    (e, f), (g, h) = game.b
    found = []
    for i, j in product(range(2), repeat=2):
        if game.a[i][j] >= game.a[1 - i][j] and game.b[i][j] >= game.b[i][1 - j]:
            found.append((pure(2)[i], pure(2)[j]))
    if a - b - c + d and e - f - g + h:
        p, q = (h - g) / (e - f - g + h), (d - b) / (a - b - c + d)
        if 0 < p < 1 and 0 < q < 1:
            found.append(([p, 1 - p], [q, 1 - q]))
    said = [([Q(one) for one in row["x"].split()], [Q(one) for one in row["y"].split()]) for row in ROWS if row["game"] == name]
    assert sorted(found) == sorted(said)


@pytest.mark.parametrize("name", CLASSICS)
def test_a_classic_says_its_source_and_names_its_actions(name):
    text = (Path(conf.__file__).parent / "game" / f"{name}.yaml").read_text(encoding="utf-8")
    assert any(year in text.splitlines()[0] for year in ("1944", "1984", "1994", "1974", "2004"))
    assert not configured(name).row_actions[0].startswith("r1")
