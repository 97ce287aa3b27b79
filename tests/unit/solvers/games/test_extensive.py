"""The games that are trees: sizes, values and learning curves as published, and node by node as OpenSpiel has them."""

import csv
from fractions import Fraction as Q
from pathlib import Path

import pytest

from solvers import make, solve
from solvers.builder import plan_of
from solvers.errors import ConfigError
from solvers.forms import GameTree, sequence_form
from solvers.forms.tree import END
from solvers.games.goofspiel import Goofspiel
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.leduc_poker import LeducPoker
from solvers.games.liars_dice import LiarsDice
from solvers.games.rps_tree import RpsTree
from solvers.regret.cfr import Cfr
from solvers.regret.sequence_form_lp import SequenceFormLp

GAMES = {"kuhn_poker": KuhnPoker, "leduc_poker": LeducPoker, "liars_dice": LiarsDice, "goofspiel": Goofspiel}
FACTS = Path(__file__).parents[3] / "facts" / "efg.csv"
CFR_PLUS = Cfr(iterations=100, floor=True, gamma=1.0)


def facts(wanted="game"):
    with FACTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row[wanted]]
    return [pytest.param(row, id=f"{row['game']} {row['parameters']}".strip()) for row in rows]


def game_of(fact):
    given = dict(one.split("=") for one in fact["parameters"].split())
    texts = {"true": True, "false": False}
    return make(GAMES[fact["game"]], **{name: texts.get(value, value) for name, value in given.items()})


@pytest.fixture(scope="module")
def tree_of():
    trees = {}

    def build(game):
        if game not in trees:
            trees[game] = game.form(GameTree)
        return trees[game]

    return build


@pytest.mark.parametrize("fact", facts())
def test_sizes(fact, tree_of):
    tree = tree_of(game_of(fact))
    form = sequence_form(tree)
    sizes = tree.histories
    found = [sizes[name] for name in ("nodes", "ends", "chance_nodes", "infosets_p1", "infosets_p2")]
    names = ("histories", "terminal", "chance_nodes", "infosets_p1", "infosets_p2", "sequences_p1", "sequences_p2")
    assert [*found, *map(len, form.players)] == [int(fact[name]) for name in names]


@pytest.mark.parametrize("fact", facts("cfr_exploitability_100"))
@pytest.mark.parametrize("column", ["cfr_exploitability_100", "cfr_plus_exploitability_100"])
def test_cfr_is_as_exploitable_after_100_iterations(fact, column):
    solver = CFR_PLUS if "plus" in column else Cfr(iterations=100)
    curve = solve(game_of(fact), solver).tables["curve"].to_pylist()
    assert (curve[-1]["iteration"], curve[-1]["iterate"]) == (100, "average")
    assert curve[-1]["exploitability"] == pytest.approx(float(fact[column]), rel=0, abs=1e-10)


SMALL = [one for one in facts() if int(one.values[0]["histories"]) < 10_000]


@pytest.mark.parametrize("fact", SMALL)
def test_values_by_learning(fact):
    last = solve(game_of(fact), Cfr(iterations=1000, floor=True, gamma=1.0)).tables["curve"].to_pylist()[-1]
    assert last["exploitability"] < 1e-3
    assert abs(last["value_p1"] - float(fact["value_p1"])) <= 2 * last["exploitability"] + 1e-12


@pytest.mark.parametrize("fact", SMALL)
def test_exact_values(fact):
    (value,) = solve(game_of(fact), SequenceFormLp()).tables["values"].to_pylist()
    if fact["value_exact"]:
        assert value["value"] == fact["value_exact"]
    assert value["value_float"] == pytest.approx(float(fact["value_p1"]), rel=0, abs=1e-13)


@pytest.mark.parametrize(
    "game",
    [
        KuhnPoker(),
        LeducPoker(),
        LeducPoker(suit_isomorphism=True),
        LiarsDice(1, 1),
        LiarsDice(1, 4),
        LiarsDice(2, 2),
        Goofspiel(2),
        Goofspiel(4, "ascending", imperfect_information=False),
        Goofspiel(3, "random"),
        Goofspiel(4, "random"),
        RpsTree(),
    ],
    ids=str,
)
def test_sizes_are_known_before(game, tree_of):
    tree = tree_of(game)
    assert game.ends == tree.histories["ends"]
    assert getattr(game, "nodes", len(tree)) == len(tree)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (LiarsDice(2, 4), "its tree has 13,107,111 nodes, at most 4,000,000"),
        (LiarsDice(1000, 1000), "more than 1e+18 nodes, at most 4,000,000"),
        (Goofspiel(7), "its tree has 47,506,635 nodes"),
        (Goofspiel(6, "random"), "nodes, at most"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_too_large_a_tree_is_refused(game, said):
    assert said in game.refuses(GameTree)


def test_large_trees_that_do_are_not_refused():
    for game in (LiarsDice(), LiarsDice(2, 3), Goofspiel(6), Goofspiel(5, "random")):
        assert game.refuses(GameTree) is None


@pytest.mark.parametrize(
    ("cls", "fields", "path"),
    [(LiarsDice, {"dice": 0}, "dice"), (LiarsDice, {"faces": 0}, "faces"), (Goofspiel, {"cards": 1}, "cards")],
)
def test_out_of_range(cls, fields, path):
    with pytest.raises(ConfigError) as caught:
        make(cls, **fields)
    assert caught.value.path == path


def test_poker_knows_its_ante():
    assert LeducPoker().form(GameTree).ante == 1
    assert LiarsDice(1, 2).form(GameTree).ante is None


def test_several_dice_are_one_chance_move():
    tree = LiarsDice(2, 2).form(GameTree)
    assert tree.labels == ("11", "12", "22")
    assert tree.probabilities == (1, Q(1, 4), Q(1, 2))
    assert len(tree) == LiarsDice(2, 2).nodes


def test_total_score_of_goofspiel_counts_points():
    assert set(Goofspiel(3, score="total").form(GameTree).payoffs) == {0, 1, -1, 2, -2, 4, -4}


def test_rps_tree_is_any_matrix_game():
    tree = make(RpsTree, payoffs=[["1", "0"], ["-1/2", "3"], ["0", "0"]]).form(GameTree)
    assert tree.actions == (("rock", "paper", "scissors"), ("c1", "c2"))
    assert [tree.payoffs[paid] for paid in tree.payoff[tree.player == END]] == [1, 0, Q(-1, 2), 3, 0, 0]


def test_rps_tree_has_one_writing():
    named = make(RpsTree, row_actions=["rock", "paper", "scissors"])
    assert named == RpsTree()
    assert make(RpsTree, row_actions=["r1", "r2", "r3"]).form(GameTree).actions[0] == ("r1", "r2", "r3")
    with pytest.raises(ConfigError, match="3 entries"):
        make(RpsTree, payoffs=[["1", "2", "3"], ["1"]])


# ---- OpenSpiel ---------------------------------------------------------------------------------------------------------------

SAME = [
    ("kuhn_poker", KuhnPoker()),
    ("leduc_poker", LeducPoker()),
    ("leduc_poker(suit_isomorphism=true)", LeducPoker(suit_isomorphism=True)),
    ("liars_dice(numdice=1,dice_sides=3)", LiarsDice(1, 3)),
    ("liars_dice(numdice=1,dice_sides=4)", LiarsDice(1, 4)),
    ("goofspiel(num_cards=4,imp_info=true,points_order=descending)", Goofspiel(4)),
    ("goofspiel(num_cards=4,imp_info=true,points_order=ascending)", Goofspiel(4, "ascending")),
    ("goofspiel(num_cards=3,imp_info=true,points_order=random)", Goofspiel(3, "random")),
    ("matrix_rps", RpsTree()),
]


@pytest.mark.parametrize(("name", "game"), SAME, ids=[name for name, _ in SAME])
def test_node_by_node_as_openspiel(name, game, tree_of):
    pytest.importorskip("pyspiel")
    from solvers.games.openspiel import OpenSpiel

    ours, theirs = tree_of(game), OpenSpiel(name).form(GameTree)
    assert theirs.is_exact
    for column in ("parent", "move", "player", "infoset", "came_from", "infoset_player"):
        assert getattr(ours, column).tolist() == getattr(theirs, column).tolist(), column
    assert [ours.probabilities[one] for one in ours.probability] == [theirs.probabilities[one] for one in theirs.probability]
    paid = [[tree.payoffs[one] for one in tree.payoff[tree.player == END]] for tree in (ours, theirs)]
    assert paid[0] == paid[1]


@pytest.mark.parametrize(
    ("name", "game", "scale"),
    [
        ("liars_dice(numdice=2,dice_sides=2)", LiarsDice(2, 2), 1),
        (
            "goofspiel(num_cards=4,imp_info=true,points_order=descending,returns_type=point_difference)",
            Goofspiel(4, score="total"),
            Q(1, 2),
        ),
    ],
    ids=["several dice", "points"],
)
def test_sequence_form_as_openspiel(name, game, scale):
    pytest.importorskip("pyspiel")
    from solvers.games.openspiel import OpenSpiel

    ours, theirs = (sequence_form(one.form(GameTree)) for one in (game, OpenSpiel(name)))
    assert [len(player.infosets) for player in ours.players] == [len(player.infosets) for player in theirs.players]
    assert sorted(Q(scale) * paid for paid in ours.exact_payments()) == sorted(theirs.exact_payments())


def test_configs_are_the_classes_defaults():
    import yaml

    import conf

    for name in (*GAMES, "rps_tree", "efg", "openspiel"):
        node = yaml.safe_load((Path(conf.__file__).parent / f"game/{name}.yaml").read_text())
        cls = plan_of(node.pop("_target_")).cls
        assert make(cls, **node) == cls()
