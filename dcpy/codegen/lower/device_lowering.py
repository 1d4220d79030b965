"""Device lowering: the questions that the walk over an SDFG asks of a device, with the answers of a program for CPUs.

The code generator of another device passes an object of a class derived from `DeviceLowering` to `lower_program`. It
overrides what differs there; nothing else in this folder knows which device a program is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

from dcpy.base.library_environment import Environment
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, LirExpr
from dcpy.codegen.lir.types import STATUS
from dcpy.codegen.lower.context import Context, ModuleContext
from dcpy.codegen.lower.device_properties import DeviceProperties
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.data import Array, Scalar, Stream
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall, Map, Node
from dcpy.ir.region import Block, Dataflow, Loop, Region
from dcpy.ir.schedules import Grid, Recorded, ThreadBlock
from dcpy.ir.sdfg import Sdfg

LowerRegion = Callable[[Context, Region], tree.Body]


class DeviceLowering(DeviceProperties):
    """The lowering of a program for CPUs alone, where a device may ask for another one.

    Where a method returns a truth value, False means: lower this as for CPUs.
    """

    # -- the program and its functions -------------------------------------------------------------------------

    def begin(self, module: ModuleContext, sdfg: Sdfg) -> None:
        """Prepare the lowering of a program."""

    def begin_function(self, context: Context) -> None:
        """Prepare the lowering of a function; its parameters have their places."""

    def around_program(self, context: Context, body: list[tree.Statement]) -> list[tree.Statement]:
        """Return the body of the program's own function, with what the device needs before and after it."""
        return body

    def status_of(self, call: Call) -> tree.Body:
        """The statements that call the program and declare the constant ``status``."""
        return (tree.Declare("status", STATUS, call, constant=True),)

    def entry_functions(self, context: Context) -> list[tree.Function]:
        """The functions that the C ABI has for the device alone."""
        return []

    def lower_return(self, context: Context) -> None:
        """Emit what stands before a return."""

    # -- blocks and nodes --------------------------------------------------------------------------------------

    def around_block(self, context: Context, block: Block) -> AbstractContextManager[None]:
        """Around a block of a kernel."""
        return nullcontext()

    def lower_node(self, context: Context, node: Node, lower_node: Callable[[Context, Node], None]) -> bool:
        """Lower a node of a kernel."""
        return False

    def lower_map(self, context: Context, node: Map, lower_region: LowerRegion) -> bool:
        """Lower a map whose schedule is the device's."""
        match node.schedule:
            case Grid():
                raise context.refuse("a map on a grid in a program for CPUs", node.span, help="compile it for GPUs")
            case ThreadBlock():
                raise context.refuse("a map of a block outside of a map on a grid", node.span)
        return False

    def lower_vector_map(
        self, context: Context, node: Map, body: tree.Body, lower_region: LowerRegion
    ) -> tree.Body | None:
        """The vector iterations of a map in a kernel; `body` is one iteration. None where nothing is wide."""
        return None

    def recorded_loop(
        self, context: Context, loop: tree.Loop, schedule: Recorded, head: tree.Body
    ) -> tree.Statement:
        """A loop that the device records and replays; each iteration outside of the record begins with `head`."""
        raise context.refuse("a recorded loop in a program for CPUs", help="compile it for GPUs")

    def loop_marks(self, context: Context, loop: Loop | Map, marks: tuple[tree.Mark, ...]) -> Iterable[tree.Mark]:
        """The marks of a loop."""
        return marks

    def lower_copy(self, context: Context, node: Copy) -> bool:
        """Lower a copy that the device makes."""
        return False

    def lower_dataflow(self, context: Context, block: Dataflow, lower_region: LowerRegion) -> bool:
        """Lower a dataflow block whose processes the device runs."""
        return False

    def require_callable(self, node: ForeignCall, environment: Environment) -> None:
        """`CodegenError` where a foreign function cannot be called from a program for the device."""

    def call_runtime(self, context: Context, node: ForeignCall, args: tuple[LirExpr, ...]) -> None:
        """Emit the call of a function of the device's runtime."""
        what = f"{node.function}() works on the memory of a device, in a program for CPUs"
        raise context.refuse(what, node.span, help="compile it for GPUs")

    # -- memory ------------------------------------------------------------------------------------------------

    def declare(self, context: Context, name: str, desc: Scalar | Array, place: StorageLocation) -> None:
        """Declare a container in a memory of the device, or in a kernel."""
        raise context.refuse(f"{name!r} is in the {desc.space.value} memory, in a program for CPUs", desc.span)

    def array_partition(self, name: str, desc: Array) -> tree.ArrayPartition | None:
        """The cut of an array on the stack into pieces with ports of their own; None: it is whole."""
        return None

    def races(self, context: Context, memlet: Memlet) -> bool:
        """Return whether two threads of a kernel may combine values in one location at the same time."""
        return True

    # -- queues ------------------------------------------------------------------------------------------------

    def declare_queues(self, context: Context, name: str, desc: Stream) -> bool:
        """Declare the queues of a stream."""
        return False

    def push(self, context: Context, memlet: Memlet, value: LirExpr) -> bool:
        """Push a value of the stream's dtype."""
        return False

    def pop(self, context: Context, memlet: Memlet) -> LirExpr | None:
        """The next element; None: pop as for CPUs."""
        return None


def device_of(context: Context) -> DeviceLowering:
    """The device of the program that is lowered."""
    assert isinstance(context.module.device, DeviceLowering)  # `lower_program` has put it there
    return context.module.device
