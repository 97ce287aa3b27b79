"""Recording a finished sweep in MLflow, from its published directory alone: one run a sweep, one child run a point.

Rules
-----
1. MLflow costs no result: whatever goes wrong here is one line for the user, and an unreachable server is given up within seconds.
2. Nothing global changes: an explicit client, no active run, no autologging; environment variables and loggers are put back.
   MLflow's telemetry is off from before its import, so nothing leaves the machine except to the server that was asked for.
3. One run a directory. A directory that grew updates its run (the manifest's `mlflow_run`); MLflow's params cannot change, so a
   param that would is written again as a tag of its name. A point that ran again gets a new child; the old one is deleted.
4. Only finite numbers are metrics. Others are left out, counted and mentioned.

MLflow is imported inside functions: it costs seconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import hashlib
import json
import logging
import math
import os
import posixpath
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.digest import aggregates, cell_text, first_findings, listed, number, parameter_texts, read_checks, verified
from pipeline.pictures import draw_pictures, point_labels
from pipeline.store import SweepDir, parameter_values, spans, table_files
from solvers.errors import ConfigError, MinimexError

UI_PAGE = "/#/experiments?workflowType=machine_learning"
"""Where MLflow's UI shows experiments and runs (by itself it opens on pages about language models)."""

_PROGRESS = "progress"
_CURVE_STEPS = 500
_TEXT = 500
_NAME = 250
_LARGEST_UPLOAD = 200_000_000
_METRICS_A_BATCH = 800
_PARAMS_A_BATCH = 100
_QUICK = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "4", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
_PATIENT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "30", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1"}
_SILENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}
_SHORT = 120
_FAILURES = (  # what urllib3 and MLflow say in some lines of Python, and what it means; `{}` is what the brackets caught
    (r"NameResolutionError", "no such host"),
    (r"NewConnectionError.*\[Errno \d+\] ([A-Z][\w ]+)", "{}"),
    (r"(?:Read|Connect)TimeoutError", "no answer in time"),
    (r"SSLError", "no secure connection; is it http:// rather than https://?"),
    (r"RemoteDisconnected|ProtocolError", "it hung up"),
    (r"too many (\d{3}) error", "it answers with error {}"),
    (r"error code (\d{3}) !=", "it answers with error {}"),
    (r"not in a valid JSON format", "what answers there is no MLflow server"),
)
_ENDED = {"done": "FINISHED", "incomplete": "FINISHED", "failed": "FAILED", "timeout": "KILLED"}


@dataclass(frozen=True, slots=True)
class Tracking:
    """Where runs are recorded.

    Attributes
    ----------
    kind
        `sqlite`: a database beside the sweeps; `server`: an MLflow server; `off`: nowhere.
    uri
        The server's address, or another database (`sqlite:////data/mlflow.db`); None: beside the sweeps.
    child_runs
        A sweep of at most so many points gets a child run for each.
    """

    kind: Literal["sqlite", "server", "off"] = "sqlite"
    uri: str | None = None
    child_runs: int = 50

    def __post_init__(self) -> None:
        if self.child_runs < 0:
            raise ConfigError("child_runs", "0 or more", repr(self.child_runs))
        if self.kind == "server" and not (self.uri or "").startswith(("http://", "https://")):
            raise ConfigError("uri", "the address of an MLflow server", repr(self.uri), "tracking.uri=http://host:5000")
        if self.kind == "sqlite" and self.uri is not None and not self.uri.startswith("sqlite:///"):
            raise ConfigError("uri", "sqlite:/// and a path", repr(self.uri), "for a server, tracking=server")


def track(sweep: SweepDir, settings: Tracking, store_folder: Path, said: Callable[[str], None]) -> str | None:
    """Record a sweep in MLflow and return the run's id; None if tracking is off or MLflow was not reached.

    Parameters
    ----------
    sweep
        A published sweep.
    store_folder
        The folder of sweeps, in which `mlflow.db` and `mlartifacts/` lie.
    said
        Takes lines meant for the user.

    Notes
    -----
    Needs about 2 s to import MLflow, 1 s for a new database, some 0.1 s for each child run, and copies the Parquet files. If
    something fails half way, the id of the half-recorded run is returned, so that recording again completes it.
    """
    if settings.kind == "off":
        return None
    where = _without_password(settings.uri or "") or str(_database(settings, store_folder))
    run_id = None

    def lost(error: Exception) -> None:
        fate = "not reached" if run_id is None else "lost half way"
        said(f"tracking: MLflow at {where} was {fate} ({_failure(error)}); the results are safe in {sweep.root}")

    with _undisturbed():
        try:
            from mlflow.exceptions import MlflowException  # noqa: PLC0415
            from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415
        except ImportError as error:
            lost(error)
            return None
        try:
            with _environment(_QUICK):
                client, experiment = _open(sweep, settings, store_folder)
            with _environment(_PATIENT):
                run = _Run.open(client, experiment, sweep)
                run_id = run.run_id
                _record(run, sweep, settings)
            if run.dropped:
                said(f"tracking: {run.dropped} numbers that are not finite were left out of MLflow")
        except (MlflowException, SQLAlchemyError, sqlite3.Error, MinimexError, pa.ArrowException, OSError, ImportError) as error:
            lost(error)
    return run_id


def ui_command(settings: Tracking, store_folder: Path) -> str:
    """Return the command line that opens MLflow's UI on this store, quoted for a shell; of a server its page; "" if off.

    The UI is then at http://127.0.0.1:5000, best entered at `UI_PAGE`.
    """
    if settings.kind == "off":
        return ""
    if settings.kind == "server":
        return f"{settings.uri}".rstrip("/") + UI_PAGE
    beside = Path(sys.executable).parent / "mlflow"
    found = shutil.which("mlflow")
    program = str(beside) if beside.exists() and found != str(beside) else "mlflow"
    words = [program, "ui", "--backend-store-uri", _sqlite_uri(settings, store_folder), "--workers", "1", "--port", "5000"]
    return f"MLFLOW_DISABLE_TELEMETRY=true {shlex.join(words)}"


# ---- reaching MLflow ---------------------------------------------------------------------------------------------------------


def _database(settings: Tracking, store_folder: Path) -> Path:
    given = (settings.uri or "").removeprefix("sqlite:///")
    return Path(given or store_folder / "mlflow.db").absolute()


def _without_password(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", text)


def _failure(error: Exception) -> str:
    """Return in a few words what kind of failure this is."""
    text = str(error).strip() or type(error).__name__
    for pattern, meaning in _FAILURES:
        if found := re.search(pattern, text):
            return meaning.format(*found.groups()).lower() if found.groups() else meaning
    line = _without_password(text.splitlines()[0])
    return line if len(line) <= _SHORT else line[: _SHORT - 3] + "..."


def _sqlite_uri(settings: Tracking, store_folder: Path) -> str:
    return f"sqlite:///{_database(settings, store_folder)}"


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep MLflow from phoning home and from talking; put everything back."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "sqlalchemy.engine", "urllib3.connectionpool")]
    with _environment(_SILENT):
        with contextlib.suppress(ImportError):
            import mlflow  # noqa: F401, PLC0415 (its import sets levels)
        levels = [one.level for one in loggers]
        for one in loggers:
            one.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for one, level in zip(loggers, levels, strict=True):
                one.setLevel(level)


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _open(sweep: SweepDir, settings: Tracking, store_folder: Path) -> tuple[Any, str]:
    """Return a client and the id of the sweep's experiment, which exists from now on."""
    from mlflow import MlflowClient  # noqa: PLC0415

    name = str(sweep.manifest.get("experiment") or "ad hoc")[:_NAME]
    if settings.kind == "server":
        client = MlflowClient(settings.uri)
        return client, _experiment(client, name, None)
    database = _database(settings, store_folder)
    database.parent.mkdir(parents=True, exist_ok=True)
    with _locked(database.parent / ".mlflow.lock"):  # two processes that create the tables at once spoil them
        client = MlflowClient(_sqlite_uri(settings, store_folder))
        return client, _experiment(client, name, database.parent / "mlartifacts" / re.sub(r"[^\w.-]", "_", name))


def _experiment(client: Any, name: str, artifacts: Path | None) -> str:
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifacts.as_uri() if artifacts else None))
        except MlflowException:  # somebody else may just have created it
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return str(found.experiment_id)


# ---- one run -----------------------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """A run being written: collects params, tags and metrics, and sends them in few requests."""

    client: Any
    experiment: str
    run_id: str
    params: Mapping[str, str] = field(default_factory=dict)
    dropped: int = 0

    @classmethod
    def open(cls, client: Any, experiment: str, sweep: SweepDir) -> _Run:
        """Return the run the manifest names, if it still exists, else a new one."""
        from mlflow.exceptions import MlflowException  # noqa: PLC0415

        before = sweep.manifest.get("mlflow_run")
        if before:
            try:
                run = client.get_run(str(before))
            except MlflowException as error:
                if error.error_code not in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    raise
            else:
                if run.info.lifecycle_stage == "active":
                    return cls(client, run.info.experiment_id, run.info.run_id, run.data.params)
        longest_s = pc.max(sweep.points["wall_s"]).as_py() or 0.0  # the directory tells no more about when the sweep began
        return cls.create(client, experiment, sweep.name, _published_ms(sweep) - round(1000 * longest_s), {})

    @classmethod
    def create(cls, client: Any, experiment: str, name: str, start_ms: int, tags: Mapping[str, str]) -> _Run:
        told = {**_source_tags(), **tags}
        run = client.create_run(experiment, start_time=start_ms, run_name=name[:_NAME], tags=told)
        return cls(client, experiment, run.info.run_id)

    def log(self, params: Mapping[str, str], tags: Mapping[str, str], metrics: list[Any]) -> None:
        """Send params that are new, tags, and `mlflow.entities.Metric`s; changed params become tags (rule 3)."""
        from mlflow.entities import Param, RunTag  # noqa: PLC0415

        params = {_name(name): value for name, value in params.items()}
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

        numbers = {_name(name): number(value) for name, value in values.items()}
        finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
        self.dropped += len(numbers) - len(finite)
        return [Metric(name, value, at_ms, step) for name, value in finite.items()]


def _record(run: _Run, sweep: SweepDir, settings: Tracking) -> None:
    checks = read_checks(sweep)
    dropped, metrics = aggregates(sweep, checks)
    run.dropped += dropped
    now = time.time_ns() // 1_000_000
    findings = list(first_findings(sweep, checks))
    params = parameter_texts(sweep)
    tags = _tags(sweep, checks, [name for name, _ in findings])
    tags |= {f"minimex.{name}": params[name] for name in ("games", "solvers")}
    run.log(params, tags, run.metrics(metrics, now))
    if len(sweep.points) <= settings.child_runs:
        _record_children(run, sweep)
    _upload(run, sweep, findings)
    status = "FINISHED" if metrics["points/done"] + metrics["points/incomplete"] else "FAILED"
    run.client.set_terminated(run.run_id, status, end_time=_published_ms(sweep))


def _tags(sweep: SweepDir, checks: pa.Table | None, findings: list[str]) -> dict[str, str]:
    named = [sweep.info(name).check for name in sweep.table_names]
    families = sorted({check.split(".")[1] for check in named if check and check.count(".") > 1})
    judged = verified(sweep, checks)
    said = {
        "minimex.family": listed(families),
        "minimex.verified": judged,
        "minimex.directory": str(sweep.root.resolve()),
        "minimex.points": str(len(sweep.points)),
        "mlflow.note.content": (
            f"{len(sweep.points)} points, verified: **{judged}**. First rows in *Artifacts*, under `findings/`; all of it in "
            f"`report.html` and the Parquet files, which are those of `{sweep.root.resolve()}`."
        ),
        "mlflow.loggedArtifacts": json.dumps([{"path": f"findings/{name}.json", "type": "table"} for name in findings]),
    }
    large = [f"{path} ({size / 1e6:.0f} MB)" for path, size in _large_files(sweep)]
    return said | ({"minimex.not_uploaded": listed(large)} if large else {})


def _published_ms(sweep: SweepDir) -> int:
    return (sweep.root / "points.parquet").stat().st_mtime_ns // 1_000_000


def _source_tags() -> dict[str, str]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, in a container
        user = str(os.getuid())
    return {"mlflow.user": user, "mlflow.source.name": "minimex", "mlflow.source.type": "LOCAL"}


def _name(name: str) -> str:
    """Return the nearest name that MLflow takes."""
    clean = posixpath.normpath(re.sub(r"[^\w.\- :/]", "_", name)).strip("/. ")
    return clean[:_NAME] or "_"


# ---- child runs --------------------------------------------------------------------------------------------------------------


def _record_children(run: _Run, sweep: SweepDir) -> None:
    existing = {child.data.tags["minimex.point"]: child for child in _children(run)}
    curves = _curves(sweep)
    labels = point_labels(sweep, sweep.points["point"].to_pylist())
    parameters = {name: parameter_values(sweep.points, name) for name in sweep.parameters}
    outcomes = sweep.points.select(["point", "config", "status", "error", "wall_s", "attempts", "metrics"]).to_pylist()
    published = _published_ms(sweep)
    for place, one in enumerate(outcomes):
        content = hashlib.blake2b(json.dumps(one, sort_keys=True).encode(), digest_size=8).hexdigest()
        old = existing.get(one["point"])
        if old is not None and old.info.status != "RUNNING" and old.data.tags.get("minimex.content") == content:
            continue
        if old is not None:
            run.client.delete_run(old.info.run_id)
        start = published - round(1000 * (one["wall_s"] or 0.0))
        tags = {"mlflow.parentRunId": run.run_id, "minimex.point": one["point"], "minimex.status": one["status"]}
        tags |= {"minimex.content": content, **({"minimex.error": one["error"][:_TEXT]} if one["error"] else {})}
        child = _Run.create(run.client, run.experiment, labels[one["point"]], start, tags)
        params = {name: cell_text(values[place])[:_TEXT] for name, values in parameters.items() if values[place] is not None}
        final = {name: value for name, value in json.loads(one["metrics"] or "{}").items() if isinstance(value, int | float)}
        curve = curves.get(one["point"])
        last_step = 0 if curve is None else max(pc.max(curve["done"]).as_py() or 0, 0)
        metrics = [] if curve is None else _curve_metrics(child, curve, start)
        metrics += child.metrics(final | {"wall_s": one["wall_s"] or 0.0}, published, last_step)
        child.log(params, {}, metrics)
        run.client.set_terminated(child.run_id, _ENDED.get(one["status"], "FINISHED"), end_time=published)
        run.dropped += child.dropped


def _children(run: _Run) -> Iterator[Any]:
    token = None
    while True:
        query = f"tags.`mlflow.parentRunId` = '{run.run_id}'"
        page = run.client.search_runs([run.experiment], query, max_results=1000, page_token=token)
        yield from (child for child in page if "minimex.point" in child.data.tags)
        token = page.token
        if not token:
            return


def _curves(sweep: SweepDir) -> dict[str, pa.Table]:
    """Return each point's rows of the progress table."""
    if _PROGRESS not in sweep.table_names:
        return {}
    table = sweep.table(_PROGRESS)
    runs = spans(table["point"])
    return {point: pa.concat_tables([table.slice(start, stop - start) for start, stop in runs[point]]) for point in runs}


def _curve_metrics(child: _Run, rows: pa.Table, start_ms: int) -> list[Any]:
    """Return a point's curves, one value a step (the last), at most `_CURVE_STEPS` steps a curve, first and last among them."""
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
        times = start_ms + np.nan_to_num(part["elapsed_s"].to_numpy()[places] * 1000).astype(np.int64)
        columns = zip(part["value"].to_numpy()[places].tolist(), times.tolist(), steps.tolist(), strict=True)
        found += [Metric(_name(name), value, at, step) for value, at, step in columns]
    return found


# ---- artifacts: the sweep's directory as it is, and what MLflow's UI can show of it ------------------------------------------


def _files(sweep: SweepDir) -> Iterator[Path]:
    """Yield what makes a sweep's directory, so that a downloaded run can be loaded and verified."""
    for name in ("points.parquet", "checks.parquet", "manifest.json", "report.html"):
        if (sweep.root / name).exists():
            yield sweep.root / name
    for name in sweep.table_names:
        yield from table_files(sweep.root, name)
    yield from sorted(path for path in (sweep.root / "inputs").glob("*") if path.is_file())


def _large_files(sweep: SweepDir) -> Iterator[tuple[Path, int]]:
    for path in _files(sweep):
        size = path.stat().st_size
        if size > _LARGEST_UPLOAD:
            yield path.relative_to(sweep.root), size


def _upload(run: _Run, sweep: SweepDir, findings: Iterable[tuple[str, str]]) -> None:
    large = {sweep.root / path for path, _ in _large_files(sweep)}
    for path in _files(sweep):
        if path not in large:
            folder = path.relative_to(sweep.root).parent.as_posix()
            run.client.log_artifact(run.run_id, str(path), None if folder == "." else folder)
    with tempfile.TemporaryDirectory(prefix="minimex-") as scratch:
        for name, text in findings:
            (Path(scratch) / f"{name}.json").write_text(text)
            run.client.log_artifact(run.run_id, str(Path(scratch) / f"{name}.json"), "findings")
        with contextlib.suppress(ImportError):  # without matplotlib there are no pictures
            for path in draw_pictures(sweep, Path(scratch)):
                run.client.log_artifact(run.run_id, str(path), "pictures")
