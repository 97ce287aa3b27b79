"""Laws of exact maps: at any point, what the map says there is what solving the game there gives."""

from fractions import Fraction as Q
from itertools import product
from math import comb

import pytest
from flint import Ordering, fmpz_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.contract import Result
from solvers.equilibrium.arrangement import may_vanish
from solvers.equilibrium.check.exact_value import solve_exactly
from solvers.equilibrium.check.parametric import _Board, check_cells, check_pieces
from solvers.equilibrium.check.real_numbers import is_less, rational
from solvers.equilibrium.parametric import Parametric
from solvers.forms import ParametricGame
from solvers.inline import InlineWorkers


class Given:
    """A game that is its form."""

    def __init__(self, form):
        self.written = form

    def form(self, kind):
        assert kind is ParametricGame
        return self.written


def families(parameters, degree, most):
    exponents = sorted((one for one in product(range(degree + 1), repeat=parameters) if sum(one) <= degree), reverse=True)
    coefficients = st.tuples(*[st.sampled_from([Q(0), Q(0), Q(1), Q(-1), Q(2), Q(-3), Q(1, 2)])] * len(exponents))
    entries = coefficients.map(lambda these: tuple((power, one) for power, one in zip(exponents, these, strict=True) if one))
    shapes = st.tuples(st.integers(1, most), st.integers(1, most))
    matrices = shapes.flatmap(lambda shape: st.tuples(*[st.tuples(*[entries] * shape[1])] * shape[0]))
    ranges = ((Q(0), Q(1)), (Q(-1), Q(1, 2)))[:parameters]
    return matrices.map(
        lambda payoffs: ParametricGame(
            payoffs,
            ("a", "b")[:parameters],
            ranges,
            tuple(f"r{i}" for i in range(len(payoffs))),
            tuple(f"c{j}" for j in range(len(payoffs[0]))),
        )
    )


def tables_of(game):
    *_, result = Parametric().solve(game, resume=None, workers=InlineWorkers(), rng=None)
    assert isinstance(result, Result)
    return result.tables


def judge(game, tables):
    return {verdict.grade for check in (check_cells, check_pieces) for verdict in check(Given(game), tables)}


def cells_at(game, tables, point):
    """Return the formulas of the pieces whose inside holds a point: one, or none on a border."""
    board = _Board(game)
    cells = tables["cells"].to_pylist()
    for row in tables["pieces"].to_pylist():
        piece = board.read_piece(row)
        here = rational(point[0])
        if not (is_less(piece.low, here) and is_less(here, piece.high)):
            continue
        if len(point) > 1:
            there = rational(point[1])
            if not (is_less(board.over(piece.lower, point[0]), there) and is_less(there, board.over(piece.upper, point[0]))):
                continue
        yield board.read_cell(cells[row["cell"]])


def holds_at(game, tables, shares):
    point = tuple(low + (high - low) * share for (low, high), share in zip(game.ranges, shares, strict=True))
    found = list(cells_at(game, tables, point))
    assert len(found) <= 1
    for cell in found:
        payoffs = game.at(point).payoffs
        value, _, _ = solve_exactly(payoffs)
        x, y = ([one.at(point) for one in mix] for mix in (cell.x, cell.y))
        assert cell.value.at(point) == value
        assert min(x) >= 0 <= min(y)
        assert sum(x) == sum(y) == 1
        assert all(sum(p * entry for p, entry in zip(y, row, strict=True)) <= value for row in payoffs)
        assert all(sum(p * entry for p, entry in zip(x, column, strict=True)) >= value for column in zip(*payoffs, strict=True))
    return len(found)


SHARES = st.fractions(min_value=Q(1, 997), max_value=Q(996, 997), max_denominator=997)


@settings(max_examples=60, deadline=None)
@given(families(1, 2, 4), st.lists(SHARES, min_size=1, max_size=6))
def test_one_parameter(game, shares):
    tables = tables_of(game)

    assert judge(game, tables) == {"proved"}
    for share in shares:
        holds_at(game, tables, (share,))


@settings(max_examples=40, deadline=None)
@given(families(2, 1, 3), st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=4))
def test_two_parameters(game, shares):
    tables = tables_of(game)

    assert judge(game, tables) == {"proved"}
    for share in shares:
        holds_at(game, tables, share)


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(families(2, 2, 2), st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=4))
def test_two_parameters_and_curves(game, shares):
    tables = tables_of(game)

    assert judge(game, tables) == {"proved"}
    for share in shares:
        holds_at(game, tables, share)


@settings(max_examples=30, deadline=None)
@given(families(1, 2, 3))
def test_the_two_players_changed_round_the_value_changes_its_sign(game):
    turned = ParametricGame(
        tuple(
            tuple(tuple((power, -one) for power, one in entry) for entry in column) for column in zip(*game.payoffs, strict=True)
        ),
        game.parameters,
        game.ranges,
        game.column_actions,
        game.row_actions,
    )
    mine, theirs = tables_of(game), tables_of(turned)

    for number in range(1, 20):
        point = (Q(number, 20) + Q(1, 1009),)
        here, there = list(cells_at(game, mine, point)), list(cells_at(turned, theirs, point))
        if here and there:
            assert here[0].value.at(point) == -there[0].value.at(point)


def bernstein(poly, ranges):
    """Return the Bernstein coefficients of a polynomial over a box, by their definition."""
    coefficients = {tuple(map(int, exponents)): Q(int(one)) for exponents, one in poly.to_dict().items()}
    for place, (low, high) in enumerate(ranges):
        degree = int(poly.degrees()[place])
        moved = {}
        for exponents, coefficient in coefficients.items():
            power = exponents[place]
            for k in range(power + 1):
                share = coefficient * comb(power, k) * low ** (power - k) * (high - low) ** k / comb(degree, k)
                for i in range(k, degree + 1):
                    key = (*exponents[:place], i, *exponents[place + 1 :])
                    moved[key] = moved.get(key, 0) + share * comb(i, k)
        coefficients = moved
    return coefficients.values()


@pytest.mark.parametrize("names", [("a",), ("a", "b")], ids=len)
@given(st.data())
def test_signs_over_a_box_are_those_of_bernstein_coefficients(names, data):
    powers = st.tuples(*[st.integers(0, 4)] * len(names))
    terms = data.draw(st.dictionaries(powers, st.integers(-5, 5).filter(bool), min_size=1, max_size=6))
    numbers = st.fractions(-3, 3, max_denominator=5)
    ranges = tuple(data.draw(st.tuples(numbers, numbers).filter(lambda two: two[0] < two[1])) for _ in names)
    poly = fmpz_mpoly_ctx.get(names, Ordering.lex).from_dict(terms)

    wanted = min(bernstein(poly, ranges)) < 0 < max(bernstein(poly, ranges))

    assert may_vanish(poly, ranges) == wanted
    one = ((0,) * len(names), Q(1))
    assert _Board(ParametricGame((((one,),),), names, ranges, ("r",), ("c",))).may_be_zero(poly) == wanted
