"""CopyToMove: a copy of a whole array that nothing reads any more may take its memory instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.data import Allocation, Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import VISIBLE
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Loop, Region, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, child_of, owners_around, region_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class CopyToMove(GraphPass):
    """Move an array that dies at the end of an iteration, where it is copied as a whole.

    before   loop t = 0:T { data new: f64[N] ...  copy new[0:N] -> u[0:N] }
    after    loop t = 0:T { data new: f64[N] ...  move new[0:N] -> u[0:N] }

    ``u = new`` in a time loop exchanges two pointers then (`codegen.lower.cpu.moved_arrays`). The array is one of the
    iteration, and the copy its last access, so that nothing can see what is left in it. An argument that the program
    updates is moved to only by loops that cannot raise: the caller would see its memory.
    """

    name: ClassVar[str] = "copy-to-move"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Mark the copies."""
        for region in rw.sdfg.body.walk_regions():
            owners = list(owners_around(region))
            if not owners or not isinstance(owners[0], Loop | While) or any(isinstance(one, Node) for one in owners):
                continue
            for name in region.containers:
                copy = _last_copy(name, region, rw.uses)
                if copy is not None and _may_be_anywhere(copy.dst.container, owners[0], rw.uses):
                    rw.update(copy, moves=True)


def _last_copy(name: str, region: Region, uses: Uses) -> Copy | None:
    """The copy of all of an array after which nothing touches it."""
    if not _is_buffer(name, uses):
        return None
    for each in uses.readers(name):
        if isinstance(each, Copy) and _is_whole(each.src, uses) and _is_whole(each.dst, uses) and not each.moves:
            state, others = each.state, (one for one in uses.accessors(name) if one is not each)
            if state is None or region_of(state) is not region:
                return None
            if _layout(name, uses) != _layout(each.dst.container, uses):
                return None
            if all(_is_before(one, each, region) for one in others):
                return each
    return None


def _is_before(element: Element, last: Copy, region: Region) -> bool:
    """Return whether an element of an iteration runs before a node that is directly in one of its states."""
    block, state = child_of(region, element), last.state
    assert block is not None  # what an iteration declares is accessed in it alone
    assert state is not None
    if block is not state:
        return region.index(block) < region.index(state)
    node = child_of(state, element)
    return node is not None and state.index(node) < state.index(last)


def _is_whole(memlet: Memlet, uses: Uses) -> bool:
    desc = uses.desc(memlet.container)
    return isinstance(desc, Array) and memlet.subset == Subset.whole(desc.shape) and not memlet.wcr


def _layout(name: str, uses: Uses) -> tuple[object, ...]:
    desc = uses.desc(name)
    assert isinstance(desc, Array)
    return desc.dtype, desc.shape, desc.strides


def _is_buffer(name: str, uses: Uses) -> bool:
    """Return whether it is memory of the program's own, from the heap, that no other name shows."""
    desc = uses.desc(name)
    is_heap = isinstance(desc, Array) and desc.allocation is Allocation.HEAP
    return is_heap and uses.is_private(name) and uses.overlapping(name) == (name,)


def _may_be_anywhere(name: str, loop: Loop | While, uses: Uses) -> bool:
    """Return whether an array that outlives iterations may be in other memory while the loop runs."""
    if uses.home(name) is loop.body or uses.root(name) != name or uses.overlapping(name) != (name,):
        return False
    if name in uses.sdfg.arguments:
        return not summary_of(loop, uses).effects & VISIBLE
    return _is_buffer(name, uses) or not uses.is_private(name)
