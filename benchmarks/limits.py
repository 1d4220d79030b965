"""``python -m benchmarks.limits``: what the machine can do at best now, which measured times are to be seen beside.

STREAM's triad (McCalpin, Memory Bandwidth and Machine Balance, 1995) as GB/s, lines that are read for writing not
counted; products of matrices by NumPy's BLAS as GFLOP/s. Medians; the threads are those of ``OMP_NUM_THREADS``.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.timing import median_seconds, surroundings

ELEMENTS = 2**24  # 128 MiB an array: more than caches hold
SIDE = 1536
TRIAD = """
void triad(long n, double s, double *restrict a, const double *restrict b, const double *restrict c)
{
    #pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++)
        a[i] = b[i] + s*c[i];
}
"""


def triad() -> float:
    """Bandwidth of ``a = b + s * c``, in bytes per second."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "triad.c", Path(folder) / "triad.so"
        source.write_text(TRIAD)
        flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
        run = ctypes.CDLL(str(library)).triad
    a, b, c = (np.full(ELEMENTS, value) for value in (0.0, 1.0, 2.0))
    places = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
    seconds = median_seconds(lambda: run(ctypes.c_long(ELEMENTS), ctypes.c_double(3.0), *places))
    if not np.all(a == 7.0):
        raise RuntimeError("the triad is wrong")
    return 3 * a.nbytes / seconds


def dgemm() -> float:
    """Operations per second of a product of matrices."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.random((SIDE, SIDE)) for _ in range(3))
    return float(2 * SIDE**3 / median_seconds(lambda: np.matmul(a, b, out=c)))


def measured(environment: Mapping[str, str] | None = None) -> dict[str, float]:
    """Both, in a process of their own, which may be told more; empty where there is no C compiler."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.limits"],
        cwd=Path(__file__).parent.parent,
        env=surroundings(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    return found


def in_words(limits: dict[str, float]) -> str:
    """``triad 32.1 GB/s, dgemm 98 GFLOP/s``."""
    return f"triad {limits['triad'] / 1e9:.1f} GB/s, dgemm {limits['dgemm'] / 1e9:.0f} GFLOP/s"


if __name__ == "__main__":
    print(json.dumps({"triad": triad(), "dgemm": dgemm()}))
