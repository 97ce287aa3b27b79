"""The contract suite on the fakes, then on everything in `conf/`."""

from __future__ import annotations

from pathlib import Path

import contract_suite as suite
import pytest

import conf

CONF = Path(conf.__file__).parent
FAKES = Path(__file__).parents[1] / "fakes" / "fake_conf"
TRUST = ("minimex_fakes",)
GOOD_FAKES = [pair for pair in suite.pairs(FAKES, TRUST) if pair[0].endswith(("walk", "trivial"))]
PAIRS = [pytest.param(game, solver, id=name) for name, game, solver in [*GOOD_FAKES, *suite.pairs(CONF)]]
LAWS = [
    suite.check_values,
    suite.check_protocol,
    suite.check_determinism,
    suite.check_resume,
    suite.check_extent,
    suite.check_stop,
    suite.check_certificates,
    suite.check_damage,
    suite.check_exports,
    suite.check_batch,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("game", "solver"), PAIRS)
def test_law(law, game, solver):
    law(game, solver)


def test_census_is_not_empty():
    assert len(PAIRS) >= len(GOOD_FAKES) + 5


def test_every_solver_meets_a_game():
    met = {type(solver) for _, _, solver in suite.pairs(CONF)}
    assert {type(solver) for solver in suite.configured(CONF, "solver").values()} <= met


def test_every_game_meets_a_solver():
    met = {type(game) for _, game, _ in suite.pairs(CONF)}
    assert {type(game) for game in suite.configured(CONF, "game").values()} <= met


@pytest.mark.parametrize("path", [*CONF.glob("game/*.yaml"), *CONF.glob("solver/*.yaml")], ids=lambda path: path.stem)
def test_yaml_spells_every_field(path):
    suite.check_yaml(path)


def test_one_table_name_has_one_schema():
    schemas = {}
    for solver in suite.configured(CONF, "solver").values():
        for name, schema in type(solver).tables.items():
            assert schemas.setdefault(name, schema).equals(schema, check_metadata=True)


def test_the_walk_resumes_somewhere():
    _, game, solver = GOOD_FAKES[-1]
    assert solver.__class__.__name__ == "Walk"
    assert suite.check_resume(game, solver) == 10
