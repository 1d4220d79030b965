"""Linear ranges: `linspace` of numbers, and of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Scalar, TupleValue, Value, is_number, scalar_expr
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.array_sizes import refuse_last_sample, require_addressable
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0, SAMPLES, TRUE
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.types import DType


@implements(np.linspace)
def linspace(
    b: OpBuilder,
    start: Value,
    stop: Value,
    num: Value = SAMPLES,
    endpoint: Value = TRUE,
    retstep: Value = FALSE,
    dtype: Value = NONE,
    axis: Value = NUMBER_0,
) -> Value:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    count, ends = b.integer(num, "num"), b.static(endpoint, "endpoint")
    b.emit.require(count, "ValueError", "Number of samples, {0}, must be non-negative.", (count,))
    if ends:
        refuse_last_sample(count)
    if not (is_number(start) and is_number(stop)):
        return call_body(b, _lines, b.array(start), b.array(stop), num, endpoint, retstep, dtype, axis)
    common = promoted((start, stop))[0]
    number = common if common.is_inexact else types.float64
    require_addressable(b, [count], number)
    parts = count - 1 if ends else count
    first, last = (_held(b, value, number) for value in (start, stop))
    delta = op("sub", last, first)
    divisor = op("max", Index(parts), Const(1, types.int64))
    step_value = b.hold(Scalar(op("div", delta, cast(divisor, number))))
    step = scalar_expr(step_value)

    def element(index: ScalarExpr) -> ScalarExpr:
        position = cast(index, number)
        tiny = op("mul", op("div", position, cast(divisor, number)), delta)  # the step is too small to be a number
        moved = op("select", op("eq", step, convert(Const(0, types.int64), number)), tiny, op("mul", position, step))
        value = op("add", moved, first)
        if ends:
            is_last = op("and", op("eq", index, Index(parts)), op("gt", index, Const(0, types.int64)))
            value = op("select", is_last, last, value)
        return _as_sample(value, b.dtype_argument(dtype) or number)

    out = b.generate([count], b.dtype_argument(dtype) or number, element)
    return TupleValue((out, step_value)) if b.static(retstep, "retstep") else out


def _lines(start: Any, stop: Any, num: Any, endpoint: bool, retstep: bool, dtype: Any, axis: int) -> Any:
    """`num` samples between each pair of elements."""
    common = np.result_type(start, stop)
    number = common if np.issubdtype(common, np.inexact) else np.float64
    low, distance = start.astype(number), stop.astype(number) - start.astype(number)
    parts = num - 1 if endpoint else num
    step = distance / max(parts, 1)
    k = np.arange(num).reshape((-1,) + (1,) * np.ndim(distance)).astype(number)
    found = np.where(step == 0, k / max(parts, 1) * distance, k * step) + low
    if endpoint and num > 1:
        found[-1] = stop
    if dtype is not None:
        found = (np.floor(found) if np.issubdtype(dtype, np.integer) else found).astype(dtype)
    result = np.moveaxis(found, 0, axis)
    return (result, step) if retstep else result


def _as_sample(value: ScalarExpr, dtype: DType) -> ScalarExpr:
    """Integer samples are rounded down."""
    return cast(op("floor", value) if dtype.is_integer and value.dtype.kind == "f" else value, dtype)


def _held(b: OpBuilder, value: Value, dtype: DType) -> ScalarExpr:
    return scalar_expr(b.hold(Scalar(convert(scalar_expr(value), dtype))))
