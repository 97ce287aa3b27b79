"""Checkers of the fakes' tables; they can refute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from minimex_fakes.games import Sequence
from solvers.contract import Verdict


def check_sums(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    values = game.form(Sequence).values
    before = 0
    for row, said in enumerate(tables["sums"].to_pylist()):
        total = sum((values[place % len(values)] for place in range(said["step"] or 0)), Fraction(0))
        wrong = None
        if said["step"] is None or said["step"] <= before:
            wrong = "steps do not ascend"
        elif said["total"] != str(total):
            wrong = f"total is {total}"
        elif said["total_float"] != float(total):
            wrong = f"total_float is {float(total)}"
        elif said["noise"] is None or said["noise"].hex() != said["noise_hex"]:
            wrong = "noise was changed"
        before = said["step"] or before
        yield Verdict("sums", row, "refuted" if wrong else "proved", wrong or "summed again")


def check_firsts(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    first = str(game.form(Sequence).values[0])
    for row, said in enumerate(tables["firsts"].to_pylist()):
        right = said["first"] == first and said["noise"] is not None and said["noise"].hex() == said["noise_hex"]
        yield Verdict("firsts", row, "proved" if right else "refuted", "" if right else f"first is {first}")
