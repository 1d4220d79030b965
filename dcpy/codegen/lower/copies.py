"""Copies: one `memcpy` where both sides are contiguous, loops elsewhere, and never a byte read after it was written."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Name, SizeOf, integer
from dcpy.codegen.lir.tree import Assign, Body, Compound, Evaluate, Loop, Simd
from dcpy.codegen.lir.types import Basic, Pointer
from dcpy.codegen.lower.array_declarations import declare_array
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.device_lowering import device_of
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.codegen.lower.streams import is_stream, moves_tokens, pop
from dcpy.codegen.lower.tasklets import read, write
from dcpy.ir.data import Array, packed_strides
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, product_of, sym


def lower_copy(context: Context, node: Copy) -> None:
    """``dst[...] = src[...]``, as if read whole before written."""
    if device_of(context).lower_copy(context, node):
        return
    src, dst = node.src, node.dst
    sizes = sizes_of(context, node)
    if all(size is ONE for size in sizes) and not moves_tokens(context, node):
        place = context.locations[src.container]
        write(context, dst, read_or_pop(context, src), place.dtype)
        return
    if is_stream(context.locations[src.container]) or is_stream(context.locations[dst.container]):
        _copy_elements(context, src, dst, sizes)
        return
    if _may_overlap(context, src, dst):
        if not dst.wcr and src.container == dst.container and src.subset == dst.subset:
            return
        _copy_overlapping(context, src, dst, sizes)
        return
    if not dst.wcr and context.kernel is None and _is_contiguous(context, src) and _is_contiguous(context, dst):
        context.module.moves_arrays |= node.moves
        given = "give_seen" if dst.container in context.sdfg.arguments else "give"
        _call(context, given if node.moves else "copy", src, dst, sizes)
    else:
        _copy_elements(context, src, dst, sizes)


def read_or_pop(context: Context, memlet: Memlet) -> LirExpr:
    """The element that a memlet names; the next one of a stream, which is popped."""
    return pop(context, memlet) if is_stream(context.locations[memlet.container]) else read(context, memlet)


def sizes_of(context: Context, node: Copy) -> tuple[Expr, ...]:
    """The sizes of what a copy moves."""
    moved = node.src if is_stream(context.locations[node.dst.container]) else node.dst  # a queue has no dimensions
    return tuple(dim.size_within(context.ranges) for dim in moved.subset.dims if isinstance(dim, Range))


def _may_overlap(context: Context, src: Memlet, dst: Memlet) -> bool:
    if src.container == dst.container:
        return not src.subset.disjoint(dst.subset, context.ranges)
    return src.container in context.uses.overlapping(dst.container)


def _copy_overlapping(context: Context, src: Memlet, dst: Memlet, sizes: tuple[Expr, ...]) -> None:
    if context.kernel is not None:
        raise context.refuse(f"a copy inside of {src.container!r}, in a kernel", help="write two maps")
    if not dst.wcr and _is_contiguous(context, src) and _is_contiguous(context, dst):
        _call(context, "move", src, dst, sizes)
        return
    place = context.locations[src.container]
    name = context.names.fresh("copied")
    with context.capture() as body:
        desc = Array.packed(place.dtype, sizes, transient=True)
        declare_array(context, name, desc)
        context.locations[name] = StorageLocation(Name(name, Pointer(place.dtype)), place.dtype, desc.strides)
        whole = Memlet(name, Subset(tuple(Range(ZERO, size) for size in sizes)))
        _call_or_loop(context, src, whole, sizes)
        _copy_elements(context, whole, dst, sizes)
    context.emit(Compound(tuple(body)))


def _call_or_loop(context: Context, src: Memlet, dst: Memlet, sizes: tuple[Expr, ...]) -> None:
    if _is_contiguous(context, src):
        _call(context, "copy", src, dst, sizes)
    else:
        _copy_elements(context, src, dst, sizes)


def _is_contiguous(context: Context, memlet: Memlet) -> bool:
    """Return whether the elements lie one after the other, in the order of the subset's dimensions."""
    steps: list[Expr] = []
    sizes: list[Expr] = []
    for dim, stride in zip(memlet.subset.dims, context.locations[memlet.container].strides, strict=True):
        if isinstance(dim, Range):
            steps.append(dim.step * stride)
            sizes.append(dim.size)
    return tuple(steps) == packed_strides(sizes)


def _call(context: Context, function: str, src: Memlet, dst: Memlet, sizes: tuple[Expr, ...]) -> None:
    dtype = context.locations[dst.container].dtype
    count = context.symbolic(product_of(*sizes))
    width = SizeOf(dtype, Basic.SIZE)
    args = (first_element(context, dst), first_element(context, src), Infix("*", count, width, Basic.SIZE))
    context.emit(Evaluate(Intrinsic(function, args, Basic.VOID)))


def first_element(context: Context, memlet: Memlet) -> LirExpr:
    """A pointer to the first element of a subset."""
    start = tuple(dim.start if isinstance(dim, Range) else dim for dim in memlet.subset.dims)
    return context.locations[memlet.container].address(start, context.symbolic)


def _copy_elements(context: Context, src: Memlet, dst: Memlet, sizes: tuple[Expr, ...]) -> None:
    """A loop per dimension; the innermost one is vectorized (the sides do not overlap)."""
    params = [context.names.fresh(f"i{position}") for position in range(len(sizes))]
    for param in params:
        context.names.adopt(param)
    ranges = context.ranges
    for param, size in zip(params, sizes, strict=True):
        ranges = ranges.bind(param, 0, size - 1)
    with context.knowing(ranges), context.capture() as inner:
        place = context.locations[src.container]
        write(context, _at(dst, params), read_or_pop(context, _at(src, params)), place.dtype)
    body: Body = tuple(inner)
    simple = context.kernel is None and all(isinstance(statement, Assign) for statement in body)
    for depth, (param, size) in enumerate(reversed(list(zip(params, sizes, strict=True)))):
        marks = (Simd(),) if depth == 0 and simple else ()
        body = (Loop(param, integer(0), context.symbolic(size), integer(1), body, marks=marks),)
    context.emit(body[0])


def _at(memlet: Memlet, params: list[str]) -> Memlet:
    """The element of a memlet at these positions of its kept dimensions."""
    left = iter(params)
    dims = tuple(dim.at(sym(next(left))) if isinstance(dim, Range) else dim for dim in memlet.subset.dims)
    return Memlet(memlet.container, Subset(dims), memlet.wcr)
