"""Heap games beside C programs of the same methods, compiled here (gcc -O2): `benchmarks/octal.py [sparse|plain|codes|long]`.

sparse  `SparseSpace`, period search and all, against the rare/common method as its authors describe it: for each heap all options
        with a rare heap on one side, then for each rare value a search for a witness, all breaking digits at each step of it; the
        mask chosen anew at each doubling, with a parity where it helps. No blocks of heaps.
plain   `MexDp`, tables and all, against the quadratic loop.
codes   All 511 codes of three digits to heap 32,768 by `SparseSpace`, one process.
long    0.104 (Flammenkamp: period 11,770,282 from heap 197,769,598 on) by `PeriodSearch`, with memory as it goes, and judged again.

CPU seconds, the least of some runs in turn; both must give the same nimbers. Without an argument: all but `long`.
"""

import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from solvers.contract import Progress, Result
from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.identity import lineage
from solvers.impartial.check import check_periods
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.period_search import PeriodSearch
from solvers.impartial.sparse_space import SparseSpace
from solvers.inline import InlineWorkers, solve, start

PLAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {  /* heaps d0 d1 ... dk */
    int N = atoi(argv[1]), digits = argc - 2;
    unsigned *g = calloc(N + 1, sizeof *g);
    int *seen = calloc(1 << 20, sizeof *seen);
    for (int n = 1; n <= N; n++) {
        for (int i = 0; i < digits && i <= n; i++) {
            int d = argv[2 + i][0] - '0', left = n - i;
            if ((d & 1) && left == 0) seen[0] = n;
            if ((d & 2) && left > 0) seen[g[left]] = n;
            if (d & 4) for (int a = 1; a <= left / 2; a++) seen[g[a] ^ g[left - a]] = n;
        }
        int mex = 0;
        while (seen[mex] == n) mex++;
        g[n] = mex;
    }
    unsigned long sum = 0;
    for (int n = 1; n <= N; n++) sum += g[n] * (unsigned long)n;
    printf("%.6f %lu\n", (double)clock() / CLOCKS_PER_SEC, sum);
}
"""
SPARSE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static unsigned short *g;
static int *rares, mask = 1, t = -1;  /* t: the parity, or -1 */
static long count;
static int odd(unsigned v) { return __builtin_parity(v); }
static int is_rare(long n, unsigned v) { return t < 0 ? !odd(v & mask) : odd(v & mask) == ((n + t) & 1); }
static void choose(long done, int parity) {
    unsigned most = 0;
    for (long n = 1; n <= done; n++) if (g[n] > most) most = g[n];
    int size = 2, found = 0;
    while (size <= most) size *= 2;
    long *w = malloc(size * sizeof *w), least = 0;
    for (int v = 0; v < (parity < 0 ? 1 : 2); v++) {
        for (int m = 0; m < size; m++) w[m] = 0;
        for (long n = 1; n <= done; n++) w[g[n]] += v && ((n + parity) & 1) ? -1 : 1;
        for (int h = 1; h < size; h *= 2)
            for (int i = 0; i < size; i += 2 * h)
                for (int j = i; j < i + h; j++) {
                    long a = w[j], b = w[j + h];
                    w[j] = a + b, w[j + h] = a - b;
                }
        for (int m = 0; m < size; m++) if (!found || w[m] < least) found = 1, least = w[m], mask = m, t = v ? parity : -1;
    }
    free(w);
    count = 0;
    for (long n = 1; n <= done; n++) if (is_rare(n, g[n])) rares[count++] = n;
}
int main(int argc, char **argv) {  /* heaps d0 d1 ... dk */
    long N = atol(argv[1]), next = 64;
    int digits = argc - 2, d[64], split[64], splits = 0, parity = -2;
    for (int i = 0; i < digits; i++) if ((d[i] = argv[2 + i][0] - '0') & 4) {
        split[splits++] = i;
        parity = parity == -2 || parity == (i & 1) ? (i & 1) : -1;
    }
    g = calloc(N + 1, sizeof *g);
    rares = malloc((N + 1) * sizeof *rares);
    unsigned *seen = calloc(1 << 17, sizeof *seen);
    for (long n = 1; n <= N; n++) {
        if (n == next) choose(n - 1, parity), next *= 2;
        for (int i = 1; i < digits && i <= n; i++) {
            if ((d[i] & 1) && n == i) seen[0] = n;
            if ((d[i] & 2) && n > i) seen[g[n - i]] = n;
        }
        for (int s = 0; s < splits; s++) {
            long left = n - split[s];
            for (long j = 0; j < count && rares[j] < left; j++) seen[g[rares[j]] ^ g[left - rares[j]]] = n;
        }
        unsigned x = 0;
        for (;;) {
            while (seen[x] == n) x++;
            if (!is_rare(n, x)) break;
            int hit = 0;
            for (long i = 1; !hit && 2 * i <= n; i++)
                for (int s = 0; s < splits; s++) {
                    long b = n - split[s] - i;
                    if (b > 0 && (g[i] ^ g[b]) == x) { hit = 1; break; }
                }
            if (!hit) break;
            x++;
        }
        g[n] = x;
        if (is_rare(n, x)) rares[count++] = n;
    }
    unsigned long sum = 0;
    for (long n = 1; n <= N; n++) sum += g[n] * (unsigned long)n;
    printf("%.6f %lu\n", (double)clock() / CLOCKS_PER_SEC, sum);
}
"""
SPARSE_CASES = {"0.77": 8_000_000, "0.16": 2_000_000, "0.104": 10_000_000, "0.36": 1_000_000, "0.6": 300_000, "0.007": 100_000}
PLAIN_CASES = dict.fromkeys(("0.77", "0.007", "0.777"), 20_000)
REPEATS = 3


def compiled(source: str, folder: str, name: str) -> Path:
    program = Path(folder) / name
    program.with_suffix(".c").write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-O2", "-o", program, program.with_suffix(".c")], check=True)
    return program


def in_c(program: Path, code: str, heaps: int) -> tuple[float, int]:
    digits = [str(digit) for digit in Octal(code).form(HeapGame).digits]
    said = subprocess.run([program, str(heaps), *digits], capture_output=True, text=True, check=True).stdout.split()
    return float(said[0]), int(said[1])


def here(solver: SparseSpace | MexDp, code: str) -> float:
    start = time.process_time()
    solve(Octal(code), solver)
    return time.process_time() - start


def checksum(solver: SparseSpace | MexDp, code: str) -> int:
    nimbers = solve(Octal(code), solver).tables["nimbers"]["nimber"].to_numpy().astype(np.uint64)
    return int((nimbers * np.arange(len(nimbers), dtype=np.uint64)).sum())


def beside_c(name: str, source: str, cases: dict[str, int], method: type[SparseSpace | MexDp]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(source, folder, name)
        for code, heaps in cases.items():
            assert checksum(method(heaps), code) == in_c(program, code, heaps)[1]
            runs = [(in_c(program, code, heaps)[0], here(method(heaps, keep_nimbers=False), code)) for _ in range(REPEATS)]
            c, ours = (min(seconds) for seconds in zip(*runs, strict=True))
            rates = f"C {c:7.3f} s {heaps / c / 1e3:9,.0f} k/s   ours {ours:7.3f} s {heaps / ours / 1e3:9,.0f} k/s"
            print(f"{name:6} {code:5} {heaps:>10,} heaps   {rates}   ratio {ours / c:.2f}", flush=True)


def sparse() -> None:
    beside_c("sparse", SPARSE, SPARSE_CASES, SparseSpace)


def plain() -> None:
    beside_c("plain", PLAIN, PLAIN_CASES, MexDp)


def codes() -> None:
    here(SparseSpace(100), "0.77")
    every = ["0." + "".join(digits) for digits in itertools.product("01234567", repeat=3)][1:]
    seconds = {code: here(SparseSpace(32_768, keep_nimbers=False), code) for code in every}
    slowest = ", ".join(f"{code} {seconds[code]:.2f}" for code in sorted(seconds, key=seconds.__getitem__)[:-6:-1])
    print(f"codes  {len(every)} to heap 32,768: {sum(seconds.values()):.1f} s   slowest: {slowest}")


def long() -> None:
    game, solver = Octal("0.104"), PeriodSearch(heap_limit=10**9, keep_nimbers=False)
    began, told, result = time.process_time(), -1.0, None
    for event in start(game.form(HeapGame), solver, lineage(game, solver, 0), InlineWorkers()):
        seconds = time.process_time() - began
        if isinstance(event, Progress) and seconds > told + 4:
            told = seconds
            print(f"long   {seconds:5.1f} s   {int(event.done):>11,} heaps   {resident():4.0f} MB", flush=True)
        result = event
    assert isinstance(result, Result)
    found = result.tables["periods"].select(["status", "period", "preperiod", "max_nimber", "heaps_done", "proof"]).to_pylist()[0]
    print(f"long   {time.process_time() - began:5.1f} s   {found}   at most {peak():.0f} MB", flush=True)
    began = time.process_time()
    verdicts = list(check_periods(game, result.tables))
    print(f"long   judged in {time.process_time() - began:.1f} s: {[(one.grade, one.reason) for one in verdicts]}")


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    parts = {"sparse": sparse, "plain": plain, "codes": codes, "long": long}
    for part in sys.argv[1:] or ("sparse", "plain", "codes"):
        parts[part]()
