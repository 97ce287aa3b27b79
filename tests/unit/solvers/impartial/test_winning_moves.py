"""Winning moves of sums of heaps: published positions, conventions, limits, what the checker refutes."""

import time

import pytest

from solvers.builder import make
from solvers.contract import Checkpoint
from solvers.forms import HeapGame, HeapSum
from solvers.games.heap_position import HeapPosition
from solvers.games.octal import Octal
from solvers.impartial.check.moves import check_heap_sums, check_winning_moves
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.winning_moves import WinningMoves
from solvers.inline import refusal, solve


def solved(code, heaps, *, all_moves=False):
    game = make(HeapPosition, code=code, heaps=heaps)
    tables = solve(game, WinningMoves(all_moves=all_moves)).tables
    return game, tables["heap_sums"].to_pylist()[0], tables["winning_moves"].to_pylist(), tables


def grades(game, tables):
    return {verdict.grade for check in (check_heap_sums, check_winning_moves) for verdict in check(game, tables)}


def said(moves):
    return [(move["heap"], move["removed"], move["left"], move["right"]) for move in moves]


def test_kayles_5_7_9():
    """Nimber 2; up to mirror three winning moves: 7 -> 3+3, 7 -> 1+4, 9 -> 2+5 (G = 4, 2, 4 by the known values of Kayles)."""
    game, sums, moves, tables = solved("0.77", [5, 7, 9])
    assert (sums["position"], sums["nimber"], sums["winner"], sums["winning_moves"]) == ("5 + 7 + 9", 2, "first", 3)
    assert sorted(said(moves)) == [("7", 1, 3, 3), ("7", 2, 1, 4), ("9", 2, 2, 5)]
    assert {(move["nimber_after"], move["winning"]) for move in moves} == {(0, True)}
    assert grades(game, tables) == {"proved"}


def test_a_nimber_of_the_same_worth_makes_it_lost():
    game, sums, moves, tables = solved("0.77", [5, 7, 9, "*2"])
    assert (sums["position"], sums["nimber"], sums["winner"], moves) == ("5 + 7 + 9 + *2", 0, "second", [])
    assert grades(game, tables) == {"proved"}


def test_nim():
    """Bouton's rule: of 3, 4, 5 the one winning move takes two from 3."""
    _, _, moves, _ = solved("0.0", ["*3", "*4", "*5"])
    assert said(moves) == [("*3", 2, 1, None)]


def test_the_last_heap_is_taken_whole():
    _, _, moves, _ = solved("0.77", [2])
    assert said(moves) == [("2", 2, 0, None)]


def test_equal_parts_move_once_and_losing_moves_come_after():
    _, sums, moves, _ = solved("0.77", [3, 3, "*1"], all_moves=True)
    assert {move["place"] for move in moves} == {0, 2}
    assert said(moves) == [("3", 1, 2, None), ("*1", 1, 0, None), ("3", 1, 1, 1), ("3", 2, 1, None)]
    assert [move["winning"] for move in moves] == [True, True, False, False]
    assert (sums["winning_moves"], sums["moves"]) == (2, 4)


@pytest.mark.parametrize("heaps", [[], [0], ["*0", 0]])
def test_who_cannot_move_loses(heaps):
    game, sums, moves, tables = solved("4.77", heaps, all_moves=True)
    assert (sums["nimber"], sums["winner"], sums["moves"], moves) == (0, "second", 0, [])
    assert grades(game, tables) == {"proved"}


def test_large_heaps():
    began = time.process_time()
    game, sums, moves, tables = solved("0.77", [10_000, 9_999, 123])
    assert grades(game, tables) == {"proved"}
    assert sums["winning_moves"] == len(moves) > 1000
    assert time.process_time() - began < 20


@pytest.mark.parametrize("code", ["0.77", "4.37", "0.6"])
def test_all_moves_are_those_that_are_counted(code):
    game, sums, moves, tables = solved(code, [9, 12, 1, 2, "*6", 9], all_moves=True)
    assert sums["moves"] == len(moves)
    assert sums["winning_moves"] == sum(move["winning"] for move in moves)
    assert grades(game, tables) == {"proved"}


def test_unequal_heaps():
    """The rule of Grundy's game: 4 -> 1+3 and no other; G(3) = 1."""
    position = HeapSum(HeapGame((4,), "Grundy's game", unequal=True), (4, 3), (False, False))

    class Game:
        def form(self, kind):
            return position

    *_, result = WinningMoves(all_moves=True).solve(position, resume=None, workers=None, rng=None)
    moves = result.tables["winning_moves"].to_pylist()
    assert sorted(said(moves)) == [("3", 0, 1, 2), ("4", 0, 1, 3)]
    assert result.tables["heap_sums"]["moves"].to_pylist() == [2]
    assert grades(Game(), result.tables) == {"proved"}


@pytest.mark.parametrize(
    ("heaps", "all_moves", "reason"),
    [
        ([100_001], False, "its largest heap has 100,001 counters, at most 100,000 are taken"),
        (["*1000001"], True, "it has 1,000,001 moves, at most 1,000,000 are listed: solver.all_moves=false"),
        (["*1000000000", 100_000], False, None),
    ],
)
def test_refuses_what_is_too_large(heaps, all_moves, reason):
    found = refusal(make(HeapPosition, code="0.77", heaps=heaps), WinningMoves(all_moves=all_moves))
    assert found is None if reason is None else found.startswith(reason)


def test_goes_on_from_a_checkpoint():
    game = make(HeapPosition, code="0.6", heaps=[4000, 3000])
    fresh = solve(game, WinningMoves()).tables
    events = list(WinningMoves().solve(game.form(HeapSum), resume=None, workers=None, rng=None))
    first = next(event for event in events if isinstance(event, Checkpoint))
    nimbers = solve(Octal("0.6"), MexDp(first.step)).tables["nimbers"]["nimber"].to_numpy()
    *_, result = WinningMoves().solve(
        game.form(HeapSum), resume=Checkpoint(first.step, {"nimbers": nimbers}), workers=None, rng=None
    )
    assert result.tables == fresh


# ---- the checker -------------------------------------------------------------------------------------------------------------


def changed(tables, make_rows):
    table = tables["winning_moves"]
    rows = make_rows(table.to_pylist())
    return {**tables, "winning_moves": type(table).from_pylist(rows, schema=table.schema)}


@pytest.mark.parametrize(
    ("make_rows", "reason"),
    [
        (lambda rows: rows[1:], "3 winning moves there are, 2 are listed"),
        (lambda rows: [], "3 winning moves there are, 0 are listed"),
        (lambda rows: [*rows, rows[0]], "this move is listed twice"),
        (lambda rows: [rows[0], {**rows[1], "left": 4, "right": 1}, rows[2]], "the rules know no such move"),
        (lambda rows: [{**rows[0], "removed": 0, "left": 3, "right": 4}, *rows[1:]], "the rules know no such move"),
        (lambda rows: [{**rows[0], "removed": 3, "left": 2, "right": 2}, *rows[1:]], "the rules know no such move"),
        (lambda rows: [{**rows[0], "removed": -1, "left": 4, "right": 4}, *rows[1:]], "the rules know no such move"),
        (lambda rows: [{**rows[0], "left": 2, "right": 4}, *rows[1:]], "the position is worth"),
        (lambda rows: [{**rows[0], "winning": False}, *rows[1:]], "a move wins exactly if 0 is left"),
        (lambda rows: [*rows, {**rows[0], "removed": 1, "left": 2, "right": 4, "nimber_after": 0}], "the position is worth"),
    ],
)
def test_the_checker_refutes(make_rows, reason):
    game, _, _, tables = solved("0.77", [5, 7, 9])
    refuted = [verdict.reason for verdict in check_winning_moves(game, changed(tables, make_rows)) if verdict.grade == "refuted"]
    assert any(one.startswith(reason) for one in refuted)


def test_losing_moves_are_listed_all_or_not_at_all():
    game, _, moves, tables = solved("0.77", [5, 7, 9], all_moves=True)
    harmed = changed(tables, lambda rows: rows[:-1])
    refuted = [verdict.reason for verdict in check_winning_moves(game, harmed) if verdict.grade == "refuted"]
    assert refuted == [f"{len(moves) - 3} losing moves there are, {len(moves) - 4} are listed: all or none"]


def test_missing_tables_are_refuted():
    game, _, _, tables = solved("0.77", [5, 7, 9])
    assert {one.grade for one in check_winning_moves(game, {})} == {"refuted"}
    assert {one.grade for one in check_heap_sums(game, {"heap_sums": tables["heap_sums"].slice(0, 0)})} == {"refuted"}
