"""Explicit tasklets: inputs are copied in, the body computes on them alone, outputs are written at its end.

A body that is a few expressions becomes one `Tasklet` of the IR (`expression_tasklets`); any other runs as a function
evaluated in place, with containers of its own. Arrays that a tasklet writes, and what it may or may not write
(``A(-1)[i]``), are written where the body assigns them; inputs that these could change are copied first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import Resized, SlidingWindow
from dcpy.frontend.abstract_values.stream_values import StreamValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    is_number,
    kind_of,
)
from dcpy.frontend.dataflow import expression_tasklets, stream_operations, tasklet_outputs
from dcpy.frontend.dataflow.memlet_uses import assigns_directly, stores_into, uses_as_array
from dcpy.frontend.dataflow.tasklet_outputs import TaskletOutput
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.frame import Flow, Frame
from dcpy.frontend.lower.name_binding import bind_name
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.symbolic import ONE

if TYPE_CHECKING:
    Execute = Callable[[Any, core.Body], Flow]

#: Functions of C's math.h, which bodies of tasklets call without a module.
MATH: Mapping[str, np.ufunc] = {
    name: getattr(np, name)
    for name in ("sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil",
                 "cbrt", "exp2", "expm1", "log1p", "fabs", "hypot", "fmin", "fmax", "fmod", "copysign")
} | {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "pow": np.power}  # fmt: skip


@dataclass(frozen=True)
class Operands:
    """Values of a tasklet's names when its body begins, and the targets of its results."""

    inputs: dict[str, Value]
    targets: tuple[TaskletOutput, ...]


def run_tasklet(frame: Frame, node: core.Tasklet, execute: Execute) -> Flow:
    """Write a tasklet; what its memlets name is evaluated before its body, in order."""
    operands = _operands(frame, node)
    visible = _visible(frame, node)
    if expression_tasklets.emit(frame, node, operands.inputs, operands.targets, visible):
        return Flow.ON
    return _in_place(frame, node, operands, visible, execute)


# -- memlets ---------------------------------------------------------------------------------------------------------


def _operands(frame: Frame, node: core.Tasklet) -> Operands:
    inputs: dict[str, Value] = {}
    found: list[TaskletOutput] = []
    for movement in node.movements:
        try:
            if movement.writes:
                found.append(tasklet_outputs.target_of(frame, movement, uses_as_array(node.body, movement.name)))
            else:
                inputs[movement.name] = _input(frame, node, movement)
        except DcpyError as error:
            raise error.at(frame.span(movement.tree)) from error.__cause__
    return Operands(inputs, tuple(found))


def _input(frame: Frame, node: core.Tasklet, movement: core.Movement) -> Value:
    if movement.resolution is not None:
        raise FrontendError(
            f"the memlet of {movement.name!r} is read, and has a conflict resolution",
            notes=("only writes conflict",),
            help=f"write `{movement.name} >> ...` where it is an output, or leave the function out",
        )
    value = evaluate(frame, movement.data)
    if isinstance(value, StreamValue):
        return stream_operations.pop(frame, value)
    single = isinstance(value, ArrayValue) and all(size is ONE for size in value.shape)
    if isinstance(value, ArrayValue) and single and not uses_as_array(node.body, movement.name):
        return Scalar(value.load([0] * value.rank))
    if not isinstance(value, ArrayValue) and not is_number(value):
        raise FrontendError(
            f"a memlet moves elements of arrays, or a number, not {kind_of(value)}",
            help="name an array with the elements that are read: `a << A[i]`",
        )
    if isinstance(value, ArrayValue):
        _require_read_only(frame, node, movement)
    return value


def _require_read_only(frame: Frame, node: core.Tasklet, movement: core.Movement) -> None:
    for statement in stores_into(node.body, movement.name):
        if not any(other.writes and other.name == movement.name for other in node.movements):
            raise FrontendError(
                f"{movement.name!r} is an input of the tasklet, and is not written",
                span=statement.span,
                notes=(f"`{ast.unparse(movement.tree)}` moves elements in only",),
                help=f"declare an output: `{movement.name}_out >> {ast.unparse(movement.data)}`",
            )


# -- what a body sees ------------------------------------------------------------------------------------------------


def _visible(frame: Frame, node: core.Tasklet) -> dict[str, Value]:
    """The names of the program that the body may read: what is known, integers (symbols), functions; no data."""
    found: dict[str, Value] = {}
    for name in sorted(node.free):
        place: Frame | None = frame
        while place is not None and name not in place.env:
            place = place.outer
        if place is not None:
            value = place.env[name]
            found[name] = _undeclared(name, node) if _holds_data(value) else value
            continue
        known, outside = frame.closure.lookup(name)
        if known and isinstance(outside, np.ndarray):
            found[name] = _undeclared(name, node)
        elif not known and name in MATH:
            found[name] = Static(MATH[name])
    return found


def _holds_data(value: Value) -> bool:
    match value:
        case ArrayValue() | Resized() | SlidingWindow() | ObjectValue():
            return True
        case Scalar(expr=expr, dtype=dtype):
            return not isinstance(expr, Const) and dtype.kind not in "iub"
        case Maybe(value=inner):
            return _holds_data(inner)
        case TupleValue(items=items) | RecordValue(items=items):
            return any(map(_holds_data, items))
        case DictValue(items=pairs):
            return any(_holds_data(item) for _, item in pairs)
    return False


def _undeclared(name: str, node: core.Tasklet) -> Missing:
    return Missing(
        f"the tasklet reads {name!r}, which no memlet moves in",
        node.span,
        f"declare it: `{name}_in << {name}`, or `{name}_in << {name}[i]` for an element",
    )


# -- bodies that are more than expressions ---------------------------------------------------------------------------


def _in_place(
    frame: Frame, node: core.Tasklet, operands: Operands, visible: Mapping[str, Value], execute: Execute
) -> Flow:
    """The body, with containers of its own; then its results are written."""
    direct = [target for target in operands.targets if target.is_direct]
    body = assigns_directly(node.body, frozenset(target.name for target in direct))
    results: list[ast.expr] = [ast.Name(t.name, ast.Load()) for t in operands.targets if not t.is_direct]
    at_end = core.Evaluate(ast.Tuple(results, ast.Load()), span=node.span)  # never evaluated: what lives on
    define = core.Define(node.name, _NO_ARGUMENTS, (*body, at_end), node.free, span=node.span)
    inner = Frame(frame.program, frame.source, define, frame.closure, frame.emit.region, inline=True, caller=frame)
    inner.env = dict(visible)
    for name, value in operands.inputs.items():
        if isinstance(value, ArrayValue):
            clobbered = any(target.place and frame.b.may_overlap(target.place, value) for target in direct)
            inner.env[name] = frame.b.copy(value) if clobbered else value
        else:
            bind_name(inner, name, value)
    for target in direct:
        tasklet_outputs.require_write_only(target, node.body)
        inner.env[target.name] = tasklet_outputs.opened(frame, target)
    flow = execute(inner, body)
    if flow is not Flow.ON:
        return flow
    frame.emit.statement(node.span)
    found = [(target, _result(inner, target)) for target in operands.targets if not target.is_direct]
    for target, value in found:
        tasklet_outputs.write(frame, target, value)
    return Flow.ON


_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])


def _result(inner: Frame, target: TaskletOutput) -> Value:
    value = inner.env.get(target.name)
    if isinstance(value, Missing) and not value.unset:  # paths that do not agree on what it is
        raise FrontendError(value.reason, span=target.span, help=value.help)
    if value is None or isinstance(value, Maybe | Missing):
        never = value is None
        raise FrontendError(
            f"the tasklet {'never' if never else 'does not always'} assigns {target.name!r}, which it writes",
            span=target.span,
            notes=("an output without a value would be uninitialized memory",),
            help=f"assign {target.name!r}" if never
            else f"assign {target.name!r} on every path, or say that it may not be written: `>> data(-1)[...]`",
        )  # fmt: skip
    return value
