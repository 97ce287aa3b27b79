"""Laws of learners on random zero-sum games."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.forms import MatrixGame
from solvers.inline import InlineWorkers, last_result
from solvers.regret.fictitious_play import FictitiousPlay
from solvers.regret.hedge import Hedge
from solvers.regret.regret_matching import RegretMatching

enough = settings(max_examples=40, deadline=None)


def game_of(payoffs):
    exact = tuple(tuple(Fraction(int(payoff), 1000) for payoff in row) for row in payoffs)
    return MatrixGame(exact, tuple(f"r{i}" for i in range(len(exact))), tuple(f"c{j}" for j in range(len(exact[0]))))


def curve(payoffs, solver):
    events = solver.solve(game_of(payoffs), resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return last_result(events, solver).tables["curve"].to_pylist()


@st.composite
def cases(draw):
    """Payoffs `[m, n]` in thousandths and initial regrets, both without ties, where rounding could tip the balance."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(-5000, 5000, (m, n)), (rng.uniform(0.1, 2, m), rng.uniform(0.1, 2, n)), rng


def as_start(regrets):
    return tuple(tuple(float(regret) for regret in mine) for mine in regrets)


@enough
@given(cases(), st.integers(1, 300))
def test_strategies_are_distributions_and_nobody_gains_less_than_nothing(case, iterations):
    payoffs, regrets, _ = case

    for row in curve(payoffs, RegretMatching(iterations, as_start(regrets))):
        for mix in (row["x"], row["y"]):
            assert min(mix) >= 0
            assert sum(mix) == pytest.approx(1, abs=1e-12)
        assert min(row["gain_p1"], row["gain_p2"], row["exploitability"]) >= 0
        assert row["exploitability"] == pytest.approx((row["gain_p1"] + row["gain_p2"]) / 2)
        assert np.min(payoffs) / 1000 - 1e-9 <= row["value_p1"] <= np.max(payoffs) / 1000 + 1e-9


@enough
@given(cases())
def test_averages_keep_the_regret_bound(case):
    """Regret after T iterations is at most spread * sqrt(actions * T) (Cesa-Bianchi & Lugosi 2006, section 2.1)."""
    payoffs, _, _ = case
    m, n = payoffs.shape
    spread = (np.max(payoffs) - np.min(payoffs)) / 1000

    for row in curve(payoffs, RegretMatching(2_000)):
        if row["iterate"] == "average":
            bound = spread * (np.sqrt(m) + np.sqrt(n)) / np.sqrt(row["iteration"])
            assert row["gain_p1"] + row["gain_p2"] <= bound + 1e-9


@enough
@given(cases())
def test_relabelling_actions_permutes_strategies_and_changes_no_exploitability(case):
    payoffs, regrets, rng = case
    rows, columns = rng.permutation(payoffs.shape[0]), rng.permutation(payoffs.shape[1])

    plain = curve(payoffs, RegretMatching(50, as_start(regrets)))
    relabelled = curve(payoffs[rows][:, columns], RegretMatching(50, as_start((regrets[0][rows], regrets[1][columns]))))

    for one, other in zip(plain, relabelled, strict=True):
        assert other["x"] == pytest.approx([one["x"][i] for i in rows], abs=1e-7)
        assert other["y"] == pytest.approx([one["y"][j] for j in columns], abs=1e-7)
        assert other["exploitability"] == pytest.approx(one["exploitability"], abs=1e-6)


@enough
@given(cases())
def test_exchanging_the_players_exchanges_everything(case):
    payoffs, regrets, _ = case

    plain = curve(payoffs, RegretMatching(50, as_start(regrets)))
    exchanged = curve(-payoffs.T, RegretMatching(50, as_start(regrets[::-1])))

    for one, other in zip(plain, exchanged, strict=True):
        assert other["x"] == pytest.approx(one["y"], abs=1e-7)
        assert other["gain_p1"] == pytest.approx(one["gain_p2"], abs=1e-6)
        assert other["value_p1"] == pytest.approx(-one["value_p1"], abs=1e-6)


@enough
@given(cases(), st.integers(-1000, 1000))
def test_paying_the_same_more_everywhere_changes_only_the_value(case, more):
    payoffs, regrets, _ = case

    plain = curve(payoffs, RegretMatching(50, as_start(regrets)))
    shifted = curve(payoffs + more, RegretMatching(50, as_start(regrets)))

    for one, other in zip(plain, shifted, strict=True):
        assert other["x"] == pytest.approx(one["x"], abs=1e-7)
        assert other["value_p1"] == pytest.approx(one["value_p1"] + more / 1000, abs=1e-6)


@enough
@given(cases())
def test_against_a_fixed_opponent_regret_vanishes(case):
    payoffs, _, rng = case
    opponent = rng.dirichlet(np.ones(payoffs.shape[1]))
    spread = (np.max(payoffs) - np.min(payoffs)) / 1000

    final = curve(payoffs, RegretMatching(2_000, opponent=tuple(float(p) for p in opponent)))[-1]

    assert final["y"] == pytest.approx(list(opponent))
    assert final["gain_p1"] <= spread * np.sqrt(payoffs.shape[0] / 2_000) + 1e-9


# ---- the other learners ------------------------------------------------------------------------------------------------------

PLUS = {"floor": True, "gamma": 1.0}
PREDICTIVE = {"floor": True, "predictive": True, "gamma": 2.0}
SMOOTH = {**PREDICTIVE, "smooth": 2.0}


@st.composite
def learners(draw, iterations=20, alternating=None):
    both = {"alternating": draw(st.booleans()) if alternating is None else alternating}
    made = [RegretMatching(iterations, **said, **both) for said in ({}, PLUS, PREDICTIVE, SMOOTH)]
    made += [Hedge(iterations, **both), Hedge(iterations, rate=0.1, gamma=0.5, **both), FictitiousPlay(iterations, **both)]
    return draw(st.sampled_from(made))


@enough
@given(cases(), learners())
def test_all_learners_play_distributions_and_nobody_gains_less_than_nothing(case, solver):
    payoffs, _, _ = case

    for row in curve(payoffs, solver):
        for mix in (row["x"], row["y"]):
            assert min(mix) >= 0
            assert sum(mix) == pytest.approx(1, abs=1e-12)
        assert min(row["gain_p1"], row["gain_p2"], row["exploitability"]) >= 0
        assert row["gamma"] == solver.gamma


@enough
@given(cases(), learners(alternating=False))
def test_exchanging_the_players_of_all_learners_exchanges_everything(case, solver):
    payoffs, _, _ = case

    plain, exchanged = curve(payoffs, solver), curve(-payoffs.T, solver)

    for one, other in zip(plain, exchanged, strict=True):
        assert other["x"] == pytest.approx(one["y"], abs=1e-7)
        assert other["gain_p1"] == pytest.approx(one["gain_p2"], abs=1e-6)


@enough
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(1, 40),
    st.integers(0, 999),
    learners(),
)
def test_batches_are_their_games_one_by_one(shapes, copies, seed, solver):
    rng = np.random.default_rng(seed)
    games = [game_of(rng.integers(-5000, 5000, shape)) for shape in shapes for _ in range(copies)]

    table = solver.solve_batch(games, []).tables["curve"]

    height = len(table) // len(games)
    for place in {0, len(games) // 2, len(games) - 1}:
        events = solver.solve(games[place], resume=None, workers=InlineWorkers(), rng=rng)
        alone = last_result(events, solver).tables["curve"]
        assert table.slice(place * height, height).drop_columns(["batch_index"]) == alone


@enough
@given(cases())
def test_rm_plus_keeps_the_regret_bound_too(case):
    """Tammelin et al. 2015, theorem 1: uniform averages, both moving at once."""
    payoffs, _, _ = case
    m, n = payoffs.shape
    spread = (np.max(payoffs) - np.min(payoffs)) / 1000

    for row in curve(payoffs, RegretMatching(1_000, floor=True)):
        if row["iterate"] == "average":
            bound = spread * (np.sqrt(m) + np.sqrt(n)) / np.sqrt(row["iteration"])
            assert row["gain_p1"] + row["gain_p2"] <= bound + 1e-9
