"""Vector tokens: a copy packs several elements before it pushes, and unpacks them when it has popped."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.codegen.lir.expr import Item, LirExpr, Name, integer
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.tree import Assign, Body, Declare, Loop, Unroll
from dcpy.codegen.lir.types import Lanes
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.fpga.process_kernels import pop_from_queue, push_to_queue, token_type
from dcpy.codegen.lower.tasklets import read, write
from dcpy.ir.data import Stream, packed_strides
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, const, sym


def copy_tokens(context: Context, node: Copy, sizes: Sequence[Expr]) -> None:
    """A loop for each dimension that is not of a token; the last ones are its lanes, which are written out."""
    src, dst = (context.uses.desc(memlet.container) for memlet in (node.src, node.dst))
    if isinstance(src, Stream) and isinstance(dst, Stream):
        push_to_queue(context, node.dst, pop_from_queue(context, node.src))
        return
    stream = src if isinstance(src, Stream) else dst
    assert isinstance(stream, Stream)  # `moves_tokens` asked
    array = node.dst if isinstance(src, Stream) else node.src
    outer = len(sizes) - len(stream.token)
    names = [context.names.fresh("lane" if at >= outer else f"i{at}") for at in range(len(sizes))]
    for name in names:
        context.names.adopt(name)
    ranges = context.ranges
    for name, size in zip(names, sizes, strict=True):
        ranges = ranges.bind(name, 0, size - 1)
    element = _at(array, names)
    with context.knowing(ranges), context.capture() as inner:
        if isinstance(src, Stream):
            token = pop_from_queue(context, node.src)
            with context.capture() as lanes:
                write(context, element, _lane(context, token, stream, names[outer:]), stream.dtype)
            _written_out(context, lanes, names[outer:], stream.token)
        else:
            token = Name(context.names.fresh(f"{node.dst.container}_token"), token_type(stream))
            context.emit(Declare(token.name, token.type))
            dtype = context.locations[array.container].dtype
            with context.capture() as lanes:
                value = convert(read(context, element), dtype, stream.dtype)
                context.emit(Assign(_lane(context, token, stream, names[outer:]), value))
            _written_out(context, lanes, names[outer:], stream.token)
            push_to_queue(context, node.dst, token)
    body: Body = tuple(inner)
    for name, size in reversed(list(zip(names[:outer], sizes[:outer], strict=True))):
        body = (Loop(name, integer(0), context.symbolic(size), integer(1), body),)
    for statement in body:
        context.emit(statement)


def _lane(context: Context, token: LirExpr, stream: Stream, names: Sequence[str]) -> LirExpr:
    """An element of a token, whose dimensions lie one after the other."""
    assert isinstance(token.type, Lanes)
    place: Expr = ZERO
    for name, stride in zip(names, packed_strides([const(size) for size in stream.token]), strict=True):
        place = place + sym(name) * stride
    return Item(token, context.symbolic(place), stream.dtype)


def _written_out(context: Context, lanes: Sequence[object], names: Sequence[str], token: Sequence[int]) -> None:
    body: Body = tuple(lanes)  # type: ignore[arg-type]  # statements, as captured
    for name, size in reversed(list(zip(names, token, strict=True))):
        body = (Loop(name, integer(0), integer(size), integer(1), body, marks=(Unroll(size),)),)
    for statement in body:
        context.emit(statement)


def _at(memlet: Memlet, names: Sequence[str]) -> Memlet:
    """The element of a memlet at these positions of its kept dimensions."""
    left = iter(names)
    dims = tuple(dim.at(sym(next(left))) if isinstance(dim, Range) else dim for dim in memlet.subset.dims)
    return Memlet(memlet.container, Subset(dims))
