"""HorizontalFusion: fusion of two independent maps over the same points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.base.articles import with_article
from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.analysis.dependence.dependence_vectors import dependences_between
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.ir.region import State
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.symbolic import ExprLike, sym
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, siblings


@dataclass(frozen=True)
class HorizontalFusion(Transformation[Legal]):
    """Loop fusion of two maps of one state that need not read what the other writes.

    before   map i = 0:N { B[i] = f(A[i]) }
             map j = 0:N { C[j] = g(A[j]) }
    after    map i = 0:N { B[i] = f(A[i]); C[i] = g(A[i]) }

    Common operands are then read once, and one team of threads runs both. Applies to equal ranges, if no point of the
    second map depends on another point of the first one, no node between them prevents it, and nothing inside may end
    the program early. MapFusion fuses a producer with its consumer, and keeps the intermediate value in registers.
    (Kennedy and McKinley, Maximizing Loop Parallelism and Improving Data Locality via Loop Fusion and Distribution,
    1993.)
    """

    name: ClassVar[str] = "horizontal-fusion"
    first = capture(Map)
    second = capture(Map)
    pattern = siblings(first, second)

    def plan(self, m: Match) -> Legal | Refusal:
        """The plan. Refuses different ranges, and dependences between different points (and names the accesses)."""
        first, second = m[self.first], m[self.second]
        names = renamed_params(second, first)
        if len(first.params) != len(second.params) or first.domain != tuple(dim.subs(names) for dim in second.domain):
            return Refusal("the iteration spaces differ")
        if second.schedule not in (first.schedule, UNDECIDED):
            return Refusal(f"schedules differ: {first.schedule} and {second.schedule}")
        if Effect.ORDERED in effects_of(first) and Effect.ORDERED in effects_of(second):
            return Refusal(f"something inside both {Effect.ORDERED.words}")
        for part in (*leavers(first.body), *leavers(second.body)):
            return Refusal(f"{with_article(part.kind)} inside may end it early", (part,))
        return _other_points(first, second, names, m) or _in_between(first, second, m) or LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Map:
        """Return the fused map, which is the first one."""
        first, second = m[self.first], m[self.second]
        rw.substitute_symbols(renamed_params(second, first), within=second.body)
        rw.hoist_containers(second.body, first.body)
        last, moved = first.body.blocks[-1:], list(second.body.blocks)
        rw.move_blocks(moved, first.body)
        rw.forward(second, first)
        rw.erase(second)
        match (*last, *moved[:1]):
            case (State(name="") as before, State(name="") as after):
                rw.append_state(before, after)
        return first


def renamed_params(node: Map, other: Map) -> dict[str, ExprLike]:
    """The parameters of a map, renamed to those of another one."""
    return {old: sym(new) for old, new in zip(node.params, other.params, strict=False)}


def _other_points(first: Map, second: Map, names: dict[str, ExprLike], m: Match) -> Refusal | None:
    """A dependence of a point of the second map on a different point of the first."""
    later = [access.subs(names) for access in accesses_of_body(second, m.uses)]
    found = dependences_between(accesses_of_body(first, m.uses), later, axes_of(first), m.uses.ranges_at(first))
    return found.obstacle(" or ".join(f"d{number} != 0" for number in range(len(first.params))))


def _in_between(first: Map, second: Map, m: Match) -> Refusal | None:
    """A node between the maps that the second map may not move across."""
    state = m.state
    ranges = m.uses.ranges_at(state)
    for node in state.nodes[state.index(first) + 1 : state.index(second)]:
        answer = nodes_depend(node, second, m.uses, ranges)
        if not answer.is_no:
            return Refusal(f"the {node.kind} between them: {answer.reason}", (node,))
    return None
