"""Transfers between memories: what the host asks of a device for a copy."""

from __future__ import annotations

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, LirExpr, SizeOf
from dcpy.codegen.lir.types import Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.host_synchronization import command, finish, join_last_wait, wait_for_reads
from dcpy.codegen.lower.gpu.pending_waits import Rescue
from dcpy.codegen.lower.gpu.program_state import notes_of
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.analysis.device_side import twins
from dcpy.ir.data import Array, Space, packed_strides
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, max_of, product_of


def crosses(context: Context, node: Copy) -> bool:
    """Return whether a copy of the host touches the memory of a device."""
    ends = (context.locations[memlet.container] for memlet in (node.src, node.dst))
    return context.kernel is None and any(space_of(place) is Space.GLOBAL for place in ends)


def space_of(place: StorageLocation) -> Space:
    """The memory that a container is in."""
    kind = place.base.type
    return kind.space if isinstance(kind, Pointer) else Space.HOST


def lower_transfer(context: Context, node: Copy) -> None:
    """A copy from or to a device, or within it; where its result is the host's, it is waited for."""
    src, dst = node.src, node.dst
    if dst.wcr:
        raise context.refuse("a copy to a device that combines values", node.span, help="write a map")
    if context.uses.root(src.container) == context.uses.root(dst.container):
        raise context.refuse(f"a copy inside of {src.container!r}, on a device", node.span, help="write a map")
    join_last_wait(context)
    fetches = space_of(context.locations[dst.container]) is Space.HOST
    root = context.uses.root(dst.container)
    command(context, transfer(context, node), fetches=root if fetches and context.sdfg.is_argument(root) else "")
    if fetches:
        finish(context)
    elif space_of(context.locations[src.container]) is Space.HOST and not _stays(context, src.container):
        wait_for_reads(context)


def transfer(context: Context, node: Copy) -> tree.Statement:
    """The command for a copy."""
    src, dst = node.src, node.dst
    to, source = (_address(context, memlet) for memlet in (dst, src))
    shape, to_strides, source_strides = _box(context, dst, src)
    dtype = context.locations[dst.container].dtype
    if packed_strides(shape) == tuple(to_strides) == tuple(source_strides):
        count = context.symbolic(product_of(*shape))
        return tree.Transfer(to, source, Infix("*", count, SizeOf(dtype, Basic.SIZE), Basic.SIZE))
    sizes, steps, others = (tuple(map(context.symbolic, part)) for part in (shape, to_strides, source_strides))
    return tree.TransferBox(to, source, dtype, sizes, steps, others)


def rescue(context: Context, kernel: Map) -> Rescue:
    """Return the copies to the host of arguments that only the device holds, for a kernel in which a check may fail."""
    lost = notes_of(context).device_only_arguments.get(kernel, ())
    held = {host: twin for twin, host in twins(context.sdfg).items()} if lost else {}
    whole = {name: Subset.whole(context.uses.desc(name).shape) for name in lost}
    copies = {name: Copy(Memlet(held[name], whole[name]), Memlet(name, whole[name])) for name in lost}
    return {name: transfer(context, copy) for name, copy in copies.items()}


def _stays(context: Context, container: str) -> bool:
    """Return whether memory of the host stays as it is until the program ends: the caller's, that only copies change.
    """
    root = context.uses.root(container)
    if not context.sdfg.is_argument(root) or not isinstance(context.uses.desc(root), Array):
        return False
    names = dict.fromkeys((root, *context.uses.overlapping(root)))
    writers = (writer for name in names for writer in context.uses.writers(name))
    return all(isinstance(writer, Copy) and _is_on_device(context, writer.src.container) for writer in writers)


def _is_on_device(context: Context, container: str) -> bool:
    return space_of(context.locations[container]) is Space.GLOBAL


def _address(context: Context, memlet: Memlet) -> LirExpr:
    start = tuple(dim.start if isinstance(dim, Range) else dim for dim in memlet.subset.dims)
    return context.locations[memlet.container].address(start, context.symbolic)


def _box(context: Context, dst: Memlet, src: Memlet) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Sizes, and the strides of both sides, without axes of one element; contiguous axes are one."""
    shape: list[Expr] = []
    first: list[Expr] = []
    second: list[Expr] = []
    for (size, to), (_, source) in zip(_axes(context, dst), _axes(context, src), strict=True):
        if size.constant == 1:
            continue
        if shape and first[-1] == size * to and second[-1] == size * source:
            shape[-1], first[-1], second[-1] = shape[-1] * size, to, source
            continue
        shape.append(size)
        first.append(to)
        second.append(source)
    return shape, first, second


def _axes(context: Context, memlet: Memlet) -> list[tuple[Expr, Expr]]:
    strides = context.locations[memlet.container].strides
    pairs = zip(memlet.subset.dims, strides, strict=True)
    found = [(dim.size_within(context.ranges), dim.step * stride) for dim, stride in pairs if isinstance(dim, Range)]
    return [(size if context.ranges.proves_nonneg(size) else max_of(size, 0), stride) for size, stride in found]
