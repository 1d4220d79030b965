"""Splitting of arrays: views between positions, or of all slices along an axis."""

from __future__ import annotations

import itertools

import numpy as np

from dcpy.frontend.abstract_values.values import (
    IteratorValue,
    RangeValue,
    SliceValue,
    Static,
    TupleValue,
    Value,
    is_number,
)
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_manipulation.shapes import FULL, band
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0
from dcpy.ir.symbolic import ZERO, as_expr, min_of


@implements(np.split)
def split(b: OpBuilder, ary: Value, indices_or_sections: Value, axis: Value = NUMBER_0) -> Value:
    """Views of parts of equal size, or between positions."""
    x = b.array(ary)
    place = b.axis(axis, x.rank)
    if items_of(indices_or_sections) is None:
        size, count = b.exact(x.shape[place]), _count(b, indices_or_sections)
        step = size // count
        b.same_size(size, step * count, "array split does not result in an equal division")
        return TupleValue(tuple(band(x, place, step * k, step) for k in range(count)), is_list=True)
    return array_split(b, x, indices_or_sections, axis)


@implements(np.array_split)
def array_split(b: OpBuilder, ary: Value, indices_or_sections: Value, axis: Value = NUMBER_0) -> Value:
    """Views of parts of nearly equal size, the longer ones first, or between positions."""
    x = b.array(ary)
    place = b.axis(axis, x.rank)
    cuts = items_of(indices_or_sections)
    if cuts is None and is_number(indices_or_sections) and not isinstance(indices_or_sections, Static):
        number = b.integer(indices_or_sections, "the number of sections")
        b.emit.require(number - 1, "ValueError", "number sections must be larger than 0.")
        return IteratorValue("sections", (RangeValue(ZERO, number), x), as_expr(place))
    if cuts is None:
        size, count = b.exact(x.shape[place]), _count(b, indices_or_sections)
        least, longer = size // count, size % count
        starts = [least * k + b.emit.ranges.simplify(min_of(longer, k)) for k in range(count + 1)]
        bands = (band(x, place, low, high - low) for low, high in itertools.pairwise(starts))
        return TupleValue(tuple(bands), is_list=True)
    bounds: list[Value] = [NONE, *cuts, NONE]
    keys = [SliceValue(low, high, NONE) for low, high in itertools.pairwise(bounds)]
    return TupleValue(tuple(b.subscript(x, [*[FULL] * place, key]) for key in keys), is_list=True)


def _split_along(name: str, rank: int, axis: int) -> Implementation:
    def call(b: OpBuilder, ary: Value, indices_or_sections: Value) -> Value:
        x = b.array(ary)
        if x.rank < rank:
            message = f"{name} only works on arrays of {rank} or more dimensions"
            raise b.error(message, notes=("NumPy raises ValueError here",))
        return split(b, x, indices_or_sections, Static(min(axis, x.rank - 1)))

    return call


implements(np.hsplit)(_split_along("hsplit", 1, 1))
implements(np.vsplit)(_split_along("vsplit", 2, 0))
implements(np.dsplit)(_split_along("dsplit", 3, 2))


def _count(b: OpBuilder, sections: Value) -> int:
    count = b.static(sections, "the number of sections")
    if not isinstance(count, int | np.integer):
        raise b.error("the positions to split at must be a tuple or list", help="write np.split(a, [3, 5])")
    if count <= 0:
        raise b.error("number sections must be larger than 0.", notes=("NumPy raises ValueError here",))
    return int(count)


@implements(np.unstack)
def unstack(b: OpBuilder, x: Value, /, *, axis: Value = NUMBER_0) -> Value:
    """The slices along an axis, whose size is known, as a tuple."""
    array = b.array(x)
    if not array.rank:
        raise b.error("Input array must be at least 1-d.", notes=("NumPy raises ValueError here",))
    place = b.axis(axis, array.rank)
    count = array.shape[place].constant
    if count is None:
        raise b.error(
            f"how many arrays np.unstack gives is known at run time only: the axis has size {array.shape[place]}",
            help="use an array whose size is known when the function is compiled, or index it in a loop",
        )
    return TupleValue(tuple(b.subscript(array, [*[FULL] * place, Static(k)]) for k in range(count)))
