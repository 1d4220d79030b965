"""DistributeMap: a map runs where the elements live that it writes ("owner computes")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.distributed.ownership import shifted
from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, Partial
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Range
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.distributed.accesses import NodeAccess, anchors_of, node_accesses
from dcpy.transforms.distributed.resolved_placement import placed


@dataclass(frozen=True)
class DistributeMap(Transformation[Distribution]):
    """Give a map the home of what it writes.

    before   map i = 0:N { B[i + 1] = f(A[i]) }       after   map i = 0:N home g(block 0 by b offset 1) { ... }
             B: f64[M] on g(block 0)

    Applies where each distributed dimension of a written array is indexed by a parameter plus a number, each parameter
    in one dimension. What the ranks then lack, `insert-communication` sends. A map whose results are all combined with
    what is there (`(add)`), in arrays that each rank has, runs where its largest operand lives; each rank then has a
    part of the results. Results stay the same, but for the order of such sums.
    """

    name: ClassVar[str] = "distribute-map"
    map = capture(Map)
    pattern = one(map)

    def plan(self, m: Match) -> Distribution | Refusal:
        node = m[self.map]
        if node.home is not None:
            return Refusal("it has a home")
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("it is inside of another map, which runs on one rank")
        if Effect.ORDERED in effects_of(node):
            return Refusal("it has an effect that is seen outside, which would happen on each rank for itself")
        return home_by_results(node, m.uses)

    def apply(self, m: Match, plan: Distribution, rw: Rewriter) -> Map:
        rw.update(m[self.map], home=plan)
        return m[self.map]


def home_by_results(node: Map, uses: Uses) -> Distribution | Refusal:
    """Return the distribution of a map's iterations: that of its first distributed result with a known place."""
    reason = Refusal("it writes nothing that is distributed")
    for access in node_accesses(node, uses):
        where = placed(access.container, uses) if access.is_write else None
        if isinstance(where, Refusal):
            reason = where
        elif where is not None:
            home = _home(node, access, where)
            if not isinstance(home, Refusal):
                return home
            reason = home
    return _home_of_sums(node, uses) or reason


def _why_not_dealt(axis: Axis, values: Range) -> str:
    step = values.step.constant
    if step is None or step < 1:
        return f"{values} does not count upwards"
    if isinstance(axis, Cyclic) and step > 1:
        return f"{values} does not count one by one, and blocks are dealt out"
    return ""


def _home_of_sums(node: Map, uses: Uses) -> Distribution | None:
    """Return the distribution of the operand of a map whose results are all combined: each rank has a part of them."""
    accesses = node_accesses(node, uses)
    written = [access for access in accesses if access.is_write]
    if not written or any(not access.memlet.wcr or placed(access.container, uses) for access in written):
        return None
    for access in sorted(accesses, key=lambda access: -len(access.memlet.subset.dims)):
        where = None if access.is_write else placed(access.container, uses)
        if not isinstance(where, Distribution) or where.rest:
            continue
        found: dict[str, Axis] = {}
        for axis, anchor in zip(where.axes, anchors_of(access, node.params), strict=True):
            if axis is None or anchor is None or anchor.low != anchor.high or anchor.label in found:
                continue
            home, values = shifted(axis, anchor.low), node.domain[node.params.index(anchor.label)]
            if isinstance(home, Blocked) and (home.offset.constant or 0) >= 0 and not _why_not_dealt(axis, values):
                found[anchor.label] = home
        if found:
            return Distribution(where.grid, tuple(found.get(param) for param in node.params))
    return None


def _home(node: Map, access: NodeAccess, where: Distribution) -> Distribution | Refusal:
    """The iterations are where the elements are that one access writes."""
    found: dict[str, Axis] = {}
    for dim, (axis, anchor) in enumerate(zip(where.axes, anchors_of(access, node.params), strict=True)):
        if axis is None:
            continue
        index = access.memlet.subset.dims[dim]
        if anchor is None or anchor.low != anchor.high:
            return Refusal(f"{access.memlet} is written: {index} is no parameter plus a number")
        if anchor.label in found:
            return Refusal(f"{access.memlet} is written: {anchor.label} is the index of two distributed dimensions")
        if problem := _why_not_dealt(axis, node.domain[node.params.index(anchor.label)]):
            return Refusal(problem)
        found[anchor.label] = shifted(axis, anchor.low)
    if not found:
        return Refusal(f"each rank writes {access.memlet} for itself")
    if any(isinstance(part, Partial) for part in where.rest):
        return Refusal(f"{access.memlet} is still to be combined")
    offsets = [axis.offset.constant for axis in found.values() if axis is not None]
    if any(offset is not None and offset < 0 for offset in offsets):
        return Refusal(f"{access.memlet} is written: iterations would be before the first block")
    return Distribution(where.grid, tuple(found.get(param) for param in node.params), where.rest)
