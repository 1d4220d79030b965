"""Unsupported options of SciPy's functions: the error at the user's call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.implements import operation

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder


@operation
def not_compiled(b: OpBuilder, what: Value) -> Value:
    """The error of an option or a shape that a body does not take, at the user's call."""
    assert isinstance(what, Static)
    raise b.error(
        f"{what.value} is not compiled",
        help="compute it outside of the program, or in a function with @dcpy.callback(returns=...)",
    )
