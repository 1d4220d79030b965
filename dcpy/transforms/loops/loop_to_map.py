"""LoopToMap: a sequential loop whose iterations do not depend on each other becomes a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.loop_dependences import LoopDependences, loop_dependences
from dcpy.ir.analysis.dependence.precise_exceptions import why_failures_are_seen
from dcpy.ir.data import Array
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.schedules import Grid
from dcpy.ir.subsets import Range
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class LoopToMap(Transformation[LoopDependences]):
    """Turn a loop into a map over the same values, in one state.

    before   loop i = 0:N { tmp = f(A[i])        after   map i = 0:N { t = f(A[i])
                            B[i] = g(tmp) }                            B[i] = g(t) }

    Applies when integer sets prove that no iteration touches what another one writes. A temporary that each iteration
    fills before it reads it, and that nothing outside touches, becomes private to the iteration. Combining writes
    (``(add)`` and so on) commute; the order of a floating-point reduction may change. Symbols assigned inside are
    per iteration, so none may be used outside; a break, return or while inside keeps the loop.

    A check or an index from data keeps the loop, too, unless the writes of iterations after one that raises
    are not visible (`ir.analysis.dependence.precise_exceptions`): then all iterations run, and the exception of the
    lowest one that fails is raised. A loop that launches kernels stays a loop. So does, without `allocates` (for
    threads that cannot allocate), a loop with arrays whose sizes differ between its iterations.
    """

    name: ClassVar[str] = "loop-to-map"
    optional: ClassVar[bool] = True
    allocates: bool = True
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> LoopDependences | Refusal:
        """The plan. Refuses dependences between iterations (and names the two accesses), and symbolic steps."""
        loop = m[self.loop]
        if not loop.range.step.constant:
            return Refusal(f"the step {loop.range.step} is not a number")
        kernel = next((node for node in loop.body.walk_nodes() if _is_kernel(node)), None)
        if kernel is not None:
            return Refusal("it launches a kernel, which no map can", (kernel,))
        found = loop_dependences(loop, m.uses, leaves=why_failures_are_seen(loop, m.uses) is not None)
        if found.answer.is_no:
            varying = None if self.allocates else _sized_by_iterations(loop, found.private, m)
            return found if varying is None else Refusal(f"the size of {varying!r} differs between iterations")
        if found.updates:
            return Refusal(f"{found.answer.reason}; augmented-assignment-to-wcr may make that a reduction")
        return Refusal(found.answer.reason)

    def apply(self, m: Match, plan: LoopDependences, rw: Rewriter) -> Map:
        """Return the map."""
        loop = m[self.loop]
        for name in plan.private:
            privatize(name, loop.body, rw)
        region = Region()
        state = State(span=loop.span)
        node = Map((loop.param,), (ascending(loop.range),), region, span=loop.span)
        state.add(node)
        blocks, containers = list(loop.body.blocks), dict(loop.body.containers)
        rw.insert_before(loop, state)
        for name in containers:
            rw.move_container(name, region)
        rw.move_blocks(blocks, region)
        rw.forward(loop, node)
        rw.erase(loop)
        return node


def _sized_by_iterations(loop: Loop, private: Iterable[str], m: Match) -> str | None:
    """An array of an iteration whose size depends on the iteration."""
    known = {loop.param, *symbols_assigned_in(loop.body)}
    inside = (name for region in loop.body.walk_regions() for name in region.containers)
    arrays = (name for name in (*private, *inside) if isinstance(m.uses.desc(name), Array))
    return next((n for n in arrays if any(s in known for size in m.uses.desc(n).shape for s in size.symbols)), None)


def _is_kernel(node: Node) -> bool:
    return isinstance(node, Map) and isinstance(node.schedule, Grid)


def ascending(values: Range) -> Range:
    """The same values, smallest first; the step is a number."""
    step = values.step.constant
    return values if step is None or step > 0 else Range(values.last, values.start + 1, -values.step)


def privatize(name: str, body: Region, rw: Rewriter) -> None:
    """Declare a container, and its views, in the loop's body."""
    if rw.uses.home(name) not in body.walk_regions():
        rw.move_container(name, body)
    for view in rw.uses.views_of(name):
        privatize(view, body, rw)
