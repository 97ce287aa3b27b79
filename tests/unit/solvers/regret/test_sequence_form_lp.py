"""The sequence form's linear programs: values from the literature, exact; what happens where only floats are known."""

import csv
import dataclasses
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pytest

from solvers import make, solve
from solvers.contract import Progress, Result, Stop
from solvers.errors import InfeasibleGame
from solvers.forms import Decision, GameTree, Payoff, extract
from solvers.games.goofspiel import Goofspiel
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.leduc_poker import LeducPoker
from solvers.games.liars_dice import LiarsDice
from solvers.inline import InlineWorkers, last_result
from solvers.regret import sequence_form_lp
from solvers.regret.check import check_strategies, check_values
from solvers.regret.sequence_form_lp import SequenceFormLp

GAMES = {"kuhn_poker": KuhnPoker, "leduc_poker": LeducPoker, "liars_dice": LiarsDice, "goofspiel": Goofspiel}
FACTS = Path(__file__).parents[3] / "facts" / "tree_values.csv"


class Fixed:
    """A game that gives one tree."""

    version = 1
    gives = (GameTree,)

    def __init__(self, tree):
        self._tree = tree

    def form(self, kind):
        return self._tree


def facts():
    with FACTS.open(newline="") as file:
        return [pytest.param(row, id=f"{row['game']} {row['parameters']}".strip()) for row in csv.DictReader(file)]


def events_of(tree):
    return SequenceFormLp().solve(tree, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))


def grades(game, tables):
    return {verdict.grade for check in (check_values, check_strategies) for verdict in check(game, tables)}


@pytest.mark.parametrize("fact", facts())
def test_values_are_exact_and_proved(fact):
    given = dict(one.split("=") for one in fact["parameters"].split())
    game = make(GAMES[fact["game"]], **{name: value == "true" or value for name, value in given.items()})

    tables = solve(game, SequenceFormLp()).tables

    assert tables["values"].to_pylist() == [
        {"value": fact["value"], "value_float": float(Q(fact["value"])), "method": "sequence form, exact"}
    ]
    assert grades(game, tables) == {"proved"}


def test_kuhn_strategies_are_in_kuhns_family():
    rows = solve(KuhnPoker(), SequenceFormLp()).tables["strategies"].to_pylist()
    said = {(row["player"], row["infoset"], row["action"]): Q(row["probability"]) for row in rows}

    bluff = said[1, "J", "bet"]

    assert 0 <= bluff <= Q(1, 3)
    assert said[1, "K", "bet"] == 3 * bluff
    assert said[1, "Q pb", "call"] == bluff + Q(1, 3)
    assert said[2, "J p", "bet"] == said[2, "Q b", "call"] == Q(1, 3)


def test_a_tree_without_a_move_has_a_value():
    tree = extract(0, lambda _: Payoff(Q(3, 7)))
    tables = last_result(events_of(tree), SequenceFormLp()).tables

    assert tables["values"]["value"].to_pylist() == ["3/7"]
    assert len(tables["strategies"]) == 0
    assert grades(Fixed(tree), tables) == {"proved"}


@pytest.mark.parametrize("player", [1, 2])
def test_a_player_alone_takes_his_best(player):
    def look(position):
        if position:
            return Payoff(Q(position, 3))
        return Decision(player, "", (("less", 1), ("more", 2)))

    tree = extract(0, look)
    tables = last_result(events_of(tree), SequenceFormLp()).tables

    assert tables["values"]["value"].to_pylist() == ["2/3" if player == 1 else "1/3"]
    assert grades(Fixed(tree), tables) == {"proved"}


def test_rounded_games_have_float_values():
    tree = dataclasses.replace(KuhnPoker().form(GameTree), is_exact=False)

    result = last_result(events_of(tree), SequenceFormLp())

    (row,) = result.tables["values"].to_pylist()
    assert (row["value"], row["method"], result.complete) == (None, "sequence form, float64", True)
    assert row["value_float"] == pytest.approx(-1 / 18, abs=1e-9)
    assert set(result.tables["strategies"]["probability"].to_pylist()) == {None}
    assert grades(Fixed(tree), result.tables) == {"recomputed"}


def test_where_nothing_is_proved_the_float_stays_and_the_point_is_incomplete(monkeypatch):
    monkeypatch.setattr(sequence_form_lp, "exact_plan", lambda *_: None)

    result = last_result(events_of(KuhnPoker().form(GameTree)), SequenceFormLp())

    assert not result.complete
    assert result.tables["values"]["value"].to_pylist() == [None]
    assert grades(KuhnPoker(), result.tables) == {"recomputed"}


def test_an_exact_pair_that_is_no_equilibrium_is_not_called_one(monkeypatch):
    def wrong(side, *_):
        plan = [Q(1)] + [Q(0)] * (len(side.mine) - 1)
        for h, before in enumerate(side.mine.before):
            plan[side.mine.first[h]] = plan[before]
        return plan

    monkeypatch.setattr(sequence_form_lp, "exact_plan", wrong)

    assert not last_result(events_of(KuhnPoker().form(GameTree)), SequenceFormLp()).complete


@pytest.mark.parametrize("place", [3, 4])
def test_stopped_after_the_programs_it_says_what_they_found(place):
    events = events_of(KuhnPoker().form(GameTree))
    for _ in range(place):
        assert isinstance(next(events), Progress)

    result = events.throw(Stop())

    assert isinstance(result, Result)
    assert not result.complete
    assert result.tables["values"]["value_float"].to_pylist() == [pytest.approx(-1 / 18)]


def test_stopped_before_it_has_nothing_to_say():
    events = events_of(KuhnPoker().form(GameTree))
    next(events)

    with pytest.raises(Stop):
        events.throw(Stop())


def test_large_games_are_refused():
    said = SequenceFormLp().refuses(LiarsDice(dice=2, faces=6))

    assert "at most 500,000" in said
    assert "cfr_plus" in said
    assert SequenceFormLp().refuses(KuhnPoker()) is None


def test_payoffs_beyond_floats_are_refused():
    def look(position):
        if position:
            return Payoff(Q(10**400))
        return Decision(1, "", (("on", 1),))

    with pytest.raises(InfeasibleGame, match="beyond float64"):
        list(events_of(extract(0, look)))
