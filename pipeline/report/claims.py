"""What a table claims, what was proved, and by whom."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.report.findings import NOT_JUDGED, Findings, Parameter, Points
from pipeline.report.markup import bar, chip, escape, number, plural, shortened, spoken, table
from solvers.contract import GRADES

_REFUTED = 100
_REASONS = 5


def claim(one: Findings, points: Points, verify: str) -> str:
    """Return what a table claims and what the checkers said about it."""
    size = f"{plural(len(one.table), 'row')} of {plural(len(one.owners), 'point')}"
    said = f"{size}, each claimed to be <em>{escape(claim_in_words(one.info.claims))}</em>."
    said = said if one.info.check else f"{size}; nothing is claimed."
    checker = f"<code>{escape(one.info.check)}</code>"
    refuted = refuted_list(one.verdicts, points, points.varied(one.owners))
    if not one.info.check:
        return f'<p class="muted">{said}</p>{refuted}'
    if one.verdicts is None:
        return f"<p>{said} Not judged yet: run <code>{escape(verify)}</code> (the checker is {checker}).</p>"
    counts = one.counts
    unjudged = len(one.table) - sum(counts.values())
    chips = " ".join(chip(f"{number(count)} {name}", name) for name, count in counts.items()) or "nothing"
    late = f" {chip(f'{number(unjudged)} not judged yet', 'waiting')} Run <code>{escape(verify)}</code>." if unjudged else ""
    short = int((one.grade > GRADES.index(one.info.claims or "proved")).sum())
    reached = f" {_reached(short)}" if short or (len(one.table) and not unjudged) else ""
    shares = bar({**counts, "waiting": unjudged}) if len(one.table) else ""
    return f"<p>{said} Judged by {checker}: {chips}.{late}{reached}</p>{shares}{refuted}{_unchecked(one.verdicts)}"


def claim_in_words(grade: str | None) -> str:
    """Return the grade a table claims, which is the least that any of its rows may get: each has a grade of its own.

    Examples
    --------
    >>> claim_in_words("proved"), claim_in_words("sampled")
    ('proved', 'sampled or better')
    """
    return f"{grade}" if grade == GRADES[0] else f"{grade} or better"


def refuted_list(verdicts: pa.Table | None, points: Points, varied: Sequence[Parameter]) -> str:
    """List what was refuted, rows and whole tables."""
    refuted = None if verdicts is None else verdicts.filter(pc.equal(verdicts["grade"], "refuted"))
    if refuted is None or not len(refuted):
        return ""
    first = refuted.slice(0, _REFUTED)
    places = pc.index_in(first["point"].cast(pa.string()).combine_chunks(), value_set=points.hashes).to_pylist()
    rows = [
        [
            escape(spoken(name)),
            "" if place is None else escape(points.label(place, varied)),
            "all" if row is None else str(row),
            escape(shortened(reason or "")),
        ]
        for name, place, row, reason in zip(
            first["table"].to_pylist(), places, first["row"].to_pylist(), first["reason"].to_pylist(), strict=True
        )
    ]
    more = f"; the first {_REFUTED} are here" if len(refuted) > _REFUTED else ""
    caption = f"{plural(len(refuted), 'refuted claim')}{more}"
    return f'<div class="refutations">{table(["table", "point", "row", "reason"], rows, caption)}</div>'


def grade_chip(place: int) -> str:
    """Return a row's grade, given by its place in `GRADES`."""
    name = "waiting" if place == NOT_JUDGED else GRADES[place]
    return chip("not judged yet" if place == NOT_JUDGED else name, name)


def _unchecked(verdicts: pa.Table) -> str:
    """Say why findings were left unchecked, the most frequent reasons first."""
    left = verdicts.filter(
        pc.and_(pc.equal(verdicts["grade"], "unchecked"), pc.not_equal(pc.fill_null(verdicts["reason"], ""), ""))
    )
    reasons = left.group_by("reason").aggregate([([], "count_all")]).sort_by([("count_all", "descending"), ("reason", "ascending")])
    said = [
        f"<li>{number(one['count_all'])}: {escape(shortened(one['reason']))}</li>" for one in reasons.slice(0, _REASONS).to_pylist()
    ]
    return f'<div class="muted note">Left unchecked:<ul>{"".join(said)}</ul></div>' if said else ""


def _reached(short: int) -> str:
    return f"<strong>{plural(short, 'row')} fell short of the claim.</strong>" if short else "Every row reached what was claimed."
