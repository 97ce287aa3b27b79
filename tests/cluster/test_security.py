"""A local Ray is nobody's business but ours, and a directory somebody sends us is data: it runs nothing, it reaches nothing else."""

from __future__ import annotations

import hashlib
import io
import ipaddress
import json
import pickle
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest_tools import FAKE, environment, finish, start, wait_until
from minimex_fakes.solvers import MARKUP

from pipeline.checkpoints import pack, unpack
from pipeline.rows import seal_of
from pipeline.store import SweepDir, load, parameter_values, read_table, write_table
from solvers.contract import Checkpoint
from solvers.identity import canonical, digest

# ---- nothing listens beyond loopback -----------------------------------------------------------------------------------------

LISTENS, BOUND = "0A", "07"  # TCP_LISTEN; an unconnected UDP socket


def sockets(pid):
    """Yield protocol, address and port of every socket on which a process waits for others."""
    held = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            held.add(str(handle.readlink()))
        except OSError:
            continue
    for name, state in (("tcp", LISTENS), ("tcp6", LISTENS), ("udp", BOUND), ("udp6", BOUND)):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            _, local, _, now, *_, inode = line.split()[:10]
            if now == state and f"socket:[{inode}]" in held:
                address, port = local.split(":")
                words = [struct.pack("<I", int(address[place : place + 8], 16)) for place in range(0, len(address), 8)]
                yield name, ipaddress.ip_address(b"".join(words)), int(port, 16)


def is_loopback(address):
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def test_a_socket_that_listens_to_all_is_seen():
    """The next test can fail."""
    for family, everybody in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.bind((everybody, 0))
            one.listen()
            seen = {address for _, address, port in sockets("self") if port == one.getsockname()[1]}
            assert seen == {ipaddress.ip_address(everybody)}
            assert not any(map(is_loopback, seen))


def test_nothing_of_a_local_ray_listens_beyond_loopback(tmp_path):
    busy = ["solver=trouble", "solver.pause_s=0.2", "seed=range(0,40)", "compute=ray", "out=it"]
    process = start(*FAKE, *busy, cwd=tmp_path)
    wait_until(lambda: list((tmp_path / "it" / "journal").glob("0*")) or process.poll() is not None)
    found, names = set(), set()
    end = time.monotonic() + 2
    while time.monotonic() < end and process.poll() is None:
        for one in [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]:
            try:
                mine = set(sockets(one.pid))
                names |= {one.name()} if mine else set()
                found |= mine
            except (psutil.Error, OSError):
                continue
    status, out = finish(process)
    assert status == 0, out
    assert {"raylet", "gcs_server"} <= names, names
    assert len(found) > 5, "Ray's own servers, the workers among them"
    assert not [one for one in found if not is_loopback(one[1])]


# ---- the report shows texts, it runs none --------------------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium")
NAME = MARKUP.partition("</script>")[0]  # a file's name has no slash


def test_the_report_of_a_hostile_sweep_runs_nothing(minimex, workdir):
    (workdir / f"{NAME}.txt").write_text("7\n")
    conf = workdir / "conf of mine"
    (conf / "game").mkdir(parents=True)
    beads = "_target_: minimex_fakes.games.Beads\nvalues: []\nfile: null\nsource: null\nseed: 0\nrefused: false\n"
    (conf / "game" / f"{NAME}.yaml").write_text(beads)
    bad = ["solver=trouble", "solver.points=[1]", "compute=inline", "tracking=off"]
    for kind in ("hostile", "markup"):
        assert minimex(*FAKE[:-1], *bad, f"solver.kind={kind}", f"out='{NAME}'").status == 1, "a raised error, a refuted row"
    named = [
        "--config-dir",
        str(conf),
        *FAKE[:-2],
        f"game='{NAME}'",
        f"game.file='{NAME}.txt'",
        "solver=trivial",
        *bad[2:],
        f"out='{NAME}'",
    ]
    assert "firsts: 1 proved, 1 refuted" in minimex(*named).text
    page = workdir / NAME / "report.html"
    text = page.read_text()
    assert text.count("onerror=document") >= 5, "error, row, metric, file and game name are shown"
    assert not re.search(r"<img|</script><script>document", text)
    if CHROMIUM is None:
        pytest.skip("no chromium here to open it with")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={workdir / 'profile'}", "--virtual-time-budget=3000"]
    asked = [CHROMIUM, *flags, "--dump-dom", page.as_uri()]
    dom = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True).stdout
    top = re.search(r"<html[^>]*>", dom)[0]
    assert 'data-errors="0"' in top, top
    assert "data-ran" not in top
    assert "<img" not in dom
    index = minimex("report", ".")
    assert index.status == 0
    assert "<img" not in (workdir / "index.html").read_text()


# ---- a directory somebody sends us ---------------------------------------------------------------------------------------------

SPY = """
import os, pathlib
pathlib.Path({canary!r}).write_text(__name__)
def check(game, tables): pathlib.Path({canary!r}).write_text("check"); return iter(())
def draw(game, tables): pathlib.Path({canary!r}).write_text("draw"); return "<svg></svg>"
class Game: pass
class Mine:
    def __init__(self): pathlib.Path({canary!r}).write_text("source")
    def values(self): return [1]
"""


class Foreign:
    """A sweep's directory in the hands of somebody else."""

    def __init__(self, root, canary):
        self.root, self.canary = root, canary
        self.importable = canary.with_name("lib")  # a package that happens to be installed here

    def metadata(self, **changes):
        """Have a table say other things about itself, in its file and in the manifest."""
        path = self.root / "tables" / "firsts.parquet"
        table = pq.read_table(path)
        said = json.loads(table.schema.metadata[b"minimex"]) | changes
        write_table(table.replace_schema_metadata({b"minimex": json.dumps(said)}), path)
        self.manifest(tables={"firsts": json.dumps(said)})

    def manifest(self, **changes):
        path = self.root / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    def config(self, change, point=None):
        """Change a point's config as somebody who knows how hashes and seals are made; or name the point as told."""
        path = self.root / "points.parquet"
        points = read_table(path)
        config = json.loads(points["config"][0].as_py())
        change(config)
        text = canonical(config)
        hashed = point or digest(text)
        sweep = SweepDir(self.root)
        parameters = {name: parameter_values(points, name)[0] for name in sweep.parameters}
        seal = seal_of(hashed, parameters, text, points["status"][0].as_py(), points["rows"][0].as_py())
        for name, value in (("point", hashed), ("config", text), ("seal", seal)):
            column = pa.array([value, *points[name].cast(pa.string()).to_pylist()[1:]], pa.string())
            points = points.set_column(points.schema.get_field_index(name), name, column)
        write_table(points, path)
        for file in (self.root / "tables").glob("*.parquet"):
            table = read_table(file)
            column = pa.array([hashed, *table["point"].cast(pa.string()).to_pylist()[1:]], pa.string())
            write_table(table.set_column(0, "point", column), file)


@pytest.fixture
def foreign(fake, workdir):
    """A foreign directory among ours, and code of its sender wherever it might be found."""
    assert fake("solver=trivial", "seed=1,2", "out=outputs/foreign").status == 0
    made = Foreign(workdir / "outputs" / "foreign", workdir.parent / "canary")
    spy = SPY.format(canary=str(made.canary))
    made.importable.mkdir()
    (made.importable / "spy.py").write_text(spy)
    for folder in (workdir, made.root):
        for name in ("spy.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "minimex_fakes.py"):
            (folder / name).write_text(spy)
        for package in ("conf", "solvers", "pipeline", "hydra_plugins"):
            (folder / package).mkdir()
            for name in ("__init__.py", "config.yaml", "app.py", "builder.py", "check.py"):
                (folder / package / name).write_text(spy)
    return made


def look_at(foreign, *more, commands=("verify", "report", "show", "show firsts", "show points", "status", "track")):
    """Give every command that only looks, as people do; return what each said."""
    said = {}
    for command in commands:
        word, *rest = command.split()
        asked = [Path(sys.executable).with_name("minimex"), word, foreign.root, *rest, *(more if word == "verify" else ())]
        known = environment()["PYTHONPATH"]
        surroundings = environment(PYTHONPATH=f"{known}:{foreign.importable}")
        done = subprocess.run(asked, cwd=foreign.root.parents[1], env=surroundings, capture_output=True, text=True, check=False)
        said[command] = (done.returncode, " ".join((done.stdout + done.stderr).split()))
        assert "Traceback" not in said[command][1], said[command]
        assert not foreign.canary.exists(), (command, foreign.canary.read_text())
    return said


def others(foreign):
    """Return all that is not the foreign directory's, nor MLflow's store beside it."""
    here = foreign.root.parents[1]
    own = (foreign.root, here / "outputs" / "mlflow.db", here / "outputs" / "mlartifacts", here / "outputs" / ".mlflow.lock")
    files = [path for path in here.parent.rglob("*") if not any(path == one or one in path.parents for one in own)]
    return {path: path.read_bytes() for path in files if path.is_file()}


@pytest.mark.long
def test_a_foreign_directory_that_is_as_it_should_be(foreign):
    """What the others are measured by: here all goes well."""
    before = others(foreign)
    said = look_at(foreign, "trust=[minimex_fakes]")
    assert {command: status for command, (status, _) in said.items()} == dict.fromkeys(said, 0)
    assert "firsts: 2 proved" in said["verify"][1]
    assert others(foreign) == before


@pytest.mark.parametrize("checker", ["spy:check", "solvers.check:check", "solvers.games.octal:Octal", "os:system"])
def test_a_table_chooses_no_checker_but_ours(foreign, checker):
    foreign.metadata(check=checker)
    said = look_at(foreign, "trust=[minimex_fakes]", commands=("verify",))
    assert said["verify"][0] == 1
    assert "is not a checker of solvers.*" in said["verify"][1]


@pytest.mark.parametrize("drawing", ["spy:draw", "solvers.spy:draw", "solvers.games.octal:Octal"])
def test_a_table_chooses_no_drawing_but_ours(foreign, drawing):
    foreign.metadata(drawing=drawing)
    assert look_at(foreign, commands=("report",))["report"][0] == 0


@pytest.mark.parametrize(
    "target", ["spy.Game", "os.system", "numpy.ndarray", "solvers.spy.Game", "pathlib.Path", "minimex_fakes.games.Beads"]
)
def test_a_config_builds_nothing_but_our_games(foreign, target):
    foreign.config(lambda config: config["game"].update(target=target))
    said = look_at(foreign, commands=("verify",))
    assert said["verify"][0] == 1
    assert "the game cannot be built again" in said["verify"][1]


def test_a_class_in_a_config_is_not_run_without_trust(foreign):
    code = SPY.format(canary=str(foreign.canary)).encode()
    sha = hashlib.sha256(code).hexdigest()
    (foreign.root / "inputs").mkdir()
    (foreign.root / "inputs" / sha).write_bytes(code)
    foreign.config(lambda config: config["game"]["fields"].update(source={"sha256": sha, "class": "Mine"}))
    said = look_at(foreign, "trust=[minimex_fakes]", commands=("verify", "report"))
    assert said["verify"][0] == 1
    assert "trust=[source] runs it" in said["verify"][1]


@pytest.mark.parametrize("field", ["file", "source"])
@pytest.mark.parametrize(
    "raw", ["secret.txt", "../secret.txt", "/etc/hostname", {"sha256": "../../secret.txt"}, {"sha256": "/etc/hostname"}]
)
def test_a_config_reads_no_file_of_ours(foreign, field, raw):
    for folder in (foreign.root.parents[1], foreign.root.parents[2]):
        (folder / "secret.txt").write_text("42\n")
    value = f"{raw}:Mine" if field == "source" and isinstance(raw, str) else {**raw, "class": "Mine"} if field == "source" else raw
    foreign.config(lambda config: config["game"]["fields"].update({field: value}))
    said = look_at(foreign, "trust=[minimex_fakes,source]", commands=("verify",))
    assert said["verify"][0] == 1
    assert "a stored input file" in said["verify"][1]
    assert "first is 42" not in said["verify"][1]


def test_links_are_not_written_through(foreign):
    """What lies where we write may be a link to a file of ours."""
    secret = foreign.root.parents[1] / "secret.txt"
    secret.write_text("do not touch")
    for name in ("checks.parquet", "report.html", "_lock", "manifest.json", "status.json", ".checks.parquet.partial"):
        (foreign.root / name).unlink(missing_ok=True)
        (foreign.root / name).symlink_to(secret)
    (foreign.root / "inputs").mkdir()
    (foreign.root / "inputs" / "0").symlink_to(secret)
    before = others(foreign)
    look_at(foreign, "trust=[minimex_fakes]")
    assert others(foreign) == before
    assert "do not touch" not in (foreign.root / "report.html").read_text()


@pytest.mark.long
def test_names_lead_nowhere(foreign):
    """Tables, inputs, points and checkpoints with paths for names."""
    up = "../../escaped"
    info = json.loads((foreign.root / "manifest.json").read_text())["tables"]["firsts"]
    foreign.manifest(
        tables={up: info, "/tmp/escaped": info, "firsts": info},
        columns={up: [["first", "string"]]},
        experiment=up,
        id=up,
        commands=[up],
    )
    foreign.config(lambda config: None, point=up)
    shutil.copy(foreign.root / "tables" / "firsts.parquet", foreign.root / "tables" / "..%2fescaped.parquet")
    (foreign.root / "inputs").mkdir()
    (foreign.root / "inputs" / "..\\escaped").write_text("x")
    (foreign.root / "checkpoints" / "..%2f").mkdir(parents=True)
    (foreign.root / "checkpoints" / "..%2f" / "1.npz").write_bytes(b"x")
    (foreign.root / "journal" / f"000001-{'a' * 12}").mkdir(parents=True)
    shutil.copy(
        foreign.root / "tables" / "firsts.parquet", foreign.root / "journal" / f"000001-{'a' * 12}" / "table_..%2fescaped.parquet"
    )
    before = others(foreign)
    said = look_at(foreign, "trust=[minimex_fakes]")
    assert said["verify"][0] == 1, "the point's name is not its hash"
    assert others(foreign) == before


# ---- checkpoints ---------------------------------------------------------------------------------------------------------------


def bomb(module, name, argument):
    """Return a checkpoint's content whose generator is a call of `module`'s `name`."""
    out = io.BytesIO()
    pickler = pickle._Pickler(out, 4)
    pickler.write(b"\x80\x04")
    pickler.save(module)
    pickler.save(name)
    pickler.write(pickle.STACK_GLOBAL)
    pickler.save((argument,))
    pickler.write(pickle.REDUCE + pickle.STOP)
    content = io.BytesIO()
    np.savez(content, **{"rng pickle": np.frombuffer(out.getvalue(), np.uint8), "step": np.int64(10), "a:totals": np.zeros(1)})
    return content.getvalue()


BOMBS = [
    ("os", "system"),
    ("builtins", "eval"),
    ("numpy.random.mtrand", "np.os.system"),
    ("numpy.random.bit_generator", "re.enum.bltns.eval"),
    ("numpy.random._pickle", "__builtins__.get"),
    ("numpy.random", "seed"),
]


@pytest.mark.parametrize(("module", "name"), BOMBS)
def test_a_checkpoint_calls_nothing(tmp_path, module, name):
    with pytest.raises(ValueError, match="damaged checkpoint: a checkpoint may not hold a"):
        unpack(bomb(module, name, f"touch {tmp_path / 'canary'}"))
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_a_checkpoint_holds_any_generator_of_numpys(kind):
    rng = np.random.Generator(getattr(np.random, kind)(5))
    rng.spawn(3)
    checkpoint, again = unpack(pack(Checkpoint(7, {"x": np.arange(3)}), rng))
    assert checkpoint.step == 7
    assert again.random() == rng.random()
    assert again.spawn(1)[0].random() == rng.spawn(1)[0].random()


def test_a_siblings_checkpoint_that_is_a_bomb_is_passed_over(fake, workdir):
    walk = ["solver=walk", "compute.checkpoint_s=0"]
    assert fake(*walk, "solver.steps=100", "out=all/foreign").status == 0
    (path,) = Path("all/foreign/checkpoints").glob("*/*.npz")
    path.write_bytes(bomb("numpy.random.mtrand", "np.os.system", f"touch '{workdir / 'canary'}'"))
    answer = fake(*walk, "solver.steps=200", "out=all/mine")
    assert answer.status == 0, answer.text
    assert not (workdir / "canary").exists()
    assert len(load("all/mine").table("sums")) == 20
