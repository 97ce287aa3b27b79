"""Recording sweeps in MLflow: synthetic sweeps, real databases, real processes, a real server."""

from __future__ import annotations

import http.server
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from made_sweeps import EQUILIBRIA, make_sweep, write_rows

from pipeline.digest import first_findings, values_text
from pipeline.manifest import is_recorded
from pipeline.pictures import draw_pictures, short_names
from pipeline.store import (
    CHECKS,
    POINT,
    concat_points,
    load,
    point_array,
    write_table,
)
from pipeline.tracking.record import track
from pipeline.tracking.where import Tracking, ui_command
from solvers.errors import ConfigError
from solvers.schema import Histogram, TableInfo, column, table_schema


def known(run_id: str) -> dict:
    """What manifest.json says of a run beside the sweeps."""
    return {"mlflow.db": {"id": run_id, "complete": True}}


def client(folder: Path):
    from mlflow import MlflowClient

    return MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")


def children(opened, run_id: str) -> list:
    run = opened.get_run(run_id)
    return opened.search_runs([run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run_id}'")


@pytest.fixture(scope="module")
def new_database(tmp_path_factory) -> Path:
    """MLflow's tables, made once: its some sixty migrations take seconds."""
    folder = tmp_path_factory.mktemp("new")
    client(folder)
    return folder / "mlflow.db"


@pytest.fixture
def folder(tmp_path, new_database):
    """A folder of sweeps with a database in it, where no pictures are drawn (they take a second)."""
    shutil.copy(new_database, tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pipeline.tracking.record.draw_pictures", lambda *_: [])
        yield tmp_path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A folder (with a blank, a percent sign and a hash in its name) where one sweep was recorded."""
    folder = tmp_path_factory.mktemp("my sweeps 100%#1")
    said: list[str] = []
    sweep = make_sweep(folder / "tour", failed=(5,))
    return folder, sweep, track(sweep, Tracking(), folder, said.append), said


def test_the_run_tells_what_the_sweep_is(store):
    folder, sweep, run_id, _ = store
    run = client(folder).get_run(run_id)
    assert run.info.run_name == "tour"
    assert run.info.status == "FINISHED"
    assert client(folder).get_experiment(run.info.experiment_id).name == "rock paper"
    assert run.data.params == {
        "games": "Matrix",
        "solvers": "Solver",
        "game.a": "0/7, 1/7",
        "game.n": "0, 1, 2",
        "solver.kind": "x",
    }
    told = {name: value for name, value in run.data.tags.items() if name.startswith("minimex")}
    assert told == {
        "minimex.games": "Matrix",
        "minimex.solvers": "Solver",
        "minimex.family": "equilibrium",
        "minimex.verified": "yes",
        "minimex.directory": str(sweep.root),
        "minimex.points": "6",
    }


def test_aggregates_are_metrics_and_what_is_not_finite_is_counted(store):
    folder, _, run_id, said = store
    metrics = client(folder).get_run(run_id).data.metrics
    assert {name: metrics[f"points/{name}"] for name in ("all", "done", "failed")} == {"all": 6, "done": 5, "failed": 1}
    assert metrics["wall_s/total"] == 3.0
    assert metrics["findings/equilibria"] == 12
    assert metrics["verdicts/proved"] == 12
    assert metrics["verdicts/refuted"] == 0
    assert (metrics["nodes/min"], metrics["nodes/mean"], metrics["nodes/max"]) == (0, 2.5, 5)
    assert (metrics["gap/min"], metrics["gap/max"]) == (0.25, 0.25)
    # one infinite gap, met twice (in the whole and in its child), and a nan in each of six curves
    assert said == ["tracking: 8 numbers that are not finite were left out of MLflow"]


def test_each_point_has_a_child_with_its_curve(store):
    folder, _, run_id, _ = store
    opened = client(folder)
    found = {run.data.tags["minimex.point"]: run for run in children(opened, run_id)}
    assert len(found) == 6
    run = found[f"{4:032x}"]
    assert run.info.run_name == "a=1/7 n=1"
    assert run.data.params == {"game.a": "1/7", "game.n": "1", "solver.kind": "x"}
    assert (run.info.status, run.data.tags["minimex.status"]) == ("FINISHED", "done")
    assert run.info.end_time - run.info.start_time == 500
    assert run.data.metrics == {"nodes": 4, "gap": 0.25, "wall_s": 0.5}
    curve = opened.get_metric_history(run.info.run_id, "gap")
    assert [(one.step, one.value) for one in curve][:3] == [(1, 1.0), (3, 1 / 3), (4, 0.25)]
    assert [one.timestamp - run.info.start_time for one in curve][:3] == [1, 3, 4]
    bad = found[f"{5:032x}"]
    assert (bad.info.status, bad.data.tags["minimex.error"]) == ("FAILED", "no luck")


def test_a_downloaded_run_is_the_sweep(store, tmp_path):
    folder, sweep, run_id, _ = store
    got = load(client(folder).download_artifacts(run_id, "", str(tmp_path)))
    assert got.points.equals(sweep.points)
    assert got.table_names == sweep.table_names
    assert all(got.table(name).equals(sweep.table(name)) for name in ("equilibria", "nimbers"))
    assert (got.root / "report.html").exists()


def test_summaries_go_along(folder, tmp_path):
    make_sweep(folder / "summed", summary={"function": "solvers.x.y:longest", "tables": ["longest", "quiet"]})
    longest = pa.table({"seed": [3, 4], "steps": [10, None], "hidden": [1, 2]}).cast(
        table_schema(
            [column("seed", pa.int64()), column("steps", pa.int64()), column("hidden", pa.int64())],
            TableInfo(columns=("seed", "steps")),
        )
    )
    quiet = pa.table({"n": [1]}).cast(table_schema([column("n", pa.int64())], TableInfo(headline="none")))
    for name, rows in (("longest", longest), ("quiet", quiet)):
        write_table(rows, folder / "summed" / "tables" / f"{name}.parquet")

    run_id = track(load(folder / "summed"), Tracking(), folder, print)

    opened = client(folder)
    got = load(opened.download_artifacts(run_id, "", str(tmp_path)))
    assert got.summary_names == ("longest", "quiet")
    assert got.table("longest").equals(longest)
    assert got.table("quiet").equals(quiet)
    shown = json.loads((got.root / "findings" / "longest.json").read_text())
    assert shown == {"columns": ["seed", "steps"], "data": [[3, 10], [4, None]]}
    assert not (got.root / "findings" / "quiet.json").exists()
    tables = json.loads(opened.get_run(run_id).data.tags["mlflow.loggedArtifacts"])
    assert [one["path"] for one in tables] == ["findings/longest.json", "findings/curves.json", "findings/equilibria.json"]


def test_findings_are_tables_of_headline_rows(store, tmp_path):
    folder, _, run_id, _ = store
    opened = client(folder)
    equilibria = json.loads(Path(opened.download_artifacts(run_id, "findings/equilibria.json", str(tmp_path))).read_text())
    assert equilibria["columns"] == ["a", "n", "value", "p1", "value_float", "grade", "point"]
    assert equilibria["data"][2] == ["0/7", 1, "1/2", "1/3,2/3", 0.5, "proved", f"{1:032x}"]
    assert len(equilibria["data"]) == 12
    curves = json.loads(Path(opened.download_artifacts(run_id, "findings/curves.json", str(tmp_path))).read_text())
    assert [row[2:5] for row in curves["data"]] == [[20, 0.05, ""]] * 6
    assert [one.path for one in opened.list_artifacts(run_id, "findings")] == ["findings/curves.json", "findings/equilibria.json"]
    tables = json.loads(opened.get_run(run_id).data.tags["mlflow.loggedArtifacts"])
    assert tables == [{"path": f"findings/{name}.json", "type": "table"} for name in ("curves", "equilibria")]


def test_findings_show_the_grade_of_their_own_row(folder):
    sweep = make_sweep(folder / "s", 2)
    verdicts = [
        ["equilibria"] * 3,
        [1, 1, 0],
        [f"{1:032x}", f"{1:032x}", f"{0:032x}"],
        ["proved", "refuted", "recomputed"],
        [""] * 3,
    ]
    [text] = [text for name, text in first_findings(sweep, pa.table(verdicts, schema=CHECKS)) if name == "equilibria"]
    assert [row[-2] for row in json.loads(text)["data"]] == ["recomputed", "", "", "refuted"]


def test_a_parameter_that_is_a_column_already_is_not_repeated(folder):
    sweep = make_sweep(folder / "s", 3)
    schema = table_schema([column("n", pa.int64()), column("a", pa.string())], TableInfo())
    write_rows(sweep.root, "periods", schema, sweep.points["point"].to_pylist(), [1] * 3, [[0, 1, 2], ["x"] * 3])
    [text] = [text for name, text in first_findings(sweep, None) if name == "periods"]
    assert json.loads(text)["columns"] == ["n", "a", "grade", "point"]


def test_a_map_is_drawn_over_the_parameters_its_own_points_have(folder):
    sweep = make_sweep(folder / "s", 6)
    others = make_sweep(folder / "t", 2).points.drop_columns(["game.a", "game.n"])
    renamed = [f"other {place}" for place in range(2)]
    points = concat_points([sweep.points, others.set_column(0, POINT, point_array(renamed))])
    write_table(points, sweep.root / "points.parquet")
    everybody = [*sweep.points["point"].to_pylist(), *renamed]
    write_rows(sweep.root, "equilibria", EQUILIBRIA, everybody, [1] * 8, [["1"] * 8, ["1"] * 8, [0.5] * 8])
    names = [path.name for path in draw_pictures(load(sweep.root), folder)]
    assert names == ["curves.png", "equilibria.png", "equilibria_2.png", "nimbers.png"]


def test_histograms_are_drawn_of_many_points(folder):
    pictures = (
        Histogram(("p1",), "texts"),
        Histogram(("value_float",), "numbers"),
        Histogram(("p1", "value")),
        Histogram((), "rows", per_point=True),
    )
    schema = table_schema(list(EQUILIBRIA), TableInfo(pictures=pictures))
    for count, names in ((19, []), (20, ["equilibria.png", "equilibria_2.png", "equilibria_3.png", "equilibria_4.png"])):
        sweep = make_sweep(folder / f"s{count}", count)
        points = sweep.points["point"].to_pylist()
        values = [["$1/3_{$,"] * count, [str(n) for n in range(count)] or None, [n / 7 for n in range(count)]]
        write_rows(sweep.root, "equilibria", schema, points, [1] * count, values)
        drawn = draw_pictures(load(sweep.root), folder)
        assert [path.name for path in drawn if path.name.startswith("equilibria")] == names


def test_pictures_are_there(store, tmp_path):
    folder, _, run_id, _ = store
    names = [one.path for one in client(folder).list_artifacts(run_id, "pictures")]
    assert names == [f"pictures/{name}.png" for name in ("curves", "equilibria", "equilibria_2", "nimbers")]
    picture = Path(client(folder).download_artifacts(run_id, names[0], str(tmp_path)))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_directory_that_grew_updates_its_run(folder):
    first = track(make_sweep(folder / "s", 3, failed=(1,)), Tracking(), folder, print)
    before = {run.data.tags["minimex.point"]: run.info.run_id for run in children(client(folder), first)}
    again = track(make_sweep(folder / "s", 5, mlflow_runs=known(first)), Tracking(), folder, print)
    assert again == first
    run = client(folder).get_run(first)
    assert run.data.metrics["points/all"] == 5
    assert (run.data.params["game.a"], run.data.tags["game.a"]) == ("0/7", "0/7, 1/7")
    after = {run.data.tags["minimex.point"]: run.info.run_id for run in children(client(folder), first)}
    assert len(after) == 5
    same = [point for point in before if before[point] == after[point]]
    assert sorted(same) == [f"{place:032x}" for place in (0, 2)]


def test_a_deleted_run_is_replaced_by_a_new_one(folder):
    first = track(make_sweep(folder / "s", 1), Tracking(child_runs=0), folder, print)
    client(folder).delete_run(first)
    second = track(make_sweep(folder / "s", 1, mlflow_runs=known(first)), Tracking(child_runs=0), folder, print)
    third = track(make_sweep(folder / "s", 1, mlflow_runs=known("0" * 32)), Tracking(child_runs=0), folder, print)
    assert len({first, second, third}) == 3


def test_a_deleted_experiment_is_restored(folder):
    sweep = make_sweep(folder / "s", 1)
    first = track(sweep, Tracking(child_runs=0), folder, print)
    opened = client(folder)
    opened.delete_experiment(opened.get_run(first).info.experiment_id)
    assert track(sweep, Tracking(child_runs=0), folder, print) not in (None, first)


def test_more_points_than_child_runs_give_no_children(folder):
    run_id = track(make_sweep(folder / "s", 3), Tracking(child_runs=2), folder, print)
    assert children(client(folder), run_id) == []


@pytest.mark.parametrize(
    ("grades", "claims"),
    [
        (None, "unjudged"),
        (["proved", "refuted"], "no"),
        (["proved", "recomputed"], "no"),
        (["proved"], "unjudged"),
        (["proved"] * 2, "yes"),
    ],
)
def test_verified_says_whether_all_claims_were_reached(folder, grades, claims):
    sweep = make_sweep(folder / "s", 1, judged=False)
    if grades is not None:
        rows = len(grades)
        table = pa.table([["equilibria"] * rows, list(range(rows)), ["0" * 32] * rows, grades, [""] * rows], schema=CHECKS)
        write_table(table, sweep.root / "checks.parquet")
    run_id = track(sweep, Tracking(child_runs=0), folder, print)
    assert client(folder).get_run(run_id).data.tags["minimex.verified"] == claims


def test_a_file_that_is_too_large_is_named_not_copied(folder, monkeypatch):
    monkeypatch.setattr("pipeline.tracking.record._LARGEST_UPLOAD", 1000)
    sweep = make_sweep(folder / "s", 2)
    small = [path.name for path in sweep.root.glob("*.parquet") if path.stat().st_size <= 1000]
    run_id = track(sweep, Tracking(child_runs=0), folder, print)
    opened = client(folder)
    assert "points.parquet (0 MB)" in opened.get_run(run_id).data.tags["minimex.not_uploaded"]
    assert "points.parquet" not in small + [one.path for one in opened.list_artifacts(run_id)]


def test_long_curves_are_thinned_to_their_first_and_last_step(folder):
    run_id = track(make_sweep(folder / "s", 1, steps=5000), Tracking(), folder, print)
    opened = client(folder)
    curve = [one.step for one in opened.get_metric_history(children(opened, run_id)[0].info.run_id, "gap")]
    assert len(curve) == 500
    assert (min(curve), max(curve)) == (1, 5000)


def test_off_records_nothing(tmp_path):
    assert track(make_sweep(tmp_path / "s", 1), Tracking("off"), tmp_path, print) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s"]
    assert ui_command(Tracking("off"), tmp_path) == ""


def test_a_server_has_its_own_page():
    page = ui_command(Tracking("server", "https://host:5000/"), Path("outputs"))
    assert page == "https://host:5000/#/experiments?workflowType=machine_learning"


@pytest.mark.parametrize("values", [["a" * 400, "b" * 400], [f"value {place}" for place in range(1000)], ["x" * 9000]])
def test_texts_keep_to_their_limit(values):
    assert len(values_text(pa.chunked_array([values]))) <= 500


def test_many_numbers_are_summarised():
    assert values_text(pa.chunked_array([list(range(1, 101))])) == "100 values, 1 to 100"


@pytest.mark.parametrize(
    "fields", [{"kind": "server"}, {"kind": "server", "uri": "host:5000"}, {"uri": "http://host"}, {"child_runs": -1}]
)
def test_settings_that_cannot_be_are_refused(fields):
    with pytest.raises(ConfigError):
        Tracking(**fields)


def test_short_names_are_unambiguous_and_without_dots():
    assert short_names(["game.n", "game.a.b", "solver.n"]) == {"game.n": "game n", "game.a.b": "b", "solver.n": "solver n"}
    assert short_names(["game.value"], ["value"]) == {"game.value": "game value"}


# ---- MLflow that cannot be reached -------------------------------------------------------------------------------------------


@contextmanager
def silent_server():
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def test_a_server_that_refuses_or_hangs_costs_seconds_and_one_line(tmp_path):
    sweep = make_sweep(tmp_path / "s", 1)
    with silent_server() as hanging:
        refusing = f"http://user:secret@127.0.0.1:{free_port()}"
        for uri, kind in ((refusing, "connection refused"), (hanging, "no answer in time")):
            said: list[str] = []
            start = time.monotonic()
            assert track(sweep, Tracking("server", uri), tmp_path, said.append) is None
            assert time.monotonic() - start < 10
            assert len(said) == 1
            shown = uri.replace("user:secret@", "")
            later = f"the results are safe, `minimex track {sweep.root} uri={shown}` records them later"
            assert said[0] == f"tracking: MLflow at {shown} was not reached ({kind}); {later}"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, b"<html>\nnowhere\n</html>", "it answers with error 404"),
        (500, b"", "it answers with error 500"),
        (200, b"<html>\nwelcome\n</html>", "what answers there is no MLflow server"),
    ],
)
def test_another_kind_of_server_is_named_in_a_few_words(tmp_path, status, body, kind):
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    said: list[str] = []
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        track(make_sweep(tmp_path / "s", 1), Tracking("server", f"http://127.0.0.1:{server.server_port}"), tmp_path, said.append)
        server.shutdown()
    assert [f"was not reached ({kind})" in one for one in said] == [True]


def test_a_long_reason_is_cut_to_one_short_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("a long story " * 100 + "\nof many lines")

    monkeypatch.setattr("pipeline.tracking.reach.open_store", full)
    said: list[str] = []
    track(make_sweep(tmp_path / "s", 1), Tracking(), tmp_path, said.append)
    assert "\n" not in said[0]
    assert len(said[0]) < 250 + 2 * len(str(tmp_path))


def test_a_damaged_database_costs_one_line(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"no database at all" * 100)
    said: list[str] = []
    assert track(make_sweep(tmp_path / "s", 1), Tracking(), tmp_path, said.append) is None
    assert len(said) == 1
    assert "\n" not in said[0]


def test_without_mlflow_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", None)
    said: list[str] = []
    assert track(make_sweep(tmp_path / "s", 1), Tracking(), tmp_path, said.append) is None
    assert "mlflow" in said[0]


def test_what_fails_half_way_keeps_its_run(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    sweep = make_sweep(folder / "s", 1)
    with monkeypatch.context() as patched:
        patched.setattr("pipeline.tracking.record._upload", full)
        said: list[str] = []
        assert track(sweep, Tracking(), folder, said.append) is None
    assert "lost half way" in said[-1]
    run_id = load(sweep.root).manifest["mlflow_runs"]["mlflow.db"]["id"]
    assert not is_recorded(load(sweep.root).manifest, Tracking())
    assert client(folder).get_run(run_id).info.status == "RUNNING"
    assert track(load(sweep.root), Tracking(), folder, print) == run_id
    assert client(folder).get_run(run_id).info.status == "FINISHED"
    assert is_recorded(load(sweep.root).manifest, Tracking())


# ---- other processes ---------------------------------------------------------------------------------------------------------

ALONE = """
import sys
from pathlib import Path

calls = []
sys.addaudithook(lambda event, args: calls.append((event, args)) if event in ("socket.connect", "socket.getaddrinfo") else None)
from pipeline.store import load
from pipeline.tracking.record import track
from pipeline.tracking.where import Tracking

assert "mlflow" not in sys.modules
folder = Path(sys.argv[1])
print(track(load(folder / sys.argv[2]), Tracking(), folder, print))
import threading
assert threading.active_count() == 1, threading.enumerate()
assert not calls, calls
"""


def alone(folder: Path, name: str) -> subprocess.Popen:
    """Record in a process of its own, without anything that tells MLflow it is being tested."""
    hints = re.compile("PYTEST_CURRENT_TEST|CI|GITHUB_ACTIONS|MLFLOW_.*|DO_NOT_TRACK")
    env = {name: value for name, value in os.environ.items() if not hints.fullmatch(name)}
    env["PYTHONPATH"] = str(Path(__file__).parents[3])
    return subprocess.Popen([sys.executable, "-c", ALONE, str(folder), name], cwd=folder, env=env, stdout=-1, stderr=-1, text=True)


def test_two_processes_may_create_the_database_at_once_and_nothing_goes_over_the_net(tmp_path):
    names = ["one", "two"]
    for name in names:
        make_sweep(tmp_path / name, 8)
    started = [alone(tmp_path, name) for name in names]
    told = [process.communicate(timeout=100) for process in started]
    assert [process.returncode for process in started] == [0, 0], told
    assert [err for _, err in told] == ["", ""]
    ids = [out.split()[-1] for out, _ in told]
    opened = client(tmp_path)
    assert sorted(opened.get_run(run_id).info.run_name for run_id in ids) == names
    assert [len(children(opened, run_id)) for run_id in ids] == [8, 8]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mlflow.lock", "mlartifacts", "mlflow.db", "one", "two"]


def test_nothing_global_is_changed(tmp_path, capfd):
    import mlflow

    environment, uri, level = dict(os.environ), mlflow.get_tracking_uri(), logging.getLogger("mlflow").level
    track(make_sweep(tmp_path / "s", 1), Tracking(), tmp_path, lambda _: None)
    assert dict(os.environ) == environment
    assert (mlflow.get_tracking_uri(), logging.getLogger("mlflow").level) == (uri, level)
    assert mlflow.active_run() is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_the_ui_command_opens_the_ui_and_its_server_can_be_recorded_to(tmp_path, capfd):
    folder = tmp_path / "my sweeps"
    sweep = make_sweep(folder / "tour", 2)
    run_id = track(sweep, Tracking(), folder, print)
    port = free_port()
    command = ui_command(Tracking(), folder).replace("5000", str(port))
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            ["/bin/sh", "-c", f"exec env {command}"], cwd=tmp_path, stdout=log, stderr=log, start_new_session=True
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/health")
        with urllib.request.urlopen(f"{address}/get-artifact?path=findings/equilibria.json&run_uuid={run_id}") as answer:
            assert len(json.load(answer)["data"]) == 4
        with urllib.request.urlopen(f"{address}/") as answer:
            assert b"MLflow" in answer.read()
        said: list[str] = []
        over_http = track(sweep, Tracking("server", address), folder, said.append)
        assert len(children(client(folder), over_http)) == 2, said
        assert "View run" not in capfd.readouterr().out
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


def wait_for(address: str, timeout_s: float = 90) -> None:
    end = time.monotonic() + timeout_s
    while True:
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return
