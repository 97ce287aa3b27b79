"""Several commands at once: into different directories, into the same one, and looking on while a sweep runs."""

from __future__ import annotations

import pytest
from conftest_tools import FAKE, SIXTY, finish, run, start, tables, wait_until

from pipeline.store import load

INLINE = [*SIXTY, "compute=inline"]


def committed(root):
    return list((root / "journal").glob("0*"))


@pytest.mark.parametrize("compute", ["inline", pytest.param("ray", marks=pytest.mark.long)])
def test_two_sweeps_into_different_directories(tmp_path, undisturbed, compute):
    both = [start(*FAKE, *SIXTY, f"compute={compute}", f"out={name}/it", cwd=tmp_path) for name in ("one", "other")]
    for process in both:
        status, out = finish(process)
        assert status == 0, out
    assert tables(tmp_path / "one" / "it") == undisturbed
    assert tables(tmp_path / "other" / "it") == undisturbed


def test_two_sweeps_into_the_same_directory(tmp_path, undisturbed):
    first = start(*FAKE, *INLINE, "out=it", cwd=tmp_path)
    wait_until(lambda: committed(tmp_path / "it"))
    status, out = run(*FAKE, *INLINE, "out=it", cwd=tmp_path)
    assert status == 2, out
    assert "it: another minimex is writing there; wait for it or choose another out=DIR" in out
    assert first.poll() is None, "the first goes on"
    status, out = finish(first)
    assert status == 0, out
    assert tables(tmp_path / "it") == undisturbed


def test_a_sweep_copies_from_one_that_is_publishing(tmp_path, undisturbed):
    """Siblings are read while they are written: what is half renamed is not taken."""
    first = start(*FAKE, *INLINE, "compute.publish_s=0.01", "out=both/one", cwd=tmp_path)
    wait_until((tmp_path / "both" / "one" / "points.parquet").exists)
    status, out = run(*FAKE, *INLINE, "out=both/other", cwd=tmp_path)
    assert status == 0, out
    assert finish(first)[0] == 0
    assert tables(tmp_path / "both" / "other") == undisturbed


def test_others_look_on_while_a_sweep_publishes(tmp_path, undisturbed):
    root = tmp_path / "it"
    slow = [word.replace("pause_s=0.01", "pause_s=0.05") for word in INLINE]
    sweep = start(*FAKE, *slow, "compute.publish_s=0.01", "verify=true", "out=it", cwd=tmp_path)
    wait_until((root / "points.parquet").exists)
    looks = (["show", "it", "sums"], ["verify", "it", "trust=[minimex_fakes]"], ["report", "it"], ["status", "it"], ["show", "it"])
    rounds = 0
    while sweep.poll() is None:
        for look in looks:
            busy = sweep.poll() is None
            status, out = run(*look, cwd=tmp_path)
            assert status == 0, (look, out)
            assert "refuted" not in out
            if busy and sweep.poll() is None and look[0] == "verify":
                assert "a sweep is running there and judges its points at its end" in out
                assert not (root / "checks.parquet").exists()
        rounds += 1
    status, out = finish(sweep)
    assert status == 0, out
    assert rounds > 1
    found = tables(root)["sums"]
    assert len(found) == len(undisturbed["sums"])
    status, out = run("show", "it", cwd=tmp_path)
    assert "240 proved" in out, "the sweep's own verdicts are there"


def test_while_a_directory_is_held_no_sweep_starts_and_no_verdicts_are_written(tmp_path):
    from pipeline.journal import locked

    assert run(*FAKE, "solver=trivial", "compute=inline", "out=it", cwd=tmp_path)[0] == 0
    with locked(tmp_path / "it"):
        status, out = run(*FAKE, "solver=trivial", "compute=inline", "seed=1", "out=it", cwd=tmp_path)
        assert status == 2, out
        status, out = run("verify", "it", "trust=[minimex_fakes]", cwd=tmp_path)
        assert status == 0, out
        assert "a sweep is running there" in out
    assert load(tmp_path / "it").points["status"].to_pylist() == ["done"]
