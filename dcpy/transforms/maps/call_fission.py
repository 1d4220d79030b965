"""CallFission: functions leave a map whose rows are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.expressions.scalar import Op, walk
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import UNDECIDED
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.maps.index_set_splitting import has_jump, jumps_of
from dcpy.transforms.maps.map_fission import MapFission


@dataclass(frozen=True, slots=True)
class CallParts:
    """The tasklets that stay behind the calls' map, in order, and the scalars that pass from one map to the other."""

    second: tuple[Tasklet, ...]
    first: int
    crossing: tuple[str, ...]


@dataclass(frozen=True)
class CallFission(Transformation[CallParts]):
    """Call fission: give the functions in a map whose rows will be split a map of their own.

    before   map i = 0:N { B[i] = exp(A[i] + A[i - 1 + N*max(0, min(1, 1 - i))]) }
    after    map i = 0:N { t[i] = A[i] + A[i - 1 + N*max(0, min(1, 1 - i))] }  map j = 0:N { B[j] = exp(t[j]) }

    `index-set-splitting` computes the ends of a row alone, and so is what vectors leave of each part: a function of one
    number takes as long as that of a vector. Alone, it runs in vectors over all rows. Applies to bodies of tasklets in
    which no jump is behind a function.
    """

    name: ClassVar[str] = "call-fission"
    optional: ClassVar[bool] = True
    node = capture(Map)
    pattern = one(node)
    costs: Costs = COSTS

    def plan(self, m: Match) -> CallParts | Refusal:
        """The two parts. Refuses maps without jumps or calls, and jumps behind calls."""
        node, uses = m[self.node], m.uses
        if node.schedule is not UNDECIDED or next(jumps_of(node), None) is None:
            return Refusal("no index jumps along its last parameter")
        match node.body.blocks:
            case [State(nodes=nodes)] if all(isinstance(each, Tasklet) for each in nodes):
                tasklets = [each for each in nodes if isinstance(each, Tasklet)]
            case _:
                return Refusal("there is more in it than tasklets")
        second = self._behind_calls(tasklets, uses)
        if not second:
            return Refusal("it calls no function")
        if any(has_jump(tasklet, node) for tasklet in second):
            return Refusal("an index jumps behind a function")
        needed = _needed(tasklets, second, node)
        first = [tasklet for tasklet in tasklets if tasklet in needed]
        rest = tuple(tasklet for tasklet in tasklets if tasklet not in needed)
        written = {memlet.container for tasklet in first for memlet in tasklet.writes()}
        read = {memlet.container for tasklet in rest for memlet in (*tasklet.reads(), *tasklet.writes())}
        if any(len({tasklet in needed for tasklet in uses.writers(name)}) > 1 for name in written):
            return Refusal("both parts write the same")
        names = {memlet.container for tasklet in tasklets for memlet in (*tasklet.reads(), *tasklet.writes())}
        if any(len(names.intersection(uses.overlapping(name))) > 1 for name in names):
            return Refusal("the parts may know the same memory by two names")
        crossing = tuple(name for name in node.body.containers if name in written and name in read)
        for name in crossing:
            expanded = ScalarExpansion(name).plan(Match(m.sdfg, uses, {"scope": node}))
            if isinstance(expanded, Refusal):
                return expanded
        return CallParts(rest, len(first), crossing)

    def apply(self, m: Match, plan: CallParts, rw: Rewriter) -> tuple[Map, Map]:
        """Return both maps; the first one, without the calls, is the original."""
        node = m[self.node]
        state = plan.second[0].state
        assert state is not None
        rw.move_nodes(plan.second, state)
        for name in plan.crossing:
            expand = ScalarExpansion(name)
            match = Match(m.sdfg, rw.uses, {"scope": node})
            expanded = expand.plan(match)
            assert not isinstance(expanded, Refusal)
            expand.apply(match, expanded, rw)
        fission = MapFission(plan.first)
        match = Match(m.sdfg, rw.uses, {"map": node})
        parts = fission.plan(match)
        assert not isinstance(parts, Refusal)
        return fission.apply(match, parts, rw)

    def _behind_calls(self, tasklets: list[Tasklet], uses: Uses) -> set[Tasklet]:
        """The tasklets that call a function, or read what depends on one."""
        found: set[Tasklet] = set()
        names: set[str] = set()
        for tasklet in tasklets:
            if self._calls(tasklet) or any(memlet.container in names for memlet in tasklet.reads()):
                found.add(tasklet)
                names |= {other for memlet in tasklet.writes() for other in uses.overlapping(memlet.container)}
        return found

    def _calls(self, tasklet: Tasklet) -> bool:
        ops = (part for _, expr in tasklet.code for part in walk(expr) if isinstance(part, Op))
        dear = self.costs.operations.sqrt
        return any(op.dtype.is_inexact and self.costs.operations.of(op.name) > dear for op in ops)


def _needed(tasklets: list[Tasklet], second: set[Tasklet], node: Map) -> set[Tasklet]:
    """The tasklets with a jump before them, and those that they depend on; none of the second part."""
    needed: set[Tasklet] = set()
    jumping: set[str] = set()
    for tasklet in tasklets:
        if tasklet not in second and (
            has_jump(tasklet, node) or any(memlet.container in jumping for memlet in tasklet.reads())
        ):
            needed.add(tasklet)
            jumping |= {memlet.container for memlet in tasklet.writes()}
    read = {memlet.container for tasklet in needed for memlet in tasklet.reads()}
    for tasklet in reversed(tasklets):
        if tasklet not in needed and any(memlet.container in read for memlet in tasklet.writes()):
            needed.add(tasklet)
            read |= {memlet.container for memlet in tasklet.reads()}
    return needed
