"""``python -m benchmarks.fpga``: NPBench on simulated FPGAs, in float32: cycles, intervals, bytes, queues.

Beside the cycles of the simulation are those of the model. ``--report FILE``: the table goes between the marks there.
``--numbers``: sizes are numbers, so stencils have windows. ``--pes 8``: and products are systolic arrays of so many
processing elements. ``--lanes 0``: queues have tokens as wide as the board's ports. ``--emulate``: Intel's text on its
emulator instead (`make test-fpga` installs it), which shows values, and no cycles.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import os
import subprocess
import sys
import time
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
from dcpy.codegen.fpga.cycle_model.process_time import QUEUE
from dcpy.codegen.fpga.program import predicted
from dcpy.programs.explanation.explain import sizes_of
from dcpy.programs.signatures import signature_of

BEGIN, END = "<!-- results on simulated FPGAs -->", "<!-- end of results on simulated FPGAs -->"
MARKS_OF_LANES = "<!-- results with lanes -->", "<!-- end of results with lanes -->"
MARKS_OF_EMULATED = "<!-- results on Intel's emulator -->", "<!-- end of results on Intel's emulator -->"
EMULATED_HEADER = "| kernel | NumPy's values | seconds, with its build |\n|---|---|---|"
SECONDS = 150  #: for a kernel on the emulator
HEADER = "| kernel | cycles | by the model | kernels (runs) | II | bytes | deepest queue |\n" + "|---" * 7 + "|"


@dataclass(frozen=True)
class Way:
    """How kernels are compiled: for which sizes, and what is asked for."""

    preset: str = "XS"
    pes: int = 0  # processing elements of systolic products; 0: none
    numbers: bool = False  # sizes are numbers
    lanes: int = 1  # elements of a token at most; 0: as many as the board's port moves

    def options(self) -> dict[str, Any]:
        systolic = {"fpga.systolic": True, "fpga.pes": self.pes} if self.pes else {}
        return {**systolic, "fpga.lanes": self.lanes}

    def words(self) -> list[str]:
        """For the command line."""
        return [
            "--preset", self.preset, "--pes", str(self.pes), *(["--numbers"] * self.numbers),
            "--lanes", str(self.lanes),
        ]  # fmt: skip


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


def measured(kernel: Kernel, way: Way = Way()) -> Figures:
    """One call on the simulator, its results compared with NumPy's. Raises `DcpyError` for what is no hardware."""
    chosen = way.options()
    values = arguments_of(kernel, way.preset)
    sdfg, sizes = program_of(kernel, values, way)
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


def arguments_of(kernel: Kernel, preset: str) -> dict[str, Any]:
    """All arguments in single precision, also those that have defaults."""
    parameters = inspect.signature(kernel.function).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
    return in_single_precision(defaults | kernel.initialize(preset))


def program_of(kernel: Kernel, values: dict[str, Any], way: Way) -> tuple[Any, dict[str, int]]:
    """The SDFG of a kernel, and its sizes: numbers in it, where products are systolic or that is asked for."""
    sdfg = dcpy.program(kernel.function, device=dcpy.DeviceType.FPGA).to_sdfg(**values)
    sizes = sizes_of(sdfg, sdfg.convention, values)
    if way.numbers or way.pes:
        sdfg.specialize({name: size for name, size in sizes.items() if name not in sdfg.arguments}).simplify()
    return sdfg, sizes


def emulated(kernel: Kernel, way: Way) -> tuple[bool, float]:
    """Whether a call on Intel's emulator gives NumPy's values, and how many seconds that takes, with its build."""
    values = arguments_of(kernel, way.preset)
    sdfg, _ = program_of(kernel, values, way)
    started = time.perf_counter()
    compiled = sdfg.compile(device="fpga", **way.options(), **{"fpga.vendor": "intel", "fpga.mode": "emulate"})
    return is_right(kernel, compiled, values), time.perf_counter() - started


def emulated_row(name: str, way: Way) -> str:
    """A line of the emulator's table, made by a process of its own: kernels that hang there cannot be stopped."""
    command = [sys.executable, "-m", "benchmarks.fpga", name, *way.words(), "--emulate-here"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"| {name} | not done in {SECONDS} s | |"
    return done.stdout.strip() or f"| {name} | the process has died ({done.returncode}) | |"


def emulate_here(name: str, way: Way) -> None:
    """Prints the line, and ends the process whatever hangs."""
    try:
        right, seconds = emulated(kernels()[name], way)
        print(f"| {name} | {'yes' if right else 'WRONG'} | {seconds:.1f} |", flush=True)
    except (DcpyError, RuntimeError) as error:
        print(f"| {name} | {getattr(error, 'message', str(error)).splitlines()[0]} | |", flush=True)
    os._exit(0)


def is_right(kernel: Kernel, compiled: Any, values: dict[str, Any]) -> bool:
    """Whether a call agrees with NumPy, to what single precision gives where sums are reordered."""
    mine, numpys = copy.deepcopy(values), copy.deepcopy(values)
    computed, expected = compiled(**mine), kernel.function(**numpys)
    pairs = [(mine[name], numpys[name]) for name in values]
    if expected is not None:
        several = isinstance(expected, tuple)
        pairs += zip(computed, expected, strict=True) if several else [(computed, expected)]
    return all(np.allclose(mine, numpys, rtol=1e-4, atol=1e-5) for mine, numpys in pairs)


def row(name: str, way: Way) -> str:
    """A line of the table."""
    try:
        found = measured(kernels()[name], way)
    except DcpyError as error:
        return f"| {name} | {error.message} | | | | | |"
    model = "depends on data" if found.model is None else str(found.model)
    cells = (
        f"{found.cycles}{'' if found.is_right else ' (WRONG)'}", model, f"{found.kernels} ({found.runs})",
        ", ".join(map(str, found.intervals)), str(found.bytes), str(found.deepest or ""),
    )  # fmt: skip
    return f"| {name} | {' | '.join(cells)} |"


def table(names: Sequence[str], way: Way, *, emulate: bool = False) -> Iterator[str]:
    """The whole table, a line as soon as it is known."""
    yield EMULATED_HEADER if emulate else HEADER
    for name in names:
        yield emulated_row(name, way) if emulate else row(name, way)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.fpga", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="default: all of NPBench")
    parser.add_argument("--preset", default="XS", choices=("XS", "S", "M"))
    parser.add_argument("--pes", type=int, default=0, help="products are systolic arrays of so many elements")
    parser.add_argument("--numbers", action="store_true", help="sizes are numbers: stencils have windows then")
    parser.add_argument("--lanes", type=int, default=1, help="elements of a token at most; 0: as the board's port")
    parser.add_argument("--report", type=Path, help="a Markdown file whose part between the marks takes the table")
    parser.add_argument("--emulate", action="store_true", help="Intel's text on Intel's emulator")
    parser.add_argument("--emulate-here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    unknown = sorted(set(chosen.kernels) - set(kernels()))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(kernels())}")
    way = Way(chosen.preset, chosen.pes, chosen.numbers, chosen.lanes)
    if chosen.emulate_here:
        emulate_here(chosen.kernels[0], way)
    lines = []
    for line in table(chosen.kernels or list(kernels()), way, emulate=chosen.emulate):
        print(line, flush=True)
        lines.append(line)
    if chosen.report:
        plain = (BEGIN, END) if chosen.lanes == 1 else MARKS_OF_LANES
        write_between(*(MARKS_OF_EMULATED if chosen.emulate else plain), lines, chosen.report)
    return int(any("WRONG" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
