"""Exchange placement: halos are exchanged only where invalid, once for arrays that a loop does not write, several at
one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Branch, Loop, Region, State, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, region_of, subtree
from dcpy.transforms.distributed.halos.halo_validity import Halo, updated, valid_halos


def update_of(halos: Mapping[str, Halo], uses: Uses, span: SrcSpan | None = None) -> HaloUpdate:
    """An update of some arrays, each as far as it says."""
    memlets = {
        f"x{number}": Memlet(name, Subset.whole(uses.desc(name).shape)) for number, name in enumerate(halos)
    }
    pairs = [pair for halo in halos.values() for pair in halo.widths]
    before, behind = tuple(low for low, _ in pairs), tuple(high for _, high in pairs)
    corners = any(halo.corners and halo.has_corners for halo in halos.values())
    return HaloUpdate(dict(memlets), dict(memlets), before, behind, corners, span=span)


def place_updates(rw: Rewriter) -> None:
    """Moves, merges and drops updates until none is left that could be."""
    while _drop_valid(rw) or _leave_loop(rw) or _leave_branch(rw) or _merge(rw):
        pass


# -- each of it once -------------------------------------------------------------------------------------------------


def _drop_valid(rw: Rewriter) -> bool:
    """Drop one update, or a part of it, of what is valid when it begins."""
    for node, valid in valid_halos(rw.uses).items():
        if not isinstance(node, HaloUpdate):
            continue
        needed = updated(node)
        left = {name: halo for name, halo in needed.items() if name not in valid or not valid[name].covers(halo)}
        if len(left) < len(needed):
            rw.remark(node, True, "the halo is valid")
            if left:
                rw.replace(node, update_of(left, rw.uses, node.span))
            else:
                rw.erase(node)
            return True
    return False


def _leave_loop(rw: Rewriter) -> bool:
    """Move one update out of a loop that does not write what it updates; one too many does no harm."""
    for update in _updates(rw.sdfg.body):
        loop = region_of(update).owner
        if not isinstance(loop, Loop | While):
            continue
        written = _written_in(loop, rw.uses)
        found = {n: halo for n, halo in updated(update).items() if memory_of(n, rw.uses.desc) not in written}
        if found:
            rw.remark(update, True, "the loop does not write what is updated")
            rw.insert_before(loop, State("", [update_of(found, rw.uses, update.span)]))
            return True  # the one inside is an update of what is valid now
    return False


def _leave_branch(rw: Rewriter) -> bool:
    """Move the updates out of a branch that each of its arms begins with: all of them together are one."""
    for block in rw.sdfg.body.walk_blocks():
        if not isinstance(block, Branch) or block.otherwise is None:
            continue
        first = [_first_update(arm) for arm in block.regions()]
        shared = [set(updated(update)) for update in first if update is not None]
        names = set.intersection(*shared) if len(shared) == len(first) else set()
        if not names:
            continue
        found: dict[str, Halo] = {}
        for update in first:
            assert update is not None  # each arm has one
            for name, halo in updated(update).items():
                if name in names:
                    found[name] = found[name].joined(halo) if name in found else halo
        rw.insert_before(block, State("", [update_of(found, rw.uses, block.span)]))
        return True  # those inside are updates of what is valid now
    return False


def _merge(rw: Rewriter) -> bool:
    """Make one update part of an earlier one, if nothing in between writes what it updates."""
    for region in rw.sdfg.body.walk_regions():
        last: HaloUpdate | None = None
        written = set[str]()
        for element in _in_a_row(region):
            if isinstance(element, HaloUpdate):
                if last is not None and written.isdisjoint(_memories(element, rw.uses)):
                    joined = updated(last)
                    for name, halo in updated(element).items():
                        joined[name] = joined[name].joined(halo) if name in joined else halo
                    rw.replace(last, update_of(joined, rw.uses, last.span))
                    rw.erase(element)
                    return True
                last, written = element, set()
            else:
                written |= _written_in(element, rw.uses)
    return False


# -- what it looks at ------------------------------------------------------------------------------------------------


def _updates(region: Region) -> Iterator[HaloUpdate]:
    yield from (node for node in region.walk_nodes() if isinstance(node, HaloUpdate))


def _in_a_row(region: Region) -> Iterator[Element]:
    """The nodes of a region's states, and its other blocks, in order."""
    for block in list(region.blocks):
        if isinstance(block, State):
            yield from list(block.nodes)
        else:
            yield block


def _first_update(arm: Region) -> HaloUpdate | None:
    """The update that an arm begins with."""
    first = next(_in_a_row(arm), None)
    return first if isinstance(first, HaloUpdate) else None


def _memories(update: HaloUpdate, uses: Uses) -> set[str]:
    return {memory_of(name, uses.desc) for name in updated(update)}


def _written_in(element: Element, uses: Uses) -> set[str]:
    """The memory that is given other values inside of an element; updates give none."""
    parts = (part for part in subtree(element) if not isinstance(part, HaloUpdate))
    return {memory_of(name, uses.desc) for part in parts for name in uses.accesses(part).writes}
