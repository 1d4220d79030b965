"""``python -m benchmarks.products_on_grids [N ...]``: SUMMA beside ScaLAPACK on 4 ranks, in milliseconds.

Each rank has one thread. The jobs take turns; each has its programs in a cache of its own.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import dcpy
from dcpy.base.options import environment_of_ranks
from dcpy.cli.ranks import command_for
from dcpy.driver import environment_of

RANKS, TIMES = 4, 9
SIZES = (1000, 2000, 3000)
LIBRARIES = ("scalapack-mkl", "scalapack")


def product(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """The program that is timed."""
    C[:] = A @ B


def on_ranks(size: int) -> None:
    """What each rank does; the first one prints the median."""
    draw, grid = np.random.default_rng(0), dcpy.grid()
    a, b = draw.uniform(size=(2, size, size))
    first, second = (dcpy.distribute(each, grid, ("block", "block")) for each in (a, b))
    result = dcpy.zeros((size, size), on=dcpy.on(grid, "block", "block"))
    program, world, found = dcpy.program(product, distributed=True, auto_optimize=True), grid.world, []
    for _ in range(TIMES + 1):
        world.most([0])
        start = time.perf_counter()
        program(first, second, result)
        world.most([0])
        found.append(time.perf_counter() - start)
    np.testing.assert_allclose(result.allgather(), a @ b, rtol=1e-10)
    if world.rank == 0:
        print(f"{1e3 * statistics.median(found[1:]):.2f}")


def timed(size: int, scalapack: str, cache: str) -> float:
    """Milliseconds of a job."""
    own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DCPY_CACHE_DIR": cache, "DCPY_SCALAPACK": scalapack}
    command = command_for(RANKS, ["-m", "benchmarks.products_on_grids", "--rank", str(size)])
    done = subprocess.run(command, env=environment_of_ranks(RANKS) | own, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(sizes: list[int]) -> int:
    """A line for each size."""
    found = []
    for name in LIBRARIES:
        try:
            environment_of(name)
        except dcpy.DcpyError as error:
            print(f"no {name}: {error.message} ({error.help})")
        else:
            found.append(name)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes or SIZES:
            ours = timed(size, "off", f"{folder}/off")
            print(f"N = {size}: SUMMA {ours:.1f}", end="")
            if found:
                theirs = timed(size, os.environ.get("DCPY_SCALAPACK", ""), f"{folder}/there")
                print(f", {found[0]} {theirs:.1f}: {ours / theirs:.2f}", end="")
            print(flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        on_ranks(int(sys.argv[2]))
    else:
        sys.exit(main([int(word) for word in sys.argv[1:]]))
