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
    now.take(Chunk(advanced=(Advanced("a", 25, 100, 10.0, {"loss": 1.0}),)), ["a", "b"], 2, 2)
    assert list(now.solving) == ["a", "b"]
    assert now.solving["a"].left_s == pytest.approx(30.0)
    assert now.solving["a"].solving_s == pytest.approx(10.0, abs=1.0)
    assert now.solving["b"].left_s is None
    now.take(Chunk(finished=(Outcome("a", "done"),)), ["b"], 1, 2)
    assert list(now.solving) == ["b"]


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
    now.take(Chunk(advanced=(Advanced("a", 1, 101, 1.0, {}),)), ["a"], 1, 2)
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
