"""Python statements to core statements; what dcpy does not take is refused here, with its place and a rewrite."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan
from dcpy.frontend.dataflow.dataflow_syntax import explicit, label_only
from dcpy.frontend.dataflow.process_syntax import concurrent
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import assigned_inside, bound_names, free_names, outer_names, own_names
from dcpy.frontend.desugar.deep_expressions import without_deep_expressions
from dcpy.frontend.desugar.match_statement import desugar_match
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.introspection.function_source import Source

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

_TRY = (
    "try is not supported",
    "compiled code stops at the first exception and raises it where the program was called",
    "test the condition with `if` first, or catch the exception where you call the program",
)
_ASYNC = ("async code is not supported", "a program runs from its start to its end", "use a plain function and loop")
_REFUSED: dict[str, tuple[str, str, str]] = {  # what, why, what to write instead
    "Try": _TRY,
    "TryStar": _TRY,
    "AsyncWith": _ASYNC,
    "AsyncFor": _ASYNC,
    "AsyncFunctionDef": _ASYNC,
    "ClassDef": ("classes inside a program are not supported", "a class is made by running code", "define it outside"),
    "Global": (
        "a program cannot assign global variables",
        "globals are constants of the compiled code",
        "return the value and assign it after the call, or pass an array and store into it",
    ),
    "Nonlocal": (
        "variables of a function around the program are never written by it",
        "they are constants of the compiled code; nested functions of a program may assign its variables",
        "return the value, and assign it where the program is called",
    ),
}


def desugar(source: Source) -> core.Define:
    """The core form of a function."""
    return Desugarer(source, top=True).function(source.node)


@dataclass
class Desugarer:
    """Walks one function. `loops` holds, for each loop around, the flag that a ``break`` must set ("" for none)."""

    source: Source
    loops: list[str] = field(default_factory=list)
    flags: int = 0
    stored: frozenset[str] = frozenset()  # names that the function assigns
    top: bool = False  # whether what it meets is the function of the program itself
    nested: bool = False  # whether the function is inside of another one of the program
    shared: frozenset[str] = frozenset()  # names that nested functions may assign where they are called

    def function(self, node: ast.FunctionDef | ast.Lambda) -> core.Define:
        """A function or lambda."""
        around = assigned_inside(node)
        inner = Desugarer(self.source, nested=not self.top, shared=self.shared | around)
        span = self.source.span(node)
        if isinstance(node, ast.Lambda):
            body = self._shallow(core.Return(node.body, span=self.source.span(node.body)))
            return core.Define("<lambda>", node.args, body, free_names(node), span=span)
        decorators = tuple(node.decorator_list)
        header = SrcSpan(span.file, span.line, span.column)
        if _yields(self.source, node):
            return core.Define(node.name, node.args, (), free_names(node), decorators, generator=node, span=header)
        stores = [part for part in walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)]
        inner.stored = frozenset(name.id for name in stores)
        outer = frozenset() if self.top else (outer_names(node) | inner.shared) - own_names(node)
        statements = inner.block(node.body)
        free = free_names(node) | outer
        return core.Define(node.name, node.args, statements, free, decorators, outer=outer, span=header)

    def block(self, statements: Sequence[ast.stmt]) -> core.Body:
        """Statements in order. What follows a branch that always leaves moves into its other side.

        What follows one that raises stays: nothing has to be merged with a path that ends there.
        """
        written: list[core.Body] = []
        last: core.Statement | None = None
        for statement in statements:
            written.append(tuple(part for made in self.statement(statement) for part in self._shallow(made)))
            last = written[-1][-1] if written[-1] else last
            if isinstance(last, core.Return | core.Break | core.Continue):
                break
        rest: core.Body = ()
        for number, parts in enumerate(reversed(written)):
            last = parts[-1] if parts else None
            if isinstance(last, core.If) and number and (_goes_elsewhere(last.body) or _goes_elsewhere(last.orelse)):
                rest = (*parts[:-1], self._absorb(last, tuple(map(self._sharing, rest))))
            else:
                rest = (*parts, *rest)
        return tuple(map(self._sharing, rest))

    def _sharing(self, part: core.Statement) -> core.Statement:
        """A statement that may call a nested function may assign what that assigns."""
        return replace(part, shares=self.shared) if self.shared and part.calls else part

    def _absorb(self, branch: core.If, tail: core.Body) -> core.If:
        body = branch.body if leaves(branch.body) else (*branch.body, *tail)
        orelse = branch.orelse if leaves(branch.orelse) else (*branch.orelse, *tail)
        return core.If(branch.test, body, orelse, span=branch.span)

    def statement(self, node: ast.stmt) -> tuple[core.Statement, ...]:  # noqa: C901  (one case per kind)
        """One statement; () where nothing is left of it."""
        span = self.source.span(node)
        dataflow = explicit(self.source, node, Desugarer(self.source, stored=self.stored).block, self.stored)
        if dataflow is not None:
            return (dataflow,)
        network = concurrent(self.source, node, Desugarer(self.source, stored=self.stored).block)
        if network is not None:
            return (network,)
        labelled = label_only(self.source, node)
        if labelled is not None:
            return self.block(labelled)
        match node:
            case ast.Pass():
                return ()
            case ast.Expr(value=ast.Constant()):
                return ()  # a docstring
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() as part):
                return (self._yield(part, span),)
            case ast.Expr(value=value):
                return (core.Evaluate(value, span=span),)
            case ast.Assign(targets=targets, value=value):
                return (core.Assign(tuple(targets), value, span=span),)
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                return () if value is None else (core.Assign((target,), value, annotation, span=span),)
            case ast.AugAssign(target=target, op=op, value=value):
                return (core.Augment(target, OPERATORS[type(op)], value, span=span),)
            case ast.Return(value=value):
                return (core.Return(value, span=span),)
            case ast.FunctionDef():
                return (self.function(node),)
            case ast.Delete(targets=targets):
                return tuple(self._delete(target, span) for target in targets)
            case ast.Assert(test=test, msg=message):
                return (core.Require(test, None, message, span=span),)
            case ast.Raise(exc=exception):
                return (core.Require(None, exception, None, span=span),)
            case ast.Import() | ast.ImportFrom():
                return tuple(_imports(node, span))
        return self._control(node, span)

    def _control(self, node: ast.stmt, span: SrcSpan) -> tuple[core.Statement, ...]:
        match node:
            case ast.If():
                return self._branch(node)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                loop = self._loop_body(body, bool(orelse))
                return self._with_else(loop[0], core.For(target, iterable, loop[1], span=span), orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                loop = self._loop_body(body, bool(orelse))
                return self._with_else(loop[0], core.While(test, loop[1], span=span), orelse)
            case ast.With(items=items, body=body):
                contexts = tuple((item.context_expr, item.optional_vars) for item in items)
                return (core.Enter(contexts, span=span), *self.block(body))
            case ast.Match():
                self.flags += 1
                return desugar_match(node, f".matched_{self.flags}", self.source, self.block)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return self._outer_names(node, names, span)
            case ast.Break():
                flag = self.loops[-1]
                mark = (_set(flag, value=True, span=span),) if flag else ()
                return (*mark, core.Break(span=span))
            case ast.Continue():
                return (core.Continue(span=span),)
        kind = type(node).__name__
        other = f"{kind} is not supported", "dcpy compiles a part of Python", "use plain statements"
        message, reason, rewrite = _REFUSED.get(kind, other)
        raise FrontendError(message, span=span, notes=(reason,), help=rewrite)

    def _branch(self, node: ast.If) -> tuple[core.Statement, ...]:
        """``if`` and each ``elif`` of it."""
        chain = [node]
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
            chain.append(chain[-1].orelse[0])
        bodies = [self.block(part.body) for part in chain]
        made = self.block(chain[-1].orelse)
        for part, body in zip(reversed(chain), reversed(bodies), strict=True):
            branch = core.If(part.test, body, made, span=self.source.span(part.test))
            made = (branch,) if part is node else tuple(map(self._sharing, self._shallow(branch)))
        return made

    def _shallow(self, statement: core.Statement) -> core.Body:
        """The statement, behind those that compute parts of an expression that is deep."""

        def name() -> str:
            self.flags += 1
            return f".part_{self.flags}"

        return without_deep_expressions(statement, self.source, name, names_change=bool(self.shared))

    def _outer_names(self, node: ast.stmt, names: Sequence[str], span: SrcSpan) -> tuple[core.Statement, ...]:
        """``global`` and ``nonlocal`` change nothing where names are only read; see `lower.functions.nonlocals`."""
        if isinstance(node, ast.Nonlocal) and self.nested:
            return ()
        if not self.stored.isdisjoint(names):
            message, reason, rewrite = _REFUSED[type(node).__name__]
            raise FrontendError(message, span=span, notes=(reason,), help=rewrite)
        return ()

    def _loop_body(self, body: Sequence[ast.stmt], has_else: bool) -> tuple[str, core.Body]:
        flag = ""
        if has_else:
            self.flags += 1
            flag = f".broke_{self.flags}"  # no Python name has a dot
        self.loops.append(flag)
        try:
            return flag, self.block(body)
        finally:
            self.loops.pop()

    def _with_else(self, flag: str, loop: core.Statement, orelse: Sequence[ast.stmt]) -> tuple[core.Statement, ...]:
        if not flag:
            return (loop,)
        span = self.source.span(orelse[0])
        test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
        ast.fix_missing_locations(ast.copy_location(test, orelse[0]))
        branch = core.If(test, self.block(orelse), (), span=span)
        return (_set(flag, value=False, span=loop.span), loop, branch)

    def _yield(self, node: ast.Yield | ast.YieldFrom, span: SrcSpan) -> core.Statement:
        """``yield value``, or ``yield from items``."""
        if isinstance(node, ast.Yield):
            return core.Yield(node.value or ast.copy_location(ast.Constant(None), node), span=span)
        self.flags += 1
        name = f".yielded_{self.flags}"
        target = ast.copy_location(ast.Name(name, ast.Store()), node)
        item = ast.copy_location(ast.Name(name, ast.Load()), node)
        return core.For(target, node.value, (core.Yield(item, span=span),), span=span)

    def _delete(self, target: ast.expr, span: SrcSpan) -> core.Statement:
        """``del name``, or ``del x[key]``, which calls a method."""
        if isinstance(target, ast.Name):
            return core.Delete(bound_names(target), span=span)
        if not isinstance(target, ast.Subscript):
            raise FrontendError("del takes only names and items", span=span, help="leave it out")
        method = ast.copy_location(ast.Attribute(target.value, "__delitem__", ast.Load()), target)
        call = ast.copy_location(ast.Call(method, [target.slice], []), target)
        return core.Evaluate(call, span=span)


def _imports(node: ast.Import | ast.ImportFrom, span: SrcSpan) -> Iterator[core.Assign]:
    """``import numpy.linalg as la``, ``from math import sqrt``: names that are bound to what is known."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            name, value = alias.asname or alias.name, core.Imported(node.module or "", alias.name, node.level)
        else:
            name = alias.asname or alias.name.partition(".")[0]
            value = core.Imported(alias.name, top=alias.asname is None)
        yield core.Assign((ast.copy_location(ast.Name(name, ast.Store()), node),), value, span=span)


def _set(flag: str, *, value: bool, span: SrcSpan) -> core.Assign:
    return core.Assign((ast.Name(flag, ast.Store()),), core.KnownBool(value), span=span)


def _goes_elsewhere(body: core.Body) -> bool:
    """Return whether control never reaches the end of the body, but does not just raise on every path."""
    return leaves(body) and not _raises(body)


def _raises(body: core.Body) -> bool:
    match body[-1] if body else None:
        case core.Require(test=None):
            return True
        case core.If() as branch:
            return all(map(_raises, branch.sides()))
    return False


def leaves(body: core.Body) -> bool:
    """Return whether a body never reaches its end: it returns, breaks or continues on every path."""
    if not body:
        return False
    match body[-1]:
        case core.Return() | core.Break() | core.Continue():
            return True
        case core.Require(test=None):
            return True
        case core.If() as branch:
            return all(map(leaves, branch.sides()))
    return False


def generated(source: Source, node: ast.FunctionDef) -> core.Body:
    """The statements of a generator function, which yield."""
    plain = {part.value for part in walk(node) if isinstance(part, ast.Expr)}
    for part in walk(node):
        if isinstance(part, ast.Yield | ast.YieldFrom) and part not in plain:
            raise FrontendError(
                "sending values to a generator is not supported",
                span=source.span(part),
                notes=("a loop requests its items, and cannot send values to it",),
                help="pass the value as an argument, or write the loop out",
            )
    return Desugarer(source).block(node.body)


def _yields(source: Source, node: ast.FunctionDef) -> bool:
    """Return whether a function is a generator: it yields itself, and not in a function inside."""
    found, pending = False, list[ast.AST](node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Await):
            raise FrontendError(_ASYNC[0], span=source.span(part), notes=(_ASYNC[1],), help=_ASYNC[2])
        found = found or isinstance(part, ast.Yield | ast.YieldFrom)
        if not isinstance(part, ast.FunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(part)
    return found
