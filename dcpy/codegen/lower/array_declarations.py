"""Array declarations: arrays of constant size on the stack, and arrays on the heap."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lir.tree import HeapBuffer
from dcpy.codegen.lir.types import Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.array_extents import buffer_size, extent
from dcpy.ir.data import Array, Lifetime, Scalar


def constant_size(context: Context, name: str, desc: Scalar | Array) -> int:
    """Return the number of elements of an array on the stack; refuses where it is not constant."""
    size = extent(desc).constant
    if size is None:
        raise context.refuse(f"{name!r} is on the stack, but its size {extent(desc)} is not constant", desc.span)
    return max(size, 1)


def declare_array(context: Context, name: str, desc: Array, *, container: str = "", grows: bool = False) -> None:
    """Allocate an array on the heap, for as long as the scope lasts or, where it persists, the library is loaded.

    `container`: the one that it holds, if it is no copy that a call needs.
    """
    count = buffer_size(context, desc)
    kept = ""
    if desc.lifetime is Lifetime.PERSISTENT:
        kept = context.file_name(f"{context.sdfg.name}_{name}_kept")
        context.module.slots.append(kept)
    context.emit(HeapBuffer(name, desc.dtype, count, kept, grows))
    if not grows:
        context.unaliased.add(name)
    context.fail_unless_memory(Name(name, Pointer(desc.dtype)), container)
