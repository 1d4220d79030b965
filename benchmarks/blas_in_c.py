"""cblas_dgemm called from a C program: what gemm is compared with."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import scipy_openblas32

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void scipy_cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                       double *, int);
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static int order(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
int main(int argc, char **argv) {
    int n = atoi(argv[1]), k = atoi(argv[2]), m = atoi(argv[3]);
    double *A = malloc(8L * m * k), *B = malloc(8L * k * n), *C = malloc(8L * m * n), times[7];
    for (long i = 0; i < (long)m * k; ++i) A[i] = rand() / (double)RAND_MAX;
    for (long i = 0; i < (long)k * n; ++i) B[i] = rand() / (double)RAND_MAX;
    for (long i = 0; i < (long)m * n; ++i) C[i] = rand() / (double)RAND_MAX;
    for (int r = -1; r < 7; ++r) {
        double start = now();
        scipy_cblas_dgemm(101, 111, 111, m, n, k, 1.5, A, k, B, n, 1.2, C, n);
        if (r >= 0) times[r] = now() - start;
    }
    qsort(times, 7, sizeof(double), order);
    printf("%.9f\\n", times[3]);
    return 0;
}
"""


def seconds_of_dgemm_in_c(n: int, k: int, m: int) -> float:
    """Median seconds of ``C = alpha A B + beta C`` with A of m by k and B of k by n, on all cores."""
    library = scipy_openblas32.get_lib_dir()
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "dgemm.c", Path(folder) / "dgemm"
        source.write_text(SOURCE)
        name = scipy_openblas32.get_library()
        link = [f"-L{library}", f"-l{name}", f"-Wl,-rpath,{library}"]
        subprocess.run(["gcc", "-O2", str(source), "-o", str(program), *link], check=True)
        done = subprocess.run([str(program), str(n), str(k), str(m)], check=True, capture_output=True, text=True)
    return float(done.stdout)
