"""Reductions of the module `math`: sums without rounding errors, products, lengths and distances."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, TupleValue, Value
from dcpy.frontend.implements import call_entry, find, implements
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.frontend.python.math_functions import as_float, known_result
from dcpy.ir import types
from dcpy.ir.expressions.scalar import op

START = Static(1)
MOST_PARTS = 64  # of a sum: floats that do not overlap, and float64 has 2098 binary places


def _vector(b: OpBuilder, value: Value, name: str) -> ArrayValue:
    """Numbers one after the other, as floats."""
    found = b.array(value)
    if found.rank != 1 or found.dtype.kind == "c":
        raise b.error(
            f"math.{name} takes real numbers in one dimension, not {b.describe(value)}",
            notes=("Python raises TypeError here",),
            help="flatten an array first: a.ravel()",
        )
    return numpy_arguments.array(b, value, types.float64)


# -- sums and products -----------------------------------------------------------------------------------------------


@implements(math.fsum)
def fsum(b: OpBuilder, seq: Value, /) -> Value:
    """The sum, rounded once."""
    return call_body(b, _fsum, _vector(b, seq, "fsum"))


def _fsum(x: Any) -> Any:
    """Shewchuk's algorithm: the exact sum so far is that of `parts`, which rise and do not overlap."""
    parts = np.zeros(MOST_PARTS)
    count = 0
    special = 0.0  # the sum of what is not finite, and of the infinities in it
    infinite = 0.0
    for k in range(len(x)):
        value = float(x[k])
        total = value
        kept = 0
        for j in range(count):
            other = float(parts[j])
            large, small = (total, other) if abs(total) >= abs(other) else (other, total)
            total = large + small
            rest = small - (total - large)
            if rest != 0.0:
                parts[kept] = rest
                kept += 1
        if math.isfinite(total):
            if total != 0.0:
                parts[kept] = total
                kept += 1
        else:
            if math.isfinite(value):
                raise OverflowError("intermediate overflow in fsum")
            if math.isinf(value):
                infinite += value
            special += value
            kept = 0
        count = kept
    if math.isnan(infinite):
        raise ValueError("-inf + inf in fsum")
    return special if special != 0.0 else _rounded_sum(parts, count)


def _rounded_sum(parts: Any, count: Any) -> Any:
    """The float nearest to the sum of parts. Where the first that is left out lies half way, the next one decides."""
    total = 0.0
    rest = 0.0
    place = count
    while place > 0 and rest == 0.0:
        place -= 1
        before = total
        total = before + float(parts[place])
        rest = float(parts[place]) - (total - before)
    if place > 0 and (rest > 0.0) == (parts[place - 1] > 0.0):
        doubled = rest * 2.0
        farther = total + doubled
        if farther - total == doubled:
            total = farther
    return total


@implements(math.prod)
def prod(b: OpBuilder, iterable: Value, /, *, start: Value = START) -> Value:
    """The product of items, from the left; elements of an array keep their dtype."""
    if isinstance(iterable, ArrayValue | ListValue):
        array = b.array(iterable)
        if array.rank != 1:
            raise b.error("math.prod of a matrix multiplies its rows", help="use np.prod(a, axis=0)")
        if isinstance(iterable, ListValue):
            return call_body(b, _prod, iterable, start)
        dtype = np.int64 if array.dtype == types.bool_ else array.dtype.numpy
        entry = find(np.prod)
        assert entry is not None
        return b.operator("*", start, call_entry(b, entry, [array], {"dtype": Static(dtype)}))
    return functools.reduce(lambda x, y: b.hold(b.operator("*", x, y)), sequences.items(b, iterable), start)


def _prod(items: Any, start: Any) -> Any:
    product = start
    for item in items:
        product = product * item
    return product


# -- lengths ---------------------------------------------------------------------------------------------------------


@implements(math.hypot)
def hypot(b: OpBuilder, *coordinates: Value) -> Value:
    """The length of a vector."""
    known = known_result(b, math.hypot, *coordinates)
    if known is not None:
        return known
    parts = [as_float(b, value, "hypot") for value in coordinates]
    if len(parts) <= 2:
        return Scalar(functools.reduce(lambda x, y: op("hypot", x, y), parts[1:], op("abs", parts[0])), weak=True)
    return call_body(b, _length, numpy_arguments.array(b, TupleValue(coordinates), types.float64))


@implements(math.dist)
def dist(b: OpBuilder, p: Value, q: Value, /) -> Value:
    """The distance of two points."""
    left, right = (_vector(b, value, "dist") for value in (p, q))
    b.same_size(left.shape[0], right.shape[0], "both points must have the same number of dimensions")
    return call_body(b, _length, b.ufunc(np.subtract, left, right))


def _length(x: Any) -> Any:
    """The length in units of a power of two near to the largest coordinate, so that no square overflows or vanishes."""
    largest = 0.0
    undefined = False
    for k in range(len(x)):
        undefined = undefined or math.isnan(x[k])
        largest = max(largest, abs(float(x[k])))
    total = largest
    if undefined and not math.isinf(largest):
        total = math.nan
    elif 0.0 < largest < math.inf:
        exponent = math.frexp(largest)[1]
        squares = 0.0
        lost = 0.0
        for k in range(len(x)):
            part = math.ldexp(float(x[k]), -exponent)
            square = part * part
            before = squares
            squares = before + square
            lost += square - (squares - before) if before >= square else before - (squares - square)
        total = math.ldexp(math.sqrt(squares + lost), exponent)
    return total
