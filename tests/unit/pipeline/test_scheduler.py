"""The scheduler on a scripted executor and clock: every task is reported exactly once, whatever dies or is handed back."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import scheduler as scheduler_module
from pipeline.events import Chunk, Limits, Outcome, Task
from pipeline.executors import Ended
from pipeline.scheduler import Scheduler


class Clock:
    """A clock that goes on only when told."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(scheduler_module, "time", made)
    return made


@dataclass
class Scripted:
    """Runs the first `slots` batches in turns; what happens is decided by points and by chance.

    `deaths`: how often a point still kills its worker when its turn comes. `chance`: how often, of a hundred steps, a worker dies
    for no reason, hands its rest back, or says something in passing. `seconds`: what a point takes.
    """

    slots: int = 2
    deaths: dict = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    dying: int = 0
    handing: int = 0
    talking: int = 0
    clock: Clock = field(default_factory=Clock)
    seconds: float = 0.001
    where = "a test"
    running: dict = field(default_factory=dict)
    sizes: list = field(default_factory=list)
    reported: Counter = field(default_factory=Counter)
    killed: list = field(default_factory=list)
    cancelled: bool = False

    def submit(self, number, tasks):
        assert number not in self.running
        assert not self.cancelled
        self.sizes.append(len(tasks))
        self.running[number] = list(tasks)

    def poll(self, wait_s):
        if not self.running:
            return
        number = self.chance.choice(list(self.running)[: self.slots])
        left = self.running[number]
        lot = self.chance.randrange(100)
        if not left:
            del self.running[number]
            yield number, Ended()
        elif lot < self.dying:
            yield from self.die(number, "bad luck")
        elif lot < self.dying + self.handing:
            self.running[number] = []
            yield number, Chunk(handed_back=tuple(task.point for task in left))
        elif lot < self.dying + self.handing + self.talking:
            yield number, Chunk(started=left[0].point)
        else:
            yield from self.work(number, left, self.chance.randint(1, 4))

    def work(self, number, left, count):
        finished = []
        while left and len(finished) < count and not self.deaths.get(left[0].point):
            self.clock.now += self.seconds
            finished.append(Outcome(left.pop(0).point, "done"))
        if finished:
            yield number, Chunk(finished=tuple(finished))
        else:
            self.deaths[left[0].point] -= 1
            yield from self.die(number, f"killed by {left[0].point}")

    def die(self, number, reason):
        del self.running[number]
        yield number, Ended(reason)

    def kill(self, number):
        self.killed.append(number)

    def cancel(self):
        self.cancelled = True
        self.running.clear()

    def close(self):
        pass


def tasks(count):
    return [Task(f"p{number}", None, None, "") for number in range(count)]


def outcomes(scheduler, count):
    return [outcome for chunk in scheduler.run(tasks(count)) for outcome in chunk.finished]


def by_point(found):
    named = {outcome.point: outcome for outcome in found}
    assert len(named) == len(found), "reported twice"
    return named


ALWAYS = 10**9


# ---- exactly once ------------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    count=st.integers(0, 200),
    slots=st.integers(1, 4),
    attempts=st.integers(1, 3),
    luck=st.tuples(st.integers(0, 10**6).map(random.Random), st.integers(0, 20), st.integers(0, 30), st.integers(0, 30)),
    deaths=st.dictionaries(st.integers(0, 199).map(lambda number: f"p{number}"), st.sampled_from([1, 2, ALWAYS]), max_size=8),
)
def test_every_task_is_reported_exactly_once(count, slots, attempts, luck, deaths):
    executor = Scripted(slots, dict(deaths), *luck)
    found = by_point(outcomes(Scheduler(executor, Limits(), attempts), count))
    assert found.keys() == {task.point for task in tasks(count)}
    assert not executor.running
    killers = {point for point, times in deaths.items() if times == ALWAYS and point in found}
    assert {point for point in killers if found[point].status == "failed"} == killers
    assert all(one.attempts == attempts for one in found.values() if one.status == "failed")
    if not executor.dying:
        innocent = found.keys() - deaths.keys()
        assert {found[point].status for point in innocent} <= {"done"}


def test_nothing_to_do_is_nothing_done():
    executor = Scripted()
    assert outcomes(Scheduler(executor, Limits()), 0) == []
    assert executor.sizes == []


def test_batches_handed_back_again_and_again_come_to_an_end():
    executor = Scripted(handing=90, chance=random.Random(1))
    assert len(by_point(outcomes(Scheduler(executor, Limits()), 50))) == 50


# ---- who is to blame ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_the_culprit_is_found_and_its_neighbours_are_not_charged(slots, attempts):
    executor = Scripted(slots, {"p13": ALWAYS})
    found = by_point(outcomes(Scheduler(executor, Limits(), attempts), 100))
    culprit = found.pop("p13")
    assert (culprit.status, culprit.error) == ("failed", "the worker died: killed by p13")
    assert culprit.attempts == attempts
    assert ALWAYS - executor.deaths["p13"] == attempts + 1, "once in company, then as often as allowed"
    assert {(one.status, one.attempts) for one in found.values()} == {("done", 1)}


def test_a_point_that_dies_in_company_only_is_done_at_its_first_attempt_alone():
    found = by_point(outcomes(Scheduler(Scripted(deaths={"p5": 1}), Limits()), 20))
    assert (found["p5"].status, found["p5"].attempts) == ("done", 1)


def test_a_point_that_is_done_at_its_second_attempt_says_so():
    found = by_point(outcomes(Scheduler(Scripted(deaths={"p5": 2}), Limits(), attempts=2), 20))
    assert (found["p5"].status, found["p5"].attempts) == ("done", 2)


def test_a_batch_that_ends_without_a_word_is_a_death():
    class Silent(Scripted):
        def work(self, number, left, count):
            yield from self.die(number, None)

    found = by_point(outcomes(Scheduler(Silent(), Limits(), attempts=1), 3))
    assert {one.error for one in found.values()} == {"the worker died: the worker ended without a word"}


# ---- time limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "status"), [(2.0, "failed"), (2.89, "failed"), (2.91, "timeout"), (60.0, "timeout")])
def test_a_death_after_the_limit_is_a_timeout(clock, seconds, status):
    class Slow(Scripted):
        def die(self, number, reason):
            self.clock.now += seconds
            yield from super().die(number, reason)

    executor = Slow(deaths={"p0": ALWAYS}, clock=clock, seconds=0)
    (outcome,) = outcomes(Scheduler(executor, Limits(timeout_s=2.0), attempts=2), 1)
    assert outcome.status == status
    assert outcome.attempts == (1 if status == "timeout" else 2), "what is late is not tried again"
    assert outcome.error == ("time limit of 2.0 s passed, killed" if status == "timeout" else "the worker died: killed by p0")


def test_waiting_for_a_core_is_not_the_points_time(clock):
    class Waits(Scripted):
        def poll(self, wait_s):
            for number in list(self.running):
                self.clock.now += 100  # nothing was started yet
                yield number, Chunk(started=self.running[number][0].point)
                yield from self.die(number, "gone")

    (outcome,) = outcomes(Scheduler(Waits(clock=clock), Limits(timeout_s=2.0), attempts=1), 1)
    assert outcome.status == "failed"


def test_the_stack_of_a_killed_point_is_told(tmp_path):
    (tmp_path / "p0").write_text("  File x, line 3\n")
    executor = Scripted(deaths={"p0": ALWAYS, "p1": ALWAYS})
    found = by_point(outcomes(Scheduler(executor, Limits(stacks=str(tmp_path))), 2))
    assert (found["p0"].traceback, found["p1"].traceback) == ("File x, line 3", None)


@pytest.mark.parametrize(("timeout", "kills"), [(2.0, True), (None, False)])
def test_a_batch_that_outlives_its_alarm_is_ended_by_force(clock, timeout, kills):
    class Hangs(Scripted):
        def poll(self, wait_s):
            self.clock.now += 1
            for number in list(self.running):
                if self.killed or self.clock.now > 50:
                    yield from self.die(number, "killed")
                elif self.clock.now == 1:
                    yield number, Chunk(started="p0")

    executor = Hangs(clock=clock)
    (outcome,) = outcomes(Scheduler(executor, Limits(timeout_s=timeout), attempts=1), 1)
    assert bool(executor.killed) is kills
    assert outcome.status == ("timeout" if kills else "failed")


# ---- stopping ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 3])
def test_stopping_cancels_and_starts_nothing_more(slots):
    executor = Scripted(slots)
    seen = []
    scheduler = Scheduler(executor, Limits(), stopping=lambda: len(seen) >= 10)
    for chunk in scheduler.run(tasks(500)):
        seen += chunk.finished
        submitted = len(executor.sizes)
    assert 10 <= len(seen) < 20
    assert len(executor.sizes) == submitted
    assert executor.cancelled
    assert not scheduler.running


def test_stopped_before_it_began_it_runs_nothing():
    executor = Scripted()
    assert list(Scheduler(executor, Limits(), stopping=lambda: True).run(tasks(5))) == []
    assert executor.sizes == []


# ---- sizes -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "size"), [(10.0, 1), (0.6, 1), (0.01, 55), (0.002, 275), (1e-7, 20_000)])
def test_batches_come_to_fill_the_time_box(clock, seconds, size):
    class Whole(Scripted):
        def work(self, number, left, count):
            yield from super().work(number, left, len(left))

    executor = Whole(slots=1, clock=clock, seconds=seconds)
    outcomes(Scheduler(executor, Limits(box_s=0.5)), 200_000 if seconds < 1e-6 else 2000)
    assert max(executor.sizes[:2]) <= 4 * 64
    assert executor.sizes[len(executor.sizes) // 2] == pytest.approx(size, rel=0.02)
    assert max(executor.sizes[1:]) <= 20_000


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_the_last_points_are_shared_out_fairly(clock, slots):
    left = [300]

    class Watched(Scripted):
        def submit(self, number, batch):
            places = self.slots + (1 if self.slots > 1 else 0)
            assert len(batch) == 64 or len(batch) <= -(-left[0] // places)
            left[0] -= len(batch)
            super().submit(number, batch)

    executor = Watched(slots, clock=clock, seconds=0)
    outcomes(Scheduler(executor, Limits(), size=64), 300)
    assert left == [0]


def test_no_more_tasks_are_drawn_than_started(clock):
    drawn = []
    source = (drawn.append(task) or task for task in tasks(10_000))
    executor = Scripted(slots=2, clock=clock)
    next(Scheduler(executor, Limits()).run(source))
    assert len(drawn) == sum(executor.sizes) == 3 * 64, "two running, one behind them"


# ---- workers that are worn, and absence --------------------------------------------------------------------------------------


@dataclass
class Leaky(Scripted):
    """Each batch solves two points, hands the rest back and waits to be killed."""

    waiting: list = field(default_factory=list)

    def poll(self, wait_s):
        for number in list(self.running):
            if number in self.killed:
                yield from self.die(number, "killed")
            elif number not in self.waiting:
                self.waiting.append(number)
                done, rest = self.running[number][:2], self.running[number][2:]
                outcomes = tuple(Outcome(task.point, "done") for task in done)
                yield number, Chunk(finished=outcomes, handed_back=tuple(task.point for task in rest), worn=True)


def test_a_worn_worker_is_killed_and_nobody_charged():
    executor = Leaky()
    found = by_point(outcomes(Scheduler(executor, Limits(), attempts=1), 20))
    assert len(found) == 20
    assert {(outcome.status, outcome.attempts) for outcome in found.values()} == {("done", 1)}
    assert sorted(executor.killed) == sorted(executor.waiting)


@dataclass
class Silent(Scripted):
    """Says that a point has begun, then nothing, while the clock goes on in steps; after 20 looks the point is done."""

    step_s: float = 0.1
    looks: int = 0

    def poll(self, wait_s):
        self.looks += 1
        self.clock.now += self.step_s
        for number, left in list(self.running.items()):
            if not left:
                del self.running[number]
                yield number, Ended()
            elif self.looks == 1:
                yield number, Chunk(started=left[0].point)
            elif self.looks > 20:
                yield number, Chunk(finished=(Outcome(left.pop().point, "done"),))


@pytest.mark.parametrize(("step_s", "killed"), [(60.0, False), (2.0, True)])
def test_time_that_the_driver_was_away_makes_no_point_late(clock, step_s, killed):
    executor = Silent(slots=1, clock=clock, step_s=step_s)
    clock.now = 1.0
    assert len(outcomes(Scheduler(executor, Limits(timeout_s=1.0)), 1)) == 1
    assert bool(executor.killed) == killed
