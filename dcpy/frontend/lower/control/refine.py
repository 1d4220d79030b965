"""What a condition tells about symbols where it holds: ``if i > 0:`` makes ``a[i - 1]`` safe."""

from __future__ import annotations

from functools import reduce

from dcpy.frontend.lower.emitter import assume_nonneg
from dcpy.ir.analysis.conditions import facts_of
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges


def refine(ranges: Ranges, test: ScalarExpr, *, holds: bool) -> Ranges:
    """`ranges` and what follows from `test` being true (or false)."""
    return reduce(assume_nonneg, facts_of(test, holds=holds), ranges)


def bind_parameter(ranges: Ranges, param: str, extent: Range) -> Ranges:
    """What the body knows of its parameter, and that the loop is not empty."""
    backward = (extent.step.constant or 1) < 0
    if backward:
        ranges = assume_nonneg(ranges, extent.start - extent.stop - 1)
        return ranges.bind(param, extent.stop + 1, extent.start)
    ranges = assume_nonneg(ranges, extent.stop - extent.start - 1)
    return ranges.bind(param, extent.start, extent.stop - 1)
