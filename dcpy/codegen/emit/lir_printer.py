"""Prints LIR in a dialect: every class by its entry in the dialect's tables, and nothing decided here."""

from __future__ import annotations

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit.dialect import Dialect, Text
from dcpy.codegen.emit.operations import without_operations
from dcpy.codegen.emit.types import declared, spelled
from dcpy.codegen.emit.writer import WIDTH, Writer
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lir.traversal import folded_by_teams
from dcpy.codegen.lir.types import LirType, Reference


class Printer:
    """Lines of a program, statement by statement, and the texts of expressions."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.out = Writer()
        self.params_of: dict[str, tuple[tree.Parameter, ...]] = {}  # of the functions so far
        self.kernels: dict[str, int] = {}  # their numbers
        self.references: frozenset[str] = frozenset()  # parameters of this function that are variables of its caller
        self.folded: frozenset[str] = frozenset()  # those of them that a divided loop folds

    def functions(self, functions: tuple[tree.Function, ...]) -> str:
        """The text of functions, a blank line between two."""
        for function in functions:
            self.function(function)
            self.out.directive("")
        return self.out.text().rstrip("\n")

    def file(self, module: tree.Module) -> str:
        """The text of a module's functions; in a device's dialect, that of its kernels, and their table."""
        self.kernels = {kernel.name: number for number, kernel in enumerate(module.kernels)}
        if self.dialect.last_line is None:
            return self.functions(module.functions)
        for kernel in module.kernels:
            self.kernel(kernel)
            self.out.directive("")
        return f"{self.out.text()}{self.dialect.last_line(self, module)}"

    def function(self, function: tree.Function) -> None:
        """One function."""
        self.params_of[function.name] = function.params
        self.references = frozenset(one.name for one in function.params if isinstance(one.type, Reference))
        self.folded = folded_by_teams(function.body) & self.references
        self._defined(self.signature(function), function)

    def kernel(self, kernel: tree.Kernel) -> None:
        """One kernel, for blocks of at most so many threads."""
        self.references = self.folded = frozenset()
        threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2]
        head = self.dialect.word("kernel").format(name=kernel.name, threads=threads)
        self._defined(self._head(f"{head}(", kernel.params), kernel)

    def _defined(self, head: list[str], defined: tree.Function | tree.Kernel) -> None:
        self.out.forget_place()
        with self.out.at(defined.span):
            for line in head:
                self.out.line(line)
        before, behind = self.dialect.around(self, defined) if self.dialect.around else ([], [])
        self.out.directive("{")
        with self.out.indented():
            for line in before:
                self.out.directive(line)
            self.body(defined.body)
        for line in ("}", *behind):
            self.out.directive(line)

    def declaration(self, function: tree.Function) -> str:
        """The head of a function that another unit exports."""
        self.params_of[function.name] = function.params
        return "\n".join(self.signature(function, "foreign")) + ";"

    def signature(self, function: tree.Function, linkage: str = "") -> list[str]:
        """The head of a function, broken before it gets too wide. `linkage`: the word for it (default: its own)."""
        own = "exported" if function.exported else "internal" if function.inline else "never inlined"
        linkage = linkage or ("autorun" if function.starts else own)
        head = f"{self.dialect.word(linkage)} {self.declared(function.result, function.name)}(".lstrip()
        return self._head(head, function.params)

    def _head(self, head: str, parameters: tuple[tree.Parameter, ...]) -> list[str]:
        params = [self.declared(param.type, param.name, restrict=param.restrict) for param in parameters]
        lines, current = [], head
        for position, param in enumerate(params or [self.dialect.word("no parameters")]):
            piece = param + (", " if position < len(params) - 1 else "")
            if len(current) + len(piece) > WIDTH:
                lines.append(current.rstrip())
                current = "    "
            current += piece
        return [*lines, f"{current})"]

    def body(self, body: tree.Body) -> None:
        """Statements, each by its entry."""
        statements = self.dialect.statements
        for statement in body:
            with self.out.at(statement.span):
                try:
                    kind = type(statement)
                    emit = statements.get(kind) or self.dialect.entry(statements, kind, f"a {kind.__name__}")
                    emit(self, statement)
                except CodegenError as error:  # what the language has no words for
                    raise error.at(statement.span) from error.__cause__

    # -- parts of statements -----------------------------------------------------------------------------------

    def text(self, expr: LirExpr, level: int = 0) -> str:
        """The text of `expr` as an operand at a precedence of at least `level`."""
        text, own = self.text_and_level(expr)
        return f"({text})" if own < level else text

    def text_and_level(self, expr: LirExpr) -> Text:
        """The text of an expression, and its precedence."""
        expr = without_operations(self.dialect, expr)
        written = self.dialect.expressions.get(type(expr))
        if written is None:
            raise CodegenError(f"{self.dialect.name} has no words for expressions like {expr!r}")
        return written(self, expr)

    def type(self, kind: LirType) -> str:
        """The text of a type."""
        return spelled(self.dialect, kind)

    def declared(self, kind: LirType, name: str, *, constant: bool = False, restrict: bool = False) -> str:
        """A variable or a parameter."""
        return declared(self.dialect, kind, name, constant=constant, restrict=restrict)
