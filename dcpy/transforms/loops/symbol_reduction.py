"""SymbolReduction: a symbol that iterations only increment becomes a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.scalar import Const, Index, Load, Op, ScalarExpr, as_symbolic, loads_of, op, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import Loop, State, SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class SymbolReduction(Transformation["SymbolIncrements"]):
    """Turn increments of a symbol into a sum in a container, and add the sum to the symbol after the loop.

    before   loop i = 0:N { if A[i] > 0 { let k = k + 1 } }      after   count = 0
                                                                         loop i = 0:N { if A[i] > 0 { count (add)= 1 } }
                                                                         let k = k + count

    Applies to 64-bit symbols that a loop only increments: then the order does not matter, and integers wrap around
    alike. LoopToMap turns the sum into a reduction. (Padua and Wolfe, Advanced Compiler Optimizations
    for Supercomputers, 1986.)
    """

    name: ClassVar[str] = "symbol-reduction"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> SymbolIncrements | Refusal:
        """The first symbol that is only incremented."""
        loop, why = m[self.loop], Refusal("it assigns no symbol")
        for symbol in symbols_assigned_in(loop.body):
            found = _count(symbol, loop, m)
            if isinstance(found, SymbolIncrements):
                return found
            why = found
        return why

    def apply(self, m: Match, plan: SymbolIncrements, rw: Rewriter) -> str:
        """Return the name of the counter."""
        loop = m[self.loop]
        count = rw.declare_fresh("count", Scalar(types.int64, transient=True), loop.region)
        whole = Memlet(count, Subset())
        start = Tasklet({}, {"out": whole}, (("out", Const(0, types.int64)),), span=loop.span)
        rw.insert_before(loop, State(nodes=[start], span=loop.span))
        for block, value in plan.steps:
            add = Tasklet({}, {"out": Memlet(count, Subset(), "add")}, (("out", value),), span=block.span)
            rw.replace(block, State(nodes=[add], span=block.span))
        total = op("add", Index(sym(plan.symbol)), Load(count, (), types.int64))
        rw.insert_after(loop, SymbolAssign(plan.symbol, total, span=loop.span))
        return count


@dataclass(frozen=True, slots=True)
class SymbolIncrements:
    """A symbol, and the increment of each assignment in the loop."""

    symbol: str
    steps: tuple[tuple[SymbolAssign, ScalarExpr], ...]


def _count(symbol: str, loop: Loop, m: Match) -> SymbolIncrements | Refusal:
    if m.sdfg.assigned_symbols[symbol] != types.int64:
        return Refusal(f"symbol {symbol!r} has not 64 bits")
    steps = []
    for block in _assignments(symbol, loop, m.uses):
        added = _added(block)
        if added is None:
            return Refusal(f"symbol {symbol!r} is not only added to", (block,))
        steps.append((block, added))
    counted = [block for block, _ in steps]
    other = next((u for u in m.uses.users(symbol) if is_inside(u, loop.body) and u not in counted), None)
    if other is not None:
        return Refusal(f"symbol {symbol!r} is used in it", (other,))
    if any(is_inside(m.uses.home(name), loop.body) for name in m.uses.described_by(symbol)):
        return Refusal(f"symbol {symbol!r} describes a container in it")
    return SymbolIncrements(symbol, tuple(steps))


def _assignments(symbol: str, loop: Loop, uses: Uses) -> Iterator[SymbolAssign]:
    for block in uses.definers(symbol):
        if isinstance(block, SymbolAssign) and is_inside(block, loop.body):
            yield block


def _added(block: SymbolAssign) -> ScalarExpr | None:
    """The increment of an assignment; None for other assignments, and if the increment reads memory."""
    value, mine = block.value, sym(block.symbol)
    if type(block) is not SymbolAssign:
        return None  # it gives an array more room, too
    whole = as_symbolic(value)
    if whole is not None:
        return None if block.symbol in (whole - mine).symbols else Index(whole - mine)
    match value:
        case Op(name="add", args=(Index(value=left), right)) if left == mine and not _mentions(right, block.symbol):
            return right
    return None


def _mentions(expr: ScalarExpr, symbol: str) -> bool:
    """Return whether an expression mentions the symbol, or reads memory (which needs a connector of a tasklet)."""
    return any(loads_of(expr)) or any(isinstance(part, Index) and symbol in part.value.symbols for part in walk(expr))
