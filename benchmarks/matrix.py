"""Games of two players beside nashpy, QuantEcon and Gambit, as ratios in one run: `python benchmarks/matrix.py [part] [games]`.

Parts: small, pipeline, exact_lp, vertex_enumeration; without a name all of them, 3 to 4 minutes on two cores.

Peers come from PyPI (`pip install nashpy quantecon pygambit==16.7.0`); one that is missing is said to be. Each runs in a process of
its own that is killed after a limit, because Gambit's C++ ignores signals; it times itself, imports and start left out, and says
how many it solved by then, so a slow peer is measured on the games it came to. Ours is exact; nashpy's and QuantEcon's are floats,
Gambit's rational. Seconds are the processor's, because other programs share the machine; the pipeline, the whole command without
Ray's start, is timed by the clock.

small, pipeline: random 3 x 3 zero-sum games (`games` of them), payoffs -9 to 9, seeds 0, 1, ...: all extreme equilibria.
exact_lp: random zero-sum games, payoffs -100 to 100: one equilibrium by `solve()`, game built and table made; Gambit's rational
simplex has the first two of the 50 x 50 games, and the values are compared.
vertex_enumeration: random games of two players, payoffs -9 to 9 (often degenerate) and -100 to 100: all extreme equilibria by
`solve()`, game built and table made, on the games a peer came to; the best of five, of QuantEcon's too, Gambit has one pass.
Pauses, when Python looks for garbage, are in our slowest of five.
Gambit's equilibria, repeats removed, are compared as sets of exact strategies, QuantEcon's are counted.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # instead of this folder, whose pipeline.py would hide the package

from solvers import solve
from solvers.equilibrium.check.equilibria import check_equilibria_batch
from solvers.equilibrium.exact_lp import ExactLp
from solvers.equilibrium.shapley_snow import ShapleySnow, extreme_strategies
from solvers.equilibrium.vertex_enumeration import VertexEnumeration
from solvers.forms import BimatrixGame, MatrixGame
from solvers.games.random_bimatrix import RandomBimatrix
from solvers.games.random_matrix import RandomMatrix

LIMIT_S = 60.0
PEER_S = 5.0
LARGE_PEER_S = 10.0
REPEATS = 5

PEER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
warm, *games = json.load(open(sys.argv[1]))
limit, repeats = float(sys.argv[2]), int(sys.argv[3])
told = list
{code}
solve(warm)
passes, start = [], time.process_time()
for _ in range(repeats):
    done, began = 0, time.process_time()
    while done < len(games) and time.process_time() - start < limit:
        solve(games[done])
        done += 1
    if done == len(games) or not passes:
        passes.append((time.process_time() - began, done))
took, done = min(passes)
print(json.dumps([done, took, told()[1 : 1 + done]]))
"""
PEERS = {
    "nashpy (support enumeration, floats)": """
import nashpy, numpy
def solve(a):
    return list(nashpy.Game(numpy.array(a)).support_enumeration())
""",
    "nashpy (vertex enumeration, floats)": """
import nashpy, numpy
def solve(a):
    return list(nashpy.Game(numpy.array(a)).vertex_enumeration())
""",
    "QuantEcon (vertex enumeration, floats)": """
import numpy, quantecon.game_theory as gt
def solve(a):
    a = numpy.array(a, float)
    return gt.vertex_enumeration(gt.NormalFormGame((gt.Player(a), gt.Player(-a.T))))
""",
    "Gambit (enummixed, rational)": """
import numpy, pygambit
def solve(a):
    a = numpy.array(a)
    return pygambit.nash.enummixed_solve(pygambit.Game.from_arrays(a, -a), rational=True).equilibria
""",
}
GAMBIT_LP = """
import numpy, pygambit
values = []
def solve(a):
    a = numpy.array(a)
    game = pygambit.Game.from_arrays(a, -a)
    (found,) = pygambit.nash.lp_solve(game, rational=True).equilibria
    values.append(str(found.payoff(next(iter(game.players)))))
def told():
    return values
"""
BIMATRIX_PEERS = {
    "Gambit (enummixed, rational)": """
import numpy, pygambit
found = []
def solve(pair):
    game = pygambit.Game.from_arrays(*map(numpy.array, pair))
    found.append((game, pygambit.nash.enummixed_solve(game, rational=True).equilibria))
def told():
    return [[[[str(p) for _, p in one[player]] for player in game.players] for one in all_of] for game, all_of in found]
""",
    "QuantEcon (vertex enumeration, floats)": """
import numpy, quantecon.game_theory as gt
found = []
def solve(pair):
    a, b = numpy.array(pair, float)
    found.append(len(gt.vertex_enumeration(gt.NormalFormGame((gt.Player(a), gt.Player(b.T))))))
def told():
    return found
""",
}


def say(name: str, value: str) -> None:
    print(f"{name:<58} {value}", flush=True)


def best_s(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the least processor time of some repeats: other programs share the machine."""
    return min(times_s(run, repeats))


def times_s(run: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    times = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return times


def peer(code: str, path: Path, limit_s: float = PEER_S, repeats: int = 1) -> tuple[int, float, list[Any]] | str:
    """Return how many games a peer came to, its seconds (of its best pass) and what it tells of them, or why there is nothing."""
    command = [sys.executable, "-c", PEER.format(code=code), str(path), str(limit_s), str(repeats)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    except subprocess.TimeoutExpired:
        return f"killed after {LIMIT_S:.0f} s"
    except subprocess.CalledProcessError as error:
        return f"left out: {error.stderr.strip().splitlines()[-1]}"
    done, took, told = json.loads(said.splitlines()[-1])
    return int(done), float(took), told


def integers(payoffs: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in payoffs]


def small_games(count: int, folder: Path) -> None:
    games = [RandomMatrix(3, seed=seed) for seed in range(count)]
    forms = [game.form(MatrixGame) for game in games]
    payoffs = np.array([integers(form.payoffs) for form in forms])
    path = folder / "games.json"
    path.write_text(json.dumps([payoffs[0].tolist(), *payoffs[:20_000].tolist()]), encoding="utf-8")

    extreme_strategies(payoffs[:1], [1])
    kernel = best_s(lambda: extreme_strategies(payoffs, [1] * count)) / count
    say("shapley_snow, the kernel alone", f"{kernel * 1e6:.2f} us a game, {1 / kernel:,.0f} games/s (wanted: near 1,000,000)")
    table = ShapleySnow().solve_batch(forms, []).tables
    ours = best_s(lambda: ShapleySnow().solve_batch(forms, [])) / count
    say("shapley_snow, tables and all", f"{ours * 1e6:.1f} us a game, {1 / ours:,.0f} games/s")
    checked = best_s(lambda: list(check_equilibria_batch(games, table))) / count
    say("its checker, games built again", f"{checked * 1e6:.1f} us a game")
    for name, code in PEERS.items():
        answer = peer(code, path)
        if isinstance(answer, str):
            say(name, answer)
        else:
            theirs = answer[1] / answer[0]
            said = f"shapley_snow with tables {theirs / ours:,.0f} x, its kernel {theirs / kernel:,.0f} x as fast"
            say(name, f"{theirs * 1e6:,.0f} us a game: {said}")


def pipeline(count: int, folder: Path) -> None:
    """Time the whole command, and `verify` on what it wrote."""
    import ray

    from pipeline.app import main
    from pipeline.executors import ray as executor

    def command(*words: str) -> float:
        began = time.perf_counter()
        try:
            main(list(words))
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"{words} ended with {ended.code}") from ended
        return time.perf_counter() - began

    os.chdir(folder)
    executor.start_local(2)
    game = ("game=random_matrix", "game.size=3", "game.low=-9", "game.high=9", "solver=shapley_snow", "compute=ray", "quiet=true")
    command(*game, "seed=range(0,50)", "tracking=off", "out=warm/up")
    took = command(*game, f"seed=range(0,{count})", "verify=false", "out=games/it")
    say(f"{count:,} games, command to report and MLflow", f"{took:.1f} s (wanted, of 100,000: under 30)")
    ray.shutdown()
    judged = command("verify", "games/it")
    say("verify of all of them, one process", f"{judged:.1f} s (wanted: no longer than solving)")


def exact_lp(folder: Path) -> None:
    solver = ExactLp()
    warm = RandomMatrix(3, seed=0)
    solve(RandomMatrix(20, low=-100, high=100, seed=0), solver)  # so that imports are not counted

    games = [RandomMatrix(50, low=-100, high=100, seed=seed) for seed in range(9)]
    ours = statistics.median(best_s(partial(solve, game, solver), 1) for game in games)
    say("exact_lp, 50 x 50, seeds 0 to 8", f"{ours * 1e3:.1f} ms a game, the median")
    path = folder / "lp.json"
    path.write_text(json.dumps([integers(game.form(MatrixGame).payoffs) for game in (warm, *games[:2])]), encoding="utf-8")
    answer = peer(GAMBIT_LP, path, LARGE_PEER_S)
    if isinstance(answer, str):
        say("Gambit (lp, rational), 50 x 50", answer)
    else:
        done, took, values = answer
        exact = [solve(game, solver).tables["equilibria"]["value"][0].as_py() for game in games[:done]]
        same = sum(one == other for one, other in zip(exact, values, strict=True))
        ratio = took / done / ours
        said = f"{took / done:.2f} s a game, seeds 0 to {done - 1}, the same value in {same} of {done}"
        say("Gambit (lp, rational), 50 x 50", f"{said}: exact_lp {ratio:,.0f} x as fast (wanted: at least 100)")

    games = [RandomMatrix(200, low=-100, high=100, seed=seed) for seed in range(5)]
    ours = statistics.median(best_s(partial(solve, game, solver), 1) for game in games)
    say("exact_lp, 200 x 200, seeds 0 to 4", f"{ours:.3f} s a game, the median (wanted: about 0.1)")


def vertex_enumeration(folder: Path) -> None:
    solver = VertexEnumeration()
    for size, count, wanted in ((7, 10, 5), (10, 2, 20)):
        for most in (9, 100):
            games = [RandomBimatrix(size, low=-most, high=most, seed=seed) for seed in range(count)]
            tables = [solve(game, solver).tables["bimatrix_equilibria"].select(["x", "y"]).to_pylist() for game in games]
            sets = [{(tuple(row["x"]), tuple(row["y"])) for row in table} for table in tables]
            passes = [times_s(partial(solve, game, solver)) for game in games]
            ours, slowest = [min(times) for times in passes], [max(times) for times in passes]
            numbers = ", ".join(str(len(one)) for one in sets)
            name = f"{size} x {size}, +-{most}"
            mean = statistics.mean(ours)
            said = f"{mean * 1e3:.1f} ms a game (slowest {max(slowest) * 1e3:.1f}); equilibria {numbers}"
            say(f"vertex_enumeration, {name}, seeds 0 to {count - 1}", said)

            forms = [game.form(BimatrixGame) for game in (RandomBimatrix(3, seed=0), *games)]
            path = folder / "bimatrix.json"
            path.write_text(json.dumps([[integers(form.a), integers(form.b)] for form in forms]), encoding="utf-8")
            for peer_name, code in BIMATRIX_PEERS.items():
                answer = peer(code, path, LARGE_PEER_S, REPEATS if "floats" in peer_name else 1)
                if isinstance(answer, str):
                    say(f"{peer_name}, {name}", answer)
                    continue
                done, took, told = answer
                ratio = took / sum(ours[:done])
                all_of = sum(len(one) for one in sets[:done])
                if "floats" in peer_name:
                    found = f"{sum(told)} of {all_of} equilibria"
                    worst = sum(slowest[:done]) / took
                    said = f"vertex_enumeration {1 / ratio:.1f} x as slow, {worst:.1f} x in its slowest passes (wanted: at most 5)"
                else:
                    theirs = [{(tuple(x), tuple(y)) for x, y in one} for one in told]
                    same = sum(one == other for one, other in zip(sets[:done], theirs, strict=True))
                    found = f"{sum(map(len, theirs))} of {all_of} equilibria, the same set in {same} of {done} (wanted: all)"
                    said = f"vertex_enumeration {ratio:,.0f} x as fast (wanted: at least {wanted})"
                say(f"{peer_name}, {name}", f"{took / done * 1e3:,.1f} ms a game, {found}: {said}")


PARTS = ("small", "pipeline", "exact_lp", "vertex_enumeration")


def run(parts: Sequence[str], count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="minimex-bench-") as place:
        folder = Path(place)
        if "small" in parts:
            small_games(count, folder)
        if "exact_lp" in parts:
            exact_lp(folder)
        if "vertex_enumeration" in parts:
            vertex_enumeration(folder)
        if "pipeline" in parts:
            try:
                pipeline(count, folder)
            finally:
                os.chdir("/")


if __name__ == "__main__":
    words = sys.argv[1:]
    named = [word for word in words if not word.isdigit()]
    if unknown := set(named) - set(PARTS):
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    run(named or PARTS, next((int(word) for word in words if word.isdigit()), 100_000))
