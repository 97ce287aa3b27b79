"""Which actions can a reasonable player not want, and which remain when everybody knows that? Iterated elimination, exactly.

An action is dominated if another action or a mixture of others is better against every action of the other player (strictly), or
never worse and better once (weakly). In each round all dominated actions of both players go at once, judged in the game the round
began with; then the smaller game is looked at again. For strict dominance what remains does not depend on the order; for weak
dominance it does, and this simultaneous order is the convention here.

Mixtures are found by exact linear programming: the others' gains over the action are a zero-sum game against the opponent, and
its value is positive if and only if the action is strictly dominated. If it is not, the opponent's optimal mixture there is a
*belief* to which the action is a best reply (Pearce's lemma); for weak dominance, a belief that gives every action of the opponent
positive probability. Beliefs are stored: they prove that nothing more could go, and nothing sooner.

What it cannot do: list every dominating mixture; it names one, a pure one where there is one.

References
----------
Luce and Raiffa, "Games and Decisions", 1957. Pearce, "Rationalizable strategic behavior and the
problem of perfection", Econometrica 52, 1984, lemmas 3 and 4.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.linear import Integers, Program, Steps, lowest_terms, maximize, reported, scaled, solve_game
from solvers.equilibrium.tables import Weights, probabilities, support_text
from solvers.errors import InfeasibleGame
from solvers.forms import BimatrixGame
from solvers.schema import TableInfo, column, exact, table_schema

MOST_ENTRIES = 40_000
"""Larger games are refused: 200 x 200 still pass."""

DOMINANCE = table_schema(
    [
        column("round", pa.int32(), "from 1; all actions dominated in the game as a round finds it go together", nullable=False),
        column("player", pa.int32(), "1 or 2"),
        column("action", pa.string(), "the action that goes"),
        column("dominated_by", pa.string(), "the actions that are mixed to dominate it, joined by +"),
        column("strict", pa.bool_(), "whether the mixture is better against every action left, not only against some"),
        column("mixture", pa.list_(pa.string()), "the probability of each of the player's actions in that mixture, exact"),
        column(
            "belief",
            pa.list_(pa.string()),
            "why it did not go a round sooner: a mixture of the other player's actions to which it was a best reply then, exact; "
            "null in round 1, and where only pure actions may dominate",
        ),
    ],
    TableInfo(
        check="solvers.equilibrium.check.dominance:check_dominance",
        claims="proved",
        columns=("round", "player", "action", "dominated_by", "strict", "mixture"),
        about="Dominated actions, round by round, each with what dominates it. No rows if there are none.",
    ),
)
SURVIVORS = table_schema(
    [
        column("player", pa.int32(), "1 or 2"),
        column("action", pa.string(), "an action that nothing dominates once the dominated ones have gone"),
        column("kind", pa.string(), "strict or weak: what was looked for"),
        column("mixed", pa.bool_(), "whether mixtures may dominate, or only pure actions"),
        column(
            "belief",
            pa.list_(pa.string()),
            "a mixture of the other player's remaining actions to which it is a best reply, exact (with weak dominance: of all of "
            "them); null where only pure actions may dominate",
        ),
    ],
    TableInfo(
        check="solvers.equilibrium.check.dominance:check_survivors",
        claims="proved",
        columns=("player", "action", "kind", "mixed"),
        about="The actions that remain, each with the proof that nothing dominates it.",
    ),
)


@dataclass(frozen=True, slots=True)
class Dominance:
    """Eliminate dominated actions until none is left; exact.

    Costs one or two linear programs for each action and round: 10 x 10 actions some 30 ms a round, 30 x 30 some
    1 s, 100 x 100 a minute.

    Attributes
    ----------
    kind
        `strict`: only actions that something beats against every action of the other player; `weak`: also those that something
        never does worse than, and once better.
    mixed
        Whether a mixture may dominate, or only a pure action.

    Examples
    --------
    >>> from solvers import make, solve
    >>> from solvers.games.matrix import Matrix
    >>> middling = make(Matrix, payoffs=[["3", "0"], ["0", "3"], ["1", "1"]])
    >>> (row,) = solve(middling, Dominance()).tables["dominance"].to_pylist()
    >>> row["action"], row["dominated_by"], row["mixture"]
    ('r3', 'r1+r2', ['1/2', '1/2', '0'])
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = BimatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"dominance": DOMINANCE, "survivors": SURVIVORS}
    extent: ClassVar[str | None] = None

    kind: Literal["strict", "weak"] = "strict"
    mixed: bool = True

    def solve(
        self, game: BimatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield progress in actions looked at, and at the end what went and what remains.

        Raises
        ------
        InfeasibleGame
            If the game has more than `MOST_ENTRIES` pairs of actions.
        """
        too_large = _too_large(*game.shape)
        if too_large is not None:
            raise InfeasibleGame(too_large)
        transposed = [list(entries) for entries in zip(*scaled(game.b)[0], strict=True)]
        players = (_Player(1, game.row_actions, scaled(game.a)[0]), _Player(2, game.column_actions, transposed))
        gone: list[_Gone] = []
        rounds = looked_at = 0
        while True:
            going = yield from self._find_dominated(rounds + 1, players, looked_at)
            looked_at += sum(len(player.alive) for player in players)
            yield Progress(looked_at, metrics={"eliminated": len(gone) + len(going)})
            if not going:
                break
            for one in going:
                one.player.alive.remove(one.action)
            gone += going
            rounds += 1
        metrics = {"rounds": rounds, "rows_left": len(players[0].alive), "columns_left": len(players[1].alive)}
        yield Result({"dominance": _gone_table(gone, players), "survivors": self._survivors_table(players)}, metrics)

    def _find_dominated(self, number: int, players: Sequence[_Player], looked_at: int) -> Generator[Progress, None, list[_Gone]]:
        """Return what goes in this round; afterwards players hold the beliefs to which what stays is a best reply."""
        going = []
        for player, other in zip(players, reversed(players), strict=True):
            before, player.beliefs = player.beliefs, {}
            for action in player.alive:
                steps = _judge(player.payoffs, player.alive, other.alive, action, self.kind, mixed=self.mixed)
                dominator, player.beliefs[action] = yield from reported(steps, looked_at)
                looked_at += 1
                if dominator is not None:
                    going.append(_Gone(number, player, action, dominator, before.get(action)))
        return going

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(*shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds, for a round; a game that does not tell its `shape` is taken to be small."""
        m, n = getattr(game, "shape", (3, 3))
        return float((m + n) * (0.0002 + 5e-6 * m * n))

    def _survivors_table(self, players: Sequence[_Player]) -> pa.Table:
        rows = [
            {
                "player": player.number,
                "action": player.actions[action],
                "kind": self.kind,
                "mixed": self.mixed,
                "belief": _text(player.beliefs[action]),
            }
            for player in players
            for action in player.alive
        ]
        return pa.Table.from_pylist(rows, schema=SURVIVORS)


@dataclass(slots=True)
class _Player:
    """A player: payoffs `[own actions, other's actions]`, what is left, and the last beliefs to which those are best replies."""

    number: int
    actions: tuple[str, ...]
    payoffs: Integers
    alive: list[int] = field(init=False)
    beliefs: dict[int, Weights | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alive = list(range(len(self.actions)))


@dataclass(frozen=True, slots=True)
class _Dominator:
    """Weights of all the player's actions; whether the mixture is better everywhere."""

    weights: Weights
    strict: bool


@dataclass(frozen=True, slots=True)
class _Gone:
    round: int
    player: _Player
    action: int
    by: _Dominator
    belief: Weights | None


Judged = tuple[_Dominator | None, Weights | None]


def _judge(payoffs: Integers, mine: Sequence[int], theirs: Sequence[int], action: int, kind: str, *, mixed: bool) -> Steps[Judged]:
    """Return what dominates an action in the game of the actions left, or the belief that nothing does."""
    others = [k for k in mine if k != action]
    gains = [[payoffs[k][j] - payoffs[action][j] for j in theirs] for k in others]
    pure = _pure_dominator(gains, kind)
    if pure is not None:
        return _Dominator(_spread([1], [others[pure]], len(payoffs)), min(gains[pure]) > 0), None
    if not mixed:
        return None, None
    width = len(payoffs[0])
    if not others:
        return None, _spread([1] * len(theirs), theirs, width)
    play = yield from solve_game(gains)
    if play.value > 0:
        return _Dominator(_spread(play.x, others, len(payoffs)), strict=True), None
    if kind == "strict":
        return None, _spread(play.y, theirs, width)
    # The greatest sum of gains, none of them negative; its dual u, added to 1 everywhere, is a belief if that sum is 0.
    never_worse = [[-row[j] for row in gains] for j in range(len(theirs))]
    best = yield from maximize(Program([sum(row) for row in gains], [*never_worse, [1] * len(others)], [0] * len(theirs) + [1]))
    if best.value > 0:
        return _Dominator(_spread(lowest_terms(best.point), others, len(payoffs)), strict=False), None
    return None, _spread(lowest_terms([1 + price for price in best.dual[:-1]]), theirs, width)


def _pure_dominator(gains: Integers, kind: str) -> int | None:
    """Return the first row of gains that dominates, a strict one rather than a weak one."""
    for place, row in enumerate(gains):
        if min(row) > 0:
            return place
    if kind == "weak":
        for place, row in enumerate(gains):
            if min(row) == 0 < max(row):
                return place
    return None


def _spread(weights: Sequence[int], places: Sequence[int], count: int) -> Weights:
    spread = [0] * count
    for place, weight in zip(places, weights, strict=True):
        spread[place] = weight
    return tuple(spread)


def _text(weights: Weights | None) -> list[str] | None:
    return None if weights is None else [exact(one) for one in probabilities(weights)]


def _gone_table(gone: Sequence[_Gone], players: Sequence[_Player]) -> pa.Table:
    rows = [
        {
            "round": one.round,
            "player": one.player.number,
            "action": one.player.actions[one.action],
            "dominated_by": support_text(one.by.weights, one.player.actions),
            "strict": one.by.strict,
            "mixture": _text(one.by.weights),
            "belief": _text(one.belief),
        }
        for one in gone
    ]
    return pa.Table.from_pylist(rows, schema=DOMINANCE)


def _too_large(rows: int, columns: int) -> str | None:
    if rows * columns <= MOST_ENTRIES:
        return None
    return (
        f"a game of {rows} x {columns} actions has {rows * columns:,} pairs of actions, at most {MOST_ENTRIES:,} are looked at; "
        "of a zero-sum game exact_lp finds an equilibrium at once"
    )
