"""DoubleBuffering: what the next iteration of a loop reads is copied while this one computes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import Index, Load, ScalarExpr, op, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Block, Branch, Loop, Region, State
from dcpy.ir.subsets import DimSubset, Subset
from dcpy.ir.symbolic import Expr, const, sym
from dcpy.ir.tree import is_inside, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class DoubleBuffering(Transformation["Prefetch"]):
    """Double buffering (software prefetch into two buffers in turn): fill one while the other one is used.

    before   loop t = 0:T { copy A[t] -> b; B[t] = f(b) }
    after    if 0 < T { copy A[0] -> b[0] }
             loop t = 0:T { if t + 1 < T { copy A[t + 1] -> b[(t + 1) % 2] }
                            B[t] = f(b[t % 2]) }

    Applies to a copy at the beginning of a loop's body that fills all of a buffer of the body, which only this loop
    reads after that, from an array that the loop does not write. The copy then depends on nothing that its iteration
    computes: a target may run both at the same time.
    """

    name: ClassVar[str] = "double-buffering"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Prefetch | Refusal:
        """The first copy that allows it."""
        loop, uses = m[self.loop], m.uses
        if loop.range.step.constant is None or loop.range.step.constant < 1:
            return Refusal(f"its step {loop.range.step} is no positive number")
        beginning = loop.body.blocks[0] if loop.body.blocks else None
        copies = [node for node in beginning.nodes if isinstance(node, Copy)] if isinstance(beginning, State) else []
        refusal = Refusal("its body does not begin with a copy")
        for copy in copies:
            obstacle = _obstacle(copy, loop, uses)
            if obstacle is None:
                return Prefetch(copy)
            refusal = obstacle
        return refusal

    def apply(self, m: Match, plan: Prefetch, rw: Rewriter) -> str:
        """Return the name of the buffer, which has one more dimension now."""
        loop, copy, name = m[self.loop], plan.copy, plan.copy.dst.container
        state = copy.state
        start, stop, step = loop.range.start, loop.range.stop, loop.range.step
        rw.erase(copy)
        _turn(name, loop, rw)
        following = sym(loop.param) + step
        ahead = _guarded(copy, loop.param, following, _slot(loop, following), stop)
        if isinstance(state, State) and not state.nodes:
            rw.replace(state, ahead)
        else:
            rw.insert(ahead, loop.body, 0)
        rw.insert_before(loop, _guarded(copy, loop.param, start, const(0), stop))
        return name


@dataclass(frozen=True, slots=True)
class Prefetch:
    """The copy that is done one iteration earlier."""

    copy: Copy


def _obstacle(copy: Copy, loop: Loop, uses: Uses) -> Refusal | None:
    name, source = copy.dst.container, copy.src.container
    desc = uses.desc(name)
    if not isinstance(desc, Array) or uses.home(name) is not loop.body or uses.overlapping(name) != (name,):
        return Refusal(f"{name!r} is no buffer of an iteration")
    sizes = set(desc_symbols(desc)) & {loop.param, *symbols_assigned_in(loop.body)}
    if copy.dst.subset != Subset.whole(desc.shape) or uses.writers(name) != (copy,) or sizes:
        return Refusal(f"the copy is not all that fills {name!r}, as large in each iteration")
    if source in loop.body.containers or any(
        is_inside(writer, loop.body) for other in uses.overlapping(source) for writer in uses.writers(other)
    ):
        return Refusal(f"the loop writes {source!r}, which the copy reads")
    fixed = set(copy.src.subset.symbols) - {loop.param}
    if any(not fixed.isdisjoint(uses.accesses(part).defines) for part in subtree(loop.body)):
        return Refusal("a symbol that the copy uses changes in the loop")
    leaver = next(leavers(loop.body), None)
    return None if leaver is None else Refusal(f"a {leaver.kind} may end an iteration early", (leaver,))


def _slot(loop: Loop, value: Expr) -> Expr:
    """Return the number of the buffer, 0 or 1, that an iteration uses."""
    return (value - loop.range.start) // loop.range.step % 2


def _guarded(copy: Copy, param: str, value: Expr, slot: Expr, stop: Expr) -> Block:
    """The copy for an iteration, where there is such a one."""
    target = Memlet(copy.dst.container, Subset((slot, *copy.dst.subset.dims)))
    moved = Copy(copy.src.subs({param: value}), target, span=copy.span)
    return Branch([(op("lt", Index(value), Index(stop)), Region([State(nodes=[moved])]))], span=copy.span)


def _turn(name: str, loop: Loop, rw: Rewriter) -> None:
    """Give the buffer two halves, outside of the loop, of which each iteration reads its own."""
    slot: DimSubset = _slot(loop, sym(loop.param))

    def memlet(old: Memlet) -> Memlet:
        return replace(old, subset=Subset((slot, *old.subset.dims))) if old.container == name else old

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load) or part.container != name:
            return None
        return replace(part, indices=Subset((slot, *part.indices)).indices)

    for accessor in rw.uses.accessors(name):
        if isinstance(accessor, Node):
            rw.replace_memlets(accessor, memlet)
        else:
            rw.rewrite_exprs(accessor, lambda expr: rewrite(expr, load))
    desc = rw.uses.desc(name)
    assert isinstance(desc, Array)
    assert loop.region is not None
    both = Array.packed(desc.dtype, (const(2), *desc.shape), transient=True, span=desc.span)
    rw.move_container(name, loop.region, both)
