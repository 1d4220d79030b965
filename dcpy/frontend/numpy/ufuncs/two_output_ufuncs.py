"""Ufuncs of two outputs: quotients and remainders, and the parts of floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dcpy.frontend.abstract_values.values import TupleValue, Value, is_number
from dcpy.frontend.implements import Implementation, implements
from dcpy.frontend.lower.arithmetic.composite_ufuncs import exponent_of, mantissa_of
from dcpy.frontend.lower.arithmetic.promotion import ufunc_dtypes
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.parameter_defaults import NONE, ORDER_K, SAME_KIND, TRUE, TWO_NONES
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.frontend.numpy.ufuncs.ufunc_table import in_order, require_casts
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op

ElementFn = Callable[..., ScalarExpr]


def _both(
    b: OpBuilder, function: np.ufunc, operands: tuple[Value, ...], out: Value, where: Value, casting: Value,
    order: Value,
    dtype: Value,
) -> Value:  # fmt: skip
    rule = str(b.static(casting, "casting"))
    operands = tuple(b.hold(value) if is_number(value) else b.array(value) for value in operands)
    wanted = b.dtype_argument(dtype)
    require_casts(b, function, operands, wanted, rule)
    targets = items_of(out)
    if targets is None or len(targets) != 2:
        raise b.error(f"the 'out' of np.{function.__name__} is a tuple of two arrays")
    dtypes = ufunc_dtypes(function, operands, wanted)
    results = [b.elementwise(part, *operands, dtypes=dtypes[: len(operands)]) for part in _PARTS[function]]
    found = []
    for target, result in zip(targets, results, strict=True):
        stored = into(b, target, result, function.__name__, where, broadcast=True, casting=rule)
        found.append(in_order(b, stored, operands, order, target))
    return TupleValue(tuple(found))


def _fraction(x: ScalarExpr) -> ScalarExpr:
    """Return the fraction after the decimal point, with the sign of `x`."""
    rest = op("sub", x, op("trunc", x))
    return op("copysign", op("select", op("isinf", x), Const(0.0, x.dtype), rest), x)


_PARTS: dict[np.ufunc, Sequence[ElementFn]] = {
    np.divmod: (lambda x, y: op("floordiv", x, y), lambda x, y: op("mod", x, y)),
    np.modf: (_fraction, lambda x: op("trunc", x)),
    np.frexp: (lambda x: mantissa_of(x, x.dtype), lambda x: cast(exponent_of(x), types.int32)),
}


def _unary(function: np.ufunc) -> Implementation:
    def call(
        b: OpBuilder, x: Value, /, out: Value = TWO_NONES, *, where: Value = TRUE, casting: Value = SAME_KIND,
        order: Value = ORDER_K, dtype: Value = NONE,
    ) -> Value:  # fmt: skip
        return _both(b, function, (x,), out, where, casting, order, dtype)

    return call


def _binary(function: np.ufunc) -> Implementation:
    def call(
        b: OpBuilder, x1: Value, x2: Value, /, out: Value = TWO_NONES, *, where: Value = TRUE,
        casting: Value = SAME_KIND, order: Value = ORDER_K, dtype: Value = NONE,
    ) -> Value:  # fmt: skip
        return _both(b, function, (x1, x2), out, where, casting, order, dtype)

    return call


implements(np.divmod)(_binary(np.divmod))
implements(np.modf)(_unary(np.modf))
implements(np.frexp)(_unary(np.frexp))
