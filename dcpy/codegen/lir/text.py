"""LIR as text, for people and for tests: what lowering has decided, before anything is spelled in a language.

One statement per line; types as in the IR (``f64``), pointers with a star (``*f64``, ``*const f64``, ``*global f64``),
operations of `ir.expressions.ops` by name. There is no parser: LIR is made by lowering alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Cast,
    Conditional,
    Convert,
    Field,
    Infix,
    Intrinsic,
    Item,
    LirExpr,
    Literal,
    Name,
    Operation,
    Prefix,
    SizeOf,
)
from dcpy.codegen.lir.types import Basic, Fifo, Lanes, LirType, Pointer, Reference, VectorType
from dcpy.ir.data import Space
from dcpy.ir.types import DType

INDENT = "  "


def print_functions(functions: tuple[tree.Function, ...]) -> str:
    """Functions in order, an empty line between two."""
    return "\n\n".join("\n".join(_function(function)) for function in functions) + "\n"


def _function(function: tree.Function) -> Iterator[str]:
    params = ", ".join(map(_param, function.params))
    marks = f"{' @exported' if function.exported else ''}{'' if function.inline else ' @noinline'}"
    yield f"function {function.name}({params}) -> {type_text(function.result)}{marks} {{"
    yield from _body(function.body)
    yield "}"


def print_kernels(kernels: tuple[tree.Kernel, ...]) -> str:
    """Kernels in order, an empty line between two."""
    return "\n\n".join("\n".join(_kernel(kernel)) for kernel in kernels) + "\n"


def _kernel(kernel: tree.Kernel) -> Iterator[str]:
    params = ", ".join(map(_param, kernel.params))
    yield f"kernel {kernel.name}({params}) threads {'x'.join(map(str, kernel.threads))} {{"
    yield from _body(kernel.body)
    yield "}"


def _param(param: tree.Parameter) -> str:
    return f"{param.name}: {type_text(param.type)}{' restrict' if param.restrict else ''}"


def _body(body: tree.Body) -> Iterator[str]:
    for statement in body:
        for line in _statement(statement):
            yield INDENT + line


def _owner(head: str, body: tree.Body) -> Iterator[str]:
    yield f"{head} {{".lstrip()
    yield from _body(body)
    yield "}"


def _statement(statement: tree.Statement) -> Iterator[str]:
    match statement:
        case tree.Compound(body=body):
            yield from _owner("", body)
        case tree.Attempt(name=name, body=body):
            yield from _owner(f"attempt {name}", body)
        case tree.Loop(body=body):
            yield from _owner(_loop(statement), body)
        case tree.While(condition=condition, body=body):
            yield from _owner(f"while {expr_text(condition)}", body)
        case tree.If(cases=cases, otherwise=otherwise):
            for position, (condition, body) in enumerate(cases):
                yield f"{'} else if' if position else 'if'} {expr_text(condition)} {{"
                yield from _body(body)
            if otherwise:
                yield "} else {"
                yield from _body(otherwise)
            yield "}"
        case _:
            yield _line(statement)


def _loop(loop: tree.Loop) -> str:
    direction = {True: " down", False: "", None: " either way"}[loop.down]
    marks = [_MARKS[type(mark)](mark) for mark in loop.marks]
    bounds = ":".join(map(expr_text, (loop.start, loop.stop, loop.step)))
    return " ".join([f"for {loop.var} in {bounds}{direction}", *marks])


_MARKS: dict[type, Callable[[Any], str]] = {
    tree.Divided: lambda m: f"@divided({m.collapse}{f', chunk = {m.chunk}' if m.chunk else ''})",
    tree.Simd: lambda m: f"@simd({m.lanes})" if m.lanes else "@simd",
    tree.Unroll: lambda m: f"@unroll({m.factor})",
    tree.Pipelined: lambda m: f"@pipelined({m.ii}, {m.style}, {m.depth})",
    tree.Reduction: lambda m: f"@reduce({m.op}: {m.name})",
}


def _line(statement: tree.Statement) -> str:
    line = _LINES.get(type(statement))
    return line(statement) if line else type(statement).__name__.lower()


def _declare(s: tree.Declare) -> str:
    word, restrict = "const" if s.constant else "var", " restrict" if s.restrict else ""
    value = "" if s.value is None else f" = {expr_text(s.value)}"
    return f"{word} {s.name}: {type_text(s.type)}{restrict}{value}"


def _heap(s: tree.HeapBuffer) -> str:
    how = f" kept in {s.kept}" if s.kept else " grows" if s.grows else ""
    return f"heap {s.name}: {type_text(s.element)}[{expr_text(s.count)}]{how}"


def _queues(s: tree.Queues) -> str:
    return f"queues {s.name}: {s.element}[{expr_text(s.count)}] capacity {expr_text(s.capacity)}"


def _spawn(s: tree.Spawn) -> str:
    return f"spawn in {s.network}: {expr_text(s.call)}{' endless' if s.endless else ''}"


def _update(s: tree.Update) -> str:
    return f"{'atomic ' if s.atomic else ''}{expr_text(s.target)} {s.op}= {expr_text(s.value)}"


def _check(check: tree.CheckFail) -> str:
    values = ", ".join(map(expr_text, (check.number, *check.values)))
    word = "forward" if check.forwarded else "warn" if check.warning else "fail"
    to = f" to {expr_text(check.status)}" if check.status is not None else ""
    leaves = f" leaving {check.leaves}" if check.leaves else ""
    at = f" at ({_list(check.order)})" if check.order else ""
    return f"{word}({values}){at}{to}{leaves} if {expr_text(check.condition)}"


def _box(s: tree.TransferBox) -> str:
    shape, to, source = (", ".join(map(expr_text, part)) for part in (s.shape, s.to_strides, s.source_strides))
    ends = f"{expr_text(s.source)} by ({source}) to {expr_text(s.to)} by ({to})"
    return f"transfer {ends} of ({shape}) {type_text(s.element)}"


def _launch(s: tree.Launch) -> str:
    blocks, threads = "x".join(map(_atom, s.blocks)), "x".join(map(str, s.threads))
    small = "" if s.fits is None else f", {s.small} if {expr_text(s.fits)}"
    return f"launch {s.kernel}({_list(s.args)}) on {blocks} blocks of {threads}{small}"


_LINES: dict[type, Callable[[Any], str]] = {
    tree.Declare: _declare,
    tree.Assign: lambda s: f"{expr_text(s.target)} = {expr_text(s.value)}",
    tree.Update: _update,
    tree.Evaluate: lambda s: expr_text(s.call),
    tree.TeamCall: lambda s: f"team {expr_text(s.call)}" + (f" if {expr_text(s.condition)}" if s.condition else ""),
    tree.HeapBuffer: _heap,
    tree.Grow: lambda s: f"grow {s.name} to {expr_text(s.count)} keeping {expr_text(s.kept)}",
    tree.Queues: _queues,
    tree.ProcessNetwork: lambda s: f"network {s.name}",
    tree.Spawn: _spawn,
    tree.Run: lambda s: f"const {s.name}: i32 = run {s.network} or {expr_text(s.no_threads)}",
    tree.StackBuffer: lambda s: (
        f"stack {s.name}: {type_text(s.element)}[{s.count}]" + (f" {s.cut.style} {s.cut.factor}" if s.cut else "")
    ),
    tree.CheckFail: _check,
    tree.DeviceBuffer: lambda s: f"device {s.name}: {type_text(s.element)}[{expr_text(s.count)}]",
    tree.SharedBuffer: lambda s: f"shared {s.name}: {type_text(s.element)}[{s.count}]",
    tree.Transfer: lambda s: f"transfer {expr_text(s.source)} to {expr_text(s.to)} of {expr_text(s.size)}",
    tree.TransferBox: _box,
    tree.Launch: _launch,
    tree.BlockBarrier: lambda s: "barrier",
    tree.Return: lambda s: "return" if s.value is None else f"return {expr_text(s.value)}",
}


def expr_text(expr: LirExpr) -> str:
    """An expression; every infix operation inside another has parentheses."""
    return _EXPRESSIONS[type(expr)](expr)


def _literal(e: Literal) -> str:
    return "null" if e.value is None else str(e.value).lower() if isinstance(e.value, bool) else repr(e.value)


def _atom(expr: LirExpr) -> str:
    text = expr_text(expr)
    return f"({text})" if isinstance(expr, Infix | Conditional | Convert) else text


def _list(args: tuple[LirExpr, ...]) -> str:
    return ", ".join(map(expr_text, args))


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    Literal: _literal,
    Name: lambda e: e.name,
    Item: lambda e: f"{_atom(e.base)}[{expr_text(e.index)}]",
    Field: lambda e: f"{_atom(e.arg)}.{e.name}",
    Infix: lambda e: f"{_atom(e.left)} {e.op} {_atom(e.right)}",
    Prefix: lambda e: f"{e.op}{_atom(e.arg)}",
    Call: lambda e: f"{e.function}({_list(e.args)})",
    Intrinsic: lambda e: f"@{e.name}{f'.{e.of}' if e.of is not None else ''}({_list(e.args)})",
    Operation: lambda e: f"{e.name}.{e.dtype}({_list(e.args)})",
    Cast: lambda e: f"{e.type}({expr_text(e.arg)})",
    Convert: lambda e: f"({type_text(e.type)}) {_atom(e.arg)}",
    Conditional: lambda e: f"{_atom(e.condition)} ? {_atom(e.yes)} : {_atom(e.no)}",
    Aggregate: lambda e: f"{type_text(e.type)}{{{_list(e.args)}}}",
    SizeOf: lambda e: f"sizeof({type_text(e.element)})",
}


def type_text(kind: LirType) -> str:
    """A type: ``f64``, ``*const f64``, ``&i32``, ``*shared f32``."""
    match kind:
        case DType() as dtype:
            return str(dtype)
        case Basic() as basic:
            return basic.value
        case Fifo(element=element):
            return f"fifo<{type_text(element)}>"
        case Lanes(element=element, count=count):
            return f"{element}x{count}"
        case Reference(element=element):
            return f"&{type_text(element)}"
        case VectorType(element=element):
            return f"wide<{element}>"
        case Pointer(element=element, const=const, space=space):
            where = "" if space is Space.HOST else f"{space.value} "
            return f"*{where}{'const ' if const else ''}{type_text(element)}"
