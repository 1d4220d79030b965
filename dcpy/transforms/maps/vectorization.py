"""Vectorization: the innermost parameter of a map runs in vector instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.conflicts import conflict_resolutions, is_injective, reducible
from dcpy.ir.analysis.effects import leavers
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Scalar, strides_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import Vector
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class Vectorization(Transformation[Legal]):
    """Vectorization: give a map the schedule that runs its innermost parameter in vector instructions.

    before   map i = 0:N { B[i] = f(A[i]) }
    after    map i = 0:N @vector{width = 4} { B[i] = f(A[i]) }

    Applies to maps of straight-line code whose accesses stay where they are, or go on by one element, with the
    innermost parameter. Iterations may combine values in one location, a sum for instance, that all of them share, or
    that is their own. (Allen and Kennedy, Automatic Translation of Fortran Programs to Vector Form, 1987.)
    """

    name: ClassVar[str] = "vectorization"
    map = capture(Map)
    pattern = one(map)

    width: int = 0  #: elements of a vector; 0: as many as the machine's

    def plan(self, m: Match) -> Legal | Refusal:
        """Refuses what vector instructions cannot do, or not quickly, naming the access or the node."""
        node = m[self.map]
        if self.width < 0:
            return Refusal(f"vectors of {self.width} elements")
        if node.schedule == Vector(self.width):
            return Refusal(f"its schedule is {node.schedule} already")
        return _not_straight(node) or _scattered(node, m.uses) or _lanes_meet(node, m.uses) or LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Map:
        """Returns the map."""
        rw.update(m[self.map], schedule=Vector(self.width))
        return m[self.map]


def _not_straight(node: Map) -> Refusal | None:
    """What in the body is no straight-line code of tasklets."""
    for block in node.body.walk_blocks():
        if not isinstance(block, State):
            return Refusal(f"a {block.kind} inside", (block,))
    for inner in node.body.walk_nodes():
        if not isinstance(inner, Tasklet):
            return Refusal(f"a {inner.kind} inside", (inner,))
    for part in leavers(node.body):
        return Refusal(f"a {part.kind} inside may end it early", (part,))
    return None


def _scattered(node: Map, uses: Uses) -> Refusal | None:
    """An access that goes through memory in other steps than of one element."""
    param = node.params[-1]
    for tasklet in node.body.walk_nodes():
        for memlet in (*tasklet.reads(), *tasklet.writes()):
            step = step_of(memlet, param, uses)
            if step is None or step * node.domain[-1].step not in (ZERO, ONE):
                steps = "unknown steps" if step is None else f"steps of {step * node.domain[-1].step} elements"
                return Refusal(f"{memlet.container}[{memlet.subset}] goes in {steps} along {param!r}", (tasklet,))
    return None


def step_of(memlet: Memlet, param: str, uses: Uses) -> Expr | None:
    """By how many elements an access moves where a parameter grows by one; None where that differs."""
    desc = uses.desc(memlet.container)
    step: Expr = ZERO
    if isinstance(desc, Scalar):
        return step
    for dim, stride in zip(memlet.subset.dims, strides_of(desc), strict=True):
        form = dim.linear_in(param) if isinstance(dim, Expr) else None
        if form is None:
            return None
        step = step + form[0] * as_expr(stride)
    return step


def _lanes_meet(node: Map, uses: Uses) -> Refusal | None:
    """A location that some iterations of the innermost parameter combine values in, and others do not."""
    writes = conflict_resolutions(uses, node)
    folded = reducible(writes)
    others = writes.symbols - set(node.params[:-1])
    for memlet in writes.resolved:
        if memlet not in folded and not is_injective(memlet.subset, node.params[-1:], others):
            place = f"{memlet.container}[{memlet.subset}]"
            return Refusal(
                f"several iterations over {node.params[-1]!r} combine values in {place}, which others do not:"
                " map-expansion makes them a map of their own"
            )
    return None
