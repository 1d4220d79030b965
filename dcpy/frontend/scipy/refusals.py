"""What a function of SciPy takes, and its body here does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.frontend.implements import operation
from dcpy.frontend.values import Static, Value

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder


@operation
def not_compiled(b: Builder, what: Value) -> Value:
    """The error of an option or a shape that a body does not take, at the user's call."""
    assert isinstance(what, Static)
    raise b.error(
        f"{what.value} is not compiled",
        help="compute it outside of the program, or in a function with @dcpy.callback(returns=...)",
    )
