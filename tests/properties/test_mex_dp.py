"""Laws of octal games, on random codes: the definition, sums, the checkers."""

import functools
import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial.check import check_nimbers, check_periods
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.periods import find_period
from solvers.inline import solve

CODES = st.builds("{}.{}".format, st.sampled_from(["0", "4"]), st.text("01234567", min_size=1, max_size=5))


def moves(heap, code):
    """Yield what a move leaves of one heap: a tuple of heaps. Straight from the rules, sharing nothing with the solver."""
    first, rest = code.split(".")
    for place, digit in enumerate(map(int, first + rest)):
        left = heap - place
        if digit & 1 and left == 0 and place > 0:
            yield ()
        if digit & 2 and left > 0 and place > 0:
            yield (left,)
        if digit & 4:
            yield from ((a, left - a) for a in range(1, left) if a <= left - a)


def brute_nimber(heap, code, known):
    options = {functools.reduce(int.__xor__, (known[one] for one in option), 0) for option in moves(heap, code)}
    return next(value for value in itertools.count() if value not in options)


@functools.cache
def wins(position, code):
    """Say whether the player to move wins a sorted tuple of heaps: by search, without nimbers."""
    for index, heap in enumerate(position):
        others = position[:index] + position[index + 1 :]
        if any(not wins(tuple(sorted(others + option)), code) for option in moves(heap, code)):
            return True
    return False


def nimbers(code, heap_limit):
    return solve(Octal(code), MexDp(heap_limit)).tables["nimbers"]["nimber"].to_pylist()


@given(CODES)
@settings(max_examples=60, deadline=None)
def test_nimbers_are_those_of_the_definition(code):
    known = []
    for heap in range(41):
        known.append(brute_nimber(heap, code, known))
    assert nimbers(code, 40) == known


@given(CODES, st.integers(0, 7), st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_two_heaps_are_lost_exactly_if_their_nimbers_agree(code, one, other):
    values = nimbers(code, 7)
    assert wins(tuple(sorted((one, other))), code) == (values[one] != values[other])


@given(CODES, st.integers(0, 6), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_nimber_of_a_sum_is_the_xor(code, one, other):
    """A + B + C is lost for the player to move exactly if C's nimber is the xor of the others'."""
    values = nimbers(code, 8)
    for third in range(9):
        lost = values[third] == values[one] ^ values[other]
        assert wins(tuple(sorted((one, other, third))), code) != lost


@given(CODES, st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_checkers_prove_what_the_solver_finds(code, heap_limit):
    tables = solve(Octal(code), MexDp(heap_limit)).tables
    verdicts = [*check_nimbers(Octal(code), tables), *check_periods(Octal(code), tables)]
    assert sum(one.count for one in verdicts) == heap_limit + 2
    assert [one for one in verdicts if one.grade != "proved"] == []


@given(CODES, st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_a_proved_period_holds_on_and_is_the_least(code, heap_limit):
    form = Octal(code).form(HeapGame)
    values = solve(Octal(code), MexDp(2000)).tables["nimbers"]["nimber"].to_numpy()
    found = find_period(values[: heap_limit + 1], form)
    if found is None:
        return
    preperiod, period = found.preperiod, found.period
    assert (values[preperiod + period :] == values[preperiod:-period]).all()
    assert preperiod == 0 or values[preperiod - 1] != values[preperiod - 1 + period]
    for shorter in range(1, period):
        assert (values[preperiod + shorter :] != values[preperiod:-shorter]).any()


@given(CODES, st.lists(st.integers(0, 3), min_size=1, max_size=60))
@settings(max_examples=300, deadline=None)
def test_search_finds_the_least_window_of_any_sequence(code, values):
    """Against all (n0, p), tried one by one in the words of the theorem."""
    form = Octal(code).form(HeapGame)
    k, breaks, size = form.last_place, any(digit & 4 for digit in form.digits), len(values)
    windows = []
    for period, start in itertools.product(range(1, size), range(size)):
        m = max(start, 1)
        end = 2 * m + period + k if breaks else m + k
        if end + period <= size and all(values[n] == values[n + period] for n in range(start, end)):
            agree = all(values[n] == values[n + period] for n in range(start, size - period))
            windows += [(period, start)] if agree else []
    found = find_period(np.array(values), form)
    assert (found and (found.period, found.preperiod)) == min(windows, default=None)
