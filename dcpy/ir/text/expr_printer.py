"""Prints scalar expressions as Python would write them, with every dtype that cannot be inferred spelled out."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from dcpy.ir import types
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Number, Op, Ref, ScalarExpr, WrapIndex
from dcpy.ir.symbolic import Expr, const
from dcpy.ir.text.symbolic_folding import fold
from dcpy.ir.types import DType

ATOM, POWER, UNARY, SUM, COMPARISON, NOT = 20, 12, 11, 9, 4, 3  # precedences between those of `ir.expressions.ops`
LITERAL_WORDS = ("true", "false", "inf", "nan")
#: Dtypes that a number without a dtype has.
DEFAULT_DTYPES = {"i": types.int64, "f": types.float64, "b": types.bool_}


def print_expr(expr: ScalarExpr, connectors: Collection[str] = ()) -> str:
    """The text of an expression. Where a symbol has the name of one of `connectors`, that is spelled ``index(i)``."""
    return _ExprPrinter(frozenset((*connectors, *LITERAL_WORDS))).text(expr)


def print_number(value: Number, dtype: DType) -> str:
    """A constant of `dtype`: ``1.5``, ``f32(1.5)``, ``c128(0.0, 1.0)``."""
    text = print_literal(value, dtype)
    return text if DEFAULT_DTYPES.get(dtype.kind) == dtype else f"{dtype}({text})"


def print_literal(value: Number, dtype: DType) -> str:
    """A number without its dtype; exact."""
    match dtype.kind:
        case "b":
            return "true" if value else "false"
        case "i" | "u":
            return str(int(value.real))
        case "f":
            return repr(float(value.real))
        case _:
            number = complex(value)
            return f"{number.real!r}, {number.imag!r}"


class _ExprPrinter:
    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = taken  # names that do not read as symbols

    def text(self, expr: ScalarExpr, level: int = 0) -> str:
        """The text, in parentheses where the outermost operator binds looser than `level`."""
        text, precedence = self.render(expr)
        return f"({text})" if precedence < level else text

    def render(self, expr: ScalarExpr) -> tuple[str, int]:
        """The text, and how tight its outermost operator binds."""
        match expr:
            case Const(value=value, dtype=dtype):
                text = print_number(value, dtype)
                return text, UNARY if text.startswith("-") else ATOM
            case Ref(name=name):
                return (f"`{name}`" if name in LITERAL_WORDS else name), ATOM
            case Load(container=container, indices=indices):
                return f"{container}[{', '.join(map(str, indices))}]", ATOM
            case Index():
                return self.index(expr)
            case Op():
                return self.op(expr)
            case Cast(arg=Const(value=value, dtype=inner), dtype=dtype) if inner.kind in "if":
                return f"{dtype}({inner}({print_literal(value, inner)}))", ATOM
            case Cast(arg=arg, dtype=dtype):
                return f"{dtype}({self.text(arg)})", ATOM
            case WrapIndex(arg=arg, size=size, axis=axis):
                return f"wrap({self.text(arg)}, {size}, {axis})", ATOM
            case _:
                assert_never(expr)

    def index(self, expr: Index) -> tuple[str, int]:
        value = expr.value
        if expr.dtype != types.int64:
            return f"index({value}, {expr.dtype})", ATOM
        if not value.symbols or not self.taken.isdisjoint(value.symbols):
            return f"index({value})", ATOM
        text = str(value)
        if len(value.terms) > 1 or text.startswith("-"):
            return text, SUM
        return text, SUM + 1 if "*" in text or "//" in text or "%" in text else ATOM

    def op(self, expr: Op) -> tuple[str, int]:
        name, args = expr.name, expr.args
        if fold(name, tuple(map(_as_foldable, args))) is not None:
            return f"@{name}({', '.join(self.operand(arg, args) for arg in args)})", ATOM
        info = op_info(name)
        if info.infix:
            level, loose = info.precedence, info.precedence + 1
            left = self.operand(args[0], args, loose if level in (COMPARISON, POWER) else level)
            right = self.operand(args[1], args, level if level == POWER else loose)
            return f"{left} {info.infix} {right}", level
        match name:
            case "neg":
                inner = self.operand(args[0], args, UNARY)
                return (f"-({inner})" if isinstance(args[0], Const) else f"-{inner}"), UNARY
            case "invert":
                return f"~{self.operand(args[0], args, UNARY)}", UNARY
            case "not":
                return f"not {self.operand(args[0], args, NOT)}", NOT
        groups = (args[:1], args[1:], args[1:]) if name == "select" else (args,) * len(args)
        texts = [self.operand(arg, group) for arg, group in zip(args, groups, strict=False)]
        return f"{name}({', '.join(texts)})", ATOM

    def operand(self, arg: ScalarExpr, args: tuple[ScalarExpr, ...], level: int = 0) -> str:
        """An argument. A number says its dtype where those beside it have another: it would be read as theirs."""
        if isinstance(arg, Const) and any(other.dtype != arg.dtype for other in args):
            return f"{arg.dtype}({print_literal(arg.value, arg.dtype)})"
        return self.text(arg, level)


def _as_foldable(arg: ScalarExpr) -> Expr | None:
    match arg:
        case Index(value=value, dtype=types.int64):
            return value
        case Const(value=value, dtype=types.int64):
            return const(int(value.real))
    return None
