"""StateFusion: two states in a row become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.region import State
from dcpy.transforms.api import LEGAL, Legal, Match, Rewriter, Transformation, capture, consecutive


@dataclass(frozen=True)
class StateFusion(Transformation[Legal]):
    """Append the nodes of a state to the state before it.

    before   state { tmp = f(A) }        after   state { tmp = f(A)
             state { B = g(tmp) }                        B = g(tmp) }

    Always legal: the nodes of a state stand in an order in which they may run, and two of them depend on each other
    exactly where one writes what the other touches (decision 0002).
    """

    name: ClassVar[str] = "state-fusion"
    first = capture(State)
    second = capture(State)
    pattern = consecutive(first, second)

    def plan(self, m: Match) -> Legal:
        return LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> State:
        """Return the fused state."""
        first, second = m[self.first], m[self.second]
        if not first.name:
            rw.update(first, name=second.name)
        rw.append_state(first, second)
        return first
