"""MapFusion: a map that computes a temporary and the map that reads it become one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.access import MemoryAccess
from dcpy.ir.analysis.access_relations import accesses_of_body
from dcpy.ir.analysis.dependences import surely_written_before
from dcpy.ir.analysis.footprints import Footprint
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path
from dcpy.transforms.fusion.between import movable_between
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
    before or after both. ``tmp`` becomes private to the iteration; nobody else may need it, unless it is kept.
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
        """Refuses different spaces, dependences between different iterations, and temporaries needed elsewhere."""
        return fusion_of(m[self.first], m[self.second], m[self.tmp].container, m.uses, keep=self.keep_intermediate)

    def apply(self, m: Match, plan: Fusion, rw: Rewriter) -> Map:
        """Returns the fused map: the larger one, which takes up the body of the other."""
        first, second = m[self.first], m[self.second]
        if plan.before:
            rw.move_nodes(plan.before, m.state, m.state.index(first))
        backwards = inverse(plan.renaming, first) if _size(second) > _size(first) else None
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
        if plan.private is not None:
            shrink(m[self.tmp].container, plan.private, fused, rw)
        return fused


@dataclass(frozen=True, slots=True)
class Fusion:
    """How two maps become one."""

    renaming: Renaming
    before: tuple[Node, ...]  # nodes between the maps that go before both
    private: tuple[int, ...] | None  # dimensions that the private temporary keeps; None: it stays where it is


def fusion_of(
    first: Map, second: Map, tmp: str, uses: Uses, *, keep: bool = False, without: Collection[Memlet] = ()
) -> Fusion | Refusal:
    """How two maps become one, if the first one did not read certain memlets; or why they stay two."""
    obstacle = _obstacle(first, second, uses)
    if not obstacle and not keep:  # cheap, and the reason of most refusals
        obstacle = needed_elsewhere(tmp, (first, second), uses)
    if obstacle:
        return obstacle
    ranges = uses.ranges_at(first)
    before = movable_between(first, second, uses, ranges)
    if isinstance(before, Refusal):
        return before
    theirs = accesses_of_body(second, uses)
    all_of_ours = accesses_of_body(first, uses, only=_shared_names(first, theirs, uses))
    ours = [touch for touch in all_of_ours if touch.is_write or touch.memlet not in without]
    renaming = matching_points(first, second, ours, theirs, tmp, ranges)
    if isinstance(renaming, Refusal):
        return renaming
    if keep:
        return Fusion(renaming, before, None)
    group = _of_temporary(tmp, ours, theirs, renaming)
    private = _private_dims(tmp, first, second, group, uses, ranges)
    return private if isinstance(private, Refusal) else Fusion(renaming, before, private)


def _obstacle(first: Map, second: Map, uses: Uses) -> Refusal | None:
    if len(first.params) != len(second.params):
        return Refusal(f"iteration spaces differ: {space_of(first)} and {space_of(second)}")
    return why_not_in_turns(first, second, uses)


def _shared_names(first: Map, theirs: Sequence[MemoryAccess], uses: Uses) -> set[str]:
    """Names of what the second map touches, apart from what neither map writes."""
    written: dict[str, bool] = {}
    for touch in theirs:
        written[touch.root] = written.get(touch.root, False) or touch.is_write
    by_first = {name for node in first.body.walk_nodes() for name in uses.touches(node).writes}
    shared: set[str] = set()
    for root, is_written in written.items():
        names = uses.overlapping(root)
        if is_written or not by_first.isdisjoint(names):
            shared.update(names)
    return shared


def _of_temporary(
    tmp: str, ours: Sequence[MemoryAccess], theirs: Sequence[MemoryAccess], renaming: Renaming
) -> list[MemoryAccess]:
    """All touches of the temporary in the order of the fused body, in terms of the first map's parameters."""
    behind = 1 + max((touch.position for touch in ours), default=0)
    second = (touch for touch in theirs if touch.root == tmp)
    moved = [replace(touch.subs(renaming), position=behind + touch.position) for touch in second]
    return [*(touch for touch in ours if touch.root == tmp), *moved]


def _private_dims(
    tmp: str, first: Map, second: Map, group: Sequence[MemoryAccess], uses: Uses, ranges: Ranges
) -> tuple[int, ...] | Refusal:
    """The dimensions that a private copy of the temporary needs, or why it cannot be private."""
    if reason := needed_elsewhere(tmp, (first, second), uses):
        return reason
    desc = uses.desc(tmp)
    assert isinstance(desc, Array)  # or it would have been refused
    known = Footprint(Subset(), tuple(zip(first.params, first.domain, strict=True))).known(ranges)
    for read in group:
        if (not read.is_write or read.wcr) and not surely_written_before(read, group, known).is_yes:
            return Refusal(f"the second map reads {tmp!r} where the same iteration did not surely write it")
    subsets = [touch.subset for touch in group]
    inner = {name for touch in group for scope in touch.scopes for name, _ in scope.variables}
    inner.update(name for touch in group for name in touch.run_time)
    kept = tuple(axis for axis in range(len(desc.shape)) if not is_fixed(axis, subsets, inner))
    return kept if len(kept) < len(desc.shape) else Refusal(f"each iteration needs all of {tmp!r}{KEEP}")


def _size(node: Map) -> int:
    return sum(1 for _ in node.body.walk_nodes())
