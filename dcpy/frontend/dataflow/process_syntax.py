"""Syntax of concurrent processes: ``with dcpy.dataflow():`` and its functions, as core statements.

``@dcpy.consume(s, P) def work(element, worker):`` is a dataflow block of one endless process, which pops in a loop:
the block ends when it waits for ever.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from dcpy.base.errors import FrontendError
from dcpy.frontend.dataflow.dataflow_syntax import LowerBlock, moves, word_of
from dcpy.frontend.dataflow.python_streams import consume, consumescope, dataflow, process
from dcpy.frontend.dataflow.syntax_markers import tasklet
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.introspection.function_source import Source


def concurrent(source: Source, node: ast.stmt, block: LowerBlock) -> core.Statement | None:
    """The core statement of a form of concurrency; None for every other statement."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=word)], body=body) if word_of(source, word) is dataflow:
            found = tuple(_process(source, inner, block) for inner in body if not _is_docstring(inner))
            return core.Dataflow(found, span=source.span(node))
        case ast.FunctionDef(decorator_list=[word]):
            if word_of(source, word) is process:
                raise FrontendError(
                    f"the process {node.name!r} is in no dataflow block",
                    span=source.span(node),
                    help="write it directly inside of `with dcpy.dataflow():`",
                )
            if word_of(source, word) in (consume, consumescope):
                made = core.Process(node.name, _worklist(source, node, word, block), (), True, span=source.span(node))
                return core.Dataflow((made,), span=source.span(node))
    return None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _process(source: Source, node: ast.stmt, block: LowerBlock) -> core.Process:
    match node:
        case ast.FunctionDef(decorator_list=[word]) if word_of(source, word) is process:
            _require_own_names(source, node)
            points, endless = _options(source, word)
            return core.Process(node.name, _defined(node, node.body, block), points, endless, span=source.span(node))
    raise FrontendError(
        "a dataflow block holds processes only",
        span=source.span(node),
        notes=("all in it runs at the same time",),
        help="write `@dcpy.process` above a function, and other statements in front of the block",
    )


def _options(source: Source, word: ast.expr) -> tuple[tuple[ast.expr, ...], bool]:
    """The ranges of a process, and whether it is endless."""
    if not isinstance(word, ast.Call):
        return (), False
    endless = False
    for keyword in word.keywords:
        known = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool)
        if keyword.arg != "endless" or not known:
            raise FrontendError(
                f"a process takes no {keyword.arg}= like this", span=source.span(word), help="write endless=True"
            )
        endless = bool(keyword.value.value)  # type: ignore[attr-defined]
    return tuple(word.args), endless


def _require_own_names(source: Source, node: ast.FunctionDef) -> None:
    for part in ast.walk(node):
        if isinstance(part, ast.Nonlocal | ast.Global):
            raise FrontendError(
                f"the process {node.name!r} assigns names that are not its own: {', '.join(part.names)}",
                span=source.span(part),
                notes=("other processes may read them at the same time",),
                help="hand values over through a stream, or store into an array",
            )


def _defined(node: ast.FunctionDef, body: Sequence[ast.stmt], block: LowerBlock) -> core.Define:
    """The function without what decorates it."""
    plain = copy.copy(node)
    plain.decorator_list, plain.body = [], list(body)
    (made,) = block([plain])
    assert isinstance(made, core.Define)
    return made


def _worklist(source: Source, node: ast.FunctionDef, word: ast.expr, block: LowerBlock) -> core.Define:
    """``while True: worker = next; element = s.pop(); ...`` as a function of its own."""
    names = parameter_names(node.args)
    given = [*word.args, *(keyword.value for keyword in word.keywords)] if isinstance(word, ast.Call) else []
    if len(names) != 2 or not 1 <= len(given) <= 2:
        raise FrontendError(
            f"{node.name!r} does not consume a stream like this",
            span=source.span(node),
            help="write `@dcpy.consume(s, 4)` above `def work(element, worker):`",
        )
    _require_own_names(source, node)
    for part in ast.walk(node):
        if isinstance(part, ast.Return):
            raise FrontendError("return in a consume scope", span=source.span(part), help="use `if`, or `continue`")
    element, worker = names
    stream, workers = given[0], given[1] if len(given) == 2 else ast.Constant(1)
    body: list[ast.stmt] = list(node.body)
    if moves(body):
        body = [ast.With([ast.withitem(ast.Constant(tasklet))], body)]  # type: ignore[arg-type]
    used = {part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)}
    begin: list[ast.stmt] = []
    turn: list[ast.stmt] = [
        _assigned(element, ast.Call(ast.Attribute(stream, "pop", ast.Load()), [], []))
    ]
    if worker in used:
        begin = [_assigned(worker, ast.Constant(-1))]
        following = ast.BinOp(ast.Name(worker, ast.Load()), ast.Add(), ast.Constant(1))
        turn.insert(0, _assigned(worker, ast.BinOp(following, ast.Mod(), workers)))
    loop = ast.While(ast.Constant(True), [*turn, *body], [])
    plain = copy.copy(node)
    plain.args = ast.arguments([], [], None, [], [], None, [])
    statements = [ast.fix_missing_locations(ast.copy_location(part, word)) for part in (*begin, loop)]
    return _defined(plain, statements, block)


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
