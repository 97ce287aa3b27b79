"""`minimex track`: a published directory goes to MLflow later, or again, or elsewhere."""

from __future__ import annotations

import fcntl
import json
import socket
from pathlib import Path

import pytest
from conftest_tools import FAKE

ALONE = [*(one for one in FAKE if one != "tracking=off"), "compute=inline", "solver=trivial", "out=outs/it"]


def manifest():
    return json.loads(Path("outs/it/manifest.json").read_text())


def runs(database="outs/mlflow.db"):
    from mlflow import MlflowClient

    opened = MlflowClient(f"sqlite:///{Path(database).absolute()}")
    return {run.info.run_id: run for run in opened.search_runs([one.experiment_id for one in opened.search_experiments()])}


@pytest.fixture
def untracked(fake):
    """A sweep of two points that was not recorded."""
    assert fake("solver=trivial", "seed=1,2", "out=outs/it").status == 0
    assert "mlflow_runs" not in manifest()


@pytest.mark.usefixtures("untracked")
def test_what_was_not_recorded_is_recorded_beside_the_sweeps_and_once(minimex):
    answer = minimex("track", "outs/it")
    assert answer.status == 0
    assert "MLflow MLFLOW_DISABLE_TELEMETRY=true" in answer.text
    assert "outs/mlflow.db" in answer.text
    first = runs()
    assert len(first) == 3
    assert {run.info.status for run in first.values()} == {"FINISHED"}
    assert minimex("track", "outs/it").status == 0
    assert set(runs()) == set(first)
    assert minimex("track", "outs/it", "uri=sqlite:///other.db").status == 0
    assert set(runs("other.db")).isdisjoint(first)
    assert len(runs("other.db")) == 3
    assert minimex("track", "outs/it").status == 0
    assert set(runs()) == set(first), "each store has its own run of the directory"


def refusing():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://somebody:secret@127.0.0.1:{listening.getsockname()[1]}"


def test_a_store_that_is_not_beside_the_sweep_is_named_by_who_records_not_by_the_directory(minimex):
    uri = refusing()
    answer = minimex(*ALONE, "tracking=server", f"tracking.uri={uri}", "tracking.child_runs=7")
    assert answer.status == 0, "MLflow costs no result"
    public = uri.replace("somebody:secret@", "")
    later = f"the results are safe, `minimex track outs/it uri={public}` records them later"
    assert f"was not reached (connection refused); {later}" in answer.text
    assert "MLflow http" not in answer.text
    assert manifest()["tracking"] == {"kind": "server", "uri": public, "child_runs": 7}
    assert f"tracking.uri={public}" in manifest()["commands"][0]
    assert [path for path in Path("outs/it").rglob("*") if path.is_file() and b"secret" in path.read_bytes()] == []
    refused = minimex("track", "outs/it")
    assert refused.status == 2
    assert f"uri: expected the store by its name, got only what the directory says (uri={public})" in refused.text
    again = minimex("track", "outs/it", f"uri={public}")
    assert again.status == 1
    assert f"MLflow at {public} was not reached (connection refused)" in again.text
    assert minimex("track", "outs/it", "tracking=sqlite").status == 0
    assert len(runs()) == 2


def test_the_same_command_tries_again_until_it_is_recorded(minimex):
    blocked = Path("outs/mlflow.db")
    blocked.mkdir(parents=True)
    assert "was not reached" in minimex(*ALONE).text
    blocked.rmdir()
    assert "MLflow MLFLOW" in minimex(*ALONE).text
    assert len(runs()) == 2


@pytest.mark.usefixtures("untracked")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["outs/it", "tracking=of"], "tracking: expected sqlite or server, got 'of'"),
        (["outs/it", "tracking=server"], "uri: expected the address of an MLflow server, got null (uri=http://host:5000)"),
        (["outs/it", "uri=host:5000"], "uri: expected sqlite:/// and a path, got 'host:5000' (for a server, tracking=server)"),
        (["outs/it", "url=http://host"], "did you mean uri"),
        (["outs"], "a folder of sweeps"),
        (["nowhere"], "no such folder"),
        ([], "usage: minimex track DIR"),
    ],
)
def test_bad_requests_are_refused(minimex, arguments, said):
    answer = minimex("track", *arguments)
    assert answer.status == 2
    assert said in answer.text
    assert not Path("outs/mlflow.db").exists()


@pytest.mark.usefixtures("untracked")
def test_a_directory_at_work_is_left_alone(minimex):
    with Path("outs/it/_lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = minimex("track", "outs/it")
    assert answer.status == 2
    assert "another minimex is" in answer.text


def test_it_is_a_command(minimex):
    assert "minimex track DIR [tracking=sqlite|server] [uri=...]" in minimex("track", "--help").text
    assert "track" in minimex("trakc").text


@pytest.mark.usefixtures("untracked")
@pytest.mark.parametrize("told", ["nonsense", {"kind": "elsewhere"}])
def test_a_manifest_that_says_nonsense_is_named_or_passed_over(minimex, told):
    Path("outs/it/manifest.json").write_text(json.dumps({**manifest(), "tracking": told}))
    answer = minimex("track", "outs/it", "tracking=sqlite")
    if isinstance(told, str):
        assert answer.status == 0
    else:
        assert answer.status == 2
        assert "manifest.json: tracking.kind" in answer.text


@pytest.mark.usefixtures("untracked")
@pytest.mark.parametrize("name", ["points", "checks", "tables/*"])
def test_a_damaged_table_is_not_the_stores_fault(minimex, name):
    path = next(Path("outs/it").glob(f"{name}.parquet"))
    path.write_bytes(path.read_bytes()[:200])
    answer = minimex("track", "outs/it")
    assert answer.status == 2
    assert answer.text.startswith(f"minimex: {path}: cannot be read (")
    assert answer.text.endswith(
        "; minimex verify judges again" if name == "checks" else "; the sweep's own command, given again, computes what it held"
    )
    assert "MLflow" not in answer.text
    assert not Path("outs/mlflow.db").exists()
