"""Verification from the directory alone: honest sweeps pass, and whatever is damaged afterwards does not."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest_tools import environment

from pipeline import judges
from pipeline import verify as verify_module
from pipeline.app import main
from pipeline.rows import seal_of
from pipeline.store import CHECKS, DamagedTable, load, parameter_values
from pipeline.verify import Judgement, judgement, unjudged, verify
from solvers.contract import Verdict
from solvers.games.forced_rps import ForcedRps
from solvers.identity import digest
from solvers.schema import TableInfo, column, table_schema

SWEEPS = {
    "equilibrium": ["game=forced_rps", "game.a=0,1/2", "game.b=0,1/2", "solver=support_enumeration"],
    "regret": ["game=forced_rps", "game.a=0,1/2", "solver=regret_matching", "solver.iterations=20"],
    "impartial": ["game=octal", "game.code=0.77,0.7", "solver=mex_dp", "solver.heap_limit=200"],
}
TABLES = {"equilibrium": ["equilibria"], "regret": ["curve", "rates"], "impartial": ["nimbers", "periods"]}
COLUMNS = {
    "equilibria": ["point", "index", "value", "x", "y", "x_support", "y_support", "value_float", "win", "draw", "lose"],
    "curve": [
        *("point", "iteration", "iterate", "exploitability", "gain_p1", "gain_p2", "value_p1"),
        *("milli_antes", "pot_percent", "gamma", "x", "y"),
    ],
    "rates": ["point", "from_iteration", "to_iteration", "exponent_average", "exponent_last"],
    "nimbers": ["point", "n", "nimber"],
    "periods": [
        *("point", "code", "status", "preperiod", "period", "last_exception", "max_nimber", "argmax", "heaps_done"),
        *("rare_count", "last_rare", "mask", "parity", "proof", "certificate"),
    ],
}
FAMILY_TABLES = [(family, table) for family, tables in TABLES.items() for table in tables]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return one small sweep of each family, not yet verified."""
    folder = tmp_path_factory.mktemp("made")
    for family, words in SWEEPS.items():
        with pytest.raises(SystemExit) as ended:
            main(["-m", *words, "tracking=off", "compute=inline", "verify=false", "quiet=true", f"out={folder / family}"])
        assert ended.value.code == 0
    return folder


@pytest.fixture
def sweep(made, tmp_path):
    """Return a function that copies a family's sweep to where it may be damaged."""

    def copy(family):
        return shutil.copytree(made / family, tmp_path / family)

    return copy


def rewrite(path, change, *, strip=False):
    """Write a Parquet file again with plain pyarrow, as somebody's script would."""
    table = change(pq.read_table(path, partitioning=None))
    pq.write_table(table.replace_schema_metadata(None) if strip else table, path)


def rewrite_points(root, **cells):
    """Change cells of the first row of points.parquet."""

    def change(table):
        for name, value in cells.items():
            table = with_cell(table, name, 0, value)
        return table

    rewrite(root / "points.parquet", change)


def with_cell(table, name, row, value):
    cells = table[name].to_pylist()
    cells[row] = value
    place = table.schema.get_field_index(name)
    kind = table.schema.field(name).type
    if isinstance(value, str) and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):  # nothing stood there
        cells[row] = 1
    plain = pa.array(cells, kind.value_type if pa.types.is_dictionary(kind) else kind)
    return table.set_column(place, table.schema.field(name), plain.cast(kind))


def wrong(values, row):
    """Return a value that could stand there: another row's, or a near one."""
    old = values[row]
    for other in values:
        if other is not None and other != old:
            return other
    if isinstance(old, int | float):
        return old + 1
    return {"proved": "open", "guy_smith": "guy_smith_no_breaking"}.get(old, "1/7")


def grades(judged):
    return set(judged.checks["grade"].to_pylist())


def reasons(judged):
    return " | ".join(judged.checks["reason"].to_pylist())


# ---- honest ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "grade"), [("equilibrium", "proved"), ("regret", "recomputed"), ("impartial", "proved")])
def test_an_honest_sweep_is_all_right(sweep, family, grade):
    root = sweep(family)
    judged = verify(load(root))
    assert judged.holds(strict=True)
    rows = {table: len(load(root).table(table)) for table in TABLES[family]}
    assert judged.counts() == {table: {grade: count} for table, count in rows.items()}
    assert judgement(load(root)).checks.equals(judged.checks)


def test_the_columns_damaged_below_are_all_there_are(made):
    found = {table: load(made / family).table(table).schema.names for family, table in FAMILY_TABLES}
    assert found == COLUMNS


# ---- a wrong value anywhere --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strip", [False, True], ids=["kept", "stripped"])
@pytest.mark.parametrize(
    ("family", "table", "name"), [(family, table, name) for family, table in FAMILY_TABLES for name in COLUMNS[table]]
)
def test_a_wrong_value_is_refuted(sweep, family, table, name, strip):
    root = sweep(family)

    def change(rows):
        values = rows[name].to_pylist()
        row = len(values) - 1
        return with_cell(rows, name, row, wrong(values, row))

    rewrite(root / "tables" / f"{table}.parquet", change, strip=strip)
    judged = verify(load(root))
    assert "refuted" in grades(judged)
    assert not judged.holds()


def test_findings_exchanged_between_points_are_refuted(sweep):
    root = sweep("equilibrium")

    def exchange(rows):
        first, second = rows["point"].to_pylist()[:2]
        return with_cell(with_cell(rows, "point", 0, second), "point", 1, first)

    rewrite(root / "tables" / "equilibria.parquet", exchange)
    assert judged_counts(root)["equilibria"] == {"proved": 2, "refuted": 2}


def judged_counts(root):
    return verify(load(root)).counts()


def test_columns_as_other_writers_of_parquet_type_them_are_the_same(sweep):
    root = sweep("equilibrium")

    def as_polars(rows):
        kinds = {"value": pa.large_string(), "x": pa.large_list(pa.field("element", pa.large_string()))}
        return rows.cast(pa.schema([one.with_type(kinds.get(one.name, one.type)) for one in rows.schema], rows.schema.metadata))

    rewrite(root / "tables" / "equilibria.parquet", as_polars)
    assert verify(load(root)).holds(strict=True)


# ---- files and rows ----------------------------------------------------------------------------------------------------------


def delete_row(path):
    rewrite(path, lambda rows: rows.slice(1))


def double_row(path):
    rewrite(path, lambda rows: pa.concat_tables([rows.slice(0, 1), rows]))


def truncate(path):
    path.write_bytes(path.read_bytes()[:-40])


def delete(path):
    path.unlink()


def empty(path):
    rewrite(path, lambda rows: rows.slice(0, 0))


def rename_column(path):
    rewrite(path, lambda rows: rows.rename_columns([*rows.schema.names[:-1], "other"]))


def lose_points(path):
    rewrite(path, lambda rows: rows.drop_columns(["point"]))


def number_points(path):
    rewrite(path, lambda rows: rows.set_column(0, "point", pa.array(range(len(rows)))))


@pytest.mark.parametrize("damage", [delete_row, double_row, truncate, delete, empty, rename_column, lose_points, number_points])
@pytest.mark.parametrize(("family", "table"), FAMILY_TABLES)
def test_damaged_tables_are_refuted(sweep, family, table, damage):
    root = sweep(family)
    damage(root / "tables" / f"{table}.parquet")
    judged = verify(load(root))
    assert "refuted" in grades(judged)
    assert not judged.holds()


@pytest.mark.parametrize(("family", "table"), FAMILY_TABLES)
def test_a_column_that_nobody_declared_is_refuted(sweep, family, table):
    root = sweep(family)
    rewrite(root / "tables" / f"{table}.parquet", lambda rows: rows.append_column("note", rows["point"].cast(pa.string())))
    assert "declared were" in reasons(verify(load(root)))


def test_another_sweeps_table_is_refuted(sweep, minimex):
    root = sweep("equilibrium")
    minimex("game=forced_rps", "game.a=1/5", "solver=support_enumeration", "tracking=off", "compute=inline", "out=other")
    shutil.copy("other/tables/equilibria.parquet", root / "tables")
    judged = verify(load(root))
    assert "rows of a point that points.parquet does not have" in reasons(judged)
    assert "0 rows, but 1 were delivered" in reasons(judged)


# ---- points.parquet ----------------------------------------------------------------------------------------------------------


def test_another_config_is_not_the_points(sweep):
    root = sweep("equilibrium")
    config = load(root).points["config"][0].as_py().replace('"p1":null', '"p1":{"rock":"1/3"}')
    rewrite_points(root, config=config)
    judged = verify(load(root))
    assert "the point's config does not match its hash" in reasons(judged)
    assert not judged.holds()


def test_another_config_with_its_right_hash_has_other_findings(sweep):
    root = sweep("equilibrium")
    config = load(root).points["config"][0].as_py().replace('"p1":null', '"p1":{"rock":"2/3"}')
    rewrite_points(root, config=config, point=digest(config))
    rewrite(root / "tables" / "equilibria.parquet", lambda rows: with_cell(rows, "point", 0, digest(config)))
    assert judged_counts(root)["equilibria"] == {"proved": 3, "refuted": 1}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"point": "0" * 32}, "rows of a point that points.parquet does not have"),
        ({"config": None}, "cannot be built again"),
        ({"config": "{}"}, "does not match its hash"),
        ({"rows": "{}"}, "1 rows, but 0 were delivered"),
        ({"rows": None}, "1 rows, but 0 were delivered"),
        ({"rows": '{"equilibria":2}'}, "1 rows, but 2 were delivered"),
        ({"rows": '{"equilibria":1,"periods":1}'}, "0 rows, but 1 were delivered"),
        ({"status": "failed"}, "1 rows, but 0 were delivered"),
    ],
    ids=str,
)
def test_damaged_points_are_found(sweep, cells, said):
    root = sweep("equilibrium")
    rewrite_points(root, **cells)
    judged = verify(load(root))
    assert said in reasons(judged)
    assert not judged.holds()


def test_a_point_listed_twice_is_refuted(sweep):
    root = sweep("equilibrium")
    rewrite(root / "points.parquet", lambda rows: pa.concat_tables([rows, rows.slice(1, 1)]))
    assert judged_counts(root) == {"equilibria": {"proved": 4}, "points": {"refuted": 1}}


def test_a_point_struck_off_leaves_rows_behind(sweep):
    root = sweep("equilibrium")
    rewrite(root / "points.parquet", lambda rows: rows.slice(1))
    assert "rows of a point that points.parquet does not have" in reasons(verify(load(root)))


@pytest.mark.parametrize("name", ["point", "config", "status", "rows"])
def test_points_without_a_column_are_damaged(sweep, name):
    root = sweep("equilibrium")
    rewrite(root / "points.parquet", lambda rows: rows.drop_columns([name]))
    with pytest.raises(DamagedTable, match=f"it has no column {name}"):
        verify(load(root))


# ---- who says how a table is judged ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", SWEEPS)
def test_files_alone_say_how_they_are_judged(sweep, family):
    root = sweep(family)
    (root / "manifest.json").unlink()
    assert verify(load(root)).holds(strict=True)


@pytest.mark.parametrize("family", SWEEPS)
def test_the_manifest_alone_says_how_tables_are_judged(sweep, family):
    root = sweep(family)
    for table in TABLES[family]:
        rewrite(root / "tables" / f"{table}.parquet", lambda rows: rows, strip=True)
    assert verify(load(root)).holds(strict=True)


@pytest.mark.parametrize("manifest", [None, "{}", "[1]", "nonsense"])
@pytest.mark.parametrize("family", SWEEPS)
def test_nobody_says_how_tables_are_judged(sweep, family, manifest):
    root = sweep(family)
    (root / "manifest.json").unlink()
    if manifest is not None:
        (root / "manifest.json").write_text(manifest)
    for table in TABLES[family]:
        rewrite(root / "tables" / f"{table}.parquet", lambda rows: rows, strip=True)
    judged = verify(load(root))
    assert judged.counts() == {table: {"unchecked": 1} for table in TABLES[family]}
    assert not judged.holds()


def test_a_table_that_claims_nothing_needs_no_verdict(sweep):
    root = sweep("equilibrium")
    points = load(root).points["point"].slice(0, 1)
    schema = table_schema([column("point", pa.string()), column("note", pa.string())], TableInfo(about="Notes"))
    pq.write_table(pa.table([points.cast(pa.string()), ["hm"]], schema=schema), root / "tables" / "notes.parquet")
    rewrite_points(root, rows='{"equilibria":1,"notes":1}')
    reseal(root)
    judged = verify(load(root))
    assert judged.counts() == {"equilibria": {"proved": 4}}
    assert judged.holds(strict=True)


def reseal(root):
    """Seal the points again, as if they had been written so."""
    sweep = load(root)
    columns = {name: parameter_values(sweep.points, name) for name in sweep.parameters}
    seals = [
        seal_of(row["point"], {name: values[place] for name, values in columns.items()}, row["config"], row["status"], row["rows"])
        for place, row in enumerate(sweep.points.to_pylist())
    ]
    place = sweep.points.schema.get_field_index("seal")
    pq.write_table(sweep.points.set_column(place, sweep.points.schema.field(place), [seals]), root / "points.parquet")


@pytest.mark.parametrize("name", ["game.a", "seed", "solver"])
def test_a_changed_parameter_is_refuted(sweep, name):
    root = sweep("equilibrium")
    assert verify(load(root)).holds()
    points = load(root).points
    values = points[name].to_pylist()
    values[0] = 77 if isinstance(values[0], int) else "1/5"
    place = points.schema.get_field_index(name)
    column = pa.array(values, points.schema.field(place).type)
    pq.write_table(points.set_column(place, points.schema.field(place), column), root / "points.parquet")
    judged = verify(load(root))
    assert judged.counts()["points"] == {"refuted": 1}
    assert not judged.holds()


def say_checker(root, name):
    """Let the table name another checker."""
    path = root / "tables" / "equilibria.parquet"
    own = pq.read_schema(path).metadata[b"minimex"]
    said = json.dumps(json.loads(own) | {"check": name}).encode()
    rewrite(path, lambda rows: rows.replace_schema_metadata({b"minimex": said}))


@pytest.mark.parametrize(
    "name", ["os:system", "pipeline.check:main", "solvers.games.check", "solvers.check:os.system", "solversx.check:f"]
)
def test_only_checkers_of_solvers_are_called(sweep, name, monkeypatch):
    root = sweep("equilibrium")
    say_checker(root, name)
    monkeypatch.setattr(os, "system", lambda *arguments: pytest.fail("it was called"))
    monkeypatch.setattr(judges.importlib, "import_module", lambda name: pytest.fail(f"{name} was imported"))
    court = verify_module._Court(load(root), ())
    court.judge(None)
    verdicts = court.verdicts()
    assert f"{name!r} is not a checker of solvers.*" in verdicts["reason"][0].as_py()
    assert set(verdicts["grade"].to_pylist()) == {"unchecked"}


@pytest.mark.parametrize("name", ["solvers.nothing.check:f", "solvers.equilibrium.check.equilibria:nothing"])
def test_a_checker_that_is_not_there_checks_nothing(sweep, name):
    root = sweep("equilibrium")
    say_checker(root, name)
    judged = verify(load(root))
    assert grades(judged) == {"unchecked"}
    assert not judged.holds()


def judge_with(monkeypatch, root, check):
    monkeypatch.setattr(judges, "checker", lambda name, trust: check)
    monkeypatch.setattr(verify_module, "sister_of", lambda name, trust: None)
    return verify(load(root))


def test_a_checker_that_raises_has_judged_what_it_judged(sweep, monkeypatch):
    def breaks(game, tables):
        yield Verdict("curve", 0, "recomputed", count=3)
        raise ZeroDivisionError("on purpose")

    root = sweep("regret")
    rows = len(load(root).table("curve"))
    judged = judge_with(monkeypatch, root, breaks)
    assert judged.counts()["curve"] == {"recomputed": 6, "unchecked": 2 + rows - 6}
    assert "the checker broke: ZeroDivisionError: on purpose" in reasons(judged)
    assert not judged.holds()


def test_rows_passed_over_are_unchecked(sweep, monkeypatch):
    judged = judge_with(monkeypatch, sweep("equilibrium"), lambda game, tables: iter(()))
    assert judged.counts() == {"equilibria": {"unchecked": 4}}
    assert not judged.holds()


def test_what_was_judged_before_a_kill_stays_judged_and_the_rest_is_told(sweep, monkeypatch):
    root = sweep("equilibrium")
    points = load(root).points["point"].to_pylist()
    monkeypatch.setattr(verify_module, "_SAVED_EVERY_S", -1.0)
    monkeypatch.setattr(verify_module, "_TOLD_EVERY_S", -1.0)
    said = []
    telling = verify_module.Telling(len(points), said.append)

    def killed(count):
        telling(count)
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(load(root), only=points, heard=killed)

    assert said == [f"judging: {count}/4 points" for count in (1, 2, 3)]
    assert unjudged(load(root), points) == points[3:]
    assert verify(load(root), only=points[3:]).counts() == {"equilibria": {"proved": 4}}


# ---- what counts as all right ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "grade", "holds", "strictly"),
    [
        ("proved", "proved", True, True),
        ("proved", "recomputed", False, True),
        ("recomputed", "proved", True, True),
        ("recomputed", "recomputed", True, True),
        ("recomputed", "sampled", False, False),
        ("sampled", "sampled", True, False),
        ("sampled", "unchecked", False, False),
        ("unchecked", "unchecked", True, False),
        ("unchecked", "refuted", False, False),
        (None, "unchecked", False, False),
        (None, "refuted", False, False),
    ],
)
def test_holds(claims, grade, holds, strictly):
    checks = pa.table([["t", "t"], [0, 1], ["p", "p"], ["proved", grade], ["", ""]], schema=CHECKS)
    judged = Judgement(checks, {"t": claims} if claims else {})
    assert (judged.holds(), judged.holds(strict=True)) == (holds, strictly)


def test_a_sweep_without_findings_holds():
    assert Judgement(CHECKS.empty_table(), {}).holds(strict=True)


# ---- the game, the place -----------------------------------------------------------------------------------------------------


def test_corrected_rules_leave_old_findings_unchecked(sweep, monkeypatch):
    monkeypatch.setattr(ForcedRps, "version", 2)
    judged = verify(load(sweep("equilibrium")))
    assert judged.counts()["equilibria"] == {"unchecked": 4}
    assert "expected version 2 of solvers.games.forced_rps.ForcedRps, got version 1" in reasons(judged)
    assert not judged.holds()


def test_new_points_are_judged_and_old_verdicts_kept(sweep):
    root = sweep("equilibrium")
    points = load(root).points["point"].cast(pa.string()).to_pylist()
    verify(load(root))
    rewrite(root / "checks.parquet", lambda rows: rows.set_column(4, "reason", pa.array(["before"] * len(rows))))
    judged = verify(load(root), only=points[:1])
    found = {row["point"]: row["reason"] for row in judged.checks.to_pylist()}
    assert [found[point] == "before" for point in points] == [False, True, True, True]


def test_damaged_verdicts_are_no_verdicts(sweep):
    root = sweep("equilibrium")
    pq.write_table(pa.table({"point": [1]}), root / "checks.parquet")
    assert not judgement(load(root)).counts()


def test_verify_imports_no_solver(sweep):
    roots = [sweep(family) for family in SWEEPS]
    code = (
        "import sys\nfrom pipeline.app import main\n"
        "for root in sys.argv[1:]:\n    try:\n        main(['verify', root])\n    except SystemExit as ended:\n        assert ended.code == 0\n"
        "print(sorted(name for name in sys.modules if name.startswith(('solvers.', 'hydra', 'ray', 'mlflow'))))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, *map(str, roots)], env=environment(), capture_output=True, text=True, check=True
    )
    loaded = set(eval(said.stdout.splitlines()[-1]))
    core = {"builder", "contract", "errors", "forms", "identity", "inline", "schema"}
    allowed = {f"solvers.{name}" for name in core}
    allowed |= {f"solvers.{family}{end}" for family in SWEEPS for end in ("", ".check", ".draw")}  # it writes the report again
    own = tuple(f"solvers.{family}.check." for family in SWEEPS)
    assert {name for name in loaded - allowed if not name.startswith(("solvers.games", "solvers.forms.", *own))} == set()


def test_a_copy_elsewhere_is_judged_the_same(sweep, tmp_path, minimex):
    root = sweep("equilibrium")
    copied = shutil.copytree(root, tmp_path / "far" / "another name")
    shutil.rmtree(root)
    answer = minimex("verify", copied)
    assert answer.status == 0
    assert "equilibria: 4 proved" in answer.text


def forbid_writing(root):
    """Make checks.parquet impossible to write, for root too."""
    (root / f".checks.parquet.{os.getpid()}.partial").mkdir()


def test_where_nothing_can_be_written_the_verdicts_are_still_said(sweep, minimex):
    root = sweep("equilibrium")
    forbid_writing(root)
    answer = minimex("verify", root)
    assert answer.status == 0
    assert "equilibria: 4 proved" in answer.text
    assert "checks.parquet could not be written: Is a directory" in answer.text


@pytest.mark.parametrize("strict", ["true", "false"])
def test_the_exit_status_says_it_all(sweep, minimex, strict):
    root = sweep("equilibrium")
    assert minimex("verify", root, f"strict={strict}").status == 0
    delete_row(root / "tables" / "equilibria.parquet")
    answer = minimex("verify", root, f"strict={strict}")
    assert answer.status == 1
    assert "refuted: equilibria[] of" in answer.text


@pytest.mark.parametrize("damage", [truncate, delete, rename_column, lose_points, number_points])
def test_the_command_survives_damage(sweep, minimex, damage):
    root = sweep("equilibrium")
    damage(root / "tables" / "equilibria.parquet")
    answer = minimex("verify", root)
    assert answer.status == 1
    assert "refuted: equilibria" in answer.text


def test_truncated_points_are_said_so(sweep, minimex):
    root = sweep("equilibrium")
    truncate(root / "points.parquet")
    answer = minimex("verify", root)
    assert answer.status == 2
    assert "points.parquet: cannot be read" in answer.text


def test_many_wrong_rows_are_cut_short_on_the_screen(sweep, minimex):
    root = sweep("impartial")
    rewrite(root / "tables" / "nimbers.parquet", lambda rows: rows.set_column(2, "nimber", pc.add(rows["nimber"], 1)))
    answer = minimex("verify", root)
    assert answer.status == 1
    assert answer.out.count("refuted: ") == 20
    assert "more in checks.parquet" in answer.text


def test_values_of_the_map_are_what_theory_says(made):
    """The sweeps above are not empty talk: value 1/6 where both are forced half the time."""
    sweep = load(made / "equilibrium")
    values = dict(zip(itertools.product(("0", "1/2"), repeat=2), sweep.table("equilibria")["value"].to_pylist(), strict=True))
    assert Fraction(values["1/2", "1/2"]) == Fraction(1, 6)
