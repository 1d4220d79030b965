"""Evaluates typed scalar expressions with NumPy scalars of exactly the dtype that each part has.

Integers wrap around, division by zero gives what NumPy gives, and nothing warns: run it within `quiet`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from dcpy.base.errors import InterpreterError
from dcpy.base.tracebacks import raised_by_program
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, ScalarExpr, WrapIndex
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType

Scalar = Any  # a NumPy scalar (np.generic); its dtype is known only at run time


_OUTSIDE: ContextVar[dict[str, Any]] = ContextVar("_OUTSIDE")


@contextmanager
def quiet() -> Iterator[None]:
    """The context in which expressions are evaluated: IEEE results, and silence about them."""
    token = _OUTSIDE.set(dict(np.geterr()))
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _OUTSIDE.reset(token)


def loud() -> np.errstate:
    """The context around `quiet`, in which the user's own functions run."""
    return np.errstate(**_OUTSIDE.get())


class LeafValues(NamedTuple):
    """Values of the leaves of an expression."""

    symbols: Mapping[str, int]
    connectors: Mapping[str, Scalar]
    load: Callable[[Load], Scalar]


def evaluate(expr: ScalarExpr, env: LeafValues) -> Scalar:
    """The value of an expression, of the dtype that the expression has.

    `IndexError` where a `WrapIndex` is out of range, in NumPy's words.
    """
    match expr:
        case Const(value=value, dtype=dtype):
            return number(value, dtype)
        case Ref(name=name):
            return env.connectors[name]
        case Load():
            return env.load(expr)
        case Index(value=symbolic, dtype=dtype):
            return number(symbolic.evaluate(env.symbols), dtype)
        case Op(name=name, args=args, dtype=dtype):
            return apply(name, [evaluate(arg, env) for arg in args], dtype)
        case Cast(arg=arg, dtype=dtype):
            return convert(evaluate(arg, env), dtype)
        case WrapIndex(arg=arg, size=size, axis=axis, dtype=dtype):
            return number(wrap_index(int(evaluate(arg, env)), size, axis, env.symbols), dtype)


def apply(name: str, args: list[Scalar], dtype: DType) -> Scalar:
    """A scalar operation on scalars or arrays; `InterpreterError` where NumPy's result has another dtype."""
    value = op_info(name).numpy()(*args)
    if value.dtype != dtype.numpy:
        given = ", ".join(str(arg.dtype) for arg in args)
        raise InterpreterError(f"{name!r} of {given} gives {value.dtype}, not {dtype}")
    return value[()]


def combine(name: str, old: Scalar, new: Scalar) -> Scalar:
    """Conflict resolution: the value in memory and the one written, made one of the memory's dtype."""
    return op_info(name).numpy()(old, new).astype(old.dtype)


def convert(value: Scalar, dtype: DType) -> Scalar:
    """``astype``: complex numbers lose their imaginary part on the way to real ones."""
    if value.dtype.kind == "c" and dtype.kind not in "cb":
        value = value.real
    return value.astype(dtype.numpy)


def number(value: Any, dtype: DType) -> Scalar:
    """A Python number as a scalar; integers wrap around."""
    if dtype.is_integer:
        return dtype.numpy.type(wrap_integer(int(value), dtype))
    return dtype.numpy.type(value)


def wrap_integer(value: int, dtype: DType) -> int:
    """The number that is left of an integer in so many bits."""
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


class IndexOutOfRange(IndexError):
    """An index that Python refuses, in an expression: who evaluates that knows the place."""


def wrap_index(index: int, size: Expr, axis: int, symbols: Mapping[str, int]) -> int:
    """An index counted from the end where it is negative; `IndexError` out of range."""
    length = size.evaluate(symbols)
    if not -length <= index < length:
        error = IndexOutOfRange(f"index {index} is out of bounds for axis {axis} with size {length}")
        raise raised_by_program(error)
    return index + length if index < 0 else index
