"""Laws of exact_lp, dominance, correlated and evaluate, on random games and against enumeration, which shares nothing with them."""

from fractions import Fraction as Q

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import solve
from solvers.equilibrium.check.correlated import check_correlated, check_correlated_dual
from solvers.equilibrium.check.dominance import check_dominance, check_survivors
from solvers.equilibrium.check.equilibria import check_equilibria
from solvers.equilibrium.check.evaluate import check_action_values, check_outcomes
from solvers.equilibrium.correlated import Correlated
from solvers.equilibrium.dominance import Dominance
from solvers.equilibrium.evaluate import Evaluate
from solvers.equilibrium.exact_lp import ExactLp
from solvers.equilibrium.linear import Program, finish, from_guess, scaled, simplex, solve_game
from solvers.equilibrium.support_enumeration import extreme_equilibria
from solvers.equilibrium.vertex_enumeration import VertexEnumeration
from solvers.games.bimatrix import Bimatrix
from solvers.games.matrix import Matrix

SIGNS = st.sampled_from([Q(-1), Q(0), Q(1)])
FRACTIONS = st.one_of(SIGNS, st.fractions(min_value=-3, max_value=3, max_denominator=6))
KINDS = st.sampled_from(["strict", "weak"])
OBJECTIVES = st.sampled_from(["welfare", "player1", "player2", "egalitarian"])
enough = settings(deadline=None, max_examples=60)


def matrices(entries, most=4, count=1):
    def of(shape):
        matrix = st.tuples(*[st.tuples(*[entries] * shape[1])] * shape[0])
        return matrix if count == 1 else st.tuples(*[matrix] * count)

    return st.tuples(st.integers(1, most), st.integers(1, most)).flatmap(of)


def grades(*verdicts):
    return {verdict.grade for some in verdicts for verdict in some}


@given(matrices(SIGNS))
@settings(deadline=None, max_examples=150)
def test_exact_lp_finds_one_of_the_extreme_equilibria_and_knows_when_it_is_the_only_one(payoffs):
    game = Matrix(payoffs)

    result = solve(game, ExactLp())

    assert grades(check_equilibria(game, result.tables)) == {"proved"}
    play = finish(solve_game(scaled(payoffs)[0]))
    every = {(one.x, one.y) for one in extreme_equilibria(payoffs)}
    assert (play.x, play.y) in every
    assert len(every) == 1 or "unique" not in result.metrics


@given(matrices(FRACTIONS, most=5))
@enough
def test_a_guess_that_proves_something_proves_what_pivots_find(payoffs):
    integers, _ = scaled(payoffs)
    shift = 1 - min(map(min, integers))
    program = Program([1] * len(integers[0]), [[one + shift for one in row] for row in integers], [1] * len(integers))

    guessed = from_guess(program)

    assert guessed is not None
    assert guessed.value == finish(simplex(program)).value


@given(matrices(FRACTIONS, count=2), KINDS, st.booleans())
@settings(deadline=None, max_examples=150)
def test_eliminations_are_proved(both, kind, mixed):
    game = Bimatrix(*both)

    tables = solve(game, Dominance(kind, mixed)).tables

    assert grades(check_dominance(game, tables), check_survivors(game, tables)) == {"proved"}
    survivors = {(row["player"], row["action"]) for row in tables["survivors"].to_pylist()}
    assert {player for player, _ in survivors} == {1, 2}


@given(matrices(SIGNS, most=3, count=2))
@enough
def test_equilibria_use_only_actions_that_survive_strict_dominance(both):
    game = Bimatrix(*both)
    left = {(row["player"], row["action"]) for row in solve(game, Dominance()).tables["survivors"].to_pylist()}

    for row in solve(game, VertexEnumeration()).tables["bimatrix_equilibria"].to_pylist():
        assert {(1, name) for name in row["x_support"].split("+")} <= left
        assert {(2, name) for name in row["y_support"].split("+")} <= left


@given(matrices(FRACTIONS, count=2))
@enough
def test_mixtures_dominate_more_than_pure_actions_and_weakly_more_than_strictly(both):
    game = Bimatrix(*both)

    def first_round(kind, mixed):
        rows = solve(game, Dominance(kind, mixed)).tables["dominance"].to_pylist()
        return {(row["player"], row["action"]) for row in rows if row["round"] == 1}

    assert first_round("strict", mixed=False) <= first_round("strict", mixed=True) <= first_round("weak", mixed=True)
    assert first_round("strict", mixed=False) <= first_round("weak", mixed=False) <= first_round("weak", mixed=True)


@given(matrices(FRACTIONS, most=3, count=2), OBJECTIVES)
@enough
def test_correlation_is_proved_and_never_worse_than_an_equilibrium(both, objective):
    game = Bimatrix(*both)

    tables = solve(game, Correlated(objective)).tables

    assert grades(check_correlated(game, tables), check_correlated_dual(game, tables)) == {"proved"}
    value = Q(tables["correlated_dual"]["value"][0].as_py())
    for row in solve(game, VertexEnumeration()).tables["bimatrix_equilibria"].to_pylist():
        u1, u2 = Q(row["u1"]), Q(row["u2"])
        assert value >= {"welfare": u1 + u2, "player1": u1, "player2": u2, "egalitarian": min(u1, u2)}[objective]


@given(matrices(FRACTIONS), OBJECTIVES)
@enough
def test_in_zero_sum_games_correlation_gains_nothing(payoffs, objective):
    game = Matrix(payoffs)
    value = Q(solve(game, ExactLp()).tables["equilibria"]["value"][0].as_py())

    found = solve(game, Correlated(objective)).tables["correlated_dual"]

    assert Q(found["u1"][0].as_py()) == value


@given(matrices(FRACTIONS))
@enough
def test_gains_vanish_at_an_equilibrium(payoffs):
    game = Matrix(payoffs)
    (row,) = solve(game, ExactLp()).tables["equilibria"].to_pylist()

    tables = solve(game, Evaluate(tuple(map(Q, row["x"])), tuple(map(Q, row["y"])))).tables

    (outcomes,) = tables["outcomes"].to_pylist()
    assert (outcomes["value"], outcomes["gain_row"], outcomes["gain_column"]) == (row["value"], "0", "0")
    assert grades(check_outcomes(game, tables), check_action_values(game, tables)) == {"proved"}


@given(matrices(FRACTIONS))
@enough
def test_evaluations_of_alike_mixtures_are_proved(payoffs):
    game = Matrix(payoffs)

    tables = solve(game, Evaluate()).tables

    assert grades(check_outcomes(game, tables), check_action_values(game, tables)) == {"proved"}
