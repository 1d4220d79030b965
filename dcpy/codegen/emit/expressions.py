"""Expressions as C++ text, with as few parentheses as their meaning allows (and a few that compilers ask for)."""

from __future__ import annotations

from dcpy.codegen.emit.conversions import converted
from dcpy.codegen.emit.numbers import spell
from dcpy.codegen.emit.operations import written
from dcpy.codegen.emit.types import spelled
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Cast,
    Conditional,
    Convert,
    Field,
    Infix,
    Item,
    LirExpr,
    Literal,
    Name,
    Operation,
    Prefix,
    SizeOf,
)
from dcpy.codegen.lir.types import LirType
from dcpy.ir.types import DType

LEVELS = {
    "*": 12, "/": 12, "%": 12, "+": 11, "-": 11, "<<": 10, ">>": 10, "<": 8, "<=": 8, ">": 8, ">=": 8, "==": 7,
    "!=": 7, "&": 6, "^": 5, "|": 4, "&&": 3, "||": 2,
}  # fmt: skip
CONDITIONAL, UNARY, POSTFIX = 1, 13, 14
TIGHT = ("*", "/", "%")
MIXABLE = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}


def text_of(expr: LirExpr, level: int = 0) -> str:
    """The text of `expr` as an operand at a precedence of at least `level`."""
    text, own = _text(expr)
    return f"({text})" if own < level else text


def _text(expr: LirExpr) -> tuple[str, int]:
    expr = in_cpp(expr)
    if isinstance(expr, Infix):
        return _infix(expr), LEVELS[expr.op]
    if isinstance(expr, Name):
        return expr.name, POSTFIX
    return _other_text(expr)


def in_cpp(expr: LirExpr) -> LirExpr:
    """The expression with its outermost operation or conversion in terms of C++."""
    while isinstance(expr, Operation | Cast):
        expr = written(expr) if isinstance(expr, Operation) else converted(expr.arg, expr.source, expr.type)
    return expr


def _other_text(expr: LirExpr) -> tuple[str, int]:
    match expr:
        case Literal():
            text = _number(expr)
            return text, UNARY if text.startswith(("-", "(")) and not text.startswith("(-") else POSTFIX
        case Item(base=base, index=index):
            return f"{text_of(base, POSTFIX)}[{text_of(index)}]", POSTFIX
        case Field(arg=arg, name=name):
            return f"{text_of(arg, POSTFIX)}.{name}", POSTFIX
        case Call(function=function, args=args, parameters=parameters):
            made_for = f"<{', '.join(map(_parameter, parameters))}>" if parameters else ""
            return f"{function}{made_for}({', '.join(text_of(arg, CONDITIONAL) for arg in args)})", POSTFIX
        case Aggregate(args=args, type=kind):
            return f"{spelled(kind)}{{{', '.join(text_of(arg, CONDITIONAL) for arg in args)}}}", POSTFIX
        case Convert(arg=arg, type=kind):
            return f"({spelled(kind)}){text_of(arg, UNARY)}", UNARY
        case Prefix(op=op, arg=arg):
            inner = text_of(arg, UNARY)
            return f"{op}({inner})" if inner.startswith(op) else f"{op}{inner}", UNARY
        case Conditional(condition=condition, yes=yes, no=no):
            parts = (text_of(condition, CONDITIONAL + 1), text_of(yes, CONDITIONAL + 1), text_of(no, CONDITIONAL))
            return "{} ? {} : {}".format(*parts), CONDITIONAL
        case SizeOf(element=element):
            return f"sizeof({spelled(element)})", POSTFIX
    raise TypeError(f"no text for {expr!r}")


def _number(literal: Literal) -> str:
    if literal.value is None:
        return "nullptr"
    return spell(literal.value, literal.type) if isinstance(literal.type, DType) else str(literal.value)


def _parameter(parameter: LirType | int) -> str:
    return str(parameter) if isinstance(parameter, int) else spelled(parameter)


def _infix(expr: Infix) -> str:
    level = LEVELS[expr.op]
    left, right = _operand(expr.op, expr.left, level), _operand(expr.op, expr.right, level + 1)
    return f"{left}{expr.op}{right}" if expr.op in TIGHT else f"{left} {expr.op} {right}"


def _operand(op: str, operand: LirExpr, level: int) -> str:
    """Bits, shifts and logic among each other get parentheses even where C would not need them."""
    operand = in_cpp(operand)
    if isinstance(operand, Infix) and operand.op != op and not {op, operand.op} <= MIXABLE - {"&&", "||"}:
        comparison = op in ("&&", "||") and operand.op in MIXABLE - {"&&", "||"}
        return text_of(operand, level if comparison else UNARY)
    return text_of(operand, level)
