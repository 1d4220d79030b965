"""WcrToAugmentedAssignment: a combining write that nothing collides with becomes ``x = x + y``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import groups_depend
from dcpy.ir.expressions.scalar import Ref, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import collides_in_a_map


@dataclass(frozen=True)
class WcrToAugmentedAssignment(Transformation[Memlet]):
    """Read, combine and write an element instead of writing it with conflict resolution.

    before   map i = 0:N { A[i] (add) <- B[i] }        after   map i = 0:N { A[i] = A[i] + B[i] }

    Applies where integer sets prove that no two iterations of the maps around it touch the element: no atomic
    operation is needed then, and the compiler may vectorize. The inverse of AugmentedAssignmentToWCR on maps.
    """

    name: ClassVar[str] = "wcr-to-augmented-assignment"
    tasklet = capture(Tasklet)
    pattern = one(tasklet)

    def plan(self, m: Match) -> Memlet | Refusal:
        """The combining write. Refuses those that may meet one of another iteration of a map around."""
        tasklet = m[self.tasklet]
        combining = [memlet for memlet in tasklet.outputs.values() if memlet.wcr]
        if len(combining) != 1 or len(tasklet.outputs) != 1:
            return Refusal("the tasklet does not have just one output, with conflict resolution")
        target = combining[0]
        if target.dynamic:
            return Refusal("the write may not happen")
        if collides_in_a_map(tasklet, target, m.uses) or _meets_others(tasklet, m.uses):
            return Refusal(f"iterations of a map around it may write the same element of {target.container!r}")
        return target

    def apply(self, m: Match, plan: Memlet, rw: Rewriter) -> Tasklet:
        """Return the tasklet."""
        tasklet = m[self.tasklet]
        output, old = next(iter(tasklet.outputs)), _fresh_connector(tasklet)
        *before, (_, value) = tasklet.code
        code = (*before, (output, op(plan.wcr, Ref(old, value.dtype), value)))
        plain = replace(plan, wcr="")
        rw.update(tasklet, inputs={old: plain, **tasklet.inputs}, outputs={output: plain}, code=code)
        return tasklet


def _meets_others(tasklet: Tasklet, uses: Uses) -> bool:
    """Return whether another write in a map around meets this one in a different iteration."""
    for owner in owners_around(tasklet):
        if isinstance(owner, Map):
            accesses = accesses_of_body(owner, uses)
            mine = [_overwriting(access) for access in accesses if access.place is tasklet and access.is_write]
            memory = {access.memory for access in mine}
            others = [access for access in accesses if access.memory in memory and access.place is not tasklet]
            points = tuple(zip(owner.params, owner.domain, strict=True))
            if not groups_depend(mine, others, points, uses.ranges_at(owner)).is_no:
                return True
    return False


def _overwriting(access: MemoryAccess) -> MemoryAccess:
    """The access, if it did not combine values but took the last one."""
    return replace(access, mode=Mode.WRITE, memlet=replace(access.memlet, wcr=""))


def _fresh_connector(tasklet: Tasklet) -> str:
    taken = {*tasklet.inputs, *tasklet.outputs, *(name for name, _ in tasklet.code)}
    return next(name for name in ("old", *(f"old{number}" for number in range(len(taken) + 1))) if name not in taken)
