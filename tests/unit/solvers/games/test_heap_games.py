"""Heap games by their names: published nimbers, codes, what is refused."""

import csv
import itertools
from pathlib import Path

import contract_suite
import pytest

import conf
from solvers.builder import make
from solvers.errors import ConfigError
from solvers.forms import HeapGame, HeapSum
from solvers.games.grundys_game import GrundysGame
from solvers.games.heap_position import HeapPosition
from solvers.games.kayles import Kayles
from solvers.games.octal import Octal
from solvers.games.subtraction import Subtraction
from solvers.impartial.check import check_periods
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.sparse_space import SparseSpace
from solvers.inline import solve

FACTS = list(csv.DictReader((Path(__file__).parents[3] / "facts" / "heap_nimbers.csv").open(encoding="utf-8")))
GAMES = contract_suite.configured(Path(conf.__file__).parent, "game")
CODES = {
    "kayles": "0.77",
    "dawsons_kayles": "0.07",
    "linear_cram": "0.07",
    "dawsons_chess": "0.137",
    "triplicate_blocks": "0.007",
    "officers": "0.6",
}


def nimbers(game, heap_limit):
    return solve(game, MexDp(heap_limit)).tables["nimbers"]["nimber"].to_pylist()


def period(game, heap_limit):
    (row,) = solve(game, MexDp(heap_limit)).tables["periods"].to_pylist()
    return row["status"], row["period"], row["preperiod"]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['game']}-{fact['n']}")
def test_published_nimbers(fact):
    first, wanted = int(fact["n"]), [int(one) for one in fact["nimbers"].split()]
    assert nimbers(GAMES[fact["game"]], first + len(wanted) - 1)[first:] == wanted


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_a_name_is_its_octal_game(name, code):
    assert GAMES[name].form(HeapGame) == Octal(code).form(HeapGame)


@pytest.mark.parametrize("name", ["grundys_game", "kayles", "dawsons_chess", "subtraction", "officers"])
@pytest.mark.parametrize("heap_limit", [20, 65, 3000])
def test_sparse_space_agrees(name, heap_limit):
    """Grundy's game above all: two heaps that are left must differ, with rare heaps and without."""
    found = solve(GAMES[name], SparseSpace(heap_limit)).tables["nimbers"]
    assert found.equals(solve(GAMES[name], MexDp(heap_limit)).tables["nimbers"])


def test_no_period_of_grundys_game_is_ever_claimed():
    """Its first heaps are 0, 0, 0: with the theorem of octal games they would prove period 1."""
    assert [period(GrundysGame(), limit) for limit in (0, 1, 2, 1000)] == [("open", None, None)] * 4


@pytest.mark.parametrize(
    ("balls", "code"),
    [([1], "0.7"), ([2, 1], "0.77"), ([1, 2, 3], "0.777"), ([3], "0.007"), ([1, 4], "0.7007"), ([100], "0." + 99 * "0" + "7")],
)
def test_a_ball_is_a_seven(balls, code):
    game = make(Kayles, balls=balls)
    assert game.form(HeapGame) == Octal(code).form(HeapGame)
    assert game == Kayles(tuple(sorted(balls)))


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([1, 2, 3], ("proved", 4, 0)),  # Winning Ways: what is left is counted modulo 4
        ([1, 3, 4], ("proved", 7, 0)),  # Ferguson, Game Theory I, chapter 1
        ([2, 4, 7], ("proved", 3, 8)),  # Winning Ways, chapter 4, table of subtraction games
        ([1000], ("proved", 2000, 0)),
    ],
)
def test_subtraction_games_are_periodic(numbers, found):
    assert period(make(Subtraction, set=numbers), 4000) == found


@pytest.mark.parametrize("numbers", [[1, 3, 4], [2, 4, 7], [2, 5, 6, 9]])
def test_subtraction_by_its_rule(numbers):
    known = []
    for n in range(200):
        options = {known[n - s] for s in numbers if s <= n}
        known.append(next(value for value in range(len(numbers) + 1) if value not in options))
    assert nimbers(make(Subtraction, set=numbers), 199) == known


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (Subtraction((1, 3, 4)), "subtraction {1,3,4}"),
        (Subtraction((4, 1, 3)), "subtraction {1,3,4}"),
        (Subtraction((1000,)), "subtraction {1000}"),
        (Subtraction(tuple(range(1, 301))), "subtraction {1..300}"),
        (Subtraction((1, 2, 3, 7, 8, 9, 10)), "subtraction {1,2,3,7..10}"),
        (GrundysGame(), "Grundy's game"),
    ],
)
def test_tables_call_a_game_by_its_name(game, name):
    assert solve(game, MexDp(50)).tables["periods"]["code"].to_pylist() == [name]


def test_no_two_subtraction_games_have_one_name():
    sets = [numbers for size in range(1, 8) for numbers in itertools.combinations(range(1, 8), size)]
    assert len({Subtraction(numbers).form(HeapGame).code for numbers in sets}) == len(sets)


def test_a_game_is_compared_with_what_is_published_of_its_octal_code():
    """Take one or two: 0.33, period 3 (Winning Ways, chapter 4)."""
    game = Subtraction((1, 2))
    (verdict,) = check_periods(game, solve(game, MexDp(50)).tables)
    assert verdict.grade == "proved"
    assert "agrees with" in verdict.reason


def test_a_game_without_moves_gives_zeros():
    assert nimbers(Octal("0.0"), 10) == [0] * 11
    assert period(Octal("0.0"), 10) == ("proved", 1, 0)


@pytest.mark.parametrize(
    ("written", "kept"),
    [([5, "7", "*2"], (5, 7, "*2")), (["*", "*0", "*02"], ("*1", "*0", "*2")), ([0], (0,)), ([], ())],
)
def test_positions_are_kept_in_one_form(written, kept):
    game = make(HeapPosition, code=".770", heaps=written)
    assert (game.code, game.heaps) == ("0.77", kept)
    assert game == make(HeapPosition, code="0.77", heaps=kept)
    position = game.form(HeapSum)
    assert position.rules == Octal("0.77").form(HeapGame)
    assert position.parts == tuple(int(str(part).removeprefix("*")) for part in kept)
    assert position.are_nimbers == tuple(isinstance(part, str) for part in kept)


@pytest.mark.parametrize(
    ("cls", "fields", "said"),
    [
        (Kayles, {"balls": []}, "balls: expected at least one number, got none"),
        (Kayles, {"balls": [0, 1]}, "balls[0]: expected 1 to 100, got 0 (a ball knocks down a pin at least)"),
        (Kayles, {"balls": [1, 101]}, "balls[1]: expected 1 to 100, got 101"),
        (Kayles, {"balls": [2, 1, 2]}, "balls[2]: expected numbers that differ, got 2 again (write each once)"),
        (Subtraction, {"set": [1, 0]}, "set[1]: expected 1 to 1000, got 0 (who removes nothing never ends the game)"),
        (Subtraction, {"set": [-1]}, "set[0]: expected 1 to 1000, got -1 (who removes nothing never ends the game)"),
        (Subtraction, {"set": []}, "set: expected at least one number, got none"),
        (Subtraction, {"set": ["x"]}, "set[0]: expected int, got 'x'"),
        (Subtraction, {"set": 3}, "set: expected a list"),
        (HeapPosition, {"code": "0.8", "heaps": [1]}, "code: expected digits from 0 to 7, got '0.8'"),
        (
            HeapPosition,
            {"code": "0.77", "heaps": [1, "x"]},
            "heaps[1]: expected a heap, such as 7, or a nimber, such as '*2', got 'x'",
        ),
        (HeapPosition, {"code": "0.77", "heaps": ["*-1"]}, "heaps[0]: expected a heap, such as 7, or a nimber"),
        (HeapPosition, {"code": "0.77", "heaps": [-1]}, "heaps[0]: expected 0 to 1000000000, got -1"),
        (HeapPosition, {"code": "0.77", "heaps": ["*9999999999"]}, "heaps[0]: expected 0 to 1000000000, got '*9999999999'"),
        (HeapPosition, {"code": "0.77", "heaps": [1] * 1001}, "heaps: expected at most 1000 parts, got 1001"),
    ],
)
def test_refused(cls, fields, said):
    with pytest.raises(ConfigError) as caught:
        make(cls, **fields)
    assert str(caught.value).startswith(said)
