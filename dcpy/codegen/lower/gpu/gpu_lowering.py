"""GPU lowering: the answers of a program for a GPU to the questions of `DeviceLowering`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, LirExpr, Literal
from dcpy.codegen.lir.types import STATUS, Basic
from dcpy.codegen.lower.context import Context, ModuleContext
from dcpy.codegen.lower.device_lowering import LowerRegion
from dcpy.codegen.lower.gpu import check_deferral, device_entries, kernel_functions, thread_blocks, transfers
from dcpy.codegen.lower.gpu.atomic_sums import threads_collide
from dcpy.codegen.lower.gpu.device_buffers import declare_of_device
from dcpy.codegen.lower.gpu.graph_capture import with_graphs
from dcpy.codegen.lower.gpu.host_synchronization import command, end
from dcpy.codegen.lower.gpu.program_state import GpuProgram
from dcpy.codegen.lower.gpu.vector_accesses import lower_wide_map
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.data import Array, Scalar
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall, Map, Node
from dcpy.ir.region import Block
from dcpy.ir.schedules import Grid, Recorded, ThreadBlock
from dcpy.ir.sdfg import Sdfg


@dataclass
class GpuLowering(GpuProgram):
    """The lowering of a program for a GPU: the host's part asks for transfers and launches, kernels are functions."""

    names_extents = False  # kernels compute their own

    def begin(self, module: ModuleContext, sdfg: Sdfg) -> None:
        check_deferral.decide_waits(self, sdfg)

    def begin_function(self, context: Context) -> None:
        check_deferral.note_lost_arguments(context)

    def around_program(self, context: Context, body: list[tree.Statement]) -> list[tree.Statement]:
        return check_deferral.around_program(context, body)

    def status_of(self, call: Call) -> tree.Body:
        return device_entries.status_with_device(call)

    def entry_functions(self, context: Context) -> list[tree.Function]:
        return device_entries.device_entries(context)

    def lower_return(self, context: Context) -> None:
        end(context)

    def around_block(self, context: Context, block: Block) -> AbstractContextManager[None]:
        return thread_blocks.around_part(context, block)

    def lower_node(self, context: Context, node: Node, lower_node: Callable[[Context, Node], None]) -> bool:
        if not thread_blocks.stands_alone(context, node):
            return False
        thread_blocks.lower_alone(context, node, lower_node)
        return True

    def lower_map(self, context: Context, node: Map, lower_region: LowerRegion) -> bool:
        match node.schedule:
            case Grid():
                kernel_functions.lower_grid(context, node, lower_region)
            case ThreadBlock():
                thread_blocks.lower_block_map(context, node, lower_region)
            case _:
                return False
        return True

    def lower_vector_map(
        self, context: Context, node: Map, body: tree.Body, lower_region: LowerRegion
    ) -> tree.Body | None:
        return lower_wide_map(context, node, body, lower_region)

    def recorded_loop(
        self, context: Context, loop: tree.Loop, schedule: Recorded, head: tree.Body
    ) -> tree.Statement:
        return with_graphs(context, loop, schedule, head)

    def lower_copy(self, context: Context, node: Copy) -> bool:
        if not transfers.crosses(context, node):
            return False
        transfers.lower_transfer(context, node)
        return True

    def call_runtime(self, context: Context, node: ForeignCall, args: tuple[LirExpr, ...]) -> None:
        failure = Literal(context.module.check_number("DeviceError", "", node.span), STATUS)
        command(context, tree.Evaluate(Call(node.function, (failure, *args), Basic.VOID)))

    def declare(self, context: Context, name: str, desc: Scalar | Array, place: StorageLocation) -> None:
        declare_of_device(context, name, desc, place)

    def races(self, context: Context, memlet: Memlet) -> bool:
        return threads_collide(context, memlet)
