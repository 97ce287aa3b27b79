"""A sweep of many points in a few numbers: what a terminal has room for of the histograms in the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.distribution import Ranking, distribution, summary
from pipeline.report.findings import Findings, Integers, Points
from pipeline.report.groups import FEWEST_POINTS, Groups, groups_of
from pipeline.report.histogram import values_of
from pipeline.report.markup import cell_text
from solvers.schema import Histogram

_MOST_KINDS = 9

Value = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A small table: its title, its head, and rows of text, a row for each group of points; all but the keys are numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def summaries(findings: Findings, points: Points, asked: Integers) -> Iterator[Sheet]:
    """Yield a sheet for each histogram of a table whose numbers can be said in few, counting some of the points."""
    owners = findings.owners[np.isin(findings.owners, asked)]
    if len(owners) < FEWEST_POINTS:
        return
    groups = groups_of(points, owners)
    for picture in findings.info.pictures:
        if isinstance(picture, Histogram):
            made = _shares(picture, findings, groups) if picture.parts else _moments(picture, findings, groups)
            if made is not None:
                yield made


def _moments(picture: Histogram, findings: Findings, groups: Groups) -> Sheet | None:
    rows = []
    for group in groups.groups:
        values = values_of(picture, findings, group.points)
        one = summary(values) if isinstance(values, np.ndarray) else None
        if one is None:
            return None
        numbers = (one.mean, one.error, one.deviation, one.least, one.median, one.greatest)
        rows.append((*group.values, f"{one.count:,}", *(f"{number:.4g}" for number in numbers)))
    head = ("count", "mean", "std error", "std deviation", "least", "median", "greatest")
    return Sheet(picture.title or ", ".join(picture.value), (*groups.keys, *head), tuple(rows))


def _shares(picture: Histogram, findings: Findings, groups: Groups) -> Sheet | None:
    """Return how the rows of each group are shared out among the most frequent values."""
    found = [_ranking(picture, findings, group.points) for group in groups.groups]
    whole: Counter[Value] = Counter()
    for one in found:
        whole.update(_counts(one))
    if not whole:
        return None
    frequent = {value for value, _ in whole.most_common(_MOST_KINDS)}
    kinds = list(dict.fromkeys(value for one in found if one is not None for value in one.values if value in frequent))
    if all(isinstance(part, int) for value in kinds for part in value):
        kinds.sort()
    others = ("others",) if len(whole) > len(kinds) or any(one is not None and one.others for one in found) else ()
    rows = []
    for group, one in zip(groups.groups, found, strict=True):
        counts, total = _counts(one), sum(one.counts) + one.others if one is not None else 0
        numbers = [counts.get(value, 0) for value in kinds]
        numbers += [total - sum(numbers)] if others else []
        rows.append((*group.values, f"{total:,}", *(f"{100 * count / total:.3g} %" if count else "" for count in numbers)))
    names = (" \u00b7 ".join(cell_text(part) or "none" for part in value) for value in kinds)
    return Sheet(picture.title or ", ".join(picture.value), (*groups.keys, "count", *names, *others), tuple(rows))


def _counts(one: Ranking | None) -> dict[Value, int]:
    return {} if one is None else dict(zip(one.values, one.counts, strict=True))


def _ranking(picture: Histogram, findings: Findings, points: Integers) -> Ranking | None:
    values = values_of(picture, findings, points)
    if isinstance(values, np.ndarray):
        numbers, counts = np.unique(values[np.isfinite(values)].astype(np.int64), return_counts=True)
        return Ranking(tuple((one,) for one in numbers.tolist()), tuple(counts.tolist()))
    found = distribution(values)
    return found if isinstance(found, Ranking) else None


def places_of(points: Points, hashes: Sequence[str]) -> Integers:
    """Return where points stand, by hash; unknown ones are left out."""
    found = pc.index_in(pa.array(hashes, pa.string()), value_set=points.hashes)
    places: Integers = pc.drop_null(found).to_numpy(zero_copy_only=False).astype(np.int64)
    return places
