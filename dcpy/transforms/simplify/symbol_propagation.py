"""SymbolPropagation: the value of an assigned symbol goes where the symbol is mentioned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expr import WrapIndex, as_symbolic, walk
from dcpy.ir.places import block_in
from dcpy.ir.region import Region, Resize, SymbolAssign
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import int64
from dcpy.ir.uses import Element
from dcpy.transforms.api import YES, Match, Rewriter, Transformation, Verdict, capture, no, one

MOST_TERMS, MOST_FACTORS, LONGEST = 16, 6, 120  # terms, factors and characters of a value that is propagated


@dataclass(frozen=True)
class SymbolPropagation(Transformation):
    """Replace a symbol that is assigned once by its value, and drop the assignment.

    before   let k = N - 1                   after   state { B[N - 2] = A[N - 1] }
             state { B[k - 1] = A[k] }

    Applies when the value is an exact integer expression over symbols that keep their values up to the last mention,
    and when every mention comes after the assignment, in its region. An assignment that nobody mentions goes, too.
    """

    name: ClassVar[str] = "symbol-propagation"
    assign = capture(SymbolAssign)
    pattern = one(assign)

    def can_be_applied(self, m: Match) -> Verdict:
        assign = m[self.assign]
        if isinstance(assign, Resize):
            return no("the assignment gives an array more room")
        if any(isinstance(part, WrapIndex) for part in walk(assign.value)):
            return no("the value is a run-time index, whose check must stay")
        if _is_unused(assign.symbol, m):
            return YES
        value = as_symbolic(assign.value)
        if value is None or m.sdfg.assigned_symbols.get(assign.symbol, int64) != int64:
            return no("the value reads containers or is no exact integer expression")
        if m.uses.definers(assign.symbol) != (assign,):
            return no(f"{assign.symbol!r} is assigned elsewhere too")
        if _is_long(value):
            return no("the value is too long to be written at every mention")
        return _reaches_all_uses(assign, value, m)

    def apply(self, m: Match, rw: Rewriter) -> None:
        assign = m[self.assign]
        value = as_symbolic(assign.value)
        if value is not None and not _is_unused(assign.symbol, m):
            rw.substitute_symbols({assign.symbol: value})
        rw.erase(assign)
        rw.forget_symbol(assign.symbol)


def _is_long(value: Expr) -> bool:
    """Whether a value has so many terms, so high powers or nested functions that substituting it would explode."""
    degrees = [sum(power for _, power in monomial) for monomial, _ in value.terms]
    return len(degrees) > MOST_TERMS or max(degrees, default=0) > MOST_FACTORS or len(str(value)) > LONGEST


def _is_unused(symbol: str, m: Match) -> bool:
    return not m.uses.users(symbol) and not m.uses.described_by(symbol)


def _reaches_all_uses(assign: SymbolAssign, value: Expr, m: Match) -> Verdict:
    """Whether at each mention the assignment has run, and what its value is made of has not changed since."""
    here = m.region
    position = here.index(assign)
    for user in m.uses.users(assign.symbol):
        if not _comes_after(user, here, position):
            return no(f"{assign.symbol!r} is mentioned where the assignment may not have run")
    for container in m.uses.described_by(assign.symbol):
        if not _is_within(m.uses.home(container), here):
            return no(f"{assign.symbol!r} shapes {container!r}, which is declared further out")
    for symbol in value.symbols:
        if any(_comes_after(definer, here, position) for definer in m.uses.definers(symbol)):
            return no(f"{symbol!r}, of which the value is made, is assigned again later")
    return YES


def _comes_after(element: Element, region: Region, position: int) -> bool:
    block = block_in(region, element)
    return block is not None and region.index(block) > position


def _is_within(region: Region | None, outer: Region) -> bool:
    while region is not None:
        if region is outer:
            return True
        region = region.parent
    return False
