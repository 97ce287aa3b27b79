"""The first iterations of counterfactual regret minimisation in full, so that the method can be followed step by step.

What is noted is what the run itself computes: it is stopped after each of the first iterations, and nothing of it changes. A row's
`regret` follows from that of the iteration before, its `instant_regret` from the strategies of the iteration before (`strategy`
there, uniform before the first).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from solvers.regret.tree_play import TreePlay
from solvers.regret.treeplex import Floats, Treeplex, earn, plan_of
from solvers.schema import TableInfo, column, table_schema

TRACED = 50
"""So many iterations are noted."""
MOST_ENDS = 1_000
"""Of games that end in at most so many ways."""

REGRETS = table_schema(
    [
        column("iteration", pa.int64(), "iterations done, from 1; the first 50 are noted"),
        column("player", pa.int8(), "1 or 2: whose set it is"),
        column("infoset", pa.string(), "what the player knows there"),
        column("action", pa.string()),
        column(
            "instant_regret",
            pa.float64(),
            "what the action would have earned in this iteration beyond what the strategy earned, times how likely chance and the "
            "opponent lead to the set",
        ),
        column("regret", pa.float64(), "the sum of instant regrets as the variant keeps it: discounted, or never below 0"),
        column("strategy", pa.float64(), "how likely the action is in the next iteration, as its regrets say"),
        column("alpha", pa.float64(), "positive regrets were multiplied by t^alpha / (t^alpha + 1); null: by 1"),
        column("beta", pa.float64(), "negative regrets were multiplied by t^beta / (t^beta + 1); null: by 1"),
        column("floor", pa.bool_(), "whether negative regrets became 0"),
        column("predictive", pa.bool_(), "whether the strategy counts the instant regret once more"),
        column("alternating", pa.bool_(), "whether player 2 learnt against player 1's newest strategy"),
    ],
    TableInfo(
        check="solvers.regret.check.trace:check_regrets",
        claims="recomputed",
        headline="none",
        columns=("iteration", "player", "infoset", "action", "instant_regret", "regret", "strategy"),
        about=(
            "The first iterations in full (with solver.trace=true): after each, every action's regrets and the strategy that "
            "follows from them. Claimed is the method itself: beginning with uniform strategies, rows follow from those of the "
            "iteration before by a walk through the tree, with the settings in its last columns."
        ),
    ),
)


def room_for(plexes: tuple[Treeplex, Treeplex]) -> dict[str, NDArray[Any]]:
    """Return what a traced run keeps: `[TRACED, 3, S]` of each player: instant regret, regret, strategy after each iteration."""
    return {f"trace{player}": np.zeros((TRACED, 3, int(plex.first[-1]))) for player, plex in enumerate(plexes)}


def advance_traced(play: TreePlay, steps: int, advance: Callable[[int, int], None], *, alternating: bool) -> None:
    """Do `steps` iterations by `advance(done, steps)`, one at a time as long as they are noted."""
    done, last = play.done, play.done + steps
    while done < min(last, TRACED):
        before = [state[2].copy() for state in play.state]
        advance(done, 1)
        met = (before[1], play.state[0][2] if alternating else before[0])
        for player, (plex, state) in enumerate(zip(play.plexes, play.state, strict=True)):
            noted = play.kept[f"trace{player}"][done]
            _instant_regrets(plex, before[player], play.plexes[1 - player], met[player], noted[0])
            noted[1:] = state[[0, 2]]
        done += 1
    if done < last:
        advance(done, last - done)


def regrets_of(play: TreePlay, settings: dict[str, float | bool | None]) -> pa.Table:
    """Return the table of what was noted; empty if nothing was."""
    if not play.kept:
        return REGRETS.empty_table()
    tree, count = play.game, min(play.done, TRACED)
    numbers = np.empty((count, 3, tree.slots))
    for player in (1, 2):
        numbers[:, :, tree.slot_player == player] = play.kept[f"trace{player - 1}"][:count, :, 1:]
    names = np.repeat(np.array(tree.infoset_names, dtype=object), np.diff(tree.first_slot))
    rows = count * tree.slots
    columns = {
        "iteration": np.repeat(np.arange(1, count + 1), tree.slots),
        "player": np.tile(tree.slot_player, count),
        "infoset": np.tile(names, count),
        "action": [action for actions in tree.actions for action in actions] * count,
        "instant_regret": numbers[:, 0].reshape(-1),
        "regret": numbers[:, 1].reshape(-1),
        "strategy": numbers[:, 2].reshape(-1),
        **{name: [value] * rows for name, value in settings.items()},
    }
    return pa.table(columns, schema=REGRETS)


@njit(cache=True)
def _instant_regrets(plex: Treeplex, sigma: Floats, other: Treeplex, theirs: Floats, out: Floats) -> None:
    """Write what each sequence would have earned beyond sigma, against the opponent's sigma; entry 0 is 0."""
    plan = np.empty(len(theirs))
    plan_of(other, theirs, plan)
    earn(plex, plan, out)
    for h in range(len(plex.before) - 1, -1, -1):
        mean = 0.0
        for s in range(plex.first[h], plex.first[h + 1]):
            mean += sigma[s] * out[s]
        out[plex.before[h]] += mean
        for s in range(plex.first[h], plex.first[h + 1]):
            out[s] -= mean
    out[0] = 0.0
