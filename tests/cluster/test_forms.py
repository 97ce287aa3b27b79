"""Forms that are costly to build: once for a whole sweep."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest_tools import FAKE

from pipeline.store import load

PEARLS = [
    *(word for word in FAKE if word != "game=beads"),
    "game=pearls",
    "solver=opener",
    "seed=range(0,20)",
    "verify=false",
    "out=it",
]
EVERYWHERE = pytest.mark.parametrize("compute", ["inline", "ray"])


@EVERYWHERE
def test_a_form_is_built_once(minimex, ray, compute):
    note = Path("built.txt").absolute()
    answer = minimex(*PEARLS, "sweep.grid={game.values: [[1],[2]]}", f"game.note={note}", f"compute={compute}")
    assert answer.status == 0, answer
    assert len(note.read_text().splitlines()) == 2
    assert sorted(load("it").table("firsts")["first"].to_pylist()) == ["1"] * 20 + ["2"] * 20


@EVERYWHERE
def test_one_that_cannot_be_built_is_its_points_error(minimex, ray, compute):
    answer = minimex(*PEARLS, "game.fails=true", f"compute={compute}")
    assert answer.status == 1, answer
    points = load("it").points.to_pylist()
    assert [(point["status"], point["error"]) for point in points] == [("failed", "InfeasibleGame: no pearls in it")] * 20
