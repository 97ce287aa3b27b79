"""How a sweep stands: counts, points in work, what is left."""

from __future__ import annotations

import time

import pytest

from pipeline.display import duration, line_of
from pipeline.events import Advanced, Chunk, Outcome
from pipeline.standing import Standing


def standing(total=10, known=0):
    return Standing({"a": "game=a", "b": "game=b"}, total, known, slots=2)


def test_outcomes_are_counted_by_status():
    now = standing(known=3)
    now.take(Chunk(finished=(Outcome("x", "done"), Outcome("y", "failed"), Outcome("z", "done"))), [], 1, 4)
    assert now.counts == {"done": 2, "failed": 1}
    assert (now.finished, now.left, now.busy, now.slots) == (3, 4, 1, 4)


def test_a_point_in_work_says_how_much_it_has_left():
    now = standing()
    now.take(Chunk(advanced=(Advanced("a", 5, 100, 2.0, {"loss": 2.0}),)), ["a", "b"], 2, 2)
    assert now.solving["a"].left_s is None, "where it began, be it at a checkpoint"
    now.take(Chunk(advanced=(Advanced("a", 25, 100, 10.0, {"loss": 1.0}),)), ["a", "b"], 2, 2)
    assert list(now.solving) == ["a", "b"]
    assert now.solving["a"].left_s == pytest.approx(30.0)
    assert now.solving["a"].solving_s == pytest.approx(10.0, abs=1.0)
    assert now.solving["b"].left_s is None
    now.take(Chunk(finished=(Outcome("a", "done"),)), ["b"], 1, 2)
    assert list(now.solving) == ["b"]


def told(*said, total=1000):
    now = standing()
    for elapsed_s, done in said:
        now.take(Chunk(advanced=(Advanced("a", done, total, elapsed_s, {}),)), ["a"], 1, 2)
    return now.solving["a"]


def test_a_point_that_went_on_from_a_checkpoint_is_measured_from_there():
    assert told((1.0, 900), (11.0, 910)).left_s == pytest.approx(90.0)


def test_a_point_whose_work_grows_goes_on_as_it_did_lately():
    for total in (20, 1000, 20_000):
        way = [(100 * (done / total) ** 2, done) for done in range(total // 2 + 1)]  # 25 s for the first half, 75 s for the second
        one = told(*way, total=total)
        assert 44 < one.left_s < 50, "its mean so far promises 25 s, its speed of this moment 50 s"
        assert len(one.way) <= 30
        assert (one.way[0], one.way[-1]) == (way[0], way[-1])


def test_one_that_stands_still_has_the_speed_it_had_until_now():
    assert told((0.0, 0), (10.0, 100), (40.0, 100)).left_s == pytest.approx(360.0)
    assert told((0.0, 100), (10.0, 100)).left_s is None


def test_one_that_began_again_elsewhere_is_measured_anew():
    assert told((0.0, 0), (10.0, 500), (0.5, 400), (10.5, 500)).left_s == pytest.approx(50.0)
    assert told((0.0, 0), (10.0, 500), (12.0, 400)).left_s is None


def test_what_a_point_said_is_kept_while_it_says_nothing():
    now = standing()
    now.take(Chunk(advanced=(Advanced("a", 5, None, 1.0, {}),)), ["a"], 1, 2)
    now.take(Chunk(), ["a"], 1, 2)
    assert now.solving["a"].said.done == 5
    assert now.solving["a"].left_s is None, "no total, no guess"


def test_the_end_is_where_the_slower_of_points_and_long_solves_ends():
    now = standing(total=3)
    assert now.left_s is None, "nothing to go by"
    now.began = time.monotonic() - 10
    now.take(Chunk(finished=(Outcome("x", "done"), Outcome("y", "done"))), [], 1, 2)
    assert now.left_s == pytest.approx(5.0, rel=0.1)
    now.take(Chunk(advanced=(Advanced("a", 0, 101, 0.0, {}), Advanced("a", 1, 101, 1.0, {}))), ["a"], 1, 2)
    assert now.left_s == pytest.approx(100.0)
    now.take(Chunk(finished=(Outcome("a", "done"),)), [], 0, 2)
    assert now.left_s == 0.0


def test_its_line():
    now = standing(total=3, known=1)
    now.began = time.monotonic() - 10
    now.take(Chunk(finished=(Outcome("x", "timeout"),), advanced=(Advanced("b", 2, 4, 1.0, {}),)), ["b"], 1, 2)
    assert line_of(now) == "2/3 points · 1 timeout · 1 known before · 0.1/s · about 10 s left · 1/2 busy · game=b: 2/4"


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (90, "1.5 min"), (5400, "1.5 h"), (200_000, "2.3 days")])
def test_durations(seconds, text):
    assert duration(seconds) == text
