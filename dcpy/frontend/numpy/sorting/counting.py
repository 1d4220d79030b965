"""Counts of numbers; the program computes the number of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.base.assumptions import LARGEST
from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, scalar_expr
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.reinterpretation import view
from dcpy.frontend.numpy.indexing.proved_indices import proved_index
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.symbolic import ZERO, Expr

#: the largest number of dtypes that have few: where all of them are counted, the numbers need not be looked at before
_HIGHEST = {types.bool_: 1, types.uint8: 255, types.uint16: 65535}


def _count(counts: Any, x: Any) -> None:
    for k in range(len(x)):
        counts[proved_index(x[k], len(counts))] += 1


def _add_weights(sums: Any, x: Any, weights: Any) -> None:
    for k in range(len(x)):
        sums[proved_index(x[k], len(sums))] += weights[k]


@implements(np.bincount)
def bincount(b: OpBuilder, x: Value, /, weights: Value = NONE, minlength: Value = NUMBER_0) -> Value:
    """Return the count of each of 0, 1, …, or the sums of weights."""
    numbers = b.array(x)
    if numbers.rank != 1 or numbers.dtype.kind not in "iub":
        raise b.error("np.bincount takes a vector of integers", notes=("NumPy raises here",))
    highest = _HIGHEST.get(numbers.dtype)  # None: only known from the numbers
    if numbers.dtype == types.bool_:  # as an index, a truth value would be a mask
        numbers = b.array(b.cast(numbers, types.int64))
    zero = Const(0, types.int64)
    empty = op("le", Index(numbers.shape[0]), zero)
    largest = None
    if highest is None and (numbers.dtype.kind != "u" or numbers.dtype == types.uint64):
        largest = _largest_without_sign(b, numbers)
        none_negative = op("or", empty, op("ge", largest, zero))
        b.check(none_negative, "ValueError", "'list' argument must have no negative elements")
    least_length = _at_least(b, minlength)
    size = least_length
    if highest is None or least_length.constant is None or least_length.constant <= highest:
        largest = largest or cast(scalar_expr(b.reduce("max", numbers, (0,))), types.int64)
        last = op("min", largest, Const(LARGEST - 1, types.int64))  # a length beyond it would begin below 0 again
        length = op("select", empty, zero, op("add", last, Const(1, types.int64)))
        size = b.emit.assign_symbol("n", op("max", length, Index(least_length)), 0)
    if weights == NONE or _is_empty(b, numbers.shape[0]):  # NumPy looks at weights of numbers only
        counts = b.full([size], types.int64, NUMBER_0)
        b.call(Static(_count), counts, numbers)
        return counts
    values = b.array(weights)
    b.same_size(numbers.shape[0], values.shape[0], "The weights and list don't have the same length.")
    sums = b.full([size], types.float64, NUMBER_0)
    b.call(Static(_add_weights), sums, numbers, values)
    return sums


def _largest_without_sign(b: OpBuilder, numbers: ArrayValue) -> ScalarExpr:
    """The largest of integers, seen without signs, as int64: below 0 where one of them is, and else the largest."""
    bits = Static(np.dtype(f"u{numbers.dtype.itemsize}"))
    most = scalar_expr(b.reduce("max", b.array(view(b, numbers, bits)), (0,)))
    return cast(cast(most, numbers.dtype), types.int64)


def _is_empty(b: OpBuilder, size: Expr) -> bool:
    """Return whether there are no numbers: known, or assumed as it is in the call."""
    emit = b.emit
    return emit.equal(size, ZERO) or (not emit.holds(size - 1) and emit.sampled(size) == 0 and emit.holds(-size))


def _at_least(b: OpBuilder, minlength: Value) -> Expr:
    size = b.integer(minlength, "minlength")
    b.emit.require(size, "ValueError", "'minlength' must not be negative")
    return size
