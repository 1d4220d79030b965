"""Endless iterators: `itertools.repeat` and `itertools.count`, beside one that has an end."""

from __future__ import annotations

import itertools

from dcpy.frontend.abstract_values.values import IteratorValue, RangeValue, Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.symbolic import ZERO, max_of

NONE, NUMBER_0, NUMBER_1 = Static(None), Static(0), Static(1)


@implements(itertools.repeat)
def repeat(b: OpBuilder, object: Value, times: Value = NONE) -> Value:
    """One item again and again; without `times`, as often as the others in a `zip` have items."""
    if times == NONE:
        return IteratorValue("repeat", (object,))
    count = max_of(b.integer(times, "how often something is repeated"), 0)
    return IteratorValue("repeat", (object, RangeValue(ZERO, count)))


@implements(itertools.count)
def count(b: OpBuilder, start: Value = NUMBER_0, step: Value = NUMBER_1) -> Value:
    """Numbers without end, as many as the others in a `zip` have items."""
    return IteratorValue("count", (start, step))
