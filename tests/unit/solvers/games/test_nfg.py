"""Gambit files as games: both ways of writing payoffs, names, and what is refused in which words."""

from fractions import Fraction as Q

import pytest

from solvers import make
from solvers.contract import File
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.nfg import Nfg
from solvers.games.nfg_format import write_nfg

HEAD = 'NFG 1 R "t" { "A" "B" } '
OUTCOMES = """NFG 1 D "Two outcomes, one of them twice" { "Player 1" "Player 2" }

{ { "up" "down" }
{ "left" "right" }
}
"a comment of
two lines"
{
{ "win" 1.50, -2/3 }
{ "" -1e-1 3 }
}
1 2
0 1
"""


def game(text):
    return Nfg(File(text.encode())).form(BimatrixGame)


def test_the_manuals_example_has_player_1_moving_fastest():
    selten = Nfg().form(BimatrixGame)
    assert selten.a == ((1, 1), (0, 0), (0, 2))
    assert selten.b == ((1, 1), (2, 3), (2, 0))
    assert selten.row_actions == ("r1", "r2", "r3")


def test_outcomes_and_outcome_nought():
    read = game(OUTCOMES)
    assert read.a == ((Q(3, 2), 0), (Q(-1, 10), Q(3, 2)))
    assert read.b == ((Q(-2, 3), 0), (3, Q(-2, 3)))
    assert (read.row_actions, read.column_actions) == (("up", "down"), ("left", "right"))


def test_payoffs_and_outcomes_of_one_game_are_one_game():
    named = 'NFG 1 R "" { "A" "B" } { { "up" "down" } { "left" "right" } } '
    assert game(named + "3/2 -2/3 -.1 3 0 0 1.5 -2/3") == game(OUTCOMES)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "{2 1}1 2 3 4",
        HEAD + "{ 2 1 }\r\n\r\n1 2\r\n3 4\r\n",
        "\ufeff" + HEAD + '{ { "r1" "" } { "c1" } } "" 1 2 3 4',
        HEAD + '{ { "" "" } { "" } } 1 2 3 4',
    ],
)
def test_white_space_and_missing_names_change_nothing(text):
    assert game(text) == BimatrixGame(((Q(1),), (Q(3),)), ((Q(2),), (Q(4),)), ("r1", "r2"), ("c1",))


def test_quotes_in_labels():
    assert game(HEAD + r'{ { "say \"go\"" } { "}" } } 1 2').row_actions == ('say "go"',)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (r"Br&#252;cke", "Br\u00fccke"),
        (r"&#38;#252;", "&#252;"),
        (r"a\\b\"", 'a\\b"'),
        (r"a\b", r"a\b"),
        (r"\\", "\\"),
        ("&#55296; &#1114112; &#x41; &", "&#55296; &#1114112; &#x41; &"),
        ("Br\u00fccke", "Br\u00fccke"),
    ],
)
def test_labels_as_gambit_and_we_write_them(label, name):
    assert game(HEAD + f'{{ {{ "{label}" }} {{ "c" }} }} 1 2').row_actions == (name,)


def test_only_names_must_be_utf_8():
    old = 'NFG 1 R "caf\u00e9" { "A" "B" } { { "up" } { "left" } } 1 2'.encode("latin-1")
    assert Nfg(File(old)).form(BimatrixGame).a == ((1,),)
    with pytest.raises(ConfigError, match=r"strategies of player 1 in UTF-8, got 'caf.*' in line 1, column 29"):
        Nfg(File((HEAD + '{ { "caf\u00e9" } { "left" } } 1 2').encode("latin-1")))
    with pytest.raises(ConfigError, match=r"a Gambit \.nfg file in UTF-8, got one in UTF-16"):
        Nfg(File(OUTCOMES.encode("utf-16")))


def test_a_number_that_a_later_strategy_has_is_not_left_to_gambit():
    one = Q(1)
    text = write_nfg(BimatrixGame(((one,),) * 3, ((one,),) * 3, ("3", "1", "2"), ("2",)), "t")
    assert '{ { "&#51;" "1" "2" }\n{ "2" }\n}\n"In names &#N; stands for' in text


def test_only_a_zero_sum_file_is_a_matrix_game():
    assert Nfg(File((HEAD + "{ 1 1 } 3 -3").encode())).form(MatrixGame).payoffs == ((3,),)
    assert "row 1 against column 1 pays 1 and 1" in Nfg().refuses(MatrixGame)


def test_a_file_is_known_by_its_content(tmp_path):
    (tmp_path / "one.nfg").write_text(OUTCOMES)
    assert make(Nfg, path=str(tmp_path / "one.nfg")) == Nfg(File(OUTCOMES.encode(), "another name"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "NFG at its start, got the end of the file"),
        ("hello", "NFG at its start, got 'hello' in line 1"),
        ('EFG 2 R "t" { "A" "B" }', "an extensive game"),
        ('NFG 2 R "t"', "version 1 after NFG, got '2' in line 1"),
        ('NFG 1 X "t"', "R or D after NFG 1, got 'X'"),
        ("NFG 1 R t", "a title in quotes"),
        ('NFG 1 R "t" { "A" "B" "C" }\n{ 2 2 2 }\n1 2 3', "a game of two players, got one of 3"),
        ('NFG 1 R "t" { "A" }\n{ 2 }\n1 2', "a game of two players, got one of 1"),
        ('NFG 1 R "t" { A B }', "players' names in quotes, and } after them, got 'A' in line 1"),
        (HEAD + "\n{ 2 x } 1 2", "how many strategies player 2 has, got 'x' in line 2"),
        (HEAD + "{ 2 2 2 } 1 2", "two players' strategies and } after them, got '2'"),
        (HEAD + "{ 2 0 }", "at least one strategy for each player, got 2 and 0"),
        (HEAD + "{ 999999999 999999999 } 1", "at most 1,000,000 pairs of strategies, got 999999999 x 999999999"),
        (HEAD + "{ 2 1 }\n1 2\n3", "player 2's payoff for strategies 2 and 1, got the end of the file"),
        (HEAD + "{ 2 1 }\n1 2\n3 4\n5", "nothing after payoffs of 2 x 1 pairs, got '5' in line 4"),
        (HEAD + "{ 2 1 }\n1 2\n3 x", "player 2's payoff for strategies 2 and 1, got 'x' in line 3, column 3 of a.nfg"),
        (HEAD + "{ 1 1 } 1 1/0", "player 2's payoff for strategies 1 and 1, got '1/0' in line 1, column 35 of a.nfg (a denom"),
        (HEAD + "{ 1 1 } 1 NaN", "(a payoff is finite and known)"),
        (HEAD + "{ 1 1 } 1 " + "7" * 5000, "(5,000 characters) in line 1, column 35 of a.nfg (a number has at most"),
        (HEAD + "{" * 100_000, "strategies of player 1 in quotes, and } after them, got '{' in line 1, column 27"),
        (HEAD + '{ { "' + '\\"' * 100_000, 'a " that no other follows in line 1, column 29'),
        (HEAD + '{ 1 1 } { { "" 1, 2 } } 2', "there are outcomes 0 to 1"),
        (HEAD + '{ 1 1 } { { "" 1 } } 1', "a payoff of player 2, got '}'"),
        (HEAD + '{ 1 1 } { { "" 1, 2, 3 } } 1', "} after an outcome's two payoffs, got '3'"),
        (HEAD + '{ 1 1 } { { "" 1, 2 } } 1 1', "nothing after outcomes"),
        (
            HEAD + '{ { "up" "up" } { "left" } } 1 1 1 1',
            "for the actions of player 1 names that are all different, got 'up' in line 1, column 29",
        ),
        (HEAD + '{ { "up" } { "a+b" } } 1 1', 'for the actions of player 2 a name without "+"'),
        (HEAD + '\n{ { "up } { left } } 1 1', 'a " that no other follows in line 2'),
    ],
)
def test_refuses_with_the_line(text, said):
    with pytest.raises(ConfigError) as caught:
        Nfg(File(text.encode(), "a.nfg"))
    assert caught.value.path == "path"
    assert said in str(caught.value)
