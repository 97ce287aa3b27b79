"""What happens once a sweep's rows are published: manifest, verdicts, report, MLflow, and the findings on the screen."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.driver import Run
from pipeline.findings import print_findings
from pipeline.manifest import keep_manifest
from pipeline.report import write_report
from pipeline.store import SweepDir, load, ranks
from pipeline.tracking import UI_PAGE, track, ui_command
from pipeline.verify import judgement, verify


def conclude(run: Run) -> int:
    """Judge, draw, record and show what a command found; return its exit status."""
    if not (run.root / "points.parquet").exists():
        more = "; long points go on from their checkpoints" if (run.root / "checkpoints").exists() else ""
        run.console.print(f"no point is finished{more}; the same command goes on")
        return 0
    settings, console = run.settings, run.console
    manifest = keep_manifest(run.root, run.points, settings)
    sweep = load(run.root)
    if run.new and settings.verify and not run.interrupted:
        judged = verify(sweep, settings.trust, only=run.new)
    else:
        judged = judgement(sweep)
    if (run.new or not (run.root / "report.html").exists()) and not run.interrupted:
        write_report(sweep)
        tracked = _track(run, sweep, known=manifest.get("mlflow_run"))
    else:
        tracked = manifest.get("mlflow_run") is not None
    if not settings.quiet:
        print_findings(sweep, judged, [point.hash for point in run.points], console)
    asked = [point.hash for point in run.points]
    failed, incomplete = (_count(sweep, asked, statuses) for statuses in (["failed", "timeout"], ["incomplete"]))
    _say_where(run, failed, incomplete, tracked=tracked)
    refuted = bool(judged.checks.filter(pc.equal(judged.checks["grade"], "refuted")).num_rows)
    if refuted:
        hint = f"minimex verify {run.root} says which, retry_failed=true computes their points again"
        console.print(f"some findings are refuted: {hint}", style="red", soft_wrap=True)
    return 1 if failed or refuted else 0


def _track(run: Run, sweep: SweepDir, known: str | None) -> bool:
    """Record the sweep in MLflow; say whether that worked."""
    store = run.root.resolve().parent
    run_id = track(sweep, run.settings.tracking, store, run.console.print)
    if run_id is not None and run_id != known:
        keep_manifest(run.root, run.points, run.settings, mlflow_run=run_id)
    return run_id is not None


def _count(sweep: SweepDir, points: list[str], statuses: list[str]) -> int:
    asked = pc.is_valid(ranks(sweep.points["point"], pa.array(points, pa.string())))
    return int(pc.sum(pc.is_in(sweep.points["status"].filter(asked), value_set=pa.array(statuses))).as_py() or 0)


def _say_where(run: Run, failed: int, incomplete: int, *, tracked: bool) -> None:
    console, root = run.console, run.root
    again = "retry_failed=true computes them again"
    if failed:
        console.print(f"{failed:,} point{'s' if failed > 1 else ''} failed ({again})", style="red")
    if incomplete:
        console.print(f"{incomplete:,} point{'s' if incomplete > 1 else ''} reached a limit ({again})", style="yellow")
    if run.interrupted:
        console.print(f"interrupted; what was done is in {root}, the same command goes on", style="yellow", soft_wrap=True)
        return
    console.print(f"report   {root / 'report.html'}", soft_wrap=True)
    console.print(f"tables   {root / 'tables'}", soft_wrap=True)
    if tracked and run.settings.tracking.kind != "off":
        console.print(f"MLflow   {ui_command(run.settings.tracking, root.resolve().parent)}", soft_wrap=True)
        if run.settings.tracking.kind == "sqlite":
            console.print(f"         and open http://127.0.0.1:5000{UI_PAGE}", soft_wrap=True)
