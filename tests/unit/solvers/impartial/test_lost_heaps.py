"""The summary of lost heaps: from rows made by hand, and what the middle of a row of pins proves."""

import itertools

import pyarrow as pa
import pytest

from solvers.games.kayles import Kayles
from solvers.impartial.lost_heaps import LOST_HEAPS, SHOWN, lost_heaps
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.tables import NIMBERS, PERIODS
from solvers.inline import solve


def summary(solved):
    tables = {name: [] for name in ("nimbers", "periods")}
    for point, found in solved.items():
        for name, parts in tables.items():
            parts.append(found[name].add_column(0, "point", pa.array([point] * len(found[name]), pa.string())))
    return lost_heaps(None, {name: pa.concat_tables(parts) for name, parts in tables.items()})["lost_heaps"].to_pylist()


def tables_of(balls, heap_limit=400):
    return solve(Kayles(balls), MexDp(heap_limit)).tables


def test_balls_of_one_and_of_one_and_two():
    one, two = summary({"a": tables_of((1,)), "b": tables_of((1, 2))})
    assert (one["code"], one["period"], one["lost_count"], one["last_lost"], one["lost_per_period"]) == ("0.7", 2, 201, 400, 1)
    assert one["lost"] == list(range(0, 2 * SHOWN, 2))
    assert (two["code"], two["status"], two["lost"], two["lost_per_period"]) == ("0.77", "proved", [0], 0)


@pytest.mark.parametrize("balls", [one for size in range(2, 5) for one in itertools.combinations(range(1, 7), size)])
def test_an_odd_and_an_even_ball_win_every_long_row(balls):
    """Whoever begins leaves two equal halves, with the ball that is odd or even as the row is."""
    if len({ball % 2 for ball in balls}) == 1:
        return
    (row,) = summary({"a": tables_of(balls)})
    least = {parity: min(ball for ball in balls if ball % 2 == parity) for parity in (0, 1)}
    assert all(heap < least[heap % 2] for heap in row["lost"])
    assert row["last_lost"] < max(least.values())


def test_an_open_game_says_nothing_of_a_period():
    (row,) = summary({"a": tables_of((3,))})
    assert (row["status"], row["lost_per_period"], row["lost"][:9]) == ("open", None, [0, 1, 2, 8, 14, 24, 32, 34, 46])


def test_without_nimbers_there_is_no_row():
    assert lost_heaps(None, {})["lost_heaps"].equals(LOST_HEAPS.empty_table())
    tables = {"periods": tables_of((1, 2))["periods"], "nimbers": NIMBERS.empty_table()}
    point = pa.array(["a"])
    named = {
        "periods": tables["periods"].add_column(0, "point", point),
        "nimbers": tables["nimbers"].add_column(0, "point", point[:0]),
    }
    assert PERIODS.names == named["periods"].schema.names[1:]
    assert len(lost_heaps(None, named)["lost_heaps"]) == 0
