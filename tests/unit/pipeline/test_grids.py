"""Axes: exact ranges with both ends in, lists side by side, and what is refused of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.grids import choices, exact_range, grid_axes, index_product, keys_of, zip_axes
from solvers.errors import ConfigError


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("0:1:1/4", ["0", "1/4", "1/2", "3/4", "1"]),
        ("1:0:-1/2", ["1", "1/2", "0"]),
        ("0:0.9:0.3", ["0", "3/10", "3/5", "9/10"]),
        ("5:5:1", ["5"]),
        ("-1:1:1", ["-1", "0", "1"]),
        (" 0 : 2 : 1 ", ["0", "1", "2"]),
        ("0:1e3:500", ["0", "500", "1000"]),
        ("0.77", ["0.77"]),
        ("a:b", ["a:b"]),
        (3, [3]),
        (None, [None]),
        ([1, [2]], [1, [2]]),
        ({"rock": "1/2"}, [{"rock": "1/2"}]),
        (["0:1:1/4"], ["0:1:1/4"]),
    ],
    ids=str,
)
def test_choices(value, found):
    assert choices(value, "sweep.grid.game.a") == found


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "k: expected at least one choice, got an empty list"),
        ("0:1:0", "k: expected a step that leads from start to stop, got step 0 from 0 to 1"),
        ("0:1:-1/2", "k: expected a step that leads from start to stop, got step -1/2 from 0 to 1"),
        ("9:1:1", "k: expected a step that leads from start to stop"),
        ("0:x:1", "k: expected start:stop:step in exact numbers, got '0:x:1' (such as 0:1:1/60)"),
        ("0:1/0:1", "k: expected start:stop:step in exact numbers"),
        ("0:inf:1", "k: expected start:stop:step in exact numbers"),
        ("0:1:1/99999999", "k: expected at most 10000000 steps, got 100000000"),
        ("0:1e999999999:1", "k: expected start:stop:step in exact numbers"),
        ("0:1e300:1e-300", "k: expected at most 10000000 steps, got many more"),
    ],
    ids=str,
)
def test_refused(value, said):
    with pytest.raises(ConfigError) as caught:
        choices(value, "k")
    assert said in str(caught.value)


@given(
    st.fractions(-9, 9, max_denominator=60), st.fractions(Fraction(1, 60), 2, max_denominator=60), st.integers(0, 40), st.booleans()
)
def test_a_range_has_both_ends_and_equal_steps(start, step, count, down):
    by = -step if down else step
    found = [Fraction(text) for text in exact_range(str(start), str(start + count * by), str(by), path="k")]
    assert found == [start + index * by for index in range(count + 1)]


@given(st.fractions(-9, 9, max_denominator=60), st.integers(0, 40), st.fractions(Fraction(1, 9), 2, max_denominator=9))
def test_a_range_has_both_its_ends(start, steps, step):
    found = [Fraction(text) for text in exact_range(str(start), str(start + steps * step), str(step), path="k")]
    assert found == [start + place * step for place in range(steps + 1)]


@given(st.integers(0, 40), st.fractions(Fraction(1, 9), 2, max_denominator=9), st.fractions(Fraction(1, 9), Fraction(8, 9)))
def test_a_range_that_misses_its_end_is_refused(steps, step, beyond):
    with pytest.raises(ConfigError, match="steps that hit both ends"):
        exact_range("0", str((steps + beyond) * step), str(step), path="k")


def test_a_grid_is_an_axis_for_each_key():
    assert [list(axis) for axis in grid_axes({"game.a": [1, 2], "game.b": "0:1:1"}, "sweep.grid")] == [
        [{"game.a": 1}, {"game.a": 2}],
        [{"game.b": "0"}, {"game.b": "1"}],
    ]


def test_a_zip_is_one_axis():
    (axis,) = zip_axes({"game.a": [1, 2], "game.b": "0:1:1"}, "sweep.zip")
    assert axis == [{"game.a": 1, "game.b": "0"}, {"game.a": 2, "game.b": "1"}]
    assert list(keys_of(axis)) == ["game.a", "game.b"]


def test_an_empty_zip_is_no_axis():
    assert zip_axes({}, "sweep.zip") == []


def test_a_zip_of_differing_lengths_is_refused():
    with pytest.raises(ConfigError, match=r"sweep.zip: expected lists of one length, got game.a has 2, game.b has 1"):
        zip_axes({"game.a": [1, 2], "game.b": [0]}, "sweep.zip")


def test_a_bad_choice_says_its_key():
    with pytest.raises(ConfigError, match=r"sweep\.grid\.game\.a: expected at least one choice"):
        grid_axes({"game.a": []}, "sweep.grid")


def test_the_last_axis_runs_fastest():
    assert list(index_product([[{}, {}], [{}, {}, {}]])) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert list(index_product([])) == [()]
