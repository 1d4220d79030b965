"""EmptyStateElimination: blocks that do nothing go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expr import WrapIndex, walk
from dcpy.ir.region import Block, Branch, Loop, Region, State
from dcpy.transforms.api import YES, Aspect, Match, Rewriter, Transformation, Verdict, capture, no, one


@dataclass(frozen=True)
class EmptyStateElimination(Transformation):
    """Take out states without nodes, and loops and branches whose bodies hold nothing.

    before   state { B = f(A) }        after   state { B = f(A) }
             state { }                         state { C = g(B) }
             loop i = 0:N { }
             state { C = g(B) }

    A `while` stays even when its body is empty: it may never end. So does a branch that tests a run-time index.
    """

    name: ClassVar[str] = "empty-state-elimination"
    looks_at: ClassVar[Aspect] = Aspect.CONTROL | Aspect.DATAFLOW
    changes: ClassVar[Aspect] = Aspect.CONTROL
    block = capture(Block)
    pattern = one(block)

    def can_be_applied(self, m: Match) -> Verdict:
        match m[self.block]:
            case State(nodes=nodes):
                return no("the state has nodes") if nodes else YES
            case Loop(body=body):
                return _is_empty(body)
            case Branch(cases=cases) as branch:
                if any(isinstance(part, WrapIndex) for condition, _ in cases for part in walk(condition)):
                    return no("a condition may raise an error")
                return next((verdict for verdict in map(_is_empty, branch.regions()) if not verdict), YES)
        return no(f"a {m[self.block].kind} does something by itself")

    def apply(self, m: Match, rw: Rewriter) -> None:
        rw.erase(m[self.block])


def _is_empty(region: Region) -> Verdict:
    return no("its body is not empty") if region.blocks else YES
