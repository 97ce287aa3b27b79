"""What is a zero-sum game tree worth, and which strategies guarantee it? By linear programs on the sequence form, exactly.

Each player's program asks for the plan whose worst case is best: as many variables as he has sequences and the other has
information sets (Koller, Megiddo & von Stengel 1994; von Stengel 1996). HiGHS solves both in floating point; what its vertices
mean is then solved in rational numbers (`solvers.regret.exact_plans`), and best replies to both plans, computed exactly, prove the
value: player 1 wins at least, player 2 loses at most that.

What it cannot do: list all equilibria, or refine them: where a player's own plan does not lead, all his actions are alike. Where
the exact step proves nothing, or the game's own numbers are rounded, the value is known as a float only and the table says so;
in the first case the point is incomplete.

Costs, on one core: Kuhn poker 10 ms, Leduc poker (1,093 sequences a player) 1 s, Liar's dice with six faces (24,571) 1 to 2
minutes, nearly all of it in HiGHS. Larger trees are refused: `MOST_ENDS`.

References
----------
Koller, Megiddo & von Stengel 1994, "Fast algorithms for finding randomized strategies in game trees"; von Stengel 1996, "Efficient
computation of behavior strategies".
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from solvers.contract import Checkpoint, Event, Progress, Result, Stop, Workers
from solvers.errors import InfeasibleGame
from solvers.forms import GameTree, SequenceForm, sequence_form
from solvers.forms.sequence import Sequences
from solvers.regret.exact_plans import Side, best_value, exact_plan, sides, sigma_of, slot_columns
from solvers.regret.tree_play import STRATEGIES
from solvers.schema import HeatMap, TableInfo, column, exact, table_schema

MOST_ENDS = 500_000
"""The programs of trees with more ends take HiGHS hours."""

VALUES = table_schema(
    [
        column(
            "value",
            pa.string(),
            "what player 2 pays player 1 on average when both play well, exact; null where only the float is known",
        ),
        column("value_float", pa.float64(), "the value, rounded"),
        column("method", pa.string(), "how it was found, and in which numbers"),
    ],
    TableInfo(
        check="solvers.regret.check:check_values",
        claims="recomputed",
        pictures=(HeatMap(("value_float",), "value of the game"),),
        about="The value of the game. Exact ones are proved: best replies to the strategies beside it show that both guarantee it.",
    ),
)

_EXACT, _FLOAT = "sequence form, exact", "sequence form, float64"
_TOLERANCES = (1e-9, 1e-7, 1e-11, 1e-6)
_FEASIBILITY = 1e-10  # the least HiGHS takes
_CLOSE = 1e-8  # an exact value nearer than this to the float one is taken for the right one, until the proof
_SMALL = 20_000  # sequences of both up to which the simplex method is faster than the interior point
_STEPS = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SequenceFormLp:
    """Solve a game tree by linear programs on its sequence form; exact.

    References
    ----------
    von Stengel 1996, "Efficient computation of behavior strategies", Games and Economic Behavior 14.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from solvers.forms.tree import Decision, Payoff, extract
    >>> from solvers.inline import InlineWorkers, last_result
    >>> def look(position):  # odd or even with fingers: player 1 wins 2 or 4 if the sum is even, else loses 3
    ...     if len(position) < 2:
    ...         return Decision(len(position) + 1, "", tuple((str(shown), (*position, shown)) for shown in (1, 2)))
    ...     return Payoff(Fraction((-1) ** sum(position) * sum(position)))
    >>> solver = SequenceFormLp()
    >>> events = solver.solve(extract((), look), resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    >>> tables = last_result(events, solver).tables
    >>> tables["values"]["value"].to_pylist(), tables["strategies"]["probability"].to_pylist()
    (['-1/12'], ['7/12', '5/12', '7/12', '5/12'])
    """

    version: ClassVar[int] = 1
    takes: ClassVar[type] = GameTree
    tables: ClassVar[Mapping[str, pa.Schema]] = {"values": VALUES, "strategies": STRATEGIES}
    extent: ClassVar[str | None] = None

    def refuses(self, game: object) -> str | None:
        """Say that the game is too large; None if not, or if it does not tell its `ends` before its form is built."""
        return _excess(getattr(game, "ends", 0))

    def cost(self, game: object) -> float:
        """Estimate seconds; a game that does not tell its `ends` is taken to have 5,000."""
        ends = float(getattr(game, "ends", 5000))
        return 0.01 + 5e-5 * ends + 3e-9 * ends**2

    def solve(self, game: GameTree, *, resume: Checkpoint | None, workers: Workers, rng: np.random.Generator) -> Iterator[Event]:
        """Yield progress after each program and each exact step, and the result.

        Thrown a `Stop` when both programs are solved, the floats are the result.

        Raises
        ------
        InfeasibleGame
            If the tree has more than `MOST_ENDS` or a payoff is beyond float64, or HiGHS gives up.
        """
        form = sequence_form(game)
        _refuse(form)
        guesses = []
        for done, side in enumerate(_float_sides(form), 1):
            guesses.append(_solve(side))
            yield Progress(done, _STEPS)
        found = (yield from _stoppable(form, guesses)) if game.is_exact else None
        if found is None:
            yield _float_result(form, guesses, complete=not game.is_exact)
        else:
            yield _exact_result(form, found)


def _excess(ends: int) -> str | None:
    if ends <= MOST_ENDS:
        return None
    return (
        f"a tree of {ends:,} ends is too large for linear programs, at most {MOST_ENDS:,} are solved; cfr_plus, pcfr_plus and "
        "mccfr_external approach an equilibrium of larger ones"
    )


def _refuse(form: SequenceForm) -> None:
    excess = _excess(len(form.ends[0]))
    if excess is not None:
        raise InfeasibleGame(excess)
    try:
        _ = form.payments
    except OverflowError:
        raise InfeasibleGame("a payoff is beyond float64: scale the payoffs down") from None


# ---- in floating point -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _FloatSide:
    """The game as one player sees it, payments to him in units of the largest."""

    mine: Sequences
    theirs: Sequences
    my: NDArray[np.int32]
    their: NDArray[np.int32]
    paid: Floats
    unit: float


@dataclass(frozen=True, eq=False)
class _Guess:
    """A vertex: his plan `[S]`, how far each of the other's sequences `[T]` is from best, the other's plan; what it guarantees."""

    plan: Floats
    slack: Floats
    price: Floats
    value: float
    unit: float


def _float_sides(form: SequenceForm) -> tuple[_FloatSide, _FloatSide]:
    unit = float(np.abs(form.payments).max()) or 1.0
    paid = form.payments / unit
    one, two = form.players
    return _FloatSide(one, two, form.rows, form.columns, paid, unit), _FloatSide(two, one, form.columns, form.rows, -paid, unit)


def _solve(side: _FloatSide) -> _Guess:
    """Maximise what a plan x guarantees: q_0 subject to F' q <= A' x, E x = e, x >= 0, where E and F say what plans are."""
    from scipy.optimize import linprog  # noqa: PLC0415 (costs most of a second)
    from scipy.sparse import coo_array, hstack  # noqa: PLC0415

    count, others = len(side.mine), len(side.theirs)
    earns = coo_array((side.paid, (side.their, side.my)), shape=(others, count))
    mine, theirs = _flow(side.mine), _flow(side.theirs)
    sets = theirs.shape[0]
    objective = np.zeros(count + sets)
    objective[count] = -1
    found = linprog(
        objective,
        A_ub=hstack([-earns, theirs.T]).tocsr(),
        b_ub=np.zeros(others),
        A_eq=hstack([mine, coo_array((mine.shape[0], sets))]).tocsr(),
        b_eq=np.eye(1, mine.shape[0]).reshape(-1),
        bounds=[(0, None)] * count + [(None, None)] * sets,
        method="highs-ds" if count + others <= _SMALL else "highs-ipm",
        options={
            "presolve": False,
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
        },
    )
    if found.status != 0:
        raise InfeasibleGame(f"HiGHS does not solve the program: {found.message}")
    return _Guess(found.x[:count], found.slack, -found.ineqlin.marginals, -found.fun * side.unit, side.unit)


def _flow(own: Sequences) -> Any:
    """Return the matrix E `[H + 1, S]` of what plans x are: E x = (1, 0, ... 0)."""
    from scipy.sparse import coo_array  # noqa: PLC0415

    sets, count = len(own.before), len(own)
    of_sets = np.arange(1, sets + 1)
    rows = np.concatenate([[0], np.repeat(of_sets, np.diff(own.first)), of_sets])
    columns = np.concatenate([np.arange(count), own.before])
    return coo_array((np.concatenate([np.ones(count), -np.ones(sets)]), (rows, columns)), shape=(sets + 1, count))


# ---- exactly -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Proof:
    """The value and both players' plans, which guarantee it."""

    value: Fraction
    plans: tuple[list[Fraction], list[Fraction]]


def _stoppable(form: SequenceForm, guesses: list[_Guess]) -> Generator[Progress, None, _Proof | None]:
    """Yield progress and return the proof; None if there is none, or if a `Stop` came."""
    both = sides(form)
    found = []
    try:
        for player in (0, 1):
            found.append(_guaranteed(both[player], both[1 - player], guesses[player]))
            yield Progress(len(guesses) + len(found), _STEPS)
    except Stop:
        return None
    one, two = found
    if one is None or two is None or one[0] != -two[0]:
        return None
    return _Proof(one[0], (one[1], two[1]))


def _guaranteed(side: Side, other: Side, guess: _Guess) -> tuple[Fraction, list[Fraction]] | None:
    """Return what the vertex means: the plan that guarantees most, and how much; None if no tolerance makes sense of it."""
    best = None
    for tolerance in _TOLERANCES:
        plan = exact_plan(side, guess.plan, guess.slack, guess.price, tolerance)
        if plan is not None:
            value = -best_value(other, plan)
            if best is None or value > best[0]:
                best = value, plan
            if math.isclose(value, guess.value, rel_tol=_CLOSE, abs_tol=_CLOSE * guess.unit):
                break
    return best


# ---- tables ------------------------------------------------------------------------------------------------------------------


def _exact_result(form: SequenceForm, proof: _Proof) -> Result:
    value, plans = proof.value, proof.plans
    digits = max(len(str(one.denominator)) for one in (value, *plans[0], *plans[1]))
    sigmas = [sigma_of(own, plan) for own, plan in zip(form.players, plans, strict=True)]
    values = {"value": [exact(value)], "value_float": [float(value)], "method": [_EXACT]}
    tables = {"values": pa.table(values, schema=VALUES), "strategies": _strategies(form.tree, sigmas, is_exact=True)}
    return Result(tables, {"value": float(value), "digits": float(digits)})


def _float_result(form: SequenceForm, guesses: list[_Guess], *, complete: bool) -> Result:
    value = (guesses[0].value - guesses[1].value) / 2
    sigmas = [_cleaned(own, guess.plan) for own, guess in zip(form.players, guesses, strict=True)]
    values = {"value": [None], "value_float": [value], "method": [_FLOAT]}
    tables = {"values": pa.table(values, schema=VALUES), "strategies": _strategies(form.tree, sigmas, is_exact=False)}
    return Result(tables, {"value": value}, complete)


def _cleaned(own: Sequences, plan: Floats) -> list[float]:
    """Return probabilities of last actions, `[S]`, that sum to 1 whatever HiGHS left."""
    sigma = np.ones(len(own))
    for h in range(len(own.before)):
        there = slice(own.first[h], own.first[h + 1])
        weights = np.where(plan[there] > _FEASIBILITY, plan[there], 0.0)
        total = weights.sum()
        sigma[there] = weights / total if total > 0 else 1 / len(weights)
    said: list[float] = sigma.tolist()
    return said


def _strategies(tree: GameTree, sigmas: list[Any], *, is_exact: bool) -> pa.Table:
    numbers: list[Any] = [None] * tree.slots
    for player, sigma in enumerate(sigmas, 1):
        for slot, probability in zip(np.flatnonzero(tree.slot_player == player).tolist(), sigma[1:], strict=True):
            numbers[slot] = probability
    return pa.table(
        {
            **slot_columns(tree),
            "probability": [exact(one) if is_exact else None for one in numbers],
            "probability_float": [float(one) for one in numbers],
        },
        schema=STRATEGIES,
    )
