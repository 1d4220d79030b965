"""Parameter checks of random distributions, with NumPy's messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, scalar_expr
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, loads_of, op, symbols_of
from dcpy.ir.interp.scalars import LeafValues, evaluate, quiet
from dcpy.ir.types import DType

#: The largest mean of a Poisson distribution that NumPy takes: its draws must fit into int64.
LARGEST_MEAN = float(np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10)


@dataclass(frozen=True)
class Requirement:
    """A condition on a parameter; ``{}`` in a message is its name. Arrays may have another message."""

    holds: Callable[[ScalarExpr], ScalarExpr]
    message: str
    of_arrays: str = ""


def number(value: float, like: ScalarExpr) -> Const:
    """A number of the dtype of another expression."""
    return Const(int(value) if like.dtype.is_integer else value, like.dtype)


def _not(condition: ScalarExpr) -> ScalarExpr:
    return op("not", condition)


def _not_negative(x: ScalarExpr) -> ScalarExpr:
    """-0.0 is negative, NaN is not."""
    return op("ge", x, number(0, x)) if x.dtype.is_integer else op("or", _not(op("signbit", x)), op("isnan", x))


def _between(x: ScalarExpr, above: str, below: str) -> ScalarExpr:
    return op("and", op(above, x, number(0, x)), op(below, x, number(1, x)))


DEMANDS: dict[str, tuple[Requirement, ...]] = {
    "": (),
    ">=0": (Requirement(_not_negative, "{} < 0"),),
    ">0": (Requirement(lambda x: _not(op("le", x, number(0, x))), "{} <= 0"),),
    ">1": (Requirement(lambda x: op("gt", x, number(1, x)), "{} <= 1 or {} is NaN", "{} <= 1 or {} contains NaNs"),),
    "0..1": (
        Requirement(
            lambda x: _between(x, "ge", "le"), "{} < 0, {} > 1 or {} is NaN", "{} < 0, {} > 1 or {} contains NaNs"
        ),
    ),
    "0<..1": (Requirement(lambda x: _between(x, "gt", "le"), "{} <= 0, {} > 1 or {} contains NaNs"),),
    "0..<1": (
        Requirement(
            lambda x: _between(x, "ge", "lt"), "{} < 0, {} >= 1 or {} is NaN", "{} < 0, {} >= 1 or {} contains NaNs"
        ),
    ),
    "mean": (
        Requirement(lambda x: op("ge", x, number(0, x)), "{} < 0 or {} is NaN", "{} < 0 or {} contains NaNs"),
        Requirement(lambda x: op("le", x, number(LARGEST_MEAN, x)), "{} value too large"),
    ),
}


def require(b: OpBuilder, name: str, value: Value, demand: str) -> None:
    """Check a parameter, or every element of one."""
    for part in DEMANDS[demand]:
        text = part.of_arrays if part.of_arrays and isinstance(value, ArrayValue) and value.rank else part.message
        require_all(b, part.holds, text.replace("{}", name), value)


def require_all(
    b: OpBuilder,
    holds: Callable[..., ScalarExpr],
    message: str,
    *values: Value,
    exception: str = "ValueError",
    dtype: DType | None = None,
) -> None:
    """Raise unless a condition holds for all elements of broadcast operands (converted to `dtype`)."""
    if any(isinstance(value, ArrayValue) and value.rank for value in values):
        fitting = b.elementwise(holds, *values, dtypes=[dtype] * len(values) if dtype else ())
        assert isinstance(fitting, ArrayValue)
        b.check(scalar_expr(b.reduce("and", fitting, range(fitting.rank))), exception, message)
        return
    held = b.elementwise(holds, *values, dtypes=[dtype] * len(values) if dtype else ())
    known = known_bool(scalar_expr(held))
    if known is None:
        b.check(scalar_expr(held), exception, message)
    elif not known:
        raise WillRaise(exception, message)


def known_bool(expr: ScalarExpr) -> bool | None:
    """The value of a condition over numbers only; None where it is known at run time."""
    if loads_of(expr) or symbols_of(expr):
        return None
    with quiet():
        return bool(evaluate(expr, LeafValues({}, {}, lambda load: None)))


def as_floats(b: OpBuilder, value: Value, dtype: DType = types.float64) -> Value:
    """A parameter as floats: a number, or an array; 0-d arrays are numbers."""
    return _converted(b, value, dtype, "c", "a real number")


def as_integers(b: OpBuilder, value: Value) -> Value:
    """A parameter as int64."""
    return _converted(b, truncated(value), types.int64, "fc", "an integer")


def truncated(value: Value) -> Value:
    """A known float, as in ``integers(1e6)``, as the integer that NumPy makes of it."""
    if isinstance(value, Static) and isinstance(value.value, float | np.floating) and np.isfinite(value.value):
        return Static(int(value.value))
    return value


def _converted(b: OpBuilder, value: Value, dtype: DType, refused: str, wanted: str) -> Value:
    if not b.numbers(value):
        value = b.array(value)
    if isinstance(value, ArrayValue) and not value.rank:
        value = b.subscript(value, ())
    kind = value.dtype.kind if isinstance(value, ArrayValue) else scalar_expr(value).dtype.kind
    if kind in refused:
        raise b.error(f"{b.describe(value)} is not {wanted}", help=f"convert it with .astype(np.{dtype.numpy_name})")
    return b.hold(b.cast(value, dtype))
