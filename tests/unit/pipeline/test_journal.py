"""The journal: commits are whole, publishing can stop anywhere and be done again, damage is set aside."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pipeline import journal as journal_module
from pipeline.events import Outcome
from pipeline.journal import DirectoryBusy, Journal, locked, recorded_points
from pipeline.rows import outcome_table
from pipeline.store import load, parameter_column, point_array, read_table

ORDER = [f"{number:032x}" for number in range(12)]


def points(*numbers, status="done", rows=2, **parameters):
    table = outcome_table([Outcome(ORDER[number], status, rows={"facts": rows}) for number in numbers])
    for name, values in parameters.items():
        field, column = parameter_column(name, values)
        table = table.add_column(1, field, column)
    return table


def facts(*numbers, rows=2, tag="a"):
    column = point_array([ORDER[number] for number in numbers], [rows] * len(numbers))
    values = [f"{tag}{number}.{row}" for number in numbers for row in range(rows)]
    return {"facts": pa.table({"point": column, "value": values})}


def values_of(root):
    table = load(root).table("facts")
    return list(zip(table["point"].cast(pa.string()).to_pylist(), table["value"].to_pylist(), strict=True))


def expected(*numbers, tag="a"):
    return [(ORDER[number], f"{tag}{number}.{row}") for number in numbers for row in range(2)]


def test_publishing_orders_points_as_asked(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(3, 1), facts(3, 1))
    journal.commit(points(0, 2), facts(0, 2))
    journal.publish(ORDER[:4])
    assert values_of(tmp_path) == expected(0, 1, 2, 3)
    assert load(tmp_path).points["point"].cast(pa.string()).to_pylist() == ORDER[:4]
    assert not journal.entries()


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6, 7], [5, 0, 7, 2, 1, 6, 3, 4]])
def test_what_is_written_piece_by_piece_is_whole_and_in_order(tmp_path, monkeypatch, order):
    monkeypatch.setattr(journal_module, "_PIECE", 3)
    journal = Journal(tmp_path)
    for numbers in ((0, 1, 2), (3, 4, 5), (6, 7)):
        journal.commit(points(*numbers), facts(*numbers))
    journal.publish([ORDER[number] for number in order])
    assert values_of(tmp_path) == expected(*order)
    assert load(tmp_path).points["point"].cast(pa.string()).to_pylist() == [ORDER[number] for number in order]
    assert [len(chunk.dictionary) for chunk in load(tmp_path).points["point"].chunks] == [3, 3, 2]


def test_points_of_other_commands_keep_their_place_in_front(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(5, 4), facts(5, 4))
    journal.publish([ORDER[5], ORDER[4]])
    journal.commit(points(1), facts(1))
    journal.publish(ORDER[:4])
    assert values_of(tmp_path) == expected(5, 4, 1)


def test_a_journal_row_replaces_published_rows_of_its_point(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0, 1, status="incomplete"), facts(0, 1))
    journal.publish(ORDER)
    journal.commit(points(1), facts(1, tag="b"))
    journal.publish(ORDER)
    assert values_of(tmp_path) == expected(0) + expected(1, tag="b")
    assert load(tmp_path).points["status"].to_pylist() == ["incomplete", "done"]


def test_a_point_that_lost_its_rows_when_run_again_leaves_none_behind(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0, 1, status="incomplete"), facts(0, 1))
    journal.publish(ORDER)
    journal.commit(points(1, status="failed", rows=0), {})
    journal.publish(ORDER)
    assert values_of(tmp_path) == expected(0)


def test_large_tables_become_folders_and_still_replace(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "_LARGE_BYTES", 1)
    journal = Journal(tmp_path)
    for first in (0, 2, 4):
        journal.commit(points(first, first + 1, status="incomplete"), facts(first, first + 1))
        journal.publish(ORDER)
    journal.commit(points(3), facts(3, tag="b"))
    journal.publish(ORDER)
    assert (tmp_path / "tables" / "facts").is_dir()
    assert not (tmp_path / "tables" / "facts.parquet").exists()
    assert sorted(values_of(tmp_path)) == sorted(expected(0, 1, 2, 4, 5) + expected(3, tag="b"))


@pytest.mark.parametrize("large", [False, True])
def test_publishing_stopped_anywhere_and_done_again_gives_the_same(tmp_path, monkeypatch, large):
    """Let the n-th step of publishing fail for every n; the next publishing must not care."""
    if large:
        monkeypatch.setattr(journal_module, "_LARGE_BYTES", 1)
    whole = tmp_path / "whole"
    prepare(whole)
    before = tmp_path / "before"
    shutil.copytree(whole, before)
    Journal(whole).publish(ORDER)
    wanted = values_of(whole), load(whole).points.to_pylist()
    for stop_at in range(1, 200):
        root = tmp_path / f"stopped {stop_at}"
        shutil.copytree(before, root)
        with monkeypatch.context() as patch:
            reached = fail_at(patch, stop_at)
            with contextlib.suppress(Stopped):
                Journal(root).publish(ORDER)
        Journal(root).publish(ORDER)
        found = values_of(root)
        assert (sorted(found), load(root).points.to_pylist()) == (sorted(wanted[0]), wanted[1]), f"stopped at step {stop_at}"
        assert large or found == wanted[0]
        if reached[0] < stop_at:
            break
    assert stop_at > 8


def prepare(root):
    journal = Journal(root)
    journal.commit(points(0, 1, 2, status="incomplete"), facts(0, 1, 2))
    journal.publish(ORDER)
    journal.commit(points(1, 3), facts(1, 3, tag="b"))
    journal.commit(points(2, status="failed", rows=0), {})
    journal.commit(points(4), facts(4, tag="c"))


class Stopped(BaseException):
    """Killed here."""


def fail_at(patch, number):
    """Make the n-th durable step of the process its last."""
    count = [0]

    def counted(step):
        def run(*arguments, **options):
            count[0] += 1
            if count[0] == number:
                raise Stopped
            return step(*arguments, **options)

        return run

    patch.setattr(Path, "rename", counted(Path.rename))
    patch.setattr(os, "link", counted(os.link))
    patch.setattr(shutil, "rmtree", counted(shutil.rmtree))
    patch.setattr(journal_module, "write_table", counted(journal_module.write_table))
    return count


def test_a_commit_that_was_cut_off_is_nothing(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    with monkeypatch.context() as patch:
        fail_at(patch, 2)
        with pytest.raises(Stopped):
            journal.commit(points(0), facts(0))
    assert Journal(tmp_path).recorded() is None
    assert not list((tmp_path / "journal").iterdir())


def test_damaged_journal_entry_is_set_aside(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0), facts(0))
    journal.commit(points(1), facts(1))
    (journal.entries()[0] / "table_facts.parquet").write_bytes(b"PAR1 nonsense")
    again = Journal(tmp_path)
    assert again.recorded()["point"].cast(pa.string()).to_pylist() == [ORDER[1]]
    assert list((tmp_path / "journal").glob("_bad_*"))
    assert "set aside" in again.said[0]


@pytest.mark.parametrize("missing", [False, True])
def test_points_of_a_damaged_table_run_again(tmp_path, missing):
    journal = Journal(tmp_path)
    journal.commit(points(0, 1), facts(0, 1))
    journal.commit(points(2, rows=0), {})
    journal.publish(ORDER)
    path = tmp_path / "tables" / "facts.parquet"
    path.unlink() if missing else path.write_bytes(path.read_bytes()[:-50])
    again = Journal(tmp_path)
    assert again.recorded()["point"].cast(pa.string()).to_pylist() == [ORDER[2]]
    assert "2 points lost their rows" in again.said[-1]


def test_damaged_points_are_set_aside(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0), facts(0))
    journal.publish(ORDER)
    (tmp_path / "points.parquet").write_bytes(b"nonsense")
    assert Journal(tmp_path).recorded() is None
    assert (tmp_path / "_bad_points.parquet").exists()


def test_parameters_of_differing_types_become_json(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0, 1, n=[1, 2]), facts(0, 1))
    journal.publish(ORDER)
    assert load(tmp_path).points["n"].type == pa.int64()
    journal.commit(points(2, 3, n=["x", None], code=["0.77", "0.07"]), facts(2, 3))
    journal.publish(ORDER)
    table = load(tmp_path).points
    assert table["n"].to_pylist() == ["1", "2", '"x"', None]
    assert table["code"].to_pylist() == [None, None, "0.77", "0.07"]


def test_a_second_driver_is_refused(tmp_path):
    with locked(tmp_path), pytest.raises(DirectoryBusy, match="another minimex"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_looking_changes_nothing(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0), facts(0))
    before = sorted(tmp_path.rglob("*"))
    assert len(recorded_points(tmp_path)) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_files_read_back_as_declared(tmp_path):
    journal = Journal(tmp_path)
    journal.commit(points(0), facts(0))
    journal.publish(ORDER)
    assert pa.types.is_dictionary(read_table(tmp_path / "tables" / "facts.parquet")["point"].type)
