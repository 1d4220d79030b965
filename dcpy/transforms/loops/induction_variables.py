"""InductionVariableSubstitution: a symbol that grows by the same in each iteration is an expression of the counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.expressions.scalar import Index, as_symbolic
from dcpy.ir.region import Block, Branch, Loop, Region, State, SymbolAssign, While
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import Element, dominates, is_inside, jumps, owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.scalar_expansion import number_of


@dataclass(frozen=True)
class InductionVariableSubstitution(Transformation["Induction"]):
    """Replace an induction variable by its closed form.

    before   let k = 3
             loop i = 0:N { let k = k + 2;  A[k] = B[i];  let k = k + 1;  C[k] = B[i] }
    after    let k = 3
             loop i = 0:N { A[3*i + 5] = B[i];  C[3*i + 6] = B[i] }
             let k = 3*N + 3

    Applies where each iteration adds the same to a symbol, whichever way it takes through its branches, and ends
    nowhere but at its end. Inner loops come first: what they add in all is what an iteration of the outer one adds.
    (Wolfe, Beyond Induction Variables, PLDI 1992, calls these basic.)
    """

    name: ClassVar[str] = "induction-variable-substitution"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Induction | Refusal:
        """The first induction variable of the loop."""
        loop = m[self.loop]
        if not axes_of(loop)[0].sign:
            return Refusal(f"the step {loop.range.step} is not a number")
        why = Refusal("it assigns no symbol")
        for symbol in symbols_assigned_in(loop.body):
            found = _induction(symbol, loop, m)
            if isinstance(found, Induction):
                return found
            why = found
        return why

    def apply(self, m: Match, plan: Induction, rw: Rewriter) -> None:
        loop, symbol = m[self.loop], plan.symbol
        here = plan.start + plan.total * number_of(axes_of(loop)[0])
        _substitute(loop.body, symbol, here, ZERO, rw)
        again = any(isinstance(owner, Loop | While) for owner in owners_around(loop))
        if any(again or not is_inside(user, loop.body) for user in rw.uses.users(symbol)):
            end = Index(plan.start + plan.total * loop.range.size)
            rw.insert_after(loop, SymbolAssign(symbol, end, span=loop.span))


@dataclass(frozen=True, slots=True)
class Induction:
    """A symbol, its value before the loop, and its increment per iteration."""

    symbol: str
    start: Expr
    total: Expr


def _induction(symbol: str, loop: Loop, m: Match) -> Induction | Refusal:
    if m.sdfg.assigned_symbols[symbol] != types.int64:
        return Refusal(f"symbol {symbol!r} has not 64 bits")
    if any(jumps(loop.body)):
        return Refusal("an iteration may end early")
    if m.uses.described_by(symbol):
        return Refusal(f"symbol {symbol!r} describes a container")
    varying = {loop.param, *symbols_assigned_in(loop.body)}
    total = _added(loop.body, symbol, varying)
    if isinstance(total, Refusal):
        return total
    return Induction(symbol, _start(symbol, loop, m.uses, m.sdfg.assigned_symbols), total)


def _added(region: Region, symbol: str, varying: set[str]) -> Expr | Refusal:
    """The sum that one run of a region adds to a symbol."""
    total = ZERO
    for block in region.blocks:
        step = _added_by(block, symbol, varying)
        if isinstance(step, Refusal):
            return step
        total = total + step
    return total


def _added_by(block: Block, symbol: str, varying: set[str]) -> Expr | Refusal:
    if isinstance(block, SymbolAssign) and block.symbol == symbol:
        value = as_symbolic(block.value) if type(block) is SymbolAssign else None
        step = None if value is None else value - sym(symbol)
        if step is None or not varying.isdisjoint(step.symbols):
            return Refusal(f"what is added to symbol {symbol!r} is not the same each time", (block,))
        return step
    if not any(symbol in symbols_assigned_in(inner) for inner in block.regions()):
        return ZERO
    if not isinstance(block, Branch):
        return Refusal(f"symbol {symbol!r} is assigned in a {block.kind} inside", (block,))
    steps = [_added(inner, symbol, varying) for inner in block.regions()]
    refused = next((step for step in steps if isinstance(step, Refusal)), None)
    if refused is not None:
        return refused
    known = dict.fromkeys(step for step in steps if isinstance(step, Expr))
    if block.otherwise is None:
        known[ZERO] = None
    if len(known) > 1:
        return Refusal(f"what is added to symbol {symbol!r} depends on a condition", (block,))
    return next(iter(known))


def _start(symbol: str, loop: Loop, uses: Uses, assigned: dict[str, types.DType]) -> Expr:
    """The value of a symbol before a loop, where one assignment before gives it; else the symbol itself."""
    before = [block for block in uses.definers(symbol) if not is_inside(block, loop.body)]
    match before:
        case [SymbolAssign(value=value) as block] if dominates(block, loop) and _in_the_same_loop(block, loop):
            known = as_symbolic(value)
            if known is not None and not any(name in assigned for name in known.symbols):
                return known
    return sym(symbol)


def _in_the_same_loop(block: Block, loop: Loop) -> bool:
    """Return whether a block and a loop belong to the same iteration of the loop around both."""
    around = [owner for owner in owners_around(loop) if not isinstance(owner, Branch)]
    return [owner for owner in owners_around(block) if not isinstance(owner, Branch)] == around


def _substitute(region: Region, symbol: str, here: Expr, offset: Expr, rw: Rewriter) -> Expr:
    """Substitute the value for the symbol in a region, and erase its increments; return their sum."""
    for block in list(region.blocks):
        if isinstance(block, SymbolAssign) and block.symbol == symbol:
            value = as_symbolic(block.value)
            assert value is not None
            offset = offset + (value - sym(symbol))
            rw.erase(block)
            continue
        values = Substitution({symbol: here + offset})
        _substitute_on((block, *(block.nodes if isinstance(block, State) else ())), symbol, values, rw)
        later = [_substitute(inner, symbol, here, offset, rw) for inner in block.regions()]
        offset = later[0] if isinstance(block, Branch) and block.otherwise is not None else offset
        for node in block.nodes if isinstance(block, State) else ():
            for inner in node.regions():
                rw.substitute_symbols({symbol: here + offset}, within=inner)
    return offset


def _substitute_on(elements: Sequence[Element], symbol: str, values: Substitution, rw: Rewriter) -> None:
    """Substitute the value in the fields of elements that mention the symbol."""
    for element in elements:
        if symbol in rw.uses.accesses(element).symbols:
            rw.substitute(element, values)
