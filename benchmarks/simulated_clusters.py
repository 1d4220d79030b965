"""``python -m benchmarks.simulated_clusters [RANKS ...] [NAME ...]``: weak scaling on a simulated cluster, by SimGrid.

The programs that ``sdfgcc --mpi --main`` makes, compiled by SimGrid's ``smpicxx`` and run by ``smpirun``: messages are
simulated on a dragonfly (10 GB/s and 1.3 us a link), and what ranks compute between them is computed, and takes the
median of what it took here. Work grows with the ranks as the paper's does (its figure 12), from smaller sizes.
Efficiency is the time of one rank over that of so many; each is the least of some calls. Draws build/weak-scaling.svg.

Ranks take turns on one core. Array k of all ranks is the same memory (simulated_clusters.h), so that 1,024 of them fit,
and what a rank finds in caches is what one rank alone would find there: values are of no use, but none decides what is
done or sent. Matrices that are read once are larger than caches, in which a rank would find what the one before it has
read. Each piece of work between two calls of MPI has one time for all ranks: what they would wait for a
slow one is not in the figures.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import dcpy
from benchmarks.weak_scaling import draw
from dcpy.cli.standalone_programs import build_standalone
from dcpy.ir.library.expansions import environment_of

J, K, L, M, N = (dcpy.symbol(name) for name in "JKLMN")
KILLED = 128 + 9  # by the kernel, which has no memory left
RANKS, TIMES, SPEED = (1, 4, 16, 64, 256, 1024), 3, 400
PICTURE = Path("build/weak-scaling.svg")
INSTALL = "apt install libsimgrid-dev"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" suffix="" radical="0-1023" speed="{speed}" bw="10GBps" lat="1.3us" topology="DRAGONFLY"
    topo_parameters="8,4;8,2;8,1;2" sharing_policy="SPLITDUPLEX"/>
</platform>
"""

@dcpy.program(auto_optimize=True)
def atax(A: dcpy.float64[N, M], x: dcpy.float64[M], y: dcpy.float64[M]):
    """A matrix twice."""
    y[:] = (A @ x) @ A


@dcpy.program(auto_optimize=True)
def bicg(A: dcpy.float64[N, M], p: dcpy.float64[M], r: dcpy.float64[N], s: dcpy.float64[M], q: dcpy.float64[N]):
    """A matrix, and its transpose."""
    s[:] = r @ A
    q[:] = A @ p


@dcpy.program(auto_optimize=True)
def gemver(
    A: dcpy.float64[N, N], u1: dcpy.float64[N], v1: dcpy.float64[N], u2: dcpy.float64[N], v2: dcpy.float64[N],
    w: dcpy.float64[N], x: dcpy.float64[N], y: dcpy.float64[N], z: dcpy.float64[N],
):  # fmt: skip
    """A matrix that is changed, and read twice."""
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += 1.2 * y @ A + z
    w += 1.5 * A @ x


@dcpy.program(auto_optimize=True)
def gesummv(A: dcpy.float64[N, M], B: dcpy.float64[N, M], x: dcpy.float64[M], y: dcpy.float64[N]):
    """Two matrices."""
    y[:] = A @ x + B @ x


@dcpy.program(auto_optimize=True)
def mvt(A: dcpy.float64[N, N], x: dcpy.float64[N], y: dcpy.float64[N], u: dcpy.float64[N], v: dcpy.float64[N]):
    """A matrix and its transpose, added to what is there."""
    x += A @ u
    y += v @ A


@dcpy.program(auto_optimize=True)
def doitgen(A: dcpy.float64[N, M, K], C: dcpy.float64[K, K]):
    """One small matrix for each row of planes: no message."""
    A[:] = A @ C


@dcpy.program(auto_optimize=True)
def jacobi_2d(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    """A stencil in the plane."""
    for _ in range(20):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@dcpy.program(auto_optimize=True)
def jacobi_1d(A: dcpy.float64[N], B: dcpy.float64[N]):
    """A stencil on a line: there is little to do between two messages."""
    for _ in range(200):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@dcpy.program(auto_optimize=True)
def gemm(A: dcpy.float64[N, K], B: dcpy.float64[K, M], C: dcpy.float64[N, M]):
    """A product on the grid, by SUMMA."""
    C[:] = 1.5 * A @ B + 1.2 * C


@dcpy.program(auto_optimize=True)
def k2mm(A: dcpy.float64[N, K], B: dcpy.float64[K, M], C: dcpy.float64[M, L], D: dcpy.float64[N, L]):
    """Two products, one after the other."""
    D[:] = 1.5 * A @ B @ C + 1.2 * D


@dcpy.program(auto_optimize=True)
def k3mm(
    A: dcpy.float64[N, K], B: dcpy.float64[K, M], C: dcpy.float64[M, J], D: dcpy.float64[J, L], E: dcpy.float64[N, L]
):
    """Three products."""
    E[:] = A @ B @ (C @ D)


PLANE, ROWS, COLUMNS, PLANES = "g(block 0, block 1)", "g(block 0)", "g(block 1)", "g(block 0, whole, whole)"
#: where arguments are, the axes of the grid, and sizes at one rank, each with the root by which it grows (0: it stays)
PLANS: dict[str, tuple[dict[str, str], int, dict[str, tuple[int, int]]]] = {
    "atax": ({"A": PLANE, "x": COLUMNS, "y": COLUMNS}, 2, {"N": (2400, 2), "M": (3000, 2)}),
    "bicg": ({"A": PLANE, "p": COLUMNS, "r": ROWS, "s": COLUMNS, "q": ROWS}, 2, {"N": (2500, 2), "M": (2300, 2)}),
    "gemver": (
        {"A": PLANE, **dict.fromkeys(("u1", "u2", "w", "y"), ROWS), **dict.fromkeys(("v1", "v2", "x", "z"), COLUMNS)},
        2, {"N": (2300, 2)},
    ),
    "gesummv": ({"A": PLANE, "B": PLANE, "x": COLUMNS, "y": ROWS}, 2, {"N": (2300, 2), "M": (2300, 2)}),
    "mvt": ({"A": PLANE, "x": ROWS, "y": COLUMNS, "u": COLUMNS, "v": ROWS}, 2, {"N": (2300, 2)}),
    "doitgen": ({"A": PLANES, "tmp": PLANES}, 1, {"N": (32, 1), "M": (64, 0), "K": (256, 0)}),
    "jacobi_2d": ({"A": PLANE, "B": PLANE}, 2, {"N": (1300, 2), "M": (1300, 2)}),
    "jacobi_1d": ({"A": ROWS, "B": ROWS}, 1, {"N": (24000, 1)}),
    "gemm": ({"A": PLANE, "B": PLANE, "C": PLANE}, 2, {"N": (800, 3), "M": (920, 3), "K": (520, 3)}),
    "k2mm": (
        {name: PLANE for name in "ABCD"}, 2, {"N": (640, 3), "K": (720, 3), "M": (440, 3), "L": (480, 3)},
    ),
    "k3mm": (
        {name: PLANE for name in "ABCDE"}, 2,
        {"N": (640, 3), "K": (720, 3), "M": (400, 3), "J": (440, 3), "L": (480, 3)},
    ),
}  # fmt: skip
PROGRAMS = (atax, bicg, doitgen, gemm, gemver, gesummv, jacobi_1d, jacobi_2d, k2mm, k3mm, mvt)
KERNELS = {each.function.__name__: each for each in PROGRAMS}


def compiled(name: str, folder: Path) -> Path:
    """The simulated program of a kernel."""
    plan, axes, _ = PLANS[name]
    sdfg = KERNELS[name].to_sdfg()
    sdfg.distribute(plan, {"g": ["P", "Q"][:axes]})
    sdfg.save(str(folder / f"{name}.sdfg"))
    build_standalone(str(folder / f"{name}.sdfg"), str(folder / f"{name}.real"), on_ranks=True, keep_source=True)
    found = environment_of("openblas")
    blas = [f"-L{path}" for path in found.library_dirs] + [f"-Wl,-rpath,{path}" for path in found.library_dirs]
    blas += [f"-l{library}" for library in found.libraries]
    flags = ["-O3", "-march=native", "-std=c++17", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-w",
             "-fno-gnu-unique"]  # fmt: skip
    flags += [f"-DFLOPS={SPEED}e9", "-include", str(Path(__file__).with_suffix(".h"))]
    for source, more in ((name, []), (f"{name}_main", ["-DHAS_MAIN"])):
        command = ["smpicxx", *flags, *more, "-c", f"{source}.cpp", "-o", f"{source}.o"]
        subprocess.run(command, cwd=folder, check=True)
    subprocess.run(["smpicxx", "-fopenmp", f"{name}.o", f"{name}_main.o", "-o", name, *blas], cwd=folder, check=True)
    return folder / name


def simulated(program: Path, ranks: int, sizes: dict[str, tuple[int, int]]) -> float:
    """Seconds of simulated time: the least of some calls. Infinite where that many ranks do not fit into memory."""
    words = [f"{name}={round(size * ranks ** (1 / root)) if root else size}" for name, (size, root) in sizes.items()]
    words += [f"{name}=1" for name in KERNELS[program.name].to_sdfg().arguments]
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts",
               "--log=root.thres:critical", "--cfg=smpi/simulate-computation:no", str(program), *words, "--times",
               str(max(TIMES, 24 // ranks))]  # fmt: skip
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shared:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DCPY_SHARED_MEMORY": shared}
        done = subprocess.run(command, cwd=program.parent, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode == KILLED:
        return math.inf
    done.check_returncode()
    return min(float(line.split()[0]) for line in done.stdout.splitlines() if line.endswith(" s"))


def main(words: list[str]) -> int:
    """A line for each kernel: the time of one rank, and efficiencies of more."""
    unknown = [word for word in words if word not in KERNELS and not word.isdecimal()]
    if unknown:
        print(f"{unknown[0]!r} is none of {', '.join(KERNELS)}, and no number of ranks")
        return 2
    if shutil.which("smpirun") is None or shutil.which("smpicxx") is None:
        print(f"skipped: SimGrid is not installed ({INSTALL})")
        return 2
    found: dict[str, dict[int, float]] = {}
    counts = sorted({1, *([int(word) for word in words if word.isdecimal()] or RANKS)})
    print(f"| kernel | 1 rank, ms | {' | '.join(map(str, counts[1:]))} |\n{'|---' * (len(counts) + 1)}|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "platform.xml").write_text(PLATFORM.format(speed=f"{SPEED}Gf"))
        (folder / "hosts").write_text("".join(f"n-{host}\n" for host in range(1024)))
        for kernel in [word for word in words if word in KERNELS] or KERNELS:
            program = compiled(kernel, folder)
            times = [simulated(program, ranks, PLANS[kernel][2]) for ranks in counts]
            cells = ["-" if math.isinf(seconds) else f"{times[0] / seconds:.0%}" for seconds in times[1:]]
            print(f"| {kernel} | {1e3 * times[0]:.2f} | {' | '.join(cells)} |", flush=True)
            pairs = [pair for pair in zip(counts, times, strict=True) if math.isfinite(pair[1])]
            found[kernel] = {ranks: times[0] / seconds for ranks, seconds in pairs}
            PICTURE.parent.mkdir(exist_ok=True)
            written = draw(found, "Weak scaling on a simulated cluster", PICTURE)
    print(f"drawn: {', '.join(map(str, written))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
