"""The report of one sweep: what was asked, what was found, what was proved and by whom, what failed."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.distribution import Summary
from pipeline.report.claims import claim, grade_chip, refuted_list
from pipeline.report.drawing import UnusableDrawing, draw, draw_whole
from pipeline.report.findings import (
    NOT_JUDGED,
    REFUTED,
    Findings,
    Integers,
    Parameter,
    checks_of,
    findings_of,
    outcome_counts,
    points_of,
)
from pipeline.report.groups import Groups, groups_of
from pipeline.report.histogram import Panel, histogram
from pipeline.report.markup import cell_text, chip, data_block, escape, number, page, plural, setting_text, shortened, spoken, table
from pipeline.report.pictures import picture_data
from pipeline.store import DamagedTable, SweepDir, write_text
from solvers.contract import GRADES
from solvers.schema import Curve, HeatMap, Histogram, Strip

_NO_SCRIPT = "This picture needs JavaScript; the numbers are in the tables."
_ROWS = 1000
_CELLS = 20_000
_DRAWINGS = 12
_FAILURES = 30
_MAP_POINTS = 4
_VALUES = 8
_RIGHT = (pa.types.is_integer, pa.types.is_floating)


def write_report(sweep: SweepDir) -> Path:
    """Write `report.html` into the sweep's directory and return its path; it appears at once, whole.

    Raises
    ------
    DamagedTable
        If points.parquet cannot be read. Other damaged files are named in the report.
    OSError
        If it cannot be written.
    """
    path = sweep.root / "report.html"
    write_page(path, page(f"{sweep.name} \u00b7 minimex", _Report(sweep).body()))
    return path


def write_page(path: Path, text: str) -> None:
    """Write a page; it appears at once, whole. An error names the page, and has a note of what it was."""
    try:
        write_text(path, text)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        error.add_note("the report could not be written")
        raise


class _Report:
    """One report in the making."""

    def __init__(self, sweep: SweepDir) -> None:
        self.sweep = sweep
        self.points = points_of(sweep)
        self.damaged: list[DamagedTable] = []
        self.verify = f"minimex verify {shlex.quote(sweep.name if sweep.root.is_absolute() else sweep.root.as_posix())}"
        try:
            self.checks = checks_of(sweep)
        except DamagedTable as error:
            self.checks = None
            self.damaged.append(error)
        self.findings = functools.cache(self._findings)

    def body(self) -> str:
        found = [one for one in map(self.findings, self.sweep.table_names) if one is not None]
        found.sort(key=_importance)
        shown = [one for one in found if _is_shown(one)]
        sections = "".join(self.section(one) for one in shown)
        return "\n".join(
            [
                self.header(found),
                self.contents(shown),
                '<main id="main">',
                *(self.summary(name) for name in self.sweep.summary_names),
                self._refuted_elsewhere(shown),
                sections or '<section><p class="muted">No table here has anything to show.</p></section>',
                self.failures(),
                self.other_tables([one for one in found if not _is_shown(one)]),
                self.origin(),
                "</main>",
            ]
        )

    def _findings(self, name: str) -> Findings | None:
        try:
            return findings_of(self.sweep, name, self.points, self.checks)
        except DamagedTable as error:
            self.damaged.append(error)
            return None

    # ---- the top --------------------------------------------------------------------------------------------------------

    def header(self, found: Sequence[Findings]) -> str:
        counts = outcome_counts(self.sweep.brief)
        chips = " ".join(chip(f"{number(count)} {status}", status) for status, count in counts.items())
        experiment = self.sweep.manifest.get("experiment")
        about = f'<p class="muted">experiment {escape(experiment)}</p>' if experiment else ""
        return (
            '<a class="skip" href="#main">to the findings</a>'
            f"<header><h1>{escape(self.sweep.name)}</h1>{about}"
            f"<p>{plural(len(self.sweep.brief), 'point')} {chips} {self._effort()}</p>{self._verdict(found)}{self._damage()}"
            f"{self._varied()}</header>"
        )

    def _effort(self) -> str:
        seconds = pc.sum(self.sweep.brief["wall_s"]).as_py() if len(self.sweep.brief) else None
        published = datetime.fromtimestamp((self.sweep.root / "points.parquet").stat().st_mtime).astimezone()
        said = f"published {published:%Y-%m-%d %H:%M %Z}"
        return f'<span class="muted">{f"{_duration(seconds)} of solving, " if seconds is not None else ""}{said}</span>'

    def _verdict(self, found: Sequence[Findings]) -> str:
        """Sum up all claims in one line."""
        claims = [one for one in found if one.info.check]
        rows = sum(len(one.table) for one in claims)
        refuted = 0 if self.checks is None else pc.sum(pc.equal(self.checks["grade"], "refuted")).as_py() or 0
        if not rows and not refuted:
            return ""
        grades = {name: sum(one.counts.get(name, 0) for one in claims) for name in reversed(GRADES)}
        unjudged = rows - sum(grades.values())
        said = [chip(f"{number(count)} {name}", name) for name, count in grades.items() if count]
        if unjudged:
            said.append(chip(f"{number(unjudged)} not judged yet", "waiting"))
        kind = "bad" if refuted else "plain"
        words = f" Claims refuted: {number(refuted)}, see below." if refuted else ""
        return f'<p class="verdict {kind}">{plural(rows, "finding")}: {" ".join(said)}{words}</p>'

    def _damage(self) -> str:
        items = "".join(f"<li>{escape(error.path.name)}: {escape(str(error).partition(': ')[2])}</li>" for error in self.damaged)
        return f'<div class="verdict bad">Damaged files were left out:<ul>{items}</ul></div>' if items else ""

    def _varied(self) -> str:
        varied = self.points.varied(np.arange(len(self.sweep.brief)))
        rows = []
        for one in varied:
            codes = np.unique(one.codes)
            texts = [shortened(setting_text(one.values[code])) or "none" for code in codes[: _VALUES + 1].tolist()]
            if len(codes) > _VALUES:
                used = [one.numbers[code] for code in codes.tolist()]
                ends = sorted((value, code) for value, code in zip(used, codes.tolist(), strict=True) if value is not None)
                texts = (
                    [f"{one.values[ends[0][1]]} \u2026 {one.values[ends[-1][1]]}"]
                    if len(ends) == len(codes)
                    else [*texts[:-1], "\u2026"]
                )
                texts[-1] += f" ({number(len(codes))} values)"
            rows.append(f"<dt>{escape(one.name)}</dt><dd>{escape(', '.join(texts))}</dd>")
        return f'<dl class="varied" aria-label="what was varied">{"".join(rows)}</dl>' if rows else ""

    def contents(self, shown: Sequence[Findings]) -> str:
        names = [*self.sweep.summary_names, *(one.name for one in shown)]
        links = [f'<li><a href="#table-{escape(name)}">{escape(spoken(name))}</a></li>' for name in names]
        if self._failed().any():
            links.append('<li><a href="#failures">failures</a></li>')
        return f'<nav aria-label="contents"><ul>{"".join(links)}</ul></nav>' if len(links) > 1 else ""

    # ---- the sweep as a whole -------------------------------------------------------------------------------------------

    def summary(self, name: str) -> str:
        """Return the section of a summary's table: its picture and its rows."""
        try:
            rows, info = self.sweep.table(name), self.sweep.info(name)
        except DamagedTable as error:
            return (
                f'<section><h2>{escape(spoken(name))}</h2><p class="muted">It cannot be read: {escape(error.reason)}</p></section>'
            )
        names = [one for one in info.columns if one in rows.schema.names] or rows.schema.names
        limit = max(1, min(_ROWS, _CELLS // len(names)))
        listed = rows.select(names).slice(0, limit)
        cells = [[escape(shortened(cell_text(value))) for value in listed[one].to_pylist()] for one in names]
        numeric = [any(right(one.type) for right in _RIGHT) for one in listed.schema]
        caption = plural(len(rows), "row") + ("" if len(listed) == len(rows) else f", the first {number(len(listed))} are here")
        sheet = table([_column_head(one) for one in listed.schema], list(zip(*cells, strict=True)), caption, numeric, spoken(name))
        about = f"<p>{escape(info.about)}</p>" if info.about else ""
        return (
            f'<section id="table-{escape(name)}"><h2>{escape(spoken(name))}</h2>{about}{self._summary_verdict(name)}'
            f"{self._whole_drawing(info.drawing)}{sheet if len(rows) else ''}</section>"
        )

    def _summary_verdict(self, name: str) -> str:
        """Say whether the summary was made again."""
        mine = () if self.checks is None else self.checks.filter(pc.equal(self.checks["table"], name)).slice(0, 1).to_pylist()
        said = [f"{chip(one['grade'], one['grade'])} {escape(shortened(one['reason'] or ''))}" for one in mine]
        waiting = f"{chip('not judged yet', 'waiting')} Run <code>{escape(self.verify)}</code>."
        return f'<p class="muted">Of the whole sweep: {said[0] if said else waiting}</p>'

    def _whole_drawing(self, target: str | None) -> str:
        if target is None:
            return ""
        try:
            drawing = draw_whole(target, {name: self.sweep.table(name) for name in self.sweep.summary_names})
        except (UnusableDrawing, DamagedTable) as error:
            return f'<p class="muted">It cannot be drawn. {escape(shortened(str(error)))}</p>'
        return f'<figure class="whole">{drawing.svg}</figure>' if drawing is not None else ""

    # ---- one table ------------------------------------------------------------------------------------------------------

    def section(self, one: Findings) -> str:
        about = f"<p>{escape(one.info.about)}</p>" if one.info.about else ""
        return "\n".join(
            [
                f'<section id="table-{escape(one.name)}"><h2>{escape(spoken(one.name))}</h2>{about}',
                claim(one, self.points, self.verify),
                f'<div class="pictures">{self._pictures(one)}</div>',
                self._drawings(one),
                self._rows(one),
                "</section>",
            ]
        )

    def _refuted_elsewhere(self, shown: Sequence[Findings]) -> str:
        """List what was refuted of tables that have no section: missing, unreadable, without claims."""
        if self.checks is None:
            return ""
        names = pa.array([one.name for one in shown], pa.string())
        rest = self.checks.filter(pc.invert(pc.is_in(self.checks["table"], value_set=names)))
        listed = refuted_list(rest, self.points, self.points.varied(np.arange(len(self.sweep.brief))))
        return f"<section><h2>refuted</h2>{listed}</section>" if listed else ""

    def _pictures(self, one: Findings) -> str:
        """Draw what a table asks for. Of few points, or where histograms say what there is to see, no map is missed."""
        groups = groups_of(self.points, one.owners)
        histograms = {picture: _histogram(picture, one, groups) for picture in one.info.pictures if isinstance(picture, Histogram)}
        enough = any(histograms.values()) or len(one.owners) < _MAP_POINTS
        return "".join(
            histograms[picture]
            if isinstance(picture, Histogram)
            else self._picture(picture, one, silent=enough and isinstance(picture, HeatMap))
            for picture in one.info.pictures
        )

    def _picture(self, picture: Curve | HeatMap | Strip, one: Findings, *, silent: bool) -> str:
        data = picture_data(picture, one, self.points, self._other)
        title = escape(picture.title or f"{type(picture).__name__} of {one.name}")
        if silent and not isinstance(data, str) and any(_is_seed(data[axis]["name"]) for axis in "xy"):
            return ""
        if isinstance(data, str):
            return "" if silent else f'<p class="muted">{title}: not drawn. {escape(data)}</p>'
        notes = " ".join(data.pop("notes"))
        title = escape(data["title"])
        thinned = f'<p class="muted note">{escape(notes)}</p>' if notes else ""
        caption = f'<figcaption>{title}</figcaption><noscript><p class="muted">{_NO_SCRIPT}</p></noscript>'
        return f'<figure class="picture {type(picture).__name__}">{caption}{data_block(data)}{thinned}</figure>'

    def _other(self, name: str) -> Findings | None:
        return self.findings(name) if name in self.sweep.table_names else None

    def _drawings(self, one: Findings) -> str:
        if one.info.drawing is None:
            return ""
        varied = self.points.varied(one.owners)
        said = [self._drawing(one.info.drawing, point, varied) for point in one.owners[:_DRAWINGS].tolist()]
        if not any(said):
            return ""
        more = len(one.owners) - len(said)
        note = f'<p class="muted note">{plural(more, "further point")} not drawn.</p>' if more else ""
        return f'<div class="drawings">{"".join(said)}</div>{note}'

    def _drawing(self, target: str, point: int, varied: Sequence[Parameter]) -> str:
        try:
            drawing = draw(self.sweep, target, point, self._tables_of(point))
        except UnusableDrawing as error:
            label = self.points.label(point, varied)
            return f'<p class="muted">{escape(label)}: cannot be drawn. {escape(shortened(str(error)))}</p>'
        if drawing is None:
            return ""
        caption = self._caption(drawing.about, point, varied)
        return f"<figure><figcaption>{escape(caption)}</figcaption>{drawing.svg}</figure>"

    def _caption(self, about: str, point: int, varied: Sequence[Parameter]) -> str:
        """Say which game a drawing is of, what it shows and in what it differs from others; `b = b` says nothing."""
        game = next((one.text(point) for one in self.points.parameters if one.name == "game"), "")
        telling = [one for one in varied if one.name != "game" and one.text(point) != one.name.rpartition(".")[2]]
        label = self.points.label(point, telling) if telling or not about else ""
        said = ": ".join(part for part in (game, about) if part) if about else ""
        return f"{said} ({label})" if said and label else said or label

    def _tables_of(self, point: int) -> dict[str, pa.Table]:
        found = {name: self.findings(name) for name in self.sweep.table_names}
        return {
            name: one.table.filter(pa.array(one.owner == point)).drop_columns(["point"])
            for name, one in found.items()
            if one is not None
        }

    def _rows(self, one: Findings) -> str:
        rows = _headlines(one)
        if not len(rows):
            return "" if one.info.headline == "none" else '<p class="muted">There are no rows.</p>'
        there = [name for name in one.table.schema.names if name != "point"]
        there = [name for name in there if one.table[name].null_count < len(one.table)]
        names = [name for name in one.info.columns if name in there] or there
        varied = self.points.varied(one.owners)
        judged = bool((one.grade[rows] != NOT_JUDGED).any())
        limit = max(1, min(_ROWS, _CELLS // (len(names) + len(varied) + judged)))
        shown = rows[:limit]
        columns = [[shortened(parameter.text(owner)) for owner in one.owner[shown].tolist()] for parameter in varied]
        taken = one.table.select(names).take(pa.array(shown))
        columns += [[shortened(cell_text(value)) for value in taken[name].to_pylist()] for name in names]
        cells = [[escape(text) for text in column] for column in columns]
        if judged:
            cells.append([grade_chip(place) for place in one.grade[shown].tolist()])
        head = [f'<span class="parameter">{escape(parameter.name)}</span>' for parameter in varied]
        head += [_column_head(one.table.schema.field(name)) for name in names] + ["grade"] * judged
        numeric = [parameter.is_numeric(one.owners) for parameter in varied]
        numeric += [any(right(one.table.schema.field(name).type) for right in _RIGHT) for name in names] + [False] * judged
        return table(head, list(zip(*cells, strict=True)), _row_caption(one, len(rows), len(shown)), numeric, spoken(one.name))

    # ---- the bottom -----------------------------------------------------------------------------------------------------

    def _failed(self) -> Any:
        points = self.sweep.brief
        return pc.is_in(points["status"], value_set=pa.array(["failed", "timeout"])).combine_chunks().to_numpy(zero_copy_only=False)

    def failures(self) -> str:
        """Group failed points by what they said."""
        failed = np.flatnonzero(self._failed())
        if not len(failed):
            return ""
        points = self.sweep.brief
        varied = self.points.varied(np.arange(len(points)))
        said = points.select(["status", "error"]).take(pa.array(failed)).append_column("place", pa.array(failed))
        groups = said.group_by(["status", "error"], use_threads=False).aggregate([("place", "min"), ("place", "count")])
        groups = groups.sort_by([("place_count", "descending"), ("place_min", "ascending")])
        items = []
        tracebacks = self.sweep.points_column("traceback")
        for group in groups.slice(0, _FAILURES).to_pylist():
            place = group["place_min"]
            traceback = tracebacks[place].as_py()
            folded = f"<details><summary>traceback</summary><pre>{escape(traceback)}</pre></details>" if traceback else ""
            others = f" and {plural(group['place_count'] - 1, 'other point')}" if group["place_count"] > 1 else ""
            error = escape(shortened(group["error"] or "nothing was said"))
            where = escape(self.points.label(place, varied))
            items.append(f"<li>{chip(group['status'], group['status'])} {where}{others}<p><code>{error}</code></p>{folded}</li>")
        more = len(groups) - len(items)
        note = f'<p class="muted">{plural(more, "further kind")} of error not shown.</p>' if more else ""
        return (
            f'<section id="failures"><h2>failures</h2><p>{plural(len(failed), "point")} found nothing; '
            f'<code>retry_failed=true</code> runs them again.</p><ul class="failures">{"".join(items)}</ul>{note}</section>'
        )

    def other_tables(self, rest: Sequence[Findings]) -> str:
        rows = [[f"<code>{escape(one.name)}</code>", number(len(one.table)), escape(one.info.about)] for one in rest]
        if not rows:
            return ""
        return f"<section><h2>other tables</h2>{table(['table', 'rows', 'about'], rows, 'Tables without a picture')}</section>"

    def origin(self) -> str:
        manifest = self.sweep.manifest
        commands = manifest.get("commands") or []
        versions = manifest.get("versions")
        said = "".join(f"<pre>{escape(_command(one))}</pre>" for one in (commands if isinstance(commands, list) else [commands]))
        items = [*(versions.items() if isinstance(versions, Mapping) else []), *_given(manifest, "created")]
        listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(cell_text(version))}</dd>" for name, version in items)
        return (
            f"<section><h2>how it was made</h2>{said or '<p class=muted>The manifest names no command.</p>'}"
            f"{f'<dl>{listed}</dl>' if listed else ''}<p class='muted'>Every finding is in <code>tables/*.parquet</code>, "
            f"every point in <code>points.parquet</code>. To judge them again: <code>{escape(self.verify)}</code></p></section>"
        )


# ---- words -------------------------------------------------------------------------------------------------------------------


def _given(manifest: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return [(key, manifest[key])] if key in manifest else []


def _importance(one: Findings) -> tuple[bool, bool, bool, str]:
    return not one.is_refuted, one.info.check is None, not (one.info.pictures or one.info.drawing), one.name


def _is_shown(one: Findings) -> bool:
    return bool(one.info.check or one.info.pictures or one.info.drawing or one.info.headline != "none")


def _is_seed(name: str) -> bool:
    return name.rpartition(".")[2] == "seed"


def _histogram(picture: Histogram, one: Findings, groups: Groups) -> str:
    drawn = histogram(picture, one, groups)
    if drawn is None:
        return ""
    note = f'<p class="muted note">{escape(" ".join(drawn.notes))}</p>'
    caption = f"<figcaption>{escape(drawn.title)}</figcaption>"
    if len(groups.groups) == 1:
        inner = "".join(f'<div class="canvas">{panel.svg}</div>' for panel in drawn.panels)
        return f'<figure class="Histogram">{caption}{inner}{note}</figure>'
    inner = "".join(f'<div class="canvas"><p>{escape(panel.label)}</p>{panel.svg}</div>' for panel in drawn.panels)
    summed = [panel for panel in drawn.panels if panel.summary is not None]
    numbers = _summaries(drawn.title, summed, groups)
    return f'<figure class="Histogram grouped">{caption}<div class="panels">{inner}</div>{numbers}{note}</figure>'


def _summaries(title: str, panels: Sequence[Panel], groups: Groups) -> str:
    """Return the table of the groups' numbers, summed up."""
    if not panels:
        return ""
    values = {groups.label(group): group.values for group in groups.groups}
    rows = [
        [*map(escape, values[panel.label]), number(one.count), *(f"{value:.4g}" for value in _numbers(one))]
        for panel in panels
        if (one := panel.summary) is not None
    ]
    head = [*(f'<span class="parameter">{escape(key)}</span>' for key in groups.keys), "count", "mean"]
    head += ["standard error", "standard deviation", "least", "median", "greatest"]
    return table(head, rows, f"{title}, summed up", [True] * len(head))


def _numbers(one: Summary) -> tuple[float, ...]:
    return one.mean, one.error, one.deviation, one.least, one.median, one.greatest


def _headlines(one: Findings) -> Integers:
    """Return the rows to be listed, refuted ones first."""
    if one.info.headline == "none":
        rows = np.flatnonzero(one.grade == REFUTED)
    else:
        rows = one.lasts() if one.info.headline == "last" else np.arange(len(one.table))
    return rows[np.argsort(one.grade[rows] != REFUTED, kind="stable")]


def _row_caption(one: Findings, count: int, shown: int) -> str:
    if one.info.headline == "none":
        what = plural(count, "refuted row")
    elif one.info.headline == "last":
        what = f"The last row of {'each point' if count > 1 else 'the point'}"
    else:
        what = plural(count, "row")
    return what if shown == count else f"{what}, the first {number(shown)} are here"


def _column_head(field: pa.Field) -> str:
    about = (field.metadata or {}).get(b"about", b"").decode(errors="replace")
    return f'<span title="{escape(about)}">{escape(field.name)}</span>' if about else escape(field.name)


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:  # noqa: PLR2004 (two minutes)
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004 (two hours)


def _command(said: Any) -> str:
    """Return a command as it would be typed, however the manifest keeps it."""
    if isinstance(said, list):
        return shlex.join(str(word) for word in said)
    if isinstance(said, Mapping):
        inner = said.get("command") or said.get("argv")
        rest = " ".join(f"{key}={cell_text(value)}" for key, value in said.items() if key not in ("command", "argv"))
        return f"{_command(inner)}    # {rest}" if inner and rest else _command(inner) if inner else rest
    return str(said)
