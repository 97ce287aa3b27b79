"""Files of games give back what was written: any names, any fractions, in both formats, and through Gambit where it is installed."""

import importlib.util
import json
import subprocess
import sys
from fractions import Fraction as Q

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from solvers.contract import File
from solvers.forms import BimatrixGame
from solvers.games.csv_format import write_csv
from solvers.games.matrix_csv import MatrixCsv
from solvers.games.nfg import Nfg
from solvers.games.nfg_format import write_nfg

ODD = st.text(st.sampled_from("ab0&#;38 \\\"'\n\r\t,{}%\u00fc\u00a0\u2028\ufeff\x00\x1c\U0001f600"), min_size=1, max_size=6)
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="+"), min_size=1, max_size=8)
NUMBERED = st.sampled_from(["r1", "r2", "c1", "1/2", "-1", "0", "1", "2", "3", "4"])
NUMBERS = st.fractions(max_denominator=9) | st.fractions() | st.integers(-(10**30), 10**30).map(Q)


def names(count):
    return st.lists(ODD | ANY | NUMBERED, min_size=count, max_size=count, unique=True).map(tuple)


@st.composite
def games(draw):
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    matrix = st.tuples(*[st.tuples(*[NUMBERS] * n)] * m)
    a = draw(matrix)
    b = draw(st.just(tuple(tuple(-x for x in row) for row in a)) | matrix)
    return BimatrixGame(a, b, draw(names(m)), draw(names(n)))


def one_by_one(row, column):
    return BimatrixGame(((Q(1),),), ((Q(2),),), (row,), (column,))


@settings(deadline=None)
@given(games())
@example(BimatrixGame(((Q(1),),) * 3, ((Q(2),),) * 3, ("3", "1", "2"), ("c1",)))
@example(one_by_one('"', "\n;"))
@example(one_by_one('a;\nb"', '"'))
@example(one_by_one("\\", ' \\" '))
@example(one_by_one("&#38;", "&&#&#1;"))
def test_both_formats_give_back_the_game(game):
    assert MatrixCsv(File(write_csv(game).encode())).form(BimatrixGame) == game
    assert Nfg(File(write_nfg(game, "any title").encode())).form(BimatrixGame) == game


@settings(deadline=None)
@given(games())
def test_a_label_is_as_gambit_wants_it(game):
    text = write_nfg(game, "t")
    assert all(" " <= letter <= "~" or letter == "\n" for letter in text)
    assert "\\" not in text.replace('\\"', "")
    labels = [label for line in text.splitlines()[2:4] for label in line.strip("{} ").split('" "')]
    assert not any("  " in label or label.strip('"').startswith(" ") or label.strip('"').endswith(" ") for label in labels)


# ---- through Gambit ----------------------------------------------------------------------------------------------------------

GAMBIT = """
import io, json, sys
import pygambit
for text in json.load(sys.stdin):
    game = pygambit.read_nfg(io.BytesIO(text.encode()))
    print(json.dumps([game.to_nfg(), [[one.label for one in player.strategies] for player in game.players]]))
"""

needs_gambit = pytest.mark.skipif(importlib.util.find_spec("pygambit") is None, reason="pip install pygambit==16.7.0")


def through_gambit(texts):
    """Return what Gambit makes of files: its own files and the names it shows; killed after a minute."""
    done = subprocess.run(
        [sys.executable, "-c", GAMBIT], input=json.dumps(texts), capture_output=True, text=True, timeout=60, check=False
    )
    assert not done.returncode, done.stderr[-500:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@needs_gambit
def test_gambit_reads_it_and_writes_the_same_game():
    drawn = []

    @settings(deadline=None, database=None)
    @given(games())
    def draw(game):
        drawn.append(game)

    draw()  # one Gambit for all of them, as it takes seconds to start
    for game, (text, _) in zip(drawn, through_gambit([write_nfg(game, "t") for game in drawn]), strict=True):
        assert Nfg(File(text.encode())).form(BimatrixGame) == game


@needs_gambit
def test_gambit_shows_names():
    game = BimatrixGame(((Q(1),), (Q(2),)), ((Q(3),), (Q(4),)), ('say "go"', "Br\u00fccke"), ("c",))
    ((text, shown),) = through_gambit([write_nfg(game, "t")])
    assert shown == [['say "go"', "Br&#252;cke"], ["c"]]
    assert "In names &#N; stands for" in text
