"""Array partitioning: how local memory is cut into pieces with ports of their own, in one dimension, in C order.

A cut along a dimension of an array is one of the text's only where each piece is the same: shown here, or refused.
"""

from __future__ import annotations

from math import prod

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir.tree import ArrayPartition
from dcpy.ir.data import Array


def cut_of(name: str, desc: Array) -> ArrayPartition | None:
    """The cut of the text's array; None where there is none. `CodegenError` where no such cut is that of the array."""
    if not desc.partition:
        return None
    sizes = [size.constant or 0 for size in desc.shape]
    parts = {part.axis: part for part in desc.partition}
    whole = {axis for axis, size in enumerate(sizes) if size > 1}
    if all(axis in parts and parts[axis].style == "complete" for axis in whole):
        return ArrayPartition("complete", 1)
    first, last = min(whole), max(whole)
    if len(parts) == 1 and desc.is_packed:
        ((axis, part),) = parts.items()
        factor = sizes[axis] if part.style == "complete" else part.factor
        if axis == last and part.style != "block" and sizes[axis] % factor == 0:
            return ArrayPartition("cyclic", factor)
        if axis == first and part.style != "cyclic" and sizes[axis] % factor == 0:
            return ArrayPartition("block", factor)
        if prod(sizes) == sizes[axis]:
            return ArrayPartition(part.style, factor)
    cuts = ", ".join(map(str, desc.partition))
    raise CodegenError(
        f"{name!r} is cut {cuts}: the array of one dimension that is printed has no such cut",
        span=desc.span,
        help="partition the last dimension cyclic (or the first one block) by a divisor of its size, or all complete",
    )
