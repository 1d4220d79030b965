"""InferHalos: what ranks need of their neighbours comes into a halo of the array itself, in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.distribution import Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.region import Loop, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import owners_around
from dcpy.transforms.distributed.accesses import node_accesses, outermost_node
from dcpy.transforms.distributed.communication.available_copies import Equal, available_copies
from dcpy.transforms.distributed.communication.insert_communication import redirect
from dcpy.transforms.distributed.communication.locality_check import halo_needed
from dcpy.transforms.distributed.halos.exchange_placement import place_updates, update_of
from dcpy.transforms.distributed.halos.halo_validity import Halo
from dcpy.transforms.distributed.private_arrays import is_own, own_copy, why_no_copy
from dcpy.transforms.distributed.resolved_placement import home_of, placed, reach_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class Staged:
    """A copy of an array, with a halo, that nodes read; the array itself could have that halo."""

    copy: Copy
    name: str  #: of the container that is copied to
    readers: tuple[Node, ...]
    needs: Halo


@dataclass(frozen=True)
class InferHalos(GraphPass):
    """Gives arrays the halos that are copied each time, and updates these in place.

    before   loop t { copy A -> A_part     # with a halo          after   loop t { comm.update A {before = (1,), ...}
                      map home h { B[i] = A_part[i - 1] } }                        map home h { B[i] = A[i - 1] } }
             A: f64[N] on g(block 0)                                      A: f64[N] on g(block 0) halo (1:0)

    Applies where all that a node needs is what its rank owns, and a known number of elements beyond that. The array is
    as it was when it was copied wherever the copy is read. An argument, of which callers have parts without halos, is
    copied to an array of the program's own before all else, and back behind it; that is done where it saves copies in
    loops. Updates of valid halos vanish, updates of what a loop does not write move out of it, and those that can be at
    one place become one, which sends one message to each neighbour.
    """

    name: ClassVar[str] = "infer-halos"

    def decide(self, rw: Rewriter) -> None:
        """Array after array; what is copied in one stays the same when another gets its halo."""
        for name, staged in _all_staged(rw.uses).items():
            reason = _why_not(name, staged, rw.uses)
            if reason:
                rw.remark(staged[0].copy, False, f"{name!r} gets no halo: {reason}")
                continue
            own = name if is_own(name, rw.uses) else own_copy(name, rw)
            _give_halo(own, staged, rw)
        place_updates(rw)


# -- what is copied --------------------------------------------------------------------------------------------------


def _all_staged(uses: Uses) -> dict[str, list[Staged]]:
    """The copies of each array whose only reason is the halo."""
    found: dict[str, list[Staged]] = {}
    available = available_copies(uses)
    for name in uses.containers():
        desc, writers = uses.desc(name), uses.writers(name)
        if not isinstance(desc, Array) or desc.distribution is None or not desc.distribution.halo:
            continue
        if not uses.is_private(name) or uses.views_of(name) or len(writers) != 1 or not isinstance(writers[0], Copy):
            continue
        copy = writers[0]
        readers = [outermost_node(reader) for reader in uses.readers(name)]
        nodes = tuple(dict.fromkeys(reader for reader in readers if reader is not None))
        if None in readers or not nodes or not _is_aligned(copy, uses):
            continue
        if all(_reads_the_same(copy, node, available.get(node, ()), uses) for node in nodes):
            needs = _needs(name, desc.distribution, nodes, uses)
            found.setdefault(copy.src.container, []).append(Staged(copy, name, nodes, needs))
    return found


def _is_aligned(copy: Copy, uses: Uses) -> bool:
    """Return whether a copy changes nothing but that there is a halo."""
    mine, its = uses.desc(copy.src.container), uses.desc(copy.dst.container)
    if not isinstance(mine, Array) or not isinstance(its, Array) or copy.dst.wcr or copy.dst.dynamic:
        return False
    if (mine.dtype, mine.shape, mine.space) != (its.dtype, its.shape, its.space):
        return False
    if any(memlet.subset != Subset.whole(mine.shape) for memlet in (copy.src, copy.dst)):
        return False
    here, there = (placed(memlet.container, uses) for memlet in (copy.src, copy.dst))
    if not isinstance(here, Distribution) or not isinstance(there, Distribution) or here.rest:
        return False
    return here.without_halo() == there.without_halo()


def _reads_the_same(copy: Copy, reader: Node, equal: Sequence[Equal], uses: Uses) -> bool:
    """Return whether the array surely still is what was copied, and the reader does not write it."""
    if (copy.src, copy.dst) not in equal:
        return False
    return not any(a.is_write and a.root == uses.root(copy.src.container) for a in accesses_in(reader, uses))


def _needs(name: str, where: Distribution, readers: Sequence[Node], uses: Uses) -> Halo:
    """Return the halo that all readers need; all of it for a reader that is not known to need less."""
    most = Halo(where.halo, True)
    needs = Halo(((0, 0),) * len(where.axes))
    exact = placed(name, uses)
    assert isinstance(exact, Distribution)  # as it is aligned
    for reader in readers:
        _, home, _ = home_of(reader, uses)
        for access in node_accesses(reader, uses):
            if access.container == name:
                known = halo_needed(access, exact, home, reach_of(reader)) if isinstance(reader, Map) else None
                needs = needs.joined(known or most)
    return needs


# -- whether it pays, and may be -------------------------------------------------------------------------------------


def _why_not(name: str, staged: Sequence[Staged], uses: Uses) -> str:
    if uses.views_of(name):
        return "other containers are views of it"
    if is_own(name, uses):
        return ""
    if not any(_is_repeated(part.copy) for part in staged):
        return "it is an argument, of which callers have parts without one, and copied in no loop"
    return why_no_copy(name, uses)


def _is_repeated(node: Node) -> bool:
    return any(isinstance(owner, Loop | While) for owner in owners_around(node))


# -- carrying it out -------------------------------------------------------------------------------------------------


def _give_halo(name: str, staged: Sequence[Staged], rw: Rewriter) -> None:
    """Replace copies by updates, and what was copied by the array itself."""
    desc = rw.uses.desc(name)
    assert isinstance(desc, Array), "it has been looked at"
    assert desc.distribution is not None, "copies of it are aligned"
    room = Halo(desc.distribution.halo or ((0, 0),) * len(desc.shape))
    for part in staged:
        room = room.joined(part.needs)
    rw.redeclare(name, replace(desc, distribution=replace(desc.distribution, halo=room.widths)))
    for part in staged:
        for reader in part.readers:
            redirect(reader, part.name, name, (False,) * len(desc.shape), rw)
        rw.replace(part.copy, update_of({name: part.needs}, rw.uses, part.copy.span))
        rw.undeclare(part.name)
