"""The trace: what the textbook's recursion computes, from Kuhn poker's first iterations on; and its checker."""

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import contract_suite
import numpy as np
import pyarrow as pa
import pytest

import conf
from solvers.contract import Checkpoint
from solvers.errors import InfeasibleGame
from solvers.forms import Decision, GameTree, Payoff, extract
from solvers.forms.tree import CHANCE, END
from solvers.games.kuhn_poker import KuhnPoker
from solvers.inline import InlineWorkers, solve
from solvers.regret.cfr import Cfr
from solvers.regret.check.trace import check_regrets
from solvers.regret.trace import REGRETS, TRACED

KUHN = KuhnPoker().form(GameTree)
VARIANTS = {
    name: replace(solver, iterations=TRACED, trace=True)
    for name, solver in contract_suite.configured(Path(conf.__file__).parent, "solver").items()
    if isinstance(solver, Cfr)
}


def textbook(tree, solver, t, regrets, sigma):
    """Return instant regrets, regrets and strategies, by set, after iteration t: a recursion over nodes, dictionaries of lists."""
    children = {n: [] for n in range(len(tree))}
    for n in range(1, len(tree)):
        children[int(tree.parent[n])].append(n)

    def cfr(node, me, others, profile):
        player = int(tree.player[node])
        if player == END:
            return float(tree.payoffs[tree.payoff[node]]) * (1 if me == 1 else -1)
        if player == CHANCE:
            parts = [(float(tree.probabilities[tree.probability[n]]), n) for n in children[node]]
            return sum(p * cfr(n, me, others * p, profile) for p, n in parts)
        i = int(tree.infoset[node])
        if player != me:
            return sum(p * cfr(n, me, others * p, profile) for p, n in zip(profile[i], children[node], strict=True))
        utility = [cfr(n, me, others, profile) for n in children[node]]
        value = sum(p * u for p, u in zip(profile[i], utility, strict=True))
        for a, u in enumerate(utility):
            instant[i][a] += others * (u - value)
        return value

    instant = {i: [0.0] * len(actions) for i, actions in enumerate(tree.actions)}
    regrets, after = dict(regrets), dict(sigma)
    for me in (1, 2):
        cfr(0, me, 1.0, after if solver.alternating else sigma)
        for i, r in instant.items():
            if tree.infoset_player[i] == me:
                regrets[i] = [kept(solver, t, one + two) for one, two in zip(regrets[i], r, strict=True)]
                after[i] = matched(regrets[i], r if solver.predictive else [0.0] * len(r))
    return instant, regrets, after


def kept(solver, t, regret):
    if regret > 0:
        return regret if solver.alpha is None else regret * t**solver.alpha / (t**solver.alpha + 1)
    if solver.floor:
        return 0.0
    return regret if solver.beta is None else regret * t**solver.beta / (t**solver.beta + 1)


def matched(regrets, guess):
    hopes = [max(0.0, regret + r) for regret, r in zip(regrets, guess, strict=True)]
    return [hope / sum(hopes) if sum(hopes) > 0 else 1 / len(hopes) for hope in hopes]


def nothing(tree):
    """Return regrets and strategies before the first iteration."""
    return (
        {i: [value] * len(names) for i, names in enumerate(tree.actions) for value in [make(len(names))]}
        for make in (lambda _: 0.0, lambda n: 1 / n)
    )


def by_set(rows, column):
    """Return a column of an iteration's rows as a list for each set of Kuhn poker."""
    numbers = [row[column] for row in rows]
    return {i: numbers[begin:end] for i, (begin, end) in enumerate(itertools.pairwise(KUHN.first_slot.tolist()))}


def near(found, wanted, within):
    for i, numbers in wanted.items():
        assert found[i] == pytest.approx(numbers, abs=within)


def trace(solver, tree=KUHN):
    *_, result = solver.solve(tree, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return result.tables["regrets"]


def test_there_are_six_variants():
    assert set(VARIANTS) == {"cfr", "cfr_plus", "linear_cfr", "dcfr", "pcfr_plus", "pdcfr_plus"}


# how near 50 iterations on its own keep to ours: rounding decides ties (whoever has 3e-17 left has all), and differences grow
FREE = {"cfr": 1e-12, "cfr_plus": 1e-12, "pcfr_plus": 1e-12, "linear_cfr": 1e-9, "dcfr": 1e-9}


@pytest.mark.parametrize("name", FREE)
def test_it_is_what_the_textbook_computes(name):
    solver = VARIANTS[name]
    rows = trace(solver).to_pylist()
    regrets, sigma = nothing(KUHN)

    assert len(rows) == TRACED * KUHN.slots
    for t, here in enumerate(chunks(rows), start=1):
        instant, regrets, sigma = textbook(KUHN, solver, t, regrets, sigma)
        near(by_set(here, "instant_regret"), instant, FREE[name])
        near(by_set(here, "regret"), regrets, FREE[name])
        near(by_set(here, "strategy"), sigma, FREE[name])


@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("name", VARIANTS)
def test_each_iteration_is_what_the_textbook_makes_of_the_one_before(name, alternating):
    solver = replace(VARIANTS[name], alternating=alternating)
    regrets, sigma = nothing(KUHN)
    names = [
        (player, knows, action)
        for player, knows, actions in zip(KUHN.infoset_player, KUHN.infoset_names, KUHN.actions, strict=True)
        for action in actions
    ]

    for t, here in enumerate(chunks(trace(solver).to_pylist()), start=1):
        assert [(row["player"], row["infoset"], row["action"]) for row in here] == names
        assert {row["iteration"] for row in here} == {t}
        instant, after, _ = textbook(KUHN, solver, t, regrets, sigma)
        regrets, told, sigma = (by_set(here, column) for column in ("regret", "instant_regret", "strategy"))
        near(told, instant, 1e-12)
        near(regrets, after, 1e-12)
        for i in sigma:
            assert sigma[i] == pytest.approx(matched(regrets[i], told[i] if solver.predictive else [0.0] * len(told[i])), abs=1e-15)


def chunks(rows):
    return [rows[begin : begin + KUHN.slots] for begin in range(0, len(rows), KUHN.slots)]


def test_first_iteration_by_hand():
    """Player 1 with the jack: passing loses 1 or is met by a bet in half of the cases, which he calls in half of these."""
    first = {(row["infoset"], row["action"]): row for row in trace(VARIANTS["cfr"]).to_pylist()[: KUHN.slots]}

    # pass: -1 half the time; else bet, fold -1 or call -2, together -1.25; bet: fold +1 or call -2, together -0.5
    worth = {"pass": -1.25, "bet": -0.5}
    for action, earned in worth.items():
        assert first["J", action]["instant_regret"] == pytest.approx((earned - (-1.25 - 0.5) / 2) / 3)
    assert (first["J", "bet"]["strategy"], first["J", "pass"]["strategy"]) == (1.0, 0.0)


@pytest.mark.parametrize("name", VARIANTS)
def test_noting_changes_nothing(name):
    plain, traced = (solve(KuhnPoker(), replace(VARIANTS[name], iterations=200, trace=trace)).tables for trace in (False, True))

    assert len(plain["regrets"]) == 0
    assert plain["curve"] == traced["curve"]
    assert plain["strategies"] == traced["strategies"]


@pytest.mark.parametrize("iterations", [1, 7, 49, 50, 51])
def test_it_has_the_first_iterations_only(iterations):
    table = solve(KuhnPoker(), Cfr(iterations, trace=True)).tables["regrets"]

    assert table["iteration"].to_pylist() == [t for t in range(1, min(iterations, 50) + 1) for _ in range(24)]


@pytest.mark.parametrize("law", [contract_suite.check_resume, contract_suite.check_extent, contract_suite.check_protocol])
def test_laws_of_the_contract(law):
    law(KuhnPoker(), Cfr(2500, trace=True))


def test_it_goes_on_within_the_noted_iterations():
    def last_checkpoint(solver):
        said = solver.solve(KUHN, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
        return [one for one in said if isinstance(one, Checkpoint)][-1]

    solver = VARIANTS["dcfr"]
    *_, result = solver.solve(
        KUHN, resume=last_checkpoint(replace(solver, iterations=20)), workers=InlineWorkers(), rng=np.random.default_rng(0)
    )

    assert result.tables["regrets"] == trace(solver)


def test_large_games_are_refused():
    large = SimpleNamespace(ends=1001)

    assert "1,001" in Cfr(trace=True).refuses(large)
    assert Cfr().refuses(large) is None
    assert Cfr(trace=True).refuses(KuhnPoker()) is None


def test_large_trees_are_refused_while_solving():
    many = tuple((str(i), Payoff(Fraction(i))) for i in range(1001))
    tree = extract(Decision(1, "", many), lambda position: position)

    with pytest.raises(InfeasibleGame, match=r"ends in 1,001 ways .* at most 1,000"):
        trace(Cfr(1, trace=True), tree)
    assert len(trace(Cfr(1), tree)) == 0


# ---- the checker -------------------------------------------------------------------------------------------------------------


def judge(table, curve=None):
    return list(check_regrets(KuhnPoker(), {"regrets": table} if curve is None else {"regrets": table, "curve": curve}))


def refuted(verdicts):
    return [verdict.row for verdict in verdicts if verdict.grade == "refuted"]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("alternating", [True, False])
def test_a_true_trace_is_recomputed_row_by_row(name, alternating):
    verdicts = judge(trace(replace(VARIANTS[name], alternating=alternating)))

    assert [(verdict.row, verdict.grade) for verdict in verdicts] == [(row, "recomputed") for row in range(TRACED * 24)]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_changed_cell_is_refuted(name):
    table = trace(replace(VARIANTS[name], iterations=6))
    for row in (0, 2 * 24 + 5, len(table) - 1):
        for one in REGRETS:
            old = table[one.name][row].as_py()
            for new in contract_suite.damaged(old, one.type):
                if new != old:
                    assert refuted(judge(contract_suite.put(table, row, one.name, new))), f"{one.name}[{row}]: {old!r} -> {new!r}"


@pytest.mark.parametrize(
    "setting",
    [{"alpha": 1.5}, {"beta": 0.5}, {"floor": True}, {"predictive": True}, {"alternating": False}],
    ids=lambda setting: next(iter(setting)),
)
def test_other_settings_are_refuted(setting):
    rows = [{**row, **setting} for row in trace(VARIANTS["cfr"]).to_pylist()]

    assert refuted(judge(pa.Table.from_pylist(rows, schema=REGRETS)))


def test_iterations_missing_are_refuted():
    tables = solve(KuhnPoker(), Cfr(20, trace=True)).tables
    table, curve = tables["regrets"], tables["curve"]

    assert refuted(judge(table, curve)) == []
    assert refuted(judge(table.slice(0, 19 * 24), curve)) == [None]
    assert refuted(judge(table.slice(0, 20 * 24 - 1), curve))[0] is None
    assert None in refuted(judge(table.slice(0, 20 * 24 - 1)))
    assert 0 in refuted(judge(table.slice(24)))
    assert judge(table.slice(0, 0), curve) == []


def test_what_is_no_table_is_refuted():
    table = trace(replace(VARIANTS["cfr"], iterations=2))

    assert refuted(list(check_regrets(KuhnPoker(), {}))) == [None]
    assert refuted(judge(table.drop_columns(["strategy"]))) == [None]
    strange = [{**row, "alpha": float("nan")} for row in table.to_pylist()]
    assert refuted(judge(pa.Table.from_pylist(strange, schema=REGRETS))) == [None]
    for number in (float("nan"), float("inf"), 1e308):
        for name in ("instant_regret", "regret", "strategy"):
            assert 3 in refuted(judge(contract_suite.put(table, 3, name, number)))
