"""Proofs of periods: the windows, the least period, and what must not be proved."""

import json

import numpy as np
import pytest

from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial.periods import Period, find_period

BREAKING = HeapGame((0, 7), "0.7")
PLAIN = HeapGame((0, 3), "0.3")


def periodic(exceptions, cycle, heaps):
    """Return `heaps` values: the exceptions, then the cycle again and again."""
    tail = np.resize(cycle, max(heaps - len(exceptions), 0))
    return np.concatenate([exceptions, tail])[:heaps].astype(np.int32)


def test_window_of_guy_and_smith_is_needed_to_its_last_value():
    preperiod, period, k = 5, 3, 1
    enough = 2 * preperiod + 2 * period + k  # G(0) .. G(2m + 2p + k - 1)
    values = periodic([9, 9, 9, 9, 8], [1, 2, 3], enough)
    assert find_period(values, BREAKING) == Period(preperiod, period, k, "guy_smith")
    assert find_period(values[:-1], BREAKING) is None


def test_window_without_breaking_digits_is_shorter():
    preperiod, period, k = 5, 3, 1
    enough = preperiod + k + period
    values = periodic([9, 9, 9, 9, 8], [1, 2, 3], enough)
    assert find_period(values, PLAIN) == Period(preperiod, period, k, "guy_smith_no_breaking")
    assert find_period(values[:-1], PLAIN) is None


def test_preperiod_zero_counts_as_one_in_the_window():
    values = periodic([], [0, 1], 2 * 1 + 2 * 2 + 1)
    found = find_period(values, BREAKING)
    assert found == Period(0, 2, 1, "guy_smith")
    assert found.last_exception is None
    assert find_period(values[:-1], BREAKING) is None


@pytest.mark.parametrize(("code", "zeros"), [("0.04", 4), ("0.4", 3), ("0.004", 5)])
def test_leading_zeros_prove_nothing(code, zeros):
    """G(0), G(1), ... = 0 as far as heap `zeros - 1`, then 1: constant so far, and still not periodic from 0."""
    form = Octal(code).form(HeapGame)
    for heaps in range(2, zeros + 1):
        assert find_period(np.zeros(heaps, np.int32), form) is None


def test_multiples_are_not_taken_for_the_least_period():
    assert find_period(periodic([7], [1, 2, 1, 2], 60), BREAKING) == Period(1, 2, 1, "guy_smith")


def test_a_late_exception_leaves_it_open():
    values = periodic([], [1, 2], 60)
    values[40] = 5
    assert find_period(values, BREAKING) is None


@pytest.mark.parametrize("heaps", [0, 1])
def test_too_few_values_prove_nothing(heaps):
    assert find_period(np.zeros(heaps, np.int32), PLAIN) is None


def test_certificate_names_the_window():
    kayles = Period(71, 12, 2, "guy_smith")
    assert kayles.last_exception == 70
    assert json.loads(kayles.certificate()) == {"n0": 71, "p": 12, "k": 2, "m": 71, "from": 71, "to": 155}
