"""Where the labels lead, step by step, and what the checker of paths refutes."""

import pyarrow as pa
import pytest

from solvers import make, solve
from solvers.equilibrium.check.lemke_howson import check_lemke_howson
from solvers.equilibrium.lemke_howson import LemkeHowson
from solvers.errors import ConfigError, ImpossiblePairing
from solvers.games.bimatrix import Bimatrix

# von Stengel, Handbook of Game Theory 3 (2002), example 2.3
STENGEL = make(Bimatrix, a=[["3", "3"], ["2", "5"], ["0", "6"]], b=[["3", "2"], ["2", "6"], ["3", "1"]])
RIGHT = solve(STENGEL, LemkeHowson()).tables


def judged(**columns):
    table = RIGHT["lemke_howson"]
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values, table.schema.field(name).type))
    return list(check_lemke_howson(STENGEL, {**RIGHT, "lemke_howson": table}))


def test_every_label_of_a_known_game():
    rows = RIGHT["lemke_howson"].to_pylist()

    assert [(row["label"], row["player"], row["action"]) for row in rows] == [
        (0, 1, "r1"),
        (1, 1, "r2"),
        (2, 1, "r3"),
        (3, 2, "c1"),
        (4, 2, "c2"),
    ]
    assert [row["path"] for row in rows] == [[3, 0], [4, 2, 3, 1], [3, 0, 2], [0, 3], [2, 3, 1, 4]]
    assert [row["equilibrium"] for row in rows] == [0, 1, 0, 0, 1]
    assert RIGHT["bimatrix_equilibria"]["x_support"].to_pylist() == ["r1", "r2+r3"]  # (4/5, 1/5, 0) no label leads to


def test_paths_are_proved():
    assert [(verdict.row, verdict.grade) for verdict in judged()] == [(row, "proved") for row in range(5)]


def test_one_label_alone():
    tables = solve(STENGEL, LemkeHowson(labels=2)).tables

    assert tables["lemke_howson"].to_pylist() == [{**RIGHT["lemke_howson"].to_pylist()[2], "equilibrium": 0}]
    assert tables["bimatrix_equilibria"].num_rows == 1


def test_another_end_is_refuted():
    ends = RIGHT["lemke_howson"]["equilibrium"].to_pylist()

    (wrong,) = [verdict for verdict in judged(equilibrium=[1 - ends[0], *ends[1:]]) if verdict.grade == "refuted"]

    assert (wrong.row, wrong.reason) == (0, f"equilibrium: the path does not end at {1 - ends[0]}")


@pytest.mark.parametrize("path", [[0], [1, 0], [4, 0], [3, 3, 0], [], None, [3, 1, 4, 2, 0, 1]])
def test_other_paths_are_refuted(path):
    paths = RIGHT["lemke_howson"]["path"].to_pylist()
    assert path != paths[0]

    assert judged(path=[path, *paths[1:]])[0].grade == "refuted"


def test_labels_out_of_order_are_refuted():
    table = RIGHT["lemke_howson"].take([1, 0, 2, 3, 4])

    grades = [verdict.grade for verdict in check_lemke_howson(STENGEL, {**RIGHT, "lemke_howson": table})]

    assert grades == ["proved", "refuted", "proved", "proved", "proved"]


def test_labels_that_are_none_are_refused():
    with pytest.raises(ConfigError, match="labels"):
        LemkeHowson(labels=-1)
    with pytest.raises(
        ImpossiblePairing, match=r"solver\.labels: expected all, or a label of a game of 3 x 2 actions, 0 to 4, got 5"
    ):
        solve(STENGEL, LemkeHowson(labels=5))


def test_large_games_are_refused():
    size = 201
    zero = [["0"] * size] * size

    with pytest.raises(ImpossiblePairing, match="402 labels"):
        solve(make(Bimatrix, a=zero, b=zero), LemkeHowson())
