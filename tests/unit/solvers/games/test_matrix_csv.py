"""CSV files as games: one block or two, names or none, and what is refused in which words."""

from fractions import Fraction as Q

import pytest

from solvers.contract import File
from solvers.errors import ConfigError
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.matrix_csv import MatrixCsv


def game(text):
    return MatrixCsv(File(text.encode()))


def test_one_block_is_zero_sum():
    read = game("1,-1/2\n0.25,1e1\n").form(MatrixGame)
    assert read == MatrixGame(((Q(1), Q(-1, 2)), (Q(1, 4), Q(10))), ("r1", "r2"), ("c1", "c2"))


def test_two_blocks_are_two_players():
    read = game("1,2\n\n3,4\n")
    assert read.form(BimatrixGame) == BimatrixGame(((Q(1), Q(2)),), ((Q(3), Q(4)),), ("r1",), ("c1", "c2"))
    assert "game.b[0][0] is 3" in read.refuses(MatrixGame)


@pytest.mark.parametrize(
    "text",
    [
        ",x,y\nup,1,2\ndown,3,4",
        "\ufeff,x,y\r\nup,1,2\r\ndown,3,4\r\n\r\n",
        ";x;y\nup;1;2\ndown;3;4",
        "\tx\ty\nup\t1\t2\ndown\t3\t4",
        ' , x ,"y"\nup,1,2\ndown,3, 4\n,,\n',
        ",x,y\nup,1,2\ndown,3,4\n\n,x,y\nup,-1,-2\ndown,-3,-4",
        ",x,y\nup,1,2\ndown,3,4\n,,\n-1,-2\n-3,-4\n",
    ],
)
def test_ways_to_write_one_game(text):
    assert game(text).form(MatrixGame) == MatrixGame(((1, 2), (3, 4)), ("up", "down"), ("x", "y"))


def test_cells_may_be_quoted_and_names_may_hold_commas():
    assert game(',"left, then up"\ntop,"3"').form(MatrixGame).column_actions == ("left, then up",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one block of payoffs, or two parted by an empty line, got 0 blocks"),
        ("\n,,\n", "got 0 blocks"),
        ("1\n\n2\n\n3", "got 3 blocks"),
        ("1,2\n3", "2 cells in line 2, as in line 1, got 1"),
        (",x,y\nup,1", "3 cells in line 2, as in line 1, got 2"),
        ("1,x\n3,4", "got 'x' in line 1, cell 2 (if the first line holds names, its first cell is empty)"),
        ("1,2\n3,1/0", "'1/0' in line 2, cell 2"),
        (",x\nup,", "'' in line 2, cell 2"),
        (",x,y", "rows of payoffs below the columns' names, got none below line 1"),
        ("1,2\n\n3,4\n5,6", "1 rows, as the first block has, got 2"),
        ("1,2\n\n3", "2 entries, as the first block has, got 1"),
        (",x,x\nup,1,2", "for the actions of player 2 names that are all different, got 'x'"),
        (",x\nup,1\n\n,x\ndown,1", "the first block's names, up, got down"),
    ],
)
def test_refuses_with_the_line(text, said):
    with pytest.raises(ConfigError) as caught:
        game(text)
    assert caught.value.path.startswith("path")
    assert said in str(caught.value)
