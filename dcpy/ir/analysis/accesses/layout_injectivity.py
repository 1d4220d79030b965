"""Injectivity of layouts: whether different indices of an array name different places in memory."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.data import packed_axes
from dcpy.ir.symbolic import ONE, Expr, Ranges
from dcpy.ir.symbolic.ranges import where_positive


def elements_are_apart(shape: Sequence[Expr], strides: Sequence[Expr], ranges: Ranges) -> bool:
    """Return whether all elements are proved to be in places of their own, none before the first one.

    So it is where the dimensions can be put in an order in which each stride steps over all of those before it.
    """
    sizes, steps = tuple(shape), tuple(strides)
    if any(size.constant == 0 for size in sizes) or packed_axes(sizes, steps) is not None:
        return True
    rest = [(size, where_positive(step, sizes)) for size, step in zip(sizes, steps, strict=True) if size is not ONE]
    extent = ONE
    while rest:
        found = next((dim for dim in rest if _steps_over(dim[1], extent, ranges)), None)
        if found is None:
            return False
        rest.remove(found)
        extent = where_positive(found[0], sizes) * found[1]
    return True


def _steps_over(step: Expr, extent: Expr, ranges: Ranges) -> bool:
    return step is extent or (ranges.proves_le(extent, step) and ranges.proves_le(1, step))
