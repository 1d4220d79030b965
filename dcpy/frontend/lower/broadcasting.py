"""Broadcasting with symbolic sizes: equal expressions fit, a constant 1 stretches, the rest is checked at run time.

A symbol never stands for a size of 1 that should stretch: specialization makes a size of 1 the constant 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.values import ArrayValue
from dcpy.ir.expr import Index, op
from dcpy.ir.symbolic import ONE, Expr, ExprLike, as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder

Shape = tuple[Expr, ...]


def broadcast_shapes(b: Builder, shapes: Sequence[Shape]) -> Shape:
    """The common shape of operands; `ValueError` at run time, in NumPy's words, where sizes turn out to differ."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Expr] = [ONE] * rank
    for axis in range(rank):
        for shape in shapes:
            position = axis - rank + len(shape)
            if position < 0 or shape[position] is ONE:
                continue
            size = shape[position]
            if result[axis] is ONE:
                result[axis] = size
            elif result[axis] is not size:
                message, values = _mismatch(shapes, result[axis], size)
                same_size(b, result[axis], size, message, values)
                if size.constant is not None:
                    result[axis] = size
    return tuple(result)


def broadcast_to(b: Builder, value: ArrayValue, shape: Shape) -> ArrayValue:
    """The view of `value` in a larger shape; an error where it does not fit."""
    if value.shape == shape:
        return value
    extra = value.rank - len(shape)
    message, values = _into(value.shape, shape)
    if any(size is not ONE for size in value.shape[: max(extra, 0)]):
        raise WillRaise("ValueError", message, [as_expr(value) for value in values])
    for _ in range(extra):  # leading dimensions of size 1 are dropped, as NumPy's assignments do
        value = _drop_leading(value)
    for size, wanted in zip(value.shape, shape[len(shape) - value.rank :], strict=True):
        if size is not ONE:
            same_size(b, size, wanted, message, values)
    return value.broadcast(shape)


def same_size(b: Builder, left: Expr, right: Expr, message: str, values: Sequence[ExprLike] = ()) -> None:
    """Requires two sizes to agree; `message` has ``{0}`` … ``{3}`` for `values`."""
    if left is right:
        return
    left, right = b.exact(left), b.exact(right)
    if left is right:
        return
    if b.emit.ranges.proves_ne(left, right):
        raise WillRaise("ValueError", message, [as_expr(value) for value in values])
    shown = [Index(b.exact(as_expr(value))) for value in values]
    b.check(op("eq", Index(left), Index(right)), "ValueError", message, shown)


def _drop_leading(value: ArrayValue) -> ArrayValue:
    window = list(value.window.dims)
    axis = value.axes[0]
    if axis >= 0:
        dim = window[axis]
        window[axis] = dim if isinstance(dim, Expr) else dim.start
    subset = type(value.window)(tuple(window))
    return ArrayValue(value.container, value.dtype, value.shape[1:], subset, value.axes[1:])


def _mismatch(shapes: Sequence[Shape], left: Expr, right: Expr) -> tuple[str, list[Expr]]:
    sizes = [size for shape in shapes for size in shape]
    if len(sizes) > 4:
        return "operands could not be broadcast together: {0} and {1} elements along one axis", [left, right]
    numbers = iter(range(4))
    shown = " ".join(_shape_text(shape, numbers) for shape in shapes)
    return f"operands could not be broadcast together with shapes {shown} ", sizes


def _into(source: Shape, target: Shape) -> tuple[str, list[Expr]]:
    if len(source) + len(target) > 4:
        return "could not broadcast input array from shape ({0},...) into shape ({1},...)", [source[0], target[0]]
    numbers = iter(range(4))
    shown = f"from shape {_shape_text(source, numbers)} into shape {_shape_text(target, numbers)}"
    return f"could not broadcast input array {shown}", [*source, *target]


def _shape_text(shape: Shape, numbers: object) -> str:
    slots = [f"{{{next(numbers)}}}" for _ in shape]  # type: ignore[call-overload]
    return f"({slots[0]},)" if len(slots) == 1 else f"({','.join(slots)})"
