"""Monte Carlo CFR: right in expectation, near an equilibrium in the end, the same however often it is interrupted."""

import copy
import csv
from fractions import Fraction
from pathlib import Path

import contract_suite
import numpy as np
import pytest

from solvers.contract import Checkpoint
from solvers.errors import ConfigError
from solvers.forms import Chance, Decision, GameTree, Payoff, extract, sequence_form
from solvers.games.kuhn_poker import KuhnPoker
from solvers.inline import InlineWorkers, solve
from solvers.regret.cfr import Cfr
from solvers.regret.mccfr import Mccfr, _extent_of, _external, _iterate, _outcome, _walk_of
from solvers.regret.tree_play import TreePlay
from solvers.regret.treeplex import plan_of, treeplexes

FACTS = Path(__file__).parents[3] / "facts" / "mccfr.csv"
KUHN = KuhnPoker().form(GameTree)


def lopsided(position):
    """Chance moves unevenly; player 1 sees it and has three actions; player 2 sees neither, then only player 1's action."""
    if not position:
        return Chance((("rain", Fraction(1, 7), "r"), ("sun", Fraction(6, 7), "s")))
    if len(position) == 1:
        return Decision(1, position, tuple((move, position + move) for move in "abc"))
    if len(position) == 2:
        return Decision(2, "blind", tuple((move, position + move) for move in "xyz"))
    if len(position) == 3 and position[2] != "z":
        return Decision(1, position[:2] + "?", tuple((move, position + move) for move in "de"))
    return Payoff(Fraction(sum(ord(letter) * (place + 3) for place, letter in enumerate(position)) % 11 - 5, 3))


TREES = {"kuhn": KUHN, "lopsided": extract("", lopsided)}


def curve(solver, seed, tree=KUHN):
    *_, result = solver.solve(tree, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(seed))
    return result.tables["curve"].to_pylist()


@pytest.mark.parametrize(
    "row", list(csv.DictReader(FACTS.read_text().splitlines())), ids=lambda row: f"{row['epsilon']}-{row['iterations']}"
)
@pytest.mark.parametrize("seed", range(4))
def test_averages_come_near_an_equilibrium_of_kuhn_poker(row, seed):
    epsilon = float(row["epsilon"]) if row["epsilon"] else None

    last = curve(Mccfr(int(row["iterations"]), epsilon), seed)[-1]

    assert (last["iterate"], last["gamma"]) == ("average", None)
    assert last["exploitability"] < float(row["exploitability_below"])
    assert last["value_p1"] == pytest.approx(-1 / 18, abs=2 * float(row["exploitability_below"]))


@pytest.mark.parametrize("epsilon", [None, 0.6, 1.0])
@pytest.mark.parametrize("name", TREES)
def test_sampled_regrets_and_averages_are_right_in_expectation(name, epsilon):
    """From regrets drawn at random: the mean of many walks is the regret that Cfr computes, and the plan of the opponent."""
    tree, rng, samples = TREES[name], np.random.default_rng(5), 40_000
    exact = TreePlay(tree, 0.0, Cfr(alternating=False)._advance)
    start = [rng.normal(size=state.shape[1]) for state in exact.state]
    for sequences, state, regrets in zip(exact.plexes, exact.state, start, strict=True):
        for begin, end in zip(sequences.first[:-1], sequences.first[1:], strict=True):
            positive = np.maximum(regrets[begin:end], 0)
            state[2, begin:end] = positive / positive.sum() if positive.any() else 1 / (end - begin)
    plans = [np.empty(state.shape[1]) for state in exact.state]
    for sequences, state, plan in zip(exact.plexes, exact.state, plans, strict=True):
        plan_of(sequences, state[2], plan)
    exact.advance(1)

    for me in (1, 2):
        drawn, sums = walks(tree, me, start, epsilon, samples)
        agree(drawn[:, 1:], exact.state[me - 1][0, 1:])
        agree(sums[:, 1:], chance_of_sets(tree, 3 - me) * plans[2 - me][1:])


def walks(tree, me, start, epsilon, samples):
    """Return what each of many walks adds to the walker's regrets and to the opponent's sums, `[samples, S]`."""
    walk = _walk_of(tree)
    _, deep, wide = _extent_of(walk)
    places, numbers = np.empty((3, deep), np.int64), np.empty((3, deep, wide))
    drawn, sums, random = [], [], np.uint64(me)
    for _ in range(samples):
        mine, other = start[me - 1].copy(), np.zeros((3, len(start[2 - me])))
        other[0] = start[2 - me]
        if epsilon is None:
            random = np.uint64(_external(walk, me, mine, other, random, places, numbers))
        else:
            random = np.uint64(_outcome(walk, me, mine, other, random, epsilon, places, numbers))
        drawn.append(mine - start[me - 1])
        sums.append(other[1])
    return np.array(drawn), np.array(sums)


def agree(samples, wanted):
    """Within five standard errors; what never varies, exactly."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - wanted) <= 5 * error + 1e-9)
    assert np.abs(wanted).max() > 5 * error.max()  # the test could see a difference


def chance_of_sets(tree, player):
    """Return for each of a player's slots the chances of all nodes of its set, summed."""
    reach = np.ones(len(tree))
    for node in range(1, len(tree)):
        reach[node] = reach[tree.parent[node]] * tree.chances[node]
    sums = np.bincount(tree.infoset[tree.infoset >= 0], reach[tree.infoset >= 0], minlength=len(tree.actions))
    return np.repeat(sums, np.diff(tree.first_slot))[tree.slot_player == player]


@pytest.mark.parametrize("epsilon", [None, 0.6])
def test_how_many_iterations_are_done_in_a_call_changes_no_bit(epsilon):
    plexes = treeplexes(sequence_form(KUHN))
    walk = _walk_of(KUHN)
    _, deep, wide = _extent_of(walk)

    def after(chunks):
        states = [np.zeros((3, 13)), np.zeros((3, 13))]
        played, stream = (np.ones(13), np.ones(13)), np.array([7], dtype=np.uint64)
        for steps in chunks:
            _iterate(walk, plexes[0].first, plexes[1].first, *states, played, stream, steps, epsilon or 0.0, deep, wide)
        return [*states, *played, stream]

    for one, other in zip(after([1000]), after([1, 9, 490, 500]), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("epsilon", [None, 0.6])
def test_it_goes_on_from_a_checkpoint_bit_for_bit(epsilon):
    solver = Mccfr(10_000, epsilon)
    said = [copy.deepcopy(one) for one in solver.solve(KUHN, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(3))]
    checkpoints = [one for one in said if isinstance(one, Checkpoint)]

    assert len(checkpoints) == 4
    for saved in checkpoints:  # another seed: all that is random must come out of the checkpoint
        *_, again = solver.solve(KUHN, resume=saved, workers=InlineWorkers(), rng=np.random.default_rng(4))
        assert again.tables["curve"].equals(said[-1].tables["curve"])
        assert again.tables["strategies"].equals(said[-1].tables["strategies"])


def test_seeds_differ():
    first, second = (solve(KuhnPoker(), Mccfr(100), seed).tables["strategies"] for seed in (0, 1))

    assert first != second


def test_last_is_what_regrets_say_before_the_iteration():
    first = curve(Mccfr(1), 0)[0]

    assert (first["iterate"], set(first["x"]), set(first["y"])) == ("last", {0.5}, {0.5})


def test_how_many_nodes_a_walk_may_meet():
    most, deep, wide = _extent_of(_walk_of(KUHN))

    # two chance nodes; then bet, call or fold and pass, bet, call or fold: the walker follows both of his moves, the other one
    assert (most, deep, wide) == (2 + 6 + 2 + 6, 6, 3)


@pytest.mark.parametrize(
    ("values", "path"), [((0, None), "iterations"), ((1, 0.0), "epsilon"), ((1, 1.01), "epsilon"), ((1, float("nan")), "epsilon")]
)
def test_bad_values_are_refused(values, path):
    with pytest.raises(ConfigError) as refused:
        Mccfr(*values)
    assert refused.value.path == path


@pytest.mark.parametrize("epsilon", [None, 0.6])
def test_a_tree_in_which_one_player_never_moves(epsilon):
    def alone(position):
        if len(position) < 2:
            return Decision(1, position, tuple((move, position + move) for move in "ab"))
        return Payoff(Fraction({"ab": 3}.get(position, 0)))

    last = curve(Mccfr(3000, epsilon), 0, extract("", alone))[-1]

    assert last["y"] == []
    assert last["value_p1"] == pytest.approx(3, abs=0.02)


@pytest.mark.parametrize("law", [contract_suite.check_resume, contract_suite.check_extent, contract_suite.check_stop])
@pytest.mark.parametrize("epsilon", [None, 0.6])
def test_laws_of_the_contract_at_sizes_that_store_checkpoints(law, epsilon):
    law(KuhnPoker(), Mccfr(5000, epsilon))
