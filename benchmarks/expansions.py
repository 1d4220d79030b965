"""``python -m benchmarks.expansions [NAME ...]``: what CPUs take, beside what any target reads, in turn.

For each node, at several sizes: microseconds of a call of the expansion `cpu`, of `maps` as the passes of CPUs leave
it, and their ratio; the best of several rounds each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import dcpy

VECTOR, ROWS = "symbols(N: size)", "symbols(N: size, M: size)"
WAYS = ("cpu", "maps")
SIZES = (10, 1000, 30_000, 300_000)
ROUNDS = 7


def _rows(n: int) -> np.ndarray:
    return np.random.default_rng(n).random((n // 1000 + 1, 1000))


def _line(n: int) -> np.ndarray:
    return np.random.default_rng(n).random(n)


Case = tuple[str, Callable[[int], tuple[np.ndarray, ...]]]
CASES: dict[str, Case] = {
    "sum": (
        f"sdfg @f(x: f64[N], s: f64[]) {VECTOR} {{ state {{ reduce (x <- x[0:N]) -> (out -> s[]) {{axes = (0,)}} }} }}",
        lambda n: (_line(n), np.zeros(())),
    ),
    "dot": (
        f"sdfg @f(x: f64[N], y: f64[N], s: f64[]) {VECTOR} {{ state {{"
        " blas.dot (x <- x[0:N], y <- y[0:N]) -> (result -> s[]) } }",
        lambda n: (_line(n), _line(n + 1)[:n], np.zeros(())),
    ),
    "row sums": (
        f"sdfg @f(A: f64[N, M], s: f64[N]) {ROWS} {{ state {{"
        " reduce (x <- A[0:N, 0:M]) -> (out -> s[0:N]) {axes = (1,)} } }",
        lambda n: (_rows(n), np.zeros(n // 1000 + 1)),
    ),
    "column sums": (
        f"sdfg @f(A: f64[N, M], s: f64[M]) {ROWS} {{ state {{"
        " reduce (x <- A[0:N, 0:M]) -> (out -> s[0:M]) {axes = (0,)} } }",
        lambda n: (_rows(n), np.zeros(1000)),
    ),
    "gemv": (
        f"sdfg @f(A: f64[N, M], x: f64[M], y: f64[N]) {ROWS} {{ state {{"
        " blas.gemv (a <- A[0:N, 0:M], x <- x[0:M]) -> (y -> y[0:N]) } }",
        lambda n: (_rows(n), _line(1000), np.zeros(n // 1000 + 1)),
    ),
    "gemm": (
        "sdfg @f(A: f64[N, K], B: f64[K, M], C: f64[N, M]) symbols(N: size, K: size, M: size) { state {"
        " blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M]) } }",
        lambda n: tuple(_line(int(n ** (2 / 3)) + 1)[: int(n ** (1 / 3)) ** 2].reshape(2 * (int(n ** (1 / 3)),)).copy()
                        for _ in "ABC"),
    ),
    "argmax": (
        f"sdfg @f(A: f64[N, M], p: i64[N]) {ROWS} {{ state {{"
        ' argreduce (x <- A[0:N, 0:M]) -> (out -> p[0:N]) {op = "max", axes = (1,)} } }',
        lambda n: (_rows(n), np.zeros(n // 1000 + 1, np.int64)),
    ),
    "compress": (
        "sdfg @f(x: f64[N], m: bool[N], o: f64[K]) symbols(N: size, K: size) { state {"
        " indexing.compress (mask <- m[0:N], x0 <- x[0:N]) -> (out0 -> o[0:K]) } }",
        lambda n: (_line(n), _line(n) < 0.3, np.zeros(np.count_nonzero(_line(n) < 0.3))),
    ),
    "fft": (
        f"sdfg @f(x: c128[N], y: c128[N]) {VECTOR} {{ state {{ fft.transform (x <- x[0:N]) -> (y -> y[0:N]) }} }}",
        lambda n: (_line(n) + 0j, np.zeros(n, complex)),
    ),
}  # fmt: skip


def seconds(run: Callable[..., object], arguments: tuple[np.ndarray, ...], size: int) -> float:
    """One call, on average over about a tenth of a second at most."""
    calls = max(3, min(1000, 300_000 // size))
    begin = time.perf_counter()
    for _ in range(calls):
        run(*arguments)
    return (time.perf_counter() - begin) / calls


def main(names: list[str]) -> None:
    """Prints a line per node and size."""
    for name in names or CASES:
        text, arguments_for = CASES[name]
        programs = [dcpy.parse(text).expand_library_nodes(way).compile() for way in WAYS]
        for size in SIZES:
            arguments = arguments_for(size)
            rounds = [[seconds(run, arguments, size) for run in programs] for _ in range(ROUNDS)]
            cpu, maps = (1e6 * min(column) for column in zip(*rounds, strict=True))
            print(f"{name:12}{size:9}  cpu {cpu:10.2f} us  maps {maps:10.2f} us  ratio {maps / cpu:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
