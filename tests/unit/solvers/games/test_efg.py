"""Gambit's extensive games: what is read, what is refused in which words and lines, and that Gambit reads what is written."""

import subprocess
import sys
from dataclasses import fields
from fractions import Fraction as Q
from importlib.util import find_spec

import numpy as np
import pytest

from solvers import make, solve
from solvers.contract import File
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import GameTree
from solvers.forms.tree import END
from solvers.games.efg import ONE_CARD, EfgGame
from solvers.games.efg_format import read_efg, write_efg
from solvers.games.goofspiel import Goofspiel
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.leduc_poker import LeducPoker
from solvers.games.liars_dice import LiarsDice
from solvers.games.rps_tree import RpsTree
from solvers.regret.sequence_form_lp import SequenceFormLp

HEAD = 'EFG 2 R "t" { "A" "B" } '
GAMES = [KuhnPoker(), LeducPoker(suit_isomorphism=True), LiarsDice(2, 2), Goofspiel(3, "random"), RpsTree(), EfgGame()]


def tree_of(text):
    return EfgGame(File(text.encode())).form(GameTree)


def paid(tree):
    return [tree.payoffs[one] for one in tree.payoff[tree.player == END]]


def assert_same(one, other):
    for field in fields(GameTree):
        mine, yours = getattr(one, field.name), getattr(other, field.name)
        if field.name == "ante":
            continue
        if isinstance(mine, np.ndarray):
            assert mine.dtype == yours.dtype
            assert mine.tolist() == yours.tolist(), field.name
        else:
            assert mine == yours, field.name


# ---- reading -----------------------------------------------------------------------------------------------------------------


def test_the_example_is_myersons():
    tree = EfgGame().form(GameTree)
    assert tree.infoset_names == ("red", "raised", "black")
    assert solve(EfgGame(), SequenceFormLp()).tables["values"]["value"].to_pylist() == ["1/3"]


def test_outcomes_on_the_way_add_up():
    tree = tree_of(
        HEAD
        + """"a comment, over
        two lines"
        c "root" 1 "coin" { "h" 1/4 "t" 0.75 } 7 "entry" { -1/2, 1/2 }
        p "" 1 1 "" { "in" "out" } 8 "fee" { -1 1 }
        t "" 9 "prize" { 1e1 -1e1 }
        t "" 0
        p "" 1 2 "" { "in" "out" } 0
        t "" 9
        t "" 7
        """
    )
    assert paid(tree) == [Q(17, 2), Q(-3, 2), Q(19, 2), -1]
    assert tree.probabilities == (1, Q(1, 4), Q(3, 4))
    assert tree.labels == ("h", "t")


def test_payoffs_need_to_sum_to_0_at_the_ends_only():
    tree = tree_of(HEAD + 'p "" 1 1 "" { "a" "b" } 1 "" { 5 0 } t "" 2 "" { 0 -5 } t "" 3 "" { -7 2 }')
    assert paid(tree) == [5, -2]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (('"x"', '"y"'), ("x", "y")),
        (('"x"', '"x"'), ("1", "2")),
        (('""', '"y"'), ("", "y")),
        (('""', '""'), ("1", "2")),
        (("", ""), ("1", "2")),
    ],
)
def test_names_of_information_sets(names, found):
    first, second = names
    text = f'c "" 1 "" {{ "h" 1/2 "t" 1/2 }} 0 p "" 1 1 {first} {{ "a" }} 0 t "" 0 p "" 1 2 {second} {{ "a" }} 0 t "" 0'
    assert tree_of(HEAD + text).infoset_names == found


def test_a_shared_name_costs_only_those_who_share_it():
    moves = "".join(f'p "" 1 {number} "{name}" {{ "a" }} 0 t "" 0 ' for number, name in ((4, "x"), (2, "y"), (9, "x"), (5, "9")))
    tree = tree_of(HEAD + 'c "" 1 "" { "1" 1/4 "2" 1/4 "3" 1/4 "4" 1/4 } 0 ' + moves)
    assert tree.infoset_names == ("4", "y", "9", "5")


def test_moves_without_names_are_numbered():
    assert tree_of(HEAD + 'p "" 2 1 "" { "" "" } 0 t "" 0 t "" 0').actions == (("1", "2"),)
    assert tree_of(HEAD + 'p "" 2 1 "" { "a" "a" } 0 t "" 0 t "" 0').actions == (("1", "2"),)


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text, lambda text: " ".join(text.split())]
)
def test_white_space_changes_nothing(change):
    text = ONE_CARD.data.decode()
    assert_same(tree_of(change(text)), tree_of(text))


def test_a_game_that_is_an_end():
    assert paid(tree_of(HEAD + 't "" 1 "" { 2, -2 }')) == [2]


def test_a_long_path_is_no_recursion():
    deep = 20_000
    text = HEAD + "".join(f'p "" 1 {number} "" {{ "go" }} 0\n' for number in range(1, deep + 1)) + 't "" 0'
    assert len(tree_of(text)) == deep + 1


def test_a_file_is_known_by_its_content(tmp_path):
    (tmp_path / "one.efg").write_bytes(ONE_CARD.data)
    assert make(EfgGame, path=str(tmp_path / "one.efg")) == EfgGame(File(ONE_CARD.data, "another name"))


# ---- refusals ----------------------------------------------------------------------------------------------------------------

RECALL = (
    HEAD
    + """
p "" 1 1 "first" { "l" "r" } 0
p "" 1 2 "later" { "a" "b" } 0
t "" 0
t "" 0
p "" 1 2 "later" { "a" "b" } 0
t "" 0
t "" 0
"""
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "EFG at its start, got the end of the file"),
        ('NFG 1 R "t" { "A" "B" }', "a strategic game: game=nfg reads it"),
        ('EFG 1 R "t" { "A" "B" }', "version 2 after EFG, got '1' in line 1"),
        ('EFG 2 X "t"', "R or D after EFG 2, got 'X'"),
        ('EFG 2 R t { "A" "B" }', "a title in quotes"),
        ('EFG 2 R "t" { "A" "B" "C" }\nt "" 0', "a game of two players, got one of 3"),
        ('EFG 2 R "t" { "A" }\nt "" 0', "a game of two players, got one of 1"),
        (HEAD, "a node: c, p or t, got the end of the file"),
        (HEAD + 'x "" 0', "a node: c, p or t, got 'x' in line 1"),
        (HEAD + 't "" 0\n\nt "" 0', "nothing after the last node, got 't' in line 3"),
        (HEAD + 'p "" 1 1 "" { "a" "b" } 0\nt "" 0', "for each move of the 2 nodes so far, got the end of the file"),
        (HEAD + 'p "" 3 1 "" { "a" } 0 t "" 0', "player 1 or 2, got player 3 in line 1"),
        (HEAD + 'p "" 0 1 "" { "a" } 0 t "" 0', "the number of a player, 1 or 2, got '0'"),
        (HEAD + 'p "" 1 1 "" { } 0', "at least one move, got none in line 1"),
        (HEAD + 'p "" 1 1 "" 0', "the moves of information set 1 of player 1, which stands here first"),
        (HEAD + '\nc "" 1 "" { "h" 1/2 "t" 1/3 } 0\nt "" 0 t "" 0', "sum to 1, got 'h' 1/2, 't' 1/3, sum 5/6, in line 2"),
        (HEAD + 'c "" 1 "" { "h" 1 "t" 0 } 0 t "" 0 t "" 0', "leave out moves that never happen"),
        (HEAD + 'c "" 1 "" { "h" 3/2 "t" -1/2 } 0 t "" 0 t "" 0', "probabilities that are positive"),
        (HEAD + 'c "" 1 "" { "h" "t" } 0', "a probability after the move 'h' of chance, got 't'"),
        (HEAD + 't "" 1', "payoffs of outcome 1, which stands here first, got none in line 1"),
        (HEAD + 't "" 1 "" { 1 }', "a payoff of player 2, got '}'"),
        (HEAD + 't "" 1 "" { 1, -1, 0 }', "} after an outcome's two payoffs, got '0'"),
        (HEAD + 't "" 1 "" { 1, x }', "a payoff of player 2, got 'x'"),
        (HEAD + 't "" 0 "" { 1, -1 }', "no payoffs of outcome 0"),
        (
            HEAD + 'p "" 1 1 "" { "a" "b" } 0 t "" 1 "" { 1, -1 }\nt "" 1 "" { 2, -2 }',
            "the payoffs of outcome 1 as they stood before, got others in line 2",
        ),
        (
            HEAD + 'p "" 1 1 "" { "a" "b" } 0 p "" 2 1 "" { "c" } 0 t "" 0\np "" 2 1 "" { "d" } 0 t "" 0',
            "the moves 'c' of set 1 of player 2, as in line 1, got 'd' in line 2",
        ),
        (RECALL, "perfect recall"),
        (RECALL, "set 2 of player 1 after move 1 of his set 1 in line 3, after move 2 of his set 1 in line 6"),
        (
            HEAD + 'p "" 1 1 "" { "a" } 0 p "" 1 1 0 t "" 0',
            "set 1 of player 1 after nothing of his in line 1, after move 1 of his set 1",
        ),
        (HEAD + '\np "" 1 1 "" { "a } 0', 'a " in line 2 that no other follows'),
    ],
)
def test_refuses_with_the_line(text, said):
    with pytest.raises(ConfigError) as caught:
        EfgGame(File(text.encode()))
    assert caught.value.path == "path"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD + 'p "" 1 1 "" { "a" "b" } 0\nt "" 1 "" { 1, 1 }\nt "" 2 "" { 5, -5 }',
            "payoffs sum to 2 at the end in line 2, to 0 at that in line 3",
        ),
        (
            HEAD + 'p "" 1 1 "" { "a" "b" } 0\nt "" 1 "" { 1/2, 1 }\nt "" 2 "" { 5, -7/2 }',
            "payoffs sum to 3/2 at every end; subtract 3/2 from all payoffs of one player",
        ),
    ],
)
def test_refuses_what_is_not_zero_sum(text, said):
    game = EfgGame(File(text.encode()))
    assert said in game.refuses(GameTree)
    with pytest.raises(InfeasibleGame, match="not zero-sum"):
        game.form(GameTree)


# ---- writing -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_read_again_it_is_the_same_tree(game):
    assert_same(tree_of(type(game).exports["efg"](game)), game.form(GameTree))


def test_quotes_in_names():
    tree = tree_of(HEAD + r'p "" 1 1 "say \"go\"" { "}" "\"" } 0 t "" 0 t "" 0')
    assert (tree.infoset_names, tree.actions) == (('say "go"',), (("}", '"'),))
    assert_same(read_efg(write_efg(tree, 'a "title"').encode()).tree, tree)


GAMBIT = """
import sys, pygambit
game = pygambit.read_efg(sys.argv[1])
ends = [node for node in game.nodes if node.is_terminal]
print(len(list(game.nodes)), len(ends), [len(player.infosets) for player in game.players], game.is_perfect_recall, game.is_const_sum)
"""


@pytest.mark.skipif(find_spec("pygambit") is None, reason="pygambit is not installed")
@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_gambit_reads_it(game, tmp_path):
    (tmp_path / "game.efg").write_text(type(game).exports["efg"](game))
    command = [sys.executable, "-c", GAMBIT, str(tmp_path / "game.efg")]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    sizes = game.form(GameTree).histories
    assert said.split("\n")[0] == f"{sizes['nodes']} {sizes['ends']} {[sizes['infosets_p1'], sizes['infosets_p2']]} True True"
