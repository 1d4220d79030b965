"""``python -m benchmarks.stencil_in_c [N]``: jacobi_2d by hand in C, on one thread: what schedules are compared with.

Nanoseconds of processor time for a point of one sweep: sweep after sweep; tiled in time as the schedule in
examples/schedules.py does; and of rows that never leave the first-level cache, which no order of loops can beat.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define ROUNDS 5
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
__attribute__((noinline)) static void row(double *restrict o, const double *restrict up, const double *restrict at,
                                          const double *restrict down, long n) {
    for (long j = 1; j < n - 1; ++j) o[j] = 0.2 * (at[j] + at[j - 1] + at[j + 1] + down[j] + up[j]);
}
static void sweep(double *o, const double *s, long first, long end, long n) {
    for (long i = first < 1 ? 1 : first; i < (end > n - 1 ? n - 1 : end); ++i)
        row(o + i * n, s + (i - 1) * n, s + i * n, s + (i + 1) * n, n);
}
static void tiled(double *A, double *B, long n, long steps, long rows) {
    for (long at = 1; at < n - 1 + steps; at += rows)
        for (long t = 0; t < steps; ++t) sweep(t % 2 ? A : B, t % 2 ? B : A, at - t, at - t + rows, n);
}
int main(int argc, char **argv) {
    long n = atol(argv[1]), sweeps = 48, tile = 24, short_row = 260;
    double *A = malloc(8 * n * n), *B = malloc(8 * n * n), best[3] = {1e9, 1e9, 1e9};
    for (long i = 0; i < n * n; ++i) A[i] = B[i] = rand() / (double)RAND_MAX;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = now();
        for (long t = 0; t < sweeps; ++t) sweep(t % 2 ? A : B, t % 2 ? B : A, 1, n - 1, n);
        double plain = now();
        for (long t = 0; t < sweeps; t += tile) tiled(A, B, n, tile, 4);
        double skewed = now();
        for (long t = 0; t < 100000; ++t) row(B, A, A + short_row, A + 2 * short_row, short_row);
        double times[3] = {(plain - start) / sweeps / n / n, (skewed - plain) / sweeps / n / n,
                           (now() - skewed) / 100000 / short_row};
        for (int k = 0; k < 3; ++k) best[k] = times[k] < best[k] ? times[k] : best[k];
    }
    printf("%.3f %.3f %.3f\\n", best[0] * 1e9, best[1] * 1e9, best[2] * 1e9);
    return A[n] > 2;
}
"""


def nanoseconds(n: int) -> tuple[float, ...]:
    """Of a point: in whole sweeps, tiled in time, and in a cache."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "jacobi.c", Path(folder) / "jacobi"
        source.write_text(SOURCE)
        flags = ["-O3", "-march=native", "-ffp-contract=off"]
        subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True)
        done = subprocess.run([str(program), str(n)], check=True, capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()))


def main(words: list[str]) -> int:
    """Prints the table."""
    print(f"{'size':>6} {'sweeps':>9} {'tiled':>9} {'in cache':>9}   nanoseconds a point")
    for n in map(int, words or ("700", "1400", "2800")):
        print(f"{n:6} " + " ".join(f"{value:9.3f}" for value in nanoseconds(n)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
