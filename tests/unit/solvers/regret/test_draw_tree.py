"""The drawn game tree: every node of a small one, the first moves of a large one, what strategies say."""

import re
from fractions import Fraction
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from pipeline.report.drawing import clean
from solvers.forms import Chance, Decision, Payoff, extract
from solvers.games.kuhn_poker import KuhnPoker
from solvers.inline import solve
from solvers.regret.cfr import Cfr
from solvers.regret.draw_tree import MINUS, MOST_NODES, draw_tree
from solvers.regret.tree_play import STRATEGIES


def drawn(look, rows=None, start=""):
    tree = extract(start, look)
    if rows is None:
        rows = [
            {"player": int(player), "infoset": knows, "action": action, "probability_float": 1 / len(actions)}
            for player, knows, actions in zip(tree.infoset_player, tree.infoset_names, tree.actions, strict=True)
            for action in actions
        ]
    table = pa.Table.from_pylist(rows, schema=STRATEGIES)
    return clean(draw_tree(SimpleNamespace(form=lambda kind: tree), {"strategies": table}))


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter("text")]


def pennies(position):
    if len(position) < 2:
        return Decision(len(position) + 1, "", tuple((face, position + face) for face in ("h", "t")))
    return Payoff(Fraction(1 if position[0] == position[1] else -1, 2))


def test_kuhn_poker_is_drawn_whole():
    game = KuhnPoker()
    svg = clean(draw_tree(game, solve(game, Cfr(1000)).tables))
    said = texts(svg)

    assert len([text for text in said if re.fullmatch(rf"[+{MINUS}][12]", text)]) == 30
    assert (svg.count("<circle"), svg.count("<rect"), svg.count("<polygon")) == (12 + 1, 12 + 1, 4 + 1)  # and the legend's
    assert svg.count('stroke-dasharray="5 4"') == 12 + 1  # two nodes in each of 12 sets
    assert {"J 1/3", "K 1/2", "bet 0.333", "fold 1.000", "Q pb"} <= set(said)
    assert "bet 1.000" not in texts(clean(draw_tree(game, {"strategies": STRATEGIES.empty_table()})))  # nothing is known


def test_exact_probabilities_are_written_as_they_are_and_what_is_never_reached_is_pale():
    rows = [
        {"player": 1, "infoset": "", "action": "h", "probability": "1", "probability_float": 1.0},
        {"player": 1, "infoset": "", "action": "t", "probability": "0", "probability_float": 0.0},
        {"player": 2, "infoset": "", "action": "h", "probability": "2/3", "probability_float": 2 / 3},
        {"player": 2, "infoset": "", "action": "t", "probability": "1234/3702", "probability_float": 1234 / 3702},
    ]
    svg = drawn(pennies, rows)

    assert [text for text in texts(svg)[5:] if text[0] in "ht"] == ["h 1", "h 2/3", "t 0.333", "t 0", "h 2/3", "t 0.333"]
    assert [text for text in texts(svg) if text.endswith("1/2")] == ["+1/2", f"{MINUS}1/2", f"{MINUS}1/2", "+1/2"]
    pale = [element.text for element in ET.fromstring(svg).iter("text") if element.get("opacity")]
    assert pale == ["t 0", "h 2/3", "t 0.333", f"{MINUS}1/2", "+1/2"]


def test_strategies_that_miss_an_action_are_no_drawing():
    with pytest.raises(KeyError):
        drawn(pennies, [{"player": 1, "infoset": "", "action": "h", "probability_float": 1.0}])


def test_of_larger_trees_the_first_moves_are_drawn():
    def long(position):
        if len(position) == 8:
            return Payoff(Fraction(0))
        return Decision(len(position) % 2 + 1, position, tuple((move, position + move) for move in "lr"))

    svg = drawn(long)

    assert "511 nodes, too many to draw: here are the first 6 moves" in texts(svg)
    assert len([text for text in texts(svg) if text.endswith("… 6 nodes")]) == 64
    assert 127 <= MOST_NODES < 255


def test_of_a_tree_that_is_too_wide_nothing_is_drawn():
    def wide(position):
        if position:
            return Payoff(Fraction(0))
        return Chance(tuple((str(i), Fraction(1, 200), "x") for i in range(200)))

    assert "201 nodes: too many even after the first move" in texts(drawn(wide))


def test_names_are_text():
    def named(position):
        if position:
            return Payoff(Fraction(0))
        return Decision(1, "<b>&" + "x" * 300, (("<i>", "1"), ("y" * 500, "2")))

    svg = drawn(named)

    assert "<b>" not in svg
    assert len(svg) < 5000


def test_a_game_that_is_over_at_once():
    assert "+3" in texts(drawn(lambda _: Payoff(Fraction(3))))
