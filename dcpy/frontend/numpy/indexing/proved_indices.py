"""Proved indices: what code of the library has shown to lie inside of an array, and what is not checked there."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import Value, integer, scalar_expr
from dcpy.frontend.implements import operation
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir import types
from dcpy.ir.expressions.scalar import cast


@operation
def proved_index(b: OpBuilder, index: Value, length: Value) -> Value:
    """`index`, which is from 0 to below `length` for certain: ``counts[proved_index(x[k], len(counts))]``.

    Only for code of the library that has shown it: nothing looks at it again.
    """
    size = b.integer(length, "length")
    return integer(b.emit.assign_symbol("k", cast(scalar_expr(index), types.int64), 0, size - 1))
