"""Compiled integers of 64 and 128 bits against Python's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from solvers.equilibrium.words import compared, inverse, is_quotient, negative, pack, quotient, shifted, sign, twos, unpack


@njit
def divide(row, made):
    """Divide row[0] row[1] - row[2] row[3] by row[4]; negate row[0]."""
    shift = twos(row[4])
    odd = shifted(row[4], shift)
    made[0] = quotient(row[0], row[1], row[2], row[3], shift, inverse(odd))
    made[1] = negative(row[0])
    fits = is_quotient(made[0], row[0], row[1], row[2], row[3], shift, odd)
    return fits, compared(row[0], row[1], row[2], row[3]), sign(row[2])


def cases(bits):
    half = st.integers(-(2 ** (bits // 2 - 2)), 2 ** (bits // 2 - 2))
    return st.tuples(half, half, half, st.integers(1, 2 ** (bits // 2 - 3)), st.integers(0, bits // 8))


@pytest.mark.parametrize("bits", [64, 128])
@given(data=st.data())
@settings(deadline=None, max_examples=200)
def test_exact_division_is_exact(bits, data):
    by, c, d, odd, shift = data.draw(cases(bits))
    divisor = odd << shift
    whole = by * divisor + c * d  # so that (1 whole - c d) / divisor = by
    if abs(whole) >= 2 ** (bits - 1):
        return
    numbers = pack([[1, whole, c, d, divisor]], long=bits == 128)[0]
    made = np.zeros(2, numbers.dtype)

    fits, order, way = divide(numbers, made)

    assert unpack(made[None])[0] == [by, -1]
    assert (fits, order, way) == (True, (whole > c * d) - (whole < c * d), (c > 0) - (c < 0))


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("excess", [0, 1, 2**20])
def test_quotients_that_do_not_fit_are_noticed(bits, excess):
    large = 2 ** (bits // 2)
    numbers = pack([[large, large // 2 + excess, 0, 0, 1]], long=bits == 128)[0]  # 2^(bits - 1) and more

    fits, _, _ = divide(numbers, np.zeros(2, numbers.dtype))

    assert not fits
