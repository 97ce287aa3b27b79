"""`minimex export`: the games of a sweep as files, payoffs exact, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.store import load
from solvers.contract import File
from solvers.forms import BimatrixGame
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix_csv import MatrixCsv
from solvers.games.nfg import Nfg
from solvers.identity import rebuild

QUICK = ["tracking=off", "compute=inline", "quiet=true", "solver.iterations=10"]


@pytest.fixture
def map_of_nine(minimex):
    answer = minimex(
        "game=forced_rps", "solver=regret_matching", "sweep.grid={game.a: '0:1:1/2', game.b: '0:1:1/2'}", *QUICK, "out=nine"
    )
    assert answer.status == 0


@pytest.mark.parametrize(("name", "reader"), [("nfg", Nfg), ("csv", MatrixCsv)])
def test_a_file_a_point_that_reads_back_exactly(minimex, map_of_nine, name, reader):
    answer = minimex("export", "nine", f"format={name}", "to=files")
    assert answer.status == 0
    assert answer.text == f"9 {name} files in files, named by their points"
    sweep = load("nine")
    assert {path.name for path in Path("files").iterdir()} == {f"{point}.{name}" for point in sweep.points["point"].to_pylist()}
    for row in sweep.points.to_pylist():
        game = rebuild(json.loads(row["config"])["game"], "game", sweep.context())
        written = Path("files", f"{row['point']}.{name}").read_bytes()
        assert reader(File(written)).form(BimatrixGame) == BimatrixGame(*_parts(game))


@pytest.mark.parametrize(("name", "reader"), [("nfg", Nfg), ("csv", MatrixCsv)])
def test_every_game_of_a_sweep_reads_back_with_its_names(minimex, name, reader):
    odd = 'game.row_actions=["Br\u00fccke \\\\ 2", " say \\"go\\"", "3", "1"]'
    matrix = [
        "game=matrix",
        "game.payoffs=[['1/3', '1e-400'], [0.1, -2], [3, 4], [5, 6]]",
        odd,
        "game.column_actions=['\u2212', 'a;b,c']",
    ]
    assert minimex(*matrix, "solver=pure", *QUICK[:3], "out=all").status == 0
    kinds = "random_matrix,random_bimatrix,blotto,morra,rps_n,chicken,stag_hunt,nfg,matrix_csv,forced_rps"
    assert minimex(f"game={kinds}", "solver=pure", *QUICK[:3], "out=all").status == 0
    assert minimex("export", "all", f"format={name}", "to=files").text == f"11 {name} files in files, named by their points"

    sweep = load("all")
    assert sweep.points.num_rows == 11
    for row in sweep.points.to_pylist():
        game = rebuild(json.loads(row["config"])["game"], "game", sweep.context())
        written = Path("files", f"{row['point']}.{name}").read_bytes()
        assert reader(File(written)).form(BimatrixGame) == BimatrixGame(*_parts(game))


def test_a_game_whose_numbers_no_file_holds_is_left_out(minimex):
    forced = ["game=forced_rps", f"game.a=1/{'3' * 1500}", f"game.b=1/{'7' * 1500}"]
    assert minimex(*forced, "solver=pure", *QUICK[:3], "out=long").status == 0
    answer = minimex("export", "long", "format=nfg", "to=files")
    assert (answer.status, list(Path("files").iterdir())) == (0, [])
    assert answer.text.count("a number in a file at most 2,000 characters") == 1


def test_a_csv_file_that_cannot_be_read_says_where(minimex):
    Path("mine.csv").write_text(",left,right\nup,1,2\ndown,3,0,5\n")
    answer = minimex("game=matrix_csv", "game.path=mine.csv", "solver=regret_matching", *QUICK, "out=none")
    assert answer.status == 2
    said = "game.path: expected 3 cells in a line, as in line 1, got 4, the last in line 3, column 10 of mine.csv, cell D3"
    assert said in answer.text


def _parts(game: ForcedRps):
    form = game.form(BimatrixGame)
    return form.a, form.b, form.row_actions, form.column_actions


def test_one_game_goes_to_the_screen(minimex):
    minimex("game=chicken", "solver=regret_matching", "game.b=[[-6,-2],[-7,0]]", *QUICK, "seed=1,2", "out=one")
    answer = minimex("export", "one", "format=nfg")
    assert answer.status == 0
    assert answer.out == (
        'NFG 1 R "Bimatrix" { "Player 1" "Player 2" }\n\n{ { "yield" "dare" }\n{ "yield" "dare" }\n}\n""\n\n6 -6 7 -7\n2 -2 0 0\n'
    )


def test_one_point_by_the_beginning_of_its_hash(minimex, map_of_nine):
    point = load("nine").points["point"][4].as_py()
    whole = minimex("export", "nine", "format=csv", f"point={point}")
    begun = minimex("export", "nine", "format=csv", f"point={point[:9]}")
    assert whole.status == begun.status == 0
    assert whole.out == begun.out
    assert whole.out.startswith(",rock,paper,scissors\nrock,")
    answer = minimex("export", "nine", "format=csv", f"point={point[:9]}", "to=one")
    assert [path.name for path in Path("one").iterdir()] == [f"{point}.csv"]
    assert "1 csv file in one" in answer.text


def test_games_without_the_format_are_left_out(minimex):
    minimex("game=octal,matrix", "solver=mex_dp,regret_matching", "skip_impossible=true", *QUICK[:3], "out=two")
    answer = minimex("export", "two", "format=nfg", "to=files")
    assert answer.status == 0
    assert answer.text == "1 left out: Octal has no format nfg 1 nfg file in files, named by their points"


def test_input_files_come_along(minimex):
    Path("mine.csv").write_text("1/3,2\n0.5,-7\n")
    minimex("game=matrix_csv", "game.path=mine.csv", "solver=regret_matching", *QUICK, "out=from_file")
    Path("mine.csv").unlink()
    answer = minimex("export", "from_file", "format=nfg")
    assert answer.out.splitlines()[-2:] == ["1/3 -1/3 1/2 -1/2", "2 -2 -7 7"]


def test_a_nfg_file_from_the_command_line(minimex):
    Path("my game.nfg").write_text('NFG 1 R "" { "A" "B" } { 2 2 } 1 -1 0 0 -1/2 1/2 3 -3')
    answer = minimex(
        "game=nfg", "game.path='my game.nfg'", "solver=support_enumeration", "tracking=off", "compute=inline", "out=it"
    )
    assert answer.status == 0
    row = load("it").table("equilibria").to_pylist()[0]
    assert (row["value"], row["x"], row["y"]) == ("2/3", ["2/3", "1/3"], ["7/9", "2/9"])
    assert minimex("verify", "it", "strict=true").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nine"], "format: expected a format of this sweep's games, got nothing (there are: csv, nfg)"),
        (["nine", "format=nfq"], "did you mean nfg?"),
        (["nine", "format=nfg"], "to: expected a folder, because there are several games"),
        (["nine", "format=nfg", "point=xyz"], "'xyz', which 0 points have"),
        (["nine", "format=nfg", "point="], "which 9 points have"),
        (["nine", "format=nfg", "to=/dev/null/it"], "to: expected a folder that can be written"),
        (["nine", "format=nfg", "to=s3://bucket/it"], "to: expected a folder on this machine"),
        (["nine", "frmat=nfg"], "did you mean format?"),
        (["nine", "more", "format=nfg"], "usage: minimex export DIR"),
    ],
)
def test_refusals(minimex, map_of_nine, words, said):
    answer = minimex("export", *words)
    assert answer.status == 2
    assert said in answer.text


def test_a_hash_that_is_none_names_no_file(minimex, map_of_nine):
    path = Path("nine/points.parquet")
    points = pq.read_table(path)
    hashes = ["../../evil", *points["point"].to_pylist()[1:]]
    pq.write_table(points.set_column(points.schema.get_field_index("point"), "point", pa.array(hashes)), path)
    answer = minimex("export", "nine", "format=nfg", "to=files")
    assert answer.status == 2
    assert "expected points whose content matches their hash, got '../../evil'" in answer.text
    assert not list(Path().rglob("*evil*"))


def test_a_sweep_whose_games_have_no_files(minimex):
    minimex("game=octal", "solver=mex_dp", "solver.heap_limit=100", *QUICK[:3], "out=kayles")
    answer = minimex("export", "kayles", "format=nfg")
    assert answer.status == 2
    assert "no game of this sweep can be written to a file" in answer.text


def test_usage(minimex):
    answer = minimex("export", "--help")
    assert (answer.status, answer.out.startswith("usage: minimex export DIR")) == (0, True)
