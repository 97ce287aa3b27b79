"""Regret minimisers beside OpenSpiel and LiteEFG, as ratios in one run: `python benchmarks/regret.py [part]`.

Parts: cfr, exploitability, matrix, pipeline; without a name all of them, some minutes.

Peers come from PyPI (`pip install open_spiel LiteEFG`); one that is missing is said to be. Each runs in a process of its own, times
itself (its imports and its reading of the game left out, a first iteration too) and does iterations until its time is up. Seconds
are the processor's, of all threads together, because other programs share the machine; ours too is one thread. A ratio is the
median over rounds in which ours and the peer's follow each other.

cfr: iterations a second of CFR and of CFR+, and for comparison what both are worth at iteration 100 (the same number, if both do
the same).
exploitability: what it costs to measure a profile, in CFR iterations.
matrix: learners on random 3 x 3 games, 10^4 iterations, by `solve_batch`, games built before, tables made; beside `solve` one by
one, the same in plain Python (whose averages are compared), and a loop in numpy.
pipeline: 10^4 such games on both cores, the whole command, by the clock; a plain loop has one core.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # instead of this folder, whose pipeline.py would hide the package

from solvers import make
from solvers.forms import GameTree, MatrixGame
from solvers.games.goofspiel import Goofspiel
from solvers.games.kuhn_poker import KuhnPoker
from solvers.games.leduc_poker import LeducPoker
from solvers.games.liars_dice import LiarsDice
from solvers.inline import InlineWorkers
from solvers.regret.cfr import Cfr
from solvers.regret.fictitious_play import FictitiousPlay
from solvers.regret.hedge import Hedge
from solvers.regret.regret_matching import RegretMatching
from solvers.regret.self_play import Floats
from solvers.regret.tree_play import TreePlay, measure

ROUNDS = 3
PEER_S = 2.0
LIMIT_S = 60.0

GAMES = {
    "kuhn_poker": (make(KuhnPoker), 200_000),
    "leduc_poker": (make(LeducPoker), 5_000),
    "liars_dice(numdice=1,dice_sides=4)": (make(LiarsDice, faces=4), 5_000),
    "goofspiel(num_cards=4,imp_info=True,points_order=descending)": (make(Goofspiel, cards=4), 20_000),
    "liars_dice(numdice=1,dice_sides=6)": (make(LiarsDice, faces=6), 200),
}
"""OpenSpiel's name of a game, ours, and how many iterations ours is timed for."""

VARIANTS = {"cfr": {}, "cfr_plus": {"floor": True, "gamma": 1.0}}

OPEN_SPIEL = """
import pyspiel
game = pyspiel.load_game(name)
if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
    game = pyspiel.convert_to_turn_based(game)
solver = {"cfr": pyspiel.CFRSolver, "cfr_plus": pyspiel.CFRPlusSolver}[variant](game)
step = solver.evaluate_and_update_policy
worth = lambda: pyspiel.exploitability(game, solver.average_policy())
"""

LITE_EFG = """
import importlib, os, pyspiel, LiteEFG
sys.stdout = open(os.devnull, "w")
game = pyspiel.load_game(name)
if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
    game = pyspiel.convert_to_turn_based(game)
graph = importlib.import_module("LiteEFG.baselines." + {"cfr": "CFR", "cfr_plus": "CFRplus"}[variant]).graph()
env = LiteEFG.OpenSpielEnv(game, traverse_type="Enumerate")
env.set_graph(graph)
def step():
    graph.update_graph(env)
    env.update_strategy(graph.current_strategy())
worth = lambda: sum(env.exploitability(graph.current_strategy(), "avg-iterate")) / 2
"""

PEER = """
import json, sys, time
name, variant, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
said = sys.stdout
{code}
step()
done, began = 0, time.process_time()
while time.process_time() - began < seconds:
    step()
    done += 1
rate = done / (time.process_time() - began)
at_100 = None
if done < 99 and rate > 3:
    while done < 99:
        step()
        done += 1
    at_100 = worth()
print(json.dumps([rate, at_100]), file=said)
"""
PEERS = {"OpenSpiel": OPEN_SPIEL, "LiteEFG": LITE_EFG}


def peer(code: str, name: str, variant: str) -> float | str:
    """Return a peer's iterations a second, or why there are none."""
    command = [sys.executable, "-c", PEER.format(code=code), name, variant, str(PEER_S)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"nothing in {LIMIT_S:.0f} s"
    if ran.returncode:
        return (ran.stderr.strip().splitlines() or ["it died"])[-1][:60]
    rate: float = json.loads(ran.stdout.splitlines()[-1])[0]
    return rate


def ours(tree: GameTree, variant: str, iterations: int) -> float:
    """Return our iterations a second, recording and table included."""
    solver = Cfr(iterations=iterations, **VARIANTS[variant])  # type: ignore[arg-type]
    began = time.process_time()
    list(solver.solve(tree, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0)))
    return iterations / (time.process_time() - began)


def cfr() -> None:
    """Print iterations a second of ours and of each peer, and the median of the ratios."""
    print(f"{'':62}{'ours':>12}" + "".join(f"{name:>14}{'ratio':>8}" for name in PEERS))
    for name, (game, iterations) in GAMES.items():
        tree = game.form(GameTree)
        for variant in VARIANTS:
            ours(tree, variant, 10)
            rates: list[float] = []
            others: dict[str, list[float | str]] = {one: [] for one in PEERS}
            for _ in range(ROUNDS):
                rates.append(ours(tree, variant, iterations))
                for one, code in PEERS.items():
                    others[one].append(peer(code, name, variant))
            cells = ""
            for said in others.values():
                pairs = [(rate, other) for rate, other in zip(rates, said, strict=True) if isinstance(other, float)]
                if not pairs:
                    cells += f"{str(said[0])[:21]:>22}"
                    continue
                ratio = statistics.median(rate / other for rate, other in pairs)
                cells += f"{statistics.median(other for _, other in pairs):>14,.1f}{ratio:>7.0f}x"
            print(f"{name[:52]:52}{variant:10}{statistics.median(rates):>12,.0f}{cells}", flush=True)


def exploitability() -> None:
    """Print what measuring a profile costs in iterations of CFR."""
    for name, (game, iterations) in GAMES.items():
        tree = game.form(GameTree)
        play = TreePlay(tree, 0.0, Cfr()._advance)  # noqa: SLF001 (the step alone)
        play.advance(10)
        measure(play.plexes, play.played)
        ratios = []
        for _ in range(ROUNDS):
            began = time.process_time()
            play.advance(iterations)
            middle = time.process_time()
            for _ in range(iterations):
                measure(play.plexes, play.played)
            ratios.append((time.process_time() - middle) / (middle - began))
        print(f"{name[:52]:52}a measure costs {statistics.median(ratios):.2f} iterations of CFR", flush=True)


# ---- matrix games ------------------------------------------------------------------------------------------------------------

MATRIX_GAMES, MATRIX_ITERATIONS, PLAIN_ITERATIONS, WANTED = 1_000, 10_000, 3_000, 80

LEARNERS = {
    "regret_matching": RegretMatching(MATRIX_ITERATIONS),
    "rm_plus": RegretMatching(MATRIX_ITERATIONS, floor=True, gamma=1.0),
    "predictive_rm_plus": RegretMatching(MATRIX_ITERATIONS, floor=True, predictive=True, gamma=2.0),
    "smooth_prm_plus": RegretMatching(MATRIX_ITERATIONS, floor=True, predictive=True, smooth=2.0, gamma=2.0),
    "hedge": Hedge(MATRIX_ITERATIONS, horizon=MATRIX_ITERATIONS),
    "fictitious_play": FictitiousPlay(MATRIX_ITERATIONS),
}


def plain_choose(name: str, memory: list[float], guess: list[float], spread: float) -> list[float]:
    """Return a strategy in plain Python."""
    k = len(memory)
    if name == "fictitious_play":
        lead = memory.index(max(memory))
        return [1.0 if i == lead else 0.0 for i in range(k)]
    if name == "hedge":
        rate, most = math.sqrt(8 * math.log(k) / MATRIX_ITERATIONS) / spread, max(memory)
        weights = [math.exp(rate * (one - most)) for one in memory]
    elif name == "smooth_prm_plus":
        weights = plain_raised([one + more for one, more in zip(memory, guess, strict=True)], 2 * spread)
    elif name == "predictive_rm_plus":
        weights = [max(0.0, one + more) for one, more in zip(memory, guess, strict=True)]
    else:
        weights = [max(0.0, one) for one in memory]
    total = sum(weights)
    return [one / total for one in weights] if total > 0 else [1 / k] * k


def plain_raised(vector: list[float], least: float) -> list[float]:
    positive = [max(0.0, one) for one in vector]
    if sum(positive) >= least:
        return positive
    total = 0.0
    for count, one in enumerate(sorted(vector, reverse=True), 1):
        total += one
        if one > (total - least) / count:
            shift = (total - least) / count
    return [max(0.0, one - shift) for one in vector]


def plain_learn(name: str, memory: list[float], regrets: list[float], spread: float) -> list[float]:
    new = [one + regret for one, regret in zip(memory, regrets, strict=True)]
    if name == "smooth_prm_plus":
        return plain_raised(new, 2 * spread)
    return [max(0.0, one) for one in new] if name.endswith("_plus") else new


def plain_loop(name: str, a: list[list[float]], gamma: float, iterations: int) -> tuple[list[float], list[float]]:
    """Play simultaneously in plain Python; return the averages."""
    columns = list(zip(*a, strict=True))
    m, n = len(a), len(columns)
    spread = max(map(max, a)) - min(map(min, a))
    least = 2 * spread if name == "smooth_prm_plus" else 0.0
    r, q, g, h, s, c = [least / m] * m, [least / n] * n, [0.0] * m, [0.0] * n, [0.0] * m, [0.0] * n
    for t in range(1, iterations + 1):
        x, y = plain_choose(name, r, g, spread), plain_choose(name, q, h, spread)
        u = [sum([p * e for p, e in zip(y, row, strict=True)]) for row in a]
        w = [sum([p * e for p, e in zip(x, column, strict=True)]) for column in columns]
        value = sum([p * e for p, e in zip(x, u, strict=True)])
        g, h = [one - value for one in u], [value - one for one in w]
        r, q = plain_learn(name, r, g, spread), plain_learn(name, q, h, spread)
        weight = t**gamma if gamma else 1.0
        s = [one + weight * p for one, p in zip(s, x, strict=True)]
        c = [one + weight * p for one, p in zip(c, y, strict=True)]
    return [one / sum(s) for one in s], [one / sum(c) for one in c]


def numpy_loop(a: Floats, iterations: int) -> None:
    """Play regret matching in numpy, one game: what many write."""
    m, n = a.shape
    r, q, s, c = np.zeros(m), np.zeros(n), np.zeros(m), np.zeros(n)
    for _ in range(iterations):
        x, y = np.maximum(r, 0), np.maximum(q, 0)
        x = x / x.sum() if x.sum() > 0 else np.full(m, 1 / m)
        y = y / y.sum() if y.sum() > 0 else np.full(n, 1 / n)
        u, w = a @ y, x @ a
        value = x @ u
        r += u - value
        q += value - w
        s += x
        c += y


def seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def matrix() -> None:
    """Print nanoseconds an iteration on random 3 x 3 games: batched, tables and all; one by one; in plain Python; in numpy."""
    payoffs = np.random.default_rng(0).uniform(-1, 1, (MATRIX_GAMES, 3, 3)).tolist()
    names = ("a", "b", "c")
    forms = [MatrixGame(tuple(tuple(map(Fraction, row)) for row in rows), names, names) for rows in payoffs]
    print(f"{'ns an iteration':32}{'batched':>9}{'alone':>9}{'ratio':>7}{'Python':>10}{'ratio':>7} (wanted: {WANTED} x)")
    for name, solver in LEARNERS.items():
        rounds = []
        result = solver.solve_batch(forms, [])
        for _ in range(ROUNDS):
            batched = seconds(lambda one=solver: one.solve_batch(forms, [])) / MATRIX_GAMES / MATRIX_ITERATIONS
            alone = seconds(lambda one=solver: [list(solve_one(one, form)) for form in forms[:20]]) / 20 / MATRIX_ITERATIONS
            plain = seconds(lambda one=name, by=solver.gamma: plain_loop(one, payoffs[0], by, PLAIN_ITERATIONS)) / PLAIN_ITERATIONS
            rounds.append((batched, alone, plain))
        batched, alone, plain = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratios = [statistics.median(one[k] / one[0] for one in rounds) for k in (1, 2)]
        print(f"{name:32}{batched * 1e9:9.1f}{alone * 1e9:9.1f}{ratios[0]:6.1f}x{plain * 1e9:10,.0f}{ratios[1]:6.0f}x", flush=True)
        agree(name, solver, result)
    ours_s = seconds(lambda: LEARNERS["regret_matching"].solve_batch(forms, [])) / MATRIX_GAMES / MATRIX_ITERATIONS
    numpys = seconds(lambda: numpy_loop(np.array(payoffs[0]), PLAIN_ITERATIONS)) / PLAIN_ITERATIONS
    print(f"{'a numpy loop, regret_matching':32}{numpys * 1e9:42,.0f}{numpys / ours_s:6.0f}x", flush=True)


def solve_one(solver: Any, form: MatrixGame) -> Iterator[Any]:
    return iter(solver.solve(form, resume=None, workers=InlineWorkers(), rng=np.random.default_rng(0)))


def agree(name: str, solver: Any, result: Any) -> None:
    """See that the plain loop does the same: averages after 100 iterations of the first game (a horizon is a horizon)."""
    curve = result.tables["curve"].slice(0, 100).to_pylist()
    found = next(row for row in curve if (row["iteration"], row["iterate"]) == (100, "average"))
    game = [[float(one) for one in row] for row in np.random.default_rng(0).uniform(-1, 1, (1, 3, 3))[0]]
    x, y = plain_loop(name, game, solver.gamma, 100)
    off = max(abs(one - other) for one, other in zip([*x, *y], [*found["x"], *found["y"]], strict=True))
    if off > 1e-9:
        raise RuntimeError(f"{name}: the plain loop is off by {off:.2g}")


def pipeline() -> None:
    """Print what the whole command does with both cores: games a second, and iterations a second against a plain loop on one."""
    import ray

    from pipeline.app import main
    from pipeline.executors import ray as executor

    count = 10_000
    plain = seconds(
        lambda: plain_loop("regret_matching", [[1.0, -2.0, 3.0], [0.0, 5.0, -4.0], [2.0, 1.0, -1.0]], 0, PLAIN_ITERATIONS)
    )

    def command(*words: str) -> float:
        began = time.perf_counter()
        try:
            main(list(words))
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"{words} ended with {ended.code}") from ended
        return time.perf_counter() - began

    with tempfile.TemporaryDirectory(prefix="minimex-bench-") as folder:
        os.chdir(folder)
        try:
            executor.start_local(2)
            common = ("game=random_matrix", "game.size=3", "solver=regret_matching", "compute=ray", "verify=false", "quiet=true")
            command(*common, "solver.iterations=100", "seed=range(0,1000)", "tracking=off", "out=warm/up")
            took = command(
                *common, f"solver.iterations={MATRIX_ITERATIONS}", f"seed=range(0,{count})", "tracking=off", "out=games/it"
            )
            ray.shutdown()
        finally:
            os.chdir("/")
    rate = count * MATRIX_ITERATIONS / took
    said = f"{took:.1f} s by the clock, {rate / 1e6:,.1f} million iterations/s = {rate * plain / PLAIN_ITERATIONS:,.0f} plain loops"
    print(f"{count:,} games x {MATRIX_ITERATIONS:,}, command to report: {said}", flush=True)


PARTS: dict[str, Callable[[], None]] = {"cfr": cfr, "exploitability": exploitability, "matrix": matrix, "pipeline": pipeline}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        print(f"== {part}")
        PARTS[part]()
