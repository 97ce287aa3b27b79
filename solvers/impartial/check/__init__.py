"""Judge nimbers and their periods again, from the tables and the rules alone.

How it differs from the solvers, rules aside: options are sets, kept as the bits of Python integers, and the splits of a sum are
gathered once for all digits that break; periods are searched for shift by shift, by comparing the tail first. A proved period
(the theorem of Guy and Smith 1956, as stated in `plain.window`) stands for all larger heaps, so most games are recomputed to a few
hundred heaps only.

Proved: every row for heaps up to 100,000 (which takes some 5 s), and every row at all once a period is proved within that.
Where the row of `periods` says how rare heaps are told, more is proved: all heaps are run again with a witness for every value
(`recurrence`), up to some 400 million heaps, some of them with all their options; they give the rows of `nimbers`, and the proof
that is claimed, Guy and Smith's or a window, is judged on them. A proved row that contradicts what is published (`facts`) is
refuted.

Sampled, because no such proof was found: rows for larger heaps, a fixed choice of which is recomputed from the stored nimbers of
the smaller ones; and what is said of the period, judged in full, but in those stored nimbers. Every right row reaches `sampled`,
which is what the tables claim. Unchecked: larger heaps where the nimbers that would be needed are missing or wrong.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.contract import Game, Grade, Verdict
from solvers.forms import HeapGame
from solvers.impartial.check import plain, recurrence
from solvers.impartial.check.facts import compared, octal_code
from solvers.impartial.check.plain import AnyInts, IntArray, Known

SAMPLES = 64
_KEPT = 20_000_000
_FIRST = 16_384
_BEGINNING = 32
_HASH = "fnv64"
_RARES = ("mask", "parity", "rare_count", "last_rare")


def check_nimbers(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge every row of `nimbers`, and whether rows are missing. A table without rows claims nothing."""
    form = game.form(HeapGame)
    stored = _plain_nimbers(tables)
    if stored is not None:
        yield from _judge_in_order(form, stored, tables)
        return
    heaps, nimbers = _values(tables, "nimbers", "n"), _values(tables, "nimbers", "nimber")
    if heaps is None or nimbers is None:
        yield Verdict("nimbers", None, "refuted", "columns n and nimber wanted")
        return
    missing = _gap(heaps, tables)
    if missing:
        yield Verdict("nimbers", None, "refuted", missing)
    known = _known_of(form, max((heap for heap in heaps if _is_natural(heap)), default=0), tables)
    beyond, wrong_beyond = _sample(form, heaps, nimbers, known)
    for row, (heap, nimber) in enumerate(zip(heaps, nimbers, strict=True)):
        wanted = known.nimber(heap) if _is_natural(heap) else None
        if not _is_natural(heap) or not _is_natural(nimber):
            yield Verdict("nimbers", row, "refuted", f"a heap and its nimber wanted, {_shown(heap)} and {_shown(nimber)} found")
        elif wanted is None and heap in wrong_beyond:
            yield Verdict("nimbers", row, "refuted", f"{wrong_beyond[heap]} follows from the smaller heaps, {nimber} found")
        elif wanted is None:
            yield Verdict("nimbers", row, *beyond)
        elif wanted != nimber:
            yield Verdict("nimbers", row, "refuted", f"heap {heap} has nimber {wanted}, {nimber} found")
        else:
            yield Verdict("nimbers", row, "proved")


def _judge_in_order(form: HeapGame, stored: AnyInts, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the nimbers of heaps 0, 1, ... in order, stretches of equal verdicts at once: millions of rows in a second."""
    missing = _missing_after(len(stored), tables)
    if missing:
        yield Verdict("nimbers", None, "refuted", missing)
    known = _known_of(form, len(stored) - 1, tables)
    wanted = known.nimbers(len(stored))
    beyond: tuple[Grade, str] = ("unchecked", "")
    wrong_beyond: Mapping[int, int] = {}
    if len(wanted) < len(stored):
        beyond, wrong_beyond = _sample_beyond(form, stored, known)
    wrong = {int(row): int(wanted[row]) for row in np.flatnonzero(stored[: len(wanted)] != wanted)}
    reasons = {row: f"heap {row} has nimber {right}, {stored[row]} found" for row, right in wrong.items()}
    reasons |= {row: f"{right} follows from the smaller heaps, {stored[row]} found" for row, right in wrong_beyond.items()}
    stops = sorted({*reasons, *(row + 1 for row in reasons), len(wanted), len(stored), 0})
    for first, after in itertools.pairwise(stops):
        if first in reasons:
            yield Verdict("nimbers", first, "refuted", reasons[first])
        elif first < len(wanted):
            yield Verdict("nimbers", first, "proved", count=after - first)
        else:
            yield Verdict("nimbers", first, *beyond, count=after - first)


def check_periods(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the one row of `periods`: window, least period, least preperiod, largest nimber; or that nothing was provable.

    If no nimbers were kept, `heaps_done` is taken at its word.
    """
    form = game.form(HeapGame)
    table = tables.get("periods")
    rows = 0 if table is None else table.num_rows
    if rows != 1:
        yield Verdict("periods", None, "refuted", f"one row wanted, {rows} found")
    for row in range(rows):
        yield Verdict("periods", row, *_judge_period(form, row, tables))


def check_sequences(game: Game, tables: Mapping[str, pa.Table]) -> Iterator[Verdict]:
    """Judge the one row of `sequences`: all nimbers are computed again and hashed; up to heap 100,000, none is stored beyond."""
    form = game.form(HeapGame)
    rows = tables["sequences"].to_pylist()
    if len(rows) != 1:
        yield Verdict("sequences", None, "refuted", f"one row wanted, {len(rows)} found")
    for row, found in enumerate(rows):
        done = found["heaps_done"]
        if not _is_natural(done) or done > plain.FULL:
            yield Verdict("sequences", row, "refuted", f"heaps_done: a heap up to {plain.FULL} wanted, {_shown(done)} found")
            continue
        known = plain.recomputed(form, done)
        values = np.array([known.nimber(heap) for heap in range(done + 1)], "<i4")
        wanted = {
            "code": form.code,
            "heaps_done": max(filter(_is_natural, _values(tables, "periods", "heaps_done") or []), default=done),
            "digest": hashlib.blake2b(values.tobytes(), digest_size=16).hexdigest(),
            "beginning": values[:_BEGINNING].tolist(),
        }
        wrong = [name for name, value in wanted.items() if found[name] != value]
        said = [f"{name}: {_shown(wanted[name])} wanted, {_shown(found[name])} found" for name in wrong] or ["computed again"]
        yield Verdict("sequences", row, "refuted" if wrong else "proved", said[0])


def _judge_period(form: HeapGame, row: int, tables: Mapping[str, pa.Table]) -> tuple[Grade, str]:
    def found(name: str) -> Any:
        values = _values(tables, "periods", name)
        return None if values is None else values[row]

    done = found("heaps_done")
    if not _is_natural(done):
        return "refuted", f"heaps_done: a heap wanted, {_shown(done)} found"
    largest = max(filter(_is_natural, _values(tables, "nimbers", "n") or []), default=done)
    if done != largest:
        return "refuted", f"heaps_done: {largest} wanted, the largest heap in nimbers, {done} found"
    for name in _RARES:
        if name not in tables["periods"].column_names or not pa.types.is_integer(tables["periods"].schema.field(name).type):
            return "refuted", f"{name}: a column of integers wanted"
    told = _told(form, found)
    if isinstance(told, str):
        return "refuted", told
    known = _by_plain_method(form, done, told)
    if told is not None and (found("proof") == "window" or known.nimber(done) is None):
        grade, said = _judge_again(form, done, told, found)
    else:
        grade, said = _judge_known(form, done, told, known, found, tables)
    if grade in {"proved", "sampled"}:
        agrees, compared_with = compared(octal_code(form), found("period"), found("preperiod"), found("max_nimber"), done)
        return (grade if agrees else "refuted"), f"{said}; {compared_with}"
    return grade, said


@dataclass(frozen=True, slots=True)
class _Told:
    """How a row tells rare heaps, and how many."""

    mask: int
    parity: int | None
    count: int
    last: int | None


def _told(form: HeapGame, found: Callable[[str], Any]) -> _Told | str | None:
    """Return what a row says of rare heaps; None if nothing; a text if it makes no sense."""
    told = {name: found(name) for name in _RARES}
    if all(value is None for value in told.values()):
        return None
    mask, parity, count, last = told.values()
    for name in ("mask", "rare_count"):
        if not _is_natural(told[name]):
            return f"{name}: a number wanted, {_shown(told[name])} found"
    if parity is not None and not _is_natural(parity):
        return f"parity: 0, 1 or nothing wanted, {_shown(parity)} found"
    if not recurrence.suits(form, mask, parity):
        return f"mask, parity: {mask} and {parity} tell no rare heaps of this game"
    if (last is None) != (count == 0) or (last is not None and not _is_natural(last)):
        return f"last_rare: {_shown(last)} found with {count} rare heaps"
    return _Told(mask, parity, count, last)


def _judge_known(  # noqa: PLR0917
    form: HeapGame, done: int, told: _Told | None, known: Known, found: Callable[[str], Any], tables: Mapping[str, pa.Table]
) -> tuple[Grade, str]:
    """Judge a row by the plain method."""
    grade: Grade = "proved"
    if known.nimber(done) is None:
        stored = _believable(form, done, tables, known)
        if stored is None:
            return "unchecked", f"no proof to heap {plain.FULL}, and beyond no nimbers that can be believed"
        known, grade = Known(stored, plain.least_period(stored, form)), "sampled"
    wanted = _wanted_row(form, done, known)
    if told is not None:
        wanted |= dict(zip(("rare_count", "last_rare"), _count_rares(known, done, told), strict=True))
    wrong = _difference(wanted, found)
    if wrong:
        return "refuted", wrong
    return grade, "the window holds, that of no smaller period does" if known.period else "these heaps prove no period"


def _judge_again(form: HeapGame, done: int, told: _Told, found: Callable[[str], Any]) -> tuple[Grade, str]:
    """Judge a row by running all heaps again, with a witness for every value."""
    most, argmax = found("max_nimber"), found("argmax")
    if not _is_natural(most) or not _is_natural(argmax):
        return "refuted", f"max_nimber, argmax: a nimber and a heap wanted, {_shown(most)} and {_shown(argmax)} found"
    if recurrence.too_long(form, done, told.count):
        return "unchecked", f"{done} heaps with {told.count} rare ones are more than is run again"
    period = found("period")
    since = done + 1 - int(period) if _is_natural(period) else done + 1  # where the window's heap s is, if that is the proof
    again = _run_again(form, done, (told.mask, told.parity), (told.count, most), max(since, 0))
    if isinstance(again, str):
        return "refuted", again
    last = int(again.rares[-1]) if len(again.rares) else None
    wanted = {"code": form.code, "max_nimber": int(again.values.max()), "argmax": int(again.values.argmax())}
    wrong = _difference(wanted | {"rare_count": len(again.rares), "last_rare": last}, found)
    if wrong:
        return "refuted", wrong
    said = f"all heaps run again with witnesses, {again.sampled} of them by all their options"
    if found("status") == "proved":
        wrong = _wrong_proof(form, done, again, found)
        return ("refuted", wrong) if wrong else ("proved", f"{said}; the {found('proof')} proof holds, and for no smaller period")
    nothing = dict.fromkeys(("preperiod", "period", "last_exception", "proof", "certificate"))
    wrong = _difference({"status": "open", **nothing}, found)
    if wrong:
        return "refuted", wrong
    missed = recurrence.provable(again.values, form) if done > plain.FULL else None
    if missed is not None:
        return "sampled", f"{said}; Guy and Smith would prove period {missed[1]} from {missed[0]} on, which was not looked for"
    return "proved", f"{said}; these heaps prove no period"


def _wrong_proof(form: HeapGame, done: int, again: recurrence.Rerun, found: Callable[[str], Any]) -> str:
    """Say what is wrong with a proved row, given all its nimbers; "" if nothing."""
    preperiod, period, proof = found("preperiod"), found("period"), found("proof")
    if not _is_natural(preperiod) or not _is_natural(period):
        return f"preperiod, period: two numbers wanted, {_shown(preperiod)} and {_shown(period)} found"
    wrong = recurrence.wrong_period(again.values, preperiod, period)
    if wrong:
        return wrong
    if proof == "window":
        said = _parsed(found("certificate"))
        if not isinstance(said, dict) or not _is_natural(said.get("L")):
            return f"certificate: the length L of a window wanted, {_shown(said)} found"
        certificate = recurrence.wanted_window(again, form, preperiod, period, said)
        if isinstance(certificate, str):
            return certificate
        exception = preperiod - 1 if preperiod else None
        return _difference({"last_exception": exception, "certificate": certificate}, found)
    if plain.window(preperiod, period, form) + period > done + 1 or form.unequal:
        return f"proof: heaps to {done} do not prove period {period} from {preperiod} on"
    return _difference(_wanted_row(form, done, Known(again.values, (preperiod, period))), found)


def _difference(wanted: Mapping[str, Any], found: Callable[[str], Any]) -> str:
    """Say which cell is not as wanted; "" if all are."""
    for name, right in wanted.items():
        came = _parsed(found(name)) if name == "certificate" else found(name)
        if type(came) is not type(right) or came != right:
            return f"{name}: {right!r} wanted, {_shown(came)} found"
    return ""


def _count_rares(known: Known, done: int, told: _Told) -> tuple[int, int | None]:
    """Return how many of the heaps 1 to `done` are rare, and the last one; two periods at a time where there is a period."""
    preperiod, cycle = (len(known.values), 1) if known.period is None else (known.period[0], 2 * known.period[1])
    shown = min(done, preperiod + 2 * cycle)
    heaps = np.arange(1, shown + 1)
    if known.period is None:
        values = known.values[heaps]
    else:
        values = known.values[np.where(heaps < preperiod, heaps, preperiod + (heaps - preperiod) % known.period[1])]
    odd = np.bitwise_count(values & told.mask) & 1
    rare = odd == (0 if told.parity is None else (heaps + told.parity) % 2)
    whole, rest = divmod(done - shown, cycle)  # the last `cycle` heaps shown repeat `whole` times, their beginning once more
    again = rare[shown - cycle :] if done > shown else rare[:0]
    count = int(rare.sum()) + whole * int(again.sum()) + int(again[:rest].sum())
    if again[:rest].any():
        return count, done - rest + int(np.flatnonzero(again[:rest])[-1]) + 1
    if again.any():
        return count, done - rest - cycle + int(np.flatnonzero(again)[-1]) + 1
    return count, int(heaps[rare][-1]) if rare.any() else None


def _wanted_row(form: HeapGame, done: int, known: Known) -> dict[str, Any]:
    """Return the row of `periods` that is right for heaps 0 to `done`; its certificate as a dictionary."""
    values = known.values[: done + 1]
    row: dict[str, Any] = {"code": form.code, "status": "open", "max_nimber": int(values.max()), "argmax": int(values.argmax())}
    row |= dict.fromkeys(("preperiod", "period", "last_exception", "proof", "certificate"))
    if known.period is not None:
        preperiod, period = known.period
        window = {"n0": preperiod, "p": period, "k": form.last_place, "m": max(preperiod, 1), "from": preperiod}
        row |= {"status": "proved", "preperiod": preperiod, "period": period}
        row |= {"last_exception": preperiod - 1 if preperiod else None}
        row |= {"proof": "guy_smith" if plain.splits(form) else "guy_smith_no_breaking"}
        row |= {"certificate": {**window, "to": plain.window(preperiod, period, form) - 1}}
    return row


# ---- nimbers once more -------------------------------------------------------------------------------------------------------


def _known_of(form: HeapGame, largest: int, tables: Mapping[str, pa.Table]) -> Known:
    """Recompute up to this heap: by the plain method, beyond what it reaches by the rule that the row of `periods` tells."""
    row = {name: _values(tables, "periods", name) for name in (*_RARES, "max_nimber", "heaps_done", "period")}
    if not all(values and len(values) == 1 for values in row.values()):
        return plain.recomputed(form, largest)
    found = {name: values[0] for name, values in row.items() if values}
    told, most, period = _told(form, found.__getitem__), found["max_nimber"], found["period"]
    if not isinstance(told, _Told) or not _is_natural(most) or found["heaps_done"] != largest:
        return plain.recomputed(form, largest)
    known = _by_plain_method(form, largest, told)
    if known.nimber(largest) is not None or recurrence.too_long(form, largest, told.count):
        return known
    since = largest + 1 - int(period) if _is_natural(period) else largest + 1
    again = _run_again(form, largest, (told.mask, told.parity), (told.count, most), max(since, 0))
    if isinstance(again, str) or not np.array_equal(again.values[: len(known.values)], known.values):
        return plain.recomputed(form, largest)
    return Known(again.values, None)


def _by_plain_method(form: HeapGame, largest: int, told: _Told | None) -> Known:
    """Recompute by the plain method: to this heap or `FULL`; only the first ones where all will be run again."""
    again = largest > plain.FULL and told is not None and not recurrence.too_long(form, largest, told.count)
    return plain.recomputed(form, min(largest, _FIRST) if again else largest)


def _run_again(
    form: HeapGame, heaps: int, rule: tuple[int, int | None], most: tuple[int, int], since: int
) -> recurrence.Rerun | str:
    few = heaps <= _KEPT  # the nimbers' rows and the period's want the same
    return (_run_once if few else recurrence.run_again)(form, heaps, rule, most, since)


_run_once = functools.lru_cache(maxsize=1)(recurrence.run_again)


# ---- what lies beyond, what tables hold ----------------------------------------------------------------------------------------


def _sample(
    form: HeapGame, heaps: Sequence[Any], nimbers: Sequence[Any], known: Known
) -> tuple[tuple[Grade, str], Mapping[int, int]]:
    """Return the verdict on rows beyond what is known, and the heaps among them whose nimber is wrong, with the right one."""
    first, last = len(known.values), len(heaps) - 1
    if known.period is not None or last < first:
        return ("unchecked", "rows below this heap are missing"), {}
    sound = all(map(_is_natural, nimbers)) and list(heaps) == list(range(len(heaps)))
    if not sound:
        return ("unchecked", "smaller heaps are missing or wrong"), {}
    return _sample_beyond(form, np.array(nimbers, np.int64), known)


def _sample_beyond(form: HeapGame, stored: AnyInts, known: Known) -> tuple[tuple[Grade, str], Mapping[int, int]]:
    """Do the same of the nimbers of heaps 0, 1, ..., in order, of which more are there than known."""
    first, last = len(known.values), len(stored) - 1
    if (stored[:first] != known.values).any():
        return ("unchecked", "smaller heaps are missing or wrong"), {}
    chosen = np.random.default_rng(0).choice(np.arange(first, last + 1), size=min(SAMPLES, last + 1 - first), replace=False)
    right = {int(heap): plain.mex_of_heap(form, int(heap), stored) for heap in chosen}
    wrong = {heap: nimber for heap, nimber in right.items() if nimber != stored[heap]}
    said = f"{len(chosen)} of {last + 1 - first} heaps beyond {first - 1} recomputed, {len(wrong)} wrong"
    return ("unchecked" if wrong else "sampled", said), wrong


def _believable(form: HeapGame, done: int, tables: Mapping[str, pa.Table], known: Known) -> IntArray | None:
    """Return the stored nimbers of heaps 0 to `done` if they are all there and a sample of them is right."""
    stored = _plain_nimbers(tables)
    if stored is None or len(stored) != done + 1 or len(stored) <= len(known.values) or known.period is not None:
        return None
    (grade, _), _ = _sample_beyond(form, stored, known)
    return stored if grade == "sampled" else None


def _gap(heaps: Sequence[Any], tables: Mapping[str, pa.Table]) -> str:
    """Say what is wrong with the column n as a whole; "" if nothing."""
    if list(heaps) != list(range(len(heaps))):
        return f"heaps 0 to {len(heaps) - 1} wanted, one row each, in order"
    return _missing_after(len(heaps), tables)


def _missing_after(rows: int, tables: Mapping[str, pa.Table]) -> str:
    """Say that there are not as many rows as heaps were computed; "" if there are."""
    done = _values(tables, "periods", "heaps_done") or []
    if rows and len(done) == 1 and _is_natural(done[0]) and done[0] != rows - 1:
        return f"heaps 0 to {done[0]} wanted, {rows} rows found"
    return ""


def _plain_nimbers(tables: Mapping[str, pa.Table]) -> IntArray | None:
    """Return the stored nimbers of heaps 0, 1, ..., if there are rows and all is as it should be: types, order, no gaps."""
    table = tables.get("nimbers")
    if table is None or not table.num_rows or any(table.column_names.count(name) != 1 for name in ("n", "nimber")):
        return None
    heaps, nimbers = table["n"], table["nimber"]
    if not all(pa.types.is_integer(one.type) and one.null_count == 0 for one in (heaps, nimbers)):
        return None
    stored: IntArray = nimbers.to_numpy().astype(np.int64)
    in_order = np.array_equal(heaps.to_numpy(), np.arange(len(stored)))
    return stored if in_order and stored.min() >= 0 else None


def _values(tables: Mapping[str, pa.Table], table: str, name: str) -> list[Any] | None:
    """Return a column as Python values; None if it is not there or cannot be read."""
    try:
        values: list[Any] = tables[table].column(name).to_pylist()
    except (KeyError, ValueError, OverflowError):  # ValueError: text that is not UTF-8, instants out of range
        return None
    return values


def _is_natural(value: Any) -> bool:
    return type(value) is int and value >= 0


def _parsed(text: Any) -> Any:
    """Return what a certificate says, text or not; its numbers are integers, its hash is text, or it is returned as it came."""
    if not isinstance(text, str):
        return text
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(said, dict):
        return text
    return said if all(_is_natural(value) or (name == _HASH and type(value) is str) for name, value in said.items()) else text


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 (reasons are short)
