"""Laws of the sparse-space method, on random codes: it gives what the plain method gives, whatever is called rare."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.forms import HeapGame
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.rares import HeapRun, Rule, breaking_places
from solvers.impartial.sparse_space import SparseSpace
from solvers.inline import InlineWorkers

TOLD = ["rare_count", "last_rare", "mask", "parity"]


def of_digits(digits, unequal):
    while len(digits) > 1 and digits[-1] == 0:
        digits = digits[:-1]
    return HeapGame(tuple(digits), "0." + "".join(map(str, digits[1:])), unequal)


GAMES = st.builds(
    of_digits,
    st.builds(lambda first, rest: [first, *rest], st.sampled_from([0, 4]), st.lists(st.integers(0, 7), max_size=6)),
    st.booleans(),
)


def tables(solver, game):
    *_, result = solver.solve(game, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0))
    return result.tables


@given(GAMES, st.integers(0, 2500))
@settings(max_examples=150, deadline=None)
def test_both_methods_give_the_same_tables(game, heap_limit):
    sparse, plain = tables(SparseSpace(heap_limit), game), tables(MexDp(heap_limit), game)
    assert sparse["nimbers"].equals(plain["nimbers"])
    assert sparse["periods"].drop_columns(TOLD).equals(plain["periods"].drop_columns(TOLD))


@given(GAMES, st.integers(0, 63), st.sampled_from([None, 0, 1]), st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_any_mask_gives_the_same_nimbers(game, mask, parity, start):
    """Rule 3 of `solvers.impartial.rares`; with a parity only where rule 1 allows it."""
    if parity is not None and {place % 2 for place in breaking_places(game)} != {parity}:
        parity = None
    run = HeapRun(game, 400)
    run.extend(start)
    state = {**run.state(), "rule": np.array([mask, -1 if parity is None else parity, 0])}
    other = HeapRun(game, 400)
    other.restore(state)
    other.extend(400)
    assert (other.nimbers == tables(MexDp(400), game)["nimbers"]["nimber"].to_numpy()).all()
    if breaking_places(game):
        assert other.positions[: other.rare_count].tolist() == Rule(mask, parity).rare_heaps(other.nimbers).tolist()
