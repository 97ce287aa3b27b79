"""Laws of general-sum equilibria: three ways to the same set, walks that end in it, checkers that prove it."""

from fractions import Fraction as Q

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import solve
from solvers.equilibrium.check.bimatrix import check_bimatrix_equilibria
from solvers.equilibrium.check.lemke_howson import check_lemke_howson
from solvers.equilibrium.check.supports import check_supports
from solvers.equilibrium.lcp import Lcp
from solvers.equilibrium.lemke_howson import LemkeHowson
from solvers.equilibrium.polytope import _walk_long, _walk_short
from solvers.equilibrium.pure import Pure
from solvers.equilibrium.support_enumeration import SupportEnumeration
from solvers.equilibrium.vertex_enumeration import VertexEnumeration
from solvers.games.bimatrix import Bimatrix

SIGNS = st.sampled_from([Q(-1), Q(0), Q(1)])
FRACTIONS = st.fractions(min_value=-3, max_value=3, max_denominator=6)


def matrices(entries, shape):
    return st.tuples(*[st.tuples(*[entries] * shape[1])] * shape[0])


def games(most=4):
    shapes = st.tuples(st.integers(1, most), st.integers(1, most), st.sampled_from([SIGNS, FRACTIONS]))
    return shapes.flatmap(lambda drawn: st.builds(Bimatrix, matrices(drawn[2], drawn[:2]), matrices(drawn[2], drawn[:2])))


def pairs(table):
    return {(tuple(x), tuple(y)) for x, y in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)}


def extreme(game):
    return pairs(solve(game, VertexEnumeration()).tables["bimatrix_equilibria"])


@given(games())
@settings(deadline=None, max_examples=100)
def test_support_enumeration_finds_the_same(game):
    tables = solve(game, SupportEnumeration(supports=True)).tables

    found = pairs(tables["equilibria"]) | pairs(tables["bimatrix_equilibria"])

    assert found == extreme(game)
    assert all(verdict.grade == "proved" for verdict in check_supports(game, tables))


@given(games())
@settings(deadline=None, max_examples=60)
def test_walks_end_in_extreme_equilibria_and_are_proved(game):
    found = extreme(game)
    walked = solve(game, LemkeHowson()).tables

    assert found
    assert pairs(walked["bimatrix_equilibria"]) <= found
    assert pairs(solve(game, Lcp(priors="pure")).tables["bimatrix_equilibria"]) <= found
    assert {verdict.grade for verdict in check_lemke_howson(game, walked)} == {"proved"}


@given(games())
@settings(deadline=None, max_examples=60)
def test_pure_ones_are_those_without_mixtures(game):
    pure = pairs(solve(game, Pure()).tables["bimatrix_equilibria"])

    assert pure == {(x, y) for x, y in extreme(game) if "1" in x and "1" in y}


@given(games())
@settings(deadline=None, max_examples=60)
def test_checker_proves_every_row(game):
    tables = solve(game, VertexEnumeration()).tables

    assert {verdict.grade for verdict in check_bimatrix_equilibria(game, tables)} == {"proved"}


@given(games())
@settings(deadline=None, max_examples=40)
def test_players_may_change_places(game):
    other = Bimatrix(tuple(zip(*game.b, strict=True)), tuple(zip(*game.a, strict=True)))

    assert extreme(other) == {(y, x) for x, y in extreme(game)}


@given(games(), st.fractions(min_value=Q(1, 5), max_value=5), st.lists(FRACTIONS, min_size=4, max_size=4))
@settings(deadline=None, max_examples=40)
def test_units_and_what_one_cannot_influence_change_nothing(game, unit, extras):
    a = tuple(tuple(unit * entry + extras[j] for j, entry in enumerate(row)) for row in game.a)
    b = tuple(tuple(entry + extras[i] for entry in row) for i, row in enumerate(game.b))

    assert extreme(Bimatrix(a, b)) == extreme(game)


@given(st.integers(1, 4).flatmap(lambda m: st.lists(st.lists(st.integers(1, 4), min_size=m, max_size=m), min_size=1, max_size=5)))
@settings(deadline=None, max_examples=80)
def test_short_and_long_walks_agree(lines):
    walks = [[*events][-1] for events in (_walk_short(lines), _walk_short(lines, long=True), _walk_long(lines))]

    assert len({frozenset(walk.labels) for walk in walks}) == 1
