"""Stream operations in a program: push to and pop from containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import Static, Value, kind_of
from dcpy.frontend.dataflow import python_streams
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.arrays.basic_indexing import element_index
from dcpy.ir import types
from dcpy.ir.data import Stream
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame
    from dcpy.frontend.lower.op_builder import OpBuilder

FLOAT = Static(float)
ANY = Static(0)


@implements(python_streams.define_stream)
def define_stream(b: OpBuilder, dtype: Value = FLOAT, depth: Value = ANY) -> Value:
    """One queue."""
    return _defined(b, (), dtype, depth)


@implements(python_streams.define_streamarray)
def define_streamarray(b: OpBuilder, shape: Value, dtype: Value = FLOAT, depth: Value = ANY) -> Value:
    """Queues, one for each point of a shape."""
    return _defined(b, b.shape_argument(shape), dtype, depth)


def _defined(b: OpBuilder, shape: tuple[Expr, ...], dtype: Value, depth: Value) -> Value:
    capacity = b.integer(depth, "the depth of a stream")
    if not b.emit.ranges.proves_nonneg(capacity):
        holds = op("ge", Index(capacity), Const(0, types.int64))
        b.check(holds, "ValueError", "the depth of a stream is at least 0, not {0}", [Index(capacity)])
    element = b.dtype_argument(dtype) or types.float64
    name, b.result_name = b.result_name, ""
    container = b.emit.declare(name or "stream", Stream(element, shape, capacity, span=b.emit.span))
    return StreamValue(container, element, shape)


def subscript(b: OpBuilder, stream: StreamValue, keys: Sequence[Value]) -> Value:
    """``s[i, j]``: one queue."""
    if len(keys) != len(stream.shape) or stream.point:
        raise b.error(
            f"{len(keys)} indices for an array of streams with {len(stream.shape)} dimensions",
            help="give an index for each dimension: `s[i].push(x)`",
        )
    pairs = enumerate(zip(keys, stream.shape, strict=True))
    indices = [element_index(b, key, size, axis) for axis, (key, size) in pairs]
    return replace(stream, shape=(), point=tuple(indices))


def call_method(
    frame: Frame, stream: StreamValue, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """``s.push(x)`` and ``s.pop()``."""
    if name == "push" and len(args) == 1 and not kwargs:
        push(frame, stream, args[0])
        return Static(None)
    if name == "pop" and not args and not kwargs:
        return pop(frame, stream)
    raise FrontendError(
        f"a stream has no .{name}() that takes this",
        notes=("the contents of a queue depend on timing: a program can only pop them",),
        help="write s.push(value), or value = s.pop()",
    )


def push(frame: Frame, stream: StreamValue, value: Value) -> None:
    """One element, stored as into an array."""
    b = frame.b
    _require_one(frame, stream)
    item, _ = b.scalar_container(stream.dtype, f"{stream.container}_item")
    if getattr(value, "shape", ()):
        raise b.error(f"{kind_of(value)} is pushed to a stream", help="push its elements one by one, in a loop")
    stores.store(b, item, value)
    b.emit.node(Copy(Memlet(item.container, Subset()), Memlet(stream.container, Subset(stream.point))))


def pop(frame: Frame, stream: StreamValue) -> Value:
    """The next element, in a container of its own."""
    _require_one(frame, stream)
    item, value = frame.b.scalar_container(stream.dtype, f"{stream.container}_item")
    frame.emit.node(Copy(Memlet(stream.container, Subset(stream.point)), Memlet(item.container, Subset())))
    return value


def _require_one(frame: Frame, stream: StreamValue) -> None:
    if stream.shape:
        raise FrontendError("this is an array of streams", help="name one of them: `s[i].push(x)`")
    if frame.map_scopes():
        raise FrontendError(
            "a stream in a parallel map",
            notes=("its iterations have no order, but pushes and pops are ordered",),
            help="write a plain for loop",
        )

