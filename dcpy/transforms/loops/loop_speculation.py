"""LoopSpeculation: all iterations run even if one raises, where their writes are not visible after an exception."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.data import Array, Scalar, Stream
from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Index, Load, Ref, ScalarExpr, loads_of, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import is_inside, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.inspectors import Mark, inspect, run_unchecked, why_not_inspected


@dataclass(frozen=True, slots=True)
class Speculation:
    """The containers that are private to an iteration, wherever they are declared."""

    private: tuple[str, ...]


@dataclass(frozen=True)
class LoopSpeculation(Transformation[Speculation]):
    """Speculative execution: iterations that fail only record that; after the loop the first of them raises.

    before   loop i = 0:N {                       after    first[0] = N
               let k = wrap(p[i], M)                       loop i = 0:N { bad = N;  bad (min)= select(p[i] is bad, i, N)
               t[i] = B[k] }                                 if bad < N { first[0] (min)= bad }
                                                             else { let k = select(p[i] < 0, p[i] + M, p[i])
                                                                    t[i] = B[k] } }
                                                           let F = first[0]
                                                           if F < N { loop i = F:F + 1 { ... as it was, and raises } }

    Where LoopInspection looks at everything twice, this looks once. Applies when the writes of the loop are not visible
    after an exception (temporaries, fresh results), when nothing in it reads what it writes, and when the iterations
    are independent without their checks. (Rauchwerger and Padua, The LRPD test, PLDI 1995.)
    """

    name: ClassVar[str] = "loop-speculation"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Speculation | Refusal:
        loop = m[self.loop]
        refusal = why_not_inspected(loop)
        if refusal is not None:
            return refusal
        effects = effects_of(loop) & (Effect.ORDERED | Effect.CALLS_OUT)
        if effects:
            return Refusal(f"something inside {effects.words}")
        found = loop_dependences(loop, m.uses, leaves=False)
        if not found.answer.is_no:
            return Refusal(found.answer.reason)
        inside = [name for region in loop.body.walk_regions() for name in region.containers]
        private = tuple(dict.fromkeys((*inside, *found.private)))
        needed = _needed(loop.body, private)
        for node in (node for block in loop.body.walk_blocks() if isinstance(block, State) for node in block.nodes):
            written = {memlet.container for element in subtree(node) for memlet in element.writes()}
            if written & needed and not written <= needed:
                return Refusal(f"the {node.kind} computes more than what a check depends on", (node,))
        return _why_seen(loop, private, m.uses) or Speculation(private)

    def apply(self, m: Match, plan: Speculation, rw: Rewriter) -> Loop:
        """Return the loop that never raises."""
        loop = m[self.loop]
        for name in plan.private:
            if not is_inside(rw.uses.home(name), loop) and rw.uses.home(name) not in loop.body.walk_regions():
                rw.move_container(name, loop.body)
        stop = loop.range.stop
        first = rw.declare_fresh("first", Array.packed(types.int64, (1,), transient=True), loop.region)
        found, slot, bad = rw.fresh_name("F"), rw.fresh_name("slot"), rw.fresh_name("bad")
        for symbol in (found, slot):
            rw.sdfg.assign_symbol(symbol)
        body = clone(loop, rw)
        number = sym(body.param)
        inspector = clone_body(loop.body, {loop.param: number}, rw)
        own = [name for region in inspector.walk_regions() for name in region.containers]
        inspect(inspector, Mark(bad, Index(number), Index(stop), _needed(inspector, own)))
        run_unchecked(body.body)
        _drop_idle(body.body)
        _guard(body, inspector, bad, stop, [SymbolAssign(slot, _minus(bad, number)), _note(bad, first, slot)])
        rest = Region()
        rw.insert_before(
            loop,
            State(nodes=[_put(first, stop)], span=loop.span),
            body,
            SymbolAssign(found, Load(first, (ZERO,), types.int64), span=loop.span),
            Branch([(op("lt", Index(sym(found)), Index(stop)), rest)], span=loop.span),
        )
        rw.move_blocks([loop], rest)
        rw.update(loop, range=Range(sym(found), sym(found) + 1))
        return body


def _needed(body: Region, private: Iterable[str]) -> set[str]:
    """The containers that the control flow of an iteration, checks included, depends on."""
    writers: dict[str, list[Node]] = {name: [] for name in private}
    found: list[str] = []
    for region in body.walk_regions():
        for block in region.blocks:
            found += [load.container for expr in block.exprs() for load in loads_of(expr)]
        for node in (node for block in region.blocks if isinstance(block, State) for node in block.nodes):
            for name in {memlet.container for element in subtree(node) for memlet in element.writes()}:
                writers.get(name, []).append(node)
    needed: dict[str, None] = {}
    while found:
        name = found.pop()
        if name in writers and name not in needed:
            needed[name] = None
            for element in (element for node in writers[name] for element in subtree(node)):
                found += [memlet.container for memlet in element.reads()]
    return set(needed)


def _why_seen(loop: Loop, private: tuple[str, ...], uses: Uses) -> Refusal | None:
    """A write of the loop that is visible if it raises: to the caller, or to another part of the loop."""
    accesses = [uses.accesses(element) for element in subtree(loop) if element is not loop]
    written = dict.fromkeys(uses.root(name) for found in accesses for name in found.writes)
    read = {uses.root(name) for found in accesses for name in found.reads}
    for name in written:
        if name in private:
            continue
        if name in uses.sdfg.arguments or isinstance(uses.desc(name), Stream):
            return Refusal(f"the caller sees what is in {name!r} if it raises")
        if any(other in read for other in uses.overlapping(name)):
            return Refusal(f"it reads {name!r}, which it writes")
    return None


def _drop_idle(body: Region) -> None:
    """Erase maps that only checked."""
    for region in body.walk_regions():
        for block in region.blocks:
            if isinstance(block, State):
                block.nodes = [node for node in block.nodes if not _is_idle(node)]


def _is_idle(node: Node) -> bool:
    return isinstance(node, Map) and not any(True for element in subtree(node) if any(element.writes()))


def _guard(loop: Loop, inspector: Region, bad: str, stop: Expr, failed: list[SymbolAssign | State]) -> None:
    """Put an inspector before the body of a loop, and run the body only if the inspector finds no failure.

    Containers move with the body: their sizes may be known only there.
    """
    executor = Region()
    executor.containers |= loop.body.containers
    for block in list(loop.body.blocks):
        loop.body.remove(block)
        executor.add(block)
    loop.body.containers = {**inspector.containers, bad: Scalar(types.int64, transient=True)}
    loop.body.add(State(nodes=[_put(bad, stop, scalar=True)], span=loop.span))
    for block in list(inspector.blocks):
        inspector.remove(block)
        loop.body.add(block)
    fails = op("lt", Load(bad, (), types.int64), Index(stop))
    loop.body.add(Branch([(fails, Region(failed))], executor, span=loop.span))


def _put(name: str, value: Expr, *, scalar: bool = False) -> Tasklet:
    place = Memlet(name, Subset() if scalar else Subset.point(ZERO))
    return Tasklet({}, {"out": place}, (("out", Index(value)),))


def _minus(bad: str, number: Expr) -> ScalarExpr:
    """An index that is 0 if an iteration has failed, and depends on data.

    Few iterations fail, so threads of a device combine there by atomic updates, instead of all iterations in order.
    """
    return op("sub", Load(bad, (), types.int64), Index(number))


def _note(bad: str, first: str, slot: str) -> State:
    """``first[slot] (min)= bad``"""
    target = Memlet(first, Subset.point(sym(slot)), "min")
    return State(nodes=[Tasklet({"a": Memlet(bad, Subset())}, {"out": target}, (("out", Ref("a", types.int64)),))])
