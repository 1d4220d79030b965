"""Expressions as the dialects of C write them, with few parentheses (and some that compilers ask for)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dcpy.codegen.emit.dialect import Text
from dcpy.codegen.emit.numbers import spell
from dcpy.codegen.emit.operations import without_operations
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Conditional,
    Convert,
    Field,
    Infix,
    Intrinsic,
    Item,
    LirExpr,
    Literal,
    Name,
    Prefix,
    SizeOf,
)
from dcpy.codegen.lir.types import INDEX, Lanes, VectorType
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

LEVELS = {
    "*": 12, "/": 12, "%": 12, "+": 11, "-": 11, "<<": 10, ">>": 10, "<": 8, "<=": 8, ">": 8, ">=": 8, "==": 7,
    "!=": 7, "&": 6, "^": 5, "|": 4, "&&": 3, "||": 2,
}  # fmt: skip
CONDITIONAL, UNARY, POSTFIX = 1, 13, 14
TIGHT = ("*", "/", "%")
MIXABLE = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}


def name(out: Printer, expr: Name) -> Text:
    """``x``"""
    return expr.name, POSTFIX


def literal(out: Printer, expr: Literal) -> Text:
    """``1.5``, ``nullptr``"""
    if expr.value is None:
        return out.dialect.word("null"), POSTFIX
    text = spell(out.dialect, expr.value, expr.type) if isinstance(expr.type, DType) else str(expr.value)
    return text, UNARY if text.startswith(("-", "(")) and not text.startswith("(-") else POSTFIX


def item(out: Printer, expr: Item) -> Text:
    """``a[i]``, ``v.at[i]``, ``token[i]``"""
    at = ".at" if isinstance(expr.base.type, VectorType) else ""
    if isinstance(expr.base.type, Lanes):
        at = out.dialect.word("lanes of a token")
    return f"{out.text(expr.base, POSTFIX)}{at}[{out.text(expr.index)}]", POSTFIX


def field(out: Printer, expr: Field) -> Text:
    """``z.real``"""
    return f"{out.text(expr.arg, POSTFIX)}.{expr.name}", POSTFIX


def infix(out: Printer, expr: Infix) -> Text:
    """``a + b``, ``a*b``"""
    level = LEVELS[expr.op]
    left, right = _operand(out, expr.op, expr.left, level), _operand(out, expr.op, expr.right, level + 1)
    return (f"{left}{expr.op}{right}" if expr.op in TIGHT else f"{left} {expr.op} {right}"), level


def _operand(out: Printer, op: str, operand: LirExpr, level: int) -> str:
    """Bits, shifts and logic among each other get parentheses even where C would not need them."""
    operand = without_operations(out.dialect, operand)
    if isinstance(operand, Infix) and operand.op != op and not {op, operand.op} <= MIXABLE - {"&&", "||"}:
        comparison = op in ("&&", "||") and operand.op in MIXABLE - {"&&", "||"}
        return out.text(operand, level if comparison else UNARY)
    return out.text(operand, level)


def prefix(out: Printer, expr: Prefix) -> Text:
    """``-x``, ``&x``"""
    inner = out.text(expr.arg, UNARY)
    return f"{expr.op}({inner})" if inner.startswith(expr.op) else f"{expr.op}{inner}", UNARY


def call(out: Printer, expr: Call) -> Text:
    """``f(x, y)``"""
    return f"{expr.function}({arguments(out, expr.args)})", POSTFIX


def arguments(out: Printer, args: tuple[LirExpr, ...]) -> str:
    """``x, y``"""
    return ", ".join(each_argument(out, args))


def each_argument(out: Printer, args: tuple[LirExpr, ...]) -> Iterator[str]:
    """``x``, ``y``"""
    return (out.text(arg, CONDITIONAL) for arg in args)


def intrinsic(out: Printer, expr: Intrinsic) -> Text:
    """``memcpy(x, y, n)``, ``dcpy_truncate<int32_t>(x)``: a function, or a form that is filled in."""
    form = out.dialect.entry(out.dialect.intrinsics, expr.name, f"the intrinsic {expr.name!r}")
    if "{" not in form and not form.endswith(")"):
        return f"{form}({arguments(out, expr.args)})", POSTFIX
    args = (out.text(arg, CONDITIONAL) for arg in expr.args)
    of = expr.of or INDEX
    return form.format(*args, of=out.type(of), dtype=getattr(of, "name", "")), POSTFIX


def conditional(out: Printer, expr: Conditional) -> Text:
    """``c ? x : y``"""
    condition, yes = (out.text(part, CONDITIONAL + 1) for part in (expr.condition, expr.yes))
    return f"{condition} ? {yes} : {out.text(expr.no, CONDITIONAL)}", CONDITIONAL


def convert(out: Printer, expr: Convert) -> Text:
    """``(double)x``"""
    return f"({out.type(expr.type)}){out.text(expr.arg, UNARY)}", UNARY


def aggregate(out: Printer, expr: Aggregate) -> Text:
    """``dcpy_complex128{re, im}``"""
    form = out.dialect.word("aggregate")
    return form.format(out.type(expr.type), arguments(out, expr.args)), POSTFIX


def size_of(out: Printer, expr: SizeOf) -> Text:
    """``sizeof(double)``"""
    return f"sizeof({out.type(expr.element)})", POSTFIX


EXPRESSIONS: dict[type, Callable[[Printer, Any], Text] | None] = {
    Name: name, Literal: literal, Item: item, Field: field, Infix: infix, Prefix: prefix, Call: call,
    Intrinsic: intrinsic, Conditional: conditional, Convert: convert, Aggregate: aggregate, SizeOf: size_of,
}  # fmt: skip
