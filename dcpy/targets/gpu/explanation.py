"""GPU explanation: lines, geometry, resources, bytes and modelled time of each kernel, and declined optimizations.

Nothing is measured here: times follow from bytes, operations and the constants of the chip (`targets.gpu.costs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dcpy.base.errors import DcpyError, SymbolicError
from dcpy.base.figures import figure_text
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.codegen.artifact import DEVICE, Artifact, Kernel
from dcpy.ir.analysis import device_side
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.gpu.kernel_launches import SampledLaunch, blocks_of, launches, loops_around
from dcpy.ir.analysis.gpu.kernel_operations import operations_of, points_of
from dcpy.ir.analysis.gpu.memory_traffic import Traffic, traffic_of
from dcpy.ir.analysis.gpu.sector_counts import SectorCount, counted
from dcpy.ir.editing.axis_descriptions import with_axes
from dcpy.ir.editing.remarks import Remark
from dcpy.ir.machine_model import Costs
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import ThreadBlock
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr
from dcpy.runtime.gpu.kernel_resources import KernelResources
from dcpy.targets.explanation_text import lines_of, location_text
from dcpy.targets.gpu.costs import costs_of
from dcpy.targets.lowered_program import LoweredProgram

CHIP = "sm_90"  #: for which kernels are compiled to see what they need, where no chip is chosen
MOST_LAUNCHES = 8  #: of one loop that are looked at


@dataclass(frozen=True, slots=True)
class Chip:
    """The costs of a chip, and what each kernel needs of it, by name; `note` says why that is not known."""

    arch: str
    costs: Costs
    resources: Mapping[str, KernelResources]
    note: str


def explain_kernels(program: LoweredProgram, costs: Costs) -> Iterator[str]:
    """Lines about each kernel of a program in codegen form; in numbers where the values of symbols are known.

    `costs` are those of the chip that the options choose.
    """
    lowered, artifact, sizes = program.sdfg, program.artifact(), program.likely_sizes
    chip = _chip(artifact, program.options, costs)
    uses = Uses(lowered)
    nodes = device_side.kernels(lowered)
    if not nodes:
        yield "kernels: none, all of it runs on the host"
        return
    yield f"kernels, by the constants of {chip.arch}{f'; {chip.note}' if chip.note else ''}:"
    first = [made for made in artifact.kernels if not made.small_of]
    for made, node in zip(first, nodes, strict=True):
        lines = lines_of(node)
        yield f"  {location_text(lines)}  {made.name}"
        traffic = traffic_of(node, uses)
        taken = list(launches(node, sizes, MOST_LAUNCHES)) if _are_known(node, traffic, sizes) else []
        yield from _rows("blocks", _geometry(made, node, taken))
        yield from _rows("chip", _needs(made, chip))
        yield from _rows("indices", filter(None, (made.indices,)))
        yield from _rows("launches", (with_axes(text, program.sdfg) for text in _launches(node, taken)))
        yield from _rows("bytes", _bytes(traffic, taken))
        yield from _rows("time", _time(node, traffic, taken, chip.costs))
        yield from _rows("declined", _declined(lines, program.remarks))


def _rows(title: str, texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f"      {'' if number else title:10}{text}"


# -- where it comes from -----------------------------------------------------------------------------------------------


def _declined(lines: Mapping[str, set[int]], remarks: Sequence[Remark]) -> Iterator[str]:
    """Yield the declined optimizations on these lines, with the reasons."""
    told = (
        f"{remark.step}: {remark.reason or remark.about}"
        for remark in remarks
        if not remark.applied and remark.span is not None and remark.span.line in lines.get(remark.span.file, ())
    )
    yield from dict.fromkeys(told)


# -- its shape ---------------------------------------------------------------------------------------------------------


def _geometry(made: Kernel, node: Map, taken: Sequence[SampledLaunch]) -> Iterator[str]:
    threads = made.threads[0] * made.threads[1] * made.threads[2]
    shape = " x ".join(str(count) for count in made.threads if count > 1) or "1"
    yield f"{' x '.join(map(_count, node.domain))} blocks of {shape} threads"
    maps = [inner for inner in node.body.walk_nodes() if isinstance(getattr(inner, "schedule", None), ThreadBlock)]
    work = [points_of((*node.iteration_space(), *inner.iteration_space())) for inner in maps]
    if taken and work:
        known = taken[len(taken) // 2].symbols
        blocks = blocks_of(node, known)
        points = [found for each in work if (found := _number(each, known)) is not None]
        if blocks and points:
            yield f"{blocks} blocks; {min(max(points) / (blocks * threads), 1):.0%} of their threads have work"


def _count(values: Range) -> str:
    """Return the number of values in a range, in words."""
    if values.size.constant is not None or values.step is ONE:
        text = str(values.size)
        return f"({text})" if " " in text else text
    return f"ceil(({values.stop - values.start}) / {values.step})"


def _needs(made: Kernel, chip: Chip) -> Iterator[str]:
    found = chip.resources.get(made.name)
    if found is None:
        if made.shared_bytes:
            yield f"{made.shared_bytes} bytes of shared memory"
        return
    threads = made.threads[0] * made.threads[1] * made.threads[2]
    spills = found.spill_stores + found.spill_loads
    yield (
        f"{found.registers} registers, {found.shared} bytes of shared memory, "
        f"{f'{spills} bytes spilled' if spills else 'no spills'}, {found.blocks_per_processor(threads)} blocks at once"
    )


def _chip(artifact: Artifact, options: Options, costs: Costs) -> Chip:
    arch = options.gpu.arch or CHIP
    if options.gpu.arch:
        costs = costs_of(arch, None, costs) if options.gpu.backend is Backend.SIMULATOR else costs
    try:
        return Chip(arch, costs, _compiled(artifact, arch, options), "")
    except DcpyError as error:
        return Chip(arch, costs, {}, f"registers are not known: {error.help or error.message}")


def _compiled(artifact: Artifact, arch: str, options: Options) -> dict[str, KernelResources]:
    """Return the resources of each kernel on a chip, which need not be there."""
    from dcpy.runtime.gpu.hipcc import find_hipcc
    from dcpy.runtime.gpu.nvrtc import find_nvidia_compiler

    unit = next((unit for unit in artifact.units if unit.language == DEVICE), None)
    if unit is None:
        return {}
    compiler = find_hipcc() if arch.startswith("gfx") else find_nvidia_compiler()
    headers = tuple(unit for unit in artifact.units if not unit.language)
    binary = compiler.compile(unit, headers, arch, replace(options.gpu, hooks=False))
    return {found.kernel: found for found in binary.resources}


# -- what it moves, and how long that takes ----------------------------------------------------------------------------


def _launches(node: Map, taken: Sequence[SampledLaunch]) -> Iterator[str]:
    loops = [name for name, _ in loops_around(node)]
    if loops and taken:
        yield f"{sum(launch.times for launch in taken):.0f}, in loops over {', '.join(loops)}"
    elif loops:
        yield f"one for each {', '.join(loops)}"


def _bytes(traffic: Traffic, taken: Sequence[SampledLaunch]) -> Iterator[str]:
    count = _average(traffic, taken)
    if count is None:
        yield f"at least {traffic.floor}"
        yield f"in sectors {traffic.moved}"
    else:
        share = f", {count.floor / count.moved:.0%} of them needed" if count.moved and count.exact else ""
        yield f"{figure_text(count.moved, 'B')} in sectors{share}"
    if traffic.data_dependent:
        yield f"at most: what is touched of {', '.join(traffic.data_dependent)} depends on the data"


def _time(node: Map, traffic: Traffic, taken: Sequence[SampledLaunch], costs: Costs) -> Iterator[str]:
    count = _average(traffic, taken)
    if count is None or not costs.memory_speed or not costs.operation_speed:
        return
    work = operations_of(node, costs)
    done = [_number(work, launch.symbols) for launch in taken]
    operations = max(done[len(done) // 2] or 0, 0)
    memory, computing = count.moved / costs.memory_speed, operations / costs.operation_speed
    limit = "memory" if memory >= computing else f"{figure_text(operations, 'operations')}"
    times = sum(launch.times for launch in taken)
    total = times * (max(memory, computing) + costs.launch / 1000)
    slower, launch_time = max(memory, computing), costs.launch / 1000
    yield f"{slower:.2f} µs by {limit}, and {launch_time:.2f} µs to launch it: {total:.1f} µs in all"


def _average(traffic: Traffic, taken: Sequence[SampledLaunch]) -> SectorCount | None:
    """Return the average traffic of a launch; None where sizes are not known."""
    if not taken:
        return None
    total = SectorCount(0, 0)
    for launch in taken:
        total += counted(traffic, launch.symbols)
    return SectorCount(total.floor // len(taken), total.moved // len(taken), total.exact)


def _are_known(node: Map, traffic: Traffic, sizes: Mapping[str, int]) -> bool:
    """Return whether the grid is one of numbers, and what a launch moves is one, too: loops inside depend on sizes as
    well.
    """
    first = next(launches(node, sizes, MOST_LAUNCHES), None)
    if first is None or blocks_of(node, first.symbols) is None:
        return False
    return _number(traffic.floor, first.symbols) is not None


def _number(value: Expr, known: Mapping[str, int]) -> int | None:
    try:
        return value.evaluate(known)
    except SymbolicError:
        return None
