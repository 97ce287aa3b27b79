"""Verification of many small points at once: the verdicts are those of one point after the other."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import judges
from pipeline import verify as verify_module
from pipeline.app import main
from pipeline.store import load
from pipeline.verify import verify
from solvers.equilibrium.check import equilibria


@pytest.fixture
def games(tmp_path):
    """Return a sweep of 30 random games, not yet verified."""
    words = ["game=random_matrix", "game.low=-1", "game.high=1", "solver=shapley_snow", "seed=range(0,30)"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "tracking=off", "compute=inline", "verify=false", "quiet=true", f"out={tmp_path / 'games'}"])
    assert ended.value.code == 0
    return tmp_path / "games"


def damage(root, row):
    path = root / "tables" / "equilibria.parquet"
    table = pq.read_table(path, partitioning=None)
    values = table["value"].to_pylist()
    values[row] = "1/7"
    pq.write_table(table.set_column(table.schema.get_field_index("value"), table.schema.field("value"), pa.array(values)), path)
    return table["point"][row].as_py()


def one_by_one(root, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(verify_module, "sister_of", lambda name, trust: None)
        return verify(load(root)).checks


def test_verdicts_are_those_of_one_after_the_other(games, monkeypatch):
    wanted = one_by_one(games, monkeypatch)

    def never(game, tables):
        raise AssertionError("asked of a point that was judged already")

    monkeypatch.setattr(equilibria, "check_equilibria", never)
    judges.checker.cache_clear()
    try:
        assert verify(load(games)).checks == wanted
    finally:
        judges.checker.cache_clear()
    assert set(wanted["grade"].to_pylist()) == {"proved"}


def test_one_wrong_row_is_refuted_and_the_rest_proved(games, monkeypatch):
    point = damage(games, 5)

    checks = verify(load(games)).checks

    refuted = checks.filter(pa.array([grade == "refuted" for grade in checks["grade"].to_pylist()])).to_pylist()
    assert [(row["table"], row["point"]) for row in refuted] == [("equilibria", point)]
    assert checks == one_by_one(games, monkeypatch)


@pytest.mark.parametrize("said", [ValueError("broken"), [(999, None)], []], ids=["raises", "another place", "nothing"])
def test_a_sister_that_says_nothing_useful_changes_nothing(games, monkeypatch, said):
    wanted = one_by_one(games, monkeypatch)

    def sister(games, tables):
        if isinstance(said, Exception):
            raise said
        return iter(said)

    monkeypatch.setattr(judges, "sister_of", lambda name, trust: sister)

    assert verify(load(games)).checks == wanted
