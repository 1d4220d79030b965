"""SubgraphFusion: fusion of the maps of a state at a common prefix of parameters, with private buffers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.nest_edits import expand_map
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import Ranges
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.bodies import append_body
from dcpy.transforms.fusion.groups import Group, accessed_by, grown, kept_dims, temporaries_of, traffic_shrinks
from dcpy.transforms.fusion.temporaries import shrink


@dataclass(frozen=True)
class SubgraphFusion(Transformation["Group"]):
    """Fuse the maps of a state at a common outer prefix of their parameters, with private buffers.

    before   map i = 0:N { s[i] = sum of A[i, :] }            after   map i = 0:N { data t: f64[M]
             map i = 0:N, j = 0:M { T[i, j] = A[i, j] - s[i] }                      s = sum of A[i, :]
             map i = 0:N, j = 0:M { B[i, j] = T[i, M - j] }                         map j = 0:M { t[j] = A[i, j] - s }
                                                                                    map j = 0:M { B[i, j] = t[M - j] } }

    The maps may have different ranks, reduce, and read each other's results through broadcasts. Applies where the outer
    parameters run through the same values, where no iteration of the prefix touches what a *different* iteration of
    another map writes, and where at least one temporary becomes private with fewer dimensions than it had: none, or at
    most `rank`. The deepest such prefix is taken. Never changes floating-point order.
    """

    name: ClassVar[str] = "subgraph-fusion"
    optional: ClassVar[bool] = True
    first = capture(Map)
    pattern = one(first)

    rank: int = 1  #: dimensions of a private buffer, at most
    small: bool = False  #: also for temporaries that are smaller than what the maps run through

    def plan(self, m: Match) -> Group | Refusal:
        """The maps after the captured one that join it, at the deepest prefix that makes a temporary private."""
        first, uses = m[self.first], m.uses
        temporaries = dict.fromkeys(temporaries_of(first, uses))
        if not temporaries:
            return Refusal("it writes no temporary that only maps of its state read")
        ranges = uses.ranges_at(first)
        refusal = Refusal("no map behind it reads what it writes")
        for depth in range(len(first.params), 0, -1):
            group, obstacle = grown(first, depth, uses, ranges)
            refusal = obstacle or refusal
            if len(group.members) > 1:
                found = self._privatized(group, uses, ranges)
                if isinstance(found, Group):
                    return found
                refusal = found
        return refusal

    def apply(self, m: Match, plan: Group, rw: Rewriter) -> Map:
        """Return the fused map, which is the captured one."""
        first = m[self.first]
        if plan.before:
            rw.move_nodes(plan.before, m.state, m.state.index(first))
        if len(first.params) > plan.depth:
            expand_map(first, plan.depth, rw)
        for member in plan.members:
            if len(member.node.params) > plan.depth:
                expand_map(member.node, plan.depth, rw)
            if member.node is not first:
                rw.substitute_symbols(dict(member.renaming), member.node.body)
                append_body(first, member.node, rw)
                rw.update(first, claimed=first.claimed or member.node.claimed)
                rw.erase(member.node)
        for name, kept in plan.private:
            shrink(name, kept, first, rw)
        return first

    def _privatized(self, group: Group, uses: Uses, ranges: Ranges) -> Group | Refusal:
        """A group without trailing maps that share no temporary with the others; and its private temporaries."""
        refusal = Refusal("no temporary becomes private")
        while len(group.members) > 1:
            private: list[tuple[str, tuple[int, ...]]] = []
            for name in dict.fromkeys(name for member in group.members for name in temporaries_of(member.node, uses)):
                kept = kept_dims(name, group, uses, ranges)
                if isinstance(kept, Refusal):
                    refusal = kept
                elif len(kept) > self.rank:
                    refusal = Refusal(f"each iteration needs {len(kept)} dimensions of {name!r}")
                else:
                    private.append((name, kept))
            names = {name for name, _ in private}
            if names & accessed_by(group.members[0].node, uses) and names & accessed_by(group.members[-1].node, uses):
                if self.small or traffic_shrinks(group, names, uses):
                    return replace(group, private=tuple(private))
                refusal = Refusal("what becomes private is smaller than what the maps run through: pass small=True")
            last = group.members[-1]
            group = replace(group, members=group.members[:-1], before=last.before)
        return refusal
