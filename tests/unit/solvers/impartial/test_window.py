"""Windows: the kernel against the plain method, the return of a window, the lag, and what the theorem does not allow."""

import json

import numpy as np
import pytest

from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.rares import HeapRun
from solvers.impartial.window import HASH_START, Lag, Waiting, Window, WindowPeriod, hash_of
from solvers.inline import solve


def nimbers(code, heap_limit):
    return solve(Octal(code), MexDp(heap_limit)).tables["nimbers"]["nimber"].to_numpy()


def run_to(code, heaps):
    run = HeapRun(Octal(code).form(HeapGame), heaps)
    run.extend(heaps // 2)
    run.choose()
    run.extend(heaps)
    return run


def window_of(run, length, step):
    rares = run.positions[: run.rare_count], run.values[: run.rare_count]
    return Window(run.game, run.rule, rares, run.nimbers, run.done, run.nimbers[-length:], step)


@pytest.mark.parametrize("code", ["0.77", "0.104", "0.156", "0.055", "0.356", "0.45", "4.7"])
@pytest.mark.parametrize("step", [1, 7, 16, 1000])
def test_a_window_gives_the_nimbers_of_the_plain_method(code, step):
    wanted = nimbers(code, 6000)
    window = window_of(run_to(code, 2048), 1024, step)
    found = []
    while window.done < 5000:
        found += window.advance(min(window.done + step, 5000)).tolist()
    assert found == wanted[2049:5001].tolist()
    assert window.last().tolist() == wanted[5001 - 1024 : 5001].tolist()
    assert 0 < window.most_looks < 1024


def test_a_window_stops_before_a_rare_heap():
    """0.16 has rare heaps at 13932 and 13935 by the rule of 8192 heaps; the one before is 3604."""
    run = run_to("0.16", 8192)
    assert run.positions[run.rare_count - 1] == 3604
    window = window_of(run, 8000, 10_000)
    assert len(window.advance(18_000)) == 13_931 - 8192
    assert window.done == 13_931
    assert len(window.advance(18_000)) == 0


@pytest.mark.parametrize("length", [70, 88, 2048])
def test_a_window_that_is_too_short_or_too_long_is_none(length):
    with pytest.raises(ValueError, match="reaches farther"):
        window_of(run_to("0.77", 2047 if length > 100 else 1000), length - (length == 2048), 100)


@pytest.mark.parametrize("cuts", [(), (1, 2, 3), (5, 11)])
def test_a_window_is_found_where_it_is_first_complete_again(cuts):
    stream = np.array([1, 1, 2, 1, 1, 1, 2, 1, 1, 2, 9], np.uint16)  # after 1 1 2 1 1: 1 2 1 1 is no return by itself
    waiting = Waiting(100, np.array([1, 1, 2, 1, 1], np.uint16))
    fed, found = 0, None
    for part in np.split(stream, cuts):
        taken = waiting.feed(part)
        if taken is not None:
            found = fed + taken
            break
        fed += len(part)
    text = [1, 1, 2, 1, 1, *stream.tolist()]
    assert found == next(end for end in range(1, 20) if text[end : end + 5] == [1, 1, 2, 1, 1])


def test_a_window_may_return_within_its_own_length():
    waiting = Waiting(6, np.array([3, 4, 3, 4, 3, 4], np.uint16))
    assert waiting.feed(np.array([3], np.uint16)) is None
    assert waiting.feed(np.array([4, 3], np.uint16)) == 1


def test_a_lag_finds_the_last_difference():
    values = np.array([7, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3], np.uint16)
    for cut in range(len(values)):
        lag = Lag(3, 0)
        lag.feed(values[:cut])
        lag.feed(values[cut:])
        assert lag.last_difference == 1
    late = Lag(3, 1)
    late.feed(values[1:])
    assert late.last_difference == 1
    equal = Lag(3, 2)
    equal.feed(values[2:])
    assert equal.last_difference == -1


def test_the_hash_is_fnv_1a_of_words():
    wanted = HASH_START
    for value in (1, 500, 0):
        wanted = (wanted ^ value) * 1099511628211 % 2**64
    assert hash_of(np.array([1, 500, 0], np.uint16)) == wanted


def test_certificate_says_what_was_compared():
    said = json.loads(WindowPeriod(71, 12, 2, 513, 256, 70, 255).certificate())
    assert said == {"n0": 71, "p": 12, "k": 2, "s": 513, "L": 256, "r": 70, "from": 257, "to": 512, "fnv64": "00000000000000ff"}
