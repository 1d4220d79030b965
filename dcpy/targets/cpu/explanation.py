"""CPU explanation: the bottleneck of each loop nest by the model of time, and its distance from the minimum.

Nothing is measured here; the processor was, after `dcpy doctor --cpu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dcpy.base.figures import figure_text
from dcpy.base.options import Options
from dcpy.ir.analysis.costs.nest_time import LEVELS, NestTime, nest_times
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.axis_descriptions import with_axes
from dcpy.ir.machine_model import Costs
from dcpy.ir.sdfg import Sdfg
from dcpy.runtime.cpu.measured_costs import cores_here
from dcpy.targets.catalog import target_for
from dcpy.targets.explanation_text import lines_of, location_text
from dcpy.targets.lowered_program import LoweredProgram

SHOWN = 0.001  #: of the time of all nests: what takes less is not worth a line
WORDS = {
    "operations": "operations",
    "accesses": "loads and stores",
    "chain": "a chain of operations that wait for each other",
    "loops": "starts of inner loops",
    "fork": "starts of threads",
    "pages": "looks for pages",
    "L1": "the first-level cache",
    "L2": "the second-level cache",
    "L3": "the third-level cache",
    "memory": "memory",
}

#: what no nest is made of, by the kinds of nodes and blocks
PLAIN = {"tasklet": "operations on numbers", "branch": "conditions", "check": "checks", "let": "integers"}


def explain_nests(program: LoweredProgram) -> Iterator[str]:
    """Lines about each nest of a program in codegen form; none where sizes are not known."""
    costs, whose = local_costs(program.options)
    known = times_of(program.sdfg, program.likely_sizes, costs)
    if known:
        yield f"nests, by the model of time, for {whose}:"
    for time in known:
        yield f"  {location_text(lines_of(*time.elements))}  {title_of(time, program.sdfg)}"
        yield from (f"      {name:10}{text}" for name, text in _rows(time))


def local_costs(options: Options) -> tuple[Costs, str]:
    """The table of costs for the processor that is here, and whose figures these are, in words.

    Where nothing was measured, only the number of cores is that of this one.
    """
    target = target_for(options.device)
    costs = target.costs_for(options)
    if costs != target.costs:
        return costs, "this processor"
    costs = replace(costs, processor=replace(costs.processor, cores=cores_here()))
    return costs, "a server's processor (`dcpy doctor --cpu` measures this one)"


def times_of(lowered: Sdfg, sizes: Mapping[str, int], costs: Costs) -> list[NestTime]:
    """The nests that take time, in program order; none where a size is not known."""
    if any(name not in sizes for name in lowered.sizes):
        return []
    found = nest_times(lowered.body, sizes, Uses(lowered), costs)
    total = sum(time.seconds for time in found)
    return [time for time in found if time.seconds > SHOWN * total]


def title_of(time: NestTime, sdfg: Sdfg) -> str:
    """``loop over i, j``; of what is no nest, the longest one that it is made of."""
    titles = (each.title or PLAIN.get(each.kind, each.kind) for each in time.elements)
    return with_axes(time.nest.title if time.nest is not None else max(titles, key=len, default=""), sdfg)


def seconds_in_words(value: float) -> str:
    """``1.25 ms``"""
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if value * s >= 1), ("ns", 1e9))
    return f"{value * scale:.3g} {unit}"


def _rows(time: NestTime) -> Iterator[tuple[str, str]]:
    again = f", {time.times:.0f} times" if time.times > 1 else ""
    cores = f", on {time.cores} cores" if time.cores > 1 else ""
    yield "time", f"{seconds_in_words(time.seconds)}{again}{cores}"
    yield "bound", f"{WORDS[time.bound]}{_rate(time)}"
    if time.least_seconds:
        least = seconds_in_words(time.times * time.least_seconds)
        yield "at least", f"{least}, by {WORDS[time.least]}: it takes {time.distance:.1f} times as long"


def _rate(time: NestTime) -> str:
    """Return the speed in units of the bottleneck."""
    run = time.seconds / time.times
    if time.bound in LEVELS:
        return f", {figure_text(time.moved[time.bound], 'B')} at {figure_text(time.moved[time.bound] / run, 'B/s')}"
    return f", {figure_text(time.operations / run, 'operations/s')}" if time.operations else ""
