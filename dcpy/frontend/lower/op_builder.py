"""Operation builder: the ``b`` of `frontend.implements`, with which implementations emit code.

Values in, values out. Each array operation is one map (or library node) into a fresh container, as the paper's section
2.3 has it; scalars stay expressions until they are stored. The parts live in their own modules; this class is
their table of contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value
from dcpy.frontend.lower.arithmetic import array_sizes, broadcasting, elementwise
from dcpy.frontend.lower.arrays import basic_indexing, memory_order, stores, subscripts
from dcpy.frontend.lower.emitter import Emitter
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.frontend.lower.typed_emitter import TypedEmitter
from dcpy.ir.data import Order
from dcpy.ir.expressions.scalar import Index, ScalarExpr, cast
from dcpy.ir.symbolic import Expr, ExprLike, as_expr, sym
from dcpy.ir.types import DType


class OpBuilder(TypedEmitter):
    """Emission with typed values, complete: what the implementations of NumPy's functions are given.

    `caller` and `operate` are set by the evaluator above it.
    """

    def __init__(self, emit: Emitter) -> None:
        super().__init__(emit)
        self.caller: Callable[[Value, Sequence[Value], Mapping[str, Value]], Value] | None = None
        self.operate: Callable[[str, Value, Value], Value] | None = None

    # -- checks and arguments ----------------------------------------------------------------------------------------

    def same_size(self, left: ExprLike, right: ExprLike, message: str, values: Sequence[ExprLike] = ()) -> None:
        """`ValueError` (or a compile-time error) unless two sizes agree; free where they are the same expression."""
        broadcasting.same_size(self, as_expr(left), as_expr(right), message, values)

    def static(self, value: Value, what: str = "this value") -> Any:
        """The Python object of a value (tuples and lists of known ones included); an error where it has none."""
        return numpy_arguments.static(value, what)

    def integer(self, value: Value, what: str = "this value") -> Expr:
        """The symbolic form of any integer; one known at run time only becomes a symbol."""
        return numpy_arguments.integer(self, value, what)

    def c_int(self, value: Value, what: str = "this value") -> Expr:
        """The same of an integer for which NumPy has 32 bits; `OverflowError` for others."""
        return numpy_arguments.c_int(self, value, what)

    def shape_argument(self, value: Value) -> tuple[Expr, ...]:
        """A shape: an integer or a tuple of them, each at least 0 (checked where it is not known)."""
        return numpy_arguments.shape(self, value)

    def dtype_argument(self, value: Value) -> DType | None:
        """A ``dtype=`` argument; None stands for None."""
        return numpy_arguments.dtype(value)

    def axis(self, value: Value, rank: int, what: str = "axis") -> int:
        """One axis, counted from the front."""
        return numpy_arguments.axis(value, rank, what)

    def axes(self, value: Value, rank: int) -> tuple[int, ...]:
        """``axis=`` of a reduction: None is all of them; sorted."""
        return numpy_arguments.axes(value, rank)

    # -- computing ---------------------------------------------------------------------------------------------------

    def array(self, value: Value) -> ArrayValue:
        """Return the value as ``np.asarray`` does: numbers as 0-d arrays, nested tuples and lists as arrays."""
        return numpy_arguments.array(self, value)

    def generate(
        self, shape: Sequence[ExprLike], dtype: DType, fn: Callable[..., ScalarExpr], *, order: Order = "C",
        name: str = "tmp",
    ) -> ArrayValue:  # fmt: skip
        """A new array with element ``[i, j]`` = ``fn(i, j)``; `fn` gets int64 expressions and returns `dtype`."""
        out = self.empty(shape, dtype, order=order, name=name)
        params, domain = elementwise.domain(self, out.shape)
        elementwise.fill(self, out, params, domain, fn(*(Index(sym(p)) for p in params)))
        return out

    def ufunc(self, function: np.ufunc, *operands: Value, dtype: DType | None = None) -> Value:
        """A call of a ufunc: promoted by NumPy's own rules, broadcast, one map."""
        return elementwise.ufunc(self, function, operands, dtype)

    def elementwise(
        self, fn: Callable[..., ScalarExpr], *operands: Value, dtypes: Sequence[DType] = (), name: str = "tmp"
    ) -> Value:
        """``fn`` on the elements of broadcast operands, each cast to its entry of `dtypes` first (if given)."""
        return elementwise.elementwise(self, fn, operands, dtypes, name=name)

    def cast(self, value: Value, dtype: DType) -> Value:
        """``astype``: the same value where the dtype is right already (and strong)."""
        return elementwise.cast_value(self, value, dtype)

    def operator(self, symbol: str, left: Value, right: Value) -> Value:
        """``left + right`` and the like, with Python's meaning for numbers of Python's own."""
        if self.operate is None:
            raise RuntimeError("no evaluator is attached to this builder")
        return self.operate(symbol, left, right)

    def call(self, function: Value, *args: Value, **keywords: Value) -> Value:
        """Call a function value (a user's function, a lambda, or anything that is implemented)."""
        if self.caller is None:
            raise RuntimeError("no evaluator is attached to this builder")
        return self.caller(function, args, keywords)

    # -- views -------------------------------------------------------------------------------------------------------

    def subscript(self, value: Value, keys: Sequence[Value]) -> Value:
        """``value[keys]``: a view, an element, or what integer arrays gather."""
        return subscripts.subscript(self, value, keys)

    def transpose(self, value: ArrayValue, order: Sequence[int]) -> ArrayValue:
        """A view with dimensions permuted."""
        return value.transposed(order)

    def expand(self, value: ArrayValue, axis: int) -> ArrayValue:
        """A view with a new dimension of size 1."""
        return value.expanded(axis)

    def broadcast_to(self, value: ArrayValue, shape: Sequence[Expr]) -> ArrayValue:
        """A read-only view of a larger shape."""
        return broadcasting.broadcast_to(self, value, tuple(shape))

    def reshape(self, value: ArrayValue, shape: Sequence[Expr]) -> ArrayValue:
        """The same elements in another shape: a view of contiguous data, else a copy, as in NumPy."""
        return basic_indexing.reshape(self, value, tuple(shape))

    # -- writes ------------------------------------------------------------------------------------------------------

    def require_addressable(self, shape: Sequence[Expr], dtype: DType) -> None:
        array_sizes.require_addressable(self, shape, dtype)

    def refuse_constants(self, shape: Sequence[Expr], dtype: DType) -> None:
        array_sizes.refuse_constants(shape, dtype)

    def reduce(
        self, op: str, x: ArrayValue, axes: Sequence[int], *, dtype: DType | None = None, keepdims: bool = False
    ) -> Value:
        order = memory_order.order_of_reduction(self, x, axes)
        return self.reduction("reduce", x, axes, dtype or x.dtype, keepdims, order, op=op)

    def store(self, target: ArrayValue, value: Value) -> None:
        """``target[...] = value``, broadcast and cast; right also where both overlap."""
        stores.store(self, target, value)


NONE = Static(None)


def items_of(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple or list of known length."""
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, Static) and isinstance(value.value, tuple | list):
        return tuple(map(Static, value.value))
    return None


def converted(expr: ScalarExpr, dtype: DType) -> ScalarExpr:
    """`expr` as `dtype`; numbers are converted now."""
    return cast(expr, dtype)
