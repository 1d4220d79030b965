"""The same bytes as other numbers: ``x.view(dtype)`` and ``np.frombuffer``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, kind_of
from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.shapes import flattened
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.ir.data import View, packed_strides, strides_of
from dcpy.ir.symbolic import ONE, ZERO, Expr

FLOAT = Static(float)
ALL = Static(-1)
START = Static(0)


@method("view")
def view(b: OpBuilder, a: Value, dtype: Value = NONE) -> Value:
    """The same memory with another dtype: of as many bytes, or a part of them, or several elements as one."""
    x = b.array(a)
    wanted = b.dtype_argument(dtype)
    if wanted is None or wanted == x.dtype:
        return replace(x, fresh=False)
    seen = x.as_view(b.desc(x))
    shape, steps, offset = list(seen.shape), list(strides_of(seen)), seen.offset
    old, new = x.dtype.itemsize, wanted.itemsize
    if old != new:
        if not shape or steps[-1] is not ONE:
            raise b.error("To change to a dtype of a different size, the last axis must be contiguous",
                          notes=("NumPy raises ValueError here (unless the axis has size 1)",),
                          help="copy the array first: a.copy().view(...)")  # fmt: skip
        if old % new == 0:
            factor = old // new
            shape[-1], offset = shape[-1] * factor, offset * factor
            steps = [*(step * factor for step in steps[:-1]), ONE]
        else:
            shape, steps, offset = _widened(b, x, seen, new // old)
    desc = View(x.container, wanted, tuple(shape), tuple(steps), offset, span=b.emit.span)
    container = b.emit.view(desc)
    return ArrayValue.whole(container, b.desc(container))


def _widened(b: OpBuilder, x: ArrayValue, seen: View, factor: int) -> tuple[list[Expr], list[Expr], Expr]:
    """Shape, strides and offset of several elements as one: rows divide evenly, and begin at a multiple of `factor`."""
    message = (
        "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of "
        "the array."
    )
    *rest, last = seen.shape
    b.same_size(last % factor, ZERO, message)
    sizes = [*rest, last // factor]
    if b.contiguous(x) and x.is_all_of(b.desc(x)):
        return sizes, list(packed_strides(tuple(sizes))), ZERO
    *steps, offset = (_divided(part, last, factor) for part in (*strides_of(seen)[:-1], seen.offset))
    known = [step for step in steps if step is not None]
    if offset is None or len(known) < len(steps):
        raise b.error(
            f"it is not known that each row of this part begins at a multiple of {factor} elements of the array",
            notes=("elements of the other dtype would lie between the places where numbers of that size may lie",),
            help="copy the part first: x[1:].copy().view(...)",
        )
    return sizes, [*known, ONE], offset


def _divided(part: Expr, row: Expr, factor: int) -> Expr | None:
    """A number of elements in terms of larger ones, if it is a multiple for sure; as `row` is, which was required."""
    if (part % factor).constant == 0 or row.constant == 0:
        return part // factor
    return part // row * (row // factor) if (part % row).constant == 0 else None


@implements(np.frombuffer)
def frombuffer(b: OpBuilder, buffer: Value, dtype: Value = NONE, count: Value = ALL, offset: Value = START) -> Value:
    """The bytes of an array as a vector of numbers: a view."""
    if isinstance(buffer, Static) and isinstance(buffer.value, bytes):
        buffer = Static(np.frombuffer(buffer.value, np.uint8))
    if not isinstance(buffer, ArrayValue | Static) or (isinstance(buffer, Static) and not np.ndim(buffer.value)):
        raise b.error(
            f"np.frombuffer takes an array or bytes, not {kind_of(buffer)}",
            help="call it outside of the program, and pass the result as an argument",
        )
    x = b.array(buffer)
    if not b.contiguous(x):
        raise b.error(
            "np.frombuffer of an array that is not known to be contiguous",
            notes=("NumPy raises ValueError where it is not",),
            help="copy it first: np.frombuffer(x.copy(), ...)",
        )
    octets = view(b, flattened(b, x), Static(np.uint8))
    if isinstance(buffer, Static):
        b.forbid_writes(b.root(x.container), "it shows bytes, which do not change")
    return call_body(b, _part, octets, FLOAT if dtype == NONE else dtype, count, offset)


def _part(octets: Any, dtype: Any, count: Any, offset: Any) -> Any:
    size, width = len(octets), np.dtype(dtype).itemsize
    if offset < 0 or offset > size:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({size})")
    if count < 0:
        if (size - offset) % width != 0:
            raise ValueError("buffer size must be a multiple of element size")
        return octets[offset:].view(dtype)
    if size < offset + count * width:
        raise ValueError("buffer is smaller than requested size")
    return octets[offset : offset + count * width].view(dtype)
