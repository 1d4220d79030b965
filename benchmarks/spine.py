"""The table of bars: each figure is measured beside its bar, and beside a peer where there is one."""

from __future__ import annotations

import json
import statistics
import tempfile
import timeit
import warnings
from collections.abc import Iterator

import numpy as np

import dcpy
from benchmarks.blas_in_c import seconds_of_dgemm_in_c
from benchmarks.figures import Figure
from benchmarks.timing import in_new_process, interleaved, median_seconds

FIRST_CALL = """
import json, time
t0 = time.perf_counter()
import numpy
t1 = time.perf_counter()
import dcpy
from examples import {name}
arguments = {name}.initialize({size})
t2 = time.perf_counter()
{name}.{name}(**arguments)
t3 = time.perf_counter()
profile = {name}.{name}.profile
print(json.dumps({{"import": t2 - t1, "call": t3 - t2, "compiler": profile.get("compiler", 0.0)}}))
"""

IMPORT = """
import sys, time, json
t0 = time.perf_counter()
import dcpy
dcpy.program, dcpy.float64
seconds = time.perf_counter() - t0
heavy = [m for m in ("sympy", "islpy", "networkx", "mpi4py", "cupy") if m in sys.modules]
print(json.dumps({"seconds": seconds, "heavy": len(heavy)}))
"""


def import_time() -> Iterator[Figure]:
    runs = [in_new_process(IMPORT) for _ in range(5)]
    seconds = statistics.median(run["seconds"] for run in runs)
    heavy = max(run["heavy"] for run in runs)
    yield Figure("import dcpy (with NumPy)", "< 0.25 s", f"{seconds:.3f} s", seconds < 0.25 and not heavy)


def first_call() -> Iterator[Figure]:
    for name, size in (("gemm", 50), ("jacobi_2d", 50)):
        runs = [in_new_process(FIRST_CALL.format(name=name, size=size)) for _ in range(5)]
        total = statistics.median(run["import"] + run["call"] for run in runs)
        own = statistics.median(run["import"] + run["call"] - run["compiler"] for run in runs)
        yield Figure(f"first call of {name}, empty cache", "< 1.5 s", f"{total:.2f} s", total < 1.5)
        yield Figure(f"... of which dcpy itself ({name})", "< 0.6 s", f"{own:.2f} s", own < 0.6)
        with tempfile.TemporaryDirectory() as cache:
            in_new_process(FIRST_CALL.format(name=name, size=size), cache=cache)
            warm = [in_new_process(FIRST_CALL.format(name=name, size=size), cache=cache) for _ in range(5)]
        seconds = statistics.median(run["call"] for run in warm)
        yield Figure(f"first call of {name}, new process, warm cache", "< 0.1 s", f"{seconds:.3f} s", seconds < 0.1)


n = dcpy.symbol("n")


@dcpy.program
def touch(a: dcpy.float64[n], b: dcpy.float64[n], c: dcpy.float64[n]):
    """The program of the warm call: three arrays of a symbolic size."""
    c[:] = a + b


def call_overhead() -> Iterator[Figure]:
    a, b, c = (np.zeros(10) for _ in range(3))
    touch(a, b, c)
    number = 200_000
    mine = min(timeit.repeat(lambda: touch(a, b, c), number=number, repeat=5)) / number
    peer = min(timeit.repeat(lambda: np.add(a, b, out=c), number=number, repeat=5)) / number
    empty = min(timeit.repeat(lambda: None, number=number, repeat=5)) / number
    text = f"{(mine - empty) * 1e6:.3f} µs (np.add(out=): {(peer - empty) * 1e6:.3f})"
    yield Figure("warm call, three float64[10]", "< 0.25 µs", text, mine - empty < 0.25e-6)


def gemm_speed() -> Iterator[Figure]:
    from examples import gemm

    arguments = gemm.initialize(1000)
    program = dcpy.program(gemm.gemm, auto_optimize=True)
    ratio = []
    for _ in range(3):
        mine = median_seconds(lambda: program(**arguments))
        c = seconds_of_dgemm_in_c(*(arguments[name].shape[1] for name in "CA"), arguments["A"].shape[0])
        ratio.append(c / mine)
    value = statistics.median(ratio)
    yield Figure("gemm n=1000, of cblas_dgemm in C", ">= 0.97", f"{value:.2f}", value >= 0.97)


def jacobi_speed() -> Iterator[Figure]:
    from examples import jacobi_2d

    program = jacobi_2d.jacobi_2d
    sdfg = program.to_sdfg()
    sdfg.apply_repeated("loop-to-map")
    sdfg.apply_repeated("map-fusion")
    sdfg.simplify()
    compiled = sdfg.compile()
    arguments = jacobi_2d.initialize(1000) | {"TSTEPS": 20}
    mine, peer = interleaved(lambda: compiled(**arguments), lambda: program.function(**arguments), repeats=5)
    yield Figure("jacobi_2d n=1000, over NumPy", ">= 3 times", f"{peer / mine:.1f} times", peer / mine >= 3)


def compile_scaling() -> Iterator[Figure]:
    from benchmarks.many_statements import seconds_to_simplify

    seconds = {count: seconds_to_simplify(count) for count in (250, 500, 1000)}
    growth = (seconds[1000] / 1000) / (seconds[250] / 250)
    yield Figure("parse + simplify, 500 statements", "< 8 s", f"{seconds[500]:.2f} s", seconds[500] < 8)
    yield Figure("time per statement, 1000 over 250", "<= 1.3", f"{growth:.2f}", growth <= 1.3)


def compiler_time() -> Iterator[Figure]:
    from benchmarks.example_compile_times import slowest_example

    name, seconds = slowest_example()
    yield Figure(f"C++ of the slowest example ({name})", "< 0.8 s", f"{seconds:.2f} s", seconds < 0.8)


def cliffs_of_sizes() -> Iterator[Figure]:
    from benchmarks.cliffs import figures

    yield from figures()


def auto_over_plain() -> Iterator[Figure]:
    from benchmarks.auto_and_plain import BAR, ratios

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name, ratio = min(ratios(), key=lambda found: found[1])
    yield Figure(f"auto_optimize over plain, least of all kernels ({name})", f">= {BAR}", f"{ratio:.2f}", ratio >= BAR)


MEASURES = (
    import_time, first_call, call_overhead, gemm_speed, jacobi_speed, compile_scaling, compiler_time, cliffs_of_sizes,
    auto_over_plain,
)  # fmt: skip


def main() -> int:
    """Prints the table (Markdown) and a JSON line with the same content; returns 1 where a bar is missed."""
    figures: list[Figure] = []
    print("| what | bar | measured | reached |\n|---|---|---|---|")
    for measure in MEASURES:
        for figure in measure():
            figures.append(figure)
            reached = "yes" if figure.reached else "NO"
            print(f"| {figure.what} | {figure.bar} | {figure.measured} | {reached} |", flush=True)
    print(json.dumps([vars(figure) for figure in figures]))
    return 0 if all(figure.reached for figure in figures) else 1
