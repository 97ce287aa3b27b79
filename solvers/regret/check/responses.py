"""Judge best replies to given strategies on a game tree: everything is computed again, exactly, from the probabilities stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.forms import GameTree
from solvers.regret.check.reading import (
    Refuted,
    clipped,
    place_fault,
    read_number,
    read_rows,
    read_slots,
    rounded,
    same,
    slots_of,
    sum_faults,
)
from solvers.regret.check.walk import Walk

RESPONSES, EXPLOITABILITY = "responses", "exploitability"
RESPONSE_COLUMNS = ("player", "infoset", "action", "probability", "value", "value_float", "best")
EXACT_COLUMNS = ("value", "gain_p1", "gain_p2", "exploitability")
COLUMNS = (*EXACT_COLUMNS, *(f"{name}_float" for name in EXACT_COLUMNS), "milli_antes", "pot_percent")


def check_responses(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for each row of `responses`; never raises, whatever the table holds. Time: some us an end of the game."""
    tree: GameTree = game.form(GameTree)
    try:
        sigma, rows = _read(tree, tables)
        walk = Walk(tree)
        plans = walk.exact_plans(sigma)
    except Refuted as wrong:
        yield Verdict(RESPONSES, None, "refuted", str(wrong))
        return
    first = tree.first_slot.tolist()
    worth = {player: walk.exact_worth(player, plans) for player in (1, 2)}
    for i, player in enumerate(tree.infoset_player.tolist()):
        values, scale = worth[player]
        most = max(values[first[i] : first[i + 1]])
        for slot in range(first[i], first[i + 1]):
            value = Fraction(values[slot], scale)
            try:
                same("value", rows[slot]["value"], str(value) if tree.is_exact else None)
                same("value_float", rows[slot]["value_float"], rounded(value))
                same("best", rows[slot]["best"], values[slot] == most)
            except Refuted as wrong:
                yield Verdict(RESPONSES, slot, "refuted", str(wrong))
                continue
            yield Verdict(RESPONSES, slot, "proved" if tree.is_exact else "recomputed", "computed again, exactly")


def check_exploitability(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Yield a verdict for the row of `exploitability`; never raises, whatever the tables hold."""
    tree: GameTree = game.form(GameTree)
    try:
        rows = read_rows(tables, EXPLOITABILITY, COLUMNS)
        if len(rows) != 1:
            raise Refuted(f"expected one row, got {len(rows)}")  # noqa: TRY301
        sigma, _ = _read(tree, tables)
    except Refuted as wrong:
        yield Verdict(EXPLOITABILITY, None, "refuted", str(wrong))
        return
    walk = Walk(tree)
    plans = walk.exact_plans(sigma)
    value = walk.exact_mean(plans)
    gains = (walk.exact_best(1, plans) - value, walk.exact_best(2, plans) + value)
    numbers = dict(zip(EXACT_COLUMNS, (value, *gains, sum(gains, Fraction()) / 2), strict=True))
    antes = numbers["exploitability"] / tree.ante if tree.ante is not None else None
    try:
        for name, number in numbers.items():
            same(name, rows[0][name], str(number) if tree.is_exact else None)
            same(f"{name}_float", rows[0][f"{name}_float"], rounded(number))
        for name, share in (("milli_antes", 1000), ("pot_percent", 50)):
            same(name, rows[0][name], rounded(antes * share) if antes is not None else None)
    except Refuted as wrong:
        yield Verdict(EXPLOITABILITY, 0, "refuted", str(wrong))
        return
    yield Verdict(EXPLOITABILITY, 0, "proved" if tree.is_exact else "recomputed", "computed again, exactly")


def _read(tree: GameTree, tables: Mapping[str, pa.Table]) -> tuple[list[Fraction], list[dict[str, Any]]]:
    """Return the given strategies, one number a slot, and the rows."""
    rows = read_slots(tree, tables, RESPONSES, RESPONSE_COLUMNS)
    slots = slots_of(tree)
    if len(rows) != len(slots):
        raise Refuted(f"expected {len(slots)} rows, one for each action of each information set, got {len(rows)}")
    sigma = []
    for number, (row, slot) in enumerate(zip(rows, slots, strict=True)):
        fault = place_fault(row, slot)
        if fault:
            raise Refuted(f"row {number}: {fault}")
        sigma.append(read_number(f"row {number}: probability", row["probability"]))
    wrong = next(iter(sum_faults(tree, sigma).items()), None)
    if wrong is not None:
        raise Refuted(f"row {wrong[0]}: {clipped(wrong[1])}")
    return sigma, rows
