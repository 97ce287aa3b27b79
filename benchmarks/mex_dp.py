"""Compare `MexDp` with the same loop in C (gcc -O2): `python benchmarks/mex_dp.py [heaps]`; best of five, one process each.

Prints seconds and their ratio for Kayles (small nimbers), 0.007 (large ones, open) and 0.777 (three breaking digits, open).
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from solvers.forms import HeapGame
from solvers.games.octal import Octal
from solvers.impartial.mex_dp import MexDp
from solvers.inline import solve

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {  /* heaps d0 d1 ... dk */
    int N = atoi(argv[1]), digits = argc - 2;
    unsigned *g = calloc(N + 1, sizeof *g);
    int *seen = calloc(1 << 20, sizeof *seen);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
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
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f %u\n", (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec), g[N]);
}
"""
REPEATS = 5


def seconds_in_c(binary: Path, code: str, heaps: int) -> tuple[float, int]:
    digits = [str(digit) for digit in Octal(code).form(HeapGame).digits]
    runs = [subprocess.run([binary, str(heaps), *digits], capture_output=True, text=True, check=True) for _ in range(REPEATS)]
    return min(float(run.stdout.split()[0]) for run in runs), int(runs[0].stdout.split()[1])


def seconds_here(code: str, heaps: int) -> tuple[float, int]:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = solve(Octal(code), MexDp(heaps))
        times.append(time.perf_counter() - start)
    return min(times), result.tables["nimbers"]["nimber"][heaps].as_py()


def main() -> None:
    heaps = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "mex.c", Path(folder) / "mex"
        source.write_text(C, encoding="utf-8")
        subprocess.run(["gcc", "-O2", "-o", binary, source], check=True)
        for code in ("0.77", "0.007", "0.777"):
            (c, last_c), (ours, last_ours) = seconds_in_c(binary, code, heaps), seconds_here(code, heaps)
            assert last_c == last_ours
            print(f"{code:6} {heaps} heaps   C {c:.4f} s   MexDp, tables and all {ours:.4f} s   ratio {ours / c:.2f}")


if __name__ == "__main__":
    main()
