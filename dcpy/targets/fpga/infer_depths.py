"""InferDepths: depths of queues so that no process stalls where paths of a network reconverge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.codegen.fpga.cycle_model.program_time import ProgramTime
from dcpy.codegen.fpga.program import predicted
from dcpy.ir.data import Stream
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.symbolic import ZERO, const
from dcpy.transforms.fpga.reconvergent_paths import queues_on_cycles
from dcpy.transforms.passes import GraphPass

SHALLOW = 2  #: where no path meets another one
STEPS = (SHALLOW, 16, 32)  #: depths that cost as much as smaller ones: in lookup tables; then blocks of memory
BLOCK = 512  #: places of a block of memory


@dataclass(frozen=True)
class InferDepths(GraphPass):
    """Gives each queue a capacity that has none.

    before   stream a: f64   stream b: f64    fork ─a─▷ long ─c─▷ join;  fork ─b─▷ join
    after    stream a: f64 capacity 2   stream b: f64 capacity 512         (long takes 56 cycles, b needs 59 places)

    A queue that joins two parts of a network, which are joined by nothing else, needs two places. Where paths meet
    again, the cycle model knows what is on its way on the longer one: latencies and hops, and what a process takes
    before it gives. Sizes must be numbers there, or have typical values: a depth that grows with a size is none.
    """

    name: ClassVar[str] = "infer-depths"

    def decide(self, rw: Rewriter) -> None:
        """All queues at once: what one of them needs depends on the others."""
        open_ = {
            name: desc
            for region in rw.sdfg.body.walk_regions()
            for name, desc in region.containers.items()
            if isinstance(desc, Stream) and desc.capacity is ZERO
        }
        if not open_:
            return
        for name, desc in open_.items():
            rw.redeclare(name, replace(desc, capacity=const(SHALLOW)))
        met = {name for name in queues_on_cycles(rw.sdfg, rw.uses) if name in open_}
        needs = _needs(rw) if met else {}
        for name, desc in open_.items():
            need = SHALLOW if name not in met else needs.get(name, 0)
            if not need:
                rw.redeclare(name, desc)
                reason = "paths meet again, and how long they are depends on sizes"
                rw.remark(rw.sdfg, False, f"{reason}: make these numbers, or write a capacity", about=name)
            else:
                rw.redeclare(name, replace(desc, capacity=const(rounded(need))))
                rw.remark(rw.sdfg, True, f"needs {need} places, gets {rounded(need)}", about=name)


def rounded(need: int) -> int:
    """The depth that costs no more than what is needed."""
    return next((step for step in STEPS if need <= step), -(-need // BLOCK) * BLOCK)


def _needs(rw: Rewriter) -> dict[str, int]:
    typical = {name: known.typical for name, known in rw.sdfg.assumed.items() if known.typical is not None}
    time: ProgramTime = predicted(copy_sdfg(rw.sdfg), typical, with_waits=False)
    found: dict[str, int] = {}
    for kernel in time.kernels.values():
        for queue, need in kernel.longest.needed_depths.items() if kernel.longest is not None else ():
            name = queue.partition("[")[0]
            found[name] = max(found.get(name, 0), need)
    return found
