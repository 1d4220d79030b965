"""Powers of Python's integers whose exponent is written with a minus: ``10 ** -k`` is a float where k is positive."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, Value, as_integer, dtype_of, is_number, is_weak
from dcpy.frontend.lower.arithmetic import conditional_expressions
from dcpy.frontend.lower.arithmetic.comparisons import compare
from dcpy.frontend.lower.arithmetic.operators import binary, truth
from dcpy.frontend.lower.control import expression_splitting
from dcpy.frontend.lower.lowering_signals import PathsMatter
from dcpy.ir import types

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

INTEGERS = (types.int64, types.bool_)


def negated_power(frame: Frame, node: ast.BinOp, base: Value, exponent: Value) -> Value | None:
    """The power, a float or an integer as the sign of the exponent says at run time; None where no sign is asked for.

    The statement gets a branch for each sign. NumPy's integers raise `ValueError` instead, as they do there.
    """
    if not all(is_number(one) and is_weak(one) and dtype_of(one) in INTEGERS for one in (base, exponent)):
        return None
    known, b = as_integer(exponent), frame.b
    if known is not None and (b.emit.ranges.proves_lt(known, 0) or b.emit.ranges.proves_nonneg(known)):
        return None
    key = expression_splitting.key_of(frame, node)
    if key not in b.split_joins:
        raise PathsMatter(key, FrontendError("a power is a float or an int, as the sign of its exponent says"))
    if known is not None and b.emit.ranges.proves_le(known, 0):  # an integer is 1 then
        test = truth(b, compare(b, "<", exponent, Static(0)))
        assert not isinstance(test, bool)
        power = binary(b, "**", b.call(Static(float), base), exponent)
        return conditional_expressions.select(frame, test, power, Static(1))
    raise FrontendError(
        "a power is a float or an int, as the sign of its exponent says",
        notes=("Python gives a float for negative exponents, and a comprehension has one type for all of its items",),
        help="write the base as a float: `float(base) ** -exponent`",
    )
