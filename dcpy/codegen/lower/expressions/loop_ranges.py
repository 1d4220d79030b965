"""Loop ranges: directions of loops, and what is known of a parameter inside one."""

from __future__ import annotations

from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges


def going_down(range_: Range, ranges: Ranges) -> bool | None:
    """Return whether a range counts downwards; None where that is only known at run time."""
    if ranges.proves_nonneg(range_.step):
        return False
    return True if ranges.proves_nonneg(-range_.step) else None


def within(ranges: Ranges, param: str, range_: Range) -> Ranges:
    """The ranges, with what holds of `param` inside a loop over `range_`."""
    step = range_.step.constant
    if step is None:
        return ranges.bind(param)
    if step > 0:
        return ranges.bind(param, range_.start, range_.stop - 1)
    return ranges.bind(param, range_.stop + 1, range_.start)
