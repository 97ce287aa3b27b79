"""How the cost of a point grows from 1,000 to 1,000,000 points: `python benchmarks/scale.py [POINTS ...]`.

For each size one process runs the ordinary command (trivial points of the tests' fakes on 2 cores: planned, computed, stored,
verified, reported, tracked), a second one the same command again, a third reads the tables with DuckDB. Times are wall times of
the driver's phases, memory is the driver's peak resident memory in each of them. Ray's start-up is left out. Prints three tables
in Markdown: seconds (and microseconds a point), memory, queries.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FAKES = ROOT / "tests" / "fakes"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
COMMAND = ("--config-dir", str(FAKES / "fake_conf"), "trust=[minimex_fakes]", "game=beads", "solver=trivial", "compute=ray")
PHASES = ("plan", "compute, store", "verify", "report", "track", "print", "again")
QUERIES = {
    "points by status": "select status, count(*) from 'points.parquet' group by status",
    "findings joined with points": """
        select count(*), max(noise) from 'tables/firsts.parquet' join 'points.parquet' using (point) where seed % 10 = 3""",
    "verdicts by grade": "select grade, count(*) from 'checks.parquet' group by grade",
}


class Phases:
    """Seconds and peak memory of each phase; a phase inside another belongs to the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.peak_mb: dict[str, float] = {}
        self.within = False

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        if self.within:
            yield
            return
        self.within = True
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        began = time.perf_counter()
        try:
            yield
        finally:
            self.within = False
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
            self.peak_mb[name] = max(self.peak_mb.get(name, 0.0), peak_mb())

    def watch(self, owner: Any, function: str, name: str, then: Callable[[Any], Any] = lambda result: result) -> None:
        """Let every call of a function be (a part of) this phase."""
        inner = getattr(owner, function)

        def timed(*arguments: Any, **options: Any) -> Any:
            with self.phase(name):
                return then(inner(*arguments, **options))

        setattr(owner, function, timed)


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(size: int, *, again: bool) -> None:
    """Run the command in this process and write what it cost to the working directory."""
    from pipeline import aftermath, driver, journal, planning
    from pipeline.app import main
    from pipeline.executors import ray as executor

    phases = Phases()
    if again:
        phases.watch(sys.modules[__name__], "_main", "again")
    else:
        executor.start_local(2)
        phases.watch(planning, "plan", "plan", list)
        phases.watch(driver.Run, "todo", "compute, store")
        phases.watch(driver.Run, "compute", "compute, store")
        phases.watch(journal.Journal, "publish", "compute, store")
        for function, name in (("verify", "verify"), ("write_report", "report"), ("track", "track"), ("print_findings", "print")):
            phases.watch(aftermath, function, name)
    began = time.perf_counter()
    try:
        _main(main, size)
    except SystemExit as ended:
        if ended.code != 0:
            raise RuntimeError(f"{size:,} points ended with {ended.code}") from ended
    found = {"seconds": phases.seconds, "peak_mb": phases.peak_mb, "total_s": time.perf_counter() - began}
    Path("again.json" if again else "first.json").write_text(json.dumps(found))


def _main(main: Callable[[list[str]], None], size: int) -> None:
    main([*COMMAND, f"seed=range(0,{size})", "out=sweep/it"])


def ask_duckdb() -> None:
    """Time the queries, each on files that nothing has opened before in this process."""
    import duckdb

    os.chdir("sweep/it")
    found = {}
    for name, query in QUERIES.items():
        began = time.perf_counter()
        duckdb.sql(query).fetchall()
        found[name] = time.perf_counter() - began
    Path("../../duckdb.json").write_text(json.dumps(found))


def measured(size: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what a size costs, each part in a process of its own."""
    place = Path(tempfile.mkdtemp(prefix="minimex-scale-"))
    try:
        for part in ("first", "again", "duckdb"):
            command = [sys.executable, str(Path(__file__).resolve()), "--measure", part, str(size)]
            with (place / "said").open("a") as said:
                ended = subprocess.run(command, cwd=place, stdout=said, stderr=said, check=False)
            if ended.returncode:
                raise RuntimeError(f"{part} of {size:,} points failed:\n{(place / 'said').read_text()[-3000:]}")
        first, again, queries = (json.loads((place / f"{part}.json").read_text()) for part in ("first", "again", "duckdb"))
        first["seconds"] |= again["seconds"]
        first["peak_mb"] |= again["peak_mb"]
        return first, queries
    finally:
        shutil.rmtree(place)


def run(sizes: list[int]) -> None:
    costs, queries = {}, {}
    for size in sizes:
        costs[size], queries[size] = measured(size)
        print(f"{size:,} points took {costs[size]['total_s']:.1f} s", file=sys.stderr, flush=True)
    times = {
        size: [_cost(one["seconds"][name], size) for name in PHASES] + [_cost(one["total_s"], size)] for size, one in costs.items()
    }
    print_table([*PHASES, "whole command"], times)
    print_table(PHASES, {size: [f"{one['peak_mb'][name]:,.0f} MB" for name in PHASES] for size, one in costs.items()})
    print_table(list(QUERIES), {size: [f"{one[name]:.2f} s" for name in QUERIES] for size, one in queries.items()})


def print_table(head: Sequence[str], rows: Mapping[int, Sequence[str]]) -> None:
    print(f"\n| points | {' | '.join(head)} |")
    print(f"|{'--:|' * (len(head) + 1)}")
    for size, cells in rows.items():
        print(f"| {size:,} | {' | '.join(cells)} |")


def _cost(seconds: float, size: int) -> str:
    return f"{seconds:.1f} s ({1e6 * seconds / size:,.0f} µs)"


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(FAKES), os.environ.get("PYTHONPATH"))))
    sys.path[0] = str(FAKES)  # instead of this folder, whose pipeline.py would hide the package
    if sys.argv[1:2] == ["--measure"]:
        if sys.argv[2] == "duckdb":
            ask_duckdb()
        else:
            measure(int(sys.argv[3]), again=sys.argv[2] == "again")
    else:
        run([int(word.replace("_", "")) for word in sys.argv[1:]] or list(SIZES))
