"""DeadStateElimination: blocks that never run go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.region import Block, Check, Loop, While
from dcpy.ir.tree import may_complete
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.control_flow.trivial_map_elimination import never_runs
from dcpy.transforms.simplify.dataflow.constant_folding import decide


@dataclass(frozen=True)
class DeadStateElimination(Transformation[tuple[Block, ...]]):
    """Take out what cannot be reached: blocks after one that leaves, loops that run zero times, errors never raised.

    before   return                    after   return
             state { B = f(A) }

    A branch leaves when all its cases do, and there is no way around them. A loop runs zero times when its range is
    proved empty, a `while` when its condition is false from the start; a check raises nothing when its condition holds.
    """

    name: ClassVar[str] = "dead-state-elimination"
    block = capture(Block)
    pattern = one(block)

    def plan(self, m: Match) -> tuple[Block, ...] | Refusal:
        """The blocks that never run."""
        block = m[self.block]
        if is_skipped(block, m):
            return (block,)
        if may_complete(block):
            return Refusal("what comes after it can be reached")
        return tuple(m.region.blocks[m.region.index(block) + 1 :]) or Refusal("nothing comes after it")

    def apply(self, m: Match, plan: tuple[Block, ...], rw: Rewriter) -> None:
        for dead in reversed(plan):
            rw.erase_unreachable(dead)


def is_skipped(block: Block, m: Match) -> bool:
    """Return whether a loop is proved to run zero times, or a check to hold."""
    match block:
        case Loop(range=range_):
            return never_runs(range_, m.uses.ranges_at(block))
        case While(condition=condition):
            return decide(condition, m.uses.ranges_at(block)) is False
        case Check(condition=condition):
            return decide(condition, m.uses.ranges_at(block)) is True
    return False
