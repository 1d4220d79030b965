"""JumpThreading: a branch whose answer the branch before it has set becomes part of that one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expressions.scalar import as_symbolic, substitute_symbols, symbols_of
from dcpy.ir.region import Block, Branch, Region, SymbolAssign
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.tree import may_complete, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.constant_folding import decide


@dataclass(frozen=True)
class JumpThreading(Transformation["tuple[tuple[Region, Region], ...]"]):
    """Jump threading: each side of a branch goes on with the side of the next branch that it chooses.

    before   if a > 0 { X; let s = 0 }            after   if a > 0 { X; let s = 0; Y }
             else     { Z; let s = 1 }                    else     { Z; let s = 1; W }
             if s == 0 { Y } else { W }

    Applies to branches that stand one behind the other, where each side of the first one gives the symbol of the
    conditions a constant as its last value, and no two sides choose the same: nothing is written twice. What stood in
    both branches then stands together, as a temporary and the copy of it. (Mueller and Whalley, Avoiding conditional
    branches by code replication, 1995.)
    """

    name: ClassVar[str] = "jump-threading"
    second = capture(Branch)
    pattern = one(second)

    def plan(self, m: Match) -> tuple[tuple[Region, Region], ...] | Refusal:
        """Return the sides of the first branch that go on, each with the side of the second one that it chooses."""
        second = m[self.second]
        first = _block_before(second)
        if not isinstance(first, Branch) or first.otherwise is None:
            return Refusal("no branch with an else stands right before it")
        symbols = {name for condition, _ in second.cases for name in symbols_of(condition)}
        chosen: list[tuple[Region, Region]] = []
        for side in filter(may_complete, first.regions()):
            values = _last_values(side, symbols)
            if values is None:
                return Refusal("a side of the branch before it does not say what holds")
            answer = _answer(second, values, m.uses.ranges_at(second))
            if isinstance(answer, Refusal):
                return answer
            if answer is not None:
                chosen.append((side, answer))
        targets = [target for _, target in chosen]
        if len({id(target) for target in targets}) < len(targets):
            return Refusal("two sides of the branch before it choose the same")
        return tuple(chosen)

    def apply(self, m: Match, plan: tuple[tuple[Region, Region], ...], rw: Rewriter) -> None:
        second = m[self.second]
        for side, target in plan:
            rw.hoist_containers(target, side)
            rw.move_blocks(list(target.blocks), side)
        for region in second.regions():
            rw.clear_region(region)  # nothing chooses what is left
        rw.erase(second)


def _block_before(block: Block) -> Block | None:
    region = block.region
    place = 0 if region is None else region.index(block)
    return region.blocks[place - 1] if region is not None and place else None


def _last_values(side: Region, symbols: set[str]) -> Mapping[str, Expr] | None:
    """The constants that a side gives the symbols at its end; None where it gives one of them anything else."""
    values: dict[str, Expr] = {}
    for block in reversed(side.blocks):
        if isinstance(block, SymbolAssign):
            if block.symbol in symbols and block.symbol not in values:
                value = as_symbolic(block.value)
                if value is None or value.constant is None:
                    return None
                values[block.symbol] = value
        elif any(isinstance(part, SymbolAssign) and part.symbol in symbols - values.keys() for part in subtree(block)):
            return None
    return values if values else None


def _answer(second: Branch, values: Mapping[str, Expr], ranges: Ranges) -> Region | Refusal | None:
    """The side of the second branch that runs behind these values; None where it runs none."""
    for condition, region in second.cases:
        holds = decide(substitute_symbols(condition, values), ranges)
        if holds is None:
            return Refusal("what the branch before it sets does not decide the conditions")
        if holds:
            return region
    return second.otherwise
