"""Statements as the dialects of C write them: what all of them have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr

if TYPE_CHECKING:
    from dcpy.codegen.emit.lir_printer import Printer

#: combinations that C has an assignment operator for, on numbers of these kinds
OPERATORS = {"add": "+", "mul": "*", "bitand": "&", "bitor": "|", "bitxor": "^"}


def declare(out: Printer, s: tree.Declare) -> None:
    """``double x = 1.0;``"""
    value = "" if s.value is None else f" = {out.text(s.value)}"
    name = out.declared(s.type, s.name, constant=s.constant, restrict=s.restrict)
    out.out.line(f"{name}{value};")


def stack_buffer(out: Printer, s: tree.StackBuffer) -> None:
    """``alignas(64) double x[8];``"""
    out.out.line(f"{out.dialect.word('aligned')}{out.type(s.element)} {s.name}[{s.count}];")


def assign(out: Printer, s: tree.Assign) -> None:
    """``x = 1.0;``"""
    out.out.line(f"{out.text(s.target)} = {out.text(s.value)};")


def operator_of(s: tree.Update) -> str:
    """The assignment operator that computes an update, or ""."""
    dtype = s.op.dtype
    return OPERATORS.get(s.op.op, "") if dtype.kind in "iuf" and dtype.name != "f16" else ""


def update(out: Printer, s: tree.Update) -> None:
    """``x += 1.0;``, ``x = dcpy_maximum(x, 1.0);``"""
    operator = operator_of(s)
    value = s.value if operator else s.op.of(s.target, s.value)
    out.out.line(f"{out.text(s.target)} {operator}= {out.text(value)};")


def evaluate(out: Printer, s: tree.Evaluate) -> None:
    """``f(x);``"""
    out.out.line(f"{out.text(s.call)};")


def block(out: Printer, s: tree.Compound) -> None:
    """``{ ... }``"""
    with out.out.block(""):
        out.body(s.body)


def attempt(out: Printer, s: tree.Attempt) -> None:
    """``{ ... } next_i:;``: what fails inside jumps to the label."""
    with out.out.block(""):
        out.body(s.body)
    out.out.directive(f"{s.name}:;")


def loop(out: Printer, s: tree.Loop) -> None:
    """``for (...)``, after its pragmas."""
    for directive in out.dialect.loops(out, s):
        out.out.directive(directive)
    head = loop_head(out, s)
    if len(s.body) == 1 and _is_one_line(s.body[0]):
        out.out.line(head)
        with out.out.indented():
            out.body(s.body)
        return
    with out.out.block(head):
        out.body(s.body)


def loop_head(out: Printer, s: tree.Loop) -> str:
    """``for (int64_t i = 0; i < n; i++)``"""
    start, stop = out.text(s.start), out.text(s.stop, 9)
    test = f"{s.var} {'>' if s.down else '<'} {stop}"
    if s.down is None:
        test = f"{out.text(s.step, 9)} > 0 ? {s.var} < {stop} : {s.var} > {stop}"
    return f"for ({out.type(s.index)} {s.var} = {start}; {test}; {_step(out, s.var, s.step)})"


def _is_one_line(statement: tree.Statement) -> bool:
    match statement:
        case tree.Evaluate() | tree.Assign() | tree.Update(atomic=False):
            return True
    return False


def _step(out: Printer, var: str, by: LirExpr) -> str:
    """The third part of a for loop."""
    text = out.text(by)
    return {"1": f"{var}++", "-1": f"{var}--"}.get(text, f"{var} += {text}")


def while_(out: Printer, s: tree.While) -> None:
    """``while (...) { ... }``"""
    with out.out.block(f"while ({out.text(s.condition)})"):
        out.body(s.body)


def if_(out: Printer, s: tree.If) -> None:
    """``if (...) { ... } else if (...) { ... } else { ... }``"""
    word = "if"
    for condition, body in s.cases:
        out.out.line(f"{word} ({out.text(condition)}) {{")
        with out.out.indented():
            out.body(body)
        word = "} else if"
    if s.otherwise:
        out.out.directive("} else {")
        with out.out.indented():
            out.body(s.otherwise)
    out.out.directive("}")


def check_fail(out: Printer, s: tree.CheckFail) -> None:
    """``if (...) return dcpy_stop(error, 3, i);``, or a note of it and perhaps a jump out of the attempt."""
    own = out.dialect.word("own numbers")
    values = [f"{own}[{position}]" for position in range(4)] if s.forwarded else [*map(out.text, s.values)]
    number = out.text(s.number)
    condition = f"if ({out.text(s.condition)})"
    if s.status is None:
        returned = number if s.forwarded else f"{out.dialect.word('stop')}({', '.join(['error', number, *values])})"
        out.out.line(f"{condition} return {returned};")
        return
    kept = f"-{number}" if s.forwarded and s.warning else number
    noted = [out.text(s.status), "error", *map(out.text, s.order), kept, *values]
    note = f"{out.dialect.word('warn' if s.warning else 'note')}({', '.join(noted)});"
    if s.warning:
        out.out.line(f"{condition} {note}")
        return
    with out.out.block(condition):
        out.out.line(note)
        out.out.line(f"goto {s.leaves};")


def return_(out: Printer, s: tree.Return) -> None:
    """``return 0;``"""
    out.out.line("return;" if s.value is None else f"return {out.text(s.value)};")


def break_(out: Printer, s: tree.Break) -> None:
    """``break;``"""
    out.out.line("break;")


def continue_(out: Printer, s: tree.Continue) -> None:
    """``continue;``"""
    out.out.line("continue;")


STATEMENTS: dict[type, Callable[[Printer, Any], None] | None] = {
    tree.Declare: declare, tree.StackBuffer: stack_buffer, tree.Assign: assign, tree.Update: update,
    tree.Evaluate: evaluate, tree.Compound: block, tree.Attempt: attempt, tree.Loop: loop, tree.While: while_,
    tree.If: if_, tree.CheckFail: check_fail, tree.Return: return_, tree.Break: break_, tree.Continue: continue_,
}  # fmt: skip
