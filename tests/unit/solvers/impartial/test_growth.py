"""The long picture of nimbers: it is an SVG the report takes, of any length, and it is not too long."""

import numpy as np
import pytest

from pipeline.report.drawing import _LONGEST, draw_whole
from solvers.games.octal import Octal
from solvers.impartial.draw import COLUMNS, growth
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.tables import nimbers_table
from solvers.inline import solve

TARGET = "solvers.impartial.draw:growth"


@pytest.mark.parametrize(("code", "heaps"), [("0.0", 0), ("0.77", 1), ("0.77", 150), ("0.007", 3000)])
def test_is_taken_by_the_report(code, heaps):
    tables = solve(Octal(code), MexDp(heaps)).tables
    drawing = draw_whole(TARGET, tables)
    assert drawing is not None
    said = drawing.svg
    assert f"nimbers of the heaps 0 to {heaps}" in said
    assert str(tables["nimbers"]["nimber"].to_numpy().max()) in said


def test_the_worst_sequence_fits():
    nimbers = np.random.default_rng(0).integers(0, 1000, 12_000)
    assert 50_000 < len(growth(None, {"nimbers": nimbers_table(nimbers)})) < _LONGEST


def test_cells_stand_where_the_nimbers_are():
    """Two halves of different nimbers: one path for each column, low on the left, high on the right."""
    nimbers = np.repeat([0, 63], 100 * COLUMNS // 2)
    said = growth(None, {"nimbers": nimbers_table(nimbers)})
    assert said.count("v-4") == COLUMNS
    assert "M42 266v-4" in said
    assert f"M{40 + 4 * (COLUMNS - 1) + 2} 14v-4" in said
