"""Value numbering: reuse of what has been computed, or checked, before the place of writing.

An expression over symbols that are assigned once, with no access to memory in it, has one value wherever it is written
in a region, and in those inside of it (Cocke and Schwartz, Programming Languages and Their Compilers, 1970).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dcpy.ir.expressions.scalar import Op, ScalarExpr, loads_of, symbols_of
from dcpy.ir.region import Region
from dcpy.ir.symbolic import Expr

Undo = Callable[[], object]


class Numbering:
    """Symbols by the values that they were assigned, and conditions that hold since they were checked; by region."""

    def __init__(self) -> None:
        self._symbols: dict[tuple[Region, ScalarExpr], Expr] = {}
        self._steady: set[str] = set()  # the names of these symbols: each check asks for some
        self._checked: dict[tuple[Region, ScalarExpr], None] = {}

    def symbol_of(self, value: ScalarExpr, around: Sequence[Region]) -> Expr | None:
        """The symbol that a region `around` the place has assigned this value to."""
        return next((self._symbols[region, value] for region in around if (region, value) in self._symbols), None)

    def is_checked(self, condition: ScalarExpr, around: Sequence[Region]) -> bool:
        """Return whether a region `around` the place has checked it, or the same with its sides exchanged."""
        return any((region, each) in self._checked for region in around for each in _either_way(condition))

    def assigned(self, region: Region, value: ScalarExpr, symbol: Expr, others: Collection[str]) -> Undo:
        """Notes that a region assigns a value to a symbol; what takes that back. `others`: all assigned symbols."""
        key = region, value
        if symbol.name is None or not self._is_steady(value, others):
            return lambda: None
        self._symbols[key] = symbol
        self._steady.add(symbol.name)

        def forget() -> None:
            self._steady.discard(str(self._symbols.pop(key).name))

        return forget

    def holds(self, region: Region, condition: ScalarExpr, others: Collection[str]) -> Undo:
        """The same for a condition that a region checks."""
        key = region, condition
        if self._is_steady(condition, others):
            self._checked[key] = None
        return lambda: self._checked.pop(key, None)

    def _is_steady(self, value: ScalarExpr, others: Collection[str]) -> bool:
        """Return whether a value stays what it is. Symbols that begin as a number (the room of a list) are assigned
        again.
        """
        names = symbols_of(value)
        return bool(names) and not loads_of(value) and all(name in self._steady for name in names if name in others)


def _either_way(condition: ScalarExpr) -> tuple[ScalarExpr, ...]:
    match condition:
        case Op(name="eq", args=(left, right), dtype=dtype):
            return condition, Op("eq", (right, left), dtype)
    return (condition,)
