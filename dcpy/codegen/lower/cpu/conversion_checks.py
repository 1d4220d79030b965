"""Conversion checks: the two checks of a float that becomes an integer stand behind one question.

if (isnan(x)) return stop(1);                           if (!(fabs(x) < 2**63)) {
if (!(x >= -2**63 && x < 2**63)) return stop(2);            if (isnan(x)) return stop(1);
                                              becomes       if (!(x >= -2**63 && x < 2**63)) return stop(2);
                                                        }

A number whose size is below the limit is no NaN, and inside. Each conversion has one branch less, and what is told
about a failure stays out of the way.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.codegen.lir.expr import Cast, LirExpr, Literal, Operation, Prefix
from dcpy.codegen.lir.tree import Body, CheckFail, If, Statement
from dcpy.codegen.lir.types import TRUTH
from dcpy.codegen.lower.context import Context
from dcpy.ir import types


def with_joined_conversion_checks(context: Context, body: Iterable[Statement]) -> Body:
    """The body with such pairs of checks joined. Kernels and hardware, which have no branches to save, keep them."""
    if not context.on_host:
        return tuple(body)
    found: list[Statement] = []
    for statement in body:
        fits = _fits(found[-1], statement) if found else None
        if fits is None:
            found.append(statement)
        else:
            found.append(If(((Prefix("!", fits, TRUTH), (found.pop(), statement)),)))
    return tuple(found)


def _fits(first: Statement, second: Statement) -> LirExpr | None:
    """A condition under which neither of two checks fails; None where they are no such pair."""
    match first, second:
        case (
            CheckFail(condition=Prefix("!", Operation(name="not", args=(Operation(name="isnan", args=(number,)),)))),
            CheckFail(
                condition=Prefix(
                    "!",
                    Operation(
                        name="and",
                        args=(
                            Operation(name="ge", args=(wide, Literal(value=float(least)))),
                            Operation(name="lt", args=(same, Literal(value=float(beyond)))),
                        ),
                    ),
                )
            ),
        ) if wide == same and not first.warning and not second.warning:
            limit = min(-least, beyond)
            if limit > 0 and number == (wide.arg if isinstance(wide, Cast) else wide):
                size = Operation("abs", (wide,), types.float64, types.float64)
                return Operation("lt", (size, Literal(limit, types.float64)), types.float64, types.bool_)
    return None
