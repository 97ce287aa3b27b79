"""A run of self-play on a game tree: what is recorded of it, whatever the method, and the table of its last average strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Result
from solvers.forms import GameTree, sequence_form
from solvers.regret.curves import CURVE, MEASURES, Floats, rates, stakes
from solvers.regret.treeplex import Treeplex, average_of, gain_of, plan_of, treeplexes, uniform
from solvers.schema import TableInfo, column, table_schema

_WORK_PER_CALL = 100_000_000  # pairs and slots looked at between two chances to stop: some tenths of a second

STRATEGIES = table_schema(
    [
        column("player", pa.int8(), "1 or 2"),
        column("infoset", pa.string(), "what the player knows there"),
        column("action", pa.string()),
        column("probability", pa.string(), "exact; null where only the float is known"),
        column("probability_float", pa.float64()),
    ],
    TableInfo(
        check="solvers.regret.check:check_strategies",
        claims="recomputed",
        headline="none",
        drawing="solvers.regret.draw_tree:draw_tree",
        about="The strategies that a solve ends with: how likely each action is at each information set of both players.",
    ),
)


@dataclass(slots=True)
class _Row:
    """A recorded iteration: sigmas of both players, last and average, without sequence 0; measures `[2, 4]`."""

    iteration: int
    profiles: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    measures: Floats


@dataclass(slots=True)
class TreePlay:
    """A run: both players' arrays, their states after `done` iterations, the rows recorded so far.

    A state is `[3, S]`: regrets, sums of plans, the sigma to be played next (which methods that need none leave alone). `played` is
    what was played in the last iteration. `step(play, count)` does iterations in place.

    `kept` is what else a method remembers, by name: part of checkpoints, changed in place. `work` is what an iteration costs, about
    a nanosecond each; None: that of a method which passes over all payments. `further` makes the tables that only one method has.
    """

    game: GameTree
    gamma: float | None
    step: Callable[[TreePlay, int], None]
    kept: dict[str, NDArray[Any]] = field(default_factory=dict)
    work: int | None = None
    further: Callable[[TreePlay], Mapping[str, pa.Table]] = field(default=lambda _: {})
    plexes: tuple[Treeplex, Treeplex] = field(init=False)
    state: tuple[Floats, Floats] = field(init=False)
    played: tuple[Floats, Floats] = field(init=False)
    done: int = 0
    recorded: list[_Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plexes = treeplexes(sequence_form(self.game))
        flat = [uniform(plex) for plex in self.plexes]
        one, two = (np.stack([np.zeros_like(sigma), np.zeros_like(sigma), sigma]) for sigma in flat)
        self.state = (one, two)
        self.played = (flat[0].copy(), flat[1].copy())

    @property
    def most_steps(self) -> int:
        """How many iterations one call may do."""
        work = self.work
        if work is None:
            work = sum(len(plex.payments) + 8 * len(state[0]) for plex, state in zip(self.plexes, self.state, strict=True))
        return max(1, _WORK_PER_CALL // max(1, work))

    @property
    def is_recorded(self) -> bool:
        return bool(self.recorded) and self.recorded[-1].iteration == self.done

    @property
    def exploitability(self) -> float:
        """That of the average strategies recorded last."""
        return float(self.recorded[-1].measures[1, 0])

    def advance(self, steps: int) -> None:
        self.step(self, steps)
        self.done += steps

    def record(self) -> None:
        averages = tuple(np.empty_like(state[1]) for state in self.state)
        for plex, state, average in zip(self.plexes, self.state, averages, strict=True):
            average_of(plex, state[1], average)
        profiles = ((self.played[0], self.played[1]), (averages[0], averages[1]))
        measures = np.array([measure(self.plexes, profile) for profile in profiles])
        kept = tuple((x[1:].copy(), y[1:].copy()) for x, y in profiles)
        self.recorded.append(_Row(self.done, (kept[0], kept[1]), measures))

    def checkpoint(self) -> Checkpoint:
        rows = self.recorded
        arrays = {
            "iterations": np.array([row.iteration for row in rows], dtype=np.int64),
            "measures": np.array([row.measures for row in rows]).reshape(-1, 2, len(MEASURES)),
            **self.kept,
        }
        for player, state in enumerate(self.state):
            profiles = [[profile[player] for profile in row.profiles] for row in rows]
            arrays[f"state{player}"] = state
            arrays[f"profiles{player}"] = np.array(profiles).reshape(len(rows), 2, state.shape[1] - 1)
        return Checkpoint(self.done, arrays)

    def load(self, saved: Checkpoint) -> None:
        arrays = saved.arrays
        self.done = saved.step
        self.state = (arrays["state0"].copy(), arrays["state1"].copy())
        self.kept = {name: arrays[name].copy() for name in self.kept}
        rows = zip(arrays["iterations"], arrays["profiles0"].copy(), arrays["profiles1"].copy(), arrays["measures"], strict=True)
        self.recorded = [_Row(int(iteration), ((x[0], y[0]), (x[1], y[1])), measures.copy()) for iteration, x, y, measures in rows]

    def result(self, *, complete: bool) -> Result:
        measures = np.array([row.measures for row in self.recorded]).reshape(-1, len(MEASURES))
        profiles = [profile for row in self.recorded for profile in row.profiles]
        columns = {
            "iteration": [row.iteration for row in self.recorded for _ in row.profiles],
            "iterate": ["last", "average"] * len(self.recorded),
            **{name: measures[:, index] for index, name in enumerate(MEASURES)},
            **stakes(measures[:, 0], self.game.ante),
            "gamma": [self.gamma] * len(profiles),
            "x": [profile[0] for profile in profiles],
            "y": [profile[1] for profile in profiles],
        }
        iterations = np.array([row.iteration for row in self.recorded], np.int64)
        slopes = rates(iterations, measures[:, 0].reshape(-1, 1, 2))
        tables = {
            "curve": pa.table(columns, schema=CURVE),
            "rates": slopes,
            "strategies": self._strategies(),
            **self.further(self),
        }
        metrics = {"exploitability": self.exploitability, "iterations": float(self.done)} if self.recorded else {}
        return Result(tables, metrics, complete)

    def _strategies(self) -> pa.Table:
        if not self.recorded:
            return STRATEGIES.empty_table()
        tree = self.game
        _, average = self.recorded[-1].profiles
        probabilities = np.empty(tree.slots)
        for player, sigma in enumerate(average):
            probabilities[tree.slot_player == player + 1] = sigma
        sizes = np.diff(tree.first_slot)
        names = np.repeat(np.array(tree.infoset_names, dtype=object), sizes)
        columns = {
            "player": tree.slot_player,
            "infoset": names,
            "action": [action for actions in tree.actions for action in actions],
            "probability": [None] * tree.slots,
            "probability_float": probabilities,
        }
        return pa.table(columns, schema=STRATEGIES)


def measure(plexes: tuple[Treeplex, Treeplex], profile: tuple[Floats, Floats]) -> tuple[float, float, float, float]:
    """Return exploitability, gain_p1, gain_p2, value_p1 of two sigmas."""
    (one, two), (x, y) = plexes, profile
    plans = np.empty(len(x)), np.empty(len(y))
    plan_of(one, x, plans[0])
    plan_of(two, y, plans[1])
    gain_p1, value = gain_of(one, x, plans[1])
    gain_p2, _ = gain_of(two, y, plans[0])
    return (gain_p1 + gain_p2) / 2, gain_p1, gain_p2, value
