"""What happens once a sweep's rows are published: manifest, verdicts, report, MLflow, and the findings on the screen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.driver import Run
from pipeline.errors import reason_of
from pipeline.findings import print_findings
from pipeline.judges import cores
from pipeline.manifest import is_recorded, keep_manifest
from pipeline.report import write_report
from pipeline.store import SweepDir, load, ranks, sweeps_folder
from pipeline.summaries import kept_summary, write_summaries
from pipeline.tracking.record import track
from pipeline.tracking.where import ui_lines
from pipeline.verify import Judgement, Telling, judgement, unjudged, verify
from solvers.errors import MinimexError

T = TypeVar("T")


def conclude(run: Run) -> int:
    """Judge, draw, record and show what a command found; return its exit status."""
    if not (run.root / "points.parquet").exists():
        more = "; long points go on from their checkpoints" if (run.root / "checkpoints").exists() else ""
        run.console.print(f"no point is finished{more}; the same command goes on")
        return 0
    settings, console = run.settings, run.console
    manifest = _written(run, "manifest.json", lambda: keep_manifest(run.root, run.points, settings)) or {}
    sweep, unsummed = _summed_up(run)
    asked = [point.hash for point in run.points]
    wanting = dict.fromkeys([*run.new, *unjudged(sweep, asked)]) if settings.verify and not run.interrupted else {}
    if wanting or (sweep.summary_names and settings.verify and not run.interrupted):
        judged = _judged(run, sweep, list(wanting))
        if judged.unwritten:
            run.warn(f"checks.parquet could not be written ({judged.unwritten.lower()}); minimex verify {run.root} judges again")
    else:
        judged = judgement(sweep)
    changed = bool(run.new or wanting) or not (run.root / "report.html").exists()
    if changed and not run.interrupted:
        _written(run, "report.html", lambda: write_report(sweep))
    tracked = _track(run, sweep, known=not changed and is_recorded(manifest, settings.tracking))
    if not settings.quiet:
        print_findings(sweep, judged, asked, console)
    failed, incomplete = (_count(sweep, asked, statuses) for statuses in (["failed", "timeout"], ["incomplete"]))
    _say_where(run, failed, incomplete, tracked=tracked)
    refuted = bool(judged.checks.filter(pc.equal(judged.checks["grade"], "refuted")).num_rows)
    if refuted:
        hint = f"minimex verify {run.root} says which, retry_failed=true computes their points again"
        console.print(f"some findings are refuted: {hint}", style="red", soft_wrap=True)
    if unsummed:
        console.print(f"{unsummed}; all that was computed is saved", style="red", soft_wrap=True)
    return 1 if failed or refuted or unsummed else 0


def _judged(run: Run, sweep: SweepDir, points: list[str]) -> Judgement:
    """Judge these points; where that takes a while, it is said, and there is a page to read meanwhile."""
    page = run.root / "report.html"
    say = functools.partial(run.console.print, soft_wrap=True)
    telling = Telling(len(points), (lambda _: None) if run.settings.quiet else say)

    def heard(count: int) -> None:
        if telling.is_due() and not page.exists():
            _written(run, page.name, lambda: write_report(sweep))
        telling(count)

    compute = run.settings.compute
    processes = 1 if compute.kind == "inline" else min(compute.cpus or cores(), cores())
    return verify(sweep, run.settings.trust, only=points, heard=heard, processes=processes)


def _summed_up(run: Run) -> tuple[SweepDir, str]:
    """Write the sweep's summary, the command's or the one it had before; return the sweep and why there is none, if so."""
    sweep = load(run.root)
    try:
        hook = run.rounds.summary or kept_summary(sweep, run.settings.trust)
        if hook is not None:
            kept = write_summaries(sweep, hook)
            _written(run, "manifest.json", lambda: keep_manifest(run.root, run.points, run.settings, **kept))
            sweep = load(run.root)
    except MinimexError as error:
        return sweep, str(error)
    except OSError as error:
        return sweep, f"the summary could not be written ({reason_of(error)})"
    return sweep, ""


def _track(run: Run, sweep: SweepDir, *, known: bool) -> bool:
    """Have the sweep recorded in MLflow, unless all of it is `known` there; say whether it is."""
    if known or run.interrupted:
        return known
    return track(sweep, run.settings.tracking, sweeps_folder(run.root), run.console.print) is not None


def _written(run: Run, name: str, write: Callable[[], T]) -> T | None:
    """Write what no result depends on; where that cannot be done it is said."""
    try:
        return write()
    except OSError as error:
        run.warn(f"{name} could not be written ({reason_of(error)}); the results are safe in {run.root}")
        return None


def _count(sweep: SweepDir, points: list[str], statuses: list[str]) -> int:
    asked = pc.is_valid(ranks(sweep.brief["point"], pa.array(points, pa.string())))
    return int(pc.sum(pc.is_in(sweep.brief["status"].filter(asked), value_set=pa.array(statuses))).as_py() or 0)


def _say_where(run: Run, failed: int, incomplete: int, *, tracked: bool) -> None:
    console, root = run.console, run.root
    again = "retry_failed=true computes them again"
    if failed:
        console.print(f"{failed:,} point{'s' if failed > 1 else ''} failed ({again})", style="red")
    if incomplete:
        console.print(f"{incomplete:,} point{'s' if incomplete > 1 else ''} reached a limit ({again})", style="yellow")
    if run.interrupted:
        say_interrupted(run)
        return
    console.print(f"report   {root / 'report.html'}", soft_wrap=True)
    console.print(f"tables   {root / 'tables'}", soft_wrap=True)
    for line in ui_lines(run.settings.tracking, sweeps_folder(root)) if tracked else ():
        console.print(line, soft_wrap=True)


def say_interrupted(run: Run) -> None:
    """Say that the same command goes on."""
    run.console.print(f"interrupted; what was done is in {run.root}, the same command goes on", style="yellow", soft_wrap=True)
