"""A short tour: gemm and jacobi_2d from NumPy source to checked, measured machine code. Run by `make demo`."""

from __future__ import annotations

import copy
import textwrap

import numpy as np

import dcpy
from benchmarks.timing import interleaved
from examples import gemm, jacobi_2d

SIZE = {"gemm": 600, "jacobi_2d": 1000}
STEPS = 20


def shorten(text: str, lines: int = 40) -> str:
    """The first lines of a text, indented, with a word on what was left out."""
    all_lines = text.splitlines()
    kept = all_lines[:lines]
    if len(all_lines) > lines:
        kept.append(f"... {len(all_lines) - lines} more lines")
    return textwrap.indent("\n".join(kept), "    ")


def show(module: object, name: str) -> bool:
    """Prints one program's way; returns whether its results equal NumPy's."""
    program = dcpy.program(getattr(module, name), auto_optimize=True)
    arguments = module.initialize(SIZE[name])
    if "TSTEPS" in arguments:
        arguments["TSTEPS"] = STEPS
    expected = copy.deepcopy(arguments)

    print(f"\n=== {name} " + "=" * (60 - len(name)))
    print("SDFG as written:\n" + shorten(str(program.to_sdfg(simplify=False))))
    sdfg = getattr(module, name).to_sdfg()
    print("after simplify:\n" + shorten(str(sdfg)))
    sdfg.auto_optimize()
    print("after auto-optimize:\n" + shorten(str(sdfg)))
    print("transformations: " + ", ".join(f"{step} ({count})" for step, count in sdfg.applied().items()))

    program(**arguments)
    program.function(**expected)
    same = all(np.allclose(arguments[key], expected[key], rtol=1e-10) for key in arguments)
    print(f"results equal NumPy's: {'yes' if same else 'NO'}")

    profile = program.profile
    total = sum(profile.values())
    print("first call: " + ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in profile.items()))
    dcpy_time, numpy_time = interleaved(lambda: program(**arguments), lambda: program.function(**expected))
    print(f"compile time {total:.2f} s (0.00 s when the cache has it)")
    print(f"run time {dcpy_time * 1e3:.2f} ms, NumPy {numpy_time * 1e3:.2f} ms: {numpy_time / dcpy_time:.2f} times")
    return same


def main() -> int:
    same = [show(gemm, "gemm"), show(jacobi_2d, "jacobi_2d")]
    return 0 if all(same) else 1


if __name__ == "__main__":
    raise SystemExit(main())
