"""Broadcasting with symbolic sizes: equal expressions fit, a constant 1 stretches, the rest is decided at run time.

A symbol for a size of an argument never stands for 1: specialization makes a size of 1 the constant 1. The size of a
slice may turn out to be 1 (``a[1:]`` of two elements), and then stretches like NumPy's; so may its symbol in a function
that the slice is passed to (`Emitter.maybe_one`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr, max_of, min_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

Shape = tuple[Expr, ...]
LONGEST = 120  # characters of a size that is written out where it is used
INPUT = "could not broadcast input array from shape {} into shape {}"


@dataclass(frozen=True)
class ShapeMismatch:
    """Exception that NumPy raises for shapes that do not match, and the beginning of its message."""

    exception: str
    message: str


OPERANDS = ShapeMismatch("ValueError", "operands could not be broadcast together")


def broadcast_shapes(b: TypedEmitter, shapes: Sequence[Shape], unlike: ShapeMismatch = OPERANDS) -> Shape:
    """The common shape of operands; what `unlike` says is raised, in NumPy's words, where sizes turn out to differ."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Expr] = [ONE] * rank
    for axis in range(rank):
        for shape in shapes:
            position = axis - rank + len(shape)
            if position < 0 or shape[position] is ONE:
                continue
            message, values = _mismatch(shapes, result[axis], shape[position], unlike.message)
            result[axis] = _common_size(b, result[axis], shape[position], message, values, unlike.exception)
    return tuple(result)


def _common_size(
    b: TypedEmitter, left: Expr, right: Expr, message: str, values: Sequence[ExprLike], exception: str
) -> Expr:
    """The common size of two, of which one may stretch."""
    if left is ONE or left is right:
        return right
    if b.emit.fact_requests is not None and b.emit.same(left, right):
        return right if right.constant is not None else left
    stretches, other_stretches = may_be_one(b, left), may_be_one(b, right)
    if not stretches and not other_stretches:
        same_size(b, left, right, message, values, exception)
        return right if right.constant is not None else left
    left, right = b.exact(left), b.exact(right)
    if left is right:
        return left
    if b.emit.same(left, right):
        return right if right.constant is not None else left
    fits = op("eq", Index(left), Index(right))
    if stretches:
        fits = op("or", fits, op("eq", Index(left), Const(1, types.int64)))
    if other_stretches:
        fits = op("or", fits, op("eq", Index(right), Const(1, types.int64)))
    b.check(fits, exception, message, [Index(b.exact(as_expr(value))) for value in values])
    if stretches and other_stretches:
        common = max_of(left, right) * min_of(1, left, right)
        # Sizes of sizes of sizes would be written out again at each mention: a long one gets a name.
        return common if len(str(common)) <= LONGEST else b.emit.assign_symbol("n", Index(common), 0)
    return right if stretches else left


def may_be_one(b: TypedEmitter, size: Expr) -> bool:
    """Return whether a size is not known to differ from 1."""
    if size.constant is not None or (size.name in b.emit.sdfg.sizes and size.name not in b.emit.maybe_one):
        return size is ONE
    return not (b.emit.ranges.proves_ne(size, 1) or b.emit.holds(size - 2))


def index_into(b: TypedEmitter, size: Expr, wanted: Expr, index: Expr) -> Expr:
    """The index into a dimension of `size` for one of the common size `wanted`."""
    if size is ONE:
        return ZERO
    own, common = b.exact(size), b.exact(wanted)
    differs = own is not common and not b.emit.equal(own, common)
    return min_of(index, size - 1) if differs and may_be_one(b, size) else index


def broadcast_to(b: TypedEmitter, value: ArrayValue, shape: Shape, words: str = INPUT) -> ArrayValue:
    """The view of `value` in a larger shape; `ValueError` where it does not fit, in `words` for both shapes."""
    if value.shape == shape:
        return value
    extra = value.rank - len(shape)
    message, values = _into(value.shape, shape, words)
    for size in value.shape[: max(extra, 0)]:
        if not may_be_one(b, size):
            raise WillRaise("ValueError", message, [as_expr(part) for part in values])
        same_size(b, size, ONE, message, values)
    for _ in range(extra):  # leading dimensions of size 1 are dropped, as NumPy's assignments do
        value = _drop_leading(value)
    stretched = False
    for size, wanted in zip(value.shape, shape[len(shape) - value.rank :], strict=True):
        stretched |= require_stretch(b, size, wanted, message, values)
    return _stretched(b, value, shape) if stretched else value.broadcast(shape)


def require_stretch(b: TypedEmitter, size: Expr, wanted: Expr, message: str, values: Sequence[ExprLike]) -> bool:
    """`ValueError` unless a size is the one that is wanted, or 1; whether it may turn out to be 1 instead."""
    size, wanted = b.exact(size), b.exact(wanted)
    if size is ONE or size is wanted:
        return False
    if b.emit.same(size, wanted):
        return False
    if not may_be_one(b, size):
        same_size(b, size, wanted, message, values)
        return False
    fits = op("or", op("eq", Index(size), Index(wanted)), op("eq", Index(size), Const(1, types.int64)))
    b.check(fits, "ValueError", message, [Index(b.exact(as_expr(part))) for part in values])
    return True


def _stretched(b: TypedEmitter, value: ArrayValue, shape: Shape) -> ArrayValue:
    """A copy of the full shape: which dimensions repeat is known at run time only."""

    def source(*params: ScalarExpr) -> ScalarExpr:
        points = [point.value for point in params if isinstance(point, Index)]
        own = zip(value.shape, shape[-value.rank :], points[-value.rank :], strict=True)
        return value.load([index_into(b, size, wanted, point) for size, wanted, point in own])

    return b.generate(shape, value.dtype, source)


def same_size(
    b: TypedEmitter,
    left: Expr,
    right: Expr,
    message: str,
    values: Sequence[ExprLike] = (),
    exception: str = "ValueError",
) -> None:
    """Require two sizes to agree; `message` has ``{0}`` … ``{3}`` for `values`."""
    if left is right:
        return
    left, right = b.exact(left), b.exact(right)
    if left is right:
        return
    if b.emit.ranges.proves_ne(left, right):
        raise WillRaise(exception, message, [as_expr(value) for value in values])
    if b.emit.same(left, right):
        return
    shown = [Index(b.exact(as_expr(value))) for value in values]
    b.check(op("eq", Index(left), Index(right)), exception, message, shown)
    b.emit.ranges = b.emit.ranges.narrowed(right - left).narrowed(left - right)


def _drop_leading(value: ArrayValue) -> ArrayValue:
    window = list(value.window.dims)
    axis = value.axes[0]
    if axis >= 0:
        dim = window[axis]
        window[axis] = dim if isinstance(dim, Expr) else dim.start
    subset = type(value.window)(tuple(window))
    return ArrayValue(value.container, value.dtype, value.shape[1:], subset, value.axes[1:])


def _mismatch(shapes: Sequence[Shape], left: Expr, right: Expr, message: str) -> tuple[str, list[Expr]]:
    sizes = [size for shape in shapes for size in shape]
    if len(sizes) > 4:
        return f"{message}: {{0}} and {{1}} elements along one axis", [left, right]
    numbers = iter(range(4))
    shown = " ".join(_shape_text(shape, numbers) for shape in shapes)
    return f"{message} with shapes {shown} ", sizes


def _into(source: Shape, target: Shape, words: str) -> tuple[str, list[Expr]]:
    numbers = iter(range(4))
    if len(source) + len(target) <= 4:
        return words.format(_shape_text(source, numbers), _shape_text(target, numbers)), [*source, *target]
    first, others = _first_size(source, numbers), _first_size(target, numbers)
    return words.format(first, others), [*source[:1], *target[:1]]


def _first_size(shape: Shape, numbers: Iterator[int]) -> str:
    return f"({{{next(numbers)}}},...)" if shape else "()"


def _shape_text(shape: Shape, numbers: Iterator[int]) -> str:
    slots = [f"{{{next(numbers)}}}" for _ in shape]
    return f"({slots[0]},)" if len(slots) == 1 else f"({','.join(slots)})"
