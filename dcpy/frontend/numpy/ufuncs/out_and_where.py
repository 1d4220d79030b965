"""out=`` and ``where=``: results that go into an array of the program."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import ArrayValue, TupleValue, Value, dtype_of, is_number, kind_of, shape_of
from dcpy.frontend.lower.arithmetic.promotion import can_cast, promoted
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE, TRUE
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType


def into(
    b: OpBuilder,
    out: Value,
    result: Value,
    name: str,
    where: Value = TRUE,
    *,
    broadcast: bool = False,
    casting: str = "same_kind",
) -> Value:
    """`result` where `out` is None; else `out`, after `result` was stored there (elsewhere than `where`: kept).

    Without `out`, NumPy says nothing about what is elsewhere than `where`: it is 0.

    Only ufuncs `broadcast` the result into a larger array; reductions convert it whatever the dtypes are ("unsafe").
    """
    target = _target(b, out, name)
    if target is None:
        return result if where == TRUE else _elsewhere_zero(b, where, result)
    if not broadcast:
        _require_shape(b, target, shape_of(result), name)
    source = dtype_of(result)
    if not can_cast(source, target.dtype, casting):
        raise b.error(
            f"Cannot cast ufunc '{name}' output from {source.numpy!r} to {target.dtype.numpy!r} "
            f"with casting rule '{casting}'",
            notes=("NumPy raises UFuncTypeError here",),
            help=f"make an array of {source.numpy_name} for the result",
        )
    b.store(target, result if where == TRUE else masked(b, where, result, target))
    return target


def _require_shape(b: OpBuilder, target: ArrayValue, shape: tuple[Expr, ...], name: str) -> None:
    if target.rank != len(shape):
        raise b.error(
            f"output parameter for {name} has {target.rank} dimensions, but the result {len(shape)}",
            notes=("NumPy raises ValueError here",),
        )
    for size, wanted in zip(target.shape, shape, strict=True):
        b.same_size(
            size, wanted, f"output parameter for {name} has the wrong shape: {{0}} instead of {{1}}", (size, wanted)
        )


def dtype_with_out(b: OpBuilder, x: ArrayValue, dtype: Value, out: Value) -> DType | None:
    """The dtype in which a reduction with ``out=`` computes: that of ``dtype=``, or what `x` and `out` promote to."""
    target = None if dtype != NONE else _target(b, out, "out")
    return b.dtype_argument(dtype) if target is None else promoted((x, target))[0]


def mask_of(b: OpBuilder, where: Value) -> Value:
    """A ``where=`` argument, which must be boolean."""
    mask = b.array(where) if isinstance(where, TupleValue) else where
    if not (isinstance(mask, ArrayValue) or is_number(mask)) or dtype_of(mask) != types.bool_:
        raise b.error("where= must be boolean", notes=("NumPy raises TypeError here",), help="write where=mask != 0")
    return mask


def masked(b: OpBuilder, where: Value, result: Value, target: ArrayValue) -> Value:
    """`result` where a mask holds, and what `target` has elsewhere."""

    def choose(mask: ScalarExpr, new: ScalarExpr, old: ScalarExpr) -> ScalarExpr:
        return op("select", mask, cast(new, target.dtype), old)

    return b.elementwise(choose, mask_of(b, where), result, target)


def _elsewhere_zero(b: OpBuilder, where: Value, result: Value) -> Value:
    zero = cast(Const(0, types.int64), dtype_of(result))
    return b.elementwise(lambda mask, new: op("select", mask, new, zero), mask_of(b, where), result)


def _target(b: OpBuilder, out: Value, name: str) -> ArrayValue | None:
    if isinstance(out, TupleValue) and len(out.items) == 1:
        out = out.items[0]
    if out == NONE:
        return None
    if not isinstance(out, ArrayValue):
        raise b.error(f"{name}: out= must be an array, but is {kind_of(out)}", notes=("NumPy raises TypeError here",))
    return out
