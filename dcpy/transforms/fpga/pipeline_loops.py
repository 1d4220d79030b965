"""PipelineLoops: innermost loops of processes are pipelined, the others run one iteration after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Allocation, Array, Scalar, Space, Stream
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Process, Region
from dcpy.ir.schedules import SEQUENTIAL, Pipelined, Sequential, Unrolled
from dcpy.ir.tree import is_inside, subtree
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PipelineLoops(GraphPass):
    """Gives a schedule to each loop of a process, and to what it declares a place on the chip.

    before   map i, j { ... }                 after   map i, j @pipelined{style = stp} { ... }
             data t: f32[8] transient                 data t: f32[8] transient @local @bram

    A loop is pipelined if no other one is inside of it, but for those that are written out. Where all that a process
    does goes through queues, a missing input stops only new iterations (`frp`); where it touches memory, all of them
    (`stp`): tools have no other there.
    """

    name: ClassVar[str] = "pipeline-loops"

    def decide(self, rw: Rewriter) -> None:
        """Process by process; maps on the host are sequential loops."""
        for process in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, Process)]:
            for loop in _loops(process.body):
                _schedule(loop, process, rw)
            for region in list(process.body.walk_regions()):
                for name, desc in list(region.containers.items()):
                    if isinstance(desc, Array) and desc.allocation is Allocation.UNDECIDED:
                        rw.redeclare(name, replace(desc, space=Space.LOCAL, allocation=Allocation.BRAM))
                    elif isinstance(desc, Scalar) and desc.allocation is Allocation.UNDECIDED:
                        rw.redeclare(name, replace(desc, allocation=Allocation.REGISTER))
        for node in [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]:
            if not isinstance(node.schedule, Pipelined | Sequential | Unrolled):
                rw.update(node, schedule=SEQUENTIAL)


def _loops(region: Region) -> list[Map | Loop]:
    return [part for part in (*region.walk_blocks(), *region.walk_nodes()) if isinstance(part, Map | Loop)]


def _schedule(loop: Map | Loop, process: Process, rw: Rewriter) -> None:
    if isinstance(loop.schedule, Pipelined) and loop.schedule.style:
        return
    inside = [inner for body in loop.regions() for inner in _loops(body)]
    if any(not isinstance(inner.schedule, Unrolled) for inner in inside):
        if not isinstance(loop.schedule, Unrolled | Sequential):
            rw.update(loop, schedule=SEQUENTIAL)
        return
    if not isinstance(loop.schedule, Unrolled):
        ii = loop.schedule.ii if isinstance(loop.schedule, Pipelined) else 0
        style = "frp" if _streams_alone(loop, process, rw.uses) else "stp"
        rw.update(loop, schedule=Pipelined(ii, style))  # type: ignore[arg-type]
        rw.remark(loop, True, f"pipelined ({style}) in the process {process.name!r}")


def _streams_alone(loop: Map | Loop, process: Process, uses: Uses) -> bool:
    """Return whether it touches no memory but queues and what is its own, on the chip."""
    accessed = (uses.accesses(element) for element in subtree(loop))
    names = {name for one in accessed for name in (*one.reads, *one.writes)}
    return all(isinstance(uses.desc(name), Stream | Scalar) or is_inside(uses.home(name), process) for name in names)
