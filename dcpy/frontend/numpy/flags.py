"""The ``flags`` of arrays: how elements lie in NumPy's memory. What only the caller knows is refused where read."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Missing,
    RecordValue,
    Scalar,
    Static,
    Value,
    is_number,
    scalar_expr,
)
from dcpy.frontend.implements import attribute
from dcpy.frontend.lower.arithmetic.broadcasting import may_be_one
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.arrays.stores import is_writable
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir import types
from dcpy.ir.data import View, packed_strides
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.symbolic import ONE, ZERO, Expr


@dataclasses.dataclass(frozen=True)
class Flags:
    """NumPy's flags, by their names as attributes."""

    only_read: ClassVar[str] = "the flags of an array"

    c_contiguous: Any
    f_contiguous: Any
    owndata: Any
    writeable: Any
    aligned: Any
    writebackifcopy: Any
    contiguous: Any
    fortran: Any
    fnc: Any
    forc: Any

    def __getitem__(self, name: str) -> Any:
        """Return a flag by the name that NumPy takes as a key."""
        if name == "C_CONTIGUOUS" or name == "C" or name == "CONTIGUOUS":
            return self.c_contiguous
        if name == "F_CONTIGUOUS" or name == "F" or name == "FORTRAN":
            return self.f_contiguous
        if name == "OWNDATA" or name == "O":
            return self.owndata
        if name == "WRITEABLE" or name == "W":
            return self.writeable
        if name == "ALIGNED" or name == "A":
            return self.aligned
        if name == "FNC":
            return self.fnc
        if name == "FORC":
            return self.forc
        raise KeyError("Unknown flag")


@attribute("flags")
def flags(b: OpBuilder, a: Value) -> Value:
    """Return the memory layout of the elements, and whether the array owns its memory."""
    if is_number(a):
        return _record(Static(True), Static(True), Static(True), Static(False))
    x = b.array(a)
    in_c, in_f = (_contiguous(b, x, range(x.rank)), _contiguous(b, x, range(x.rank)[::-1]))
    return _record(in_c, in_f, _own(b, x), _writeable(b, x))


def _record(in_c: Value, in_f: Value, own: Value, writeable: Value) -> RecordValue:
    names = tuple(field.name for field in dataclasses.fields(Flags))
    not_c = _both(in_f, _not(in_c))
    return RecordValue(Flags, names, (in_c, in_f, own, writeable, Static(True), Static(False), in_c, in_f, not_c,
                                      _not(_both(_not(in_c), _not(in_f)))))  # fmt: skip


def _not(value: Value) -> Value:
    if isinstance(value, Missing):
        return value
    return Static(not value.value) if isinstance(value, Static) else _bool(op("not", scalar_expr(value)))


def _both(left: Value, right: Value) -> Value:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Static):
            return other if one.value else one
    if isinstance(left, Missing) or isinstance(right, Missing):
        return left if isinstance(left, Missing) else right
    return _bool(op("and", scalar_expr(left), scalar_expr(right)))


def _bool(expr: ScalarExpr) -> Scalar:
    return Scalar(expr, weak=True)


def _contiguous(b: OpBuilder, x: ArrayValue, axes: Sequence[int]) -> Value:
    """Return whether the elements lie without gaps in this order of the axes: known, or a condition on sizes and
    strides.
    """
    steps, shape = memory_order.strides_in_numpy(b, x), [b.exact(size) for size in x.shape]
    wanted = packed_strides(shape, axes)
    if steps is None:
        return Missing("the strides of this array are known at run time only", help="copy it: a.copy()")
    doubtful = [axis for axis in axes if shape[axis] is not ONE and steps[axis] is not wanted[axis]]
    if not doubtful:
        return Static(True)
    if any(_never(b, shape, axis, steps[axis], wanted[axis]) for axis in doubtful):
        return Static(False)
    tests = [_or(_equal(shape[axis], ONE), _equal(steps[axis], wanted[axis])) for axis in doubtful]
    together = functools.reduce(lambda left, right: op("and", left, right), tests)
    return _bool(functools.reduce(_or, [_equal(size, ZERO) for size in shape], together))


def _never(b: OpBuilder, shape: Sequence[Expr], axis: int, step: Expr, wanted: Expr) -> bool:
    """Return whether a stride is never the one that is wanted, along several elements of an array that is not empty."""
    several = not may_be_one(b, shape[axis]) and all(b.emit.holds(size - 1) for size in shape)
    return several and b.emit.ranges.proves_ne(step, wanted)


def _or(left: ScalarExpr, right: ScalarExpr) -> ScalarExpr:
    return op("or", left, right)


def _equal(left: Expr, right: Expr) -> ScalarExpr:
    if left.constant is not None and right.constant is not None:
        return Const(left.constant == right.constant, types.bool_)
    return op("eq", Index(left), Index(right))


def _own(b: OpBuilder, x: ArrayValue) -> Value:
    """Return whether the array has its elements itself: known of what the program has made, and of parts of anything.
    """
    desc, root = b.desc(x), b.root(x.container)
    if not x.is_all_of(desc) or isinstance(desc, View):
        return Static(False) if root not in b.invalidated_aliases else _by_the_caller("has its elements itself")
    return (
        Static(True)
        if desc.transient and root not in b.invalidated_aliases
        else _by_the_caller("has its elements itself")
    )


def _writeable(b: OpBuilder, x: ArrayValue) -> Value:
    desc = b.desc(b.root(x.container))
    if not is_writable(b, x, single=True):
        return Static(False) if b.root(x.container) not in b.invalidated_aliases else _by_the_caller("takes writes")
    return Static(True) if desc.transient else _by_the_caller("takes writes")


def _by_the_caller(what: str) -> Missing:
    return Missing(f"whether this array {what} is known to the caller of the program only", help="pass it: a bool")

