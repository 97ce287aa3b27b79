"""Vertex enumeration against published answers, and in both number sizes."""

import csv
import gc
from fractions import Fraction as Q
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.equilibrium.polytope import Vertices, _walk_long, _walk_short, most_vertices, walk
from solvers.equilibrium.vertex_enumeration import VertexEnumeration, extreme_equilibria
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.bimatrix import Bimatrix
from solvers.games.random_matrix import RandomMatrix
from solvers.inline import InlineWorkers, start

FACTS = Path(__file__).parents[3] / "facts"


def facts():
    with (FACTS / "bimatrix_games.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(text):
    return [row.split() for row in text.split(";")]


def listed(vertices):
    weights = map(vertices.weights, range(len(vertices.labels)))
    points = [tuple(Q(weight, sum(one) or 1) for weight in one) for one in weights]
    return dict(zip(vertices.labels, points, strict=True))


def last(events):
    *_, end = events
    return end


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact["name"])
def test_known_games(fact):
    table = solve(make(Bimatrix, a=rows_of(fact["a"]), b=rows_of(fact["b"])), VertexEnumeration()).tables["bimatrix_equilibria"]

    assert list(zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)) == list(
        zip(rows_of(fact["x"]), rows_of(fact["y"]), strict=True)
    )
    assert len(set(table["component"].to_pylist())) == int(fact["components"])
    assert table["index"].to_pylist() == list(range(len(table)))


def test_a_row_in_full():
    game = make(Bimatrix, a=[["2", "0"], ["0", "1"]], b=[["1", "0"], ["0", "2"]], row_actions=["ballet", "football"])

    assert solve(game, VertexEnumeration()).tables["bimatrix_equilibria"].to_pylist()[1] == {
        "index": 1,
        "x": ["2/3", "1/3"],
        "y": ["1/3", "2/3"],
        "u1": "2/3",
        "u2": "2/3",
        "x_support": "ballet+football",
        "y_support": "c1+c2",
        "u1_float": 2 / 3,
        "u2_float": 2 / 3,
        "extreme": True,
        "component": 1,
    }


def test_metrics_count_vertices_and_components():
    result = solve(make(Bimatrix, a=[["0", "0"], ["0", "0"]], b=[["0", "0"], ["0", "0"]]), VertexEnumeration())

    assert result.metrics == {"equilibria": 4, "components": 1, "x_vertices": 2, "y_vertices": 2}


def test_vertices_of_a_square_with_a_corner_cut_off():
    found = listed(last(walk([[2, 1], [1, 2]])))  # 2 x0 + x1 <= 1, x0 + 2 x1 <= 1

    assert found == {0b0011: (0, 0), 0b0110: (1, 0), 0b1001: (0, 1), 0b1100: (Q(1, 2), Q(1, 2))}


@pytest.mark.parametrize("lines", [[[2, 1, 3], [1, 2, 1]], [[1, 1], [1, 1], [1, 2]], [[1] * 40, [2] * 40], [[1], [2]] * 40])
def test_short_and_long_integers_agree(lines):
    assert listed(last(_walk_short(lines))) == listed(last(_walk_long(lines))) == listed(last(_walk_short(lines, long=True)))


@pytest.mark.parametrize(("large", "long_enough"), [(10**10, True), (10**15, False)])
def test_integers_that_grow_too_long_are_noticed(large, long_enough):
    lines = [[large + 1, large - 7, 3], [11, large + 3, large - 5], [large, 5, large + 9]]

    assert last(_walk_short(lines)) is None
    assert (last(_walk_short(lines, long=True)) is not None) == long_enough
    assert isinstance(last(walk(lines)), Vertices)
    assert listed(last(walk(lines))) == listed(last(_walk_long(lines)))


@pytest.mark.parametrize("large", [9, 999])  # 64 bits, 128
def test_a_walk_leaves_few_objects_for_the_garbage_collector(large):
    """Else it looks, now and then, through everything that a process holds: 0.1 s where Ray is loaded."""
    lines = [[int(entry) for entry in row] for row in RandomMatrix(9, low=1, high=large, seed=1).form(MatrixGame).payoffs]
    last(walk(lines))  # compiled

    gc.collect()
    gc.disable()
    try:
        before = gc.get_count()[0]
        vertices = last(walk(lines))
        made = gc.get_count()[0] - before
    finally:
        gc.enable()

    assert len(vertices.labels) > 200
    assert made < 100


def test_payoffs_of_any_length_are_taken():
    game = make(Bimatrix, a=[["2e400", "0"], ["0", "1e400"]], b=[["1/3", "0"], ["0", "2/3"]])

    rows = solve(game, VertexEnumeration()).tables["bimatrix_equilibria"].to_pylist()

    assert [row["y"] for row in rows] == [["1", "0"], ["1/3", "2/3"], ["0", "1"]]
    assert [row["u1_float"] for row in rows] == [None] * 3


@pytest.mark.parametrize(("variables", "inequalities", "most"), [(1, 5, 2), (2, 3, 5), (3, 3, 8), (4, 4, 20)])
def test_upper_bound_theorem(variables, inequalities, most):
    assert most_vertices(variables, inequalities) == most


def test_large_games_are_refused_with_their_size():
    zero = ((Q(),) * 18,) * 18

    with pytest.raises(ImpossiblePairing, match=r"18 x 18 actions have up to 6,249,100 vertices.*lemke_howson"):
        solve(Bimatrix(zero, zero), VertexEnumeration())
    with pytest.raises(InfeasibleGame, match="18 x 18"):
        next(start(Bimatrix(zero, zero).form(BimatrixGame), VertexEnumeration(), "0", InlineWorkers()))


def test_costs_more_for_larger_games():
    games = [Bimatrix(((Q(),) * size,) * size, ((Q(),) * size,) * size) for size in (2, 5, 9)]

    costs = [VertexEnumeration().cost(game) for game in games]

    assert costs == sorted(set(costs))


def test_list_version_leaves_out_the_origin():
    game = make(Bimatrix, a=[["1"]], b=[["1"]]).form(BimatrixGame)

    assert extreme_equilibria(game) == [((1,), (1,))]
