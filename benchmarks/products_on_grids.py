"""``python -m benchmarks.products_on_grids [WHAT ...] [N ...]``: 4 ranks with ScaLAPACK and without, in milliseconds.

WHAT is product, cholesky, solution or inverse. Without a ScaLAPACK products are our own (SUMMA), and
solvers are gathered. Each rank has one thread. The jobs take turns; each has its programs in a cache of its own.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import dcpy
from dcpy.base.options import environment_of_ranks
from dcpy.cli.rank_launcher import command_for
from dcpy.driver import environment_of

RANKS, TIMES = 4, 9
SIZES = (1000, 2000)
LIBRARIES = ("scalapack-mkl", "scalapack")


def product(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """Two matrices, and their product."""
    C[:] = A @ B


def cholesky(A: np.ndarray, C: np.ndarray) -> None:
    """A positive definite matrix, and a triangle."""
    C[:] = np.linalg.cholesky(A)


def solution(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    """A matrix, a right side, and the solution."""
    x[:] = np.linalg.solve(A, b)


def inverse(A: np.ndarray, C: np.ndarray) -> None:
    """A matrix, and its inverse."""
    C[:] = np.linalg.inv(A)


PROGRAMS = {each.__name__: each for each in (product, cholesky, solution, inverse)}


def _arguments(what: str, size: int) -> list[np.ndarray]:
    """The results last."""
    draw = np.random.default_rng(0)
    a = draw.uniform(size=(size, size))
    a = a @ a.T + size * np.eye(size) if what != "product" else a
    if what == "solution":
        return [a, draw.uniform(size=size), np.zeros(size)]
    return [a, *([draw.uniform(size=(size, size))] if what == "product" else []), np.zeros((size, size))]


def on_ranks(what: str, size: int) -> None:
    """What each rank does; the first one prints the median."""
    grid, given = dcpy.grid(), _arguments(what, size)
    dealt = [dcpy.distribute(each, grid, ("block", "block")[: each.ndim]) for each in given]
    program, world, found = dcpy.program(PROGRAMS[what], distributed=True, auto_optimize=True), grid.world, []
    for _ in range(TIMES + 1):
        world.most([0])
        start = time.perf_counter()
        program(*dealt)
        world.most([0])
        found.append(time.perf_counter() - start)
    PROGRAMS[what](*given)
    np.testing.assert_allclose(dealt[-1].allgather(), given[-1], rtol=1e-8, atol=1e-8 * np.abs(given[-1]).max())
    if world.rank == 0:
        print(f"{1e3 * statistics.median(found[1:]):.2f}")


def timed(what: str, size: int, scalapack: str, cache: str) -> float:
    """Milliseconds of a job."""
    own = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DCPY_CACHE_DIR": cache, "DCPY_SCALAPACK": scalapack}
    command = command_for(RANKS, ["-m", "benchmarks.products_on_grids", "--rank", what, str(size)])
    done = subprocess.run(command, env=environment_of_ranks(RANKS) | own, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(words: list[str]) -> int:
    """A line for each program and size."""
    unknown = [word for word in words if word not in PROGRAMS and not word.isdecimal()]
    if unknown:
        print(f"{unknown[0]!r} is none of {', '.join(PROGRAMS)}, and no size")
        return 2
    found = []
    for name in LIBRARIES:
        try:
            environment_of(name)
        except dcpy.DcpyError as error:
            print(f"no {name}: {error.message} ({error.help})")
        else:
            found.append(name)
    programs = [word for word in words if word in PROGRAMS] or list(PROGRAMS)
    sizes = [int(word) for word in words if word.isdecimal()] or SIZES
    with tempfile.TemporaryDirectory() as folder:
        for what, size in itertools.product(programs, sizes):
            ours = timed(what, size, "off", f"{folder}/off")
            print(f"{what}, N = {size}: without {ours:.1f}", end="")
            if found:
                theirs = timed(what, size, os.environ.get("DCPY_SCALAPACK", ""), f"{folder}/there")
                print(f", {found[0]} {theirs:.1f}: {ours / theirs:.2f}", end="")
            print(flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        on_ranks(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
