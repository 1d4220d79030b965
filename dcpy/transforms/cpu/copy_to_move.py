"""CopyToMove: a copy of a whole array that dies there may take its memory instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeGuard

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.analysis.polyhedral.integer_sets import one_covers
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import VISIBLE
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Loop, Region, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, child_of, dominates, is_inside, owners_around, region_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class CopyToMove(GraphPass):
    """Move an array that dies where it is copied as a whole, in an iteration of a loop.

    before   loop t = 0:T { data new: f64[N] ...  copy new[0:N] -> u[0:N] }
    after    loop t = 0:T { data new: f64[N] ...  move new[0:N] -> u[0:N] }

    ``u = new`` in a time loop exchanges two pointers then (`codegen.lower.cpu.moved_arrays`). Either the iteration's
    own array is copied to one that outlives it, and not touched any more; or it is a copy of one that is stored again,
    all of it by one node of the state: what is read up to then is read from the copy. An argument that the program
    updates is moved to only by loops that cannot raise, and never moved from: the caller would see its memory.
    """

    name: ClassVar[str] = "copy-to-move"
    optional: ClassVar[bool] = True

    def decide(self, rw: Rewriter) -> None:
        """Mark the copies, and redirect reads."""
        uses = rw.uses
        for region in list(rw.sdfg.body.walk_regions()):
            owners = list(owners_around(region))
            if not owners or not isinstance(owners[0], Loop | While) or any(isinstance(one, Node) for one in owners):
                continue
            for name in region.containers:
                if not _is_buffer(name, uses):
                    continue
                copy = _last_copy(name, region, uses)
                if copy is not None and _may_be_anywhere(copy.dst.container, owners[0], uses):
                    rw.update(copy, moves=True)
                    continue
                copy = _first_copy(name, region, uses)
                if copy is not None and _is_unseen(copy.src.container, region, uses):
                    _take(copy, rw)


def _last_copy(name: str, region: Region, uses: Uses) -> Copy | None:
    """The copy of all of an array, in an iteration, after which nothing touches it."""
    for each in uses.readers(name):
        if _is_whole_copy(each, region, uses):
            others = (one for one in uses.accessors(name) if one is not each)
            return each if all(_is_before(one, each, region) for one in others) else None
    return None


def _first_copy(name: str, region: Region, uses: Uses) -> Copy | None:
    """The copy that is all that is stored in an array, in an iteration."""
    writers = uses.writers(name)
    return writers[0] if len(writers) == 1 and _is_whole_copy(writers[0], region, uses) else None


def _is_whole_copy(element: Element, region: Region, uses: Uses) -> TypeGuard[Copy]:
    """Return whether it is a copy of one array to another one of the same layout, directly in a state of a region."""
    if not isinstance(element, Copy) or element.moves or element.state is None:
        return False
    memlets = (element.src, element.dst)
    if region_of(element.state) is not region or any(memlet.wcr for memlet in memlets):
        return False
    descs = [uses.desc(memlet.container) for memlet in memlets]
    if not all(isinstance(desc, Array) and memlet.subset == Subset.whole(desc.shape)
               for memlet, desc in zip(memlets, descs, strict=True)):  # fmt: skip
        return False
    layouts = {(desc.dtype, desc.shape, desc.strides) for desc in descs if isinstance(desc, Array)}
    return len(layouts) == 1


def _is_before(element: Element, last: Copy, region: Region) -> bool:
    """Return whether an element of an iteration runs before a node that is directly in one of its states."""
    block, state = child_of(region, element), last.state
    assert block is not None  # what an iteration declares is accessed in it alone
    assert state is not None
    if block is not state:
        return region.index(block) < region.index(state)
    node = child_of(state, element)
    return node is not None and state.index(node) < state.index(last)


def _is_buffer(name: str, uses: Uses) -> bool:
    """Return whether it is memory of the program's own that no other name shows."""
    return isinstance(uses.desc(name), Array) and uses.is_private(name) and uses.overlapping(name) == (name,)


def _is_unseen(name: str, region: Region, uses: Uses) -> bool:
    """Return whether an array outlives iterations, and nobody sees it where the program ends with an exception."""
    if uses.home(name) is region or uses.root(name) != name or uses.overlapping(name) != (name,):
        return False
    return name not in uses.sdfg.arguments


def _may_be_anywhere(name: str, loop: Loop | While, uses: Uses) -> bool:
    """Return whether an array that outlives iterations may be in other memory while the loop runs."""
    if name in uses.sdfg.arguments and uses.overlapping(name) == (name,):
        return not summary_of(loop, uses).effects & VISIBLE
    return _is_unseen(name, loop.body, uses)


def _take(copy: Copy, rw: Rewriter) -> None:
    """Mark a copy whose source is stored again as a whole, once what is read up to then is read from the copy."""
    source, state = copy.src.container, copy.state
    assert state is not None
    behind = state.nodes[state.index(copy) + 1 :]
    writer = next((node for node in behind if source in summary_of(node, rw.uses).writes), None)
    if writer is None or not _stores_all(writer, copy, rw.uses):
        return
    readers = [each for node in behind[: behind.index(writer) + 1] for each in _reading(node, source, rw.uses)]
    if not all(isinstance(each, Tasklet | Copy) and _reads_first(each, writer, source, rw.uses) for each in readers):
        return
    target = copy.dst.container
    for reader in readers:
        if isinstance(reader, Copy):
            rw.update(reader, src=_of(reader.src, source, target))
        elif isinstance(reader, Tasklet):
            rw.update(reader, inputs={name: _of(memlet, source, target) for name, memlet in reader.inputs.items()})
    rw.update(copy, moves=True)


def _of(memlet: Memlet, source: str, target: str) -> Memlet:
    return replace(memlet, container=target) if memlet.container == source else memlet


def _reading(node: Node, name: str, uses: Uses) -> Iterator[Element]:
    return (each for each in uses.readers(name) if each is node or is_inside(each, node))


def _stores_all(node: Node, copy: Copy, uses: Uses) -> bool:
    """Return whether a node surely stores all of a copy's source, and does not combine."""
    source = copy.src.container
    whole = next(access for access in accesses_in(copy, uses) if access.root == source).footprint()
    stores = [access for access in accesses_in(node, uses) if access.root == source and access.is_write]
    if whole is None or not all(access.mode is Mode.WRITE and access.is_sure() for access in stores):
        return False
    found = [footprint for access in stores if (footprint := access.footprint()) is not None]
    return one_covers([each for each in found if not each.is_run_time], whole, uses.ranges_at(node))


def _reads_first(reader: Element, writer: Node, name: str, uses: Uses) -> bool:
    """Return whether a point has read an array, where it does, before it stores to it."""
    if not is_inside(reader, writer):
        return True
    stores = [each for each in uses.writers(name) if is_inside(each, writer)]
    inside = (owner for each in (reader, *stores) for owner in owners_around(each) if is_inside(owner, writer))
    only_maps = isinstance(writer, Map) and all(isinstance(owner, Map) for owner in inside)
    return only_maps and all(each is reader or dominates(reader, each) for each in stores)
