"""``python -m benchmarks.fpga``: NPBench on simulated FPGAs, in float32: cycles, intervals, bytes, queues.

Beside the cycles of the simulation are those of the model. ``--report FILE``: the table goes between the marks there.
``--pes 8``: sizes are numbers, and products are systolic arrays of so many processing elements.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dcpy
from benchmarks.npbench import Kernel, kernels
from benchmarks.peers.report import write_between
from dcpy import driver
from dcpy.base.errors import DcpyError
from dcpy.base.options import resolve_options
from dcpy.codegen.cycles.processes import QUEUE
from dcpy.codegen.fpga import predicted
from dcpy.programs.explain import sizes_of
from dcpy.programs.signatures import signature_of

BEGIN, END = "<!-- results on simulated FPGAs -->", "<!-- end of results on simulated FPGAs -->"
HEADER = "| kernel | cycles | by the model | kernels (runs) | II | bytes | deepest queue |\n" + "|---" * 7 + "|"


@dataclass(frozen=True)
class Figures:
    """What one call of a kernel takes on the simulator, and by the model (None: its loops depend on data)."""

    cycles: int
    model: int | None
    kernels: int
    runs: int
    intervals: tuple[int, ...]  # of all pipelined loops, the largest first, without repetitions
    bytes: int
    deepest: int
    is_right: bool


def in_single_precision(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a kernel with floats of 32 bits."""

    def single(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            return value.astype(np.float32)
        return np.float32(value) if isinstance(value, float) else value

    return {name: single(value) for name, value in values.items()}


def measured(kernel: Kernel, preset: str, pes: int = 0) -> Figures:
    """One call on the simulator, its results compared with NumPy's. Raises `DcpyError` for what is no hardware."""
    chosen = {"fpga.systolic": True, "fpga.pes": pes} if pes else {}
    parameters = inspect.signature(kernel.function).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
    values = in_single_precision(defaults | kernel.initialize(preset))
    sdfg = dcpy.program(kernel.function, device=dcpy.DeviceType.FPGA).to_sdfg(**values)
    sizes = sizes_of(sdfg, sdfg.convention, values)
    if pes:
        sdfg.specialize({name: size for name, size in sizes.items() if name not in sdfg.arguments})
    options = resolve_options({"device": "fpga", **chosen})
    compiled = sdfg.compile(device="fpga", **chosen)
    simulated = compiled.simulated(**values)
    lowered, _ = driver.lower(sdfg, options)
    time = predicted(lowered, sizes, signature_of(sdfg), options=options)
    networks = [one.longest for one in time.kernels.values() if one.longest is not None]
    processes = [process for network in networks for process in network.processes]
    pipelines = [pipeline for process in processes for pipeline in process.pipelines]
    intervals = {pipeline.ii for pipeline in pipelines if pipeline.bound != QUEUE}  # of others: cycles of a token
    queues = [queue.depth for one in simulated.values() for queue in one.queues]
    return Figures(
        sum(one.cycles for one in simulated.values()),
        time.cycles,
        len(simulated),
        sum(one.runs for one in simulated.values()),
        tuple(sorted(intervals, reverse=True)),
        sum(process.course.read + process.course.written for process in processes),
        max(queues, default=0),
        is_right(kernel, compiled, values),
    )


def is_right(kernel: Kernel, compiled: Any, values: dict[str, Any]) -> bool:
    """Whether a call agrees with NumPy, to what single precision gives where sums are reordered."""
    mine, numpys = copy.deepcopy(values), copy.deepcopy(values)
    computed, expected = compiled(**mine), kernel.function(**numpys)
    pairs = [(mine[name], numpys[name]) for name in values]
    if expected is not None:
        several = isinstance(expected, tuple)
        pairs += zip(computed, expected, strict=True) if several else [(computed, expected)]
    return all(np.allclose(mine, numpys, rtol=1e-4, atol=1e-5) for mine, numpys in pairs)


def row(name: str, preset: str, pes: int = 0) -> str:
    """A line of the table."""
    try:
        found = measured(kernels()[name], preset, pes)
    except DcpyError as error:
        return f"| {name} | {error.message} | | | | | |"
    model = "depends on data" if found.model is None else str(found.model)
    cells = (
        f"{found.cycles}{'' if found.is_right else ' (WRONG)'}", model, f"{found.kernels} ({found.runs})",
        ", ".join(map(str, found.intervals)), str(found.bytes), str(found.deepest or ""),
    )  # fmt: skip
    return f"| {name} | {' | '.join(cells)} |"


def table(names: Sequence[str], preset: str, pes: int = 0) -> Iterator[str]:
    """The whole table, a line as soon as it is known."""
    yield HEADER
    for name in names:
        yield row(name, preset, pes)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.fpga", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="default: all of NPBench")
    parser.add_argument("--preset", default="XS", choices=("XS", "S", "M"))
    parser.add_argument("--pes", type=int, default=0, help="products are systolic arrays of so many elements")
    parser.add_argument("--report", type=Path, help="a Markdown file whose part between the marks takes the table")
    chosen = parser.parse_args(words)
    unknown = sorted(set(chosen.kernels) - set(kernels()))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(kernels())}")
    lines = []
    for line in table(chosen.kernels or list(kernels()), chosen.preset, chosen.pes):
        print(line, flush=True)
        lines.append(line)
    if chosen.report:
        write_between(BEGIN, END, lines, chosen.report)
    return int(any("WRONG" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
