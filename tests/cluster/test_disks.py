"""Disks that are full, read-only or damaged: what was computed is kept, what is wrong is said, the same command goes on."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest_tools import FAKE, SIXTY, finish, run, start, tables, wait_until

from pipeline.driver import Run
from pipeline.journal import Journal, recorded_points
from pipeline.store import load

INLINE = [*SIXTY, "compute=inline"]


@pytest.fixture
def small(tmp_path):
    """A disk of two MB, and how to mount it otherwise."""
    folder = tmp_path / "small disk"
    folder.mkdir()

    def mount(options):
        return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)

    try:
        done = mount("size=2m")
    except FileNotFoundError:
        pytest.skip("no `mount` here")
    if done.returncode:
        pytest.skip("mounting is not permitted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=False)


@pytest.fixture
def ask(minimex):
    """Run a command in this process."""

    def asked(*arguments):
        answer = minimex(*arguments)
        return answer.status, answer.text

    return asked


def fill(folder):
    """Leave no room on a disk; return the file that takes it."""
    hog = folder / "hog"
    with hog.open("ab", buffering=0) as file, suppress(OSError):
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return hog


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def partial_files(root):
    return [path for path in root.rglob(".*") if path.name.endswith(".partial") or path.parent.name in ("journal", "inputs")]


def committed(root):
    return list((root / "journal").glob("0*"))


class Said:
    """What a running command has said so far, from the file it says it to."""

    def __init__(self, folder, *arguments):
        self.path = folder / "said.txt"
        self.file = self.path.open("w")
        self.process = start(*arguments, cwd=folder, output=self.file)

    def __contains__(self, text):
        return text in " ".join(self.path.read_text().split())

    def finish(self):
        status, _ = finish(self.process)
        self.file.close()
        return status, " ".join(self.path.read_text().split())


# ---- full --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compute", ["inline", pytest.param("ray", marks=pytest.mark.long)])
def test_a_full_disk_is_waited_for(tmp_path, small, undisturbed, compute):
    root = small / "it"
    said = Said(tmp_path, *FAKE, *SIXTY, f"compute={compute}", f"out={root}")
    wait_until(lambda: committed(root))
    hog = fill(small)
    wait_until(lambda: "wait for room" in said)
    hog.unlink()
    status, out = said.finish()
    assert status == 0, out
    assert out.count("points wait for room (600 s); free some and it goes on") == 1
    assert "there is room again" in out
    assert tables(root) == undisturbed
    assert not partial_files(root)


def test_where_patience_ends_what_was_saved_stays(tmp_path, small, undisturbed):
    root = small / "it"
    said = Said(tmp_path, *FAKE, *INLINE, "compute.patience_s=1", f"out={root}")
    wait_until(lambda: committed(root))
    hog = fill(small)
    status, out = said.finish()
    assert status == 1, out
    assert "could not be saved; what was saved before stays; with room the same command goes on" in out
    done = len(recorded_points(root))
    assert 0 < done < 60
    assert not partial_files(root)
    hog.unlink()
    status, out = run(*FAKE, *INLINE, f"out={root}", cwd=tmp_path)
    assert status == 0, out
    assert f"{done} known before" in out
    assert tables(root) == undisturbed


def test_a_full_disk_waited_for_can_be_interrupted(tmp_path, small):
    root = small / "it"
    said = Said(tmp_path, *FAKE, *INLINE, f"out={root}")
    wait_until(lambda: committed(root))
    fill(small)
    wait_until(lambda: "wait for room" in said)
    said.process.send_signal(signal.SIGINT)
    status, out = said.finish()
    assert status == 1, out
    assert "could not be saved" in out


def test_publishing_on_a_full_disk_costs_nothing(tmp_path, fake, small, undisturbed, monkeypatch):
    root, whole = small / "it", Run.publish
    twenty = [word.replace("range(0,60)", "range(0,20)") for word in INLINE]
    assert fake(*twenty, f"out={root}").status == 0
    before = tables(root)

    def publish(self, *, last=False):
        if last:
            fill(small)
        whole(self, last=last)

    monkeypatch.setattr(Run, "publish", publish)
    answer = fake(*INLINE, f"out={root}")
    assert answer.status == 1, answer.text
    assert "publishing failed (disk full); nothing is lost: what was computed is in journal/" in answer.text
    assert len(recorded_points(root)) == 60
    assert tables(root) == before, "what was published before is whole"
    assert not partial_files(root)
    assert run("show", root, cwd=tmp_path)[0] == 0
    status, out = run(*FAKE, *INLINE, f"out={root}", cwd=tmp_path)
    assert (status, "publishing failed (disk full)" in out) == (1, True), "still no room"
    (small / "hog").unlink()
    status, out = run(*FAKE, *INLINE, f"out={root}", cwd=tmp_path)
    assert status == 0, out
    assert "/60 points" not in out, "nothing is computed again"
    assert tables(root) == undisturbed


def test_what_comes_after_the_rows_is_a_line_each_on_a_full_disk(minimex, small, monkeypatch):
    root, whole = small / "it", Run.publish

    def publish(self, *, last=False):
        whole(self, last=last)
        if last:
            fill(small)

    monkeypatch.setattr(Run, "publish", publish)
    answer = minimex(*FAKE[:-1], "solver=trivial", "seed=1,2", "compute=inline", f"out={root}")
    assert answer.status == 0, answer.text
    lines = ["manifest.json could not be written (disk full)", "report.html could not be written (disk full)"]
    for line in [*lines, "checks.parquet could not be written (no space left on device)", "tracking: MLflow at"]:
        assert answer.text.count(line) == 1, line
    assert len(load(root).table("firsts")) == 2
    assert not partial_files(root)
    (small / "hog").unlink()
    assert minimex("verify", root, "trust=[minimex_fakes]").status == 0


def test_a_checkpoint_that_finds_no_room_is_a_line(tmp_path, small):
    root = small / "it"
    long = ["solver=walk", "solver.steps=400", "solver.pause_s=0.02", "compute.checkpoint_s=0", "compute=inline"]
    said = Said(tmp_path, *FAKE, *long, f"out={root}")
    wait_until(lambda: list(root.glob("checkpoints/*/*.npz")))
    hog = fill(small)
    wait_until(lambda: "checkpoints cannot be stored" in said)
    hog.unlink()
    status, out = said.finish()
    assert status == 0, out
    assert out.count("checkpoints cannot be stored (disk full)") == 1
    assert len(load(root).table("sums")) == 40


def test_other_errors_of_writing_end_a_sweep_clearly(fake, monkeypatch):
    whole, calls = Journal.commit, []

    def commit(self, points, tables):
        calls.append(len(points))
        if len(calls) > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        whole(self, points, tables)

    monkeypatch.setattr(Journal, "commit", commit)
    answer = fake("solver=trouble", "solver.pause_s=0.3", "seed=range(0,8)", "out=it")
    assert answer.status == 1
    assert "input/output error" in answer.text
    assert "could not be saved; what was saved before stays; with that mended the same command goes on" in answer.text
    assert len(calls) == 2, "it is not tried again"
    assert len(recorded_points(Path("it"))) == calls[0]


# ---- read-only ---------------------------------------------------------------------------------------------------------------


def test_a_read_only_disk_is_refused_at_the_start(ask, small):
    root = small / "it"
    assert ask(*FAKE, "solver=trivial", "compute=inline", f"out={root}")[0] == 0
    remount(small, "ro")
    for out_dir in (root, small / "new"):
        status, out = ask(*FAKE, "solver=trivial", "compute=inline", "seed=1,2", f"out={out_dir}")
        assert status == 2, out
        assert "out: expected a folder that can be written" in out
    status, out = ask("show", root, "firsts")
    assert status == 0, out
    status, out = ask("verify", root, "trust=[minimex_fakes]")
    assert status == 0, out
    assert "checks.parquet could not be written: Read-only file system" in out
    status, out = ask("report", root)
    assert (status, "read-only file system" in out) == (1, True)


def test_a_disk_that_becomes_read_only_ends_the_sweep(tmp_path, small):
    root = small / "it"
    said = Said(tmp_path, *FAKE, *INLINE, f"out={root}")
    wait_until(lambda: committed(root))
    mount_over = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", root / "journal"]  # the disk itself is busy: its lock is open
    subprocess.run(mount_over, check=True)
    status, out = said.finish()
    subprocess.run(["umount", "--lazy", root / "journal"], check=True)
    assert status == 1, out
    assert "read-only file system" in out
    assert 0 < len(recorded_points(root)) < 60
    status, out = run(*FAKE, *INLINE, f"out={root}", cwd=tmp_path)
    assert status == 0, out
    assert len(load(root).points) == 60


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.fixture
def open_folder():
    """A folder that everybody may enter (pytest's own are closed), for commands of somebody else."""
    if os.geteuid() or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    if subprocess.run(
        [*NOBODY, sys.executable, "-P", "-c", "import pipeline"], cwd="/", capture_output=True, check=False
    ).returncode:
        pytest.skip("others may not read this installation")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_another_users_directory_may_only_be_read(open_folder):
    root, home = open_folder / "it", open_folder / "home"
    assert run(*FAKE, "solver=trivial", "compute=inline", f"out={root}", cwd=open_folder)[0] == 0
    home.mkdir()
    home.chmod(0o777)
    asked = {"cwd": home, "before": NOBODY, "HOME": str(home)}
    status, out = run(*FAKE, "solver=trivial", "compute=inline", "seed=1,2", f"out={root}", **asked)
    assert status == 2, out
    assert "out: expected a folder that can be written" in out
    assert run("show", root, "firsts", **asked)[0] == 0
    status, out = run("verify", root, "trust=[minimex_fakes]", **asked)
    assert status == 0, out
    assert "checks.parquet could not be written: Permission denied" in out


# ---- damaged -----------------------------------------------------------------------------------------------------------------

TEN = ["solver=walk", "solver.steps=100", "seed=range(0,10)", "compute=inline", "compute.checkpoint_s=0", "out=it"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A finished sweep with everything in it, its journal's last entry included."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "beads.txt").write_text("1\n1/2\n")
    status, out = run(*FAKE, *TEN, "game.file=beads.txt", cwd=folder)
    assert status == 0, out
    return folder


@pytest.fixture
def damaged(sound, workdir):
    """A copy of it, to be damaged, where the next commands are given."""
    shutil.copytree(sound, workdir, dirs_exist_ok=True)
    return workdir


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def flip(path):
    """Flip a bit of the data, not of the footer."""
    content = bytearray(path.read_bytes())
    content[200] ^= 4
    path.write_bytes(content)


def garbage(path):
    path.write_bytes(b"garbage" * 1000)


def again(ask):
    """Give the sweep's command again; return what it said, having seen that all is there and as it was."""
    status, out = ask(*FAKE, *TEN, "game.file=beads.txt")
    assert status == 0, out
    return out


@pytest.mark.parametrize("damage", [truncate, flip, garbage])
@pytest.mark.parametrize("name", ["tables/sums.parquet", "points.parquet"])
def test_a_damaged_table_is_set_aside_and_its_points_run_again(sound, damaged, ask, name, damage):
    path = damaged / "it" / name
    damage(path)
    table = "points" if name.startswith("points") else "sums"
    status, out = ask("show", "it", table)
    assert status == 2, out
    assert f"{path.name}: cannot be read" in out
    status, out = ask("verify", "it", "trust=[minimex_fakes]")
    assert status in (1, 2), out
    assert "cannot be read" in out
    out = again(ask)
    assert f"{name} cannot be read" in out
    assert f"set aside as _bad_{path.name}, its points run again" in out
    assert (path.parent / f"_bad_{path.name}").exists()
    assert tables(damaged / "it") == tables(sound / "it")


@pytest.fixture(scope="module")
def cut_short(tmp_path_factory):
    """A sweep killed after two commits."""
    folder = tmp_path_factory.mktemp("cut short")
    process = start(*FAKE, *INLINE, "out=it", cwd=folder)
    wait_until(lambda: len(committed(folder / "it")) > 1)
    process.kill()
    process.communicate()
    return folder


@pytest.mark.parametrize("damage", [truncate, flip, garbage])
@pytest.mark.parametrize("name", ["points.parquet", "table_sums.parquet"])
def test_a_damaged_commit_is_set_aside_and_the_others_kept(cut_short, workdir, ask, undisturbed, *, name, damage):
    shutil.copytree(cut_short, workdir, dirs_exist_ok=True)
    root = workdir / "it"
    known = len(recorded_points(root))
    victim = min(committed(root))
    lost = pq.read_metadata(victim / "points.parquet").num_rows
    damage(victim / name)
    status, out = ask(*FAKE, *INLINE, "out=it")
    assert status == 0, out
    assert f"journal/{victim.name}/{name} cannot be read" in out
    assert f"{known - lost} known before" in out
    assert tables(root) == undisturbed


def test_a_damaged_checkpoint_is_passed_over(damaged, ask):
    for path in (damaged / "it" / "checkpoints").glob("*/*.npz"):
        flip(path)
    longer = ["solver.steps=200", *TEN[2:], "game.file=beads.txt"]
    status, out = ask(*FAKE, "solver=walk", *longer)
    assert status == 0, out
    status, out = ask("verify", "it", "trust=[minimex_fakes]")
    assert status == 0, out
    assert "sums: 300 proved" in out


@pytest.mark.parametrize("damage", [truncate, flip, garbage])
def test_damaged_verdicts_are_given_again(sound, damaged, damage, ask):
    damage(damaged / "it" / "checks.parquet")
    status, out = ask("show", "it")
    assert status == 0, out
    status, out = ask("report", "it")
    assert status == 0, out
    again(ask)
    status, out = ask("verify", "it", "trust=[minimex_fakes]")
    assert status == 0, out
    assert load(damaged / "it").points.equals(load(sound / "it").points)
    assert pq.read_table(damaged / "it" / "checks.parquet").num_rows == 100


@pytest.mark.parametrize(
    "content", ["garbage", '{"tables": [', "[1, 2]", '{"tables": 3, "columns": "x", "commands": {}}', "\udcff"]
)
def test_a_damaged_manifest_is_written_anew(damaged, content, ask):
    path = damaged / "it" / "manifest.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    for command in (["show", "it"], ["report", "it"], ["status", "it"]):
        status, out = ask(*command)
        assert status == 0, out
    assert ask("verify", "it", "trust=[minimex_fakes]")[0] == 0
    again(ask)
    assert "sums" in load(damaged / "it").manifest["tables"]


@pytest.mark.parametrize("damage", [truncate, garbage])
def test_a_damaged_input_file_is_not_taken_for_the_real_one(damaged, damage, ask):
    (path,) = (damaged / "it" / "inputs").iterdir()
    sound = path.read_bytes()
    damage(path)
    status, out = ask("verify", "it", "trust=[minimex_fakes]")
    assert status == 1, out
    assert "its content is missing from inputs/, or damaged there" in out
    status, out = ask(*FAKE, *TEN, "game.file=beads.txt")
    assert status == 0, out
    assert path.read_bytes() == sound, "the command that has it puts it back"
    assert ask("verify", "it", "trust=[minimex_fakes]")[0] == 0


def test_a_database_of_garbage_costs_mlflow_only(tmp_path):
    (tmp_path / "outputs").mkdir()
    garbage(tmp_path / "outputs" / "mlflow.db")
    tracked = [*FAKE[:-1], "solver=trivial", "compute=inline", "out=outputs/it"]
    status, out = run(*tracked, cwd=tmp_path)
    assert status == 0, out
    assert "tracking: MLflow at" in out
    assert "file is not a database); the results are safe" in out
