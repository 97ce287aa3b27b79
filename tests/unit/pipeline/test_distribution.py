"""Every row is counted once, in the bar that says so."""

import numpy as np
import pyarrow as pa
import pytest

from pipeline.distribution import Bins, Ranking, bins, distribution, parts_of, recounted, summary


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.2, 0.3, 0.7],
        [-1e308, 0, 1e308],
        [1e16, 1e16 + 2, 2e16],
        [5e-324, 1.0],
        [0.0, 5e-324],
        [1.0, 1.0 + 2**-52],
        [-9, 9],
        [1, 100_000],
        [-(2**62), 2**62],
    ],
    ids=str,
)
def test_every_number_is_in_one_of_some_tens_of_bins(values):
    found = bins(np.array(values, np.float64))

    assert isinstance(found, Bins)
    assert sum(found.counts) == len(values)
    assert len(found.counts) <= 60
    assert min(found.counts[0], found.counts[-1]) > 0
    slack = 1e-6 * found.step
    assert found.edge(0) <= min(values) + slack
    assert found.edge(len(found.counts)) >= max(values) - slack


@pytest.mark.parametrize(
    ("values", "text", "count"),
    [
        ([0.3, 0.1, 0.2, 3.1], "from 0.3 up to 0.4", 1),
        ([3, 3, 5], "3", 2),
        ([0, 99, 7], "5 to 9", 1),
        ([-3.0, 2.5], "from -3 up to -2.8", 1),
    ],
    ids=str,
)
def test_a_bar_says_what_it_counts(values, text, count):
    found = bins(np.array(values, np.float64))

    assert dict(zip(map(found.text, range(len(found.counts))), found.counts, strict=True))[text] == count


def test_what_is_no_finite_number_is_left_out_and_counted():
    assert distribution([column([1.0, None, float("inf"), float("nan"), 2.0])]).left_out == 3
    assert distribution([column([None, None], pa.float64())]) is None
    assert distribution([column([], pa.float64())]) is None
    assert distribution([column([7, 7, None])]) == Ranking(((7.0,), (None,)), (2, 1))


def test_texts_come_with_the_most_frequent_first_and_the_rest_together():
    found = distribution([column(["b"] * 2 + ["a"] * 3 + [f"c{n}" for n in range(40)])])

    assert found.values[:3] == (("a",), ("b",), ("c0",))
    assert found.counts == (3, 2, *[1] * 28)
    assert (found.others, found.further) == (12, 12)


def test_columns_are_joined_lists_and_nulls_included():
    lists = column([["a", "b"], ["a,b"], ["a", "b"], None], pa.list_(pa.string()))
    found = distribution([lists, column([1, 1, 1, 1])])

    assert found == Ranking(((["a", "b"], 1), (["a,b"], 1), (None, 1)), (2, 1, 1))
    assert distribution([column([[None], [1], [None]])]).counts == (2, 1)
    assert distribution([column([True, False, True])]).values == ((True,), (False,))


def test_whole_numbers_come_in_order_where_they_are_few():
    found = distribution([column([2, 1, 2, 10]), column([1, 1, 1, 1])])

    assert found == Ranking(((1, 1), (2, 1), (10, 1)), (1, 2, 1))


def test_some_of_the_numbers_are_counted_in_the_bins_of_all():
    some, rest = np.array([0.3, 0.1, np.nan]), np.array([0.2, 3.1])
    found = bins(np.concatenate([some, rest]))

    parts = [recounted(found, values) for values in (some, rest)]

    assert [sum(one.counts) for one in parts] == [2, 2]
    assert [one.left_out for one in parts] == [1, 0]
    assert tuple(map(sum, zip(*(one.counts for one in parts), strict=True))) == found.counts


def test_a_summary_leaves_out_what_is_no_finite_number():
    found = summary(np.array([3.0, np.nan, 1.0, np.inf, 8.0]))

    assert (found.count, found.mean, found.least, found.median, found.greatest) == (3, 4.0, 1.0, 3.0, 8.0)
    assert found.deviation == pytest.approx(13**0.5)
    assert summary(np.array([np.nan])) is None
    assert summary(np.array([2.0])).error == 0


def test_parts_of_a_text_are_counted():
    assert parts_of(column(["a", "a+b", "a+b+c", None])).to_pylist() == [1, 2, 3, None]
