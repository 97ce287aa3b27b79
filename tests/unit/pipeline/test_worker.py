"""One batch of points, inline: the time box, groups, checkpoints, what points raise, and the rows that leave."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from minimex_fakes.games import Beads, Sequence
from minimex_fakes.solvers import FIRSTS, Trivial, Trouble, Walk, firsts

from pipeline import worker as worker_module
from pipeline.checkpoints import unpack
from pipeline.events import Limits, Task
from pipeline.worker import run_batch
from solvers.contract import Checkpoint, Progress, Result, Stop
from solvers.errors import InfeasibleGame
from solvers.identity import lineage
from solvers.inline import InlineWorkers, solve

LAZY = Limits(box_s=60)
EAGER = Limits(box_s=60, checkpoint_s=0)


@dataclass(frozen=True, slots=True)
class Says:
    """Yields what its class is told to (`saying`)."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[dict[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None
    events: ClassVar[Any] = ()

    def solve(self, game: Any, *, resume: Any, workers: Any, rng: Any) -> Any:
        yield from type(self).events


def saying(*events):
    """Return a solver that yields these events."""
    return type("Says", (Says,), {"events": events})()


def game(*values):
    return Beads(tuple(map(Fraction, values)))


def tasks(solver, *games, seed=0):
    return [Task(f"{number:032x}", one, solver, lineage(one, solver, seed)) for number, one in enumerate(games)]


def run(batch, limits=LAZY):
    return list(run_batch(batch, limits, InlineWorkers()))


def outcomes(chunks):
    return [outcome for chunk in chunks for outcome in chunk.finished]


def rows(chunks, name="firsts"):
    found = [chunk.tables[name] for chunk in chunks if name in chunk.tables]
    return pa.concat_tables(found).to_pylist() if found else []


RESULT = Result({"firsts": firsts([Sequence((Fraction(1),))], [np.random.default_rng(0)])})
NO_ROWS = Result({"firsts": FIRSTS.empty_table()})


# ---- the time box ------------------------------------------------------------------------------------------------------------


def test_small_points_leave_in_one_chunk():
    (chunk,) = run(tasks(Trouble(), *(game(number) for number in range(50))))
    assert [outcome.point for outcome in chunk.finished] == [f"{number:032x}" for number in range(50)]
    assert chunk.handed_back == ()


def test_after_its_time_a_batch_hands_the_rest_back():
    batch = tasks(Trouble(pause_s=0.03), *(game(number) for number in range(10)))
    chunks = run(batch, Limits(box_s=0.05))
    done = [outcome.point for outcome in outcomes(chunks)]
    back = [point for chunk in chunks for point in chunk.handed_back]
    assert done + back == [task.point for task in batch]
    assert 2 <= len(done) <= 4


def test_the_first_point_runs_however_small_the_box():
    chunks = run(tasks(Trouble(), game(1), game(2)), Limits(box_s=0))
    assert len(outcomes(chunks)) == 1
    assert chunks[-1].handed_back == (f"{1:032x}",)


def test_with_a_time_limit_the_start_is_said_at_once():
    batch = run_batch(tasks(Trouble(), game(1)), Limits(timeout_s=60), InlineWorkers())
    first = next(batch)
    assert (first.started, first.finished) == (f"{0:032x}", ())
    assert len(outcomes(list(batch))) == 1


def test_what_takes_long_leaves_meanwhile(monkeypatch):
    monkeypatch.setattr(worker_module, "_FLUSH_S", 0.0)
    chunks = run(tasks(Walk(50), game(1)), EAGER)
    assert [step.done for chunk in chunks for step in chunk.advanced] == [10, 20, 30, 40, 50]
    assert max(len(chunk.advanced) + len(chunk.saved) for chunk in chunks) == 1
    assert len(outcomes(chunks)) == 1


def test_large_tables_leave_before_the_end(monkeypatch):
    monkeypatch.setattr(worker_module, "_FLUSH_BYTES", 1)
    chunks = run(tasks(Trouble(), game(1), game(2)))
    assert [len(chunk.finished) for chunk in chunks if chunk.finished] == [1, 1]


# ---- groups ------------------------------------------------------------------------------------------------------------------


class Batched(Trivial):
    """Notes how it is called; `spoil` may change the batch's result."""

    calls: ClassVar[Counter[str]] = Counter()
    spoil: ClassVar[Any] = staticmethod(lambda result: result)

    def solve(self, game, **options):
        self.calls["solve"] += 1
        return super().solve(game, **options)

    def solve_batch(self, games, rngs):
        self.calls[f"batch of {len(games)}"] += 1
        return type(self).spoil(super().solve_batch(games, rngs))


@pytest.fixture
def batched():
    """Return a function that makes such a solver."""

    def make(spoil=lambda result: result):
        return type("Batched", (Batched,), {"calls": Counter(), "spoil": staticmethod(spoil)})()

    return make


def alone(batch):
    return [row for task in batch for row in solve(task.game, task.solver).tables["firsts"].to_pylist()]


def bare(found):
    return [{name: value for name, value in row.items() if name != "point"} for row in found]


def test_neighbours_are_solved_together(batched):
    solver = batched()
    batch = tasks(solver, *(game(number) for number in range(5)))
    chunks = run(batch)
    assert solver.calls == {"batch of 5": 1}
    assert [row["point"] for row in rows(chunks)] == [task.point for task in batch]
    assert [row["first"] for row in rows(chunks)] == ["0", "1", "2", "3", "4"]
    assert [(one.status, dict(one.rows)) for one in outcomes(chunks)] == [("done", {"firsts": 1})] * 5


def test_together_gives_what_alone_gives():
    batch = tasks(Trivial(), *(game(number) for number in range(5)))
    assert bare(rows(run(batch))) == alone(batch)


def test_groups_are_of_one_solver_and_not_too_large(batched, monkeypatch):
    monkeypatch.setattr(worker_module, "_GROUP", 3)
    one, other = batched(), batched()
    run([*tasks(one, *(game(number) for number in range(7))), *tasks(other, game(1), game(2))])
    assert one.calls == {"batch of 3": 2, "solve": 1}
    assert other.calls == {"batch of 2": 1}


def test_under_a_time_limit_every_point_answers_for_itself(batched):
    solver = batched()
    run(tasks(solver, game(1), game(2)), Limits(timeout_s=60))
    assert solver.calls == {"solve": 2}


def test_where_every_checkpoint_is_wanted_points_that_have_some_stand_alone(batched):
    told = {"__annotations__": {"steps": int}, "steps": 1, "extent": "steps", "calls": Counter()}
    plain, going_on = batched(), dataclass(frozen=True)(type("GoingOn", (Batched,), told))()
    for solver in (plain, going_on):
        run(tasks(solver, game(1), game(2)), EAGER)
    run(tasks(going_on, game(1), game(2)), LAZY)
    assert plain.calls == {"batch of 2": 1}
    assert going_on.calls == {"solve": 2, "batch of 2": 1}


def indexed(*indices, kind=None):
    def spoil(result):
        table = result.tables["firsts"]
        wrong = pa.array(indices, kind or pa.int32())
        return Result({"firsts": table.set_column(0, pa.field("batch_index", wrong.type), wrong)}, {}, result.complete)

    return spoil


def boom(result):
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize(
    "spoil",
    [
        boom,
        indexed(0, 1, 3),
        indexed(-1, 0, 1),
        indexed(1, 0, 2),
        indexed(0, None, 2),
        indexed(0, 1, 2, kind=pa.int64()),
        lambda result: Result({"firsts": result.tables["firsts"].drop_columns(["batch_index"])}),
        lambda result: Result(result.tables, {}, np.ones(2, dtype=bool)),
        lambda result: Result(result.tables, {"m": [1.0, 2.0]}),
        lambda result: Result({}),
        lambda result: None,
    ],
    ids=["raises", "too large", "negative", "falls", "null", "int64", "no index", "complete", "metrics", "no table", "nothing"],
)
def test_a_bad_batch_falls_back_to_one_by_one(batched, spoil):
    solver = batched(spoil)
    batch = tasks(solver, game(3), game(4), game(5))
    chunks = run(batch)
    assert solver.calls == {"batch of 3": 1, "solve": 3}
    assert bare(rows(chunks)) == alone(batch)
    assert [(one.status, one.point) for one in outcomes(chunks)] == [("done", task.point) for task in batch]


def test_a_game_that_has_no_form_does_not_spoil_its_neighbours(batched):
    class Formless(Beads):
        def form(self, kind):
            raise InfeasibleGame("no form")

    chunks = run(tasks(batched(), game(1), Formless((Fraction(2),)), game(3)))
    assert [(one.status, one.error) for one in outcomes(chunks)] == [
        ("done", None),
        ("failed", "InfeasibleGame: no form"),
        ("done", None),
    ]


def test_metrics_and_completeness_of_a_batch_go_to_their_points(batched):
    def spoil(result):
        return Result(result.tables, {"m": np.array([1.0, 2.0])}, np.array([True, False]))

    found = outcomes(run(tasks(batched(spoil), game(1), game(2))))
    assert [(one.status, one.metrics) for one in found] == [("done", {"m": 1.0}), ("incomplete", {"m": 2.0})]


def test_points_without_rows_in_a_batch_are_done(batched):
    def spoil(result):
        return Result({"firsts": result.tables["firsts"].slice(1, 1)}, {}, result.complete)

    chunks = run(tasks(batched(spoil), game(1), game(2), game(3)))
    assert [dict(one.rows) for one in outcomes(chunks)] == [{"firsts": 0}, {"firsts": 1}, {"firsts": 0}]
    assert [row["point"] for row in rows(chunks)] == [f"{1:032x}"]


# ---- what points raise -------------------------------------------------------------------------------------------------------


def test_a_bad_point_is_a_row_and_the_rest_go_on():
    chunks = run(tasks(Trouble("raise", (2,)), game(1), game(2), game(3)))
    first, bad, last = outcomes(chunks)
    assert (bad.status, bad.error, bad.rows) == ("failed", "ArithmeticError: raised on purpose", {})
    assert "in _fail" in bad.traceback
    assert (first.status, last.status) == ("done", "done")
    assert [row["first"] for row in rows(chunks)] == ["1", "3"]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ((), "ContractError: Says ended without a result"),
        ((RESULT, Progress(1)), "ContractError: Says went on after its result"),
        ((RESULT, RESULT), "ContractError: Says went on after its result"),
        ((3, RESULT), "ContractError: Says yielded a int"),
        ((Result({}),), "ContractError: Says declares tables ['firsts'], delivered []"),
        ((Progress(1, None, {"m": "x"}), RESULT), "ValueError: could not convert"),
        ((Progress(1.5), RESULT), "TypeError: 'float' object cannot be interpreted as an integer"),
        ((Progress(1, "many"), RESULT), "TypeError: 'str' object cannot be interpreted as an integer"),
        ((Checkpoint("x", {}), RESULT), "TypeError: 'str' object cannot be interpreted as an integer"),
        ((Checkpoint(1, {"x": np.array([{}])}), RESULT), "ValueError: Object arrays cannot be saved"),
        ((Result(RESULT.tables, {"m": None}),), "TypeError: float() argument"),
        ((Result(RESULT.tables, {"m": [1.0, 2.0]}),), "TypeError: float() argument"),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else value,
)
def test_broken_contracts_are_rows_too(events, said):
    batch = [*tasks(saying(*events), game(1)), Task("f" * 32, game(7), Trivial(), lineage(game(7), Trivial(), 0))]
    chunks = run(batch, EAGER)
    bad, good = outcomes(chunks)
    assert bad.status == "failed"
    assert said in bad.error
    assert good.status == "done"
    assert [row["point"] for row in rows(chunks)] == ["f" * 32]


def test_running_out_of_memory_is_said_in_words():
    class Hungry(Says):
        def solve(self, game, **options):
            raise MemoryError

    (bad,) = outcomes(run(tasks(Hungry(), game(1))))
    assert (bad.status, bad.error) == ("failed", "out of memory")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_who_ends_the_process_ends_the_batch(error):
    class Ends(Says):
        def solve(self, game, **options):
            raise error

    with pytest.raises(error):
        run(tasks(Ends(), game(1)))


# ---- stopping ----------------------------------------------------------------------------------------------------------------


def test_a_late_solver_that_has_something_is_incomplete():
    chunks = run(tasks(Walk(1000, 0.01), game(1)), Limits(timeout_s=0.1))
    (outcome,) = outcomes(chunks)
    assert (outcome.status, outcome.error) == ("incomplete", "a limit was reached")
    assert 0 < outcome.rows["sums"] < 100
    assert len(rows(chunks, "sums")) == outcome.rows["sums"]


def late(*, catches):
    class Late(Says):
        def solve(self, game, **options):
            try:
                while True:
                    time.sleep(0.01)
                    yield Progress(1)
            except Stop:
                yield from catches

    return Late()


def test_a_late_solver_that_has_nothing_is_a_timeout():
    class Late(Says):
        def solve(self, game, **options):
            while True:
                time.sleep(0.01)
                yield Progress(1)

    (outcome,) = outcomes(run(tasks(Late(), game(1)), Limits(timeout_s=0.03)))
    assert (outcome.status, outcome.error) == ("timeout", "time limit of 0.03 s reached")


def test_a_stopped_solver_may_take_its_leave():
    result = Result(NO_ROWS.tables, {}, complete=False)
    (outcome,) = outcomes(run(tasks(late(catches=[Progress(2), Checkpoint(2, {}), result]), game(1)), Limits(timeout_s=0.03)))
    assert outcome.status == "incomplete"


def test_a_stopped_solver_that_ends_without_a_word_broke_the_contract():
    (outcome,) = outcomes(run(tasks(late(catches=[]), game(1)), Limits(timeout_s=0.03)))
    assert (outcome.status, outcome.error) == ("failed", "ContractError: Late ended without a result")


def test_a_limit_leaves_no_alarm_behind():
    import signal

    before = signal.getsignal(signal.SIGALRM)
    run(tasks(Trouble("raise", (1,)), game(1), game(2)), Limits(timeout_s=60))
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before


# ---- checkpoints -------------------------------------------------------------------------------------------------------------


def comparable(found):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in found]


def test_every_checkpoint_leads_to_the_same_rows():
    (task,) = tasks(Walk(50), game(1, 2, 3))
    chunks = run([task], EAGER)
    whole = comparable(rows(chunks, "sums"))
    saved = [one for chunk in chunks for one in chunk.saved]
    assert [one.step for one in saved] == [10, 20, 30, 40, 50]
    for one in saved:
        again = run([task._replace(resume=one.content)], EAGER)
        assert comparable(rows(again, "sums")) == whole
        assert [step.done for chunk in again for step in chunk.advanced] == list(range(one.step + 10, 60, 10))


def test_a_checkpoint_is_a_copy_of_live_buffers():
    (task,) = tasks(Walk(50), game(1))
    saved = [one for chunk in run([task], EAGER) for one in chunk.saved]
    assert [len(unpack(one.content)[0].arrays["noises"]) for one in saved] == [1, 2, 3, 4, 5]
    assert np.all(unpack(saved[0].content)[0].arrays["noises"] == unpack(saved[-1].content)[0].arrays["noises"][:1])


def test_a_damaged_checkpoint_fails_its_point_only():
    first, second = tasks(Walk(20), game(1), game(2))
    found = outcomes(run([first._replace(resume=b"nonsense"), second]))
    assert [one.status for one in found] == ["failed", "done"]
    assert found[0].error.startswith("ValueError: damaged checkpoint")


def test_checkpoints_are_kept_only_where_much_would_be_lost():
    chunks = run(tasks(Walk(50, 0.02), game(1)), Limits(box_s=60, checkpoint_s=0.05))
    steps = [one.step for chunk in chunks for one in chunk.saved]
    assert 0 < len(steps) < 4
    assert steps[-1] == 50, "the last one, from which a larger extent goes on"
    assert run(tasks(Walk(50), game(1)), LAZY)[0].saved == ()


# ---- what leaves -------------------------------------------------------------------------------------------------------------


def test_progress_is_stamped_with_the_seconds_of_its_point():
    chunks = run(tasks(Walk(30, 0.01), game(1), game(2)))
    steps = [step for chunk in chunks for step in chunk.advanced]
    assert [(step.point, step.done, step.total) for step in steps] == [
        (f"{n:032x}", done, 30) for n in (0, 1) for done in (10, 20, 30)
    ]
    for mine in (steps[:3], steps[3:]):
        times = [step.elapsed_s for step in mine]
        assert times == sorted(times)
        assert 0.01 <= times[0] < times[-1] < 0.5
    assert dict(steps[0].metrics) == {"total": 10.0}


def test_outcomes_say_what_was_delivered():
    (outcome,) = outcomes(run(tasks(Walk(30), game("1/2"))))
    assert (outcome.status, outcome.error, outcome.traceback, outcome.attempts) == ("done", None, None, 1)
    assert (dict(outcome.rows), dict(outcome.metrics)) == ({"sums": 3}, {"total": 15.0})
    assert outcome.wall_s > 0
    assert outcome.node


def test_rows_stand_in_front_of_their_points_with_the_declared_schema():
    chunks = run(tasks(Walk(20), game(1), game(2)))
    table = chunks[0].tables["sums"]
    assert table.schema.names == ["point", *Walk.tables["sums"].names]
    assert table.schema.metadata == Walk.tables["sums"].metadata
    assert [row["point"] for row in table.to_pylist()] == [f"{n:032x}" for n in (0, 0, 1, 1)]


def test_a_table_without_rows_is_still_counted():
    chunks = run(tasks(saying(NO_ROWS), game(1)))
    assert dict(outcomes(chunks)[0].rows) == {"firsts": 0}
    assert rows(chunks) == []


def test_metrics_that_are_not_finite_do_not_stop_anybody():
    numbers = {"nan": math.nan, "inf": math.inf, "fine": np.float64(2)}
    chunks = run(tasks(saying(Progress(1, None, numbers), Result(RESULT.tables, numbers)), game(1)))
    (outcome,) = outcomes(chunks)
    assert outcome.status == "done"
    assert math.isnan(outcome.metrics["nan"])
    assert chunks[0].advanced[0].metrics["inf"] == math.inf


def test_a_form_is_built_once_for_all_solvers_and_seeds():
    built = []

    class Counted(Beads):
        def form(self, kind):
            built.append(self)
            return super().form(kind)

    one = Counted((Fraction(77),))
    run(
        [
            Task(f"{seed:032x}", one, solver, lineage(one, solver, seed))
            for seed in range(3)
            for solver in (Walk(10), Walk(20), Trouble())
        ]
    )
    assert len(built) == 1


# ---- a worker that is worn ---------------------------------------------------------------------------------------------------


@pytest.fixture
def holding(monkeypatch):
    """Let the process hold what a test says, point by point, in GB; the list grows shorter with every look."""
    held = []
    monkeypatch.setattr(worker_module, "_held_bytes", lambda: int(held[0] if len(held) == 1 else held.pop(0)) << 30)
    monkeypatch.setattr(worker_module, "_DOOMED_S", 0)
    worker_module._held_at_first.cache_clear()
    yield held
    worker_module._held_at_first.cache_clear()


ROOMY = Limits(box_s=60, memory_gb=2, timeout_s=60)


def test_a_worker_that_goes_on_holding_too_much_hands_the_rest_back(holding):
    holding += [1, 3, 4, 4]  # at first; after two points; the third is one too many, and stays so
    chunks = run(tasks(Trivial(), *map(game, range(1, 6))), ROOMY)
    assert [chunk.worn for chunk in chunks] == [False, True]
    assert [outcome.status for outcome in chunks[-1].finished] == ["done"] * 2
    assert [int(point, 16) for point in chunks[-1].handed_back] == [2, 3, 4]


def test_what_can_be_given_back_is_given_back_first(holding):
    holding += [1, 4, 2]  # too much at first sight, not after its own caches are gone
    chunks = run(tasks(Trivial(), *map(game, range(1, 4))), ROOMY)
    assert not any(chunk.worn for chunk in chunks)


def test_a_worker_worn_by_its_last_point_says_so(holding):
    holding += [1, 9]
    chunks = run(tasks(Trivial(), game(1)), ROOMY)
    assert (chunks[-1].worn, chunks[-1].handed_back) == (True, ())


def test_without_a_memory_limit_nobody_looks(monkeypatch):
    monkeypatch.setattr(worker_module, "_held_bytes", lambda: 1 / 0)
    assert not any(chunk.worn for chunk in run(tasks(Trivial(), game(1))))
