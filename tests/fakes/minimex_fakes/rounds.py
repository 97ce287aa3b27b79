"""Functions that adaptive sweeps name: walks of twice as many steps until a sum is reached, and what goes wrong with such functions."""

from __future__ import annotations

import json
import os
import signal
import time
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from solvers.contract import summarises
from solvers.schema import TableInfo, column, table_schema

LONGEST = table_schema(
    [column("seed", pa.int64()), column("steps", pa.int64(), "of the longest walk"), column("total", pa.string(), "where it ends")],
    TableInfo(about="Where walks end"),
)


def seeds(*, count=3):
    return [{"seed": list(range(count)), "solver.steps": 10}]


def _ends(points, tables):
    """Return by seed the longest walk's steps and its total."""
    totals = dict(zip(tables["sums"]["point"].to_pylist(), tables["sums"]["total"].to_pylist(), strict=True))  # the last one stays
    found = {}
    for one in points.select(["point", "seed", "solver.steps"]).to_pylist():
        if one["point"] in totals:
            found[one["seed"]] = max(found.get(one["seed"], (0, "")), (one["solver.steps"], totals[one["point"]]))
    return found


def double(points, tables, *, goal=100, step=10, kill_at=0, pause_s=0.0):
    """Walk on, twice as far, where the sum is below the goal, which grows by `step` with the seed; `kill_at`: kill the driver at its first round with such steps."""
    time.sleep(pause_s)
    ends = _ends(points, tables)
    further = {seed: steps for seed, (steps, total) in ends.items() if Fraction(total) < goal + step * seed}
    if kill_at and kill_at in [steps for steps, _ in ends.values()] and not Path("killed").exists():
        Path("killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [{"seed": seed, "solver.steps": 2 * steps} for seed, steps in further.items()]


@summarises(longest=LONGEST)
def longest(points, tables):
    rows = [(seed, steps, total) for seed, (steps, total) in sorted(_ends(points, tables).items())]
    return {"longest": pa.Table.from_pylist([dict(zip(LONGEST.names, row, strict=True)) for row in rows], schema=LONGEST)}


# ---- what goes wrong -------------------------------------------------------------------------------------------------------------


def raises(points, tables):
    if len(points) > 3:
        raise ArithmeticError("raised on purpose")
    return [{"seed": 7}]


def answers(points, tables, *, json_text):
    return json.loads(json_text)


def endless(points, tables):
    return [{"seed": len(points)}]


@summarises(longest=LONGEST)
def wrong_columns(points, tables):
    return {"longest": pa.table({"seed": [1]})}


@summarises(sums=LONGEST)
def taken_name(points, tables):
    return {"sums": LONGEST.empty_table()}


@summarises(longest=LONGEST)
def breaks(points, tables):
    raise KeyError("of the summary")
