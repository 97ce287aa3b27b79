"""What is published of a game's period, and whether a row of `periods` agrees: `../facts/octal.csv`, with a source for each.

Games are looked up by their octal code, whatever tables call them: a subtraction game is one, too.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from solvers.forms import HeapGame


@dataclass(frozen=True, slots=True)
class Fact:
    """A published row: `period` and `preperiod` are None of a game that was open to heap `open_to`, where `max_nimber` is meant."""

    period: int | None
    preperiod: int | None
    max_nimber: int
    open_to: int | None
    source: str


@functools.cache
def facts() -> Mapping[str, Fact]:
    """Return what is published, by code."""
    text = files("solvers.impartial").joinpath("facts", "octal.csv").read_text(encoding="utf-8")
    return {row["code"]: _fact(row) for row in csv.DictReader(text.splitlines())}


def _fact(row: Mapping[str, str]) -> Fact:
    period, preperiod = (int(row[name]) if row[name] else None for name in ("period", "preperiod"))
    open_to = None if row["status"] == "periodic" else int(row["status"].rpartition(" ")[2])
    return Fact(period, preperiod, int(row["max_nimber"]), open_to, row["source"])


def octal_code(form: HeapGame) -> str:
    """Return the octal code of a game; its name where there is none, because heaps must differ.

    Examples
    --------
    >>> octal_code(HeapGame((0, 3, 0, 3), "subtraction {1,3}")), octal_code(HeapGame((0,), "0.0"))
    ('0.303', '0.0')
    """
    first, *rest = form.digits
    return form.code if form.unequal else f"{first}.{''.join(map(str, rest)) or '0'}"


def compared(code: str, period: int | None, preperiod: int | None, max_nimber: int, heaps_done: int) -> tuple[bool, str]:
    """Say whether a row may stand beside what is published, and how it does.

    Examples
    --------
    >>> compared("0.77", 12, 71, 8, 256)
    (True, 'agrees with tczajka/octal-games TrivialGames.md; OEIS A002186')
    >>> compared("0.77", 12, 70, 8, 256)[0]
    False
    >>> compared("0.45671", 5, 6, 7, 1000)
    (True, 'new: no published value is known here')
    """
    fact = facts().get(code)
    if fact is None:
        return True, "new: no published value is known here"
    if fact.period is None:
        if heaps_done == fact.open_to and max_nimber != fact.max_nimber:
            return False, f"max_nimber {max_nimber} found, {fact.max_nimber} published ({fact.source})"
        if period is None:
            return True, f"agrees with {fact.source}: open"
        return True, f"new: published as open to heap {fact.open_to} ({fact.source})"
    if period is None:
        return True, f"published: period {fact.period} from {fact.preperiod} on ({fact.source})"
    if (period, preperiod, max_nimber) == (fact.period, fact.preperiod, fact.max_nimber):
        return True, f"agrees with {fact.source}"
    found = f"period {period} from {preperiod} on, largest nimber {max_nimber}"
    return False, f"{found} found; {fact.period} from {fact.preperiod} on, {fact.max_nimber} published ({fact.source})"
