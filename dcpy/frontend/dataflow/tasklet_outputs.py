"""Tasklet outputs: elements, arrays or numbers that receive results, and how writes are combined."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Missing,
    Scalar,
    Value,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.dataflow.memlet_uses import reads
from dcpy.frontend.dataflow.wcr_lambdas import UFUNCS, Resolution, resolution_of
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.range_checks import stored
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.name_binding import bind_name
from dcpy.frontend.lower.parallel_maps.write_conflicts import conflicts
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


@dataclass(frozen=True)
class TaskletOutput:
    """One output: a `place` in memory (0-d for an element), or the name of a `number` of the program.

    `function` combines what is there with what is written, where `resolution` does not say how.
    """

    name: str
    place: ArrayValue | None
    number: str
    dtype: DType
    resolution: Resolution
    function: Value | None
    dynamic: bool
    span: SrcSpan
    stream: StreamValue | None = None  #: each value that is assigned is pushed

    @property
    def is_direct(self) -> bool:
        """Return whether the body writes the memory itself: arrays, and what is perhaps not written."""
        if self.stream is not None:
            return True
        return self.place is not None and (self.dynamic or bool(self.place.shape))


def target_of(frame: Frame, movement: core.Movement, as_array: bool) -> TaskletOutput:
    """Return the target that an output memlet names; `as_array`: the body indexes it."""
    resolution: Resolution = ""
    function: Value | None = None
    if movement.resolution is not None:
        function = evaluate(frame, movement.resolution)
        resolution = resolution_of(function)
    span = frame.span(movement.tree)
    pushed = stream_of(frame, movement.data)
    if pushed is not None:
        if movement.resolution is not None:
            raise FrontendError("a push to a stream has no conflict resolution", help="leave the function out")
        return TaskletOutput(movement.name, None, "", pushed.dtype, "", None, movement.dynamic, span, pushed)
    place, number, dtype = _place(frame, movement, as_array)
    found = TaskletOutput(movement.name, place, number, dtype, resolution, function, movement.dynamic, span)
    if place is not None:
        stores.require_writable(frame.b, place)
    if number and movement.dynamic and resolution == "":
        raise FrontendError(
            f"{number!r} is a number, which a tasklet writes or does not write",
            help=f"make it memory: `{number} = dcpy.define_local_scalar(dcpy.{dtype.numpy_name})`",
        )
    if resolution is None:
        _require_alone(frame, found)
    return found


def stream_of(frame: Frame, data: ast.expr) -> StreamValue | None:
    """The stream that a memlet names; None for arrays and numbers."""
    owner = data.value if isinstance(data, ast.Subscript) else data
    place: Frame | None = frame
    while isinstance(owner, ast.Name) and place is not None:
        if isinstance(place.env.get(owner.id), StreamValue):
            value = evaluate(frame, data)
            return value if isinstance(value, StreamValue) else None
        place = None if owner.id in place.env else place.outer
    return None


def _place(frame: Frame, movement: core.Movement, as_array: bool) -> tuple[ArrayValue | None, str, DType]:
    name = movement.data.id if isinstance(movement.data, ast.Name) else ""
    value = frame.env.get(name)
    if value is not None and is_number(value):
        return None, name, dtype_of(value)
    value = evaluate(frame, movement.data)
    match value:
        case Scalar(expr=Load(container=container, indices=indices, dtype=dtype)):
            return ArrayValue(container, dtype, (), Subset(indices), ()), "", dtype
        case ArrayValue() if value.shape and all(size is ONE for size in value.shape) and not as_array:
            load = value.load([0] * value.rank)
            return ArrayValue(load.container, value.dtype, (), Subset(load.indices), ()), "", value.dtype
        case ArrayValue():
            return value, "", value.dtype
    raise FrontendError(
        f"a tasklet writes elements of arrays, not {kind_of(value)}",
        help="name an array with the elements that are written: `b >> B[i]`",
    )


def _require_alone(frame: Frame, target: TaskletOutput) -> None:
    """A function that is no known resolution reads, calls and writes: no other thread may write meanwhile."""
    meets = frame.forbidding(target.number) if target.place is None else conflicts(frame, target.place)
    if meets or target.is_direct:
        why = "iterations of the map may write the same elements" if meets else "it is called once for each write"
        raise FrontendError(
            "this function is no conflict resolution that dcpy knows",
            span=target.span,
            notes=(why, "known are a + b, a * b, min(a, b), max(a, b), & | ^, and, or, a != b, and b alone"),
            help="use one of these, or a plain for loop and an output without a function",
        )


# -- writing ---------------------------------------------------------------------------------------------------------


def opened(frame: Frame, target: TaskletOutput) -> ArrayValue | StreamValue:
    """Return the value of a direct output's name in the body: the memory, or a view that combines stored values."""
    if target.stream is not None:
        return target.stream
    assert target.place is not None
    if not target.resolution:
        return target.place
    view = frame.emit.view(target.place.as_view(frame.b.desc(target.place)))
    frame.b.combine(view, target.resolution)
    return ArrayValue.whole(view, frame.b.desc(view))


def require_write_only(target: TaskletOutput, body: core.Body) -> None:
    """Refuse reads of an output that is combined: what is there belongs to all iterations."""
    if target.resolution and target.is_direct and reads(body, target.name):
        raise FrontendError(
            f"the tasklet reads {target.name!r}, whose writes are combined",
            span=target.span,
            notes=("other iterations may be writing there at the same time",),
            help="compute in a name of its own, and assign that once",
        )


def converted(frame: Frame, target: TaskletOutput, value: Value) -> Value:
    """A result as its target takes it."""
    if isinstance(value, ArrayValue) and not value.shape:
        value = Scalar(value.load(()))
    if not is_number(value):
        raise FrontendError(
            f"the output {target.name!r} is one element, and {kind_of(value)} is assigned to it",
            span=target.span,
            help=f"write several elements: `{target.name} >> data[i:j]`",
        )
    number = stored(frame.b, value, target.dtype)
    if dtype_of(number).kind == "c" and target.dtype.kind != "c":
        raise FrontendError(
            f"a complex number does not fit into {target.dtype.numpy_name}",
            span=target.span,
            help="write its .real",
        )
    return Scalar(convert(scalar_expr(number), target.dtype))


def write(frame: Frame, target: TaskletOutput, value: Value) -> None:
    """Write a result: one element, or the number that a name stands for."""
    if target.place is None:
        _write_number(frame, target, value)
        return
    if target.resolution is None and target.function is not None:
        value = frame.b.call(target.function, Scalar(target.place.load(())), value)
    number = converted(frame, target, value)
    memlet = Memlet(target.place.container, target.place.window, target.resolution or "")
    frame.emit.tasklet([(memlet, scalar_expr(number))])


def _write_number(frame: Frame, target: TaskletOutput, value: Value) -> None:
    name = target.number
    current = frame.env[name]
    if isinstance(current, Missing) or not is_number(value):
        converted(frame, target, value)
    if target.resolution == "" or target.resolution is None:
        combined = value if target.function is None or target.resolution == "" else (
            frame.b.call(target.function, current, value))  # fmt: skip
        bind_name(frame, name, converted(frame, target, combined))
        return
    combined = frame.b.ufunc(UFUNCS[target.resolution], current, value)
    shared = frame.forbidding(name)
    if shared is None:
        bind_name(frame, name, combined)
        return
    shared.accumulators[name] = combined
    match current:
        case Scalar(expr=Load(container=container, indices=(), dtype=dtype)) if frame.is_slot(container):
            amount = convert(scalar_expr(value), dtype)
            frame.emit.tasklet([(Memlet(container, Subset(), target.resolution), amount)])
