"""``python -m benchmarks.compilers [NAME ...] [--clang clang++-19] [--preset S]``: NPBench by clang++ beside g++.

Each kernel with auto_optimize, by both compilers in turn in one process: the time of g++'s program over that of
clang's, fastest calls (`benchmarks.auto_and_plain` says why), and the geometric mean. The bar is 0.9 in the mean.
Set ``OMP_NUM_THREADS=1`` on a busy machine.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import warnings
from collections.abc import Iterable, Iterator

import numpy as np

import dcpy
from benchmarks.auto_and_plain import ratio_of
from benchmarks.npbench import kernels
from dcpy.runtime.compilers.toolchain import candidates

BAR = 0.9


def clang_there() -> str:
    """The name of the first clang++ on PATH; empty where there is none."""
    return next((name for name in candidates() if name.startswith("clang") and shutil.which(name)), "")


def ratios(clang: str, names: Iterable[str] = (), preset: str = "S") -> Iterator[tuple[str, float]]:
    """Each kernel with the time of g++'s program over that of clang's."""
    for name in names or kernels():
        kernel = kernels()[name]
        by_gcc, by_clang = (
            dcpy.program(kernel.function, auto_optimize=True, cpu_compiler=compiler) for compiler in ("g++", clang)
        )
        yield name, ratio_of(by_gcc, by_clang, tuple(kernel.initialize(preset).values()))


def main() -> int:
    """Prints the table; returns 1 where the mean is below the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels of NPBench (default: all)")
    parser.add_argument("--clang", default=clang_there(), help="the compiler (default: the first on PATH)")
    parser.add_argument("--preset", default="S", help="sizes of arguments (default: S)")
    chosen = parser.parse_args()
    if not chosen.clang:
        parser.error("no clang++ on PATH: apt install clang")
    warnings.simplefilter("ignore")
    found = []
    with np.errstate(all="ignore"):
        for name, ratio in ratios(chosen.clang, chosen.names, chosen.preset):
            print(f"{name:28}{ratio:6.2f}", flush=True)
            found.append(ratio)
    mean = statistics.geometric_mean(found)
    print(f"{'geometric mean':28}{mean:6.2f}{'' if mean >= BAR else f'  below {BAR}'}")
    return int(mean < BAR)


if __name__ == "__main__":
    raise SystemExit(main())
