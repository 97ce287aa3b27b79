"""How far are given strategies on a game tree from an equilibrium? Exact best replies, what they gain, and which actions are best.

Nothing is searched: each player's best reply to the other's strategy is found set by set from the last moves up, in exact
fractions. The table `exploitability` says what the pair is worth, what each player would gain by his best reply, and NashConv / 2,
the mean of both: 0 exactly at an equilibrium. The table `responses` says for each action what it is worth if one goes on by best
replies, and whether it is best.

What it cannot do: find good strategies (`sequence_form_lp` does, exactly; `cfr_plus` on large trees).

Cost: some us an end of the game, and more with long numbers: Leduc poker 0.1 s with all actions alike, 0.3 s with floats from a
file. Answers of more than 4,300 digits are refused: give probabilities that share denominators, as floats do.

References
----------
Johanson et al. 2011, "Accelerating best response calculation in large extensive games"; exploitability as in Lanctot et al. 2019,
"OpenSpiel", arXiv:1908.09453: NashConv over the number of players.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Event, File, Progress, Result, Workers
from solvers.errors import ConfigError, ContractError, InfeasibleGame
from solvers.forms import GameTree, sequence_form
from solvers.regret.exact_plans import Side, best_replies, earned, mean_value, plan_of, sides, slot_columns, to_integers
from solvers.regret.given_strategies import Given, read, uniform
from solvers.schema import HeatMap, TableInfo, column, exact, table_schema

MOST_ENDS = 2_000_000
"""Trees with more would take minutes and gigabytes in exact numbers."""
_LOOKED_THROUGH = 10_000  # ends up to which a file is compared with the tree while planning: some 50 ms

EXPLOITABILITY = table_schema(
    [
        column(
            "value", pa.string(), "what player 2 pays player 1 on average, exact; null where the game's own numbers are rounded"
        ),
        column("gain_p1", pa.string(), "what player 1 would gain by a best reply, exact; null likewise"),
        column("gain_p2", pa.string(), "what player 2 would gain by a best reply, exact; null likewise"),
        column("exploitability", pa.string(), "NashConv / 2, the mean of both gains, exact; null likewise"),
        column("value_float", pa.float64(), "the value, rounded"),
        column("gain_p1_float", pa.float64(), "gain_p1, rounded"),
        column("gain_p2_float", pa.float64(), "gain_p2, rounded"),
        column("exploitability_float", pa.float64(), "exploitability, rounded"),
        column("milli_antes", pa.float64(), "exploitability in thousandths of an ante; null of games that have none"),
        column("pot_percent", pa.float64(), "exploitability in percent of the first pot, two antes; null likewise"),
    ],
    TableInfo(
        check="solvers.regret.check:check_exploitability",
        claims="recomputed",
        columns=("value_float", "gain_p1_float", "gain_p2_float", "exploitability", "exploitability_float", "milli_antes"),
        pictures=(HeatMap(("exploitability_float",), "exploitability"),),
        about="How far given strategies are from an equilibrium. One row; the strategies are in `responses`.",
    ),
)
RESPONSES = table_schema(
    [
        column("player", pa.int8(), "1 or 2"),
        column("infoset", pa.string(), "what the player knows there"),
        column("action", pa.string()),
        column("probability", pa.string(), "of the action in the given strategies, exact"),
        column(
            "value",
            pa.string(),
            "what the action earns its player if he plays to get there and goes on by best replies, times the probability "
            "that chance and the other let him; exact, null where the game's own numbers are rounded",
        ),
        column("value_float", pa.float64(), "the value, rounded"),
        column("best", pa.bool_(), "whether no action there has a higher value"),
    ],
    TableInfo(
        check="solvers.regret.check:check_responses",
        claims="recomputed",
        headline="none",
        about="Both players' best replies to the other's given strategy, with what each action is worth.",
    ),
)


@dataclass(frozen=True, slots=True)
class BestResponse:
    """Find both players' best replies to given strategies; exact.

    Attributes
    ----------
    strategies
        A CSV or Parquet file in the columns of the table `strategies` (see `solvers.regret.given_strategies`), both players'; or
        "uniform", all actions alike.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    InfeasibleGame
        While solving, if its strategies are not some of this game (of small games that is found while planning).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.forms.tree import Decision, Payoff, extract
    >>> from solvers.inline import InlineWorkers, last_result
    >>> def look(position):  # matching pennies, heads against heads for 2
    ...     if len(position) < 2:
    ...         return Decision(len(position) + 1, "", tuple((face, position + face) for face in "ht"))
    ...     return Payoff(Fraction({"hh": 2, "tt": 1}.get(position, -1)))
    >>> solver = BestResponse()
    >>> events = solver.solve(extract("", look), resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> last_result(events, solver).tables["exploitability"].select(["value", "gain_p1", "gain_p2", "exploitability"]).to_pylist()
    [{'value': '1/4', 'gain_p1': '1/4', 'gain_p2': '1/4', 'exploitability': '1/4'}]
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = GameTree
    tables: ClassVar[Mapping[str, pa.Schema]] = {"exploitability": EXPLOITABILITY, "responses": RESPONSES}
    extent: ClassVar[str | None] = None

    strategies: Literal["uniform"] | File = "uniform"

    def __post_init__(self) -> None:
        if isinstance(self.strategies, File):
            try:
                read(self.strategies)
            except ConfigError as error:
                raise error.under("strategies") from None

    def refuses(self, game: Any) -> str | None:
        """Say that the game is too large or the file not of this game; None if neither, or if it takes the tree to know."""
        ends = getattr(game, "ends", 0)
        excess = _excess(ends)
        if excess is not None or not 0 < ends <= _LOOKED_THROUGH or self.strategies == "uniform":
            return excess
        return _misfit(read(self.strategies), game.form(GameTree))

    def cost(self, game: object) -> float:
        """Estimate seconds; a game that does not tell its `ends` is taken to have 5,000."""
        return 0.005 + 3e-5 * float(getattr(game, "ends", 5000))

    def solve(self, game: GameTree, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress after each player's best reply, and the result."""
        excess = _excess(game.histories["ends"])
        if excess is not None:
            raise InfeasibleGame(excess)
        numbers, adjusted = self._given(game)
        replies = _Replies(game, numbers)
        form = sequence_form(game)
        plans = [plan_of(own, [Fraction(1), *(numbers[slot] for slot in own.slots.tolist())]) for own in form.players]
        both = sides(form)
        replies.value = mean_value(both[0], plans[0], plans[1])
        for player, side in enumerate(both):
            replies.take(side, plans[1 - player], replies.value if player == 0 else -replies.value)
            yield Progress(player + 1, len(both))
        yield Result(replies.tables(), replies.metrics(adjusted))

    def _given(self, game: GameTree) -> tuple[list[Fraction], int]:
        if not isinstance(self.strategies, File):
            return uniform(game), 0
        given = read(self.strategies)
        misfit = _misfit(given, game)
        if misfit is not None:
            raise InfeasibleGame(misfit)
        return given.strategies(game)


def _excess(ends: int) -> str | None:
    if ends <= MOST_ENDS:
        return None
    return (
        f"a tree of {ends:,} ends is too large for exact best replies, at most {MOST_ENDS:,} are looked through; the curves of "
        "cfr, cfr_plus and the like say how exploitable their own strategies are in floats"
    )


def _misfit(given: Given, game: GameTree) -> str | None:
    misfit = given.misfit(game)
    return f"solver.strategies: {misfit}" if misfit is not None else None


@dataclass(slots=True)
class _Replies:
    """What is known of the best replies to `numbers`, the given probability of each slot; by slot, and by player."""

    game: GameTree
    numbers: list[Fraction]
    value: Fraction = Fraction()
    gains: list[Fraction] = field(default_factory=list)
    values: dict[int, Fraction] = field(default_factory=dict)
    is_best: dict[int, bool] = field(default_factory=dict)

    def take(self, side: Side, theirs: list[Fraction], value: Fraction) -> None:
        """Add a player's best reply to the other's plan; `value` is what his own strategy earns him."""
        worth, scale = earned(side, to_integers(theirs))
        best_replies(side.mine, worth)
        first, slots = side.mine.first.tolist(), side.mine.slots.tolist()
        for begin, end in pairwise(first):
            most = max(worth[begin:end])
            for s in range(begin, end):
                self.values[slots[s - 1]] = Fraction(worth[s], scale)
                self.is_best[slots[s - 1]] = worth[s] == most
        gain = Fraction(worth[0], scale) - value
        if gain < 0:
            raise ContractError(f"a best reply gains {gain}")
        self.gains.append(gain)

    @property
    def exploitability(self) -> Fraction:
        return sum(self.gains, Fraction()) / 2

    def metrics(self, adjusted: int) -> dict[str, float]:
        rounded = _rounded(self.exploitability)
        return {"sets_adjusted": float(adjusted), **({} if rounded is None else {"exploitability": rounded})}

    def tables(self) -> dict[str, pa.Table]:
        game, ante = self.game, self.game.ante
        numbers = {"value": self.value, "gain_p1": self.gains[0], "gain_p2": self.gains[1], "exploitability": self.exploitability}
        values = [self.values[slot] for slot in range(game.slots)]
        try:
            row: dict[str, Any] = {name: exact(one) if game.is_exact else None for name, one in numbers.items()}
            responses = {
                **slot_columns(game),
                "probability": [exact(one) for one in self.numbers],
                "value": [exact(one) if game.is_exact else None for one in values],
                "value_float": [_rounded(one) for one in values],
                "best": [self.is_best[slot] for slot in range(game.slots)],
            }
        except ValueError:
            advice = "give floats, whose denominators are alike"
            raise InfeasibleGame(f"the exact answers have more digits than Python writes: {advice}") from None
        row |= {f"{name}_float": _rounded(one) for name, one in numbers.items()}
        row["milli_antes"] = None if ante is None else _rounded(1000 * self.exploitability / ante)
        row["pot_percent"] = None if ante is None else _rounded(50 * self.exploitability / ante)
        return {
            "exploitability": pa.Table.from_pylist([row], schema=EXPLOITABILITY),
            "responses": pa.table(responses, schema=RESPONSES),
        }


def _rounded(number: Fraction) -> float | None:
    try:
        return float(number)
    except OverflowError:
        return None
