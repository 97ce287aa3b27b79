"""Triangles of mixed strategies: for players with three actions, and for nobody else."""

from xml.etree import ElementTree as ET

import pytest

from solvers.builder import make
from solvers.games.bimatrix import Bimatrix
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.matrix import Matrix
from solvers.inline import solve
from solvers.regret.cfr import Cfr
from solvers.regret.draw import LEGEND, MARGIN, SIDE, TOP, draw_triangles
from solvers.regret.regret_matching import RegretMatching

RPS = make(Matrix, payoffs=[[0, -1, 1], [1, 0, -1], [-1, 1, 0]], row_actions=["rock", "paper", "<scissors & paste>"])


def circles(svg):
    return [node for node in ET.fromstring(svg).iter("circle") if node.find("title") is not None]


def test_both_players_have_a_triangle_with_every_recorded_mix():
    tables = solve(RPS, RegretMatching(100, start=((3.0, 0.0, 0.0), (0.0, 0.0, 1.0)))).tables

    svg = draw_triangles(RPS, tables)

    assert len(circles(svg)) == 2 * len(tables["curve"])
    assert svg.count("player 1") == svg.count("player 2") == 1
    assert "&lt;scissors &amp;" in svg


def test_a_pure_strategy_is_a_corner_and_the_uniform_one_the_centre():
    pure = solve(RPS, RegretMatching(1, start=((0.0, 0.0, 2.0), (1.0, 1.0, 1.0)))).tables

    marks = circles(draw_triangles(RPS, pure))

    height = SIDE * 3**0.5 / 2
    top, centre = marks[0], marks[2]
    assert (float(top.get("cx")), float(top.get("cy"))) == pytest.approx((MARGIN + SIDE / 2, TOP), abs=0.1)
    assert float(centre.get("cy")) == pytest.approx(TOP + height * 2 / 3, abs=0.1)
    assert "(0, 0, 1)" in top.find("title").text
    assert "(0.3333, 0.3333, 0.3333)" in centre.find("title").text


def test_only_the_player_with_three_actions_has_one():
    game = make(Matrix, payoffs=[[0, -1], [1, 0], [-1, 1]])

    svg = draw_triangles(game, solve(game, RegretMatching(10)).tables)

    root = ET.fromstring(svg)
    assert "player 1" in svg
    assert "player 2" not in svg
    assert float(root.get("width")) == SIDE + 2 * MARGIN
    assert float(root.get("height")) > TOP + LEGEND


@pytest.mark.parametrize(
    ("game", "solver"),
    [
        (make(Matrix, payoffs=[[0, -1], [1, 0]]), RegretMatching(10)),
        (make(Bimatrix, a=[[0, 1]], b=[[0, -1]]), RegretMatching(10)),
        (make(KuhnPoker), Cfr(10)),
    ],
    ids=["2 x 2", "1 x 2", "a tree"],
)
def test_other_games_have_no_picture(game, solver):
    assert draw_triangles(game, solve(game, solver).tables) == ""


def test_numbers_of_several_information_sets_are_no_mix():
    tables = solve(RPS, RegretMatching(1)).tables
    curve = tables["curve"]
    several = curve.set_column(curve.schema.get_field_index("x"), "x", [[[1.0, 0.5, 0.5]] * 2])
    several = several.set_column(curve.schema.get_field_index("y"), "y", [[[1.0, 0.5, 0.5]] * 2])

    assert draw_triangles(RPS, {"curve": several}) == ""
