"""CSV files as games: one block or two, names or none, and what is refused in which words."""

import time
from fractions import Fraction as Q

import pytest

from solvers.contract import File
from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games import csv_format, file_text
from solvers.games.csv_format import write_csv
from solvers.games.matrix_csv import MatrixCsv


def game(text):
    return MatrixCsv(File(text.encode()))


def test_one_block_is_zero_sum():
    read = game("1,-1/2\n0.25,1e1\n").form(MatrixGame)
    assert read == MatrixGame(((Q(1), Q(-1, 2)), (Q(1, 4), Q(10))), ("r1", "r2"), ("c1", "c2"))


def test_two_blocks_are_two_players():
    read = game("1,2\n\n3,4\n")
    assert read.form(BimatrixGame) == BimatrixGame(((Q(1), Q(2)),), ((Q(3), Q(4)),), ("r1",), ("c1", "c2"))
    assert "row 1 against column 1 pays 1 and 3" in read.refuses(MatrixGame)


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
    ("text", "first"),
    [
        ("0.5;1", (Q(1, 2), 1)),
        ("0.5 ,\t1", (Q(1, 2), 1)),
        ("0.5\t 1", (Q(1, 2), 1)),
        ('"";c;d\nr;0.5;1', (Q(1, 2), 1)),
        (' "0.5"\t, " 1 "\r', (Q(1, 2), 1)),
        ("1e400,-1e-400", (Q(10) ** 400, Q(-1, 10**400))),
        (f"{'9' * 2000},.5", (Q(10) ** 2000 - 1, Q(1, 2))),
    ],
)
def test_separators_and_numbers(text, first):
    assert game(text).form(MatrixGame).payoffs[0] == first


def test_names_keep_what_stands_in_quotes():
    read = game(',"a;b","two\nlines"," end"," ","say ""go"""\nup,1,2,3,4,5').form(MatrixGame)
    assert read.column_actions == ("a;b", "two\nlines", " end", " ", 'say "go"')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one block of payoffs, or two parted by an empty line, got 0 blocks before the end of the file in line 1, column 1"),
        ("\n,,\n", "got 0 blocks"),
        ("1\n\n2\n\n3", "got 3 blocks, the third in line 5, column 1 of mine.csv, cell A5"),
        ("1,2\n3", "2 cells in a line, as in line 1, got 1, the last in line 2, column 1 of mine.csv, cell A2"),
        ("1,2\n3,4,5", "got 3, the last in line 2, column 5 of mine.csv, cell C2"),
        (",x,y\nup,1", "3 cells in a line, as in line 1, got 2, the last in line 2, column 4"),
        ("1,x\n3,4", "got 'x' in line 1, column 3 of mine.csv, cell B1 (if the first line holds names, its first cell is empty)"),
        ("1, x\n3,4", "got 'x' in line 1, column 4 of mine.csv, cell B1"),
        ('"1","x"', "got 'x' in line 1, column 5 of mine.csv, cell B1"),
        (',"two\r\nlines"\r\nup,x', "got 'x' in line 3, column 4 of mine.csv, cell B2"),
        ("1,2\n3,1/0", "got '1/0' in line 2, column 3 of mine.csv, cell B2 (a denominator is not 0)"),
        (",x\nup,", "got '' in line 2, column 4 of mine.csv, cell B2 (an empty cell is no 0)"),
        ("1,NaN", "got 'NaN' in line 1, column 3 of mine.csv, cell B1 (a payoff is finite and known)"),
        ("1,-inf", "(a payoff is finite and known)"),
        ("1,1e4000", "(an exponent has at most three digits)"),
        (
            f"1,{'7' * 2001}",
            "7...' (2,001 characters) in line 1, column 3 of mine.csv, cell B1 (a number has at most 2,000 characters, in",
        ),
        (f"1,{'7' * 1990}e99", "(a number has at most 2,000 characters, in lowest terms, too)"),
        ("1;0,5", "got '0,5' in line 1, column 3 of mine.csv, cell B1 (a decimal comma is not read: write 0.5, or 1/2"),
        ('1,"-0,5"', "a decimal comma is not read"),
        ("1,\u22122", "(the sign is the hyphen of the keyboard, -)"),
        ("1,50%", "(a percentage is written as a fraction"),
        ("1 2\n3 4", "got '1 2' in line 1, column 1 of mine.csv, cell A1 (cells are parted by commas, semicolons or tabs)"),
        ('1,"2\n3,4', "a quoted cell to end with its quote, got '\"2' in line 1, column 3 of mine.csv, cell B1"),
        ('1,"2"3', "got '\"2\"3' in line 1, column 3"),
        (",x,y", "rows of payoffs below the columns' names, got none below those in line 1, column 4"),
        ("1,2\n\n3,4\n5,6", "1 rows in the second block, as the first has, got 2, beginning in line 3, column 1"),
        ("1,2\n\n3", "2 columns of payoffs in the second block, as the first has, got 1, beginning in line 3, column 1"),
        (",x,x\nup,1,2", "for the actions of player 2 names that are all different, got 'x' in line 1, column 2"),
        (",x\na+b,1", "for the actions of player 1 a name without \"+\", got 'a+b' in line 2, column 1 of mine.csv, cell A2"),
        (",x\nup,1\n\n,x\ndown,1", "'up', the name in the first block, got 'down' in line 5, column 1"),
    ],
)
def test_refuses_with_the_place(text, said):
    with pytest.raises(ConfigError) as caught:
        MatrixCsv(File(text.encode(), "mine.csv"))
    assert caught.value.path == "path"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("1,2\n".encode("utf-16"), "a CSV file in UTF-8, got one in UTF-16, mine.csv (save it as "),
        ("\ufeff1,2\n".encode("utf-16-be"), "got one in UTF-16"),
        ("1,2\n".encode("utf-16-be"), "(a file in UTF-16 without its mark looks like this"),
        (",links\nBr\u00fccke,1".encode("latin-1"), "in UTF-8, got the byte 0xfc in line 2, column 3 of mine.csv"),
        ("\ufeff,links\nBr".encode() + b"\xfc", "got the byte 0xfc in line 2, column 3 of mine.csv"),
    ],
    ids=["utf-16", "utf-16-be", "no mark", "latin-1", "broken"],
)
def test_other_encodings(data, said):
    with pytest.raises(ConfigError) as caught:
        MatrixCsv(File(data, "mine.csv"))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"1" * 2_000_001, "a CSV file of at most 2,000,000 bytes, got 2,000,001 bytes of mine.csv"),
        (b"," * 1_000_000, "a CSV file of at most 900 cells, got one more in line 1, column 901"),
        (b"\n" * 1_000_000, "a CSV file of at most 900 cells, got one more in line 901, column 1"),
        (b" " * 1_000_000, "got 0 blocks"),
        (b"1," + b'"' * 1_000_001, "a quoted cell to end with its quote"),
        (b'"a' * 500_000, "a quoted cell to end with its quote"),
    ],
    ids=["bytes", "cells", "lines", "spaces", "quotes", "names"],
)
def test_what_is_too_large_is_refused_soon(monkeypatch, data, said):
    monkeypatch.setattr(file_text, "MOST_BYTES", 2_000_000)
    monkeypatch.setattr(csv_format, "_MOST", 900)
    begin = time.process_time()
    with pytest.raises(ConfigError) as caught:
        MatrixCsv(File(data, "mine.csv"))
    assert said in str(caught.value)
    assert time.process_time() - begin < 20  # takes 0.1 s, and an hour where it is quadratic


def test_no_file_holds_some_names_and_numbers():
    def written(names, payoff=Q(1)):
        return write_csv(BimatrixGame(((payoff,),) * len(names), ((-payoff,),) * len(names), names, ("c",)))

    for names, said in ((("a", "a"), "2 actions of the name 'a'"), (("",), "without a name"), (("\ud800",), "no Unicode text")):
        with pytest.raises(InfeasibleGame, match=said):
            written(names)
    for long in (Q(10) ** 2000, Q(10) ** 9000, Q(1, 7**2400)):
        with pytest.raises(InfeasibleGame, match="digits, and a number in a file at most 2,000 characters"):
            written(("a",), long)
    assert written(("a",), Q(10) ** 1999) == f",c\na,1{'0' * 1999}\n"
