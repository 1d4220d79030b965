"""WrapAroundVariable: a symbol assigned in the previous iteration becomes an expression of the counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.nest_edits import place_before
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import Index, as_symbolic, op
from dcpy.ir.region import Block, Branch, Loop, Region, SymbolAssign, While
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import Element, child_of, is_inside, jumps, owners_around, subtree
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.constant_folding import decide


@dataclass(frozen=True)
class WrapAroundVariable(Transformation["WrapAround"]):
    """Peel the iteration in which a wrap-around variable still has the value from before the loop.

    before   let k = N - 1;  loop i = 0:N { A[i] = f(B[i], B[k]);  let k = i }
    after    let k = N - 1
             if 0 < N { A[0] = f(B[0], B[k]);  let k = 0 }
             loop i = 1:N { A[i] = f(B[i], B[i - 1]) }

    Applies if each iteration first uses the symbol, and then assigns it once, unconditionally, an expression of the
    counter and of loop invariants: from the second iteration on the value is known. A symbol that copies such a
    symbol is a wrap-around variable in turn, one iteration later. (Padua and Wolfe, Advanced Compiler Optimizations for
    Supercomputers, CACM 1986.)
    """

    name: ClassVar[str] = "wrap-around-variable"
    loop = capture(Loop)
    pattern = one(loop)

    largest: int = 50  #: blocks and nodes of a body that is written out once more

    def plan(self, m: Match) -> WrapAround | Refusal:
        """The first wrap-around variable of the loop."""
        loop = m[self.loop]
        assigned = symbols_assigned_in(loop.body)
        if not assigned:
            return Refusal("it assigns no symbol")
        if not axes_of(loop)[0].sign:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        if any(jumps(loop.body)):
            return Refusal("an iteration may end early")
        if not set(assigned).isdisjoint(loop.range.symbols):
            return Refusal("it assigns a symbol of its own bounds")
        if sum(1 for block in loop.body.blocks for _ in subtree(block)) > self.largest:
            return Refusal(f"its body has more than {self.largest} blocks and nodes")
        why = Refusal("it assigns no symbol")
        for symbol in assigned:
            found = _wrap_around(symbol, loop, m)
            if isinstance(found, WrapAround):
                return found
            why = found
        return why

    def apply(self, m: Match, plan: WrapAround, rw: Rewriter) -> Loop:
        """Return the loop of the other iterations, which is the original."""
        loop, symbol, values = m[self.loop], plan.symbol, m[self.loop].range
        runs = op("lt" if axes_of(loop)[0].sign > 0 else "gt", Index(values.start), Index(values.stop))
        outside = any(_may_come_after(user, loop) for user in rw.uses.users(symbol))
        first = clone_body(loop.body, {loop.param: values.start}, rw)
        if decide(runs, rw.uses.ranges_at(loop)):
            place_before(first, loop, rw)
        else:
            rw.insert_before(loop, Branch([(runs, first)], span=loop.span))
        if outside:
            last = SymbolAssign(symbol, Index(plan.value.subs({loop.param: values.last})), span=loop.span)
            rw.insert_after(loop, Branch([(runs, Region([last]))], span=loop.span))
        at = loop.body.blocks.index(plan.assignment)
        before = plan.value.subs({loop.param: sym(loop.param) - values.step})
        _substitute(loop.body.blocks[:at], symbol, before, rw)
        _substitute(loop.body.blocks[at + 1 :], symbol, plan.value, rw)
        rw.erase(plan.assignment)
        rw.update(loop, range=Range(values.start + values.step, values.stop, values.step))
        return loop


@dataclass(frozen=True, slots=True)
class WrapAround:
    """A symbol, its assignment, and its value as an expression of the counter."""

    symbol: str
    assignment: SymbolAssign
    value: Expr


def _wrap_around(symbol: str, loop: Loop, m: Match) -> WrapAround | Refusal:
    if m.sdfg.assigned_symbols[symbol] != types.int64:
        return Refusal(f"symbol {symbol!r} has not 64 bits")
    inside = [block for block in m.uses.definers(symbol) if is_inside(block, loop.body)]
    match inside:
        case [SymbolAssign(value=given) as block] if type(block) is SymbolAssign and block in loop.body.blocks:
            value = as_symbolic(given)
        case _:
            return Refusal(f"symbol {symbol!r} is not assigned once in each iteration")
    changing = {*symbols_assigned_in(loop.body)}
    if value is None or not changing.isdisjoint(value.symbols):
        return Refusal(f"what symbol {symbol!r} becomes is no expression of {loop.param!r}", (block,))
    if m.uses.described_by(symbol):
        return Refusal(f"symbol {symbol!r} describes a container")
    at = loop.body.blocks.index(block)
    before = (element for part in loop.body.blocks[:at] for element in subtree(part))
    if not any(symbol in m.uses.accesses(element).symbols for element in before):
        return Refusal(f"no iteration takes over symbol {symbol!r}")
    return WrapAround(symbol, block, value)


def _may_come_after(element: Element, loop: Loop) -> bool:
    """Return whether an element may run after a loop: it is neither in the loop nor surely before it."""
    if any(isinstance(owner, Loop | While) for owner in owners_around(loop)):
        return True
    assert loop.region is not None
    beside = child_of(loop.region, element)
    return beside is None or loop.region.index(beside) > loop.region.index(loop)


def _substitute(blocks: Sequence[Block], symbol: str, value: Expr, rw: Rewriter) -> None:
    """Substitute the value for the symbol in blocks and their contents."""
    values = Substitution({symbol: value})
    for block in blocks:
        for element in list(subtree(block)):
            if symbol in rw.uses.accesses(element).symbols:
                rw.substitute(element, values)
