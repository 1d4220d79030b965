"""C++ for the host: one method per statement class, dull on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit.expressions import CONDITIONAL, text_of
from dcpy.codegen.emit.types import declared, spelled
from dcpy.codegen.emit.writer import WIDTH, Writer
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lir.tree import Body

BITS = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}


class CppEmitter:
    """Prints functions. `openmp` off leaves out what needs its library (``simd`` needs none)."""

    def __init__(self) -> None:
        self.out = Writer()

    def functions(self, functions: tuple[tree.Function, ...]) -> str:
        """The text of functions, a blank line between two."""
        for function in functions:
            self.function(function)
            self.out.directive("")
        return self.out.text().rstrip("\n")

    def function(self, function: tree.Function) -> None:
        """One function."""
        self.out.forget_place()
        with self.out.at(function.span):
            for line in signature_lines(function):
                self.out.line(line)
        self.out.directive("{")
        with self.out.indented():
            self.body(function.body)
        self.out.directive("}")

    def body(self, body: Body) -> None:
        """Statements, each by its method."""
        for statement in body:
            with self.out.at(statement.span):
                emit: Callable[[Any], None] = getattr(self, f"emit_{type(statement).__name__}")
                try:
                    emit(statement)
                except CodegenError as error:  # what C++ has no words for
                    raise error.at(statement.span) from error.__cause__

    # -- variables ---------------------------------------------------------------------------------------------

    def emit_Declare(self, s: tree.Declare) -> None:
        """``double x = 1.0;``"""
        value = "" if s.value is None else f" = {text_of(s.value)}"
        name = declared(s.type, s.name, constant=s.constant, restrict=s.restrict)
        self.out.line(f"{name}{value};")

    def emit_HeapBuffer(self, s: tree.HeapBuffer) -> None:
        """The buffer, and a pointer to its elements."""
        kind, slot = ("kept", f"{s.kept}, ") if s.kept else ("heap", "")
        element = spelled(s.element)
        buffer = f"{s.name}_buffer_"
        if s.grows:
            self.out.line(f"dcpy_growing_buffer<{element}> {buffer}({text_of(s.count)});")
            self.out.line(f"{element} *{s.name} = {buffer}.data;")
            return
        self.out.line(f"const dcpy_{kind}_buffer<{element}> {buffer}({slot}{text_of(s.count)});")
        self.out.line(f"{element} *__restrict {s.name} = {buffer}.data;")

    def emit_Grow(self, s: tree.Grow) -> None:
        """The buffer moves, and the pointer with it."""
        self.out.line(f"{s.name} = {s.name}_buffer_.grow({text_of(s.kept)}, {text_of(s.count)});")

    def emit_StackBuffer(self, s: tree.StackBuffer) -> None:
        """``alignas(64) double x[8];``"""
        self.out.line(f"alignas(64) {spelled(s.element)} {s.name}[{s.count}];")

    def emit_Queues(self, s: tree.Queues) -> None:
        """The queues, and a pointer to the first."""
        element, queues = spelled(s.element), f"{s.name}_queues_"
        self.out.line(f"const dcpy_streams<{element}> {queues}({text_of(s.count)}, {text_of(s.capacity)});")
        self.out.line(f"dcpy_stream<{element}> *const {s.name} = {queues}.data;")

    def emit_Network(self, s: tree.Network) -> None:
        """``dcpy_network work;``"""
        self.out.line(f"dcpy_network {s.name};")

    def emit_Spawn(self, s: tree.Spawn) -> None:
        """``work.add(false, [&](int64_t *numbers) { return f(x); });``"""
        captured = ", ".join(("&", *s.params))
        endless = "true" if s.endless else "false"
        call = f"return dcpy_report({text_of(s.call)}, ::error, numbers);"
        self.out.line(f"{s.network}.add({endless}, [{captured}](int64_t *numbers) {{ {call} }});")

    def emit_Run(self, s: tree.Run) -> None:
        """``const int32_t status = work.run(::error, 3);``"""
        self.out.line(f"const int32_t {s.name} = {s.network}.run(::error, {text_of(s.no_threads)});")

    def emit_Assign(self, s: tree.Assign) -> None:
        """``x = 1.0;`` or ``x += 1.0;``"""
        if s.atomic:
            self.out.directive("#pragma omp atomic")
        self.out.line(f"{text_of(s.target)} {s.op}= {text_of(s.value)};")

    def emit_AtomicUpdate(self, s: tree.AtomicUpdate) -> None:
        """By compare and exchange; what is wider than a word, under a lock."""
        kind = spelled(s.target.type)
        combine = f"[]({kind} a, {kind} b) {{ return {text_of(s.combined)}; }}"
        if s.bits in BITS:
            place = text_of(s.target, 13)
            self.out.line(f"dcpy_atomic<{BITS[s.bits]}>(&{place}, {text_of(s.value, CONDITIONAL)}, {combine});")
            return
        self.out.directive("#pragma omp critical")
        self.out.line(f"{text_of(s.target)} = ({combine})({text_of(s.target)}, {text_of(s.value)});")

    def emit_Evaluate(self, s: tree.Evaluate) -> None:
        """``f(x);``"""
        self.out.line(f"{text_of(s.call)};")

    # -- control flow ------------------------------------------------------------------------------------------

    def emit_Block(self, s: tree.Block) -> None:
        """``{ ... }``"""
        with self.out.block(""):
            self.body(s.body)

    def emit_Loop(self, s: tree.Loop) -> None:
        """``for (...)``, with what is said to the compiler before it."""
        pragma = loop_pragma(s)
        if pragma:
            self.out.directive(pragma)
        start, stop = text_of(s.start), text_of(s.stop, 9)
        test = f"{s.var} {'>' if s.down else '<'} {stop}"
        if s.down is None:
            test = f"{text_of(s.step, 9)} > 0 ? {s.var} < {stop} : {s.var} > {stop}"
        head = f"for (int64_t {s.var} = {start}; {test}; {step(s.var, s.step)})"
        if len(s.body) == 1 and _is_one_line(s.body[0]):
            self.out.line(head)
            with self.out.indented():
                self.body(s.body)
            return
        with self.out.block(head):
            self.body(s.body)

    def emit_While(self, s: tree.While) -> None:
        """``while (...) { ... }``"""
        with self.out.block(f"while ({text_of(s.condition)})"):
            self.body(s.body)

    def emit_If(self, s: tree.If) -> None:
        """``if (...) { ... } else if (...) { ... } else { ... }``"""
        word = "if"
        for condition, body in s.cases:
            self.out.line(f"{word} ({text_of(condition)}) {{")
            with self.out.indented():
                self.body(body)
            word = "} else if"
        if s.otherwise:
            self.out.directive("} else {")
            with self.out.indented():
                self.body(s.otherwise)
        self.out.directive("}")

    def emit_Team(self, s: tree.Team) -> None:
        """A call inside ``omp parallel``, or alone."""
        call = f"{text_of(s.call)};"
        if s.condition is None:
            self.out.directive("#pragma omp parallel")
            self.out.line(call)
            return
        self.out.line(f"if ({text_of(s.condition)}) {{")
        with self.out.indented():
            self.out.directive("#pragma omp parallel")
            self.out.line(call)
        self.out.directive("} else {")
        with self.out.indented():
            self.out.line(call)
        self.out.directive("}")

    def emit_CheckFail(self, s: tree.CheckFail) -> None:
        """``if (...) return 3;``, or a jump to the end of the iteration."""
        values = [f"::error[{position}]" for position in range(4)] if s.forwarded else map(text_of, s.values)
        number = text_of(s.number)
        condition = f"if ({text_of(s.condition)})"
        if s.warning:
            where, code = "warning" if s.shared else "&warning", f"-{number}" if s.forwarded else number
            self.out.line(f"{condition} dcpy_fail({', '.join([where, 'error', code, *values])});")
        elif s.label:
            with self.out.block(condition):
                self.out.line(f"dcpy_fail({', '.join(['failure', 'error', number, *values])});")
                self.out.line(f"goto {s.label};")
        elif s.forwarded:
            self.out.line(f"{condition} return {number};")
        else:
            self.out.line(f"{condition} return dcpy_stop({', '.join(['error', number, *values])});")

    def emit_Return(self, s: tree.Return) -> None:
        """``return 0;``"""
        self.out.line("return;" if s.value is None else f"return {text_of(s.value)};")

    def emit_Break(self, s: tree.Break) -> None:
        """``break;``"""
        self.out.line("break;")

    def emit_Continue(self, s: tree.Continue) -> None:
        """``continue;``"""
        self.out.line("continue;")

    def emit_Label(self, s: tree.Label) -> None:
        """``next_i:;``"""
        self.out.directive(f"{s.name}:;")


def _is_one_line(statement: tree.Statement) -> bool:
    return isinstance(statement, tree.Evaluate) or (isinstance(statement, tree.Assign) and not statement.atomic)


def step(var: str, by: LirExpr) -> str:
    """The third part of a for loop."""
    text = text_of(by)
    return {"1": f"{var}++", "-1": f"{var}--"}.get(text, f"{var} += {text}")


def loop_pragma(loop: tree.Loop) -> str:
    """What is said to the compiler before a loop, or ""."""
    if loop.unroll:
        return f"#pragma GCC unroll {loop.unroll}"
    if loop.shared is None and not loop.simd:
        return ""
    words = ["#pragma omp"]
    if loop.shared is not None:
        words.append("for")
    if loop.simd:
        words.append("simd")
    if loop.lanes:
        words.append(f"simdlen({loop.lanes})")
    if loop.shared is not None and loop.shared.chunk:
        words.append(f"schedule(static, {loop.shared.chunk})")
    if loop.shared is not None and loop.shared.collapse > 1:
        words.append(f"collapse({loop.shared.collapse})")
    words += [f"reduction({reduction.op} : {reduction.name})" for reduction in loop.reductions]
    if loop.shared is not None:
        words.append("nowait")
    return " ".join(words)


def signature_lines(function: tree.Function) -> list[str]:
    """The head of a function, broken before it gets too wide."""
    linkage = 'extern "C"' if function.exported else "static" if function.inline else "[[gnu::noinline]] static"
    head = f"{linkage} {declared(function.result, function.name)}("
    params = [declared(param.type, param.name, restrict=param.restrict) for param in function.params]
    lines, current = [], head
    for position, param in enumerate(params):
        piece = param + (", " if position < len(params) - 1 else "")
        if len(current) + len(piece) > WIDTH:
            lines.append(current.rstrip())
            current = "    "
        current += piece
    return [*lines, f"{current})"]


def reduction_pragma(reduction: tree.DeclaredReduction) -> str:
    """A reduction that OpenMP lacks."""
    combined, identity = text_of(reduction.combined), text_of(reduction.identity)
    return (
        f"#pragma omp declare reduction({reduction.name} : {spelled(reduction.type)} : omp_out = {combined}) "
        f"initializer(omp_priv = {identity})"
    )
