"""FPGA lowering: the answers of a program for an FPGA to the questions of `DeviceLowering`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcpy.base.library_environment import Environment
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.copies import sizes_of
from dcpy.codegen.lower.device_lowering import LowerRegion
from dcpy.codegen.lower.fpga.array_partitioning import cut_of
from dcpy.codegen.lower.fpga.dependence_pragmas import with_dependence_pragmas
from dcpy.codegen.lower.fpga.device_unit import Hardware
from dcpy.codegen.lower.fpga.library_calls import require_no_library
from dcpy.codegen.lower.fpga.process_kernels import lower_kernel, pop_from_queue, push_to_queue
from dcpy.codegen.lower.fpga.vector_tokens import copy_tokens
from dcpy.codegen.lower.streams import moves_tokens
from dcpy.ir.data import Array, Stream
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall, Map
from dcpy.ir.region import Dataflow, Loop


@dataclass
class FpgaLowering(Hardware):
    """The lowering of a program for an FPGA: dataflow blocks are kernels, whose queues and memory are on the chip."""

    def loop_marks(self, context: Context, loop: Loop | Map, marks: tuple[tree.Mark, ...]) -> Iterable[tree.Mark]:
        return with_dependence_pragmas(context, loop, marks)

    def lower_copy(self, context: Context, node: Copy) -> bool:
        if not moves_tokens(context, node):
            return False
        copy_tokens(context, node, sizes_of(context, node))
        return True

    def lower_dataflow(self, context: Context, block: Dataflow, lower_region: LowerRegion) -> bool:
        lower_kernel(context, block, lower_region)
        return True

    def require_callable(self, node: ForeignCall, environment: Environment) -> None:
        require_no_library(node, environment)

    def array_partition(self, name: str, desc: Array) -> tree.ArrayPartition | None:
        return cut_of(name, desc)

    def declare_queues(self, context: Context, name: str, desc: Stream) -> bool:
        return True  # the kernel makes them

    def push(self, context: Context, memlet: Memlet, value: LirExpr) -> bool:
        push_to_queue(context, memlet, value)
        return True

    def pop(self, context: Context, memlet: Memlet) -> LirExpr | None:
        return pop_from_queue(context, memlet)
