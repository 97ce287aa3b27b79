"""Best replies to given strategies: published numbers, files of both kinds, what is refused."""

import io
from fractions import Fraction as Q

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from solvers import make, solve
from solvers.contract import File
from solvers.errors import ConfigError, ImpossiblePairing, InfeasibleGame
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.leduc_poker import LeducPoker
from solvers.games.liars_dice import LiarsDice
from solvers.games.rps_tree import RpsTree
from solvers.regret.best_response import BestResponse
from solvers.regret.cfr import Cfr
from solvers.regret.sequence_form_lp import SequenceFormLp
from solvers.regret.tree_play import STRATEGIES

GAME = KuhnPoker()


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return File(sink.getvalue())


def comma_separated(table):
    sink = io.BytesIO()
    pc.write_csv(table, sink)
    return File(sink.getvalue())


def row_of(game, solver):
    (row,) = solve(game, solver).tables["exploitability"].to_pylist()
    return row


@pytest.fixture(scope="module")
def average():
    return solve(GAME, Cfr(100)).tables["strategies"]


def with_rows(**changes):
    """The uniform strategies as rows, one of them (player 1 bets with the jack) changed."""
    rows = solve(GAME, BestResponse()).tables["responses"].select(["player", "infoset", "action", "probability"]).to_pylist()
    return [{**row, **changes} if (row["player"], row["infoset"], row["action"]) == (1, "J", "bet") else row for row in rows]


@pytest.mark.parametrize(
    ("game", "value", "exploitability"),
    [(GAME, "1/8", "11/24"), (LeducPoker(), "-5/64", "1709/720"), (LeducPoker(suit_isomorphism=True), "-5/64", "1709/720")],
)
def test_all_actions_alike(game, value, exploitability):  # OpenSpiel 2.0.2: NashConv 0.916666..., 4.747222...
    row = row_of(game, BestResponse())

    assert (row["value"], row["exploitability"]) == (value, exploitability)
    assert row["milli_antes"] == float(1000 * Q(exploitability))
    assert row["pot_percent"] == float(50 * Q(exploitability))


def test_an_equilibrium_gains_nothing():
    equilibrium = solve(GAME, SequenceFormLp()).tables["strategies"]

    row = row_of(GAME, BestResponse(comma_separated(equilibrium)))

    assert [row[name] for name in ("value", "gain_p1", "gain_p2", "exploitability")] == ["-1/18", "0", "0", "0"]


@pytest.mark.parametrize("write", [parquet, comma_separated])
def test_what_a_learner_stored_is_as_exploitable_as_openspiel_says(average, write):
    result = solve(GAME, BestResponse(write(average)))

    (row,) = result.tables["exploitability"].to_pylist()
    assert row["exploitability_float"] == pytest.approx(8.2259773159e-3, rel=1e-10)
    assert result.metrics["sets_adjusted"] > 0
    assert sum(Q(one) for one in result.tables["responses"]["probability"].to_pylist()) == 12


def test_parquet_and_csv_of_the_same_floats_are_the_same(average):
    one, other = (solve(GAME, BestResponse(write(average))).tables for write in (parquet, comma_separated))

    assert one == other


def test_a_game_without_ante_has_no_antes():
    row = row_of(RpsTree(), BestResponse())

    assert (row["exploitability"], row["milli_antes"], row["pot_percent"]) == ("0", None, None)


def test_responses_say_what_is_best():
    rows = solve(GAME, BestResponse()).tables["responses"].to_pylist()
    said = {(row["infoset"], row["action"]): (row["value"], row["best"]) for row in rows if row["player"] == 1}

    assert said["K", "bet"] == ("1/2", True)  # a third of the time 1 or 2 chips, alike
    assert said["J", "pass"] == ("-1/3", False)
    assert said["J", "bet"] == ("-1/6", True)


def test_sums_off_by_less_than_1e_9_are_made_up_by_the_likeliest():
    rows = with_rows(probability="0.4999999999")

    probabilities = solve(GAME, BestResponse(parquet(pa.Table.from_pylist(rows)))).tables["responses"]["probability"].to_pylist()

    assert "4999999999/10000000000" in probabilities
    assert "5000000001/10000000000" in probabilities


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"probability": "0.499999"}, "miss 1 by 1e-06"),
        ({"infoset": "J J"}, "has no probability for player 1 at 'J' of the action 'bet'"),
    ],
)
def test_what_does_not_fit_is_refused_while_planning(changes, said):
    solver = BestResponse(parquet(pa.Table.from_pylist(with_rows(**changes))))

    assert said in solver.refuses(GAME)
    with pytest.raises(ImpossiblePairing, match=r"solver\.strategies"):
        solve(GAME, solver)


def test_an_action_that_is_not_there_is_refused():
    rows = [*with_rows(), {"player": 1, "infoset": "Ace", "action": "bet", "probability": "1"}]

    assert "the game has no action 'bet' of player 1 at 'Ace'" in BestResponse(parquet(pa.Table.from_pylist(rows))).refuses(GAME)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the columns player"),
        ("player,infoset,action\n", "the columns player"),
        ("player,infoset,action,probability\n", "no row"),
        ("player,infoset,action,probability\n3,J,bet,1", "row 1: '3'"),
        ("player,infoset,action,probability\n1,J,bet,-1/2", "row 1: '-1/2'"),
        ("player,infoset,action,probability\n1,J,bet,nan", "row 1: 'nan'"),
        ("player,infoset,action,probability\n1,J,bet,1\n1,J,bet,0", "again"),
        ("point,player,infoset,action,probability\na,1,J,bet,1\nb,1,J,pass,0", "those of 2 points"),
        ("point,player,infoset,action,probability\na,1,J,bet,1\nb,1,J,bet,1", "those of 2 points"),
        ("player,infoset,action,probability\n1,J", "row 1"),
        ("player,infoset,action,probability\n1,J,bet", "row 1: None"),
        ("PAR1 and nothing else", "Parquet"),
    ],
)
def test_files_that_say_no_strategies(text, said):
    with pytest.raises(ConfigError) as caught:
        BestResponse(File(text.encode()))

    assert caught.value.path == "strategies"
    assert said in str(caught.value)


def test_uniform_is_the_default_and_other_words_are_files():
    assert make(BestResponse, strategies="uniform") == BestResponse()
    with pytest.raises(ConfigError, match="strategies"):
        make(BestResponse, strategies="unfirom")


def test_too_many_digits_are_refused():
    game = LiarsDice(dice=1, faces=3)
    rows = solve(game, BestResponse()).tables["responses"].select(["player", "infoset", "action"]).to_pylist()
    sets = {}
    for row in rows:
        sets.setdefault((row["player"], row["infoset"]), []).append(row)
    for number, actions in enumerate(sets.values()):
        prime = 10**60 + 2 * number + 1
        for row, above in zip(actions, [*[1] * (len(actions) - 1), prime - len(actions) + 1], strict=True):
            row["probability"] = f"{above}/{prime}"

    with pytest.raises(InfeasibleGame, match="digits"):
        solve(game, BestResponse(parquet(pa.Table.from_pylist(rows))))


def test_large_games_are_refused():
    assert "too large" in BestResponse().refuses(LiarsDice(dice=2, faces=6))


def test_empty_strategies_fit_no_game():
    with pytest.raises(ConfigError, match="no row"):
        BestResponse(parquet(STRATEGIES.empty_table()))
    assert np.isfinite(BestResponse().cost(GAME))
