"""The summary of lost heaps: from rows made by hand, and what the middle of a row of pins proves."""

import itertools

import pyarrow as pa
import pytest

from solvers.games.kayles import Kayles
from solvers.impartial.lost_heaps import LOST_HEAPS, WIDTH, beginning, lost_heaps
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
    assert (one["balls"], one["lost"]) == ("1", "0 2 4 6 8 10 12 14 ... 193 more")
    told = ("code", "balls", "status", "lost", "lost_per_period")
    assert tuple(two[name] for name in told) == ("0.77", "1 2", "proved", "0", 0)


@pytest.mark.parametrize("balls", [one for size in range(2, 5) for one in itertools.combinations(range(1, 7), size)])
def test_an_odd_and_an_even_ball_win_every_long_row(balls):
    """Whoever begins leaves two equal halves, with the ball that is odd or even as the row is."""
    if len({ball % 2 for ball in balls}) == 1:
        return
    (row,) = summary({"a": tables_of(balls)})
    least = {parity: min(ball for ball in balls if ball % 2 == parity) for parity in (0, 1)}
    assert all(heap < least[heap % 2] for heap in map(int, row["lost"].split()))
    assert row["balls"] == " ".join(map(str, balls))
    assert row["last_lost"] < max(least.values())


def test_an_open_game_says_nothing_of_a_period():
    (row,) = summary({"a": tables_of((3,))})
    assert (row["status"], row["lost_per_period"], row["lost"]) == ("open", None, "0 1 2 8 14 24 32 34 ... 19 more")


@pytest.mark.parametrize(
    "heaps", [[0], [10**12], list(range(11)), list(range(12)), list(range(13)), [0, *range(10**9, 10**9 + 50)]]
)
def test_the_beginning_is_short_and_counts_all(heaps):
    said, _, more = beginning(heaps).partition(" ... ")
    shown = list(map(int, said.split()))
    assert shown == heaps[: len(shown)]
    assert len(shown) + int(more.removesuffix(" more") or 0) == len(heaps)
    assert len(said) <= WIDTH
    assert not more or len(f"{said} {heaps[len(shown)]}") > WIDTH, "one more would have fitted"


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
