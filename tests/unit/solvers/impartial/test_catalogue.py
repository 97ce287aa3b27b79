"""The functions of the octal catalogue's sweep, on tables made by hand and on a real slice; and its wall."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from pipeline.report.drawing import clean
from solvers import solve
from solvers.games.octal import Octal
from solvers.impartial.catalogue import CATALOGUE, catalogue, codes, promote
from solvers.impartial.draw import wall
from solvers.impartial.period_search import PeriodSearch
from solvers.impartial.tables import PERIODS
from solvers.impartial.triage import SEQUENCES, Triage

OPEN = {"status": "open", "max_nimber": 9, "argmax": 3, "heaps_done": 1000, "mask": 1, "rare_count": 20, "last_rare": 400}
PROVED = {**OPEN, "status": "proved", "period": 7, "preperiod": 5, "proof": "guy_smith"}


def swept(*runs, digests=None):
    """Return points and tables of runs (code, row of periods), each a point of its own; triage told these digests."""
    names = [f"p{place}" for place, _ in enumerate(runs)]
    rows = [{"point": name, "code": code, **row} for name, (code, row) in zip(names, runs, strict=True)]
    schema = PERIODS.insert(0, pa.field("point", pa.string())).remove_metadata()
    digests = {code: code for code, _ in runs} if digests is None else digests
    told = [{"code": code, "heaps_done": 1000, "digest": digest, "beginning": [0, 1]} for code, digest in digests.items()]
    points = pa.table({"point": names, "status": ["incomplete" if row.get("cut") else "done" for _, row in runs]})
    rows = [{name: row.get(name) for name in schema.names} for row in rows]
    return points, {"periods": pa.Table.from_pylist(rows, schema), "sequences": pa.Table.from_pylist(told, SEQUENCES)}


def asked(*runs, digests=None, **more):
    found = promote(*swept(*runs, digests=digests), most_heaps=more.pop("most_heaps", 10_000), factor=more.pop("factor", 4), **more)
    return {one["solver.heap_limit"]: one["game.code"] for one in found}


# ---- codes -----------------------------------------------------------------------------------------------------------------------


def test_all_three_digit_codes_once():
    (entry,) = codes()
    found = [Octal(code).code for code in entry["game.code"]]
    assert found == entry["game.code"]
    assert (len(found), len(set(found)), found[0], found[-1]) == (511, 511, "0.001", "0.777")


def test_slices_make_up_the_whole():
    parts = [
        codes(digits=4, begin=begin, end=min(begin + 499, 4095), shorter=False)[0]["game.code"] for begin in range(1, 4096, 500)
    ]
    assert [code for part in parts for code in part] == codes(digits=4, shorter=False)[0]["game.code"]


@pytest.mark.parametrize(("begin", "end"), [(0, 3), (4, 3), (1, 512)])
def test_no_such_codes(begin, end):
    with pytest.raises(ValueError, match="<= begin <= end < 512 wanted"):
        codes(begin=begin, end=end)


# ---- promote ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "limit"),
    [
        (OPEN, 4000),
        ({**OPEN, "last_rare": 500, "rare_count": 32}, None),  # one in the second half, and not few
        ({**OPEN, "last_rare": 499, "rare_count": 900}, 4000),  # many, but dead
        ({**OPEN, "last_rare": 1000, "rare_count": 31}, 4000),  # few
        ({**OPEN, "last_rare": None, "rare_count": 0}, 4000),
        ({**OPEN, "last_rare": None, "rare_count": None}, None),  # nobody told them
        ({**OPEN, "heaps_done": 5000}, 10_000),  # not beyond the most
        ({**OPEN, "heaps_done": 10_000}, None),
        ({**OPEN, "cut": True}, None),  # it reached a limit of time: asking for more would not help
        (PROVED, None),
    ],
)
def test_who_is_searched_further(row, limit):
    assert asked(("0.6", row)) == ({} if limit is None else {limit: ["0.6"]})


def test_one_of_a_sequence_goes_ahead():
    same = {"0.6": "x", "0.1": "x", "0.4": "y"}
    assert asked(("0.6", OPEN), ("0.4", OPEN), ("0.1", OPEN), digests=same) == {4000: ["0.1", "0.4"]}


def test_the_others_follow_a_proof_each_for_itself():
    same = {"0.1": "x", "0.6": "x", "0.7": "x"}
    runs = [("0.1", OPEN), ("0.6", OPEN), ("0.7", OPEN), ("0.1", {**PROVED, "heaps_done": 3000})]
    assert asked(*runs, digests=same) == {3000: ["0.6", "0.7"]}
    runs += [("0.6", {**OPEN, "heaps_done": 3000}), ("0.7", {**PROVED, "heaps_done": 3000})]
    assert asked(*runs, digests=same) == {}


def test_a_round_must_go_further():
    with pytest.raises(ValueError, match="factor: at least 2 wanted, 1 found"):
        asked(("0.6", OPEN), factor=1)


# ---- catalogue -------------------------------------------------------------------------------------------------------------------


def test_a_proof_stands_before_a_longer_search():
    rows = catalogue(*swept(("0.6", {**OPEN, "heaps_done": 9000}), ("0.6", PROVED), ("0.6", {**PROVED, "heaps_done": 9000})))[
        "catalogue"
    ]
    assert rows.schema.equals(CATALOGUE, check_metadata=True)
    (row,) = rows.to_pylist()
    assert (row["status"], row["heaps"], row["period"], row["beginning"]) == ("proved", 1000, 7, [0, 1])


def test_open_games_first_and_whom_they_equal():
    same = {"0.1": "x", "0.3": "z", "0.6": "x"}
    rows = catalogue(*swept(("0.6", OPEN), ("0.3", PROVED), ("0.1", {**OPEN, "heaps_done": 4000}), digests=same))[
        "catalogue"
    ].to_pylist()
    assert [(row["code"], row["same_as"], row["heaps"]) for row in rows] == [
        ("0.1", None, 4000),
        ("0.6", "0.1", 1000),
        ("0.3", None, 1000),
    ]


def test_nothing_done_gives_no_rows():
    points = pa.table({"point": pa.array([], pa.string()), "status": pa.array([], pa.string())})
    assert len(catalogue(points, {})["catalogue"]) == 0
    assert promote(points, {}, most_heaps=1) == []


def test_a_real_slice():
    """0.16 (149459, 105351) is out of reach; 0.156 (349, 3479) is proved at once, 0.165 (1550, 5181) by a search, 0.17 is Dawson's."""
    runs = [(code, solve(Octal(code), Triage(9000)).tables) for code in ("0.156", "0.16", "0.165", "0.17")]
    told = {code: tables["sequences"]["digest"][0].as_py() for code, tables in runs}
    rows = [(code, tables["periods"].to_pylist()[0]) for code, tables in runs]
    (entry,) = promote(*swept(*rows, digests=told), most_heaps=18_000, factor=2)
    assert entry == {"solver": "period_search", "solver.heap_limit": 18_000, "game.code": ["0.16", "0.165"]}
    rows += [(code, solve(Octal(code), PeriodSearch(18_000)).tables["periods"].to_pylist()[0]) for code in entry["game.code"]]
    found = catalogue(*swept(*rows, digests=told))["catalogue"].to_pylist()
    assert [(row["code"], row["period"], row["preperiod"]) for row in found] == [
        ("0.16", None, None),
        ("0.156", 349, 3479),
        ("0.165", 1550, 5181),
        ("0.17", 34, 33),
    ]


# ---- the wall --------------------------------------------------------------------------------------------------------------------


def drawn(rows):
    return clean(wall(None, {"catalogue": pa.Table.from_pylist([{"proof": None, **row} for row in rows], schema=CATALOGUE)}))


def row_of(code, **more):
    return {
        "code": code,
        "status": "open",
        "heaps": 1000,
        "rares": 900,
        "last_rare": 999,
        "max_nimber": 3,
        "beginning": [0, 1, 2],
        **more,
    }


def test_cells_say_what_they_are():
    svg = drawn([row_of("0.6"), row_of("0.77", status="proved", period=12, preperiod=71), row_of("0.776", same_as="0.7")])
    titles = re.findall(r"<title>(.*?)</title>", svg)
    assert titles == [
        "0.6: open to 1000, 900 rare, the last 999. 0 1 2 ...",
        "0.77: period 12 from 71 on. 0 1 2 ...",
        "0.776, as 0.7: open to 1000, 900 rare, the last 999. 0 1 2 ...",
    ]
    assert "proved periodic: 1" in svg
    assert "open: 2" in svg


def test_every_cell_has_its_place():
    rows = [row_of(code) for code in codes()[0]["game.code"]]
    cells = [(node.get("x"), node.get("y")) for node in ET.fromstring(drawn(rows)).iter("rect") if node.find("title") is not None]
    assert len(set(cells)) == 511


def test_kinds():
    svg = drawn(
        [
            *(row_of(f"0.{place}1") for place in range(8)),
            row_of("0.5", status="proved", period=1, heaps=5000),
            row_of("0.6", last_rare=9),
        ]
    )
    assert "proved by a further search: 1" in svg
    assert "open, rare heaps look dead: 1" in svg


def test_four_digits_fit():
    svg = drawn([row_of(code) for code in codes(digits=4)[0]["game.code"]])
    assert svg.count("M") == 4096
    assert "<title>" not in svg


def test_what_is_no_octal_code_is_not_drawn():
    with pytest.raises(ValueError, match="at most four digits"):
        drawn([row_of("0.12345")])
