"""FPGA explanation: initiation intervals and their bounds, queues, cycles, bytes and resources of each process.

Numbers are the model's (`codegen.fpga.cycle_model`); beside its cycles are those of a simulation, where there was one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from dcpy.codegen.fpga.cycle_model.network_time import NetworkTime, TimedProcess
from dcpy.codegen.fpga.cycle_model.program_time import KernelTime, ProgramTime
from dcpy.codegen.fpga.program import predicted
from dcpy.ir.data import Stream
from dcpy.ir.fpga.boards import OPERATORS, Board, board, dsps_of, luts_of
from dcpy.ir.sdfg import Sdfg
from dcpy.runtime.loading.kernel_cycles import SimulatedKernel
from dcpy.targets.lowered_program import LoweredProgram

Simulated = Mapping[str, SimulatedKernel]
HEADER = (
    f"    {'process':<28}{'II':>5}{'depth':>7}{'iterations':>12}"
    f"{'cycles':>10}{'waits':>8}{'read':>10}{'written':>10}"
)


def explain_hardware(program: LoweredProgram) -> Iterator[str]:
    """Lines about the hardware of a program in the form ``fpga``; in numbers where sizes are given."""
    lowered, simulated = program.sdfg, program.simulated
    chosen = board(program.options.fpga.platform)
    time = predicted(lowered, program.sizes, program.signature(), options=program.options)
    if not time.kernels:
        yield "hardware: none, all of it runs on the host"
        return
    yield f"hardware, by the model of {chosen.name} at {chosen.clock // 1_000_000} MHz:"
    depths = _depths(lowered)
    for kernel in time.kernels.values():
        yield from _kernel(kernel, simulated.get(kernel.name), depths)
    yield from _total(time, simulated, chosen)


def _kernel(kernel: KernelTime, simulated: SimulatedKernel | None, depths: Mapping[str, int]) -> Iterator[str]:
    known = kernel.longest
    if known is None:
        why = kernel.unknown or "it is not known whether it runs"
        yield f"  {kernel.name}: {why} (explain with arguments, or with sizes={{...}})"
        return
    runs = f"{kernel.runs} runs, " if kernel.runs != 1 else ""
    beside = f", {simulated.cycles} simulated" if simulated else ""
    least = "" if known.is_exact else "at least "  # waits for room are not counted
    yield f"  {kernel.name}: {runs}{least}{kernel.cycles} cycles by the model{beside}"
    yield HEADER
    for process in known.processes:
        yield from _process(process)
    for name, need in known.needed_depths.items():
        depth = depths.get(name.partition("[")[0], 0)
        used = next((queue.used for queue in simulated.queues if queue.name == name), None) if simulated else None
        told = f", {used} used" if used is not None else ""
        yield f"    queue {name}: depth {depth}, needs {need}{told}"


def _process(process: TimedProcess) -> Iterator[str]:
    name = process.name if process.copy is None else f"{process.name}[{process.copy}]"
    first = True
    waits = process.ends - process.course.cycles
    for pipeline in process.pipelines:
        text = f"    {name if first else '':<28}{pipeline.ii:>5}{pipeline.depth:>7}{pipeline.iterations:>12}"
        if first:
            text += f"{process.ends:>10}{waits:>8}{process.course.read:>10}{process.course.written:>10}"
        yield text
        if pipeline.bound:
            yield f"        the interval of {pipeline.variable} is that of {pipeline.bound}"
        first = False
    if first:
        yield f"    {name:<28}{'':>24}{process.ends:>10}{waits:>8}{process.course.read:>10}{process.course.written:>10}"


def _depths(sdfg: Sdfg) -> dict[str, int]:
    found: dict[str, int] = {}
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Stream):
                found[name] = desc.capacity.constant or 0
    return found


def _total(time: ProgramTime, simulated: Simulated, chosen: Board) -> Iterator[str]:
    networks = [kernel.longest for kernel in time.kernels.values() if kernel.longest is not None]
    if time.cycles is None:
        yield f"  in all: not known, for {time.unknown or 'sizes are missing'}"
    else:
        beside = f", {sum(one.cycles for one in simulated.values())} simulated" if simulated else ""
        yield f"  in all: {time.cycles} cycles{beside}: {_duration(time.cycles / chosen.clock)}"
    sources = f"{chosen.source}; operators: {OPERATORS[chosen.vendor]}"
    yield f"  about {_resources(networks, chosen)} ({sources})"
    for network in networks:
        share = _share(network, chosen)
        if share > 1:
            yield f"  the memory of {chosen.name} is too slow for that, by a factor of {share:.1f} ({chosen.source})"
            break


def _resources(networks: Sequence[NetworkTime], chosen: Board) -> str:
    """Return the resources that all networks need of a board, and their shares of its resources."""
    operators = [one for network in networks for process in network.processes for one in process.operators.items()]
    memories = [one for network in networks for process in network.processes for one in process.memories]
    memories += [one for network in networks for one in network.queues]
    dsps = sum(dsps_of(name, dtype, chosen.vendor) * count for (name, dtype), count in operators)
    luts = sum(luts_of(name, dtype) * count for (name, dtype), count in operators)
    luts += sum(one.luts(chosen) for one in memories)
    rams = sum(one.rams(chosen) for one in memories)
    parts = ((dsps, chosen.dsps, "DSPs"), (rams, chosen.rams, "blocks of memory"), (luts, chosen.luts, "LUTs"))
    return ", ".join(f"{used} of {there} {what} ({used / there:.1%})" for used, there, what in parts)


def _share(network: NetworkTime, chosen: Board) -> float:
    """The bytes of a network beside those that all banks move meanwhile."""
    moved = sum(one.course.read + one.course.written for one in network.processes)
    return moved / max(network.cycles, 1) * chosen.clock / (chosen.banks * chosen.bandwidth)


def _duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{ceil(seconds * 1e9)} ns"


