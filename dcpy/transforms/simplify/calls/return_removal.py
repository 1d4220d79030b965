"""Removal of returns from the body of a function that is put in the place of its call.

``if c { A; return } B`` becomes ``if c { A } else { B }``: what follows goes into the one way that does not return.
"""

from __future__ import annotations

from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Loop, Region, Return, While
from dcpy.ir.tree import jumps, may_complete


def why_returns_stay(region: Region, *, followed: bool = False) -> Refusal | None:
    """The reason why `drop_returns` cannot work; None where it can. `followed`: more blocks come after `region`."""
    for position, block in enumerate(region.blocks):
        if not _holds_return(block):
            continue
        if isinstance(block, Loop | While):
            return Refusal("it returns from inside of a loop", (block,))
        if isinstance(block, Branch):
            rest = followed or position < len(region.blocks) - 1
            if rest and len(_ways_on(block)) > 1:
                return Refusal("it returns on one of several ways, and the others go on together", (block,))
            for way in block.regions():
                if refusal := why_returns_stay(way, followed=rest and way in _ways_on(block)):
                    return refusal
    return None


def drop_returns(region: Region) -> None:
    """Rewrite a region, which belongs to no SDFG's history, so that it ends where it returned before."""
    for position, block in enumerate(region.blocks):
        if isinstance(block, Return):
            _cut(region, position)
            return
        if isinstance(block, Branch) and _holds_return(block):
            rest = _cut(region, position + 1)
            for way in _ways_on(block) if rest else []:
                if way is None:
                    way = block.otherwise = Region()
                    way.owner = block
                for later in rest:
                    way.add(later)
            for way in block.regions():
                drop_returns(way)
            return


def _ways_on(branch: Branch) -> list[Region | None]:
    """The ways through a branch that do not end in a return; None stands for an `else` that is not there."""
    ways: list[Region | None] = [way for way in branch.regions() if may_complete(way)]
    return ways if branch.otherwise is not None else [*ways, None]


def _holds_return(block: Block) -> bool:
    return any(isinstance(jump, Return) for jump in jumps(block))


def _cut(region: Region, position: int) -> list[Block]:
    """Take out the blocks from a position on; return them."""
    rest = region.blocks[position:]
    for block in reversed(rest):
        region.remove(block)
    return rest
