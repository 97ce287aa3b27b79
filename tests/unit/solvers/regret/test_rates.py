"""Slopes of learning curves: what is computed, and what the checker says of it."""

import numpy as np
import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.games.kuhn_poker import KuhnPoker
from solvers.regret.cfr import Cfr
from solvers.regret.check import check_rates
from solvers.regret.curves import RATES, exponents

TIMES = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])


@pytest.mark.parametrize("exponent", [-0.5, -1.0, -3.0, 0.0])
def test_a_power_has_its_exponent(exponent):
    first, slope = exponents(TIMES, 7 * TIMES.astype(float) ** exponent)

    assert first == 10
    assert slope == pytest.approx(exponent, abs=1e-12)


def test_what_is_not_above_zero_does_not_count():
    height = 1 / TIMES
    height[4] = 0.0
    height[7] = -1e-20

    assert exponents(TIMES, height)[1] == pytest.approx(-1.0)
    assert np.isnan(exponents(TIMES, np.where(TIMES < 500, 0.0, height))[1]), "two are too few"


def test_games_do_not_disturb_each_other():
    together = exponents(TIMES, np.stack([1 / TIMES, 1 / np.sqrt(TIMES), 0.0 * TIMES], axis=1))[1]

    np.testing.assert_allclose(together, [-1.0, -0.5, np.nan])


@pytest.fixture(scope="module")
def tables():
    return solve(make(KuhnPoker), Cfr(iterations=1000)).tables


def test_cfr_on_kuhn_poker_falls_at_least_like_one_over_the_root(tables):
    (row,) = tables["rates"].to_pylist()

    assert (row["from_iteration"], row["to_iteration"]) == (10, 1000)
    assert row["exponent_average"] < -0.5
    assert [one.grade for one in check_rates(KuhnPoker(), tables)] == ["recomputed"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("from_iteration", 13), ("to_iteration", 999), ("exponent_average", -0.75), ("exponent_last", None), ("exponent_last", 2.0)],
)
def test_a_changed_cell_is_refuted(tables, name, wrong):
    (row,) = tables["rates"].to_pylist()
    changed = {**tables, "rates": pa.Table.from_pylist([{**row, name: wrong}], RATES)}

    (verdict,) = check_rates(KuhnPoker(), changed)

    assert verdict.grade == "refuted"
    assert name in verdict.reason


def test_a_missing_or_doubled_row_is_refuted(tables):
    for rows in (tables["rates"].slice(0, 0), pa.concat_tables([tables["rates"]] * 2)):
        assert [one.grade for one in check_rates(KuhnPoker(), {**tables, "rates": rows})] == ["refuted"]
