"""A run that is being written: a sweep's, or a point's below it."""

from __future__ import annotations

import getpass
import math
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.digest import number
from pipeline.store import SweepDir
from pipeline.tracking.where import Tracking

ENDED = {"done": "FINISHED", "incomplete": "FINISHED", "failed": "FAILED", "timeout": "KILLED"}
"""What MLflow calls the ways a point ends."""

LIVE = "minimex.live"
"""Tag of runs that were there before their sweep or point was finished."""

CONTENT = "minimex.content"
"""Tag of a point's run: hash of the outcome it tells; a run that was begun while its point was solved has none yet."""

_SWEEP = "minimex.sweep"
_NAME = 250
_METRICS_A_BATCH = 800
_PARAMS_A_BATCH = 100


@dataclass
class RunWriter:
    """Collects params, tags and metrics of a run, and sends them in few requests."""

    client: Any
    experiment: str
    run_id: str
    start_ms: int
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0

    @classmethod
    def of(cls, client: Any, run: Any) -> RunWriter:
        """Go on with a run that exists."""
        return cls(client, run.info.experiment_id, run.info.run_id, run.info.start_time, run.data.params, run.data.tags)

    @classmethod
    def open(cls, client: Any, experiment: str, sweep: SweepDir, settings: Tracking) -> RunWriter | None:
        """Return the run that this store has of a sweep; None: none, or it was deleted."""
        from mlflow.exceptions import MlflowException  # noqa: PLC0415

        known = sweep.manifest.get("mlflow_runs", {}).get(settings.store, {}).get("id")
        if known:
            try:
                run = client.get_run(str(known))
            except MlflowException as error:
                if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    raise
            else:
                if run.info.lifecycle_stage == "active":
                    return cls.of(client, run)
        own = sweep.manifest.get("id")  # whoever made the run may have ended before he could write its id down
        found = client.search_runs([experiment], f"tags.`{_SWEEP}` = '{own}'", max_results=1) if own else []
        return cls.of(client, found[0]) if found else None

    @classmethod
    def of_sweep(cls, client: Any, experiment: str, sweep: SweepDir, start_ms: int, tags: Mapping[str, str]) -> RunWriter:
        """Begin a sweep's run."""
        own = {_SWEEP: str(sweep.manifest["id"])} if "id" in sweep.manifest else {}
        return cls.create(client, experiment, sweep.name, start_ms, {**own, **tags})

    @classmethod
    def create(cls, client: Any, experiment: str, name: str, start_ms: int, tags: Mapping[str, str]) -> RunWriter:
        """Begin a run."""
        told = {**_source_tags(), **tags}
        run = client.create_run(experiment, start_time=start_ms, run_name=name[:_NAME], tags=told)
        return cls(client, experiment, run.info.run_id, start_ms, {}, told)

    def children(self) -> Iterator[Any]:
        """Yield the runs of points below this one, latest first."""
        token = None
        while True:
            query = f"tags.`mlflow.parentRunId` = '{self.run_id}'"
            page = self.client.search_runs([self.experiment], query, max_results=1000, page_token=token)
            yield from (child for child in page if "minimex.point" in child.data.tags)
            token = page.token
            if not token:
                return

    def log(self, params: Mapping[str, str], tags: Mapping[str, str], metrics: list[Any]) -> None:
        """Send params that are new, tags, and `mlflow.entities.Metric`s; params that changed become tags of their name."""
        from mlflow.entities import Param, RunTag  # noqa: PLC0415

        params = {clean_name(name): value for name, value in params.items()}
        changed = {name: value for name, value in params.items() if self.params.get(name, value) != value}
        new = [Param(name, value) for name, value in params.items() if name not in self.params]
        told = [RunTag(name, value) for name, value in {**tags, **changed}.items()]
        for at in range(0, max(len(new), len(told), 1), _PARAMS_A_BATCH):
            last = at + _PARAMS_A_BATCH
            with_them, metrics = metrics[:_METRICS_A_BATCH], metrics[_METRICS_A_BATCH:]
            self.client.log_batch(self.run_id, metrics=with_them, params=new[at:last], tags=told[at:last], synchronous=True)
        for at in range(0, len(metrics), _METRICS_A_BATCH):
            self.client.log_batch(self.run_id, metrics=metrics[at : at + _METRICS_A_BATCH], synchronous=True)

    def metrics(self, values: Mapping[str, Any], at_ms: int, step: int = 0) -> list[Any]:
        """Return the finite numbers among named values as metrics."""
        from mlflow.entities import Metric  # noqa: PLC0415

        numbers = {clean_name(name): number(value) for name, value in values.items()}
        finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
        self.dropped += len(numbers) - len(finite)
        return [Metric(name, value, at_ms, step) for name, value in finite.items()]

    def step(self, at_ms: int) -> int:
        """Return a sweep's step: seconds since its run began if there are curves over time, else 0."""
        return max(0, (at_ms - self.start_ms) // 1000) if LIVE in self.tags else 0


def _source_tags() -> dict[str, str]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, in a container
        user = str(os.getuid())
    return {"mlflow.user": user, "mlflow.source.name": "minimex", "mlflow.source.type": "LOCAL"}


def clean_name(name: str) -> str:
    """Return the nearest name that MLflow takes."""
    clean = posixpath.normpath(re.sub(r"[^\w.\- :/]", "_", name)).strip("/. ")
    return clean[:_NAME] or "_"
