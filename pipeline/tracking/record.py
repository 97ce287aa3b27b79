"""Recording a sweep from its published directory alone."""

from __future__ import annotations

import contextlib
import json
import shlex
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.digest import aggregates, first_findings, listed, parameter_texts, read_checks, verified
from pipeline.manifest import note_run
from pipeline.pictures import draw_pictures
from pipeline.remote import home_of
from pipeline.store import SweepDir, table_files
from pipeline.tracking import reach
from pipeline.tracking.children import record_children
from pipeline.tracking.runs import RunWriter
from pipeline.tracking.where import Tracking

_LARGEST_UPLOAD = 200_000_000


def track(sweep: SweepDir, settings: Tracking, store_folder: Path, said: Callable[[str], None]) -> str | None:
    """Record a sweep in MLflow and return the run's id; None if tracking is off or MLflow was not reached, or lost half way.

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
    Needs about 2 s to import MLflow, 1 s for a new database, some 0.1 s for each child run, and copies the Parquet files. The
    run's id is in manifest.json as soon as there is one, so that recording again completes what was begun.
    """
    if settings.kind == "off":
        return None
    fate = "not reached"

    def lost(error: Exception) -> None:
        why = f"MLflow at {settings.shown(store_folder)} was {fate} ({reach.in_few_words(error)})"
        words = ["minimex", "track", str(sweep.root), *([f"uri={settings.store}"] if settings.uri is not None else [])]
        said(f"tracking: {why}; the results are safe, `{shlex.join(words)}` records them later")

    with reach.undisturbed():
        try:
            expected = reach.failures()
        except ImportError as error:
            lost(error)
            return None
        try:
            with reach.quick():
                client, experiment = reach.open_store(settings, store_folder, sweep.manifest.get("experiment"))
            with reach.patient():
                run = RunWriter.open(client, experiment, sweep, settings) or _new_run(client, experiment, sweep)
                fate = "lost half way"
                note_run(sweep.root, settings.store, run.run_id, complete=False)
                _record(run, sweep, settings)
                note_run(sweep.root, settings.store, run.run_id, complete=True)
            if run.dropped:
                said(f"tracking: {run.dropped} numbers that are not finite were left out of MLflow")
        except expected as error:
            lost(error)
            return None
    return run.run_id


def _new_run(client: Any, experiment: str, sweep: SweepDir) -> RunWriter:
    longest_s = pc.max(sweep.brief["wall_s"]).as_py() or 0.0  # the directory tells no more about when the sweep began
    return RunWriter.of_sweep(client, experiment, sweep, _published_ms(sweep) - round(1000 * longest_s), {})


def _record(run: RunWriter, sweep: SweepDir, settings: Tracking) -> None:
    checks = read_checks(sweep)
    dropped, metrics = aggregates(sweep, checks)
    run.dropped += dropped
    now = time.time_ns() // 1_000_000
    findings = list(first_findings(sweep, checks))
    params = parameter_texts(sweep)
    tags = _tags(sweep, checks, [name for name, _ in findings])
    tags |= {f"minimex.{name}": params[name] for name in ("games", "solvers")}
    run.log(params, tags, run.metrics(metrics, now, run.step(now)))
    record_children(run, sweep, settings.child_runs, _published_ms(sweep))
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
        "minimex.directory": home_of(sweep.root),
        "minimex.points": str(len(sweep.brief)),
        "mlflow.note.content": (
            f"{len(sweep.brief)} points, verified: **{judged}**. First rows in *Artifacts*, under `findings/`; all of it in "
            f"`report.html` and the Parquet files, which are those of `{home_of(sweep.root)}`."
        ),
        "mlflow.loggedArtifacts": json.dumps([{"path": f"findings/{name}.json", "type": "table"} for name in findings]),
    }
    large = [f"{path} ({size / 1e6:.0f} MB)" for path, size in _large_files(sweep)]
    return said | ({"minimex.not_uploaded": listed(large)} if large else {})


def _published_ms(sweep: SweepDir) -> int:
    return (sweep.root / "points.parquet").stat().st_mtime_ns // 1_000_000


# ---- artifacts: the sweep's directory as it is, and what MLflow's UI can show of it ------------------------------------------


def _files(sweep: SweepDir) -> Iterator[Path]:
    """Yield what makes a sweep's directory, so that a downloaded run can be loaded and verified."""
    for name in ("points.parquet", "checks.parquet", "manifest.json", "report.html"):
        if (sweep.root / name).exists():
            yield sweep.root / name
    for name in (*sweep.table_names, *sweep.summary_names):
        yield from table_files(sweep.root, name)
    yield from sorted(path for path in (sweep.root / "inputs").glob("*") if path.is_file())


def _large_files(sweep: SweepDir) -> Iterator[tuple[Path, int]]:
    for path in _files(sweep):
        size = path.stat().st_size
        if size > _LARGEST_UPLOAD:
            yield path.relative_to(sweep.root), size


def _upload(run: RunWriter, sweep: SweepDir, findings: Iterable[tuple[str, str]]) -> None:
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
