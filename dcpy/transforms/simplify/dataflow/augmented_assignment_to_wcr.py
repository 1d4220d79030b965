"""AugmentedAssignmentToWCR: ``x = x + y`` where iterations collide becomes a combining write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.aliasing import in_base
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.element_interference import may_access
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import overlap_across
from dcpy.ir.expressions.scalar import Op, Ref, ScalarExpr, op, walk
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS, Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Block, Loop, SymbolAssign
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class AugmentedAssignmentToWCR(Transformation["AugmentedAssignment"]):
    """Write the right-hand side with conflict resolution instead of reading, combining and writing.

    before   map i = 0:N { s = s + A[i] }        after   map i = 0:N { s (add) <- A[i] }

    Applies where iterations of a map around it may update the same element: what was meant as a sum is one then. With
    `loops`, also where all iterations of a loop update one element and nothing else in the loop touches it (others of
    its array may be), which prepares LoopToMap. The operation must be one of add, mul, min, max and the logical and
    bitwise ones, on values of the container's dtype; the order of a floating-point reduction may change with the order
    of the iterations.
    """

    name: ClassVar[str] = "augmented-assignment-to-wcr"
    tasklet = capture(Tasklet)
    pattern = one(tasklet)

    loops: bool = False  #: also reductions over sequential loops
    scattered: bool = False  #: in loops also where the data choose the element

    def plan(self, m: Match) -> AugmentedAssignment | Refusal:
        """Refuse what is not one exact operation, and what no two iterations collide on."""
        tasklet = m[self.tasklet]
        update = update_of(tasklet, m.uses)
        if isinstance(update, Refusal) or collides_in_a_map(tasklet, update.target, m.uses):
            return update
        if not self.loops:
            return Refusal("no two iterations of a map around it update the same element")
        loop = _loop_over_one_element(tasklet, update.target, self.scattered)
        if loop is None:
            return Refusal("no loop around it updates one element in all iterations")
        other = other_accessor(loop, update, m.uses, whole_array=False)
        if other is not None:
            return Refusal(f"{update.target.container!r} is also touched by {other.kind} in the loop", (other,))
        return update

    def apply(self, m: Match, plan: AugmentedAssignment, rw: Rewriter) -> Tasklet:
        """Return the tasklet."""
        tasklet = m[self.tasklet]
        inputs = {name: memlet for name, memlet in tasklet.inputs.items() if name != plan.connector}
        code = (*tasklet.code[:-1], (tasklet.code[-1][0], plan.value))
        target = replace(plan.target, wcr=plan.op)
        rw.update(tasklet, inputs=inputs, outputs=dict.fromkeys(tasklet.outputs, target), code=code)
        return tasklet


@dataclass(frozen=True, slots=True)
class AugmentedAssignment:
    """``target = op(target, value)``; `connector` is the input that reads the target."""

    connector: str
    target: Memlet
    op: str
    value: ScalarExpr


def update_of(tasklet: Tasklet, uses: Uses) -> AugmentedAssignment | Refusal:
    """The update that a tasklet makes, or why it is none."""
    if len(tasklet.outputs) != 1 or not tasklet.code:
        return Refusal("the tasklet has more than one output")
    (output, target), (name, value) = next(iter(tasklet.outputs.items())), tasklet.code[-1]
    if target.wcr or target.dynamic or name != output:
        return Refusal("the tasklet does not end in a plain write")
    readers = [connector for connector, memlet in tasklet.inputs.items() if memlet == target]
    if len(readers) != 1:
        return Refusal(f"the tasklet does not read the element {target} that it writes")
    dtype = getattr(uses.desc(target.container), "dtype", None)
    if value.dtype == dtype and _mentions(readers[0], tasklet) == 1:
        found = _summand(readers[0], value)
        if found is not None:
            return AugmentedAssignment(readers[0], target, "add", found)
        match value:
            case Op(name=name, args=(left, right)) if name in CONFLICT_RESOLUTIONS and left.dtype == dtype:
                rest = _other_operand(readers[0], name, left, right)
                if rest is not None:
                    return AugmentedAssignment(readers[0], target, name, rest)
    return Refusal(f"the new value is not an operation on {target} and something else")


def _summand(connector: str, value: ScalarExpr) -> ScalarExpr | None:
    """Return the summand after the old value: ``- a`` of ``old - a``, ``a + b`` of ``old + a + b``; else None.

    A difference is the sum with the negated operand, to the last bit.
    """
    match value:
        case Op(name="add" | "sub" as name, args=(left, right), dtype=dtype) if left.dtype == dtype == right.dtype:
            if isinstance(left, Ref):
                mine = left.name == connector and dtype.kind != "b"
                return None if not mine else right if name == "add" else op("neg", right)
            rest = _summand(connector, left)
            return None if rest is None else op(name, rest, right)
    return None


def _other_operand(connector: str, name: str, left: ScalarExpr, right: ScalarExpr) -> ScalarExpr | None:
    """Return the operand that is combined with the old value. Minima of floats have an order, by the signs of zeros."""
    if isinstance(left, Ref) and left.name == connector:
        return right
    commutes = not (name in ("min", "max") and left.dtype.is_inexact)
    return left if commutes and isinstance(right, Ref) and right.name == connector else None


def _mentions(connector: str, tasklet: Tasklet) -> int:
    parts = (part for _, expr in tasklet.code for part in walk(expr))
    return sum(isinstance(part, Ref) and part.name == connector for part in parts)


def collides_in_a_map(node: Node, target: Memlet, uses: Uses) -> bool:
    """Return whether different iterations of a map (or workers) around a node may touch one element of `target`."""
    root, subset = in_base(target, uses.desc)
    inner: tuple[Variable, ...] = ()
    for owner in owners_around(node):
        points = owner.iteration_space()
        if isinstance(owner, Map) and subset is None:
            return True
        if isinstance(owner, Map) and subset is not None:
            if uses.home(root) in owner.body.walk_regions():
                return False  # private to an iteration
            run_time = tuple((name, None) for name in subset.symbols if _assigned_inside(name, owner, uses))
            footprint = Footprint(subset, (*run_time, *inner))
            if not overlap_across(footprint, footprint, points, uses.ranges_at(owner)).is_no:
                return True
        inner = (*points, *inner)
    return False


def _assigned_inside(symbol: str, owner: Map, uses: Uses) -> bool:
    return any(
        isinstance(definer, SymbolAssign) and is_inside(definer, owner.body)
        for definer in uses.definers(symbol)
    )


def _loop_over_one_element(tasklet: Tasklet, target: Memlet, scattered: bool) -> Loop | None:
    """The innermost loop around a tasklet, if all its iterations have one element as target, or the data choose it."""
    for owner in owners_around(tasklet):
        if any(name in target.subset.symbols for name, _ in owner.iteration_space()):
            return None
        if isinstance(owner, Loop):
            assigned = [b.symbol for b in owner.body.walk_blocks() if isinstance(b, SymbolAssign)]
            chosen = any(name in target.subset.symbols for name in assigned)
            return None if chosen and not scattered else owner
    return None


def other_accessor(
    loop: Loop, update: AugmentedAssignment, uses: Uses, *, whole_array: bool = True
) -> Node | Block | None:
    """Something in a loop that touches the target's memory and does not just update it the same way.

    Without `whole_array`, only what may touch the element that is updated.
    """
    for name in uses.overlapping(update.target.container):
        for accessor in uses.accessors(name):
            if not is_inside(accessor, loop.body) or _updates_so(accessor, update, uses):
                continue
            if whole_array or may_access(accessor, update.target, loop, uses, is_own=_updates(accessor, update, uses)):
                return accessor
    return None


def _updates_so(accessor: Node | Block, update: AugmentedAssignment, uses: Uses) -> bool:
    if not isinstance(accessor, Tasklet):
        return False
    memlets = [*accessor.inputs.values(), *accessor.outputs.values()]
    mine = [memlet for memlet in memlets if memlet.container == update.target.container]
    if mine and all(memlet.wcr == update.op for memlet in mine):
        return True
    return len(mine) == 2 and _updates(accessor, update, uses)


def _updates(accessor: Node | Block, update: AugmentedAssignment, uses: Uses) -> bool:
    """Return whether it is an update by the same operation."""
    found = update_of(accessor, uses) if isinstance(accessor, Tasklet) else None
    return isinstance(found, AugmentedAssignment) and found.op == update.op
