"""Laws of sums of heaps and nimbers, against a search of all positions that knows no nimbers."""

import functools

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.builder import make
from solvers.games.heap_position import HeapPosition
from solvers.impartial.check.moves import check_heap_sums, check_winning_moves
from solvers.impartial.winning_moves import WinningMoves
from solvers.inline import solve

CODES = st.builds("{}.{}".format, st.sampled_from(["0", "4"]), st.text("01234567", min_size=1, max_size=4))
PARTS = st.lists(st.one_of(st.integers(0, 6), st.integers(0, 3).map("*{}".format)), max_size=3)


def moves(part, code):
    """Yield (removed, what is left) of one part, heaps in ascending order: straight from the rules."""
    if isinstance(part, str):
        size = int(part[1:])
        yield from ((size - left, (f"*{left}",)) for left in range(size))
        return
    first, rest = code.split(".")
    for place, digit in enumerate(map(int, first + rest)):
        left = part - place
        if digit & 1 and left == 0 and place > 0:
            yield place, ()
        if digit & 2 and left > 0 and place > 0:
            yield place, (left,)
        if digit & 4:
            yield from ((place, (a, left - a)) for a in range(1, left) if a <= left - a)


@functools.cache
def wins(position, code):
    """Say whether the player to move wins a sorted tuple of parts."""
    return any(not wins(after, code) for _, _, after in successors(position, code))


def successors(position, code):
    for place, part in enumerate(position):
        for removed, left in moves(part, code):
            yield place, (removed, left), tuple(sorted((*position[:place], *left, *position[place + 1 :]), key=str))


@given(CODES, PARTS, st.booleans())
@settings(max_examples=150, deadline=None)
def test_winning_moves_are_those_that_leave_a_lost_position(code, parts, all_moves):
    game = make(HeapPosition, code=code, heaps=parts)
    tables = solve(game, WinningMoves(all_moves=all_moves)).tables
    (sums,) = tables["heap_sums"].to_pylist()
    wanted = {
        (place, *move): not wins(after, code)
        for place, move, after in successors(game.heaps, code)
        if game.heaps.index(game.heaps[place]) == place
    }
    found = {}
    for row in tables["winning_moves"].to_pylist():
        nim = row["heap"].startswith("*")
        left = (f"*{row['left']}",) if nim else tuple(one for one in (row["left"], row["right"]) if one)
        found[row["place"], row["removed"], left] = row["winning"]
    assert found == {move: winning for move, winning in wanted.items() if winning or all_moves}
    assert (sums["winner"] == "first") == wins(tuple(sorted(game.heaps, key=str)), code)
    assert (sums["moves"], sums["winning_moves"]) == (len(wanted), sum(wanted.values()))
    verdicts = [*check_heap_sums(game, tables), *check_winning_moves(game, tables)]
    assert {one.grade for one in verdicts} == {"proved"}
