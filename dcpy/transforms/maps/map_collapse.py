"""MapCollapse: a map whose body is just another map becomes one map with the parameters of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.nodes import Map
from dcpy.ir.region import State
from dcpy.ir.schedules import UNDECIDED
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MapCollapse(Transformation[Map]):
    """Merge two maps that are nested without anything between them.

    before   map i = 0:N {                 after   map i = 0:N, j = 0:M {
               map j = 0:M {                          B[i, j] = f(A[i, j])
                 B[i, j] = f(A[i, j]) } }           }

    Applies when the outer map's body holds the inner map and nothing else, when both have the same schedule or the
    inner one none yet, and when the inner bounds do not depend on the outer parameters, unless that is allowed.
    """

    name: ClassVar[str] = "map-collapse"
    optional: ClassVar[bool] = True
    outer = capture(Map)
    pattern = one(outer)

    allow_dependent: bool = False  #: also merge triangular spaces, whose inner bounds mention outer parameters

    def plan(self, m: Match) -> Map | Refusal:
        """The inner map. Refuses bodies of more than one map, and triangular ranges unless allowed."""
        outer = m[self.outer]
        inner = only_map_in(outer)
        if inner is None:
            return Refusal("the body is not just one map")
        if outer.body.containers:
            names = ", ".join(map(repr, outer.body.containers))
            return Refusal(f"each iteration of the outer map has its own {names}, which the inner one shares")
        if inner.schedule not in (outer.schedule, UNDECIDED):
            return Refusal(f"schedules differ: {outer.schedule} and {inner.schedule}")
        mentioned = [name for name in outer.params if any(name in dim.symbols for dim in inner.domain)]
        if mentioned and not self.allow_dependent:
            return Refusal(f"the inner bounds depend on {', '.join(map(repr, mentioned))}")
        return inner

    def apply(self, m: Match, plan: Map, rw: Rewriter) -> Map:
        """Return the merged map, which is the outer one."""
        outer, inner = m[self.outer], plan
        wrapper = outer.body.blocks[0]
        blocks = list(inner.body.blocks)
        rw.hoist_containers(inner.body, outer.body)
        rw.move_blocks(blocks, outer.body)
        params, domain = (*outer.params, *inner.params), (*outer.domain, *inner.domain)
        rw.forward(inner, outer)
        rw.erase(wrapper)
        rw.update(outer, params=params, domain=domain, claimed=outer.claimed or inner.claimed)
        return outer


def only_map_in(outer: Map) -> Map | None:
    """The only content of a map's body, if that is a map; else None."""
    match outer.body.blocks:
        case [State(nodes=[Map() as inner])]:
            return inner
    return None
