"""Typed scalar expressions: what tasklets compute, what conditions test, what symbols are assigned.

Small frozen trees, never strings. Integer arithmetic on *symbols* is not done here but in `ir.symbolic`; an `Index`
leaf embeds such an expression as a value. Promotion is explicit: the arguments of an `Op` have one dtype (``select``
apart, whose condition is bool), and `Cast` changes it with C's and NumPy's ``astype`` meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Union

from dcpy.ir import types
from dcpy.ir.expressions.ops import result_dtype
from dcpy.ir.symbolic import Expr, ExprLike, const, max_of, min_of
from dcpy.ir.symbolic.intervals import wrapped
from dcpy.ir.types import DType

Number = bool | int | float | complex
ScalarExpr = Union["Const", "Ref", "Load", "Index", "Op", "Cast", "WrapIndex"]


@dataclass(frozen=True, slots=True)
class Const:
    """A number of a dtype. NaN and infinities are allowed. Compared by representation, so -0.0 is not 0.0."""

    value: Number
    dtype: DType

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and (repr(self.value), self.dtype) == (repr(other.value), other.dtype)

    def __hash__(self) -> int:
        return hash((repr(self.value), self.dtype))


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of a connector: an input of the tasklet, or an earlier assignment in its code."""

    name: str
    dtype: DType


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a container (no indices: a 0-d one). Only in conditions, checks and symbol assignments."""

    container: str
    indices: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Index:
    """A symbolic integer expression as a value, int64 unless said otherwise."""

    value: Expr
    dtype: DType = types.int64


@dataclass(frozen=True, slots=True)
class Op:
    """An operation of `ir.expressions.ops` on arguments of one dtype. Build with `op`, which derives `dtype`."""

    name: str
    args: tuple[ScalarExpr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion with the meaning of ``astype``."""

    arg: ScalarExpr
    dtype: DType


@dataclass(frozen=True, slots=True)
class WrapIndex:
    """A run-time index made safe: negative ones count from the end, out of range raises `IndexError`.

    Only in `SymbolAssign` values (the symbol then is in ``0 .. size - 1``). `axis` is for the message.
    """

    arg: ScalarExpr
    size: Expr
    axis: int = 0
    dtype: DType = types.int64


def op(name: str, *args: ScalarExpr) -> Op:
    """``Op`` with its dtype derived: ``op("add", a, b)``."""
    return Op(name, args, result_dtype(name, tuple(arg.dtype for arg in args)))


def cast(arg: ScalarExpr, dtype: DType) -> ScalarExpr:
    """`arg` as `dtype`: itself where it has that dtype."""
    return arg if arg.dtype == dtype else Cast(arg, dtype)


def children(expr: ScalarExpr) -> tuple[ScalarExpr, ...]:
    """The expressions directly inside."""
    if isinstance(expr, Op):
        return expr.args
    return (expr.arg,) if isinstance(expr, Cast | WrapIndex) else ()


def walk(expr: ScalarExpr) -> Iterator[ScalarExpr]:
    """The expression and all its parts, outermost first."""
    pending = [expr]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(children(part)[::-1])


def depth_of(expr: ScalarExpr) -> int:
    """Return the nesting depth of operations. It is not recursive: trees may be too deep for recursive functions."""
    depth, level = 0, [expr]
    while level:
        depth += 1
        level = [child for part in level for child in children(part)]
    return depth


def rewrite(expr: ScalarExpr, change: Callable[[ScalarExpr], ScalarExpr | None]) -> ScalarExpr:
    """A copy in which `change` replaced parts, innermost first; None keeps a part."""
    match expr:
        case Op(args=args):
            fresh = tuple(rewrite(arg, change) for arg in args)
            expr = expr if fresh == args else replace(expr, args=fresh)
        case Cast(arg=arg) | WrapIndex(arg=arg):
            inner = rewrite(arg, change)
            expr = expr if inner == arg else replace(expr, arg=inner)
    changed = change(expr)
    return expr if changed is None else changed


def substitute_symbols(expr: ScalarExpr, values: Mapping[str, ExprLike]) -> ScalarExpr:
    """The expression with symbols replaced in `Index`, `Load` and `WrapIndex`."""

    def change(part: ScalarExpr) -> ScalarExpr | None:
        match part:
            case Index(value=value):
                return replace(part, value=value.subs(values))
            case Load(indices=indices) if indices:
                return replace(part, indices=tuple(index.subs(values) for index in indices))
            case WrapIndex(size=size):
                return replace(part, size=size.subs(values))
        return None

    return rewrite(expr, change)


def substitute_refs(expr: ScalarExpr, values: Mapping[str, ScalarExpr]) -> ScalarExpr:
    """The expression with connectors replaced by expressions."""
    return rewrite(expr, lambda part: values.get(part.name) if isinstance(part, Ref) else None)


def symbols_of(expr: ScalarExpr) -> tuple[str, ...]:
    """Names of the symbols that the expression uses, in order of first use."""
    names: dict[str, None] = {}
    for part in walk(expr):
        for name in symbols_in(part):
            names[name] = None
    return tuple(names)


def symbols_in(part: ScalarExpr) -> Sequence[str]:
    """Names of the symbols written on a part itself, not on those inside of it."""
    if isinstance(part, Index):
        return part.value.symbols
    if isinstance(part, Load):
        return [name for index in part.indices for name in index.symbols]
    return part.size.symbols if isinstance(part, WrapIndex) else ()


def loads_of(expr: ScalarExpr) -> tuple[Load, ...]:
    """All container elements that the expression reads."""
    return tuple(part for part in walk(expr) if isinstance(part, Load))


def as_symbolic(expr: ScalarExpr) -> Expr | None:
    """The symbolic form of an integer expression over symbols and numbers; None where it has none.

    Exact only without overflow of symbols: int64 and Python's own integers are taken, narrower dtypes are not. Numbers
    wrap around.
    """
    match expr:
        case Index(value=value):
            return value
        case Const(value=value, dtype=dtype) if dtype == types.int64:
            return const(int(value))  # type: ignore[arg-type]
        case Op(name="neg", args=(arg,), dtype=types.int64):
            inner = as_symbolic(arg)
            return None if inner is None else wrapped(-inner)
        case Op(name="add" | "sub" | "mul" | "min" | "max" as name, args=(left, right), dtype=types.int64):
            a, b = as_symbolic(left), as_symbolic(right)
            return None if a is None or b is None else wrapped(_COMBINE[name](a, b))
        case Op(name="floordiv" | "mod" as name, args=(left, right), dtype=types.int64):
            a, b = as_symbolic(left), as_symbolic(right)
            if a is None or b is None or not b.constant:
                return None
            return a // b if name == "floordiv" else a % b
    return None


_COMBINE: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": Expr.__add__,
    "sub": Expr.__sub__,
    "mul": Expr.__mul__,
    "min": min_of,
    "max": max_of,
}
