"""Many learning curves judged at once: the verdicts of one after the other, and none where anything is odd."""

import contract_suite as suite
import numpy as np
import pyarrow as pa
import pytest

from solvers import solve
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.random_matrix import RandomMatrix
from solvers.regret.cfr import Cfr
from solvers.regret.check import check_curve, check_curve_batch
from solvers.regret.curves import CURVE
from solvers.regret.regret_matching import RegretMatching
from solvers.schema import is_effort

GAMES = [RandomMatrix(size, low=-9, high=9, seed=seed) for seed in range(4) for size in (3, 2)]


def together(tables):
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables]).astype(np.int32)
    whole = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    return {"curve": whole.add_column(0, "batch_index", pa.array(owner))}


@pytest.fixture(scope="module")
def curves():
    return [
        solve(game, RegretMatching(iterations)).tables["curve"]
        for game, iterations in zip(GAMES, [1, 2, 30, 2000] * 2, strict=True)
    ]


def judged(games, tables):
    return sorted({place for place, _ in check_curve_batch(games, tables)})


def test_verdicts_are_those_of_one_after_the_other(curves):
    wanted = [(place, verdict) for place, game in enumerate(GAMES) for verdict in check_curve(game, {"curve": curves[place]})]

    assert sorted(check_curve_batch(GAMES, together(curves)), key=lambda one: one[0]) == wanted


@pytest.mark.parametrize("name", CURVE.names)
def test_a_game_with_a_harmed_cell_is_left_to_the_checker(curves, name):
    place = GAMES.index(GAMES[3])
    field = CURVE.field(name)
    assert not is_effort(field)
    for row in (0, 13, 24):
        old = curves[place][name][row].as_py()
        for new in suite.damaged(old, field.type):
            harmed = [suite.put(table, row, name, new) if at == place else table for at, table in enumerate(curves)]
            assert judged(GAMES, together(harmed)) == [at for at in range(len(GAMES)) if at != place], (name, row, new)


def test_averages_that_do_not_go_on_are_left_to_the_checker(curves):
    rows = curves[3].to_pylist()
    rows[3] = {**rows[9], "iteration": rows[3]["iteration"]}

    assert judged(GAMES, together([*curves[:3], pa.Table.from_pylist(rows, schema=CURVE), *curves[4:]])) == [0, 1, 2, 4, 5, 6, 7]


def test_trees_and_missing_columns_are_left_to_the_checker(curves):
    tree = solve(KuhnPoker(), Cfr(5)).tables["curve"]

    assert judged([*GAMES, KuhnPoker()], together([*curves, tree])) == list(range(len(GAMES)))
    assert judged(GAMES, {}) == []
    assert judged(GAMES, {"curve": together(curves)["curve"].drop_columns(["gamma"])}) == []
