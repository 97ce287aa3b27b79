"""Laws of game trees, on random small card games: values prove themselves, best replies never lose, walks agree."""

from fractions import Fraction as Q

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import make, solve
from solvers.equilibrium.exact_lp import ExactLp
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.games.matrix import Matrix
from solvers.games.rps_tree import RpsTree
from solvers.inline import InlineWorkers, last_result
from solvers.regret.best_response import BestResponse
from solvers.regret.cfr import Cfr
from solvers.regret.check import check_curve, check_exploitability, check_responses, check_strategies, check_values
from solvers.regret.check.walk import Walk
from solvers.regret.sequence_form_lp import SequenceFormLp


class Cards:
    """Each player gets one of `cards` cards; then they move by turns, `turns` times, and the end pays as a table of numbers says."""

    version = 1
    gives = (GameTree,)

    def __init__(self, cards, turns, actions, numbers):
        self.cards, self.turns, self.actions, self.numbers = cards, turns, actions, numbers

    def form(self, kind):
        met = {}

        def look(position):
            dealt, done = position
            if len(dealt) < 2:
                weights = self.numbers[len(dealt) :][: self.cards]
                shares = [abs(weight) + 1 for weight in weights]
                return Chance(
                    tuple((str(card), Q(share, sum(shares)), ((*dealt, card), done)) for card, share in enumerate(shares))
                )
            if len(done) == self.turns or (done and done[-1] == 0 and len(done) > 1):
                return Payoff(Q(self.numbers[met.setdefault(position, len(met)) % len(self.numbers)], 3))
            player = len(done) % 2 + 1
            knows = f"{dealt[player - 1]} {done}"
            return Decision(player, knows, tuple((str(one), (dealt, (*done, one))) for one in range(self.actions)))

        return extract(((), ()), look)


games = st.builds(
    Cards,
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.lists(st.integers(-9, 9), min_size=4, max_size=40),
)


def grades(game, tables, *checks):
    return {verdict.grade for check in checks for verdict in check(game, tables)}


def run(game, solver):
    events = solver.solve(game.form(GameTree), resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return last_result(events, solver)


@given(games)
@settings(max_examples=60, deadline=None)
def test_values_are_proved_and_no_reply_gains(game):
    solved = dict(run(game, SequenceFormLp()).tables)

    assert grades(game, solved, check_values, check_strategies) == {"proved"}


@given(games, st.integers(1, 12), st.sampled_from([0.0, 1.0, 2.5]))
@settings(max_examples=30, deadline=None)
def test_curves_of_any_tree_are_recomputed(game, iterations, gamma):
    learned = dict(run(game, Cfr(iterations, gamma=gamma, floor=True)).tables)

    assert grades(game, learned, check_curve, check_strategies) == {"recomputed"}


@given(games)
@settings(max_examples=30, deadline=None)
def test_best_replies_gain_and_agree_with_the_walk(game):
    answered = dict(run(game, BestResponse()).tables)
    (row,) = answered["exploitability"].to_pylist()

    assert grades(game, answered, check_responses, check_exploitability) == {"proved"}
    assert min(Q(row["gain_p1"]), Q(row["gain_p2"])) >= 0
    walk = Walk(game.form(GameTree))
    plans = walk.plans(np.array([float(Q(one)) for one in answered["responses"]["probability"].to_pylist()]))
    assert abs(walk.mean(plans) - row["value_float"]) < 1e-12
    assert abs(walk.best(1, plans) - row["value_float"] - row["gain_p1_float"]) < 1e-12


@given(st.integers(1, 4), st.integers(1, 4), st.data())
@settings(max_examples=40, deadline=None)
def test_a_matrix_as_a_tree_is_worth_what_the_matrix_is(rows, columns, data):
    payoffs = [[data.draw(st.integers(-5, 5)) for _ in range(columns)] for _ in range(rows)]

    class Tree:
        version = 1
        gives = (GameTree,)

        def form(self, kind):
            def look(done):
                if len(done) == 2:
                    return Payoff(Q(payoffs[done[0]][done[1]]))
                return Decision(len(done) + 1, "", tuple((str(one), (*done, one)) for one in range((rows, columns)[len(done)])))

            return extract((), look)

    value = run(Tree(), SequenceFormLp()).tables["values"]["value"].to_pylist()

    wanted = solve(make(Matrix, payoffs=[[str(one) for one in row] for row in payoffs]), ExactLp())
    assert value == wanted.tables["equilibria"]["value"].to_pylist()


def test_rock_paper_scissors_is_worth_nothing():
    assert run(RpsTree(), SequenceFormLp()).tables["values"]["value"].to_pylist() == ["0"]
