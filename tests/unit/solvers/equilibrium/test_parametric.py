"""Exact maps: known subdivisions, and what the checker lets pass."""

import csv
import re
from fractions import Fraction as Q
from pathlib import Path
from random import Random

import pytest

from solvers import make, solve
from solvers.equilibrium.check.parametric import check_cells, check_pieces
from solvers.equilibrium.check.real_numbers import first_between, is_less, isolate, rational, roots_of
from solvers.equilibrium.draw import _decluttered, _Tick, draw_map
from solvers.equilibrium.parametric import Parametric, determinant_degree, kernel_at
from solvers.errors import ImpossiblePairing, InfeasibleGame
from solvers.forms import MatrixGame, ParametricGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.parametric_matrix import ParametricMatrix

FACTS = Path(__file__).parents[3] / "facts"
SQUARE = make(ForcedRps, a="a", b="b", parameters=["a", "b"])
DIAGONAL = make(ForcedRps, a="a", b="a", parameters=["a"])


def facts(name):
    with (FACTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def matrix(text, *parameters, **ranges):
    said = {name: list(around) for name, around in ranges.items()} or None
    return make(ParametricMatrix, payoffs=[row.split() for row in text.split(";")], parameters=list(parameters), ranges=said)


def lists(game):
    found = solve(game, Parametric()).tables
    return found["cells"].to_pylist(), found["pieces"].to_pylist()


def grades(game, tables):
    return {(verdict.table, verdict.grade) for check in (check_cells, check_pieces) for verdict in check(game, tables)}


# ---- known answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({fact["game"] for fact in facts("parametric_lines.csv")}))
def test_known_lines(name):
    wanted = [fact for fact in facts("parametric_lines.csv") if fact["game"] == name]
    ends = {wanted[0]["parameter"]: (wanted[0]["low"], wanted[-1]["high"])}
    game = DIAGONAL if name == "forced_rps" else matrix(name, wanted[0]["parameter"], **ends)

    cells, pieces = lists(game)

    assert [(piece["cell"], piece["low"], piece["high"]) for piece in pieces] == [
        (number, fact["low"], fact["high"]) for number, fact in enumerate(wanted)
    ]
    for cell, fact in zip(cells, wanted, strict=True):
        assert {column: cell[column] for column in ("x_support", "y_support", "value_expression")} == {
            column: fact[column] for column in ("x_support", "y_support", "value_expression")
        }


def test_the_five_regions_of_forced_rps():
    cells, pieces = lists(SQUARE)
    regions = {(fact["x_support"], fact["y_support"]): fact for fact in facts("forced_rps_regions.csv")}

    assert len(cells) == len(regions) == 5
    assert all(cell["unique"] for cell in cells)
    for cell in cells:
        fact = regions[cell["x_support"], cell["y_support"]]
        mine = [piece for piece in pieces if piece["cell"] == cell["cell"]]
        assert min(Q(piece["low"]) for piece in mine) == Q(fact["a_from"])
        assert max(Q(piece["high"]) for piece in mine) == Q(fact["a_to"])
        assert {Q(piece["lower"]) for piece in mine} == {Q(fact["b_from"])}
        assert {Q(piece["upper"]) for piece in mine} == {Q(fact["b_to"])}
        a, b = map(Q, cell["sample"])
        value = Q(fact["value_1"]) + Q(fact["value_a"]) * a + Q(fact["value_b"]) * b + Q(fact["value_ab"]) * a * b
        assert Q(cell["sample_value"]) == value


def test_the_formula_of_the_curved_region():
    (cell,) = (cell for cell in lists(SQUARE)[0] if cell["x_support"] == "paper+scissors")

    assert cell["value_expression"] == "3*a*b - a - b + 1/3"  # (1/3 - a)(1 - 3b)
    assert cell["x"] == ["0", "(3*a - 2)/(3*a - 3)", "(-1)/(3*a - 3)"]
    assert cell["boundaries"] == ["3*a - 1", "3*a - 2", "3*b - 1"]


def test_curves_bound_cells():
    """By hand: a saddle point at row 1, column 1 while the product is at most 1/2."""
    cells, pieces = lists(matrix("a*b 1/2;0 1", "a", "b"))

    assert [(cell["value_expression"], cell["boundaries"]) for cell in cells] == [
        ("a*b", ["2*a*b - 1"]),
        ("(2*a*b)/(2*a*b + 1)", ["2*a*b - 1"]),
    ]
    assert [tuple(piece.values())[1:] for piece in pieces] == [
        (0, "0", "1/2", "0", "1"),
        (0, "1/2", "1", "0", "root 1 of 2*a*b - 1"),
        (1, "1/2", "1", "root 1 of 2*a*b - 1", "1"),
    ]


def test_a_closed_curve():
    """By hand: inside the circle of radius 1/2 the payoff is negative, and player 1 rather takes 0."""
    cells, pieces = lists(matrix("a^2+b^2-1/4;0", "a", "b", a=("-1", "1"), b=("-1", "1")))

    assert [(cell["x_support"], cell["value_expression"]) for cell in cells] == [("r1", "a^2 + b^2 - 1/4"), ("r2", "0")]
    circle = "4*a^2 + 4*b^2 - 1"
    assert [(piece["low"], piece["high"], piece["lower"], piece["upper"]) for piece in pieces if piece["cell"] == 1] == [
        ("-1/2", "1/2", f"root 1 of {circle}", f"root 2 of {circle}")
    ]
    assert [cell["boundaries"] for cell in cells] == [[circle], [circle]]


def test_a_cell_may_have_several_parts():
    cells, pieces = lists(matrix("a^2-2;0", "a", a=("-2", "2")))

    assert [piece["cell"] for piece in pieces] == [0, 1, 0]
    assert cells[0]["boundaries"] == ["root 1 of a^2 - 2", "root 2 of a^2 - 2"]
    assert cells[0]["sample"] == ["-3/2"]


@pytest.mark.parametrize(
    ("text", "names", "square"), [("(a-1/2)^2;0", "a", "a^2 - a + 1/4"), ("(a-b)^2;0", "ab", "a^2 - 2*a*b + b^2")]
)
def test_a_touching_zero_parts_pieces_not_cells(text, names, square):
    """A square is never negative: player 1 takes it throughout, though both rows do alike at one point, or on a line."""
    game = matrix(text, *names)
    tables = solve(game, Parametric()).tables

    assert tables["cells"]["value_expression"].to_pylist() == [square]
    assert set(tables["pieces"]["cell"].to_pylist()) == {0}
    assert len(tables["pieces"]) == 2
    assert grades(game, tables) == {("cells", "proved"), ("pieces", "proved")}


@pytest.mark.parametrize("text", ["a a;a a", "0 0 a;0 0 a^2", "a 1;a 1", "1 a -a;1 a -a"])
def test_degenerate_everywhere_says_so(text):
    game = matrix(text, "a")
    tables = solve(game, Parametric()).tables

    assert not any(tables["cells"]["unique"].to_pylist())
    assert grades(game, tables) == {("cells", "proved"), ("pieces", "proved")}


def test_a_kernel_is_singular_on_a_curve_only():
    """Times (a - b)^2 the pennies are still one cell, whose mix is 1/2, 1/2; where a = b all mixes do."""
    game = matrix("(a-b)^2 -(a-b)^2;-(a-b)^2 (a-b)^2", "a", "b")
    tables = solve(game, Parametric()).tables

    assert [(cell["value_expression"], cell["unique"], cell["x"]) for cell in tables["cells"].to_pylist()] == [
        ("0", True, ["1/2", "1/2"])
    ]
    assert grades(game, tables) == {("cells", "proved"), ("pieces", "proved")}


def test_five_actions_and_two_parameters():
    game = make(ForcedRps, base="rpsls", a="a", b="b", parameters=["a", "b"])

    tables = solve(game, Parametric()).tables

    assert {grade for _, grade in grades(game, tables)} == {"proved"}
    assert len({(cell["x_support"], cell["y_support"]) for cell in tables["cells"].to_pylist()}) > 1


@pytest.mark.parametrize(
    ("power", "size", "names", "said"),
    [
        (30, 2, "ab", "of 2 x 2 actions may have degree 60 in a and b, at most 24 is looked at; polynomials of smaller degree"),
        (30, 7, "a", "of 7 x 7 actions may have degree 210 in a, at most 107 is looked at"),
    ],
)
def test_high_degrees_of_large_games_are_refused_while_planning(power, size, names, said):
    entry = f"{names[0]}^{power - 1}*{names[-1]}"
    game = matrix(";".join([" ".join([entry] * size)] * size), *names)

    assert said in Parametric().refuses(game)
    with pytest.raises(ImpossiblePairing, match="support_enumeration over a grid"):
        solve(game, Parametric())


def test_a_high_degree_in_few_rows_is_not_refused():
    game = matrix("a^60 0 0 0 0 0 0;" + ";".join(" ".join(str(int(i == j)) for j in range(7)) for i in range(6)), "a")

    assert determinant_degree(game.form(ParametricGame)) == 60
    assert Parametric().refuses(game) is None


def test_curves_that_may_meet_too_often_are_given_up_before_they_are_cut():
    draw = Random(1)
    powers = ("a^2", "b^2", "a*b", "a", "b", "1")
    entries = ["+".join(f"({draw.randint(-5, 5)})*{power}" for power in powers) for _ in range(25)]
    game = make(ParametricMatrix, payoffs=[entries[first : first + 5] for first in range(0, 25, 5)], parameters=["a", "b"])

    with pytest.raises(InfeasibleGame, match=r"curves or more, which may meet in [\d,]+ points, at most 10,000 are looked for"):
        solve(game, Parametric())


def test_large_numbers_of_one_parameter_are_factored():
    # ((12345678901 a - 1) (12345678907 a - 3)): python-flint cannot sort such factors of polynomials in several variables
    game = matrix("a 12345678901*a-1;12345678907*a-3 0", "a")

    tables = solve(game, Parametric()).tables

    assert tables["pieces"]["high"].to_pylist()[0] == "1/12345678901"
    assert {grade for _, grade in grades(game, tables)} == {"proved"}


def test_a_polynomial_that_cannot_be_factored_is_said_to_be_one():
    game = matrix("(12345678901*a+b-1)*(12345678907*a+b-3) 0;0 1", "a", "b")

    with pytest.raises(InfeasibleGame, match="could not be factored, for its coefficients are too large; payoffs of fewer digits"):
        solve(game, Parametric())


def test_a_family_of_high_degree():
    game = matrix("a^60-1/2 a^7;a^30 1/3-a^59", "a")

    assert {grade for _, grade in grades(game, solve(game, Parametric()).tables)} == {"proved"}


def test_kernels_at_a_point():
    third = Q(1, 3)

    assert kernel_at(MatrixGame(((Q(1), Q(0)), (Q(0), third)), ("r1", "r2"), ("c1", "c2"))) == ((0, 1), (0, 1))
    assert kernel_at(MatrixGame(((Q(1), Q(0)), (Q(0), Q(0))), ("r1", "r2"), ("c1", "c2"))) == ((0,), (1,))


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (matrix(";".join(["a " * 8] * 8), "a"), "8 x 8 actions has 12,869 square submatrices, at most 3,431"),
        (
            matrix(";".join(["a*b " * 6] * 6), "a", "b"),
            "6 x 6 actions has 923 square submatrices, at most 251 .* support_enumeration",
        ),
    ],
)
def test_refuses_games_that_are_too_large_and_says_what_would_do(game, said):
    with pytest.raises(ImpossiblePairing, match=said):
        solve(game, Parametric())


# ---- the checker -------------------------------------------------------------------------------------------------------------


def changed(tables, name, row, **cells):
    rows = tables[name].to_pylist()
    rows[row] = {**rows[row], **cells}
    return {**tables, name: type(tables[name]).from_pylist(rows, schema=tables[name].schema)}


def refused(game, tables):
    return [
        verdict.reason for check in (check_cells, check_pieces) for verdict in check(game, tables) if verdict.grade == "refuted"
    ]


def test_moving_a_border_is_found_out():
    tables = solve(DIAGONAL, Parametric()).tables

    moved = changed(changed(tables, "pieces", 0, high="2/5"), "pieces", 1, low="2/5")

    assert "3*a - 1 is 0 inside: a condition may change its sign there, or curves meet" in refused(DIAGONAL, moved)


def test_a_border_that_is_off_by_very_little_is_found_out():
    game = matrix("a^2 1/2;0 1", "a")
    tables = solve(game, Parametric()).tables
    near = "70710678118654752440/100000000000000000000"
    near = str(Q(near))

    assert refused(game, changed(changed(tables, "pieces", 0, high=near), "pieces", 1, low=near))


def test_a_piece_left_out_is_found_out():
    tables = dict(solve(SQUARE, Parametric()).tables)
    for row in range(len(tables["pieces"])):
        rows = tables["pieces"].to_pylist()
        del rows[row]
        rows = [{**one, "piece": number} for number, one in enumerate(rows)]
        said = refused(SQUARE, {**tables, "pieces": tables["pieces"].from_pylist(rows, schema=tables["pieces"].schema)})
        last = row == len(rows)
        assert (
            "the last piece does not end where the box does" if last else "does not begin where the piece before it ends"
        ) in said


def test_a_piece_of_another_cell_is_found_out():
    game = matrix("a^2-2;0", "a", a=("-2", "2"))  # beyond the root of 2 player 1 does not take 0

    assert "not an equilibrium at ['3/2']" in refused(game, changed(solve(game, Parametric()).tables, "pieces", 2, cell=1))


def test_a_formula_that_is_right_at_the_sample_only_is_found_out():
    tables = solve(DIAGONAL, Parametric()).tables

    said = refused(DIAGONAL, changed(tables, "cells", 1, value_expression="1/6"))

    assert any("is 0 inside" in one or "not an equilibrium" in one for one in said)


def test_strategies_that_do_not_sum_to_1_are_found_out():
    tables = solve(DIAGONAL, Parametric()).tables

    assert "x: its formulas do not sum to 1" in refused(DIAGONAL, changed(tables, "cells", 2, x=["a", "0", "0"]))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("low", "root 3 of a^2 - 2"),
        ("low", "root 1 of a^2 - 4"),
        ("low", "root 1 of 2*a^2 - 4"),
        ("high", "root 1 of a - 1"),
        ("high", "2/2"),
        ("lower", "root 1 of a"),
        ("upper", "root 2 of 3*b - 1"),
        ("upper", "root 1 of c"),
        ("upper", None),
    ],
)
def test_bounds_are_read_strictly(column, text):
    assert refused(SQUARE, changed(solve(SQUARE, Parametric()).tables, "pieces", 0, **{column: text}))


def test_two_rows_for_one_cell_are_found_out():
    tables = solve(DIAGONAL, Parametric()).tables
    again = changed(tables, "cells", 1, **{key: one for key, one in tables["cells"].to_pylist()[0].items() if key != "cell"})

    assert any("repeats a cell" in one for one in refused(DIAGONAL, again))


def test_empty_tables_are_refuted():
    tables = solve(DIAGONAL, Parametric()).tables

    assert len(refused(DIAGONAL, {name: table.slice(0, 0) for name, table in tables.items()})) == 2
    assert len(refused(DIAGONAL, {})) == 2


# ---- numbers -----------------------------------------------------------------------------------------------------------------


def test_isolated_roots_are_all_there_and_ordered():
    roots = roots_of([6, 0, -5, 0, 1])  # (x^2 - 2)(x^2 - 3)

    assert [root.of for root in roots] == [(-3, 0, 1), (-2, 0, 1), (-2, 0, 1), (-3, 0, 1)]
    assert [root.rank for root in roots] == [1, 1, 2, 2]
    assert isolate((1, 0, 1)) == ()


def test_numbers_that_are_very_near_are_told_apart():
    near = rational(Q(14142135623730950488016887242097, 10**31))
    (_, root) = isolate((-2, 0, 1))

    assert is_less(root, near) is ((14142135623730950488016887242097**2) > 2 * 10**62)
    assert not is_less(root, root)
    assert first_between(rational(Q(1, 3)), rational(Q(1, 2))) == Q(3, 8)


# ---- the drawing -------------------------------------------------------------------------------------------------------------


def test_the_map_shows_each_piece_with_its_formulas():
    picture = draw_map(SQUARE, solve(SQUARE, Parametric()).tables)

    assert len(re.findall(r'<path [^>]*fill="#', picture)) == 8
    assert "paper+scissors against rock+paper" in picture
    assert picture.count("value 3*a*b - a - b + 1/3") == 2  # its one piece, and the legend
    assert 'aria-label="value and supports by cells, a across, b up"' in picture


def labels(picture, anchor):
    """Return the texts along an axis, by where they stand."""
    return re.findall(rf'<g><title>[^<]*</title><path [^>]*/><text [^>]*text-anchor="{anchor}">([^<]*)<', picture)


def test_both_axes_are_labelled_at_the_breakpoints():
    picture = draw_map(SQUARE, solve(SQUARE, Parametric()).tables)

    assert sorted(labels(picture, "middle")) == sorted(labels(picture, "end")) == ["0", "1", "1/3", "2/3"]


def test_the_line_shows_its_breakpoints_and_the_values_there():
    picture = draw_map(DIAGONAL, solve(DIAGONAL, Parametric()).tables)

    assert sorted(labels(picture, "middle")) == ["0", "1", "1/3", "2/3"]
    assert sorted(labels(picture, "end")) == ["0", "1", "1/3"]
    assert "a from 1/3 to 2/3" in picture


def test_a_root_is_rounded_on_the_axis_and_exact_under_the_pointer():
    game = matrix("a^2 1/2;0 1", "a")
    picture = draw_map(game, solve(game, Parametric()).tables)

    assert sorted(labels(picture, "middle")) == ["0", "0.7071", "1"]
    assert "<title>a = root 2 of 2*a^2 - 1</title>" in picture


def test_labels_that_would_touch_leave_room_to_simpler_ones():
    ticks = [_Tick.of(place, text, "a") for place, text in ((0.0, "0"), (0.5, "1/2"), (0.505, "101/200"), (1.0, "1"))]

    shown = {tick.text: is_shown for tick, is_shown in _decluttered(ticks, lambda place: 400 * place, lambda _: 10.0)}

    assert shown == {"0": True, "1": True, "1/2": True, "101/200": False}


@pytest.mark.parametrize(
    ("text", "names"),
    [("a a;a a", "a"), ("a^9-a;1/7", "a"), ("a+b", "ab"), ("a*b 1;1 a", "ab"), ("a^2+b^2-1/4;0", "ab"), ("a-b^3;0", "ab")],
)
def test_anything_can_be_drawn(text, names):
    from pipeline.report.drawing import clean

    game = matrix(text, *names)

    assert clean(draw_map(game, solve(game, Parametric()).tables)).startswith("<svg")
