"""Exact linear programs: both ways to an optimum, and what happens where floats mislead."""

from fractions import Fraction as Q

import numpy as np
import pytest

from solvers.equilibrium import linear
from solvers.equilibrium.linear import Program, finish, from_guess, independent_rows, is_unique, maximize, simplex, solve_game
from solvers.errors import ContractError


def proves(program, found):
    reached = [sum(a * z for a, z in zip(row, found.point, strict=True)) for row in program.rows]
    priced = [sum(u * row[j] for u, row in zip(found.dual, program.rows, strict=True)) for j in range(len(program.objective))]
    return (
        min(found.point) >= 0
        and min(found.dual) >= 0
        and all(one <= bound for one, bound in zip(reached, program.bounds, strict=True))
        and all(one >= gain for one, gain in zip(priced, program.objective, strict=True))
        and found.value == sum(c * z for c, z in zip(program.objective, found.point, strict=True))
        and found.value == sum(b * u for b, u in zip(program.bounds, found.dual, strict=True))
    )


def random_program(rng, lowest):
    m, n = (int(one) for one in rng.integers(1, 8, 2))
    rows = [*rng.integers(lowest, 4, (m, n)).tolist(), [1] * n]
    return Program(rng.integers(-3, 4, n).tolist(), rows, [*rng.integers(0, 3, m).tolist(), 5])


@pytest.mark.parametrize("lowest", [0, -3])
def test_pivots_and_guesses_find_the_same_value_and_prove_it(lowest):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(150):
        program = random_program(rng, lowest)

        pivoted, guessed = finish(simplex(program)), from_guess(program)

        assert proves(program, pivoted)
        if guessed is not None:
            held += 1
            assert proves(program, guessed)
            assert guessed.value == pivoted.value
    assert held > 140


BEALE = Program([75, -15000, 2, -600], [[25, -6000, -4, 900], [50, -9000, -2, 300], [0, 0, 1, 0]], [0, 0, 1])
"""Beale, "Cycling in the dual simplex algorithm", 1955, in integers (which scales its slacks, so that it need not cycle here)."""


def test_beales_program():
    assert finish(simplex(BEALE)).value == 5


def test_after_a_pivot_that_does_not_improve_the_choice_is_blands(monkeypatch):
    chosen = []
    entering = linear._entering

    def noting(costs, outside, *, greedy):
        chosen.append(greedy)
        return entering(costs, outside, greedy=greedy)

    monkeypatch.setattr(linear, "_entering", noting)
    finish(simplex(BEALE))

    assert chosen[:3] == [True, False, False]  # both constraints of bound 0 stop the first variables
    assert chosen[-1] is True


def test_blands_choice_is_the_first_variable():
    assert linear._entering([-1, -5, -2], [7, 4, 3], greedy=True) == 1
    assert linear._entering([-1, -5, -2], [7, 4, 3], greedy=False) == 2
    assert linear._entering([0, 1, 0], [7, 4, 3], greedy=False) is None
    assert linear._leaving([2, 1, 0, 1], [2, 1, 0, 1], [9, 5, 1, 6]) == 1
    assert linear._leaving([0, -1], [1, 1], [0, 1]) is None


def test_where_floats_see_no_difference_pivots_decide(monkeypatch):
    monkeypatch.setattr(linear, "_SMALL", 0)
    huge = 10**40
    payoffs = [[huge, huge + 2, huge], [huge + 2, huge, huge], [huge, huge, huge + 1]]
    spread = [[0, 2 * huge, 0, 1], [2 * huge, 0, 0, 1], [0, 0, huge, 1], [1, 1, 1, 0]]

    assert finish(solve_game(payoffs)).value == huge + Q(1, 2)
    play = finish(solve_game(spread))
    earned = [sum(a * w for a, w in zip(row, play.y, strict=True)) for row in spread]
    assert max(earned) == play.value * sum(play.y)
    assert play.pivots > 0


def test_programs_without_an_answer_are_refused():
    with pytest.raises(ContractError, match="no greatest value"):
        finish(maximize(Program([1], [[-1]], [1])))
    with pytest.raises(ContractError, match="negative"):
        finish(maximize(Program([1], [[1]], [-1])))


def test_pivots_are_reported_on_the_way():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 100, (30, 30)).tolist()

    assert list(simplex(Program([1] * 30, rows, [1] * 30)))[:1] == [20]


def test_independent_rows_of_nothing_and_of_zeros():
    assert independent_rows([]) == []
    assert independent_rows([[0, 0], [0, 3], [0, 5]]) == [1]


def test_uniqueness_is_claimed_only_where_it_is_proved():
    pennies, zeros = [[1, -1], [-1, 1]], [[0, 0], [0, 0]]

    assert is_unique(pennies, finish(solve_game(pennies)))
    assert not is_unique(zeros, finish(solve_game(zeros)))
    twins = [[1, 0], [1, 0], [0, 1]]
    assert not is_unique(twins, finish(solve_game(twins)))


@pytest.mark.parametrize(("size", "count"), [(3, 100), (10, 100), (50, 30)])
def test_guesses_hold_in_degenerate_games(size, count, monkeypatch):
    assert guesses_that_fail(size, count, monkeypatch) == 0


@pytest.mark.long
@pytest.mark.parametrize("size", [3, 10, 50])
def test_guesses_hold_in_a_thousand_degenerate_games(size, monkeypatch):
    assert guesses_that_fail(size, 1000, monkeypatch) == 0


def guesses_that_fail(size, count, monkeypatch):
    monkeypatch.setattr(linear, "_SMALL", 0)
    rng = np.random.default_rng(size)
    return sum(finish(solve_game(rng.integers(-1, 2, (size, size)).tolist())).pivots > 0 for _ in range(count))
