"""What was computed once is not computed again, and what has changed is: points of sweeps side by side, versions, input files."""

from __future__ import annotations

import pytest
from conftest_tools import FAKE, FAKES, run

from pipeline.store import load

WITNESS = """
from pathlib import Path

class Witness:
    def values(self):
        with Path("{log}").open("a") as file:
            file.write("asked\\n")
        return [3, 4]
"""


@pytest.fixture
def witness(tmp_path):
    """A user's class that writes down each time it is asked for its values, and how often it was since the last look."""
    log = tmp_path / "log.txt"
    log.touch()
    (tmp_path / "witness.py").write_text(WITNESS.format(log=log))

    def asked():
        count = len(log.read_text().splitlines())
        log.write_text("")
        return count

    return asked


def sweep(folder, *arguments, **more):
    status, out = run(*FAKE, "compute=inline", "verify=false", *arguments, cwd=folder, **more)
    assert status == 0, out
    return out


def test_a_sweep_that_overlaps_others_computes_the_rest_only(tmp_path, witness):
    mine = ["solver=trouble", "game.source=witness.py:Witness"]
    sweep(tmp_path, *mine, "seed=range(0,6)", "out=all/one")
    sweep(tmp_path, *mine, "seed=range(6,10)", "out=all/two")
    assert witness() == 10
    out = sweep(tmp_path, *mine, "seed=range(3,12)", "out=all/three")
    assert "7 of 9 points are taken over from other sweeps of all/" in out
    assert witness() == 2
    found = load(tmp_path / "all" / "three")
    assert found.points["status"].to_pylist() == ["done"] * 9
    expected = (
        load(tmp_path / "all" / "one").table("firsts").to_pylist()[3:] + load(tmp_path / "all" / "two").table("firsts").to_pylist()
    )
    assert found.table("firsts").to_pylist()[:7] == expected, "rows are copied as they are"
    sweep(tmp_path, *mine, "seed=range(3,12)", "out=all/three")
    assert witness() == 0
    assert run("verify", "all/three", "trust=[minimex_fakes,source]", cwd=tmp_path)[0] == 0


@pytest.mark.parametrize(("wrong", "status"), [("[1]", 1), ("[]", 0)])
def test_refuted_points_are_not_lent(fake, wrong, status):
    mine = ["solver=trouble", "solver.kind=plausible", f"solver.points={wrong}"]
    assert fake(*mine, "out=all/one").status == status
    again = fake(*mine, "out=all/two")
    assert again.status == status
    assert ("taken over" in again.text) == (status == 0)


# ---- versions ----------------------------------------------------------------------------------------------------------------

MINE = '''
"""A user's game and solver."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
from minimex_fakes.games import Sequence
from minimex_fakes.solvers import FIRSTS, firsts

from solvers.contract import Result


@dataclass(frozen=True)
class Stones:
    version: ClassVar[int] = {game}
    gives: ClassVar[tuple[type, ...]] = (Sequence,)

    count: int = 1

    def form(self, kind):
        return kind((self.count * {game},))


@dataclass(frozen=True)
class First:
    version: ClassVar[int] = {solver}
    takes: ClassVar[type] = Sequence
    tables: ClassVar[Mapping[str, pa.Schema]] = {{"firsts": FIRSTS}}
    extent: ClassVar[str | None] = None

    def solve(self, game, *, resume, workers, rng):
        yield Result({{"firsts": firsts([Sequence((game.values[0] + 100 * {solver},))], [rng])}})
'''


@pytest.mark.parametrize("compute", ["inline", pytest.param("ray", marks=pytest.mark.long)])
def test_a_raised_version_computes_again(tmp_path, compute):
    conf = tmp_path / "conf of mine"
    for group, target in (("game", "mine.Stones\ncount: 1"), ("solver", "mine.First")):
        (conf / group).mkdir(parents=True)
        (conf / group / "mine.yaml").write_text(f"_target_: {target}\n")
    (tmp_path / "lib").mkdir()
    asked = ["--config-dir", conf, "trust=[mine,minimex_fakes]", "game=mine", "solver=mine", "game.count=1,2", "verify=false"]

    def firsts(game, solver):
        (tmp_path / "lib" / "mine.py").write_text(MINE.format(game=game, solver=solver))
        path = f"{tmp_path / 'lib'}:{FAKES}"
        command = [*asked, f"compute={compute}", "compute.cpus=1", "tracking=off", "out=all/it"]
        status, out = run(*command, cwd=tmp_path, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
        assert status == 0, out
        return len(load(tmp_path / "all" / "it").points), load(tmp_path / "all" / "it").table("firsts")["first"].to_pylist()

    assert firsts(1, 1) == (2, ["101", "102"])
    assert firsts(1, 1) == (2, ["101", "102"])
    assert firsts(2, 1) == (4, ["101", "102", "102", "104"]), "the game's"
    assert firsts(2, 2) == (6, ["101", "102", "102", "104", "202", "204"]), "the solver's"


# ---- input files -------------------------------------------------------------------------------------------------------------


def test_a_file_is_its_content_whatever_its_name(fake, minimex, workdir):
    (workdir / "beads.txt").write_text("5\n")
    mine = ["solver=trivial", "game.values=[]", "verify=false"]
    assert fake(*mine, "game.file=beads.txt", "out=all/one").status == 0
    (workdir / "same.txt").write_text("5\n")
    assert "1 of 1 points are taken over" in fake(*mine, "game.file=same.txt", "out=all/two").text
    (workdir / "beads.txt").write_text("6\n")
    assert fake(*mine, "game.file=beads.txt", "out=all/one").status == 0
    assert load("all/one").table("firsts")["first"].to_pylist() == ["5", "6"]
    for name in ("one", "two"):
        assert minimex("verify", f"all/{name}", "trust=[minimex_fakes]").status == 0


def test_a_users_class_is_its_text_whatever_its_files_name(tmp_path, witness):
    mine = ["solver=trivial", "game.values=[]"]
    sweep(tmp_path, *mine, "game.source=witness.py:Witness", "out=all/one")
    witness()
    (tmp_path / "renamed.py").write_text((tmp_path / "witness.py").read_text())
    out = sweep(tmp_path, *mine, "game.source=renamed.py:Witness", "out=all/two")
    assert "1 of 1 points are taken over" in out
    assert witness() == 0
    (tmp_path / "witness.py").write_text((tmp_path / "witness.py").read_text().replace("[3, 4]", "[7]"))
    sweep(tmp_path, *mine, "game.source=witness.py:Witness", "out=all/one")
    assert witness() == 1
    assert load(tmp_path / "all" / "one").table("firsts")["first"].to_pylist() == ["3", "7"]
