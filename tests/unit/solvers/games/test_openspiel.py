"""Games by OpenSpiel's load strings: what becomes of its numbers and moves, and what is refused, without harm to this process."""

import math
import subprocess
import sys
from fractions import Fraction as Q

import pytest

from solvers import solve
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import GameTree
from solvers.games import openspiel
from solvers.games.openspiel import OpenSpiel, _fraction, _Walk
from solvers.regret.sequence_form_lp import SequenceFormLp

needs_openspiel = pytest.mark.skipif(openspiel.find_spec("pyspiel") is None, reason="the extra is not installed")


@needs_openspiel
def test_kuhn_poker_is_exact():
    assert OpenSpiel().refuses(GameTree) is None
    assert solve(OpenSpiel(), SequenceFormLp()).tables["values"]["value"].to_pylist() == ["-1/18"]


@needs_openspiel
def test_simultaneous_moves_are_made_turn_based():
    tree = OpenSpiel("matrix_mp").form(GameTree)
    assert tree.histories == {"nodes": 7, "ends": 4, "chance_nodes": 0, "infosets_p1": 1, "infosets_p2": 1}
    assert tree.actions == (("Heads", "Tails"), ("Heads", "Tails"))


@needs_openspiel
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kuhn_pokr", "OpenSpiel has no game 'kuhn_pokr': did you mean kuhn_poker or leduc_poker?"),
        ("(", "OpenSpiel has no game ''"),
        ("kuhn_poker(", "OpenSpiel refuses kuhn_poker(: Missing closing bracket ')'."),
        ("kuhn_poker(players=3)", "a game of 3 players, wanted are two"),
        ("kuhn_poker(players=x)", "Wrong type for parameter players"),
        ("kuhn_poker(cards=3)", "Unknown parameter 'cards'. Available parameters are: players"),
        ("matrix_pd", "matrix_pd is not zero-sum"),
        ("2048", "a game of 1 players"),
        ("pig", "does not say what a player knows"),
        ("start_at", "Missing parameter game"),
        ("goofspiel(num_cards=4,imp_info=false,points_order=descending)", "player 1 forgets"),
        ("goofspiel(num_cards=0)", "chances that are positive and sum to 1 are wanted"),
        ("goofspiel(num_cards=-2)", "ValueError"),
        ("liars_dice(numdice=0)", "OpenSpiel refuses liars_dice(numdice=0)"),
    ],
)
def test_refused_while_planning(name, said):
    assert said in OpenSpiel(name).refuses(GameTree)


@needs_openspiel
def test_too_large_a_tree_is_refused():
    assert OpenSpiel("leduc_poker", max_nodes=9457).refuses(GameTree) is None
    said = OpenSpiel("leduc_poker", max_nodes=9456).refuses(GameTree)
    assert said == "its tree has more than 9,456 nodes: game.max_nodes=94560 allows more"
    with pytest.raises(InfeasibleGame, match="more than 9,456 nodes"):
        OpenSpiel("leduc_poker", max_nodes=9456).form(GameTree)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": "  "}, "name"),
        ({"name": "efg_game(filename=/etc/passwd)"}, "name"),
        ({"name": "turn_based_simultaneous_game(game=nfg_game(filename = /etc/passwd))"}, "name"),
        ({"name": "bargaining(instances_file=x)"}, "name"),
        ({"max_nodes": 0}, "max_nodes"),
    ],
)
def test_refused_as_it_stands(fields, path):
    with pytest.raises(ConfigError) as caught:
        OpenSpiel(**fields)
    assert caught.value.path == path


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(openspiel, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    assert "pip install 'minimex[openspiel]'" in OpenSpiel().refuses(GameTree)
    with pytest.raises(InfeasibleGame, match="pip install"):
        OpenSpiel().form(GameTree)


@pytest.mark.parametrize(
    ("child", "said"),
    [
        (
            "import os, sys; sys.stderr.write('Fatal: no\\n'); os.abort()",
            "OpenSpiel ended the process on kuhn_poker (exit status -6): Fatal: no",
        ),
        ("raise SystemExit(3)", "(exit status 3): without a word"),
        ("import time; time.sleep(60)", "was still being walked after 1 s"),
    ],
    ids=["abort", "exit", "endless"],
)
def test_what_ends_the_child_does_not_end_us(monkeypatch, child, said):
    run = subprocess.run
    monkeypatch.setattr(openspiel.subprocess, "run", lambda command, **how: run([command[0], "-c", child], **how))
    monkeypatch.setattr(openspiel, "_LOOK_S", 1 if "sleep" in child else 60)
    monkeypatch.setattr(openspiel, "find_spec", lambda name: True)
    openspiel._look_at.cache_clear()
    try:
        assert said in OpenSpiel().refuses(GameTree)
    finally:
        openspiel._look_at.cache_clear()


# ---- numbers -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [Q(1, 3), Q(2, 7), Q(1, 1326), Q(999_983, 999_999), Q(0), Q(1)])
def test_a_chance_is_the_fraction_that_rounds_to_it(fraction):
    assert _fraction(float(fraction), "chance") == fraction


def test_a_number_that_is_no_small_fraction_stays_a_float():
    assert _fraction(math.pi / 4, "chance") is None
    assert _fraction(math.nextafter(1 / 3, 1), "chance") is None


class State:
    """A state of our own making, as OpenSpiel's are asked."""

    def __init__(self, chances=(), returns=(0.0, 0.0)):
        self.chances, self.paid = list(enumerate(chances)), returns

    def is_terminal(self):
        return not self.chances

    def is_chance_node(self):
        return True

    def returns(self):
        return self.paid

    def chance_outcomes(self):
        return self.chances

    def current_player(self):
        return -1

    def action_to_string(self, player, action):
        return "same"


def test_chances_that_are_not_exact_are_scaled_to_sum_1():
    walk = _Walk(10)
    seen = walk.look((State([0.1 + 0.2, 0.7]), None))
    assert sum(chance for _, chance, _ in seen.moves) == 1
    assert [float(chance) for _, chance, _ in seen.moves] == pytest.approx([0.3, 0.7])
    assert not walk.is_exact


def test_exact_chances_moves_of_one_name_and_moves_that_never_happen():
    walk = _Walk(10)
    seen = walk.look((State([1 / 3, 0.0, 2 / 3]), None))
    assert [(name, chance) for name, chance, _ in seen.moves] == [("same 0", Q(1, 3)), ("same 2", Q(2, 3))]
    assert walk.is_exact


def test_payoffs():
    walk = _Walk(10)
    assert walk.look((State(returns=(1 / 3, -1 / 3)), None)).value == Q(1, 3)
    assert walk.look((State(returns=(1e300, -1e300)), None)).value == int(1e300)
    assert walk.is_exact
    assert walk.look((State(returns=(math.pi, -math.pi)), None)).value == Q(math.pi)
    assert not walk.is_exact
    with pytest.raises(InfeasibleGame, match="players get 1 and 0"):
        walk.look((State(returns=(1.0, 0.0)), None))
