"""SymbolPropagation: the value of an assigned symbol goes where the symbol is mentioned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.checked_facts import checked_before
from dcpy.ir.editing.index_simplification import simplify_indices
from dcpy.ir.expressions.scalar import Index, ScalarExpr, WrapIndex, as_symbolic, walk
from dcpy.ir.region import Block, Branch, Resize, SymbolAssign
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import dominates, is_inside, subtree
from dcpy.ir.types import int64
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

MOST_TERMS, MOST_FACTORS, LONGEST = 16, 6, 120  # terms, factors and characters of a value that is propagated


@dataclass(frozen=True)
class SymbolPropagation(Transformation[Expr | None]):
    """Replace a symbol that is assigned once by its value, and drop the assignment.

    before   let k = N - 1                   after   state { B[N - 2] = A[N - 1] }
             state { B[k - 1] = A[k] }

    Applies when the value is an exact integer expression (or what another symbol has read already) over symbols that
    keep their values up to the last mention (``let n = k`` may be followed by ``let k = n``, which goes, too), and when
    every mention comes after the assignment, in its region. An unused assignment goes, too.
    """

    name: ClassVar[str] = "symbol-propagation"
    assign = capture(SymbolAssign)
    pattern = one(assign)

    def plan(self, m: Match) -> Expr | Refusal | None:
        """The value for every mention; None where there is none."""
        assign = m[self.assign]
        if isinstance(assign, Resize):
            return Refusal("the assignment gives an array more room")
        value = _without_check(assign, m)
        if any(isinstance(part, WrapIndex) for part in walk(value)):
            return Refusal("the value is a run-time index, whose check must stay")
        if not m.uses.users(assign.symbol) and not m.uses.described_by(assign.symbol):
            return None
        known = as_symbolic(value) or _read_before(assign, m)
        if known is None or m.sdfg.assigned_symbols.get(assign.symbol, int64) != int64:
            return Refusal("the value reads containers or is no exact integer expression")
        if m.uses.definers(assign.symbol) != (assign,):
            return Refusal(f"{assign.symbol!r} is assigned elsewhere too")
        if _is_long(known):
            return Refusal("the value is too long to be written at every mention")
        return _misses_a_use(assign, known, m) or known

    def apply(self, m: Match, plan: Expr | None, rw: Rewriter) -> None:
        assign = m[self.assign]
        if plan is not None:
            given_back, users = _given_back(assign, plan, m), m.uses.users(assign.symbol)
            rw.substitute_symbols({assign.symbol: plan})
            if as_symbolic(assign.value) is None or plan.constant is not None:
                simplify_indices(users, rw)
            for other in given_back:
                rw.erase(other)
        rw.erase(assign)
        rw.forget_symbol(assign.symbol)


def _without_check(assign: SymbolAssign, m: Match) -> ScalarExpr:
    """The value; of a run-time index that is surely inside, or surely counts from the end, what it comes to."""
    index = as_symbolic(assign.value.arg) if isinstance(assign.value, WrapIndex) else None
    if index is None:
        return assign.value
    assert isinstance(assign.value, WrapIndex)
    size, ranges = assign.value.size, m.uses.ranges_at(assign).assuming(*checked_before(assign, m.uses))
    for place in (index, index + size):
        if ranges.proves_nonneg(place) and ranges.proves_lt(place, size):
            return Index(place)
    return assign.value


def _is_long(value: Expr) -> bool:
    """Return whether a value has so many terms, so high powers or nested functions that substituting it would explode.
    """
    degrees = [sum(power for _, power in monomial) for monomial, _ in value.terms]
    return len(degrees) > MOST_TERMS or max(degrees, default=0) > MOST_FACTORS or len(str(value)) > LONGEST


def _misses_a_use(assign: SymbolAssign, value: Expr, m: Match) -> Refusal | None:
    """A mention where the assignment may not have run, or what its value is made of may have changed since."""
    for user in m.uses.users(assign.symbol):
        if not dominates(assign, user):
            return Refusal(f"{assign.symbol!r} is mentioned where the assignment may not have run", (user,))
    for container in m.uses.described_by(assign.symbol):
        home = m.uses.home(container)
        if home is not m.region and not is_inside(home, m.region):
            return Refusal(f"{assign.symbol!r} shapes {container!r}, which is declared further out")
    same = _given_back(assign, value, m)
    for symbol in value.symbols:
        later = tuple(found for found in m.uses.definers(symbol) if found not in same and dominates(assign, found))
        if later:
            return Refusal(f"{symbol!r}, of which the value is made, is assigned again later", later)
    return None


def _given_back(assign: SymbolAssign, value: Expr, m: Match) -> tuple[SymbolAssign, ...]:
    """Later assignments that give the symbol which is the value what it has: ``let k = n`` behind ``let n = k``."""
    if value.name is None:
        return ()
    return tuple(
        later
        for later in m.uses.definers(value.name)
        if isinstance(later, SymbolAssign)
        and not isinstance(later, Resize)
        and as_symbolic(later.value) is sym(assign.symbol)
        and dominates(assign, later)
    )


def _read_before(assign: SymbolAssign, m: Match) -> Expr | None:
    """The symbol that has the same value, which was read from the same containers before; None where there is none.

    From there on nothing writes them, or assigns a symbol that the value mentions.
    """
    accessed = m.uses.accesses(assign)
    names = {name for read in accessed.reads for name in m.uses.overlapping(read)}
    for block in _before(assign):
        if isinstance(block, SymbolAssign) and block.value == assign.value and _is_final(block, m):
            return None if block.symbol in accessed.symbols else sym(block.symbol)
        for part in subtree(block):
            is_other = isinstance(part, SymbolAssign) and part.symbol in accessed.symbols
            if is_other or not names.isdisjoint(m.uses.accesses(part).writes):
                return None
    return None


def _before(block: Block) -> Iterator[Block]:
    """The blocks that have run before one, the last one first, as far as they run as often as it does."""
    region = block.region
    while region is not None:
        yield from reversed(region.blocks[: region.index(block)])
        if not isinstance(region.owner, Branch):
            return
        block = region.owner
        region = block.region


def _is_final(assign: SymbolAssign, m: Match) -> bool:
    """Return whether a symbol has this value only, for good, and all of it."""
    is_whole = m.sdfg.assigned_symbols.get(assign.symbol, int64) == int64 and not isinstance(assign, Resize)
    return is_whole and m.uses.definers(assign.symbol) == (assign,)
