"""Writes into arrays: ``a[...] = value``, ``a += b``, copies; always as if the right side was read before.

Nodes `Copy` move equal shapes and dtypes, and are defined for overlapping operands; maps do the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value, is_number, scalar_expr, shape_of
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_to, may_be_one
from dcpy.frontend.lower.arithmetic.promotion import can_cast, ufunc_dtypes
from dcpy.frontend.lower.arithmetic.range_checks import require_fit, stored
from dcpy.frontend.lower.lowering_signals import PathsMatter, WillRaise
from dcpy.ir.expressions.scalar import ScalarExpr, cast
from dcpy.ir.nodes import Copy
from dcpy.ir.symbolic import ONE, sym
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter


def store(b: TypedEmitter, target: ArrayValue, value: Value) -> None:
    """``target[...] = value``, broadcast and cast as NumPy assigns."""
    require_writable(b, target)
    if target.container in b.combined_writes:
        accumulate(b, target, value, b.combined_writes[target.container])
        return
    write(b, target, value)


def write(b: TypedEmitter, target: ArrayValue, value: Value) -> None:
    """`store` into a container of the frontend's own."""
    if not isinstance(value, ArrayValue) and not is_number(value):
        value = b.array(value)
    if not isinstance(value, ArrayValue) or not value.shape:
        _store_number(b, target, value)
        return
    value = broadcast_to(b, value, target.shape)
    if value.dtype == target.dtype and target.is_plain and value.is_plain:
        b.emit.node(Copy(b.operand(value), b.operand(target)))
        return
    if b.may_overlap(target, value) and not same_place(target, value):
        write(b, target, b.copy(value))
        return
    params, ranges = elementwise.domain(b, target.shape)
    source = elementwise.element(value, [sym(name) for name in params])
    elementwise.fill(b, target, params, ranges, cast(source, target.dtype))


def _store_number(b: TypedEmitter, target: ArrayValue, value: Value) -> None:
    if isinstance(value, ArrayValue):
        value = Scalar(value.load(()))
    number = scalar_expr(stored(b, value, target.dtype))
    _refuse_complex(number, target)
    expr = elementwise.convert(number, target.dtype)
    if target.shape:
        held = b.hold(Scalar(expr))
        expr = scalar_expr(held)
    params, ranges = elementwise.domain(b, target.shape)
    elementwise.fill(b, target, params, ranges, expr)


def _refuse_complex(number: ScalarExpr, target: ArrayValue) -> None:
    if number.dtype.kind == "c" and target.dtype.kind != "c":
        raise FrontendError(
            f"a complex number does not fit into an array of {target.dtype.numpy_name}",
            notes=("NumPy raises TypeError here",),
            help="store its .real",
        )


def update(b: TypedEmitter, function: np.ufunc, target: ArrayValue, value: Value) -> None:
    """``target += value`` in place: the container and dtype stay, NumPy's casting rule is checked."""
    require_writable(b, target)
    if not isinstance(value, ArrayValue) and not is_number(value):
        value = b.array(value)
    ins = require_updatable(b, function, target, value)
    conflict = isinstance(value, ArrayValue) and b.may_overlap(target, value) and not same_place(target, value)
    is_root = function is np.power and elementwise.is_root(target, value)  # `b.ufunc` takes it
    if conflict or is_root or function not in elementwise.UFUNCS:
        store(b, target, b.ufunc(function, target, value))
        return
    value = require_fit(b, value, ins[1])
    if function is np.power and target.dtype.is_integer:
        elementwise.require_nonnegative_power(b, target, value)
    _update_map(b, function, target, value, ins)


def require_updatable(b: TypedEmitter, function: np.ufunc, target: ArrayValue, value: Value) -> list[DType]:
    """Refuse ``target += value`` where the dtype or the shape would change; the dtypes that it is computed in."""
    *ins, out = ufunc_dtypes(function, (target, value))
    if not can_cast(out, target.dtype):
        raise FrontendError(
            f"Cannot cast ufunc '{function.__name__}' output from {out.numpy!r} to {target.dtype.numpy!r} "
            "with casting rule 'same_kind'",
            notes=("NumPy raises UFuncTypeError here",),
            help=f"write `x = x {_symbol(function)} ...` to make a new array of {out.numpy_name}",
        )
    shape = shape_of(value)
    pairs = zip(reversed(shape), reversed(target.shape), strict=False)
    if len(shape) > target.rank or any(own is ONE and not may_be_one(b, size) for size, own in pairs):
        raise FrontendError(
            f"non-broadcastable output operand with shape ({', '.join(map(str, target.shape))})",
            notes=(f"the value has the shape ({', '.join(map(str, shape))})", "NumPy raises ValueError here"),
            help=f"give the value the shape of the array, or make a new array: `x = x {_symbol(function)} ...`",
        )
    return ins


def _update_map(b: TypedEmitter, function: np.ufunc, target: ArrayValue, value: Value, ins: list[DType]) -> None:
    value = b.hold(value)
    if isinstance(value, ArrayValue):
        value = broadcast_to(b, value, target.shape)
    params, ranges = elementwise.domain(b, target.shape)
    indices = [sym(name) for name in params]
    left, right = (
        elementwise.convert(elementwise.element(operand, indices), dtype)
        for operand, dtype in zip((target, value), ins, strict=True)
    )
    elementwise.fill(b, target, params, ranges, cast(elementwise.UFUNCS[function](left, right), target.dtype))


def accumulate(b: TypedEmitter, target: ArrayValue, value: Value, resolution: str) -> None:
    """Combine `value` into `target` with conflict resolution: other iterations may do the same at the same time."""
    require_writable(b, target)
    value = stored(b, value, target.dtype)
    value = b.hold(value if isinstance(value, ArrayValue) or is_number(value) else b.array(value))
    if isinstance(value, ArrayValue):
        value = broadcast_to(b, value, target.shape)
    params, ranges = elementwise.domain(b, target.shape)
    amount = elementwise.element(value, [sym(name) for name in params])
    elementwise.fill(b, target, params, ranges, elementwise.convert(amount, target.dtype), resolution)


def same_place(left: ArrayValue, right: ArrayValue) -> bool:
    """Return whether two values show the same elements in the same order."""
    return (left.container, left.window, left.axes, left.shape) == (
        right.container, right.window, right.axes, right.shape)  # fmt: skip


def is_writable(b: TypedEmitter, target: ArrayValue, *, single: bool = False) -> bool:
    """Return whether stores to an array are taken, or only those to a `single` element."""
    try:
        require_writable(b, target, single=single)
    except (FrontendError, PathsMatter, WillRaise):
        return False
    return True


def require_writable(b: TypedEmitter, target: ArrayValue, *, single: bool = False) -> None:
    """Refuse stores to what only looks like an array, and to one of two versions or copies of an array.

    `single`: one element is stored, so that it does not matter whether others are the same one.
    """
    if target.read_only:
        raise WillRaise("ValueError", "assignment destination is read-only", help="copy it first: `.copy()`")
    if not single and any(axis < 0 and size is not ONE for axis, size in zip(target.axes, target.shape, strict=True)):
        raise FrontendError(
            "assignment destination is read-only", notes=("it is a broadcast view",), help="copy it first"
        )
    root = b.root(target.container)
    reached = (root, *b.overlapped(root))
    for container in (target.container, root):
        if container in b.read_only:
            raise FrontendError("assignment destination is read-only", notes=(b.read_only[container],))
    for container in (target.container, *reached):
        if container in b.invalidated_aliases:
            found = b.invalidated_aliases[container]
            error = FrontendError(
                "this array may or may not be the one that another name shows",
                notes=(found.reason,),
                help="copy the array before the branch or loop (`x = x.copy()`), or write into it with `x[:] = ...`",
            )
            raise b.by_path(found.merge, error)
    b.clock += 1
    for container in reached:
        for copy in b.live_copies(container):
            raise has_copy(b, *copy)
        b.stored[container] = b.clock


def has_copy(b: TypedEmitter, copy: str, merge: object) -> Exception:
    """Return the exception for a write to one Python array of which lowering has made two."""
    if copy in b.invalidated_aliases:
        return FrontendError(
            "this array has a copy, used later, which would not see what is written",
            notes=(b.invalidated_aliases[copy].reason,),
            help="write before the copy is made, or make the copy yourself (`.copy()`)",
        )
    error = FrontendError(
        "this array is in a list, which has a copy of it, and would not see what is written",
        notes=("a list whose length or positions are known at run time only is an array inside",),
        help="put a copy of the array into the list (`x.append(a.copy())`), or take one out (`a = x[k].copy()`)",
    )
    return b.by_path(merge, error)


def _symbol(function: np.ufunc) -> str:
    symbols: dict[object, str] = {
        np.add: "+",
        np.subtract: "-",
        np.multiply: "*",
        np.true_divide: "/",
        np.floor_divide: "//",
    }
    return symbols.get(function, "op")
