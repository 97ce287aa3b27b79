"""The runs of points, below their sweep's: parameters, final numbers, and what they told on their way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.digest import cell_text
from pipeline.pictures import point_labels
from pipeline.store import SweepDir, parameter_values, ranks, spans
from pipeline.tracking.runs import CONTENT, ENDED, LIVE, RunWriter, clean_name

_PROGRESS = "progress"
_CURVE_STEPS = 500
_TEXT = 500


def record_children(run: RunWriter, sweep: SweepDir, at_most: int, published_ms: int) -> None:
    """Give each point its run; in a sweep of more than `at_most` points only those that have one already, because they took long.

    A run that was begun is completed, one that tells another outcome is replaced. What says nothing new costs no request.
    """
    existing = _existing(run)
    if len(sweep.brief) > at_most and not existing:
        return
    rows = sweep.points
    if len(rows) > at_most:
        rows = rows.filter(pc.is_valid(ranks(rows["point"], pa.array(sorted(existing), pa.string()))))
    points = rows["point"].to_pylist()
    for point in existing.keys() - set(points):
        _abandon(run, existing[point])
    if not points:
        return
    curves = _curves(sweep, points)
    labels = point_labels(sweep, points)
    parameters = {name: parameter_values(rows, name) for name in sweep.parameters}
    for place, one in enumerate(rows.select(["point", "config", "status", "error", "wall_s", "attempts", "metrics"]).to_pylist()):
        params = {name: cell_text(values[place])[:_TEXT] for name, values in parameters.items() if values[place] is not None}
        _record_child(run, existing.get(one["point"]), one, (labels[one["point"]], params, curves.get(one["point"])), published_ms)


def _existing(run: RunWriter) -> dict[str, Any]:
    """Return the runs of points that are there; of two of one point (a server's answer was lost) the later."""
    found: dict[str, Any] = {}
    for child in run.children():
        if child.data.tags["minimex.point"] in found:
            run.client.delete_run(child.info.run_id)
        else:
            found[child.data.tags["minimex.point"]] = child
    return found


def _abandon(run: RunWriter, child: Any) -> None:
    """End the run of a point that nobody solves any more."""
    if child.info.status == "RUNNING" and LIVE in child.data.tags:
        run.client.set_terminated(child.info.run_id, "KILLED")


def _record_child(
    run: RunWriter, old: Any, one: Mapping[str, Any], about: tuple[str, Mapping[str, str], pa.Table | None], published_ms: int
) -> None:
    label, params, curve = about
    content = hashlib.blake2b(json.dumps(one, sort_keys=True).encode(), digest_size=8).hexdigest()
    told = None if old is None else old.data.tags.get(CONTENT)
    if told == content and old.info.status != "RUNNING":
        return
    if told not in (None, content):
        run.client.delete_run(old.info.run_id)
        old = None
    tags = {"mlflow.parentRunId": run.run_id, "minimex.point": one["point"], "minimex.status": one["status"], CONTENT: content}
    tags |= {"minimex.error": one["error"][:_TEXT]} if one["error"] else {}
    if old is None:
        child = RunWriter.create(run.client, run.experiment, label, published_ms - round(1000 * (one["wall_s"] or 0.0)), tags)
    else:
        child = RunWriter.of(run.client, old)
        if not one["point"].startswith(label):  # of a lone point there is nothing better to say than what its run is called
            run.client.update_run(child.run_id, name=label)
    final = {name: value for name, value in json.loads(one["metrics"] or "{}").items() if isinstance(value, int | float)}
    last_step = 0 if curve is None else max(pc.max(curve["done"]).as_py() or 0, 0)
    metrics = [] if curve is None else _curve_metrics(child, curve, begun=old is not None)
    metrics += child.metrics(final | {"wall_s": one["wall_s"] or 0.0}, published_ms, last_step)
    child.log(params, {} if old is None else tags, metrics)
    run.client.set_terminated(child.run_id, ENDED.get(one["status"], "FINISHED"), end_time=published_ms)
    run.dropped += child.dropped


def _curves(sweep: SweepDir, points: Sequence[str]) -> dict[str, pa.Table]:
    """Return these points' rows of the progress table."""
    if _PROGRESS not in sweep.table_names:
        return {}
    table = sweep.table(_PROGRESS)
    table = table.filter(pc.is_valid(ranks(table["point"], pa.array(points, pa.string()))))
    runs = spans(table["point"])
    return {point: pa.concat_tables([table.slice(start, stop - start) for start, stop in runs[point]]) for point in runs}


def _curve_metrics(child: RunWriter, rows: pa.Table, *, begun: bool) -> list[Any]:
    """Return what is missing of a point's curves: a step's last value, at most `_CURVE_STEPS` steps, first and last among them."""
    from mlflow.entities import Metric  # noqa: PLC0415

    found = []
    for name in pc.unique(rows["metric"]).drop_null().to_pylist():
        part = rows.filter(pc.and_(pc.equal(rows["metric"], name), pc.is_valid(rows["value"])))
        values, finite = part["value"].to_numpy(), pc.is_finite(part["value"])
        child.dropped += len(values) - int(pc.sum(finite).as_py() or 0)
        part = part.filter(finite)
        steps, back = np.unique(part["done"].to_numpy()[::-1], return_index=True)
        if len(steps) > _CURVE_STEPS:
            kept = np.unique(np.linspace(0, len(steps) - 1, _CURVE_STEPS).round().astype(np.int64))
            steps, back = steps[kept], back[kept]
        places = len(part) - 1 - back
        times = child.start_ms + np.nan_to_num(part["elapsed_s"].to_numpy()[places] * 1000).astype(np.int64)
        columns = zip(part["value"].to_numpy()[places].tolist(), times.tolist(), steps.tolist(), strict=True)
        there = {one.step for one in child.client.get_metric_history(child.run_id, clean_name(name))} if begun else set()
        found += [Metric(clean_name(name), value, at, step) for value, at, step in columns if step not in there]
    return found
