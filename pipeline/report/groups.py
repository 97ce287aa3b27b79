"""Which points of a sweep are counted together: those that are alike in the swept keys that matter.

A histogram over games of all sizes says little, and so does one for each of a thousand seeds. A key separates points if they fall
into a few groups with enough points in each; a seed never does. Of several keys those with the most values give way first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.report.findings import Integers, Parameter, Points
from pipeline.report.markup import cell_text, shortened

FEWEST_POINTS = 20
"""Fewer points than this have no distribution."""
MOST_GROUPS = 12


@dataclass(frozen=True, slots=True)
class Group:
    """Some points: `values` are what they share, one text for each of the keys."""

    values: tuple[str, ...]
    points: Integers


@dataclass(frozen=True, slots=True)
class Groups:
    """All points, each in one group, in the order of the keys' values; without keys there is one group."""

    keys: tuple[str, ...]
    groups: tuple[Group, ...]

    def label(self, group: Group) -> str:
        """Say which group it is: `game.size = 3`."""
        return " \u00b7 ".join(f"{key} = {value or 'none'}" for key, value in zip(self.keys, group.values, strict=True))


def groups_of(points: Points, owners: Integers) -> Groups:
    """Return these points in groups."""
    keys = [one for one in points.varied(owners) if one.name.rpartition(".")[2] != "seed"]
    while keys:
        found, group_of, sizes = np.unique(
            np.stack([one.codes[owners] for one in keys]), axis=1, return_inverse=True, return_counts=True
        )
        if len(sizes) <= MOST_GROUPS and sizes.min() >= FEWEST_POINTS:
            order = sorted(range(len(sizes)), key=lambda place: _natural(keys, found[:, place].tolist()))
            return Groups(tuple(one.name for one in keys), tuple(_group(keys, found, group_of, owners, place) for place in order))
        keys.remove(max(keys, key=lambda one: len(np.unique(one.codes[owners]))))
    return Groups((), (Group((), owners),))


def _group(keys: Sequence[Parameter], found: Integers, group_of: Integers, owners: Integers, place: int) -> Group:
    texts = (shortened(cell_text(one.values[code])) for one, code in zip(keys, found[:, place].tolist(), strict=True))
    return Group(tuple(texts), owners[group_of.reshape(-1) == place])


def _natural(keys: Sequence[Parameter], codes: Iterable[int]) -> list[Any]:
    """Return what a group is sorted by: numbers first, in order."""
    numbers = [(one.numbers[code], cell_text(one.values[code])) for one, code in zip(keys, codes, strict=True)]
    return [(number is None, number or 0, text) for number, text in numbers]
