"""`out=s3://...` with real commands in real processes and an S3 server on loopback."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest_tools import FAKE, SIXTY, finish, run, start, tables, wait_until
from object_store import Bucket, Wire, s3_server
from pyarrow import fs

from pipeline import load

URI = "s3://bucket/sweeps/it"
AT = "bucket/sweeps/it"
OUT = ["compute=inline", "compute.publish_s=0.2", f"out={URI}"]


@pytest.fixture(scope="module")
def server():
    with s3_server() as address:
        yield address


@pytest.fixture
def store(server, monkeypatch):
    """Give an empty bucket, and let commands find it through a wire."""
    wire = Wire(server)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": f"http://{wire.address}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    files = fs.S3FileSystem(
        access_key="key",
        secret_key="secret",
        endpoint_override=server,
        scheme="http",
        region="us-east-1",
        allow_bucket_creation=True,
        allow_bucket_deletion=True,
    )
    files.create_dir("bucket")
    yield Bucket(server, wire)
    wire.close()
    files.delete_dir("bucket")


@pytest.fixture
def here(tmp_path):
    return folder(tmp_path, "here")


@pytest.fixture
def there(tmp_path):
    """Give another working directory, which knows nothing of the first, as on another machine."""
    return folder(tmp_path, "there")


def folder(parent, name):
    path = parent / name
    path.mkdir()
    return path


def seeds(first, last):
    return ["solver=walk", "solver.steps=40", "verify=false", f"seed=range({first},{last})"]


def slower(pause_s):
    return [word.replace("pause_s=0.01", f"pause_s={pause_s}") for word in SIXTY]


def mirror(folder):
    return next(path for path in (folder / "outputs" / ".remote").glob("it-??????"))


# ---- what is stored can be used ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_sweep_into_a_store_and_all_that_reads_it(store, here, there, monkeypatch, undisturbed):
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=here)
    assert status == 0, said
    assert said.endswith(f"stored {URI}")
    assert f"{AT}/_lock.json" not in store.names(AT)

    manifest = store.manifest(AT)
    at = manifest["snapshot"]["files"]["tables/sums.parquet"]["at"]
    assert pq.read_table(f"{AT}/{at}", filesystem=store.files).num_rows == 240, "readable where it lies"

    status, said = run("show", URI, "points", "to=json", cwd=there)
    assert status == 0, said
    assert len(json.loads(said)) == 60
    status, said = run("verify", URI, "trust=[minimex_fakes]", cwd=there)
    assert (status, said) == (0, f"sums: 240 proved (claimed: proved) stored {URI}")
    after = store.manifest(AT)["snapshot"]
    assert after["number"] == manifest["snapshot"]["number"] + 1
    assert after["files"]["points.parquet"] == manifest["snapshot"]["files"]["points.parquet"], "what did not change is not sent"
    assert pq.read_table(f"{AT}/{after['files']['checks.parquet']['at']}", filesystem=store.files).num_rows == 240
    status, said = run("report", URI, cwd=there)
    assert (status, said.split()[:2]) == (0, ["stored", URI])
    status, said = run("status", URI, cwd=there)
    assert status == 0
    assert "60 done" in said

    monkeypatch.chdir(there)
    assert tables(URI) == undisturbed
    assert load(URI).root == Path("outputs/.remote") / mirror(there).name
    status, said = run(*FAKE, *SIXTY, *OUT, "dry_run=true", cwd=folder(there, "deeper"))
    assert "60 points, 60 done already" in said


@pytest.mark.long
def test_mlflow_is_told_where_the_sweep_lives(store, here):
    status, said = run(*FAKE[:-1], *seeds(0, 2), *OUT, cwd=here)
    assert status == 0, said
    assert (here / "outputs" / "mlflow.db").exists(), "beside the sweeps of this folder, as for any other"
    assert list(store.manifest(AT)["mlflow_runs"].values())
    import sqlite3

    with sqlite3.connect(here / "outputs" / "mlflow.db") as database:
        assert database.execute("select value from tags where key = 'minimex.directory'").fetchall() == [(URI,)]
    database.close()


def test_file_uris_are_folders(here):
    status, said = run(*FAKE, *seeds(0, 2), "compute=inline", f"out={(here / 'plain').as_uri()}", cwd=here)
    assert status == 0, said
    assert (here / "plain" / "points.parquet").exists()
    assert run("show", (here / "plain").as_uri(), cwd=here)[0] == 0


# ---- killed, refused, taken over ---------------------------------------------------------------------------------------------


def test_killed_and_gone_on_from_another_directory(store, here, there, undisturbed):
    process = start(*FAKE, *SIXTY, *OUT, cwd=here)
    wait_until(lambda: store.points(AT) >= 10 or process.poll() is not None)
    process.kill()
    process.communicate()
    known = store.points(AT)
    assert 10 <= known < 60
    before = load_from(store, "points.parquet")
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=there)
    assert status == 0, said
    assert tables(mirror(there)) == undisturbed
    seconds = dict(zip(*(load(mirror(there)).points[name].to_pylist() for name in ("point", "wall_s")), strict=True))
    assert all(
        seconds[point] == wall_s for point, wall_s in zip(*(before[name].to_pylist() for name in ("point", "wall_s")), strict=True)
    )
    assert store.points(AT) == 60


def load_from(store, name):
    stored = store.manifest(AT)["snapshot"]["files"][name]
    return pq.read_table(f"{AT}/{stored['at']}", filesystem=store.files)


@pytest.mark.long
def test_a_long_point_goes_on_elsewhere_from_its_checkpoint(store, here, there):
    long = ["solver=walk", "solver.steps=400", "solver.pause_s=0.05", "compute.checkpoint_s=0", *OUT]
    process = start(*FAKE, *long, cwd=here)
    wait_until(lambda: any(name.endswith("00.npz") for name in store.names(AT)) or process.poll() is not None)
    process.kill()
    process.communicate()
    names = store.manifest(AT)["snapshot"]["files"]
    reached = max(int(name.rpartition("/")[2].removesuffix(".npz")) for name in names if name.startswith("checkpoints/"))
    status, said = run(*FAKE, *long, cwd=there)
    assert status == 0, said
    assert min(load(mirror(there)).table("progress")["done"].to_pylist()) == reached + 10


@pytest.mark.long
def test_a_second_driver_is_refused(store, here, there):
    first = start(*FAKE, *slower(0.5), *OUT, cwd=here)
    wait_until(lambda: store.points(AT) > 0 or first.poll() is not None)
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=there)
    assert status == 2, said
    assert f"(process {first.pid}) has been writing there since" in said
    assert "wait for it or choose another out" in said
    assert f"{AT}/_lock.json" in store.names(AT), "it is left to its owner"
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=here)
    assert status == 2, said
    assert f"{URI}: another minimex is writing there, started in this very folder" in said
    status, said = run("status", URI, cwd=there)
    assert status == 0
    assert f"(process {first.pid}) has been writing there since" in said
    for place in (here, there):
        status, said = run("status", URI, cwd=place)
        assert status == 0, said
        assert said.startswith(f"{URI}: running"), said
        assert json.loads(run("status", URI, "to=json", cwd=place)[1])["running"] is True
    assert first.poll() is None
    first.send_signal(signal.SIGINT)
    status, out = finish(first)
    assert status == 130, out


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_pushes_what_is_done(store, here, there, number, undisturbed):
    process = start(*FAKE, *SIXTY, "compute=inline", f"out={URI}", cwd=here)
    wait_until(lambda: list(here.glob("outputs/.remote/it-*/journal/0*")) or process.poll() is not None)
    assert store.points(AT) == 0, "the first publishing is far"
    process.send_signal(number)
    status, out = finish(process)
    assert status == 130, out
    assert 0 < store.points(AT) < 60
    assert f"{AT}/_lock.json" not in store.names(AT)
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=there)
    assert status == 0, said
    assert tables(mirror(there)) == undisturbed


@pytest.mark.long
def test_two_machines_by_turns(store, here, there):
    for number, place in enumerate((here, there, here, there)):
        status, said = run(*FAKE, *seeds(5 * number, 5 * number + 5), *OUT, cwd=place)
        assert status == 0, said
        assert store.points(AT) == 5 * number + 5
    assert [path.name for path in (here / "outputs" / ".remote").glob("it-*")] == [mirror(here).name], "nothing is left aside"


# ---- the store is lost -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_lost_in_mid_run_and_back_again(store, here, undisturbed):
    with (here / "said").open("w") as output:
        process = start(*FAKE, *slower(0.5), *OUT, cwd=here, output=output)
        wait_until(lambda: store.points(AT) > 0 or process.poll() is not None)
        known = store.points(AT)
        store.wire.down()
        wait_until(lambda: "pushing is tried again" in (here / "said").read_text() or process.poll() is not None)
        assert process.poll() is None, "it goes on"
        store.wire.up()
        process.send_signal(signal.SIGINT)
        process.wait(60)
    said = (here / "said").read_text()
    assert process.returncode == 130, said
    assert said.count("pushing is tried again") == 1
    assert f"{URI} is back" in said
    assert store.points(AT) > known


@pytest.mark.long
def test_lost_at_the_end_the_same_command_pushes(store, here, undisturbed):
    process = start(*FAKE, *SIXTY, *OUT, cwd=here)
    wait_until(lambda: store.points(AT) > 0 or process.poll() is not None)
    store.wire.down()
    status, out = finish(process)
    assert status == 1, out
    assert "the same command pushes it" in out
    assert str(mirror(here).relative_to(here)) in out
    store.wire.up()
    status, said = run(*FAKE, *SIXTY, *OUT, cwd=here)
    assert status == 0, said
    assert store.points(AT) == 60
    assert tables(mirror(here)) == undisturbed


@pytest.mark.long
def test_rows_that_were_never_pushed_are_merged_with_what_others_wrote(store, here, there):
    own = ["solver=walk", "solver.steps=40", "solver.pause_s=0.05", "verify=false", "seed=range(5,25)"]
    process = start(*FAKE, *own, *OUT, cwd=here)
    wait_until(lambda: store.points(AT) > 0 or process.poll() is not None)
    store.wire.down()
    assert finish(process)[0] == 1
    reached = store.points(AT)
    assert 0 < reached < 20
    store.wire.up()
    assert run(*FAKE, *seeds(30, 35), *OUT, cwd=there)[0] == 0
    status, said = run(*FAKE, *own, *OUT, cwd=here)
    assert status == 0, said
    assert "somebody else has written meanwhile" in said
    assert f"{20 - reached} of 20 points are taken over from other sweeps" in said
    assert store.points(AT) == 25
    assert len(load(mirror(here)).table("sums")) == 4 * 25


def test_a_store_that_is_not_there_is_refused_soon(store, here):
    store.wire.down()
    began = time.monotonic()
    for command in ([*FAKE, *seeds(0, 2), *OUT], ["show", URI], ["verify", URI], ["report", URI], ["status", URI]):
        status, said = run(*command, cwd=here)
        assert status == 2, said
        assert "it does not answer" in said
        assert URI in said
    assert time.monotonic() - began < 5 * 15
    assert not list(here.glob("outputs/.remote/it-*")), "nothing ran: nothing is left behind"


@pytest.mark.parametrize("silent", [False, pytest.param(True, marks=pytest.mark.long)])
def test_nor_one_that_accepts_and_says_nothing(here, monkeypatch, store, silent):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1] if silent else 1}")
        began = time.monotonic()
        status, said = run(*FAKE, *seeds(0, 2), *OUT, cwd=here)
        assert status == 2, said
        assert "out: expected a store that can be reached and written" in said
        assert time.monotonic() - began < 20


def test_a_bucket_that_is_not_there(store, here):
    status, said = run(*FAKE, *seeds(0, 2), "compute=inline", "out=s3://bukket/it", cwd=here)
    assert status == 2, said
    assert "out: expected a store that can be reached and written, got 's3://bukket/it' (s3://bukket/it: no such bucket)" in said


def test_keys_that_are_not_right(here, store, monkeypatch):
    with s3_server(INITIAL_NO_AUTH_ACTION_COUNT="0") as guarded:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{guarded}")
        status, said = run(*FAKE, *seeds(0, 2), *OUT, cwd=here)
    assert status == 2, said
    assert "it refuses access; are the credentials right?" in said


def test_an_unknown_scheme(here):
    status, said = run(*FAKE, *seeds(0, 2), "compute=inline", "out=s4://bucket/it", cwd=here)
    assert status == 2
    assert "out: expected a folder, or a URI of one of file, s3" in said


# ---- secrets -----------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_keys_in_a_uri_are_neither_shown_nor_stored(store, here, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    uri = f"s3://MYKEY:hush%2Fhush@bucket/sweeps/it?endpoint_override={store.wire.address}&scheme=http"
    status, said = run(*FAKE[:-1], *seeds(0, 2), "compute=inline", f"out={uri}", cwd=here)
    assert status == 0, said
    status, more = run("show", uri, cwd=here)
    assert status == 0, more
    store.wire.down()
    status, refused = run(*FAKE, *seeds(0, 3), "compute=inline", f"out={uri}", cwd=here)
    assert status == 2
    stored = b"".join(store.read(name) for name in store.names(AT))
    local = b"".join(path.read_bytes() for path in here.rglob("*") if path.is_file())
    for place in ((said + more + refused).encode(), stored, local):
        assert b"hush" not in place
        assert b"MYKEY" not in place
        assert store.wire.address.encode() not in place
    assert f"out={URI}" in store.manifest(AT)["commands"][-1]
