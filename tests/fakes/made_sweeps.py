"""Published sweeps that nobody computed: what recording them is tested with."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from pipeline.store import CHECKS, OUTCOME, POINT, PROGRESS, SweepDir, load, parameter_column, point_array, write_table
from solvers.schema import Curve, HeatMap, Strip, TableInfo, column, table_schema

EQUILIBRIA = table_schema(
    [column("p1", pa.string()), column("value", pa.string()), column("value_float", pa.float64())],
    TableInfo(
        check="solvers.equilibrium.check.equilibria:check_equilibria",
        claims="proved",
        columns=("value", "p1", "value_float"),
        pictures=(HeatMap(("value_float",), "values"), HeatMap(("p1",))),
    ),
)
CURVES = table_schema(
    [column("iteration", pa.int64()), column("exploitability", pa.float64())],
    TableInfo(headline="last", pictures=(Curve("iteration", ("exploitability",), log_x=True, log_y=True, title="exploitability"),)),
)
NIMBERS = table_schema(
    [column("heap", pa.int64()), column("nimber", pa.int64())], TableInfo(headline="none", pictures=(Strip("heap", "nimber", 12),))
)


def make_sweep(
    root: Path, points: int = 6, failed: tuple[int, ...] = (), *, judged: bool = True, steps: int = 20, **manifest
) -> SweepDir:
    """Publish a made-up sweep: for each point two equilibria, a curve, a sequence, progress."""
    (root / "tables").mkdir(parents=True, exist_ok=True)
    names = [f"{place:032x}" for place in range(points)]
    target = '"target":"solvers.games.matrix.Matrix","version":1'
    config = [
        f'{{"game":{{"fields":{{"a":"{n}"}},{target}}},"seed":0,"solver":{{"fields":{{}},{target.replace("Matrix", "Solver")}}}}}'
        for n in names
    ]
    status = ["failed" if place in failed else "done" for place in range(points)]
    fields = {
        "game.a": [f"{place // 3}/7" for place in range(points)],
        "game.n": [place % 3 for place in range(points)],
        "solver.kind": ["x"] * points,
    }
    columns = [parameter_column(name, values) for name, values in fields.items()]
    outcome = {
        "config": config,
        "status": status,
        "error": ["no luck" if one == "failed" else None for one in status],
        "traceback": [None] * points,
        "wall_s": [0.5] * points,
        "attempts": [1] * points,
        "node": ["here"] * points,
        "metrics": [
            json.dumps({"nodes": place, "gap": float("inf") if place == 0 else 0.25, "how": "fast"}) for place in range(points)
        ],
        "rows": ["{}"] * points,
        "seal": [None] * points,
    }
    told = [pa.array(outcome[one.name], one.type) for one in OUTCOME]
    schema = pa.schema([POINT, *(one for one, _ in columns), *OUTCOME])
    table = pa.table([point_array(names), *(values for _, values in columns), *told], schema=schema)
    write_table(table, root / "points.parquet")
    write_rows(
        root,
        "equilibria",
        EQUILIBRIA,
        names,
        [2] * points,
        [["1/3,2/3", "1,0"] * points, ["1/2"] * 2 * points, [0.5, 0.25] * points],
    )
    long = list(range(1, steps + 1)) * points
    write_rows(root, "curves", CURVES, names, [steps] * points, [long, [1 / one for one in long]])
    heaps = list(range(30)) * points
    write_rows(root, "nimbers", NIMBERS, names, [30] * points, [heaps, [heap % 5 for heap in heaps]])
    gaps = [float("nan") if one == 2 else 1 / one for one in long]
    write_rows(
        root,
        "progress",
        pa.schema(list(PROGRESS)[1:]),
        names,
        [steps] * points,
        [long, long, [0.001 * one for one in long], ["gap"] * len(long), gaps],
    )
    if judged:
        point, row = [name for name in names for _ in (0, 1)], [0, 1] * points
        write_table(
            pa.table([["equilibria"] * 2 * points, row, point, ["proved"] * 2 * points, [""] * 2 * points], schema=CHECKS),
            root / "checks.parquet",
        )
    (root / "manifest.json").write_text(json.dumps({"experiment": "rock paper", **manifest}))
    (root / "report.html").write_text("<h1>report</h1>")
    return load(root)


def write_rows(root: Path, name: str, schema: pa.Schema, points: list[str], rows: list[int], columns: list[list]) -> None:  # noqa: PLR0917
    point = point_array(points, rows)
    arrays = [pa.array(values, one.type) for values, one in zip(columns, schema, strict=True)]
    write_table(
        pa.table([point, *arrays], schema=schema.insert(0, pa.field("point", point.type))), root / "tables" / f"{name}.parquet"
    )
