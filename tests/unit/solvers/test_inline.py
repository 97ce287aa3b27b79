"""Solving in this process: who may meet, and a solver's one result, exactly as declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from minimex_fakes.games import Beads, Sequence
from minimex_fakes.solvers import FIRSTS, Trivial, Trouble, Walk, firsts

from solvers import make, solve
from solvers.contract import Checkpoint, Progress, Result
from solvers.errors import ContractError, ImpossiblePairing
from solvers.games.forced_rps import ForcedRps
from solvers.games.octal import Octal
from solvers.impartial.mex_dp import MexDp
from solvers.inline import InlineWorkers, conforming, last_result, refusal, start
from solvers.regret.regret_matching import RegretMatching

ROW = firsts([Sequence((1,))], [np.random.default_rng(0)])


@dataclass(frozen=True, slots=True)
class Says:
    """Yields what its class is told to (`saying`)."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = Sequence
    tables: ClassVar[dict[str, pa.Schema]] = {"firsts": FIRSTS}
    extent: ClassVar[str | None] = None
    events: ClassVar[tuple[Any, ...]] = ()

    refused: str | None = None

    def refuses(self, game: Any) -> str | None:
        return self.refused

    def solve(self, game: Any, *, resume: Any, workers: Any, rng: Any) -> Any:
        yield from self.events


def saying(*events):
    """Return a solver that yields these events."""
    return type("Says", (Says,), {"events": events})()


# ---- who may meet ------------------------------------------------------------------------------------------------------------


def test_those_of_one_form_may_meet():
    assert refusal(Octal("0.77"), MexDp()) is None


def test_another_form_is_refused_by_name():
    assert refusal(Octal("0.77"), RegretMatching()) == "RegretMatching takes a MatrixGame, Octal gives HeapGame"


def test_a_game_may_refuse():
    assert refusal(Beads(refused=True), Trivial()) == "this instance refuses on purpose"


def test_a_solver_may_refuse():
    assert refusal(Beads(), Says(refused="not these settings")) == "not these settings"


def test_a_setting_at_fault_is_named():
    reason = refusal(ForcedRps(), make(RegretMatching, opponent=[0.5, 0.5]))

    assert isinstance(reason, ImpossiblePairing)
    assert reason.path == "solver.opponent"
    with pytest.raises(ImpossiblePairing, match=r"solver\.opponent: expected a list of 3"):
        solve(ForcedRps(), make(RegretMatching, opponent=[0.5, 0.5]))


def test_the_game_is_asked_first():
    assert refusal(Beads(refused=True), Says(refused="not these settings")) == "this instance refuses on purpose"


def test_no_form_is_built_to_say_so():
    class Lazy(Beads):
        def form(self, kind):
            pytest.fail("a form was built")

    assert refusal(Lazy(), Trivial()) is None


@pytest.mark.parametrize(("game", "solver"), [(Octal("0.77"), RegretMatching()), (Beads(refused=True), Trivial())])
def test_solve_refuses_what_cannot_meet(game, solver):
    with pytest.raises(ImpossiblePairing, match="solver: expected one that takes this game, got"):
        solve(game, solver)


# ---- one result --------------------------------------------------------------------------------------------------------------


def test_the_result_is_returned_and_the_rest_passed_over():
    result = Result({"firsts": ROW}, {"m": 1.0}, complete=False)
    found = solve(Beads(), saying(Progress(1), Checkpoint(1, {}), result))
    assert found.tables["firsts"].equals(ROW)
    assert (found.metrics, found.complete) == ({"m": 1.0}, False)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ((), "Says yielded no results, wanted exactly one"),
        ((Progress(1),), "Says yielded no results, wanted exactly one"),
        ((Result({"firsts": ROW}),) * 2, "Says yielded 2 results, wanted exactly one"),
        ((Result({}),), r"Says declares tables \['firsts'\], delivered \[\]"),
        ((Result({"firsts": ROW, "more": ROW}),), r"Says declares tables \['firsts'\], delivered \['firsts', 'more'\]"),
        ((Result({"firsts": ROW.drop_columns(["noise"])}),), "table 'firsts' was declared as"),
    ],
    ids=["nothing", "no result", "two", "no table", "a table too many", "another schema"],
)
def test_broken_contracts_are_said(events, said):
    with pytest.raises(ContractError, match=said):
        solve(Beads(), saying(*events))


def test_what_a_solver_raises_comes_through():
    with pytest.raises(ArithmeticError, match="raised on purpose"):
        solve(make(Beads, values=["1"]), Trouble("raise", (1,)))


def test_a_batch_has_its_index_in_front():
    index = pa.field("batch_index", pa.int32())
    table = ROW.add_column(0, index, pa.array([0], pa.int32()))
    found = conforming(Result({"firsts": table}), Trivial(), (index,)).tables["firsts"]
    assert found.schema.names == ["batch_index", *FIRSTS.names]
    with pytest.raises(ContractError, match="but came as"):
        conforming(Result({"firsts": ROW}), Trivial(), (index,))


# ---- random numbers and workers ----------------------------------------------------------------------------------------------


def test_seeds_differ_and_repeat():
    noise = [solve(Beads(), Trivial(), seed).tables["firsts"]["noise"][0].as_py() for seed in (0, 0, 1)]
    assert noise[0] == noise[1] != noise[2]


def test_a_resume_brings_its_own_generator():
    steps = start(Sequence((1,)), Walk(20), "00", InlineWorkers(), (None, np.random.default_rng(5)))
    other = start(Sequence((1,)), Walk(20), "ff", InlineWorkers(), (None, np.random.default_rng(5)))
    assert last_result(steps, Walk(20)).tables["sums"]["noise"] == last_result(other, Walk(20)).tables["sums"]["noise"]


def test_inline_workers_are_lazy_and_in_order():
    taken = []
    results = InlineWorkers().map(lambda item: item * 2, (taken.append(item) or item for item in range(5)))
    assert next(results) == 0
    assert taken == [0]
    assert list(results) == [2, 4, 6, 8]


def test_a_shared_value_is_the_value():
    value = object()
    shared = InlineWorkers().share(value)
    assert shared.get() is value
    shared.release()
