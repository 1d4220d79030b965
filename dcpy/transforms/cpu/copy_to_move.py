"""CopyToMove: a copy of a whole array that dies there may take its memory instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.analysis.polyhedral.integer_sets import one_covers
from dcpy.ir.data import Array
from dcpy.ir.effects import VISIBLE
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Loop, Region, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, child_of, dominates, is_inside, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class Move:
    """The move of an array; `readers` of the source behind it are to read the copy."""

    readers: tuple[Tasklet | Copy, ...] = ()


@dataclass(frozen=True)
class CopyToMove(Transformation[Move]):
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
    node = capture(Copy)
    pattern = one(node)

    def plan(self, m: Match) -> Move | Refusal:
        """The readers to redirect. Refuses copies of parts, outside of loops, and of arrays that live on."""
        copy, uses = m[self.node], m.uses
        owners = list(owners_around(copy))
        loop = owners[0] if owners else None
        if copy.moves or not isinstance(loop, Loop | While) or any(isinstance(owner, Node) for owner in owners):
            return Refusal("it is not directly in an iteration of a sequential loop, or moves already")
        if not _is_whole(copy, uses):
            return Refusal("it does not copy all of an array to another one of the same layout")
        own = [name for name in (copy.src.container, copy.dst.container) if uses.home(name) is loop.body]
        if len(own) != 1 or not uses.is_private(own[0]) or uses.overlapping(own[0]) != (own[0],):
            return Refusal("not just one of the arrays is the iteration's own")
        return _last(copy, loop, uses) if own[0] == copy.src.container else _first(copy, uses)

    def apply(self, m: Match, plan: Move, rw: Rewriter) -> Copy:
        """Return the copy."""
        copy = m[self.node]
        source, target = copy.src.container, copy.dst.container
        for reader in plan.readers:
            if isinstance(reader, Copy):
                rw.update(reader, src=_of(reader.src, source, target))
            else:
                rw.update(reader, inputs={name: _of(memlet, source, target) for name, memlet in reader.inputs.items()})
        rw.update(copy, moves=True)
        return copy


def _is_whole(copy: Copy, uses: Uses) -> bool:
    descs = [uses.desc(memlet.container) for memlet in (copy.src, copy.dst)]
    arrays = [desc for desc in descs if isinstance(desc, Array)]
    if len(arrays) < 2 or copy.dst.wcr or len({(desc.dtype, desc.shape, desc.strides) for desc in arrays}) > 1:
        return False
    return copy.src.subset == copy.dst.subset == Subset.whole(arrays[0].shape)


def _last(copy: Copy, loop: Loop | While, uses: Uses) -> Move | Refusal:
    """The copy of an iteration's own array, after which nothing touches it."""
    source, target = copy.src.container, copy.dst.container
    later = tuple(each for each in uses.accessors(source) if each is not copy and not _is_before(each, copy, loop.body))
    if later:
        return Refusal(f"{source!r} is accessed again", later)
    if uses.overlapping(target) != (target,):
        return Refusal(f"{target!r} has other names")
    if target in uses.sdfg.arguments and summary_of(loop, uses).effects & VISIBLE:
        return Refusal(f"the caller sees {target!r} where an exception is raised")
    return Move()


def _first(copy: Copy, uses: Uses) -> Move | Refusal:
    """The copy of an array that is stored again as a whole."""
    source, target, state = copy.src.container, copy.dst.container, copy.state
    assert state is not None
    if uses.writers(target) != (copy,):
        return Refusal(f"{target!r} is stored to")
    if source in uses.sdfg.arguments or uses.overlapping(source) != (source,):
        return Refusal(f"{source!r} is an argument, or has other names")
    behind = state.nodes[state.index(copy) + 1 :]
    writer = next((node for node in behind if source in summary_of(node, uses).writes), None)
    if writer is None or not _stores_all(writer, copy, uses):
        return Refusal(f"{source!r} is not stored again, as a whole, by one node of the state")
    readers = [each for node in behind[: behind.index(writer) + 1] for each in _reading(node, source, uses)]
    found = tuple(each for each in readers if isinstance(each, Tasklet | Copy))
    if len(found) < len(readers) or not all(_reads_first(each, writer, source, uses) for each in found):
        return Refusal(f"{source!r} is read by more than tasklets and copies, or after a point has stored to it")
    return Move(found)


def _is_before(element: Element, last: Copy, region: Region) -> bool:
    """Return whether an element of an iteration runs before a node that is directly in one of its states."""
    block, state = child_of(region, element), last.state
    assert block is not None  # what an iteration declares is accessed in it alone
    assert state is not None
    if block is not state:
        return region.index(block) < region.index(state)
    node = child_of(state, element)
    return node is not None and state.index(node) < state.index(last)


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
