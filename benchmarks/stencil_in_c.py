"""``python -m benchmarks.stencil_in_c [N]``: jacobi_2d by hand in C, on one thread: what schedules are compared with.

Nanoseconds of processor time for a point of one sweep: sweep after sweep; tiled in time as the schedule in
examples/schedules.py does; and where nothing ever leaves the first-level cache, row by row, and four rows at a time,
whose elements are then loaded once for all four: no order of loops can beat that.
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
__attribute__((noinline)) static void four_rows(double *restrict o, const double *restrict s, long n) {
    for (long j = 1; j < n - 1; ++j) {
        const double a = s[j], b = s[j + n], c = s[j + 2 * n], d = s[j + 3 * n], e = s[j + 4 * n], f = s[j + 5 * n];
        o[j] = 0.2 * (b + s[j + n - 1] + s[j + n + 1] + c + a);
        o[j + n] = 0.2 * (c + s[j + 2 * n - 1] + s[j + 2 * n + 1] + d + b);
        o[j + 2 * n] = 0.2 * (d + s[j + 3 * n - 1] + s[j + 3 * n + 1] + e + c);
        o[j + 3 * n] = 0.2 * (e + s[j + 4 * n - 1] + s[j + 4 * n + 1] + f + d);
    }
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
    double *A = malloc(8 * n * n), *B = malloc(8 * n * n), best[4] = {1e9, 1e9, 1e9, 1e9};
    for (long i = 0; i < n * n; ++i) A[i] = B[i] = rand() / (double)RAND_MAX;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = now();
        for (long t = 0; t < sweeps; ++t) sweep(t % 2 ? A : B, t % 2 ? B : A, 1, n - 1, n);
        double plain = now();
        for (long t = 0; t < sweeps; t += tile) tiled(A, B, n, tile, 4);
        double skewed = now();
        for (long t = 0; t < 100000; ++t) row(B, A, A + short_row, A + 2 * short_row, short_row);
        double cached = now();
        for (long t = 0; t < 25000; ++t) four_rows(B, A, short_row);
        double times[4] = {(plain - start) / sweeps / n / n, (skewed - plain) / sweeps / n / n,
                           (cached - skewed) / 100000 / short_row, (now() - cached) / 100000 / short_row};
        for (int k = 0; k < 4; ++k) best[k] = times[k] < best[k] ? times[k] : best[k];
    }
    for (int k = 0; k < 4; ++k) printf("%.3f ", best[k] * 1e9);
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
    print(f"{'size':>6} {'sweeps':>9} {'tiled':>9} {'in cache':>9} {'by fours':>9}   nanoseconds a point")
    for n in map(int, words or ("700", "1400", "2800")):
        print(f"{n:6} " + " ".join(f"{value:9.3f}" for value in nanoseconds(n)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
