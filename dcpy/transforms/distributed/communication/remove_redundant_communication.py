"""RemoveRedundantCommunication: data that a rank has under another name is not sent again (the paper's figure 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.exposed_reads import exposed_accesses
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar, strides_of
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element
from dcpy.transforms.distributed.accesses import node_accesses, outermost_node
from dcpy.transforms.distributed.communication.available_copies import Equal, available_copies, equals_of
from dcpy.transforms.distributed.communication.insert_communication import needed_by, redirect
from dcpy.transforms.distributed.communication.locality_check import locality_problem
from dcpy.transforms.distributed.grids.grid_operations import on_grid
from dcpy.transforms.distributed.resolved_placement import Home, home_of, placed
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class RemoveRedundantCommunication(GraphPass):
    """Copy propagation across distributions: what was copied is read where it comes from, if that sends less.

    before   copy tmp_part -> tmp        # allgather          after   map i home h { B[i] = tmp_part[i] + 1 }
             copy tmp -> tmp_part_1      # takes its block
             map i home h { B[i] = tmp_part_1[i] + 1 }

    A gather and a scatter of the same blocks vanish, those of different blocks become one copy between the two, and an
    array that has not changed is copied once; what is gathered, and then read in blocks alone, goes to these. A copy is
    available where it surely has happened, and neither of its sides was written since.
    """

    name: ClassVar[str] = "remove-redundant-communication"

    def decide(self, rw: Rewriter) -> None:
        """Take another source for copies, read originals, and drop unread copies, until none is left."""
        while _drop_unread(rw) or _read_from_elsewhere(rw) or _read_originals(rw) or _narrow(rw):
            pass  # what is unread goes first: what would be read from there is read from its original by now


# -- copies ------------------------------------------------------------------------------------------------------------


def _read_from_elsewhere(rw: Rewriter) -> bool:
    """Give one copy another source."""
    available = available_copies(rw.uses)
    for copy, equal in available.items():
        if not isinstance(copy, Copy):
            continue
        for source in equals_of(copy.src, equal, rw.uses):
            if source.container != copy.dst.container and _sends_less(copy, source, equal, rw.uses):
                rw.remark(copy, True, f"{source} holds the same as {copy.src}, and takes less to send")
                rw.update(copy, src=source)
                return True
    return False


def _sends_less(copy: Copy, source: Memlet, equal: Sequence[Equal], uses: Uses) -> bool:
    """Return whether less is sent in all if a copy has another source."""
    now, then = _is_local(copy, uses), _is_local(Copy(source, copy.dst), uses)
    if then and not now:
        return True
    original = any(one.container == source.container and other.container == copy.src.container for one, other in equal)
    if not original or not _is_temporary(copy.src.container, uses):
        return False  # the other way round, or what is between is needed in any case
    return then or uses.readers(copy.src.container) == (copy,)


def _is_local(copy: Copy, uses: Uses) -> bool:
    """Return whether each rank has what it copies."""
    _, home, _ = home_of(copy, uses)
    for access in node_accesses(copy, uses):
        where = placed(access.container, uses)
        if isinstance(where, Refusal) or locality_problem(access, where, home, copy, uses):
            return False
    return True


# -- readers -----------------------------------------------------------------------------------------------------------


def _read_originals(rw: Rewriter) -> bool:
    """Make all readers of one copy read what it was made of, which has the same elements in the same places."""
    uses = rw.uses
    available = available_copies(uses)
    for name in uses.containers():
        if not _is_temporary(name, uses):
            continue
        readers = uses.readers(name)
        originals = [_original(name, reader, available, uses) for reader in readers]
        if not readers or not originals[0] or any(one != originals[0] for one in originals):
            continue
        for reader in readers:
            outermost = outermost_node(reader)
            if outermost is not None and uses.holds(outermost):
                redirect(outermost, name, originals[0], (False,) * len(uses.desc(name).shape), rw)
        return True
    return False


def _is_temporary(name: str, uses: Uses) -> bool:
    """Return whether a container is written by copies alone, and nothing else shows its memory."""
    desc = uses.desc(name)
    if not isinstance(desc, Array | Scalar) or not uses.is_private(name) or uses.views_of(name):
        return False
    return all(isinstance(writer, Copy) for writer in uses.writers(name))


def _original(name: str, reader: Element, available: dict[Element, tuple[Equal, ...]], uses: Uses) -> str:
    """Return the container that a reader may read instead; "" for none."""
    place = outermost_node(reader)
    if place is None or place not in available:
        return ""  # the condition or bound of a block: it is read wherever that begins
    whole = Subset.whole(uses.desc(name).shape)
    for one, other in available[place]:
        both = other.subset == whole and one.subset == Subset.whole(uses.desc(one.container).shape)
        if other.container == name and both:
            accessed = exposed_accesses(place, uses).get(one.container)
            if _is_there(one.container, name, place, uses) and (accessed is None or not accessed.writes):
                return one.container
    return ""


def _is_there(original: str, name: str, node: Node, uses: Uses) -> bool:
    """Return whether each rank that runs `node` has the elements of `original` that it reads of `name`."""
    mine, its = uses.desc(original), uses.desc(name)
    if not isinstance(mine, Array | Scalar) or not isinstance(its, Array | Scalar):
        return False
    if (mine.dtype, mine.shape, _elsewhere(mine)) != (its.dtype, its.shape, _elsewhere(its)):
        return False
    where, (_, home, _) = placed(original, uses), home_of(node, uses)
    if on_grid(node, uses) is not None:  # blocks of all operands belong together, and are stored as they have to be
        return where == placed(name, uses) and strides_of(mine) == strides_of(its)
    if where != placed(name, uses) and _is_split(node, home, uses):
        return False  # what is dealt out of it says which part of the sums each rank takes
    reads = [access for access in node_accesses(node, uses) if access.container == name]
    moved = [replace(access, memlet=replace(access.memlet, container=original)) for access in reads]
    return not isinstance(where, Refusal) and not any(
        locality_problem(access, where, home, node, uses) for access in moved
    )


def _is_split(node: Node, home: Home, uses: Uses) -> bool:
    """Return whether what a library node combines over is dealt out, which only its operands show."""
    written = {label for access in node_accesses(node, uses) if access.is_write for label in access.labels or ()}
    return not isinstance(node, Map) and any(label not in written for label in home)


def _elsewhere(desc: Array | Scalar) -> object:
    """Return the storage of a container, apart from its distribution."""
    return (replace(desc, distribution=None) if isinstance(desc, Array) else desc).storage



# -- what is gathered, and read in blocks ---------------------------------------------------------------------------


def _narrow(rw: Rewriter) -> bool:
    """Make one temporary that each rank has whole live in the blocks in which all its readers read it."""
    uses = rw.uses
    for name in uses.containers():
        desc = uses.desc(name)
        if not isinstance(desc, Array) or not desc.shape or not _is_temporary(name, uses) or placed(name, uses):
            continue
        if not any(placed(writer.src.container, uses) for writer in uses.writers(name) if isinstance(writer, Copy)):
            continue  # it takes no message
        places = {_needed(name, reader, uses) for reader in uses.readers(name)}
        where = places.pop() if len(places) == 1 else None
        if where is not None:
            rw.redeclare(name, replace(desc, distribution=where))
            return True
    return False


def _needed(name: str, reader: Element, uses: Uses) -> Distribution | None:
    """The blocks that a reader reads; None where it needs more, or is no node that runs in blocks."""
    node = outermost_node(reader)
    if node is None or isinstance(node, Copy) or not home_of(node, uses)[1]:
        return None
    return needed_by(node, name, uses)


# -- dead copies -------------------------------------------------------------------------------------------------------


def _drop_unread(rw: Rewriter) -> bool:
    """Drop the unread copies into one container."""
    for name in rw.uses.containers():
        if _is_temporary(name, rw.uses) and not rw.uses.readers(name):
            for writer in rw.uses.writers(name):
                rw.erase(writer)
            rw.undeclare(name)
            return True
    return False
