"""A short tour: gemm and jacobi_2d from NumPy source to checked, measured machine code. Run by `make demo`.

Compile times are those of first calls in fresh Python processes, with a cache folder that is empty at first.
"""

from __future__ import annotations

import copy
import inspect
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from types import ModuleType

import numpy as np

import dcpy
from benchmarks.timing import in_new_process, interleaved
from examples import gemm, jacobi_2d

WIDTH = 116
FIRST_CALL = """
import json, time
import dcpy
from benchmarks.demo import {tour}
arguments = {tour}.arguments(size=8)
program = {tour}.program
start = time.perf_counter()
program(**arguments)
seconds = time.perf_counter() - start
print(json.dumps({{"seconds": seconds, "compiler": program.profile.get("compiler", 0.0)}}))
"""


@dataclass(frozen=True)
class Tour:
    """One program: where it is, its name, how large it is measured, and what to know about the figures."""

    module: ModuleType
    name: str
    size: int
    steps: int = 0
    remark: str = ""

    @property
    def program(self) -> dcpy.Program:
        return dcpy.program(getattr(self.module, self.name), auto_optimize=True)

    def arguments(self, size: int = 0) -> dict[str, object]:
        made = self.module.initialize(size or self.size)
        return made | {"TSTEPS": self.steps} if self.steps else made


GEMM = Tour(gemm, "gemm", 600, remark="; both call BLAS for the product")
JACOBI_2D = Tour(jacobi_2d, "jacobi_2d", 1000, steps=20)


def boxed(title: str, text: str, lines: int) -> str:
    """A text under its title: its first lines, cut at the margin, and how many there are more."""
    body = text.rstrip().splitlines()
    kept = [line if len(line) <= WIDTH else line[: WIDTH - 2] + " …" for line in body[:lines]]
    if len(body) > lines:
        kept.append(f"  … {len(body) - lines} more lines")
    return f"{title}\n{textwrap.indent(chr(10).join(kept), '  ')}\n"


def show_program(tour: Tour, *, stages: bool = False) -> None:
    """The function, and what was applied to it; with `stages` also its SDFG as written, simplified and optimized."""
    program = getattr(tour.module, tour.name)
    print(f"\n━━ {tour.name} {'━' * (WIDTH - len(tour.name))}\n")
    print(boxed("NumPy", inspect.getsource(program.function), 20))
    if stages:
        print(boxed("SDFG as written", str(program.to_sdfg(simplify=False)), 19))
    sdfg = program.to_sdfg()
    if stages:
        print(boxed("after simplify", str(sdfg), 19))
    sdfg.auto_optimize()
    if stages:
        print(boxed("after auto-optimize", str(sdfg), 32))
    print("transformations  " + ", ".join(f"{step} ({count})" for step, count in sdfg.applied().items()))


def show_compile_time(variable: str) -> None:
    """First calls in two fresh processes that share a cache folder, empty at first."""
    with tempfile.TemporaryDirectory() as cache:
        first, second = (in_new_process(FIRST_CALL.format(tour=variable), cache=cache) for _ in range(2))
    compiler, total = first["compiler"], first["seconds"]
    print(
        f"compile time     {total:.2f} s (dcpy {total - compiler:.2f} s, C++ compiler {compiler:.2f} s); "
        f"in the next process, from the cache: {second['seconds']:.3f} s"
    )


def show_run_time(tour: Tour) -> bool:
    """Time beside NumPy's; returns whether the results are NumPy's."""
    program, arguments = tour.program, tour.arguments()
    expected = copy.deepcopy(arguments)
    program(**arguments)
    program.function(**expected)
    same = all(np.allclose(arguments[key], expected[key], rtol=1e-10, atol=0) for key in arguments)
    print(f"results          {'equal to' if same else 'DIFFER FROM'} NumPy's (relative tolerance 1e-10)")
    ours, numpys = interleaved(lambda: program(**arguments), lambda: program.function(**expected))
    print(
        f"run time         {ours * 1e3:.2f} ms, NumPy {numpys * 1e3:.2f} ms: {numpys / ours:.2f} times as fast "
        f"(n = {tour.size}, medians of 9{tour.remark})"
    )
    return same


def main() -> int:
    """Runs both tours; 1 if a result is wrong."""
    stages = "--stages" in sys.argv[1:]
    same = []
    for variable, tour in (("GEMM", GEMM), ("JACOBI_2D", JACOBI_2D)):
        show_program(tour, stages=stages)
        show_compile_time(variable)
        same.append(show_run_time(tour))
    if not stages:
        print(f"\nThe stages in between: {sys.executable} -m benchmarks.demo --stages")
        print("What to read next:     docs/get-started/quick-start.md")
    return 0 if all(same) else 1


if __name__ == "__main__":
    raise SystemExit(main())
