"""A sweep's home in a store, on pyarrow's local filesystem: every step of a push interrupted, hostile manifests, leases."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from rich.console import Console

from pipeline.errors import SweepCutShort
from pipeline.journal import DirectoryBusy, locked
from pipeline.remote import at_work, fetched, folder_of, give_back, is_remote, lease, objects, out_word, session, without_secrets
from pipeline.remote.lease import NAME, Lease
from pipeline.remote.mirror import Record, bring_up_to_date, fetch_latest, mirror_of
from pipeline.remote.objects import Store, StoreLost, _reason, _secrets, open_store
from pipeline.remote.session import Remote
from pipeline.remote.snapshot import Head, Snapshot, Stored
from pipeline.status import show_status
from solvers.errors import ConfigError

URI = "s3://bucket/sweeps/it"
FILES = {
    "points.parquet": b"points",
    "tables/sums.parquet": b"sums",
    "tables/large/000001-0a1b2c3d4e5f.parquet": b"part",
    f"inputs/{'a' * 64}": b"input",
    f"checkpoints/{'b' * 32}/400.npz": b"arrays",
}


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(lease, "_SETTLE_S", 0.0)
    monkeypatch.setattr(objects, "_AGAIN_S", (0.0, 0.0))


@pytest.fixture
def store(tmp_path):
    (tmp_path / "bucket").mkdir()
    return Store(fs.LocalFileSystem(), str(tmp_path / "bucket" / "it"), URI)


@pytest.fixture
def home(store, monkeypatch, tmp_path):
    """Let URIs lead to the store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "open_store", lambda uri: store)
    return store


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(".new")
        partial.write_bytes(content)
        partial.rename(path)


def read(folder):
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if name not in ("remote.json", "manifest.json", "_lock")}


@pytest.fixture
def mirror(tmp_path):
    folder = tmp_path / "mirror"
    write(folder, {**FILES, "_lock": b"", "notes.txt": b"not ours", "tables/.half.parquet": b"not whole"})
    (folder / "manifest.json").write_text('{"format": 1, "commands": ["minimex"]}')
    return folder


def remote(store, mirror):
    return Remote(store, mirror, Lease(store), lambda line: None)


def stands(store, tmp_path):
    """Return the files that a reader who comes now gets."""
    folder = tmp_path / f"reader{time.monotonic_ns()}"
    head = Head.of(store)
    if head is None:
        return None
    fetch_latest(store, head, folder, None)
    return read(folder)


# ---- pushing -----------------------------------------------------------------------------------------------------------------


def test_what_is_pushed_is_what_a_reader_gets(store, mirror, tmp_path):
    remote(store, mirror).push()
    assert stands(store, tmp_path) == FILES
    said = json.loads((Path(store.prefix) / "manifest.json").read_text())
    assert (said["format"], said["commands"], said["snapshot"]["number"]) == (1, ["minimex"], 1)


def test_what_did_not_change_stays_where_it_is_and_is_not_written_again(store, mirror):
    remote(store, mirror).push()
    before = Head.of(store).snapshot
    remote(store, mirror).push()
    assert Head.of(store).snapshot == before, "nothing changed: no new snapshot"
    write(mirror, {"points.parquet": b"more points"})
    (mirror / "tables/sums.parquet").touch()
    remote(store, mirror).push()
    after = Head.of(store).snapshot
    assert after.number == 2
    assert [name for name in FILES if after.files[name] != before.files[name]] == ["points.parquet"]


def test_a_changed_manifest_alone_is_pushed(store, mirror):
    remote(store, mirror).push()
    (mirror / "manifest.json").write_text('{"format": 1, "commands": ["another"]}')
    remote(store, mirror).push()
    assert Head.of(store).about["commands"] == ["another"]


def test_objects_are_removed_when_two_newer_snapshots_do_not_name_them(store, mirror):
    for number in range(1, 5):
        write(mirror, {"points.parquet": b"points %d" % number, "checks.parquet": b"checks %d" % min(number, 3)})
        remote(store, mirror).push()
    objects = [name.partition("/")[2].partition("-")[0] + ":" + name.rpartition("/")[2] for name in store.names("snapshots")]
    assert [one for one in sorted(objects) if "points" in one or "checks" in one] == [
        "000003:checks.parquet",
        "000003:points.parquet",
        "000004:points.parquet",
    ]
    assert "000001:sums.parquet" in objects, "unchanged since the first push"


def test_a_reader_that_is_overtaken_twice_gets_the_newest(store, mirror, tmp_path):
    remote(store, mirror).push()
    old = Head.of(store)
    for number in (1, 2):
        write(mirror, {name: content + b"%d" % number for name, content in FILES.items()})
        remote(store, mirror).push()
    fetch_latest(store, old, tmp_path / "reader", None)
    assert read(tmp_path / "reader") == {name: content + b"2" for name, content in FILES.items()}


class Cut(StoreLost):
    """The network, cut on purpose."""


@dataclass(frozen=True)
class Cutting(Store):
    """A store that is cut at one request, before or after it has done what it was asked, and from then on."""

    step: int = 0
    after: bool = False
    seen: list[str] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def _request(self, kind, *given):
        with self.lock:
            self.seen.append(kind)
            number = len(self.seen)
        if number < self.step or (number == self.step and self.after):
            answer = getattr(Store, kind)(self, *given)
            if number < self.step:
                return answer
        raise Cut("cut")

    def read(self, *given):
        return self._request("read", *given)

    def put(self, *given):
        return self._request("put", *given)

    def upload(self, *given):
        return self._request("upload", *given)

    def remove(self, *given):
        return self._request("remove", *given)

    def remove_folder(self, *given):
        return self._request("remove_folder", *given)

    def names(self, *given):
        return self._request("names", *given)


STEPS = 14


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_a_push_that_is_cut_anywhere_leaves_a_whole_snapshot(store, mirror, tmp_path, step, after):
    for number in (1, 2):  # so that there is something to remove
        write(mirror, {name: content + b" %d" % number for name, content in FILES.items()})
        remote(store, mirror).push()
    before = stands(store, tmp_path)
    write(mirror, new := {name: content + b" 3" for name, content in FILES.items() if "large" not in name})
    cutting = Cutting(store.files, store.prefix, URI, step=step, after=after)
    try:
        remote(cutting, mirror).push()
    except Cut:
        assert len(cutting.seen) >= step
    committed = Head.of(store).snapshot.number == 3
    assert committed == ("put" in cutting.seen[: step if after else step - 1])
    assert stands(store, tmp_path) == (before | new if committed else before)
    remote(store, mirror).push()  # another process, later
    assert stands(store, tmp_path) == before | new
    assert Head.of(store).snapshot.number == 3
    write(mirror, {"points.parquet": b"4"})
    remote(store, mirror).push()
    assert stands(store, tmp_path) == before | new | {"points.parquet": b"4"}
    named = {one.at for one in Head.of(store).snapshot.files.values()}
    assert len(set(store.names("snapshots")) - named) == 1, "what was half pushed has gone: only points.parquet of before is left"


def test_the_steps_above_are_all_steps(store, mirror):
    for number in (1, 2, 3):
        write(mirror, {name: content + b" %d" % number for name, content in FILES.items() if "large" not in name or number < 3})
        counting = Cutting(store.files, store.prefix, URI, step=1000)
        remote(counting, mirror).push()
    assert counting.seen[:2] == ["read", "upload"]
    assert counting.seen.count("put") == 1
    assert len(counting.seen) == STEPS - 1, "the last parameter cuts nothing"


def test_a_put_whose_answer_was_lost_is_recognised_by_another_process(store, mirror, tmp_path):
    remote(store, mirror).push()
    write(mirror, {"points.parquet": b"new"})
    with pytest.raises(Cut):
        remote(Cutting(store.files, store.prefix, URI, step=4, after=True), mirror).push()
    assert Head.of(store).snapshot.number == 2
    assert Record.of(mirror).head.snapshot.number == 1
    assert bring_up_to_date(store, Head.of(store), mirror, None)
    assert (mirror / "notes.txt").exists(), "it goes on with this mirror, it does not fetch another"
    assert Record.of(mirror).head.snapshot.number == 2


def test_a_store_that_is_lost_while_points_are_computed_costs_one_warning(store, mirror):
    said = []
    lost = Remote(Cutting(store.files, store.prefix, URI, step=1), mirror, Lease(store), said.append)
    lost.published()
    lost.published()
    assert len(said) == 1
    assert str(mirror) in said[0]
    with pytest.raises(SweepCutShort, match="the same command pushes it"):
        lost.finish()
    lost.store = store
    lost.published()
    assert len(said) == 2
    assert "is back" in said[1]
    assert Head.of(store).snapshot.number == 1


# ---- somebody else has written -----------------------------------------------------------------------------------------------


def test_a_snapshot_that_somebody_else_committed_is_not_overwritten(store, mirror, tmp_path):
    remote(store, mirror).push()
    fetch_latest(store, Head.of(store), tmp_path / "other", None)
    write(tmp_path / "other", {"points.parquet": b"theirs"})
    remote(store, tmp_path / "other").push()
    write(mirror, {"points.parquet": b"ours"})
    with pytest.raises(SweepCutShort, match="nothing is overwritten"):
        remote(store, mirror).push()
    assert stands(store, tmp_path)["points.parquet"] == b"theirs"
    assert (mirror / "points.parquet").read_bytes() == b"ours"


def test_nor_one_that_is_committed_while_we_upload(store, mirror, tmp_path, monkeypatch):
    remote(store, mirror).push()
    fetch_latest(store, Head.of(store), tmp_path / "other", None)
    write(tmp_path / "other", {"points.parquet": b"theirs"})
    write(mirror, {"points.parquet": b"ours"})
    upload = Store.upload

    def overtaken(self, path, name):
        monkeypatch.setattr(Store, "upload", upload)
        remote(store, tmp_path / "other").push()
        return upload(self, path, name)

    monkeypatch.setattr(Store, "upload", overtaken)
    with pytest.raises(SweepCutShort, match="nothing is overwritten"):
        remote(store, mirror).push()
    assert stands(store, tmp_path)["points.parquet"] == b"theirs"


def test_two_snapshots_of_one_number_are_told_apart(store, mirror):
    remote(store, mirror).push()
    record = Record.of(mirror)
    twin = Head(Snapshot(1, "00000000", record.head.snapshot.files), {})
    assert not record.settle(mirror, twin)
    assert not record.settle(mirror, None), "a store that was emptied is not this mirror's either"


def points(*hashes):
    from pipeline.points import Point  # noqa: F401 (what a points table is made of)
    from pipeline.store import OUTCOME, POINT, point_array

    columns = {one.name: pa.array([None] * len(hashes), one.type) for one in OUTCOME}
    columns |= {"status": pa.array(["done"] * len(hashes)), "rows": pa.array(["{}"] * len(hashes))}
    return pa.table({"point": point_array(list(hashes)), **columns}, schema=pa.schema([POINT, *OUTCOME]))


def test_an_old_mirror_with_rows_of_its_own_gives_way_with_all_of_them(store, tmp_path):
    from pipeline.journal import Journal
    from pipeline.store import load

    mirror, other, said = tmp_path / "mirror", tmp_path / "other", []
    for folder, names in ((mirror, ["a"]), (other, ["b"])):
        Journal(folder).commit(points(*names), {})
        Journal(folder).publish(names)
    remote(store, mirror).push()
    Journal(mirror).commit(points("c"), {})  # computed, journalled, never published nor pushed
    fetch_latest(store, Head.of(store), tmp_path / "third", None)
    write(tmp_path / "third", {"points.parquet": (other / "points.parquet").read_bytes()})
    remote(store, tmp_path / "third").push()

    assert not bring_up_to_date(store, Head.of(store), mirror, None), "a reader touches no rows that were never stored"
    assert bring_up_to_date(store, Head.of(store), mirror, said.append)
    assert load(mirror).points["point"].to_pylist() == ["b"]
    assert load(tmp_path / "mirror.1").points["point"].to_pylist() == ["a", "c"]
    assert "mirror.1" in said[0]


def test_an_old_mirror_with_nothing_of_its_own_is_replaced(store, mirror, tmp_path):
    remote(store, mirror).push()
    fetch_latest(store, Head.of(store), tmp_path / "other", None)
    write(tmp_path / "other", {"points.parquet": b"newer"})
    remote(store, tmp_path / "other").push()
    assert bring_up_to_date(store, Head.of(store), mirror, None)
    assert (mirror / "points.parquet").read_bytes() == b"newer"
    assert not list(tmp_path.glob("mirror.*"))


def test_a_mirror_that_was_emptied_by_hand_is_fetched_again(store, mirror):
    remote(store, mirror).push()
    (mirror / "points.parquet").unlink()
    assert bring_up_to_date(store, Head.of(store), mirror, lambda line: None)
    assert (mirror / "points.parquet").read_bytes() == b"points"


# ---- readers -----------------------------------------------------------------------------------------------------------------


def test_a_reader_works_in_the_mirror(home, mirror):
    remote(home, mirror).push()
    assert fetched(URI) == mirror_of(URI)
    assert read(mirror_of(URI)) == FILES


def test_a_reader_without_a_folder_to_write_to_works_in_a_temporary_one(home, mirror):
    remote(home, mirror).push()
    Path("outputs").write_text("in the way")
    folder = fetched(URI)
    assert not folder.is_relative_to(Path.cwd())
    assert read(folder) == FILES


def test_a_reader_beside_a_driver_gets_the_last_snapshot(home, mirror):
    remote(home, mirror).push()
    with at_work(URI, print) as writer:
        write(writer.mirror, {"points.parquet": b"not pushed yet"})
        assert read(fetched(URI)) == FILES


def test_verdicts_are_given_back(home, mirror, tmp_path):
    remote(home, mirror).push()
    said, folder = [], fetched(URI)
    write(folder, {"checks.parquet": b"verdicts"})
    give_back(URI, folder, said.append)
    assert said == [f"stored   {URI}"]
    assert stands(home, tmp_path) == {**FILES, "checks.parquet": b"verdicts"}
    assert not (Path(home.prefix) / NAME).exists()


def test_but_not_while_somebody_is_at_work(home, mirror, tmp_path):
    remote(home, mirror).push()
    said, folder = [], fetched(URI)
    write(folder, {"checks.parquet": b"verdicts"})
    with Lease(home):
        give_back(URI, folder, said.append)
    assert "not stored" in said[0]
    assert stands(home, tmp_path) == FILES


def test_an_empty_place_is_no_sweep(home):
    assert not fetched(URI).exists()


def test_something_else_that_lies_there_is_left_alone(home):
    home.put("manifest.json", b'{"name": "a web app"}')
    for attempt in (fetched, lambda uri: at_work(uri, print).__enter__()):
        with pytest.raises(ConfigError, match="no snapshot in it"):
            attempt(URI)
    assert [path.name for path in Path(home.prefix).iterdir()] == ["manifest.json"]


def test_a_damaged_object_is_not_read(home, mirror):
    remote(home, mirror).push()
    damaged = Path(home.prefix) / Head.of(home).snapshot.files["tables/sums.parquet"].at
    for content in (b"sumz", b"su", b"sums and more"):
        damaged.write_bytes(content)
        with pytest.raises(ConfigError, match=r"tables/sums\.parquet is not what the manifest says"):
            fetched(URI)
    damaged.unlink()
    with pytest.raises(ConfigError, match="a sweep that is whole"):
        fetched(URI)


def test_a_driver_goes_on_without_it(home, mirror):
    remote(home, mirror).push()
    (Path(home.prefix) / Head.of(home).snapshot.files["tables/sums.parquet"].at).write_bytes(b"sumz")
    said = []
    with at_work(URI, said.append) as writer:
        assert read(writer.mirror) == {**FILES, "tables/sums.parquet": b""}, "which the journal sets aside"
    assert "tables/sums.parquet is damaged" in said[0]


# ---- hostile manifests -------------------------------------------------------------------------------------------------------

HOSTILE = [
    "/etc/passwd",
    "../points.parquet",
    "tables/../../points.parquet",
    "tables/..\\points.parquet",
    "tables\\sums.parquet",
    "tables//sums.parquet",
    "./points.parquet",
    "points.parquet\n",
    "points.parquet/..",
    "Points.parquet",
    "manifest.json",
    "remote.json",
    "_lock",
    "journal/000001-0a/points.parquet",
    "tables/.hidden.parquet",
    "tables/a/b/000001-0a.parquet",
    "tables/sums/part.parquet",
    f"inputs/{'a' * 63}/x",
    "inputs/..",
    "checkpoints/../400.npz",
    f"checkpoints/{'b' * 32}/٤.npz",
    f"checkpoints/{'b' * 32}/../../x.npz",
    "",
]


def hostile(home, name, at=None, **more):
    told = {"at": f"snapshots/000001-0a0a0a0a/{name}" if at is None else at, "bytes": 4, "sha256": "0" * 64, **more}
    home.put("manifest.json", json.dumps({"snapshot": {"number": 1, "id": "0a0a0a0a", "files": {name: told}}}).encode())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_no_place_of_a_sweep_goes_nowhere(home, tmp_path, name):
    hostile(home, name)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match="a sweep keeps no"):
        fetched(URI)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "at",
    [
        "../other/points.parquet",
        "/etc/passwd",
        "snapshots/../../points.parquet",
        "snapshots/000001-0a0a0a0a/../points.parquet",
        "snapshots/000001-0a0a0a0a/checks.parquet",
        "snapshots/1-0a0a0a0a/points.parquet",
        "other/points.parquet",
        "",
        7,
    ],
)
def test_an_object_outside_the_snapshots_is_not_read(home, at):
    hostile(home, "points.parquet", at)
    with pytest.raises(ConfigError, match="cannot be at"):
        fetched(URI)


@pytest.mark.parametrize("more", [{"bytes": -1}, {"bytes": True}, {"bytes": "4"}, {"sha256": "x"}, {"sha256": None}])
def test_sizes_and_hashes_are_needed(home, more):
    hostile(home, "points.parquet", **more)
    with pytest.raises(ConfigError, match="has no size and sha256"):
        fetched(URI)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"snapshot": {"number": 1, "id": "../", "files": {}}}']
)
def test_what_is_no_manifest_is_said_to_be_none(home, content):
    home.put("manifest.json", content)
    with pytest.raises(ConfigError, match="a sweep's prefix"):
        fetched(URI)


def test_a_manifest_that_is_replaced_while_it_is_read_is_read_again(home, mirror, monkeypatch):
    remote(home, mirror).push()
    whole, said = Store.read, iter([slice(0, -9), slice(0, 40)])
    monkeypatch.setattr(Store, "read", lambda store, *what: whole(store, *what)[next(said, slice(None))])
    head = Head.of(home)
    assert head is not None
    assert head.snapshot.number == 1
    assert next(said, None) is None


def test_more_bytes_than_promised_are_not_taken(home, tmp_path):
    hostile(home, "points.parquet")
    home.put("snapshots/000001-0a0a0a0a/points.parquet", b"x" * (64 << 20))
    with pytest.raises(ConfigError, match="is not what the manifest says"):
        fetched(URI)
    assert not [path for path in Path("outputs").rglob("*") if path.is_file() and path.stat().st_size > 1000]


def test_a_link_in_a_mirror_is_not_pushed(store, mirror, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (mirror / "checks.parquet").symlink_to(tmp_path / "secret")
    remote(store, mirror).push()
    assert stands(store, tmp_path) == FILES


# ---- a request that is refused -----------------------------------------------------------------------------------------------


def test_a_refused_request_leaves_nothing_behind(home):
    with pytest.raises(ConfigError), at_work(URI, print):
        raise ConfigError("compute.address", "a cluster", "none")
    home.put("manifest.json", b"{}")
    with pytest.raises(ConfigError):
        at_work(URI, print).__enter__()
    home.remove("manifest.json")
    home.put(NAME, foreign())
    with pytest.raises(DirectoryBusy):
        at_work(URI, print).__enter__()
    assert not Path("outputs").exists()


def test_but_nothing_of_somebody_else_goes(home):
    Path("outputs/it").mkdir(parents=True)
    with at_work(URI, print), pytest.raises(DirectoryBusy), at_work(URI, print):
        pass
    assert sorted(path.name for path in Path("outputs").rglob("*")) == [".it-" + mirror_of(URI).name[3:], ".remote", "_lock", "it"]


def test_a_command_that_reads_says_what_its_operand_is(minimex):
    for command in ("status", "show", "verify", "report", "track"):
        answer = minimex(command, "s3://bucket")
        assert answer.status == 2
        assert answer.err.startswith("minimex: DIR: expected s3://BUCKET/NAME, got 's3://bucket'"), answer.err


# ---- what commands call it ---------------------------------------------------------------------------------------------------


def test_commands_call_it_by_its_uri(home, fake, minimex, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fake("solver=trivial", "seed=range(0,7)", f"out={URI}").status == 0
    for words in (["show", URI], ["show", URI, "points"], ["status", URI]):
        answer = minimex(*words)
        assert (answer.status, "outputs" in answer.text) == (0, False), answer.text
    assert f"minimex show {URI} TABLE shows one" in minimex("show", URI).text
    assert minimex("status", URI).text == f"{URI}: ended · 7/7 points: 7 done"
    assert f"report of {URI}, a copy to open here: {mirror_of(URI)}/report.html" in minimex("report", URI).text
    mirrors = Path("outputs")
    mirrors.rename("elsewhere")
    mirrors.write_text("in the way")
    assert minimex("report", URI).text == f"stored {URI}"


# ---- leases ------------------------------------------------------------------------------------------------------------------


def test_a_lease_is_there_while_somebody_is_at_work(home):
    with at_work(URI, print):
        said = json.loads(home.read(NAME, 10_000))
        assert (said["host"], said["pid"]) == (socket.gethostname(), os.getpid())
    assert home.read(NAME, 10_000) is None


def foreign(**more):
    said = {"id": "theirs", "host": "farthing", "machine": "elsewhere", "pid": 7, "began": 1.8e9, "time": time.time(), **more}
    return json.dumps(said).encode()


def test_a_fresh_one_of_somebody_else_is_respected(home):
    home.put(NAME, foreign())
    with pytest.raises(DirectoryBusy, match=r"minimex on farthing \(process 7\) has been writing there since 2027-01-1"):
        at_work(URI, print).__enter__()
    assert home.read(NAME, 10_000) == json.dumps(json.loads(home.read(NAME, 10_000))).encode()
    assert json.loads(home.read(NAME, 10_000))["id"] == "theirs"


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff"])
def test_one_that_cannot_be_read_is_respected(home, content):
    home.put(NAME, content)
    with pytest.raises(DirectoryBusy, match="cannot be read"):
        Lease(home).__enter__()


def test_an_old_one_is_taken_over(home):
    home.put(NAME, foreign(time=time.time() - 601))
    with Lease(home) as ours:
        assert json.loads(home.read(NAME, 10_000))["id"] == ours.own["id"]


def test_one_of_a_dead_process_of_this_machine_is_taken_over(home):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    home.put(NAME, foreign(machine=lease._machine(), pid=ended.pid))
    with Lease(home):
        pass
    home.put(NAME, foreign(machine=lease._machine(), pid=os.getpid()))
    with pytest.raises(DirectoryBusy):
        Lease(home).__enter__()
    home.put(NAME, foreign(machine="another", pid=ended.pid))
    with pytest.raises(DirectoryBusy):
        Lease(home).__enter__()


def test_of_several_at_once_one_gets_it(home, monkeypatch):
    monkeypatch.setattr(lease, "_SETTLE_S", 0.5)
    start, ended, outcomes = threading.Barrier(4, timeout=10), threading.Barrier(4, timeout=10), []

    def come():
        start.wait()
        try:
            with Lease(home):
                outcomes.append("got it")
                ended.wait()
        except DirectoryBusy:
            outcomes.append("refused")
            ended.wait()

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["got it", "refused", "refused", "refused"]


def test_it_is_renewed(home, monkeypatch):
    monkeypatch.setattr(lease, "_RENEW_S", 0.02)
    with Lease(home):
        first, end = json.loads(home.read(NAME, 10_000))["time"], time.monotonic() + 10
        while json.loads(home.read(NAME, 10_000))["time"] <= first + 0.1:
            assert time.monotonic() < end
            time.sleep(0.02)


def test_one_that_was_taken_over_is_lost_and_left_to_its_owner(home, mirror):
    with Lease(home) as ours:
        home.put(NAME, foreign())
        ours.renew()
        assert ours.lost
        with pytest.raises(SweepCutShort, match="nothing is overwritten"):
            Remote(home, mirror, ours, print).push()
    assert json.loads(home.read(NAME, 10_000))["id"] == "theirs"
    assert Head.of(home) is None


# ---- how it is doing ---------------------------------------------------------------------------------------------------------


def status(to=None):
    said = io.StringIO()
    show_status(URI, to, Console(file=said, width=140, markup=False, highlight=False))
    return said.getvalue() if to is None else json.loads(said.getvalue())


def computing(folder, **more):
    told = {"state": "computing", "host": "farthing", "pid": 7, "points": 4, "finished": {"done": 1}, "busy": 1, "slots": 2, **more}
    write(folder, {"status.json": json.dumps(told).encode()})


@pytest.fixture
def recorded(mirror):
    """A mirror with one point."""
    for path in [path for path in mirror.rglob("*") if path.is_file() and path.name != "manifest.json"]:
        path.unlink()
    pq.write_table(points("a" * 32), mirror / "points.parquet")
    return mirror


def test_a_sweep_at_work_elsewhere_runs_as_it_was_pushed_last(home, recorded):
    computing(recorded, updated="2026-01-01T00:00:00+00:00", command="minimex")
    remote(home, recorded).push()
    home.put(NAME, foreign())
    assert f"{URI}: running for" in status()
    assert "on farthing (process 7) has been writing there since" in status()
    assert "as it was pushed last" in status()
    assert "not running" not in status()
    assert "nothing heard" not in status()
    assert (status("json")["running"], status("json")["points"]) == (True, 4)
    home.put(NAME, foreign(time=time.time() - 601))
    assert f"{URI}: not running" in status()
    assert "ended without a word" in status()
    assert status("json")["running"] is False


def test_what_a_driver_before_it_pushed_is_not_taken_for_its_word(home, recorded):
    computing(recorded, pid=6)
    remote(home, recorded).push()
    home.put(NAME, foreign())
    assert f"{URI}: running; starting, publishing or judging · points recorded: 1 done" in status()


def test_a_sweep_that_runs_here_is_looked_at_in_its_mirror(home, recorded):
    computing(recorded)
    remote(home, recorded).push()
    with at_work(URI, print) as writer, locked(writer.mirror):
        computing(writer.mirror, points=5)
        assert f"{URI}: running for" in status()
        assert "/5 points" in status()
        assert "outputs" not in status()
        assert (status("json")["running"], status("json")["points"]) == (True, 5)


def test_a_sweep_runs_before_it_has_pushed_anything(home):
    with at_work(URI, print) as writer:
        for _ in range(2):
            assert f"{URI}: running; starting, publishing or judging · points recorded: none" in status()
            writer.mirror.mkdir(exist_ok=True)
        with locked(writer.mirror):
            assert f"{URI}: running; starting" in status()
            assert status("json") == {"running": True, "recorded": {}}


def test_where_there_is_none_it_says_so_by_its_uri_and_leaves_nothing_behind(home):
    with pytest.raises(ConfigError, match=r"^s3://bucket/sweeps/it: expected a sweep's directory, got nothing there$"):
        status()
    assert not Path("outputs").exists()
    home.put(NAME, b"[1]")
    with pytest.raises(ConfigError, match="cannot be read"):
        status()


# ---- URIs --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("s3://KEY:sec%2Fret@bucket/a?region=x&session_token=tok", "s3://bucket/a"),
        ("gs://anonymous@bucket/a", "gs://anonymous@bucket/a"),
        ("abfs://container:password@account.dfs.core.windows.net/a", "abfs://container@account.dfs.core.windows.net/a"),
        ("hdfs://user:password@host:9000/a#part", "hdfs://user@host:9000/a"),
        ("s3://", "s3://"),
        ("s3:///a", "s3:///a"),
        ("file:///a/b/", "file:///a/b"),
    ],
)
def test_secrets_are_never_shown(uri, shown):
    assert without_secrets(uri) == shown


def test_nor_in_what_a_store_complains():
    uri = "s3://KEY:sec%2Fret@bucket/a?password=hush"
    assert _reason(OSError("cannot use sec/ret or sec%2Fret of KEY, hush"), _secrets(uri)) == "cannot use ... or ... of ..., ..."
    with pytest.raises(ConfigError) as refused:
        open_store("s3://KEY:sec/ret@bucket/a")
    assert "ret" not in str(refused.value).replace("AWS_SECRET_ACCESS_KEY", "")


@pytest.mark.parametrize(
    ("word", "given", "told"),
    [
        ("out=s3://k:s@b/p?region=x", "out='s3://k:s@b/p?region=x'", "out=s3://b/p"),
        ("out='s3://b/p?region=x'", "out='s3://b/p?region=x'", "out=s3://b/p"),
        ('out="s3://b/p"', 'out="s3://b/p"', "out=s3://b/p"),
        ("out=outputs/it", "out=outputs/it", "out=outputs/it"),
        ("game.file=s3://b/p", "game.file=s3://b/p", "game.file=s3://b/p"),
    ],
)
def test_a_word_of_a_command_line(word, given, told):
    assert out_word(word) == (given, told)


@pytest.mark.parametrize(
    ("uri", "hint"),
    [
        ("nonsense://bucket/a", "a folder, or a URI of one of file, s3"),
        ("abfs://container@account.dfs.core.windows.net/a", "an object appears there before it is whole"),
        ("s3://bucket", "a prefix of its own"),
        ("s3:///a", "s3://BUCKET/NAME"),
        ("s3://bucket/a?endpoint=x&region=x", "endpoint_override"),
        ("file://host/a", "file:///PATH"),
        ("file:///", "file:///PATH"),
        ("s3://[bucket/a", "cannot be read"),
    ],
)
def test_a_uri_that_does_not_fit_is_refused(uri, hint, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(ConfigError, match=r"^out: ") as refused:
        fetched(uri)
    assert hint in str(refused.value)


def test_where_a_sweep_is_worked_on(tmp_path):
    assert folder_of("outputs/it") == Path("outputs/it")
    assert folder_of(f"file://{tmp_path}/with%20space") == tmp_path / "with space"
    assert (is_remote(None), is_remote("outputs/it"), is_remote("file:///tmp/it"), is_remote(URI)) == (False, False, False, True)
    mirror = folder_of("s3://key:secret@bucket/sweeps/it/?region=x")
    assert mirror == folder_of("s3://bucket/sweeps/it"), "keys may change"
    assert mirror != folder_of("s3://bucket/other/it")
    assert (mirror.parent, mirror.name[:3], len(mirror.name)) == (Path("outputs/.remote"), "it-", 9)
    assert mirror_of("s3://bucket/..").name.startswith("sweep-")


def test_a_snapshot_is_written_as_it_is_read():
    files = {name: Stored(f"snapshots/000007-0a0a0a0a/{name}", 4, "0" * 64) for name in FILES}
    head = Head(Snapshot(7, "0a0a0a0a", files), {"format": 1})
    assert Head.read(head.text) == head
