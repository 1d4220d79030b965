"""Conflict resolutions: ``lambda a, b: a + b`` as the operation of the IR that it is.

Recognized by its form, so that writes can be combined in any order, and at the same time. Every other function is
called where no other write happens at the same time, with what is there and what is written.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import FunctionValue, Static, Value, kind_of
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.introspection.closure import Closure
from dcpy.frontend.introspection.function_source import read_source

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

#: What a recognized resolution is called in the IR; "" replaces what is there, None is a function that must be called.
Resolution = str | None

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Mult: "mul", ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor",
}  # fmt: skip
_LOGICAL: dict[type[ast.boolop], str] = {ast.And: "and", ast.Or: "or"}
_FUNCTIONS: Mapping[Any, str] = {
    min: "min", max: "max", np.minimum: "min", np.maximum: "max", np.add: "add", np.multiply: "mul",
    operator.add: "add", operator.mul: "mul", operator.and_: "bitand", operator.or_: "bitor",
    operator.xor: "bitxor", np.logical_and: "and", np.logical_or: "or", np.logical_xor: "xor",
    np.bitwise_and: "bitand", np.bitwise_or: "bitor", np.bitwise_xor: "bitxor", np.fmin: "min", np.fmax: "max",
}  # fmt: skip
_CHOICES = {ast.Lt: "min", ast.LtE: "min", ast.Gt: "max", ast.GtE: "max"}

#: The ufunc that combines two values as a resolution does.
UFUNCS: Mapping[str, np.ufunc] = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.logical_and,
    "or": np.logical_or, "xor": np.logical_xor, "bitand": np.bitwise_and, "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
}  # fmt: skip


def operation_of(b: OpBuilder, function: Value) -> str:
    """The operation of a reduction; `FrontendError` for a function that is none."""
    found = resolution_of(function)
    if found:
        return found
    raise b.error(
        "this function is no reduction that dcpy knows",
        notes=("known are a + b, a * b, min(a, b), max(a, b), & | ^, and, or, a != b",),
        help="write a loop over the elements",
    )


def resolution_of(function: Value) -> Resolution:
    """The operation of the IR that a function of two values is; None where it is none of them."""
    match function:
        case FunctionValue(scope=scope, definition=core.Define(args=args, body=(core.Return(ast.expr() as value),))):
            return _of_expression(scope.closure, parameter_names(args), value)
        case FunctionValue():
            return None
        case Static(value=found) if callable(found):
            found = getattr(found, "function", found)  # a program stands for its function
            if found in _FUNCTIONS:
                return _FUNCTIONS[found]
            match read_source(found).node if hasattr(found, "__code__") else None:
                case ast.Lambda(args=args, body=shown) | ast.FunctionDef(
                    args=args, body=[ast.Return(value=ast.expr() as shown)]
                ):
                    return _of_expression(Closure(found, {}), parameter_names(args), shown)
            return None
    raise FrontendError(
        f"a conflict resolution is a function, not {kind_of(function)}",
        help="write `out >> A(1, lambda a, b: a + b)[i]`",
    )


def _of_expression(closure: Closure, names: tuple[str, ...], value: ast.expr) -> Resolution:
    if len(names) != 2:
        raise FrontendError(
            f"a conflict resolution takes two values, not {len(names)}",
            help="the first is what is there, the second what is written: `lambda old, new: old + new`",
        )
    match value:
        case ast.Name(id=name) if name == names[1]:
            return ""
        case ast.BinOp(left=left, op=op, right=right) if _are(names, left, right):
            return _SYMBOLS.get(type(op))
        case ast.BoolOp(op=op, values=[left, right]) if _are(names, left, right):
            return _LOGICAL[type(op)]
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]) if _are(names, left, right):
            return "xor"
        case ast.Call(func=function, args=[left, right], keywords=[]) if _are(names, left, right):
            return _of_call(closure, function)
        case ast.IfExp(test=ast.Compare(left=low, ops=[op], comparators=[high]), body=yes, orelse=no):
            if _are(names, low, high) and _are(names, yes, no) and type(op) in _CHOICES:
                first = _CHOICES[type(op)]
                return first if ast.dump(low) == ast.dump(yes) else {"min": "max", "max": "min"}[first]
    return None


def _of_call(closure: Closure, function: ast.expr) -> Resolution:
    match function:
        case ast.Name(id=name):
            known, found = closure.lookup(name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            known, module = closure.lookup(owner)
            known, found = closure.attribute(module, name) if known else (False, None)
        case _:
            return None
    try:
        return _FUNCTIONS.get(found) if known else None
    except TypeError:  # not hashable
        return None


def _are(names: tuple[str, ...], left: ast.expr, right: ast.expr) -> bool:
    """Return whether two trees are the two parameters, in either order."""
    found = tuple(tree.id for tree in (left, right) if isinstance(tree, ast.Name))
    return found in (names, names[::-1])
