"""MapFusion: fusion of a map that computes a temporary with the map that reads it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import joined, remember, summary_of
from dcpy.ir.analysis.dependence.loop_dependences import surely_written_before
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.data import Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.between import bring_together, movable_behind
from dcpy.transforms.fusion.bodies import append_body, prepend_body
from dcpy.transforms.fusion.conditions import why_not_in_turns
from dcpy.transforms.fusion.matching import Renaming, inverse, matching_points, space_of
from dcpy.transforms.fusion.temporaries import KEEP, is_fixed, needed_elsewhere, shrink


@dataclass(frozen=True)
class MapFusion(Transformation["Fusion"]):
    """Fuse a producer map into the consumer map that reads its result.

    before   map i = 0:N { tmp[i] = f(A[i]) }        after   map i = 0:N { t = f(A[i])
             map j = 0:N { B[j] = g(tmp[j]) }                              B[i] = g(t) }

    Applies when the iteration spaces are the same, up to the order of parameters and a shift, when no iteration of
    one map touches what a *different* iteration of the other writes, and when the nodes between the two can stand
    before or after both. ``tmp`` becomes private to the iteration, as does everything that only these two maps use. No
    other statement may use ``tmp``, unless it is kept.
    Never changes floating-point order.
    """

    name: ClassVar[str] = "map-fusion"
    optional: ClassVar[bool] = True
    first = capture(Map)
    tmp = capture(Access)
    second = capture(Map)
    pattern = path(first, tmp, second)

    keep_intermediate: bool = False  #: also write ``tmp`` to memory (when it is needed elsewhere)

    def plan(self, m: Match) -> Fusion | Refusal:
        """The plan. Refuses different spaces, dependences between iterations, and temporaries used elsewhere."""
        return fusion_of(m[self.first], m[self.second], m[self.tmp].container, m.uses, keep=self.keep_intermediate)

    def apply(self, m: Match, plan: Fusion, rw: Rewriter) -> Map:
        """Return the fused map: the larger one, with the body of the other added."""
        first, second = m[self.first], m[self.second]
        summaries = summary_of(first, rw.uses), summary_of(second, rw.uses)
        bring_together(first, second, plan.behind, rw)
        larger = summaries[1].nodes > summaries[0].nodes
        backwards = inverse(plan.renaming, first) if larger else None
        if backwards is None:
            rw.substitute_symbols(dict(plan.renaming), second.body)
            fused, gone = first, second
            append_body(first, second, rw)
        else:
            rw.substitute_symbols(backwards, first.body)
            rw.move_nodes([second], m.state, m.state.index(first))
            fused, gone = second, first
            prepend_body(first, second, rw)
        rw.update(fused, claimed=first.claimed or second.claimed)
        rw.forward(gone, fused)
        rw.erase(gone)
        for name, kept in plan.private.items():
            shrink(name, kept, fused, rw)
        remember(fused, joined(*summaries, private=plan.private), rw.uses)
        return fused


@dataclass(frozen=True, slots=True)
class Fusion:
    """The plan of a fusion."""

    renaming: Renaming
    behind: tuple[Node, ...]  # nodes between the maps that go behind both; the others go before both
    private: Mapping[str, tuple[int, ...]]  # temporaries that become private, and the dimensions that each keeps


def fusion_of(
    first: Map, second: Map, tmp: str, uses: Uses, *, keep: bool = False, without: Collection[Memlet] = ()
) -> Fusion | Refusal:
    """The plan to fuse two maps, without certain reads of the first one; or the reason that they cannot be fused."""
    obstacle = _obstacle(first, second, uses)
    if not obstacle and not keep:  # cheap, and the reason of most refusals
        obstacle = needed_elsewhere(tmp, (first, second), uses)
    if obstacle:
        return obstacle
    ranges = uses.ranges_at(first)
    behind = movable_behind(first, second, uses, ranges)
    if isinstance(behind, Refusal):
        return behind
    shared = _shared_names(first, second, uses)
    theirs = accesses_of_body(second, uses, only=shared)
    all_of_ours = accesses_of_body(first, uses, only=shared)
    ours = [access for access in all_of_ours if access.is_write or access.memlet not in without]
    renaming = matching_points(first, second, ours, theirs, tmp, ranges)
    if isinstance(renaming, Refusal):
        return renaming
    if keep:
        return Fusion(renaming, behind, {})
    private: dict[str, tuple[int, ...]] = {}
    for name in (tmp, *(other for other in shared if other != tmp)):
        dims = _private_dims(name, first, second, _of_temporary(name, ours, theirs, renaming), uses, ranges)
        if not isinstance(dims, Refusal):
            private[name] = dims
        elif name == tmp:
            return dims
    return Fusion(renaming, behind, private)


def _obstacle(first: Map, second: Map, uses: Uses) -> Refusal | None:
    if len(first.params) != len(second.params):
        return Refusal(f"iteration spaces differ: {space_of(first)} and {space_of(second)}")
    return why_not_in_turns(first, second, uses)


def _shared_names(first: Map, second: Map, uses: Uses) -> dict[str, None]:
    """Names of the memory that both maps access and one of them writes."""
    few, many = sorted((summary_of(node, uses) for node in (first, second)), key=lambda s: len(s.reads) + len(s.writes))
    shared: dict[str, None] = {}
    for name in (*few.writes, *few.reads):
        if name not in shared:
            names = uses.overlapping(name)
            written = not few.writes.keys().isdisjoint(names) and not many.reads.keys().isdisjoint(names)
            if written or not many.writes.keys().isdisjoint(names):
                shared |= dict.fromkeys(names)
    return shared


def _of_temporary(
    tmp: str, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], renaming: Renaming
) -> list[MemoryAccess]:
    """All accesses to the temporary in the order of the fused body, in the first map's parameters."""
    behind = 1 + max((access.position for access in ours), default=0)
    second = (access for access in theirs if access.root == tmp)
    moved = [replace(access.subs(renaming), position=behind + access.position) for access in second]
    return [*(access for access in ours if access.root == tmp), *moved]


def _private_dims(
    tmp: str, first: Map, second: Map, group: Sequence[MemoryAccess], uses: Uses, ranges: Ranges
) -> tuple[int, ...] | Refusal:
    """The dimensions that a private copy of the temporary needs; or the reason that it cannot be private."""
    if reason := needed_elsewhere(tmp, (first, second), uses):
        return reason
    desc = uses.desc(tmp)
    assert isinstance(desc, Array)  # or it would have been refused
    known = Footprint(Subset(), tuple(zip(first.params, first.domain, strict=True))).known(ranges)
    for read in group:
        if (not read.is_write or read.wcr) and not surely_written_before(read, group, known).is_yes:
            return Refusal(f"the second map reads {tmp!r} where the same iteration did not surely write it")
    subsets = [access.subset for access in group]
    inner = {name for access in group for scope in access.scopes for name, _ in scope.variables}
    inner.update(name for access in group for name in access.varying_symbols)
    kept = tuple(axis for axis in range(len(desc.shape)) if not is_fixed(axis, subsets, inner))
    return kept if len(kept) < len(desc.shape) else Refusal(f"each iteration needs all of {tmp!r}{KEEP}")
