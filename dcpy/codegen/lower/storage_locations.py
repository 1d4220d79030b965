"""Storage locations: a container's elements are a variable, or a pointer with an offset and strides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcpy.codegen.lir.expr import Convert, Item, LirExpr, Name, Prefix, integer, plus, times
from dcpy.codegen.lir.types import Pointer
from dcpy.ir.data import Space
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.types import DType

Symbolic = Callable[[Expr], LirExpr]


@dataclass(frozen=True, slots=True)
class StorageLocation:
    """Element ``[i, ...]`` is ``base[offset + sum(i * stride)]``; a variable (`is_value`) is the element itself."""

    base: Name
    dtype: DType
    strides: tuple[Expr, ...] = ()
    offset: Expr = ZERO
    is_value: bool = False
    viewed: bool = False  # seen through another dtype than the buffer's

    def element(self, indices: tuple[Expr, ...], symbolic: Symbolic) -> LirExpr:
        """One element, to read or to assign."""
        if self.is_value and not self.viewed:
            return self.base
        return Item(self._pointer(), self._position(indices, symbolic), self.dtype)

    def address(self, indices: tuple[Expr, ...], symbolic: Symbolic) -> LirExpr:
        """A pointer to one element."""
        position = self._position(indices, symbolic)
        if position == integer(0):
            return self._pointer()
        pointer = self._pointer()
        kind = pointer.type
        assert isinstance(kind, Pointer)  # that is what `_pointer` is
        return Prefix("&", Item(pointer, position, kind.element), kind)

    def step(self, indices: tuple[Expr, ...], param: str) -> Expr | None:
        """Elements by which an access moves with a parameter; None where that differs."""
        total = ZERO
        for index, stride in zip(indices, self.strides, strict=True):
            form = index.linear_in(param)
            if form is None:
                return None
            total = total + form[0] * stride
        return total

    def _pointer(self) -> LirExpr:
        pointer: LirExpr = self.base
        if self.is_value:
            pointer = Prefix("&", self.base, Pointer(self.base.type))
        if not self.viewed:
            return pointer
        space = pointer.type.space if isinstance(pointer.type, Pointer) else Space.HOST
        return Convert(pointer, Pointer(self.dtype, space=space))

    def _position(self, indices: tuple[Expr, ...], symbolic: Symbolic) -> LirExpr:
        position: LirExpr = integer(0)
        for index, stride in zip(indices, self.strides, strict=True):
            position = plus(position, times(symbolic(index), symbolic(stride)))
        return plus(position, symbolic(self.offset))
