"""EmptyStateElimination: blocks that do nothing go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expressions.scalar import WrapIndex, walk
from dcpy.ir.region import Block, Branch, Loop, State
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class EmptyStateElimination(Transformation[Legal]):
    """Take out states without nodes, and loops and branches whose bodies hold nothing.

    before   state { B = f(A) }        after   state { B = f(A) }
             state { }                         state { C = g(B) }
             loop i = 0:N { }
             state { C = g(B) }

    A `while` stays even when its body is empty: it may never end. So does a branch that tests a run-time index.
    """

    name: ClassVar[str] = "empty-state-elimination"
    block = capture(Block)
    pattern = one(block)

    def plan(self, m: Match) -> Legal | Refusal:
        block = m[self.block]
        match block:
            case State(nodes=nodes):
                return Refusal("the state has nodes") if nodes else LEGAL
            case Loop() | Branch():
                if isinstance(block, Branch) and _may_raise(block):
                    return Refusal("a condition may raise an error")
                return Refusal("its body is not empty") if any(region.blocks for region in block.regions()) else LEGAL
        return Refusal(f"a {block.kind} does something by itself")

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> None:
        rw.erase(m[self.block])


def _may_raise(branch: Branch) -> bool:
    return any(isinstance(part, WrapIndex) for condition, _ in branch.cases for part in walk(condition))
