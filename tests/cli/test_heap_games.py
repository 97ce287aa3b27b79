"""Heap games from the command line: what people write wrong, and what they ask for."""

import pytest

CODE = ["game=octal", "solver=mex_dp"]
DIGITS = "expected digits from 0 to 7, got"
SHAPE = "expected an octal code d0.d1d2..., such as '0.77', got"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([*CODE, "game.code=0.8"], [f"game.code: {DIGITS} '0.8'", "that is a hexadecimal game"]),
        ([*CODE, "game.code=0.1f"], [f"game.code: {DIGITS} '0.1f'", "that is a hexadecimal game"]),
        ([*CODE, "game.code=0."], [f"game.code: {SHAPE} '0.'", "at least one digit from 0 to 7"]),
        ([*CODE, "game.code=3.7"], ["game.code: expected 0 or 4 before the point, got '3.7'", "write '0.7' or '4.7'"]),
        ([*CODE, "game.code=7"], [f"game.code: {SHAPE} '7'", "one point"]),
        ([*CODE, "game.code=abc"], [f"game.code: {SHAPE} 'abc'", "write 0, 4 or nothing"]),
        ([*CODE, "game.code=-0.7"], [f"game.code: {SHAPE} '-0.7'"]),
        ([*CODE, "solver.heap_limit=-1"], ["solver.heap_limit: expected 0 to 10000000, got -1"]),
        ([*CODE, "solver.heap_limit=1e30"], ["solver.heap_limit: expected 0 to 10000000, got 1000000000000000000000000000000"]),
        ([*CODE, "solver.heap_limit=1e999"], ["solver.heap_limit: expected"]),
        ([*CODE, "solver.heap_limit=many"], ["solver.heap_limit: expected int, got 'many'"]),
        (["game=octal", "solver=sparse_space", "solver.heap_limit=-5"], ["solver.heap_limit: expected 0 to"]),
        (["game=octal", "solver=sparse_space", "solver.heap_limit=1e15"], ["solver.heap_limit: expected 0 to"]),
        (["game=octal", "solver=period_search", "solver.heap_limit=1e18"], ["solver.heap_limit: expected"]),
        (
            ["game=subtraction", "solver=mex_dp", "game.set=[0,1]"],
            ["game.set[0]: expected 1 to 1000, got 0 (who removes nothing never ends"],
        ),
        (
            ["game=subtraction", "solver=mex_dp", "game.set=3"],
            ["game.set: expected a list, got '3' (a list of one: 'game.set=[3]')"],
        ),
        (["game=kayles", "solver=mex_dp", "game.balls=[]"], ["game.balls: expected at least one number, got none"]),
        (["game=kayles", "solver=mex_dp", "game.balls=[1,1]"], ["game.balls[1]: expected numbers that differ, got 1 again"]),
        (["game=grundys_game", "solver=mex_dp", "game.code=0.77"], ["game.code: expected"]),
        (
            ["game=heap_position", "solver=winning_moves", "game.heaps=[5,x]"],
            ["game.heaps[1]: expected a heap, such as 7, or a nimber, such as '*2', got 'x'"],
        ),
        (
            ["game=heap_position", "solver=winning_moves", "game.heaps=5,7"],
            ["game.heaps: expected a list, got '5' (one list: 'game.heaps=[5,7]'; a sweep over lists: 'game.heaps=[5],[7]')"],
        ),
        (
            ["game=heap_position", "solver=winning_moves", "game.heaps=[5,7],*2"],
            ["game.heaps: expected a list, got '*2' (a list of one: 'game.heaps=[\"*2\"]')"],
        ),
        (
            ["game=heap_position", "solver=winning_moves", "sweep.grid={game.heaps: [5,7]}"],
            ["game.heaps: expected a list, got '5' (one list: 'game.heaps=[5,7]'; a sweep over lists: 'game.heaps=[5],[7]')"],
        ),
        (["game=heap_position", "solver=winning_moves", "game.heaps=[-1]"], ["game.heaps[0]: expected 0 to 1000000000, got -1"]),
        (
            ["game=heap_position", "solver=winning_moves", "game.heaps=[500000]"],
            ["its largest heap has 500,000 counters, at most 100,000 are taken"],
        ),
        (
            ["game=heap_position", "solver=mex_dp"],
            ["MexDp takes a HeapGame, HeapPosition gives HeapSum (these take it: winning_moves)"],
        ),
        (["game=octal", "solver=winning_moves"], ["WinningMoves takes a HeapSum, Octal gives HeapGame"]),
    ],
    ids=lambda value: " ".join(value[1:]) if value and value[0].startswith("game=") else "",
)
def test_refused_while_planning(minimex, workdir, words, parts):
    answer = minimex(*words, "out=here", "tracking=off")
    assert answer.status == 2
    for part in parts:
        assert part in answer.text
    assert "Traceback" not in answer.text
    assert not (workdir / "here").exists()


@pytest.mark.parametrize("codes", ["game.code=0.77", "game.code=0.77,0.07"])
def test_a_parameter_may_be_given_as_null(minimex, codes):
    """Its column is of no type where all points have it so, and the findings are shown and exported all the same."""
    words = ["game=octal", codes, "solver=period_search", "solver.keep_nimbers=null", "compute=inline", "out=here"]
    answer = minimex(*words, "solver.heap_limit=300")
    assert answer.status == 0, answer.text
    assert "0.77 proved 12 71" in answer.text
    for more in ([], ["periods"], ["periods", "to=csv"], ["nimbers", "to=bfile"] if "," not in codes else ["nimbers", "to=latex"]):
        shown = minimex("show", "here", *more)
        assert shown.status == 0, shown.text
    assert minimex("report", "here").status == 0
    assert minimex("track", "here").status == 0


def test_a_game_without_moves_gives_zeros(minimex):
    minimex(*CODE, "game.code=0.0", "solver.heap_limit=5", "out=here", "tracking=off", "compute=inline")
    assert minimex("show", "here", "nimbers", "to=bfile").out == "".join(f"{n} 0\n" for n in range(6))


def test_kayles_5_7_9_is_won_in_three_ways(minimex):
    words = [
        "game=heap_position",
        "game.code=0.77",
        'game.heaps=[5,7,9,"*2"]',
        "solver=winning_moves",
        "tracking=off",
        "compute=inline",
    ]
    assert "5 + 7 + 9 + *2 0 second 0 23" in minimex(*words, "out=lost").text
    said = minimex(*words[:2], "game.heaps=[5,7,9]", *words[3:], "out=won").text
    assert "5 + 7 + 9 2 first 3 21" in said
    for line in ("7 1 3 3 0 True", "7 2 1 4 0 True", "9 2 2 5 0 True"):
        assert line in said
    assert minimex("verify", "won", "strict=true").status == 0


def test_a_nimber_needs_no_quotes(minimex):
    """Hydra's grammar takes *2 for text; the position is the same."""
    words = ["game=heap_position", "solver=winning_moves", "tracking=off", "compute=inline", "out=here"]
    minimex(*words, "game.heaps=[5,*2]")
    assert "1 done" in minimex(*words, 'game.heaps=[5,"*2"]', "dry_run=true").text


def test_proved_periods_are_told_as_proved(minimex):
    """The table claims `sampled`, the least grade a row of it may get; where all are proved, that is what is said."""
    minimex(*CODE, "solver.heap_limit=300", "out=here", "tracking=off", "compute=inline", "verify=false")
    assert "periods: 1 proved (claimed: sampled or better)" in minimex("verify", "here").text


def test_positions_are_swept_by_commas_between_brackets(minimex):
    words = ("game=heap_position", "solver=winning_moves", "out=here", "dry_run=true")
    for said in (["game.heaps=[5,7],[9]"], ["sweep.grid={game.heaps: [[5,7],[9]]}"]):
        assert minimex(*words, *said).text.endswith(
            "game.heaps=[5,7] seed=0 game=heap_position solver=winning_moves game.heaps=[9] seed=0"
        )
