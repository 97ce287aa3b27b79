"""Rules that tell rare heaps from common ones, and runs that use them."""

import numpy as np
import pytest

from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.rares import LARGEST, HeapRun, NimberTooLarge, Rule, best_rule, breaking_places
from solvers.inline import solve


def form(code):
    return Octal(code).form(HeapGame)


def plain(code, heap_limit):
    return solve(Octal(code), MexDp(heap_limit)).tables["nimbers"]["nimber"].to_numpy().astype(np.uint16)


def is_rare(heap, nimber, rule):
    """In the words of rule 1."""
    phi = (nimber & rule.mask).bit_count() % 2
    return phi == (0 if rule.parity is None else (heap + rule.parity) % 2)


@pytest.mark.parametrize("rule", [Rule(1), Rule(7), Rule(6, 0), Rule(5, 1)])
def test_rare_heaps_are_those_of_the_rule(rule):
    nimbers = plain("0.156", 500)
    wanted = [heap for heap in range(1, 501) if is_rare(heap, int(nimbers[heap]), rule)]
    assert rule.rare_heaps(nimbers).tolist() == wanted


@pytest.mark.parametrize("code", ["0.77", "0.6", "0.104", "0.207", "0.04"])
def test_no_rule_makes_fewer_heaps_rare(code):
    nimbers = plain(code, 400)
    parities = {place % 2 for place in breaking_places(form(code))}
    kinds = [None, *parities] if len(parities) == 1 else [None]
    counts = {
        Rule(mask, parity): sum(is_rare(heap, int(nimbers[heap]), Rule(mask, parity)) for heap in range(1, 401))
        for mask in range(64)
        for parity in kinds
    }
    assert counts[best_rule(nimbers, form(code))] == min(counts.values())


@pytest.mark.parametrize("code", ["0.104", "0.106", "0.127", "0.205", "0.207", "0.324"])
def test_games_that_need_a_parity(code):
    """Of the plain rule's best mask at least twice as many heaps are rare; the list is the field's folklore."""
    nimbers = plain(code, 4000)
    rule = best_rule(nimbers, form(code))
    assert rule.parity is not None
    masks = range(1 << int(nimbers.max()).bit_length())
    fewest = min(len(Rule(mask).rare_heaps(nimbers)) for mask in masks)
    assert 2 * len(rule.rare_heaps(nimbers)) < fewest


def test_a_parity_is_for_breaking_places_of_one_parity():
    assert breaking_places(form("4.077")) == (0, 2, 3)
    assert best_rule(plain("4.077", 300), form("4.077")).parity is None


def test_rare_heaps_of_grundys_game_stop():
    """1273 rare heaps, the last 82860 (A. Flammenkamp's table of Grundy's game; mask 254)."""
    run = HeapRun(HeapGame((4,), "Grundy's game", unequal=True), 131_072)
    for choice in 2 ** np.arange(6, 18):
        run.extend(int(choice))
        run.choose()
    assert (run.rare_count, int(run.positions[run.rare_count - 1])) == (1273, 82860)


@pytest.mark.parametrize("code", ["0.77", "0.104", "4.07"])
def test_steps_of_any_size_give_the_same_run(code):
    whole, stepwise = HeapRun(form(code), 3000), HeapRun(form(code), 3000)
    whole.extend(1000)
    whole.choose()
    whole.extend(3000)
    for last in [1, 2, 17, 18, 400, 999, 1000]:
        stepwise.extend(last)
    stepwise.choose()
    for last in [*range(1001, 1100), 2500, 3000]:
        stepwise.extend(last)
    assert (whole.nimbers == stepwise.nimbers).all()
    assert whole.rares() == stepwise.rares()
    assert whole.most_looks == stepwise.most_looks


def test_a_restored_run_goes_on_alike():
    run = HeapRun(form("0.104"), 3000)
    run.extend(1024)
    run.choose()
    run.extend(2000)
    state = {name: array.copy() for name, array in run.state().items()}
    again = HeapRun(form("0.104"), 3000)
    again.restore(state)
    for one in (run, again):
        one.extend(3000)
    assert (run.nimbers == again.nimbers).all()
    assert (run.rares(), run.most_looks, run.max_nimber) == (again.rares(), again.most_looks, again.max_nimber)
    assert run.values[: run.rare_count].tolist() == again.values[: again.rare_count].tolist()


def test_marks_grow_with_the_nimbers():
    """0.33...3 with 3000 digits: G(n) = n up to 3000, far beyond the first marks."""
    run = HeapRun(form("0." + "3" * 3000), 3100)
    run.extend(3100)
    assert (run.nimbers == np.arange(3101) % 3001).all()


def test_nimbers_too_large_are_an_error_that_says_what_would_do():
    run = HeapRun(form("0." + "3" * 40_000), 36_000)
    with pytest.raises(NimberTooLarge, match=rf"a nimber of {LARGEST} by heap {LARGEST}: .* below {LARGEST}; mex_dp takes larger"):
        run.extend(36_000)
    assert run.done == LARGEST


def test_games_without_breaking_digits_have_no_rares():
    run = HeapRun(form("0.3"), 100_000)
    run.extend(64)
    run.choose()
    run.extend(100_000)
    assert run.rares() is None
    assert run.rare_count == 0
