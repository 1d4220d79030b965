"""Available copies: at each element, which sections hold the same values because one was copied to the other.

The textbook's available expressions, for copies: a forward analysis over the region tree. A copy makes two sections
equal until either is written, or a symbol that says which sections they are gets another value. Loops are taken as any
number of iterations, so what holds inside of one holds at its beginning and is not ended by its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import View
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Branch, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import Element, subtree

Equal = tuple[Memlet, Memlet]  #: two sections of the same shape, element by element the same
Available = dict[Equal, None]  #: in the order in which they were made


def available_copies(uses: Uses) -> dict[Element, tuple[Equal, ...]]:
    """Copies that are the same when each block of the program begins, and each node that is in no map."""
    found: dict[Element, tuple[Equal, ...]] = {}
    _region(uses.sdfg.body, {}, uses, found)
    return found


def equals_of(memlet: Memlet, equal: Sequence[Equal], uses: Uses) -> Iterator[Memlet]:
    """Sections that hold what a section holds, the latest first."""
    for one, other in reversed(equal):
        for here, there in ((one, other), (other, one)):
            if here.container == memlet.container:
                subset = _within(memlet.subset, here, there, uses)
                if subset is not None:
                    yield Memlet(there.container, subset)


def _within(wanted: Subset, here: Memlet, there: Memlet, uses: Uses) -> Subset | None:
    """The part of `there` that holds the `wanted` part of `here`; None where that is not known."""
    if wanted == here.subset:
        return there.subset
    if here.subset != Subset.whole(uses.desc(here.container).shape):
        return None
    if not all(isinstance(dim, Range) and dim.step is ONE for dim in there.subset.dims):
        return None
    return there.subset.compose(wanted)


def _region(region: Region, equal: Available, uses: Uses, found: dict[Element, tuple[Equal, ...]]) -> Available:
    for block in region.blocks:
        found[block] = tuple(equal)
        if isinstance(block, State):
            for node in block.nodes:
                found[node] = tuple(equal)
                equal = _after(node, equal, uses)
        elif isinstance(block, Branch):
            for arm in block.regions():
                _region(arm, dict(equal), uses, found)
            equal = _without(block, equal, uses)
        else:
            equal = _without(block, equal, uses)
            for inner in block.regions():
                _region(inner, dict(equal), uses, found)
    return equal


def _after(node: Element, equal: Available, uses: Uses) -> Available:
    """Return the pairs that are equal behind a node: without those that it writes, with those that it copies."""
    before, equal = tuple(equal), _without(node, equal, uses)
    if not isinstance(node, Copy) or node.src.dynamic or node.dst.dynamic or node.dst.wcr:
        return equal
    if any(isinstance(uses.desc(memlet.container), View) for memlet in (node.src, node.dst)):
        return equal
    written = memory_of(node.dst.container, uses.desc)
    if memory_of(node.src.container, uses.desc) == written or _is_broadcast(node):
        return equal
    for other in (*equals_of(node.src, before, uses), node.src):
        if memory_of(other.container, uses.desc) != written:
            equal[other, node.dst] = None
    return equal


def _is_broadcast(node: Copy) -> bool:
    return node.src.subset.rank != node.dst.subset.rank or node.src.subset.shape != node.dst.subset.shape


def _without(element: Element, equal: Available, uses: Uses) -> Available:
    """Return the pairs that are equal behind an element that writes, and assigns symbols."""
    written = {access.memory for access in accesses_in(element, uses) if access.is_write}
    assigned = {_assigned(part) for part in subtree(element)}
    return {
        pair: None
        for pair in equal
        if not any(memory_of(side.container, uses.desc) in written for side in pair)
        and assigned.isdisjoint(symbol for side in pair for symbol in side.subset.symbols)
    }


def _assigned(element: Element) -> str:
    """The symbol that an element gives a value, if it does."""
    return element.symbol if isinstance(element, SymbolAssign) else element.param if isinstance(element, Loop) else ""
