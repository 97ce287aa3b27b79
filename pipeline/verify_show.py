"""What a verification found, on the screen."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from pipeline.report.claims import claim_in_words
from pipeline.verify import Judgement

_SHOWN = 20


def print_judgement(judged: Judgement, console: Console) -> None:
    """Print how many findings of each table reached which grade, and what is wrong with the rest."""
    for name, grades in judged.counts().items():
        claimed = judged.claims.get(name)
        said = ", ".join(f"{count:,} {grade}" for grade, count in grades.items())
        console.print(f"{name}: {said}" + (f" (claimed: {claim_in_words(claimed)})" if claimed else ""))
    if not len(judged.checks):
        console.print("no finding to judge")
    wrong = judged.checks.filter(pc.is_in(judged.checks["grade"], value_set=pa.array(["refuted", "unchecked"])))
    for row in wrong.slice(0, _SHOWN).to_pylist():
        where = f"{row['table']}[{'' if row['row'] is None else row['row']}]"
        style = "red" if row["grade"] == "refuted" else "yellow"
        console.print(Text(f"{row['grade']}: {where} of {(row['point'] or 'all points')[:12]}: {row['reason']}", style=style))
    if len(wrong) > _SHOWN:
        console.print(f"... {len(wrong) - _SHOWN:,} more" + ("" if judged.unwritten else " in checks.parquet"), style="dim")
    if judged.unwritten:
        console.print(f"checks.parquet could not be written: {judged.unwritten}", style="red")
