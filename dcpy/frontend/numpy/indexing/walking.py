"""`np.nditer` over one array: its elements as arrays without dimensions, in the order in which they lie in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.builder import Builder, items_of
from dcpy.frontend.numpy.array_creation.grids import ndindex
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.values import ArrayValue, IteratorValue, Static, TupleValue, Value, integer
from dcpy.ir.data import Array
from dcpy.ir.subsets import Range

ORDER_K = Static("K")
POSITIONS = "loop over positions: `for i, j in np.ndindex(a.shape)`, or over both: `for place, x in np.ndenumerate(a)`"


@implements(np.nditer)
def nditer(
    b: Builder, op: Value, flags: Value = NONE, op_flags: Value = NONE, op_dtypes: Value = NONE, order: Value = ORDER_K
) -> Value:
    """The elements of one array, one after the other; those of a ``readwrite`` iterator may be assigned to."""
    if not isinstance(op, ArrayValue):
        raise b.error("np.nditer takes one array", help="loop over positions: `for i in range(a.shape[0])`")
    if _words(b, flags) or op_dtypes != NONE:
        raise b.error("np.nditer with flags is not supported", help=POSITIONS)
    wanted = _words(b, op_flags) or ["readonly"]
    if wanted not in (["readonly"], ["readwrite"]):
        raise b.error(f"np.nditer takes op_flags=['readonly'] or ['readwrite'], not {wanted}")
    walked = _in_order(b, op, b.static(order, "order"))
    if wanted == ["readonly"]:
        walked = _only_read(b, walked)
    points = ndindex(b, TupleValue(tuple(integer(b.exact(size)) for size in walked.shape)))
    if not walked.rank:
        return TupleValue((walked,))
    return IteratorValue("elements", (points, walked))


def _words(b: Builder, value: Value) -> list[str]:
    """``["readwrite"]``, or one list of them for the one array."""
    items = () if value == NONE else items_of(value)
    known = [b.static(item, "flags") for item in items] if items is not None else list(b.static(value, "flags"))
    return list(known[0]) if len(known) == 1 and isinstance(known[0], list | tuple) else known


def _in_order(b: Builder, value: ArrayValue, order: str) -> ArrayValue:
    """The array with dimensions such that C order is the order that is asked for."""
    if order == "C":
        return value
    turned = value.transposed(range(value.rank)[::-1])
    if order == "F":
        return turned
    for candidate in (value, turned):
        if b.contiguous(candidate) or _is_part_in_c_order(b, candidate):
            return candidate
    raise FrontendError(
        "the order in which np.nditer visits the elements depends on how they lie in memory, which is not known",
        help="say which order is meant: order='C'",
    )


def _is_part_in_c_order(b: Builder, value: ArrayValue) -> bool:
    """Whether it is a slice of an array in C order, with steps forward."""
    desc = b.desc(value)
    steps = [dim.step.constant for dim in value.window.dims if isinstance(dim, Range)]
    forward = all(step is not None and step > 0 for step in steps)
    in_order = -1 not in value.axes and list(value.axes) == sorted(value.axes)
    return isinstance(desc, Array) and desc.is_packed and forward and in_order


def _only_read(b: Builder, value: ArrayValue) -> ArrayValue:
    """A view of the array through which nothing is written."""
    name = b.emit.view(value.as_view(b.desc(value)))
    b.forbid_writes(name, "np.nditer gives elements that are only read, unless op_flags=['readwrite'] is given")
    return replace(ArrayValue.whole(name, b.desc(name)), fresh=False)
