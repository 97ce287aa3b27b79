"""The expected value of a matrix game as a polynomial in the players' probabilities, and the systems its derivatives make.

Player 1 plays each action with probability p_<action>, player 2 with q_<action>; the probabilities are carried along as
polynomials (FLINT), so what comes out is a formula, not a number. It is bilinear. Its derivative in p_<action> is what that action
earns against q, in q_<action> what that action costs player 2 against p. A player is willing to mix actions that do equally well:
so the difference of two derivatives set to 0 is an equation of *indifference*, and a support with the indifference equations of
its actions is the linear system that support enumeration solves (shown here, not solved). Neighbouring actions are enough: any
other difference is a sum of those.

The probabilities of a player sum to 1; this is not used to remove one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from solvers.contract import Checkpoint, Progress, Result, Workers
from solvers.equilibrium.expressions import variables, write_polynomial
from solvers.errors import InfeasibleGame
from solvers.forms import MatrixGame
from solvers.schema import TableInfo, column, table_schema

MOST_ENTRIES = 400
"""Games with more payoffs than this are refused: nobody reads such a formula."""

POLYNOMIALS = table_schema(
    [
        column("index", pa.int32(), "from 0: the expected value, then what actions earn, then indifferences", nullable=False),
        column(
            "kind", pa.string(), "value, earns (or costs: player 2's actions), indifferent (of two actions: 0 where they do alike)"
        ),
        column(
            "actions", pa.list_(pa.string()), "whose derivative this is, or between which two the difference; empty for the value"
        ),
        column("variables", pa.list_(pa.string()), "the probabilities of these actions, by which the value was derived"),
        column("expression", pa.string(), "a polynomial with exact coefficients in p_<row> and q_<column>"),
        column("terms", pa.int32(), "of how many terms it is the sum"),
    ],
    TableInfo(
        check="solvers.equilibrium.check.symbolic:check_polynomials",
        claims="proved",
        columns=("kind", "actions", "expression", "terms"),
        about="The expected value as a polynomial in both players' probabilities, its derivatives, and their differences.",
    ),
)

Polynomial = Any  # fmpq_mpoly; FLINT is untyped


@dataclass(frozen=True, slots=True)
class Symbolic:
    """Write the expected value and its derivatives as polynomials; exact; milliseconds for games one can read."""

    version: ClassVar[int] = 1
    takes: ClassVar[type] = MatrixGame
    tables: ClassVar[Mapping[str, pa.Schema]] = {"polynomials": POLYNOMIALS}
    extent: ClassVar[str | None] = None

    def solve(
        self, game: MatrixGame, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator
    ) -> Iterator[Progress | Checkpoint | Result]:
        """Yield the result.

        Raises
        ------
        InfeasibleGame
            If the game has more than `MOST_ENTRIES` payoffs.
        """
        too_large = _too_large(game.shape)
        if too_large is not None:
            raise InfeasibleGame(too_large)
        p, q = variables("p", game.row_actions), variables("q", game.column_actions)
        value = expected_value(game, (p, q))
        rows: list[tuple[str, tuple[str, ...], tuple[str, ...], Polynomial]] = [("value", (), (), value)]
        earnings = []
        for kind, actions, names in (("earns", game.row_actions, p), ("costs", game.column_actions, q)):
            one_player = [(kind, (action,), (name,), value.derivative(name)) for action, name in zip(actions, names, strict=True)]
            earnings.append(one_player)
            rows += one_player
        for one_player in earnings:
            for (_, action, name, first), (_, next_action, next_name, second) in pairwise(one_player):
                rows.append(("indifferent", action + next_action, name + next_name, first - second))
        yield Result({"polynomials": _table(rows, p + q)}, {"terms": len(value)})

    def refuses(self, game: Any) -> str | None:
        """Say that a game is too large; None if it is not or does not tell its `shape`."""
        shape: tuple[int, int] | None = getattr(game, "shape", None)
        return _too_large(shape) if shape is not None else None

    def cost(self, game: Any) -> float:
        """Return rough seconds."""
        m, n = getattr(game, "shape", None) or game.form(MatrixGame).shape
        return 1e-3 + float(min(m * n, MOST_ENTRIES)) * 1e-4


def expected_value(game: MatrixGame, names: tuple[Sequence[str], Sequence[str]]) -> Polynomial:
    """Return the expected value, player 1's probabilities called `names[0]`, player 2's `names[1]`.

    Examples
    --------
    >>> heads_tails = ("heads", "tails")
    >>> one, two = Fraction(1), Fraction(-1, 2)
    >>> expected_value(MatrixGame(((one, two), (two, one)), heads_tails, heads_tails), (("p1", "p2"), ("q1", "q2")))
    p1*q1 - 1/2*p1*q2 - 1/2*p2*q1 + p2*q2
    """
    context = fmpq_mpoly_ctx.get((*names[0], *names[1]), Ordering.lex)
    probabilities = context.gens()
    p, q = probabilities[: len(names[0])], probabilities[len(names[0]) :]
    value = context.constant(0)
    for chosen, payoffs in zip(p, game.payoffs, strict=True):
        against = context.constant(0)
        for met, payoff in zip(q, payoffs, strict=True):
            against += fmpq(payoff.numerator, payoff.denominator) * met
        value += chosen * against
    return value


def _too_large(shape: tuple[int, int]) -> str | None:
    m, n = shape
    if m * n <= MOST_ENTRIES:
        return None
    return f"a game of {m} x {n} actions has a polynomial of up to {m * n:,} terms, at most {MOST_ENTRIES:,} are written"


def _table(rows: Sequence[tuple[str, tuple[str, ...], tuple[str, ...], Polynomial]], names: tuple[str, ...]) -> pa.Table:
    return pa.table(
        {
            "index": range(len(rows)),
            "kind": [kind for kind, _, _, _ in rows],
            "actions": [list(actions) for _, actions, _, _ in rows],
            "variables": [list(by) for _, _, by, _ in rows],
            "expression": [_text(polynomial, names) for _, _, _, polynomial in rows],
            "terms": [len(polynomial) for _, _, _, polynomial in rows],
        },
        schema=POLYNOMIALS,
    )


def _text(polynomial: Polynomial, names: tuple[str, ...]) -> str:
    terms = [(exponents, Fraction(int(factor.p), int(factor.q))) for exponents, factor in polynomial.terms()]
    return write_polynomial(terms, names)
