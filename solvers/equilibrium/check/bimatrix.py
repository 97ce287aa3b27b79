"""Judge equilibria of general-sum games from the game and the table alone.

An equilibrium is its own certificate: with exact fractions, recompute what each action earns against the other player's mixture
and see that no action earns more. That it is extreme is a rank; the components are found again by walking along shared strategies.
Not judged: whether further equilibria are missing (and with them, whether two components are one).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from solvers.contract import Verdict
from solvers.equilibrium.check.reading import (
    Mixture,
    Refuted,
    dot,
    judging,
    read_mixture,
    read_rows,
    rounded,
    see_cells,
    see_numbers,
    shown,
    support_of,
)
from solvers.forms import BimatrixGame

TABLE = "bimatrix_equilibria"
COLUMNS = ("index", "x", "y", "u1", "u2", "x_support", "y_support", "u1_float", "u2_float", "extreme", "component")

Pair = tuple[Mixture, Mixture]


@judging(TABLE)
def check_bimatrix_equilibria(game: Any, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge each row of `bimatrix_equilibria`; exact, O(m n (m + n)) fractions a row.

    A row is `proved` if x and y are probability distributions, u1 = x'Ay, u2 = x'By, no row earns player 1 more and no column
    player 2, `extreme` says whether x and y are determined by what is played and best, `component` is its number among the sets of
    rows linked by a shared x or y, everything else the row says follows, and it stands in its place: index from 0, pairs (x, y)
    strictly falling in dictionary order. No rows: nothing is claimed.

    Parameters
    ----------
    game
        A game that gives a `BimatrixGame`.
    tables
        `bimatrix_equilibria`, without the column `point`; may hold anything.
    """
    rows = read_rows(tables, TABLE, COLUMNS)
    if not rows:
        return
    form = game.form(BimatrixGame)
    pairs = [_read_pair(form, row) for row in rows]
    linked = _components([pair for pair in pairs if not isinstance(pair, Refuted)])
    before: Pair | None = None
    for number, (row, pair) in enumerate(zip(rows, pairs, strict=True)):
        try:
            if isinstance(pair, Refuted):
                raise pair
            _judge(form, row, pair, before, {"index": number, "component": linked[_key(pair)]})
        except Refuted as wrong:
            yield Verdict(TABLE, number, "refuted", str(wrong))
            continue
        before = pair
        m, n = form.shape
        yield Verdict(TABLE, number, "proved", f"equilibrium: none of {m} rows and {n} columns does better")


def _read_pair(game: BimatrixGame, row: Mapping[str, Any]) -> Pair | Refuted:
    try:
        return read_mixture("x", row["x"], len(game.row_actions)), read_mixture("y", row["y"], len(game.column_actions))
    except Refuted as wrong:
        return wrong


def _judge(game: BimatrixGame, row: Mapping[str, Any], pair: Pair, before: Pair | None, said: Mapping[str, Any]) -> None:
    """Raise what is wrong with a row; `before` is the last pair that was right, `said` what else the row should say."""
    if before is not None and pair >= before:
        raise Refuted("repeats an earlier row, or stands in the wrong order")
    x, y = pair
    replies = []
    for player, name, mine, actions, earned in (
        (1, "u1", x, game.row_actions, [dot(line, y) for line in game.a]),
        (2, "u2", y, game.column_actions, [dot(line, x) for line in zip(*game.b, strict=True)]),
    ):
        payoff = dot(earned, mine)
        see_numbers(row, {name: payoff})
        if max(earned) > payoff:
            best = actions[earned.index(max(earned))]
            raise Refuted(f"not an equilibrium: {best} earns player {player} {shown(max(earned))}, more than {shown(payoff)}")
        replies.append([place for place, one in enumerate(earned) if one == payoff])
    wanted = {
        **said,
        "x_support": support_of(x, game.row_actions),
        "y_support": support_of(y, game.column_actions),
        "u1_float": rounded(Fraction(row["u1"])),
        "u2_float": rounded(Fraction(row["u2"])),
        "extreme": _is_determined(x, [[line[j] for j in replies[1]] for line in game.b])
        and _is_determined(y, [[game.a[i][j] for i in replies[0]] for j in range(len(y))]),
    }
    see_cells(row, wanted)


def _is_determined(mixture: Mixture, payoffs: Sequence[Sequence[Fraction]]) -> bool:
    """Say whether no other mixture of the actions played makes the other player's best replies pay alike.

    `payoffs` `[actions, best replies]` are the other player's. The mixtures that do form a flat of dimension (actions played) -
    (rank of the payoffs' differences, bordered by ones).
    """
    rows = [[Fraction(1), *(entry - line[0] for entry in line[1:])] for line, one in zip(payoffs, mixture, strict=True) if one]
    return _rank(rows) == len(rows)


def _rank(rows: list[list[Fraction]]) -> int:
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((place for place in range(rank, len(rows)) if rows[place][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for place in range(rank + 1, len(rows)):
            if rows[place][column]:
                factor = rows[place][column] / rows[rank][column]
                rows[place] = [entry - factor * lead for entry, lead in zip(rows[place], rows[rank], strict=True)]
        rank += 1
        if rank == len(rows):
            break
    return rank


def _key(pair: Pair) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    return tuple(pair[0]), tuple(pair[1])


def _components(pairs: Sequence[Pair]) -> dict[tuple[tuple[Fraction, ...], tuple[Fraction, ...]], int]:
    """Number the pairs by what they are linked with through a shared x or y: from 0, as they come up."""
    keys = [_key(pair) for pair in pairs]
    sharing: dict[tuple[int, tuple[Fraction, ...]], list[int]] = {}
    for place, key in enumerate(keys):
        for side in (0, 1):
            sharing.setdefault((side, key[side]), []).append(place)
    numbers: dict[int, int] = {}
    count = 0
    for start in range(len(keys)):
        if start in numbers:
            continue
        waiting = [start]
        while waiting:
            place = waiting.pop()
            if place not in numbers:
                numbers[place] = count
                waiting += [other for side in (0, 1) for other in sharing.pop((side, keys[place][side]), [])]
        count += 1
    return {key: numbers[place] for place, key in enumerate(keys)}
