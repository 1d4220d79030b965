"""Choices per element: ``where``, ``clip``, ``select``; tests whether arrays agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Scalar, Static, Value, dtype_of, is_number, scalar_expr
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.promotion import promoted
from dcpy.frontend.lower.arithmetic.range_checks import require_fit
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.statistics.reductions import AND, reduced
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.types import DType

ABSOLUTE = Static(1e-8)
RELATIVE = Static(1e-5)


@implements(np.where)
def where(b: OpBuilder, condition: Value, x: Value = NONE, y: Value = NONE, /) -> Value:
    """`x` where the condition holds, else `y`; with neither, the positions where it holds."""
    if x == y == NONE:
        return b.call(Static(np.nonzero), condition)
    if NONE in (x, y):
        raise b.error("either both or neither of x and y should be given", notes=("NumPy raises ValueError here",))
    yes, no = (value if is_number(value) else b.array(value) for value in (x, y))
    return _chosen(b, condition, yes, no, promoted((yes, no))[0])


def _chosen(b: OpBuilder, condition: Value, yes: Value, no: Value, dtype: DType) -> Value:
    """An array even where all are numbers, as in NumPy; numbers that do not fit wrap around."""
    test = condition if is_number(condition) else b.array(condition)
    dtypes = [types.bool_, dtype, dtype]
    return b.array(b.elementwise(lambda c, left, right: op("select", c, left, right), test, yes, no, dtypes=dtypes))


@implements(np.select)
def select(b: OpBuilder, condlist: Value, choicelist: Value, default: Value = NUMBER_0) -> Value:
    """The first choice whose condition holds, for each element."""
    tests, choices = items_of(condlist), items_of(choicelist)
    if tests is None or choices is None:
        raise b.error("np.select takes lists of known length")
    if len(tests) != len(choices):
        raise b.error(
            "list of cases must be same length as list of conditions", notes=("NumPy raises ValueError here",)
        )
    choices = tuple(value if is_number(value) else b.array(value) for value in choices)
    dtype = promoted((*choices, default))[0]
    found = default
    for test, choice in zip(reversed(tests), reversed(choices), strict=True):
        found = _chosen(b, test, choice, found, dtype)
    return found


@implements(np.clip)
def clip(
    b: OpBuilder,
    a: Value,
    a_min: Value = NONE,
    a_max: Value = NONE,
    out: Value = NONE,
    *,
    min: Value = NONE,
    max: Value = NONE,
) -> Value:
    """Elementwise ``min(max(a, a_min), a_max)``, promoted as NumPy does."""
    x = a if is_number(a) else b.array(a)
    low = _bound(x, min if a_min == NONE else a_min, lower=True)
    high = _bound(x, max if a_max == NONE else a_max, lower=False)
    bounds = [value if is_number(value) else b.array(value) for value in (low, high) if value != NONE]
    dtype = promoted((x, *bounds))[0]
    bounds = [require_fit(b, value, dtype) for value in bounds]

    # of zeros with two signs NumPy keeps x itself where both bounds are numbers, else the bound
    keeps = len(bounds) == 2 and all(map(is_number, bounds)) and dtype != types.float16

    def limit(value: ScalarExpr, *limits: ScalarExpr) -> ScalarExpr:
        rest = iter(limits)
        if low != NONE:
            value = op("max", *_in_turn(value, next(rest), keeps))
        return value if high == NONE else op("min", *_in_turn(value, next(rest), keeps))

    found = b.elementwise(limit, x, *bounds, dtypes=[dtype] * (1 + len(bounds)))
    return into(b, out, found, "clip", broadcast=True)


def _in_turn(value: ScalarExpr, bound: ScalarExpr, keeps: bool) -> tuple[ScalarExpr, ScalarExpr]:
    return (bound, value) if keeps else (value, bound)


def _bound(x: Value, bound: Value, *, lower: bool) -> Value:
    """NumPy drops a Python int that no element of an integer array can exceed."""
    if not (isinstance(bound, Static) and type(bound.value) is int and dtype_of(x).is_integer):
        return bound
    limits = np.iinfo(dtype_of(x).numpy)
    useless = bound.value <= limits.min if lower else bound.value >= limits.max
    return NONE if useless else bound


# -- agreement -------------------------------------------------------------------------------------------------------


@implements(np.isclose)
def isclose(
    builder: OpBuilder, a: Value, b: Value, rtol: Value = RELATIVE, atol: Value = ABSOLUTE, equal_nan: Value = FALSE
) -> Value:
    """Return whether elements differ by at most ``atol + rtol * abs(b)``."""
    x, y = (value if is_number(value) else builder.array(value) for value in (a, b))
    dtype = promoted((x, y))[0]
    dtype = dtype if dtype.is_inexact else types.float64
    wide = types.float32 if dtype.real == types.float32 else types.float64
    relative, absolute = (elementwise.convert(scalar_expr(builder.hold(value)), wide) for value in (rtol, atol))
    magnitude = "cabs" if dtype.kind == "c" else "abs"
    same_nan = bool(builder.static(equal_nan, "equal_nan"))

    def close(left: ScalarExpr, right: ScalarExpr) -> ScalarExpr:
        distance = cast(op(magnitude, op("sub", left, right)), wide)
        limit = op("add", absolute, op("mul", relative, cast(op(magnitude, right), wide)))
        near = op("and", op("le", distance, limit), op("isfinite", right))
        found = op("or", near, op("eq", left, right))
        return op("or", found, op("and", op("isnan", left), op("isnan", right))) if same_nan else found

    return builder.elementwise(close, builder.hold(x), builder.hold(y), dtypes=[dtype, dtype])


@implements(np.allclose)
def allclose(
    builder: OpBuilder, a: Value, b: Value, rtol: Value = RELATIVE, atol: Value = ABSOLUTE, equal_nan: Value = FALSE
) -> Value:
    """Return whether all elements are close: a Python bool."""
    return _python_bool(reduced(builder, AND, isclose(builder, a, b, rtol, atol, equal_nan)))


@written_in_python(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> bool:
    """Return whether both have one shape and equal elements: a Python bool."""
    left, right = np.asarray(a1), np.asarray(a2)
    if left.shape != right.shape:
        return False
    if equal_nan:
        return bool(np.all((left == right) | (np.isnan(left) & np.isnan(right))))
    return bool(np.all(left == right))


def _python_bool(found: Value) -> Value:
    if isinstance(found, Scalar):
        return Scalar(found.expr, weak=True)
    return Static(bool(found.value)) if isinstance(found, Static) else Scalar(Const(True, types.bool_), weak=True)
