"""np.nditer`: elements of arrays as arrays without dimensions, in the order in which they lie in memory.

Several arrays are broadcast to one shape. They are visited in C order where they lie so, all of them; or in Fortran's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, IteratorValue, Static, TupleValue, Value, integer
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_creation.coordinate_grids import ndindex
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.ir.data import Array
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

ORDER_K = Static("K")
POSITIONS = "loop over positions: `for i, j in np.ndindex(a.shape)`, or over both: `for place, x in np.ndenumerate(a)`"
MODES = ("readonly", "readwrite", "writeonly")


@implements(np.nditer)
def nditer(
    b: OpBuilder,
    op: Value,
    flags: Value = NONE,
    op_flags: Value = NONE,
    op_dtypes: Value = NONE,
    order: Value = ORDER_K,
) -> Value:
    """The elements of arrays, one after the other; those of a ``readwrite`` operand may be assigned to."""
    arrays = _operands(b, op)
    if flags != NONE and (items_of(flags) or b.static(flags, "flags")):
        raise b.error("np.nditer with flags is not supported", help=POSITIONS)
    if op_dtypes != NONE:
        raise b.error("np.nditer with op_dtypes is not supported", help="convert the arrays first: a.astype(...)")
    written = _written(b, op_flags, len(arrays))
    shape = broadcast_shapes(b, [array.shape for array in arrays])
    for size in shape:
        b.emit.require(b.exact(size) - 1, "ValueError", "Iteration of zero-sized operands is not enabled")
    whole = [_of_shape(b, array, shape, is_written) for array, is_written in zip(arrays, written, strict=True)]
    if any(array.fresh and b.may_overlap(array, other) for array in whole for other in whole if other is not array):
        raise b.error("np.nditer repeats an array that it writes to", help="copy one of the arrays first")
    turned = _is_turned(b, arrays, str(b.static(order, "order")))
    walked = [array.transposed(range(array.rank)[::-1]) if turned else array for array in whole]
    walked = [array if is_written else _only_read(b, array) for array, is_written in zip(walked, written, strict=True)]
    if not shape:
        return TupleValue((walked[0] if len(walked) == 1 else TupleValue(tuple(walked)),))
    points = ndindex(b, TupleValue(tuple(integer(b.exact(size)) for size in walked[0].shape)))
    return IteratorValue("elements", (points, *walked))


def _operands(b: OpBuilder, op: Value) -> list[ArrayValue]:
    several = items_of(op)
    operands = (op,) if several is None else several
    arrays = [operand for operand in operands if isinstance(operand, ArrayValue)]
    if not arrays or len(arrays) != len(operands):
        raise b.error("np.nditer takes arrays", help="loop over positions: `for i in range(a.shape[0])`")
    return arrays


def _written(b: OpBuilder, op_flags: Value, count: int) -> list[bool]:
    """Permissions to assign to each array: one list of words for all, or a list of them for each."""
    items = () if op_flags == NONE else items_of(op_flags)
    known = [b.static(item, "op_flags") for item in items] if items is not None else list(b.static(op_flags, "flags"))
    each = known if known and all(isinstance(item, list | tuple) for item in known) else [known] * count
    words = [list(item) or ["readonly"] for item in each]
    if len(words) != count:
        raise b.error("op_flags must have the words of each array", notes=("NumPy raises ValueError here",))
    if any(item not in ([mode] for mode in MODES) for item in words):
        raise b.error(f"np.nditer takes the op_flags {', '.join(MODES)}, one for each array, not {words}")
    return [item != ["readonly"] for item in words]


def _of_shape(b: OpBuilder, array: ArrayValue, shape: tuple[Expr, ...], is_written: bool) -> ArrayValue:
    """The array in the common shape, which what is written must have."""
    if not is_written:
        return b.broadcast_to(array, shape)
    message = "non-broadcastable operand does not match the broadcast shape"
    if array.rank != len(shape):
        raise b.error(message, notes=("NumPy raises ValueError here",))
    for size, wanted in zip(array.shape, shape, strict=True):
        b.same_size(size, wanted, message)
    return array


def _is_turned(b: OpBuilder, arrays: Sequence[ArrayValue], order: str) -> bool:
    """Return whether the first dimension is the fastest one in the order that is asked for: in memory, with "K" and
    "A".
    """
    if order in "CF":
        return order == "F"
    for turned in (False, True):
        seen = [array.transposed(range(array.rank)[::-1]) if turned else array for array in arrays]
        alike = not turned or all(array.shape == arrays[0].shape for array in arrays)
        if alike and all(b.contiguous(array) or _is_part_in_c_order(b, array) for array in seen):
            return turned
    raise FrontendError(
        "the order in which np.nditer visits the elements depends on how they lie in memory, which is not known",
        help="name the order: order='C'",
    )


def _is_part_in_c_order(b: OpBuilder, value: ArrayValue) -> bool:
    """Return whether it is a slice of an array in C order, with steps forward."""
    desc = b.desc(value)
    steps = [dim.step.constant for dim in value.window.dims if isinstance(dim, Range)]
    forward = all(step is not None and step > 0 for step in steps)
    in_order = -1 not in value.axes and list(value.axes) == sorted(value.axes)
    return isinstance(desc, Array) and desc.is_packed and forward and in_order


def _only_read(b: OpBuilder, value: ArrayValue) -> ArrayValue:
    """A view of the array through which nothing is written."""
    name = b.emit.view(value.as_view(b.desc(value)))
    b.forbid_writes(name, "np.nditer gives elements that are only read, unless op_flags=['readwrite'] is given")
    return replace(ArrayValue.whole(name, b.desc(name)), fresh=False)
