"""Vectorization: the innermost parameter of a map runs in vector instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.vectorizability import why_no_lanes
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import Vector
from dcpy.ir.symbolic import ONE, ZERO
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class Vectorization(Transformation[Legal]):
    """Vectorization: give a map the schedule that runs its innermost parameter in vector instructions.

    before   map i = 0:N { B[i] = f(A[i]) }
    after    map i = 0:N @vector{width = 4} { B[i] = f(A[i]) }

    Applies to maps of straight-line code whose accesses have stride zero or one in the innermost parameter. Iterations
    may combine values (a sum, for instance) in a location that all of them share, or in one of their own. (Allen and
    Kennedy, Automatic Translation of Fortran Programs to Vector Form, 1987.)
    """

    name: ClassVar[str] = "vectorization"
    map = capture(Map)
    pattern = one(map)

    width: int = 0  #: elements of a vector; 0: as many as the machine's

    def plan(self, m: Match) -> Legal | Refusal:
        """The schedule. Refuses code that vector instructions cannot run, or only slowly, and names access or node."""
        node = m[self.map]
        if self.width < 0:
            return Refusal(f"vectors of {self.width} elements")
        if node.schedule == Vector(self.width):
            return Refusal(f"its schedule is {node.schedule} already")
        return why_no_lanes(node, m.uses) or _scattered(node, m.uses) or LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Map:
        """Return the map."""
        rw.update(m[self.map], schedule=Vector(self.width))
        return m[self.map]


def _scattered(node: Map, uses: Uses) -> Refusal | None:
    """An access with a stride other than one element."""
    param, domain = node.params[-1], node.domain[-1]
    for access in accesses_of_body(node, uses):
        is_known = set(access.varying_symbols).isdisjoint(access.memlet.subset.symbols)
        step = step_of(access.memlet, param, uses) if is_known else None
        if step is None or step * domain.step not in (ZERO, ONE):
            steps = "unknown steps" if step is None else f"steps of {step * domain.step} elements"
            place = f"{access.container}[{access.memlet.subset}]"
            return Refusal(f"{place} goes in {steps} along {param!r}", (access.place,))
    return None
