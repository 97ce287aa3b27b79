"""Two learners of a zero-sum matrix game, iteration by iteration: the kernels behind every learner on matrix games.

A player remembers one number for each action. In each iteration he chooses a strategy by them, hears what each action would have
earned, and learns. There are three ways to choose:

MATCH   in proportion to positive regrets (regret matching and its kin)
WEIGH   in proportion to the exponential of what actions would have earned (Hedge)
LEAD    the action that would have earned most, the first of several (fictitious play)

Rules
-----
1. Iteration t: both players choose; player 1 learns against player 2's strategy; then player 2 learns, if `alternating` against the
   strategy that player 1 has just learnt (the one of iteration t + 1), else against the one of iteration t. What both chose at its
   beginning is what iteration t *played*, and is added to the averages with weight t^gamma.
2. To MATCH, R <- R + r, r being what each action earned beyond what the strategy did; then negative ones become 0 if `floor`. A
   `predictive` player chooses by R + r instead of R: r once more, as the guess of what comes.
3. With `smooth` > 0, R (and R + r) become the nearest vector that is nonnegative and sums to at least that many units.
4. Every number of a game is computed by the same operations in the same order, however many games a call has: games stand side by
   side in *lanes* where there are many, alone where there are few, and no bit differs.

Glossary: a payoffs `[m, n]`; of player 1 and 2: r, q memory; s, c sums of strategies; x, y strategies; g, h guesses; u, w what each
action pays player 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MATCH, WEIGH, LEAD = 0, 1, 2
MEMORY, SUMS, PLAYED, GUESS = 0, 1, 2, 3
"""Rows of a state `[4, m + n]`, player 1's part first."""

_LANES = 64  # games side by side: as many as fit into the first cache
_FEW = 16  # fewer are faster one by one
_LARGE = 400  # payoffs of a game that is faster alone: its lanes would fill the second cache

# exp: x = k ln 2 + z, e^x = 2^k e^z, |z| <= ln 2 / 2, a polynomial of which the next term is below 2^-56
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 x 2^52: what is added to it is rounded to a whole number
_LEAST_EXPONENT = -708.0
_POWERS = np.ldexp(1.0, -np.arange(1023))


class Rules(NamedTuple):
    """How both players choose and learn.

    `rate` is a fixed learning rate per unit, `horizon` the number of iterations for which it is tuned; 0: neither.
    """

    choose: int
    floor: bool = False
    predictive: bool = False
    smooth: float = 0.0
    alternating: bool = False
    gamma: float = 0.0
    both_learn: bool = True
    rate: float = 0.0
    horizon: float = 0.0


def play(  # noqa: PLR0917 (as the kernels take them)
    rules: Rules, units: Floats, payoffs: Floats, payoffs_by_column: Floats, states: Floats, done: int, steps: int
) -> None:
    """Do the iterations done + 1 ... done + steps of games of one shape, in place.

    Parameters
    ----------
    units
        `[games]`, positive: the unit of rates and of `smooth`, in payoff units.
    payoffs, payoffs_by_column
        `[games, m, n]` and `[games, n, m]`.
    states
        `[games, 4, m + n]`.
    """
    games, m, n = payoffs.shape
    together = 0
    if m * n <= _LARGE and rules.smooth == 0:
        together = games - games % _LANES if games % _LANES < _FEW else games
    if together:
        _play_in_lanes(rules, units[:together], payoffs[:together], states[:together], done, steps)
    if together < games:
        _play_alone(rules, units[together:], payoffs[together:], payoffs_by_column[together:], states[together:], done, steps)


# ---- one game ----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _play_alone(  # noqa: PLR0917 (numba takes positions)
    rules: Rules, units: Floats, payoffs: Floats, payoffs_by_column: Floats, states: Floats, done: int, steps: int
) -> None:
    for game in range(len(payoffs)):
        _play_one(rules, units[game], payoffs[game], payoffs_by_column[game], states[game], done, steps)


@njit(cache=True)
def _play_one(  # noqa: C901, PLR0917 (the algorithm)
    rules: Rules, unit: float, a: Floats, by_column: Floats, state: Floats, done: int, steps: int
) -> None:
    m, n = a.shape
    r, s, x, g = state[MEMORY, :m], state[SUMS, :m], state[PLAYED, :m], state[GUESS, :m]
    q, c, y, h = state[MEMORY, m:], state[SUMS, m:], state[PLAYED, m:], state[GUESS, m:]
    u, w, ahead = np.empty(m), np.empty(n), np.empty(m)
    for t in range(done + 1, done + steps + 1):
        weight = _weight(rules, t)
        if rules.alternating and t > done + 1:
            x[:] = ahead
        else:
            _choose(rules, unit, t, r, g, x)
        if rules.both_learn:
            _choose(rules, unit, t, q, h, y)
        mix(by_column, y, u)
        value = 0.0
        for i in range(m):
            value += x[i] * u[i]
        _learn(rules, unit, 1.0, value, u, r, g)
        for i in range(m):
            s[i] += weight * x[i]
        if rules.alternating:
            _choose(rules, unit, t + 1, r, g, ahead)
        if rules.both_learn:
            if rules.alternating:
                mix(a, ahead, w)
                value = 0.0
                for j in range(n):
                    value += y[j] * w[j]
            else:
                mix(a, x, w)
            _learn(rules, unit, -1.0, value, w, q, h)
            for j in range(n):
                c[j] += weight * y[j]


@njit(cache=True, forceinline=True)
def _weight(rules: Rules, t: int) -> float:
    return 1.0 if rules.gamma == 0 else float(t) ** rules.gamma


@njit(cache=True, forceinline=True)
def _rate(rules: Rules, actions: int, t: int) -> float:
    """Return the rate of iteration t per unit: fixed, or tuned to the horizon or to t itself."""
    if rules.rate > 0:
        return rules.rate
    return math.sqrt(8 * math.log(actions) / (rules.horizon if rules.horizon > 0 else t))


@njit(cache=True, forceinline=True)
def _choose(rules: Rules, unit: float, t: int, memory: Floats, guess: Floats, strategy: Floats) -> None:  # noqa: PLR0917
    """Write the strategy of iteration t."""
    if rules.choose == MATCH:
        _match(memory, guess, rules.smooth * unit, strategy)
    elif rules.choose == WEIGH:
        _weigh(memory, _rate(rules, len(memory), t), unit, strategy)
    else:
        strategy[:] = 0.0
        strategy[np.argmax(memory)] = 1.0


@njit(cache=True, forceinline=True)
def _match(regrets: Floats, guess: Floats, least: float, strategy: Floats) -> None:
    total = 0.0
    if least > 0:
        for i in range(len(regrets)):
            strategy[i] = regrets[i] + guess[i]
        _raise_sum(strategy, least)
        for i in range(len(regrets)):
            total += strategy[i]
    else:
        for i in range(len(regrets)):
            hope = regrets[i] + guess[i]  # the guess is 0 if there is none
            strategy[i] = hope if hope > 0 else 0.0
            total += strategy[i]
    for i in range(len(regrets)):
        strategy[i] = strategy[i] / total if total > 0 else 1 / len(regrets)


@njit(cache=True, forceinline=True)
def _weigh(earned: Floats, rate: float, unit: float, strategy: Floats) -> None:
    most, total = earned.max(), 0.0
    for i in range(len(earned)):
        strategy[i] = _exp(rate * ((earned[i] - most) / unit))
        total += strategy[i]
    for i in range(len(earned)):
        strategy[i] /= total


@njit(cache=True, forceinline=True)
def _learn(  # noqa: PLR0917
    rules: Rules, unit: float, sign: float, value: float, pays: Floats, memory: Floats, guess: Floats
) -> None:
    """Let a player learn what each action pays player 1; `sign` is -1 for player 2, who pays it."""
    if rules.choose != MATCH:
        for i in range(len(memory)):
            memory[i] += sign * pays[i]
        return
    floors = rules.floor and rules.smooth == 0
    for i in range(len(memory)):
        regret = sign * (pays[i] - value)
        new = memory[i] + regret
        memory[i] = 0.0 if floors and not new > 0 else new
        if rules.predictive:
            guess[i] = regret
    if rules.smooth > 0:
        _raise_sum(memory, rules.smooth * unit)


@njit(cache=True, error_model="numpy")
def _raise_sum(vector: Floats, least: float) -> None:
    """Replace a vector by the nearest one that is nonnegative and sums to at least `least` (Michelot's algorithm)."""
    total = 0.0
    for i in range(len(vector)):
        total += max(0.0, vector[i])
    if total >= least:
        for i in range(len(vector)):
            vector[i] = max(0.0, vector[i])
        return
    kept, shift = 0, -math.inf
    while True:
        count, total = 0, 0.0
        for i in range(len(vector)):
            if vector[i] > shift:
                count += 1
                total += vector[i]
        if count == kept:
            break
        kept, shift = count, (total - least) / count
    for i in range(len(vector)):
        vector[i] = max(0.0, vector[i] - shift)


@njit(cache=True, forceinline=True)
def _exp(number: float) -> float:
    """Return the exponential of a number that is not above 0, within two units in the last place; 0 below -708.

    Ours, so that it is the same in lanes and alone, on every machine.
    """
    number = max(number, _LEAST_EXPONENT)
    whole = (number * _LOG2_E + _ROUND) - _ROUND
    z = (number - whole * _LN2_HIGH) - whole * _LN2_LOW
    e = 1 / 479001600
    e = e * z + 1 / 39916800
    e = e * z + 1 / 3628800
    e = e * z + 1 / 362880
    e = e * z + 1 / 40320
    e = e * z + 1 / 5040
    e = e * z + 1 / 720
    e = e * z + 1 / 120
    e = e * z + 1 / 24
    e = e * z + 1 / 6
    e = e * z + 0.5
    e = e * z + 1.0
    e = e * z + 1.0
    return e * _POWERS[int(-whole)] if number > _LEAST_EXPONENT else 0.0


@njit(cache=True, forceinline=True)
def mix(rows: Floats, weights: Floats, out: Floats) -> None:
    """Write `weights @ rows`; rows of weight 0 (there are many) cost nothing."""
    out[:] = 0.0
    for i in range(len(weights)):
        if weights[i] > 0:
            for j in range(len(out)):
                out[j] += weights[i] * rows[i, j]


# ---- many games, the same operations -----------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def _play_in_lanes(rules: Rules, units: Floats, payoffs: Floats, states: Floats, done: int, steps: int) -> None:  # noqa: PLR0917
    games, m, n = payoffs.shape
    a, state, unit = np.zeros((m, n, _LANES)), np.zeros((4, m + n, _LANES)), np.ones(_LANES)
    for begin in range(0, games, _LANES):
        filled = min(_LANES, games - begin)
        for lane in range(filled):
            a[:, :, lane] = payoffs[begin + lane]
            state[:, :, lane] = states[begin + lane]
            unit[lane] = units[begin + lane]
        _play_lanes(rules, unit, a, state, done, steps)
        for lane in range(filled):
            states[begin + lane] = state[:, :, lane]


@njit(cache=True, error_model="numpy")
def _play_lanes(  # noqa: C901, PLR0912, PLR0917 (the algorithm once more)
    rules: Rules, unit: Floats, a: Floats, state: Floats, done: int, steps: int
) -> None:
    """Do what `_play_one` does in every lane; `a` `[m, n, lanes]`, `state` `[4, m + n, lanes]`."""
    m, n, _ = a.shape
    r, s, x, g = state[MEMORY, :m], state[SUMS, :m], state[PLAYED, :m], state[GUESS, :m]
    q, c, y, h = state[MEMORY, m:], state[SUMS, m:], state[PLAYED, m:], state[GUESS, m:]
    u, w, ahead, value = np.empty((m, _LANES)), np.empty((n, _LANES)), np.empty((m, _LANES)), np.empty(_LANES)
    for t in range(done + 1, done + steps + 1):
        weight = _weight(rules, t)
        if rules.alternating and t > done + 1:
            x[:] = ahead
        else:
            _choose_lanes(rules, unit, t, r, g, x)
        if rules.both_learn:
            _choose_lanes(rules, unit, t, q, h, y)
        for i in range(m):
            for lane in range(_LANES):
                u[i, lane] = 0.0
        for j in range(n):
            for i in range(m):
                for lane in range(_LANES):
                    u[i, lane] += y[j, lane] * a[i, j, lane]
        _dot_lanes(x, u, value)
        _learn_lanes(rules, 1.0, value, u, r, g)
        _add_lanes(weight, x, s)
        if rules.alternating:
            _choose_lanes(rules, unit, t + 1, r, g, ahead)
        if rules.both_learn:
            for j in range(n):
                for lane in range(_LANES):
                    w[j, lane] = 0.0
            if rules.alternating:
                _mix_lanes(a, ahead, w)
                _dot_lanes(y, w, value)
            else:
                _mix_lanes(a, x, w)
            _learn_lanes(rules, -1.0, value, w, q, h)
            _add_lanes(weight, y, c)


@njit(cache=True, error_model="numpy")
def _mix_lanes(a: Floats, x: Floats, w: Floats) -> None:
    for i in range(len(x)):
        for j in range(len(w)):
            for lane in range(_LANES):
                w[j, lane] += x[i, lane] * a[i, j, lane]


@njit(cache=True, error_model="numpy")
def _dot_lanes(strategy: Floats, pays: Floats, value: Floats) -> None:
    for lane in range(_LANES):
        value[lane] = 0.0
    for i in range(len(strategy)):
        for lane in range(_LANES):
            value[lane] += strategy[i, lane] * pays[i, lane]


@njit(cache=True, error_model="numpy")
def _add_lanes(weight: float, strategy: Floats, sums: Floats) -> None:
    for i in range(len(strategy)):
        for lane in range(_LANES):
            sums[i, lane] += weight * strategy[i, lane]


@njit(cache=True, error_model="numpy")
def _choose_lanes(rules: Rules, unit: Floats, t: int, memory: Floats, guess: Floats, strategy: Floats) -> None:  # noqa: PLR0917
    if rules.choose == MATCH:
        for i in range(len(memory)):
            for lane in range(_LANES):
                hope = memory[i, lane] + guess[i, lane]
                strategy[i, lane] = hope if hope > 0 else 0.0
        _normalise_lanes(strategy)
    elif rules.choose == WEIGH:
        rate, most = _rate(rules, len(memory), t), np.empty(_LANES)
        _most_in_lanes(memory, most)
        for i in range(len(memory)):
            for lane in range(_LANES):
                strategy[i, lane] = _exp(rate * ((memory[i, lane] - most[lane]) / unit[lane]))
        _normalise_lanes(strategy)
    else:
        most, led = np.empty(_LANES), np.zeros(_LANES)
        _most_in_lanes(memory, most)
        for i in range(len(memory)):
            for lane in range(_LANES):
                leads = 1.0 - led[lane] if memory[i, lane] == most[lane] else 0.0
                strategy[i, lane] = leads
                led[lane] += leads


@njit(cache=True, error_model="numpy")
def _most_in_lanes(memory: Floats, most: Floats) -> None:
    for lane in range(_LANES):
        most[lane] = memory[0, lane]
    for i in range(1, len(memory)):
        for lane in range(_LANES):
            most[lane] = memory[i, lane] if memory[i, lane] > most[lane] else most[lane]  # noqa: FURB136 (max heeds NaN)


@njit(cache=True, error_model="numpy")
def _normalise_lanes(strategy: Floats) -> None:
    total = np.zeros(_LANES)
    for i in range(len(strategy)):
        for lane in range(_LANES):
            total[lane] += strategy[i, lane]
    for i in range(len(strategy)):
        for lane in range(_LANES):
            strategy[i, lane] = strategy[i, lane] / total[lane] if total[lane] > 0 else 1 / len(strategy)


@njit(cache=True, error_model="numpy")
def _learn_lanes(  # noqa: PLR0917
    rules: Rules, sign: float, value: Floats, pays: Floats, memory: Floats, guess: Floats
) -> None:
    if rules.choose != MATCH:
        for i in range(len(memory)):
            for lane in range(_LANES):
                memory[i, lane] += sign * pays[i, lane]
        return
    for i in range(len(memory)):
        for lane in range(_LANES):
            regret = sign * (pays[i, lane] - value[lane])
            new = memory[i, lane] + regret
            memory[i, lane] = 0.0 if rules.floor and not new > 0 else new
            guess[i, lane] = regret if rules.predictive else 0.0
