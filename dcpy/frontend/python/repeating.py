"""What may have no end: `itertools.repeat` and `itertools.count`, beside something that has one."""

from __future__ import annotations

import itertools

from dcpy.frontend.implements import implements
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.values import IteratorValue, RangeValue, Static, Value
from dcpy.ir.symbolic import ZERO, max_of

NONE, NUMBER_0, NUMBER_1 = Static(None), Static(0), Static(1)


@implements(itertools.repeat)
def repeat(b: Builder, object: Value, times: Value = NONE) -> Value:
    """One item again and again; without `times`, as often as whoever stands beside it in `zip` asks."""
    if times == NONE:
        return IteratorValue("repeat", (object,))
    count = max_of(b.integer(times, "how often something is repeated"), 0)
    return IteratorValue("repeat", (object, RangeValue(ZERO, count)))


@implements(itertools.count)
def count(b: Builder, start: Value = NUMBER_0, step: Value = NUMBER_1) -> Value:
    """Numbers without end, as many as whoever stands beside them in `zip` asks for."""
    return IteratorValue("count", (start, step))
