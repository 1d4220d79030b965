"""What a condition tells about symbols where it holds: ``if i > 0:`` makes ``a[i - 1]`` safe."""

from __future__ import annotations

from dcpy.frontend.lower.emitter import assume_nonneg
from dcpy.ir.expr import Op, ScalarExpr, as_symbolic
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges

_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def refine(ranges: Ranges, test: ScalarExpr, *, holds: bool) -> Ranges:  # noqa: C901  (one case per comparison)
    """`ranges` and what follows from `test` being true (or false)."""
    if not isinstance(test, Op):
        return ranges
    if test.name == "not":
        return refine(ranges, test.args[0], holds=not holds)
    if test.name == ("and" if holds else "or"):
        for part in test.args:
            ranges = refine(ranges, part, holds=holds)
        return ranges
    if test.name not in _OPPOSITE:
        return ranges
    left, right = (as_symbolic(arg) for arg in test.args)
    if left is None or right is None:
        return ranges
    match test.name if holds else _OPPOSITE[test.name]:
        case "lt":
            return assume_nonneg(ranges, right - left - 1)
        case "le":
            return assume_nonneg(ranges, right - left)
        case "gt":
            return assume_nonneg(ranges, left - right - 1)
        case "ge":
            return assume_nonneg(ranges, left - right)
        case "eq":
            return assume_nonneg(assume_nonneg(ranges, right - left), left - right)
    return ranges


def bind_parameter(ranges: Ranges, param: str, extent: Range) -> Ranges:
    """What the body knows of its parameter, and that the loop is not empty."""
    backward = (extent.step.constant or 1) < 0
    if backward:
        ranges = assume_nonneg(ranges, extent.start - extent.stop - 1)
        return ranges.bind(param, extent.stop + 1, extent.start)
    ranges = assume_nonneg(ranges, extent.stop - extent.start - 1)
    return ranges.bind(param, extent.start, extent.stop - 1)
