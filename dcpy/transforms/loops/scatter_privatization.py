"""ScatterPrivatization: privatization of scattered updates (histograms): each block of iterations updates a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.analysis.dependence.precise_exceptions import why_failures_are_seen
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone
from dcpy.ir.expressions.identities import neutral_value
from dcpy.ir.expressions.scalar import Const, Index, Ref, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.schedules import Parallel
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, product_of, sym
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import other_accessor, update_of

TEAM = Parallel(above=1)  #: what is so long pays for threads, however few blocks there are


@dataclass(frozen=True)
class ScatterPrivatization(Transformation["Scatters"]):
    """Privatization of scattered reductions: blocks of iterations combine in copies, which are then combined in order.

    before   loop i = 0:N { let k = wrap(p[i], n);  h[k] = h[k] + w[i] }
    after    if N >= 1024*n and N >= 65536 {
               map b = 0:16 { copies[b, 0:n] = -0.0
                              loop i = N*b//16:N*(b + 1)//16 { let k = wrap(p[i], n)
                                                               copies[b, k] = copies[b, k] + w[i] } }
               loop q = 0:16 { map j = 0:n { h[j] = h[j] + copies[q, j] } }
             } else { loop i = 0:N { ... as it was } }

    The number of blocks is the same on all machines, so results do not depend on the number of threads; floats are
    added in another order than in the loop. Applies if iterations depend on each other only through such updates,
    each by one operation, at elements that data choose. Iterations may raise if the writes of later ones are not
    visible: each block stops at its failure, and the loop raises the failure of the first block.
    (Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 2022; for loops Padua and Wolfe 1986.)
    """

    name: ClassVar[str] = "scatter-privatization"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    blocks: int = 16  #: of iterations, each with its copy
    shortest: int = 65536  #: loop that is worth it
    per_element: int = 64  #: iterations, at least, for each element of a copy

    def plan(self, m: Match) -> Scatters | Refusal:
        """The scattered updates. Refuses containers with other accesses, and loops inside parallel maps."""
        loop = m[self.loop]
        if loop.range.step is not ONE:
            return Refusal("its values do not go up one by one")
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("there is a map around it already")
        found = _scattered(loop, m.uses)
        if isinstance(found, Refusal):
            return found
        dependences = loop_dependences(loop, m.uses, leaves=False, apart=tuple(found))
        if not dependences.answer.is_no:
            return Refusal(dependences.answer.reason)
        outside = [name for name in dependences.private if m.uses.home(name) not in loop.body.walk_regions()]
        if dependences.reductions or outside:
            name = (*dependences.reductions, *outside)[0]
            return Refusal(f"{name!r}, which is declared outside, would have to be private, too")
        seen = why_failures_are_seen(loop, m.uses)
        if seen is not None:
            return seen
        condition = self._worth_it(loop, found, m.uses)
        if is_the_other_version(loop, condition):
            return Refusal("this version is for runs that are too short")
        return Scatters(found, condition)

    def apply(self, m: Match, plan: Scatters, rw: Rewriter) -> Map:
        """Return the map over blocks."""
        loop = m[self.loop]
        inner = clone(loop, rw)
        region, rest = Region(), Region()
        rw.insert_before(loop, Branch([(plan.condition, region)], rest, span=loop.span))
        rw.move_blocks([loop], rest)
        block, body, totals = rw.fresh_name("block"), Region(), []
        fill = State(span=loop.span)
        for name, operation in plan.updates.items():
            desc = rw.uses.desc(name)
            assert isinstance(desc, Array)
            packed = Array.packed(desc.dtype, (as_expr(self.blocks), *desc.shape), transient=True)
            copies = rw.declare_fresh(f"{name}_copies", packed, region)
            fill.add(_fill(copies, sym(block), desc, operation, rw))
            _use_copy(inner, name, copies, sym(block))
            totals.append(_combined(name, copies, desc, operation, self.blocks, rw))
        first, count = loop.range.start, loop.range.size
        bounds = [first + count * number // self.blocks for number in (sym(block), sym(block) + 1)]
        inner.range = Range(*bounds)
        body.add(fill)
        body.add(inner)
        values = Range(ZERO, as_expr(self.blocks))
        node = Map((block,), (values,), body, TEAM, span=loop.span)
        rw.insert(State(nodes=[node], span=loop.span), region)
        for total in totals:
            rw.insert(total, region)
        return node

    def _worth_it(self, loop: Loop, updates: dict[str, str], uses: Uses) -> ScalarExpr:
        """The condition that filling and combining the copies takes a small part of the time of the loop."""
        elements = sum((product_of(*uses.desc(name).shape) for name in updates), ZERO)
        count = Index(loop.range.size)
        long, many = Const(self.shortest, types.int64), Index(elements * self.per_element)
        return op("and", op("ge", count, long), op("ge", count, many))


@dataclass(frozen=True, slots=True)
class Scatters:
    """The containers that the loop scatters to, each with its operation, and when copies pay."""

    updates: dict[str, str]
    condition: ScalarExpr


def _scattered(loop: Loop, uses: Uses) -> dict[str, str] | Refusal:
    """The arrays from outside that a loop only updates at elements that data choose, with the operations."""
    chosen = symbols_assigned_in(loop.body)
    found: dict[str, str] = {}
    why = Refusal("it updates no element that the data choose")
    for node in loop.body.walk_nodes():
        update = update_of(node, uses) if isinstance(node, Tasklet) else why
        if isinstance(update, Refusal) or not any(name in chosen for name in update.target.subset.symbols):
            continue
        name = update.target.container
        desc = uses.desc(name)
        if is_inside(uses.home(name), loop.body) or not isinstance(desc, Array) or len(uses.overlapping(name)) > 1:
            continue
        other = other_accessor(loop, update, uses)
        if other is not None:
            why = Refusal(f"{name!r} is also touched by {other.kind} in the loop", (other,))
            continue
        found[name] = update.op
    return found or why


def is_the_other_version(loop: Loop, condition: ScalarExpr) -> bool:
    """Return whether this loop is the version that runs where the condition does not hold."""
    return any(
        isinstance(owner, Branch) and owner.cases[0][0] == condition and not is_inside(loop, owner.cases[0][1])
        for owner in owners_around(loop)
    )


def _fill(copies: str, block: Expr, desc: Array, operation: str, rw: Rewriter) -> Map:
    """Fill a copy with the neutral value of the operation."""
    params = tuple(rw.fresh_name("j") for _ in desc.shape)
    start = Const(neutral_value(operation, desc.dtype), desc.dtype)
    place = Memlet(copies, Subset((block, *map(sym, params))))
    tasklet = Tasklet({}, {"out": place}, (("out", start),))
    return Map(params, tuple(Range(ZERO, size) for size in desc.shape), Region([State(nodes=[tasklet])]))


def _use_copy(loop: Loop, name: str, copies: str, block: Expr) -> None:
    """Let a loop, not yet part of a program, update a copy."""

    def in_copy(memlet: Memlet) -> Memlet:
        own = Subset((block, *memlet.subset.dims))
        return replace(memlet, container=copies, subset=own) if memlet.container == name else memlet

    for node in loop.body.walk_nodes():
        if isinstance(node, Tasklet):
            node.inputs = {connector: in_copy(memlet) for connector, memlet in node.inputs.items()}
            node.outputs = {connector: in_copy(memlet) for connector, memlet in node.outputs.items()}


def _combined(name: str, copies: str, desc: Array, operation: str, blocks: int, rw: Rewriter) -> Loop:
    """Combine the copies in the order of the blocks, which is that of the iterations."""
    number, params = rw.fresh_name("q"), tuple(rw.fresh_name("j") for _ in desc.shape)
    whole = Memlet(name, Subset(tuple(map(sym, params))))
    part = Memlet(copies, Subset((sym(number), *whole.subset.dims)))
    value = op(operation, Ref("whole", desc.dtype), Ref("part", desc.dtype))
    tasklet = Tasklet({"whole": whole, "part": part}, {"out": whole}, (("out", value),))
    node = Map(params, tuple(Range(ZERO, size) for size in desc.shape), Region([State(nodes=[tasklet])]))
    return Loop(number, Range(ZERO, as_expr(blocks)), Region([State(nodes=[node])]))
