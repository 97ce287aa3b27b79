"""The checkers on game trees: right tables pass, each harmed cell is refuted, nothing raises."""

import dataclasses
from fractions import Fraction as Q

import numpy as np
import pyarrow as pa
import pytest

from solvers import solve
from solvers.contract import File
from solvers.forms import GameTree
from solvers.games.efg import EfgGame
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.rps_tree import RpsTree
from solvers.regret.best_response import EXPLOITABILITY, RESPONSES, BestResponse
from solvers.regret.cfr import Cfr
from solvers.regret.check import check_curve, check_exploitability, check_responses, check_strategies, check_values
from solvers.regret.check.curve import weights_between
from solvers.regret.check.walk import Walk
from solvers.regret.curves import CURVE
from solvers.regret.sequence_form_lp import VALUES, SequenceFormLp
from solvers.regret.tree_play import STRATEGIES

GAME = KuhnPoker()
VARIANTS = {
    "cfr": Cfr(60),
    "simultaneous": Cfr(60, alternating=False),
    "cfr_plus": Cfr(60, floor=True, gamma=1.0),
    "dcfr": Cfr(60, alpha=1.5, beta=0.0, gamma=2.0),
    "pdcfr_plus": Cfr(60, alpha=2.3, floor=True, gamma=5.0, predictive=True),
    "uneven": Cfr(60, gamma=0.5),
}


@pytest.fixture(scope="module")
def learned():
    return dict(solve(GAME, Cfr(60, floor=True, gamma=1.0)).tables)


@pytest.fixture(scope="module")
def solved():
    return dict(solve(GAME, SequenceFormLp()).tables)


@pytest.fixture(scope="module")
def answered():
    return dict(solve(GAME, BestResponse()).tables)


def put(tables, table, schema, index, **values):
    rows = [{**row, **values} if at == index else row for at, row in enumerate(tables[table].to_pylist())]
    return {**tables, table: pa.Table.from_pylist(rows, schema=schema)}


def refuted(verdicts):
    return [verdict.row for verdict in verdicts if verdict.grade == "refuted"]


# ---- curves ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)
def test_true_curves_are_recomputed(solver):
    tables = solve(GAME, solver).tables

    assert {verdict.grade for verdict in check_curve(GAME, tables)} == {"recomputed"}
    assert {verdict.grade for verdict in check_strategies(GAME, tables)} == {"recomputed"}


@pytest.mark.parametrize("claimed", [0.0, 2.0])
def test_another_gamma_than_was_played_is_refuted(learned, claimed):
    curve = learned["curve"]
    place = CURVE.get_field_index("gamma")
    column = pa.array([claimed] * len(curve))

    verdicts = list(check_curve(GAME, {"curve": curve.set_column(place, CURVE.field(place), column)}))

    assert any("is no mean that goes on from" in verdict.reason for verdict in verdicts)


def test_where_gamma_is_null_averages_may_be_anything(learned):
    curve = learned["curve"]
    place = CURVE.get_field_index("gamma")
    without = curve.set_column(place, CURVE.field(place), pa.nulls(len(curve), pa.float64()))

    assert refuted(check_curve(GAME, {"curve": without})) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"milli_antes": None}, "milli_antes"),
        ({"milli_antes": 1.0}, "milli_antes"),
        ({"pot_percent": 0.5}, "pot_percent"),
        ({"gamma": 2.0}, "gamma"),
        ({"gamma": None}, "gamma"),
        ({"gain_p2": 0.0}, "gain_p2"),
        ({"x": [1.0, 0.0]}, "x is not a list of 12 numbers"),
        ({"x": [1.0] * 12}, "x is not a probability distribution"),
        ({"y": [0.5, 0.5, -0.5, 1.5] + [0.5] * 8}, "y is not a probability distribution"),
    ],
)
def test_harm_to_a_row_is_refuted(learned, values, said):
    verdicts = list(check_curve(GAME, put(learned, "curve", CURVE, 7, **values)))

    assert refuted(verdicts) == [7]
    assert said in verdicts[7].reason


def test_a_game_without_ante_states_no_antes():
    game = RpsTree()
    tables = dict(solve(game, Cfr(5)).tables)

    assert refuted(check_curve(game, put(tables, "curve", CURVE, 3, milli_antes=0.0))) == [3]


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_weights_far_out_are_sums(gamma):
    wanted = float(np.sum(np.arange(1501.0, 20_001.0) ** gamma))

    assert weights_between(1500, 20_000, gamma) == pytest.approx(wanted, rel=1e-13)
    assert weights_between(0, 20_000, gamma) == pytest.approx(float(np.sum(np.arange(1.0, 20_001.0) ** gamma)), rel=1e-13)


# ---- strategies and values ---------------------------------------------------------------------------------------------------


def test_an_equilibrium_is_proved(solved):
    assert {verdict.grade for verdict in [*check_values(GAME, solved), *check_strategies(GAME, solved)]} == {"proved"}


@pytest.mark.parametrize(
    "values",
    [
        {"player": 2},
        {"infoset": "K"},
        {"action": None},
        {"probability": "1/1"},
        {"probability": "1/2", "probability_float": 0.5},
        {"probability": None},
        {"probability_float": None},
        {"probability_float": 0.3},
    ],
)
def test_harm_to_exact_strategies_is_refuted(solved, values):
    assert refuted(check_strategies(GAME, put(solved, "strategies", STRATEGIES, 4, **values)))


def test_floats_that_are_not_the_last_average_are_refuted(learned):
    rows = learned["strategies"].to_pylist()
    harmed = put(learned, "strategies", STRATEGIES, 0, probability_float=rows[0]["probability_float"] + 1e-12)

    assert refuted(check_strategies(GAME, harmed)) == [0]


def test_tables_without_rows_of_the_other_solvers_of_a_sweep_change_nothing(learned, solved):
    """A point of a mixed sweep comes with all tables of the sweep: those of other solvers are empty."""
    with_values = {**learned, "values": VALUES.empty_table()}
    with_curve = {**solved, "curve": CURVE.empty_table()}

    assert {verdict.grade for verdict in check_strategies(GAME, with_values)} == {"recomputed"}
    assert {verdict.grade for verdict in check_strategies(GAME, with_curve)} == {"proved"}


def test_missing_strategies_are_refuted(learned, solved):
    for tables in (learned, solved):
        assert refuted(check_strategies(GAME, {**tables, "strategies": STRATEGIES.empty_table()})) == [None]
        assert refuted(check_strategies(GAME, {**tables, "strategies": tables["strategies"].slice(1)})) == [None]


def other_pair(solved, changes):
    """Exact distributions, well-formed, that are not the equilibrium's."""
    rows = solved["strategies"].to_pylist()
    for row in rows:
        new = changes.get((row["player"], row["infoset"], row["action"]))
        if new is not None:
            row.update(probability=str(new), probability_float=float(new))
    return {**solved, "strategies": pa.Table.from_pylist(rows, schema=STRATEGIES)}


@pytest.mark.parametrize(
    "changes",
    [{(2, "Q b", "call"): Q(1, 2), (2, "Q b", "fold"): Q(1, 2)}, {(1, "Q pb", "call"): Q(0), (1, "Q pb", "fold"): Q(1)}],
    ids=["player 2's", "player 1's"],
)
def test_well_formed_strategies_that_do_not_guarantee_the_value_are_refuted(solved, changes):
    harmed = other_pair(solved, changes)

    assert refuted(check_values(GAME, harmed)) == [0]
    assert refuted(check_strategies(GAME, harmed)) == [None]


@pytest.mark.parametrize(
    "values",
    [
        {"value": "-1/17", "value_float": -1 / 17},
        {"value": "-2/36"},
        {"value": None},
        {"value_float": -0.05},
        {"value_float": None},
        {"method": None},
        {"method": "sequence form, float64"},
    ],
)
def test_harm_to_a_value_is_refuted(solved, values):
    assert refuted(check_values(GAME, put(solved, "values", VALUES, 0, **values))) == [0]


def test_an_exact_value_of_a_rounded_game_is_refuted(solved):
    class Rounded(KuhnPoker):
        def form(self, kind):
            return dataclasses.replace(KuhnPoker().form(kind), is_exact=False)

    assert refuted(check_values(Rounded(), solved)) == [0]


def test_missing_or_doubled_values_are_refuted(solved):
    for table in (solved["values"].slice(1), pa.concat_tables([solved["values"]] * 2)):
        assert refuted(check_values(GAME, {**solved, "values": table})) == [None]
        assert refuted(check_strategies(GAME, {**solved, "values": table}))


def test_empty_tables_of_other_solvers_claim_nothing(learned, solved, answered):
    empty = {name: table.slice(0, 0) for name, table in {**learned, **solved, **answered}.items()}
    for mine, checks in (
        (learned, (check_curve, check_strategies, check_values)),
        (solved, (check_values, check_strategies)),
        (answered, (check_responses, check_exploitability)),
    ):
        assert [verdict for check in checks for verdict in check(GAME, {**empty, **mine}) if verdict.grade == "refuted"] == []


# ---- best replies ------------------------------------------------------------------------------------------------------------


def test_best_replies_are_proved(answered):
    verdicts = [*check_responses(GAME, answered), *check_exploitability(GAME, answered)]

    assert {verdict.grade for verdict in verdicts} == {"proved"}


@pytest.mark.parametrize("name", EXPLOITABILITY.names)
def test_harm_to_exploitability_is_refuted(answered, name):
    old = answered["exploitability"][name][0].as_py()
    for new in (None, "1/7" if isinstance(old, str) else np.nextafter(old, 2)):
        assert refuted(check_exploitability(GAME, put(answered, "exploitability", EXPLOITABILITY, 0, **{name: new}))) == [0]


@pytest.mark.parametrize(
    "values", [{"value": "1/7"}, {"value": None}, {"value_float": 0.1}, {"best": None}, {"best": False}, {"best": True}]
)
def test_harm_to_a_response_is_refuted(answered, values):
    rows = answered["responses"].to_pylist()
    index = next(at for at, row in enumerate(rows) if "best" not in values or row["best"] is not values["best"])

    assert refuted(check_responses(GAME, put(answered, "responses", RESPONSES, index, **values))) == [index]


def test_other_strategies_than_were_answered_are_refuted(answered):
    rows = answered["responses"].to_pylist()
    harmed = put(put(answered, "responses", RESPONSES, 0, probability="1/3"), "responses", RESPONSES, 1, probability="2/3")

    assert rows[0]["infoset"] == rows[1]["infoset"]
    assert refuted(check_responses(GAME, harmed))
    assert refuted(check_exploitability(GAME, harmed)) == [0]
    assert refuted(check_responses(GAME, put(answered, "responses", RESPONSES, 0, probability="1/3"))) == [None]


# ---- games without a move ------------------------------------------------------------------------------------------------------


NOBODY_MOVES = {
    "chance alone": 'EFG 2 R "t" { "A" "B" } c "" 1 "" { "h" 1/2 "t" 1/2 } 0 t "" 1 "" { 1, -1 } t "" 2 "" { 0, 0 }',
    "an end": 'EFG 2 R "t" { "A" "B" } t "" 1 "" { 1/2, -1/2 }',
}


@pytest.mark.parametrize("text", NOBODY_MOVES.values(), ids=NOBODY_MOVES)
@pytest.mark.parametrize(
    ("solver", "checks"),
    [
        (SequenceFormLp(), {check_values: "proved"}),
        (BestResponse(), {check_exploitability: "proved"}),
        (Cfr(60, trace=True), {check_curve: "recomputed"}),
    ],
    ids=["sequence_form_lp", "best_response", "cfr"],
)
def test_a_game_in_which_nobody_moves_has_a_value(text, solver, checks):
    game = EfgGame(File(text.encode()))
    tables = {name: table for name, table in solve(game, solver).tables.items() if len(table)}  # as they are stored

    for check, grade in checks.items():
        assert {verdict.grade for verdict in check(game, tables)} == {grade}


# ---- whatever the tables hold ------------------------------------------------------------------------------------------------

CHECKS = {
    check_curve: ("curve", CURVE),
    check_strategies: ("strategies", STRATEGIES),
    check_values: ("values", VALUES),
    check_responses: ("responses", RESPONSES),
    check_exploitability: ("exploitability", EXPLOITABILITY),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_wrong_types_are_refuted_not_raised(check, learned, solved, answered):
    name, schema = CHECKS[check]
    good = {**learned, **solved, **answered, "strategies": solved["strategies"]}
    if name == "curve":
        good = learned
    else:
        del good["curve"]
    count = len(good[name])
    for cells in ([None] * count, ["x"] * count, [[1]] * count, [True] * count, [b"\xff"] * count, [-(2**63)] * count):
        for one in schema.names:
            table = good[name].set_column(schema.get_field_index(one), one, pa.array(cells))
            same = table[one].to_pylist() == good[name][one].to_pylist()
            unjudged = one == "gamma" and cells[0] is None
            assert same or unjudged or refuted(check(GAME, {**good, name: table})), one
    for one in schema.names:
        assert refuted(check(GAME, {**good, name: good[name].drop_columns([one])}))
    assert refuted(check(GAME, {one: table for one, table in good.items() if one != name} | {"values": VALUES.empty_table()}))


def test_the_walk_is_the_same_in_floats_and_exactly():
    walk = Walk(KuhnPoker().form(GameTree))
    sigma = [Q(1, len(actions)) for actions in walk.tree.actions for _ in actions]
    plans, exact = walk.plans(np.array([float(one) for one in sigma])), walk.exact_plans(sigma)

    assert plans == pytest.approx([float(one) for one in exact])
    assert walk.mean(plans) == pytest.approx(float(walk.exact_mean(exact)))
    assert walk.exact_mean(exact) == Q(1, 8)
    for player, best in ((1, Q(1, 2)), (2, Q(5, 12))):
        assert walk.exact_best(player, exact) == best
        assert walk.best(player, plans) == pytest.approx(float(best))
