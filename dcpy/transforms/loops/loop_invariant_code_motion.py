"""LoopInvariantCodeMotion: what each iteration of a loop would compute again is computed once, before the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.costs.work_estimates import takes_longer_than_a_load, work_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Loop, State, While
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_invariants import invariant_nodes


@dataclass(frozen=True)
class LoopInvariantCodeMotion(Transformation["tuple[Node, ...]"]):
    """Move computations whose operands no iteration changes before the loop, where they take longer than a load.

    before   loop t = 0:T { map i = 0:N { s[i] = sin(x[i]) };  map i = 0:N { u[i] = u[i] + s[i] } }
    after    map i = 0:N { s[i] = sin(x[i]) }
             loop t = 0:T { map i = 0:N { u[i] = u[i] + s[i] } }

    Applies to nodes without effects that fill containers of the body, together with what their operands are computed
    from. All that moves must access arrays inside of their bounds, for all that is known before the loop.
    (Aho, Lam, Sethi and Ullman, Compilers, 9.5.)
    """

    name: ClassVar[str] = "loop-invariant-code-motion"
    optional: ClassVar[bool] = True
    loop: ClassVar[Capture[Loop | While]] = capture(Loop, While)
    pattern = one(loop)

    costs: Costs = COSTS

    def plan(self, m: Match) -> tuple[Node, ...] | Refusal:
        """Return the nodes that move, in their order."""
        loop = m[self.loop]
        invariant = invariant_nodes(loop, m.uses)
        if not invariant:
            return Refusal("each node uses what an iteration changes, or may be computed nowhere else")
        paying = [node for node in invariant if self._pays(node, m.sdfg)]
        if not paying:
            return Refusal("nothing that is the same in each iteration takes longer than a load")
        needed = _with_producers(paying, invariant, m.uses)
        return tuple(node for node in invariant if node in needed)

    def apply(self, m: Match, plan: tuple[Node, ...], rw: Rewriter) -> State:
        """Return the new state before the loop."""
        loop, before = m[self.loop], State(span=m[self.loop].span)
        assert loop.region is not None  # it is in a program
        for name in dict.fromkeys(name for node in plan for name in names_in(node, rw.uses)[1]):
            rw.move_container(name, loop.region)
        states = dict.fromkeys(node.state for node in plan)
        rw.insert_before(loop, before)
        rw.move_nodes(plan, before)
        for state in states:
            if state is not None and not state.nodes:
                rw.erase(state)
        return before

    def _pays(self, node: Node, sdfg: Sdfg) -> bool:
        """Return whether an element of the results takes longer to compute than to load. Scalars are left to C++."""
        if isinstance(node, Map):
            factors, units = work_of(node, sdfg, self.costs)
            return len(factors) > len(node.domain) or takes_longer_than_a_load(units, self.costs)
        return not isinstance(node, Tasklet | Copy)


def _with_producers(paying: Sequence[Node], invariant: Sequence[Node], uses: Uses) -> set[Node]:
    """Nodes with all others that fill what they read or fill."""
    fills: dict[str, list[Node]] = {}
    for node in invariant:
        for name in names_in(node, uses)[1]:
            fills.setdefault(name, []).append(node)
    needed: set[Node] = set()
    pending = list(paying)
    while pending:
        node = pending.pop()
        if node not in needed:
            needed.add(node)
            reads, writes, *_ = names_in(node, uses)
            pending += [other for name in (*reads, *writes) for other in fills.get(name, ())]
    return needed
