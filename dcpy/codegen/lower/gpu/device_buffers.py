"""Device buffers: declarations of containers in device memory, in the shared memory of a block, and in kernels."""

from __future__ import annotations

from dcpy.codegen.lir.expr import integer
from dcpy.codegen.lir.tree import Declare, DeviceBuffer, SharedBuffer, StackBuffer
from dcpy.codegen.lower.array_declarations import constant_size, declare_array
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.array_extents import buffer_size
from dcpy.codegen.lower.gpu.host_synchronization import command
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.data import Allocation, Array, Scalar, Space


def declare_of_device(context: Context, name: str, desc: Scalar | Array, place: StorageLocation) -> None:
    """Declare a container in the memory of a device, or in a kernel."""
    base = place.base.name
    match desc.space, desc.allocation:
        case Space.HOST, Allocation.REGISTER:
            context.emit(Declare(base, desc.dtype))
        case Space.HOST, Allocation.STACK:
            context.emit(StackBuffer(base, desc.dtype, constant_size(context, name, desc)))
        case Space.SHARED, _:
            context.emit(SharedBuffer(base, desc.dtype, constant_size(context, name, desc)))
        case Space.GLOBAL, _ if context.kernel is None:
            count = buffer_size(context, desc) if isinstance(desc, Array) else integer(1)
            command(context, DeviceBuffer(base, desc.dtype, count))
            context.unaliased.add(base)
        case Space.PINNED, _ if context.kernel is None and isinstance(desc, Array):
            declare_array(context, base, desc, container=name)
        case _:
            raise context.refuse(
                f"{name!r} is allocated in a kernel, in the {desc.space.value} memory",
                desc.span,
                help="threads can use variables, arrays of constant size, and shared memory",
            )
