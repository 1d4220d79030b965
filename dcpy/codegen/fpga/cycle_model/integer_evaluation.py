"""Integer evaluation: values of integer expressions of LIR, where variables are known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from dcpy.codegen.lir.expr import Cast, Conditional, Infix, LirExpr, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.types import TRUTH

Known = Mapping[str, int]  #: values of variables

_OPERATIONS: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "min": min,
    "max": max,
    "neg": operator.neg,
    "abs": abs,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "not": operator.not_,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),  # as in C
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}
_SIGNS = {"+": "add", "-": "sub", "*": "mul", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
          "&&": "and", "||": "or", "&": "and", "|": "or", "!": "not", "/": "/", "%": "%"}  # fmt: skip
_DIVISIONS = ("/", "%", "floordiv", "mod")
_BITS = ("&", "|")  # of conditions alone


def value_of(expr: LirExpr | None, known: Known) -> int | None:
    """The integer that an expression is; None where that is not known."""
    match expr:
        case Literal(value=value):
            return int(value) if isinstance(value, int) else None
        case Name(name=name):
            return known.get(name)
        case Cast(arg=arg):
            return value_of(arg, known)
        case Prefix(op="-", arg=arg):
            return _applied("neg", (arg,), known)
        case Prefix(op="!", arg=arg):
            return _applied("not", (arg,), known)
        case Infix(op=op, left=left, right=right, type=kind) if op in _SIGNS and (op not in _BITS or kind == TRUTH):
            return _applied(_SIGNS[op], (left, right), known)
        case Operation(name=name, args=args) if name in _OPERATIONS:
            return _applied(name, args, known)
        case Conditional(condition=condition, yes=yes, no=no):
            holds = value_of(condition, known)
            return None if holds is None else value_of(yes if holds else no, known)
    return None


def _applied(name: str, args: tuple[LirExpr, ...], known: Known) -> int | None:
    values = [value_of(arg, known) for arg in args]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values) or (name in _DIVISIONS and numbers[-1] == 0):
        return None
    return int(_OPERATIONS[name](*numbers))


def iterations(start: LirExpr, stop: LirExpr, step: LirExpr, known: Known) -> range | None:
    """The values of a loop's variable; None where they are not known."""
    first, last, width = (value_of(bound, known) for bound in (start, stop, step))
    return None if first is None or last is None or not width else range(first, last, width)
