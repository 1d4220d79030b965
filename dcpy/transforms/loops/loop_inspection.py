"""LoopInspection: an inspector finds the first iteration that raises; those before it run unchecked, in parallel.

The scheme is the inspector-executor of run-time parallelization (Saltz, Mirchandaney, Crowley 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.analysis.dependence.precise_exceptions import why_failures_are_seen
from dcpy.ir.data import Scalar
from dcpy.ir.editing.cloning import clone
from dcpy.ir.expressions.scalar import Index, Load, loads_of, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign, While
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.inspectors import Mark, inspect, run_unchecked, why_not_inspected

LONG = 64  #: iterations of a loop inside another one that pay for a pass of their own


@dataclass(frozen=True)
class LoopInspection(Transformation[Legal]):
    """Find the first iteration in which a check fails, before the loop; run those before it without checks.

    before   loop i = 0:N {                       after    first = N
               let k = wrap(p[i], M)                       loop i = 0:N { first (min)= select(p[i] is bad, i, N) }
               A[i] = B[k] }                               let F = first
                                                           loop i = 0:F { let k = select(p[i] < 0, p[i] + M, p[i])
                                                                          A[i] = B[k] }
                                                           if F < N { loop i = F:F + 1 { ... as it was, and raises } }

    If the loop raises, memory holds what the original loop would have written by then. Applies when only checks and
    run-time indices may end the loop early, when they can be evaluated before the loop (they read nothing that the
    loop writes), and when the iterations are independent without them.
    """

    name: ClassVar[str] = "loop-inspection"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Legal | Refusal:
        loop = m[self.loop]
        refusal = why_not_inspected(loop)
        if refusal is not None:
            return refusal
        checks = [part for part in leavers(loop.body) if isinstance(part, Check | SymbolAssign)]
        if any(not any(loads_of(expr) for expr in block.exprs()) for block in checks):
            return Refusal("a check inside reads nothing: loop-versioning decides it before the loop")
        if (loop.range.size.constant or LONG) < LONG and any(isinstance(owner, Loop) for owner in owners_around(loop)):
            return Refusal("it is short, and runs again and again: a pass of its own pays for long runs only")
        if _reads_its_length(loop, m.uses):
            return Refusal("data tell how often it runs, each time anew: a pass of its own pays for long runs only")
        if not _is_bounded(loop, checks):
            return Refusal("no array that it looks at first bounds the number of iterations to inspect")
        found = loop_dependences(loop, m.uses, leaves=False)
        if not found.answer.is_no and not found.updates:
            return Refusal(found.answer.reason)
        if found.answer.is_no and why_failures_are_seen(loop, m.uses) is None:
            return Refusal("the writes of iterations after one that raises are never visible: loop-speculation applies")
        return _why_not_before(loop, m.uses) or LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Loop:
        """Return the loop without checks."""
        loop = m[self.loop]
        stop = loop.range.stop
        first = rw.declare_fresh("first", Scalar(types.int64, transient=True))
        start = State(nodes=[Tasklet({}, {"out": Memlet(first, Subset())}, (("out", Index(stop)),))], span=loop.span)
        inspector = clone(loop, rw)
        inspect(inspector.body, Mark(first, Index(sym(inspector.param)), Index(stop)))
        executor = clone(loop, rw)
        run_unchecked(executor.body)
        found = rw.fresh_name("F")
        rw.sdfg.assign_symbol(found)
        executor.range = Range(loop.range.start, sym(found))
        rest = Region()
        rw.insert_before(
            loop,
            start,
            inspector,
            SymbolAssign(found, Load(first, (), types.int64), span=loop.span),
            executor,
            Branch([(op("lt", Index(sym(found)), Index(stop)), rest)], span=loop.span),
        )
        rw.move_blocks([loop], rest)
        rw.update(loop, range=Range(sym(found), sym(found) + 1))
        return executor


def _reads_its_length(loop: Loop, uses: Uses) -> bool:
    """Return whether a nested loop reads its bounds from memory: rows of a sparse matrix, neighbours in a graph."""
    around = [owner for owner in owners_around(loop) if isinstance(owner, Loop | While | Map)]
    return any(
        isinstance(definer, SymbolAssign) and any(loads_of(definer.value)) and is_inside(definer, owner.body)
        for owner in around
        for symbol in loop.range.symbols
        for definer in uses.definers(symbol)
    )


def _is_bounded(loop: Loop, exits: Sequence[Block]) -> bool:
    """Return whether each iteration, before it can end, reads an element of its own.

    Then there are at most as many iterations as elements, and an inspector, which does not stop at the first failure,
    takes little longer than the loop.
    """
    for block in loop.body.blocks:
        loads = (load for expr in block.exprs() for load in loads_of(expr))
        if any(loop.param in index.symbols for load in loads for index in load.indices):
            return True
        if block in exits or any(inner in exits for region in block.regions() for inner in region.walk_blocks()):
            return False
    return False


def _why_not_before(loop: Loop, uses: Uses) -> Refusal | None:
    """A value that the checks read and the loop changes; None if the checks can run before the loop."""
    for region in loop.body.walk_regions():
        if region is not loop.body and not any(leavers(region)):
            continue
        for block in region.blocks:
            for load in (load for expr in block.exprs() for load in loads_of(expr)):
                for name in uses.overlapping(load.container):
                    inside = tuple(w for w in uses.writers(name) if is_inside(w, loop.body))
                    if inside:
                        return Refusal(f"a check depends on {load.container!r}, which the loop writes", inside)
    return None
