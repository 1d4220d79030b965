"""DeadStateElimination: blocks that never run go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.region import Block, Branch, Break, Check, Continue, Loop, Region, Return, While
from dcpy.transforms.api import YES, Aspect, Match, Rewriter, Transformation, Verdict, capture, no, one
from dcpy.transforms.simplify.folding import decide
from dcpy.transforms.simplify.trivial_map_elimination import never_runs


@dataclass(frozen=True)
class DeadStateElimination(Transformation):
    """Take out what cannot be reached: blocks after one that leaves, loops that run zero times, errors never raised.

    before   return                    after   return
             state { B = f(A) }

    A branch leaves when all its cases do, and there is no way around them. A loop runs zero times when its range is
    proved empty, a `while` when its condition is false from the start; a check raises nothing when its condition holds.
    """

    name: ClassVar[str] = "dead-state-elimination"
    looks_at: ClassVar[Aspect] = Aspect.CONTROL | Aspect.VALUES
    changes: ClassVar[Aspect] = Aspect.ALL
    block = capture(Block)
    pattern = one(block)

    def can_be_applied(self, m: Match) -> Verdict:
        block = m[self.block]
        if is_skipped(block, m):
            return YES
        if not leaves(block):
            return no("what comes after it can be reached")
        return YES if m.region.blocks[-1] is not block else no("nothing comes after it")

    def apply(self, m: Match, rw: Rewriter) -> None:
        block = m[self.block]
        if is_skipped(block, m):
            rw.erase(block)
            return
        for dead in reversed(m.region.blocks[m.region.index(block) + 1 :]):
            rw.erase(dead)


def is_skipped(block: Block, m: Match) -> bool:
    """Whether a loop is proved to run zero times, or a check to hold."""
    match block:
        case Loop(range=range_):
            return never_runs(range_, m.uses.ranges_at(block))
        case While(condition=condition):
            return decide(condition, m.uses.ranges_at(block)) is False
        case Check(condition=condition):
            return decide(condition, m.uses.ranges_at(block)) is True
    return False


def leaves(block: Block) -> bool:
    """Whether the block after this one is never reached from it."""
    match block:
        case Return() | Break() | Continue():
            return True
        case Branch(otherwise=Region()):
            return all(region.blocks and leaves(region.blocks[-1]) for region in block.regions())
    return False
