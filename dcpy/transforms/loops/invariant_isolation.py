"""InvariantIsolation: the part of a map that is the same in each iteration of a loop becomes a map of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.costs.work_estimates import code_of, cost_of_code, takes_longer_than_a_load
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Loop, State, While
from dcpy.ir.schedules import Undecided
from dcpy.ir.tree import nodes_of
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_invariants import invariant_nodes, invariant_tasklets
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.maps.map_fission import MapFission


@dataclass(frozen=True, slots=True)
class InvariantPart:
    """Tasklets of a map that are the same in each iteration of the loop, and the scalars that others read of them."""

    node: Map
    tasklets: tuple[Node, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class InvariantIsolation(Transformation[InvariantPart]):
    """Fission of a map in a loop, so that loop-invariant code motion finds its invariant part.

    before   loop t = 0:T { map i = 0:N { s = sin(x[i]);  u[i] = u[i] + s } }
    after    loop t = 0:T { map i = 0:N { s[i] = sin(x[i]) };  map i = 0:N { u[i] = u[i] + s[i] } }

    Applies to maps of tasklets, where an invariant scalar takes longer to compute than an element to load.
    """

    name: ClassVar[str] = "invariant-isolation"
    optional: ClassVar[bool] = True
    loop: ClassVar[Capture[Loop | While]] = capture(Loop, While)
    pattern = one(loop)

    costs: Costs = COSTS

    def plan(self, m: Match) -> InvariantPart | Refusal:
        """Return what goes into a map of its own, of the first map where there is such."""
        loop = m[self.loop]
        maps = [node for block in loop.body.blocks for node in nodes_of(block) if isinstance(node, Map)]
        if not maps:
            return Refusal("there is no map in its body")
        outside = invariant_nodes(loop, m.uses)
        parts = (self._part(node, invariant_tasklets(node, loop, outside, m.uses), m) for node in maps)
        found = next((part for part in parts if part is not None), None)
        return found or Refusal("no part of a map is the same in each iteration and takes longer than a load")

    def _part(self, node: Map, invariant: Sequence[Node], m: Match) -> InvariantPart | None:
        """The invariant tasklets of a map that pay, with those that compute their operands."""
        producers = {name: inner for inner in invariant for name in names_in(inner, m.uses)[1]}
        shared = [name for name in producers if any(reader not in invariant for reader in m.uses.readers(name))]
        slices = [_slice_of(producers[name], producers, m.uses) for name in shared]
        part = {inner: None for one in slices if takes_longer_than_a_load(self._cost(one), self.costs) for inner in one}
        results = [
            name
            for name, producer in producers.items()
            if producer in part and any(reader not in part for reader in m.uses.readers(name))
        ]
        expansions = [ScalarExpansion(name).plan(Match(m.sdfg, m.uses, {"scope": node})) for name in results]
        if not part or not isinstance(node.schedule, Undecided) or any(isinstance(e, Refusal) for e in expansions):
            return None
        return InvariantPart(node, tuple(inner for inner in invariant if inner in part), tuple(results))

    def apply(self, m: Match, plan: InvariantPart, rw: Rewriter) -> tuple[Map, Map]:
        """Return both maps; the first one is the original, with the invariant part."""
        node, state = plan.node, plan.tasklets[0].state
        assert isinstance(state, State)  # the map's body
        rw.move_nodes(plan.tasklets, state, 0)
        for name in plan.results:
            expand = ScalarExpansion(name)
            match = Match(rw.sdfg, rw.uses, {"scope": node})
            expansion = expand.plan(match)
            assert not isinstance(expansion, Refusal)  # that was asked
            expand.apply(match, expansion, rw)
        fission = MapFission(len(plan.tasklets))
        match = Match(rw.sdfg, rw.uses, {"map": node})
        cut = fission.plan(match)
        assert not isinstance(cut, Refusal)  # tasklets without effects, which share nothing any more
        return fission.apply(match, cut, rw)

    def _cost(self, part: Iterable[Node]) -> int:
        return sum(cost_of_code(expr, self.costs) for inner in part for _, expr in code_of(inner))


def _slice_of(node: Node, producers: Mapping[str, Node], uses: Uses) -> dict[Node, None]:
    """Backward slice: a node, and those from which it has its operands."""
    found = {node: None}
    for part in (pending := [node]):
        for name in names_in(part, uses)[0]:
            producer = producers.get(name)
            if producer is not None and producer not in found:
                found[producer] = None
                pending.append(producer)
    return found
