"""Games of two players beside nashpy, QuantEcon and Gambit, as ratios in one run: `python benchmarks/matrix.py [games]`.

Peers come from PyPI (`pip install nashpy quantecon pygambit==16.7.0`); one that is missing is said to be. Each runs in a process of
its own that is killed after a limit, because Gambit's C++ ignores signals; it times itself, imports and start left out, and says
how many it solved by then, so a slow peer is measured on the games it came to.

Small games: random 3 x 3 zero-sum games, payoffs -9 to 9, seeds 0, 1, ...: all extreme equilibria. Ours is exact; nashpy's and
QuantEcon's are floats, Gambit's rational. Seconds are the processor's here, because other programs share the machine; the pipeline,
the whole command without Ray's start, is timed by the clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # instead of this folder, whose pipeline.py would hide the package

from solvers.equilibrium.check.equilibria import check_equilibria_batch
from solvers.equilibrium.shapley_snow import ShapleySnow, extreme_strategies
from solvers.forms import MatrixGame
from solvers.games.random_matrix import RandomMatrix

LIMIT_S = 60.0
PEER_S = 5.0
REPEATS = 5

PEER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
games = json.load(open(sys.argv[1]))
{code}
solve(games[0])
done, began = 0, time.process_time()
while done < len(games) and time.process_time() - began < float(sys.argv[2]):
    solve(games[done])
    done += 1
print(json.dumps([done, time.process_time() - began]))
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


def say(name: str, value: str) -> None:
    print(f"{name:<58} {value}", flush=True)


def best_s(run: Callable[[], object]) -> float:
    """Return the least processor time of some repeats: other programs share the machine."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


def peer_s_a_game(code: str, path: Path) -> float | str:
    """Return a peer's seconds a game, or why there are none."""
    command = [sys.executable, "-c", PEER.format(code=code), str(path), str(PEER_S)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    except subprocess.TimeoutExpired:
        return f"killed after {LIMIT_S:.0f} s"
    except subprocess.CalledProcessError as error:
        return f"left out: {error.stderr.strip().splitlines()[-1]}"
    done, took = json.loads(said.splitlines()[-1])
    return float(took) / int(done)


def small_games(count: int, folder: Path) -> None:
    games = [RandomMatrix(3, seed=seed) for seed in range(count)]
    forms = [game.form(MatrixGame) for game in games]
    payoffs = np.array([[[int(entry) for entry in row] for row in form.payoffs] for form in forms])
    path = folder / "games.json"
    path.write_text(json.dumps(payoffs[:20_000].tolist()), encoding="utf-8")

    extreme_strategies(payoffs[:1], [1])
    kernel = best_s(lambda: extreme_strategies(payoffs, [1] * count)) / count
    say("shapley_snow, the kernel alone", f"{kernel * 1e6:.2f} us a game, {1 / kernel:,.0f} games/s (wanted: near 1,000,000)")
    table = ShapleySnow().solve_batch(forms, []).tables
    ours = best_s(lambda: ShapleySnow().solve_batch(forms, [])) / count
    say("shapley_snow, tables and all", f"{ours * 1e6:.1f} us a game, {1 / ours:,.0f} games/s")
    checked = best_s(lambda: list(check_equilibria_batch(games, table))) / count
    say("its checker, games built again", f"{checked * 1e6:.1f} us a game")
    for name, code in PEERS.items():
        theirs = peer_s_a_game(code, path)
        if isinstance(theirs, str):
            say(name, theirs)
        else:
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


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="minimex-bench-") as place:
        small_games(size, Path(place))
        try:
            pipeline(size, Path(place))
        finally:
            os.chdir("/")
