"""Syntax of explicit dataflow: ``with dcpy.tasklet:``, ``@dcpy.map(_[0:N])``, as core statements.

Which word a name stands for is looked up before anything is evaluated, because it decides whose the names inside are:
those of a tasklet are its own.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.dataflow.dataflow_functions import named
from dcpy.frontend.dataflow.syntax_markers import Marker, tasklet
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bound_and_free_names import bound_names, parameter_names, read_names
from dcpy.frontend.introspection.function_source import Source
from dcpy.frontend.mapscope import MapScope, mapscope

LowerBlock = Callable[[Sequence[ast.stmt]], core.Body]
_MISSING = object()


def explicit(source: Source, node: ast.stmt, block: LowerBlock, own: frozenset[str]) -> core.Statement | None:
    """The core statement of a form of explicit dataflow; None for every other statement.

    `own`: the names that the function around assigns.
    """
    match node:
        case ast.With(items=[ast.withitem(context_expr=word)], body=body):
            if not isinstance(word_of(source, word), Marker):
                return None
            _require_tasklet(source, word)
            return _tasklet(source, node, "tasklet", body, block, own)
        case ast.FunctionDef(decorator_list=[word]):
            found = word_of(source, word)
            if isinstance(found, MapScope):
                return _scope(source, node, word, block, own, whole=found is mapscope)
            if isinstance(found, Marker):
                _require_tasklet(source, word)
                return _tasklet(source, node, node.name, node.body, block, own)
    return None


def label_only(source: Source, node: ast.stmt) -> Sequence[ast.stmt] | None:
    """The statements of ``with dcpy.named("part"):``, which is for readers; None for others."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=word))], body=body):
            return body if word_of(source, word) is named else None
    return None


def word_of(source: Source, node: ast.expr) -> Any:
    """The object that a name, an attribute, or what is called or indexed there stands for; a mark where unknown."""
    match node:
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return word_of(source, inner)
        case ast.Attribute(value=owner, attr=name):
            return getattr(word_of(source, owner), name, _MISSING)
        case ast.Constant(value=Marker() as marker):  # put there by `process_syntax`
            return marker
        case ast.Name(id=name):
            function: Any = source.function
            free = function.__code__.co_freevars if hasattr(function, "__code__") else ()
            cells = dict(zip(free, getattr(function, "__closure__", None) or (), strict=True))
            if name not in cells:
                return getattr(function, "__globals__", {}).get(name, getattr(builtins, name, _MISSING))
            try:
                return cells[name].cell_contents
            except ValueError:  # not assigned yet
                return _MISSING
    return _MISSING


def _require_tasklet(source: Source, word: ast.expr) -> None:
    found = word_of(source, word)
    if found is not tasklet:
        raise FrontendError(f"{found!r} opens no scope", span=source.span(word), help="write `with dcpy.tasklet:`")
    if isinstance(word, ast.Call):
        _require_python(source, word)


def _require_python(source: Source, word: ast.Call) -> None:
    """``tasklet(language=...)`` takes Python only."""
    given = [*word.args, *(keyword.value for keyword in word.keywords if keyword.arg == "language")]
    others = [keyword.arg for keyword in word.keywords if keyword.arg not in ("language", "side_effects")]
    names = [part.value if isinstance(part, ast.Constant) else getattr(part, "attr", "?") for part in given]
    if others or names not in ([], ["Python"]):
        what = f"{others[0]}=" if others else f"the language {names[0]!r}"
        raise FrontendError(
            f"a tasklet does not take {what}",
            span=source.span(word),
            notes=("a tasklet is Python: it is checked, interpreted and compiled like the rest of the program",),
            help="write its body in Python, or call a C function through a library node (examples/user_library)",
        )


# -- tasklets --------------------------------------------------------------------------------------------------------


def _tasklet(
    source: Source, node: ast.stmt, name: str, body: Sequence[ast.stmt], block: LowerBlock, own: frozenset[str]
) -> core.Tasklet:
    span = source.span(node)
    if isinstance(node, ast.FunctionDef) and parameter_names(node.args):
        raise FrontendError(
            f"the tasklet {name!r} has parameters",
            span=span,
            notes=("a tasklet declares its reads and writes as memlets, `a << A[i]` and `b >> B[i]`",),
            help=f"write `def {name}():` with the memlets in its body",
        )
    movements: list[core.Movement] = []
    rest: list[ast.stmt] = []
    for statement in _without_text(source, body):
        moved = _movement(statement)
        if moved is None:
            rest.append(statement)
        else:
            movements.append(moved)
    _require_no_jumps(source, rest)
    _require_one_each(source, movements)
    made = block(rest)
    bound = core.NOTHING.union(*(statement.bound for statement in made), {movement.name for movement in movements})
    reads = frozenset(read for statement in rest for read in read_names(statement))
    numbers = frozenset(m.data.id for m in movements if m.writes and isinstance(m.data, ast.Name))
    return core.Tasklet(name, tuple(movements), made, reads - bound, numbers & own, span=span)


def _without_text(source: Source, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements; those that are written as one text, after the memlets, as statements."""
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str() as text)) if len(body) > 1:
                try:
                    inner = ast.parse(textwrap.dedent(text)).body
                except SyntaxError as error:
                    raise FrontendError(
                        f"the text of this tasklet is not Python: {error.msg}",
                        span=source.span(statement),
                        help="write the body of the tasklet in Python, as plain statements",
                    ) from None
                for part in (part for tree in inner for part in ast.walk(tree)):
                    ast.copy_location(part, statement)
                yield from inner
            case _:
                yield statement


def moves(body: Sequence[ast.stmt]) -> bool:
    """Return whether there are memlets among statements: then they are a tasklet."""
    return any(_movement(statement) is not None for statement in body)


def _movement(statement: ast.stmt) -> core.Movement | None:
    """``name << data[subset]``, ``name >> data(volume, resolution)[subset]``; None for other statements."""
    match statement:
        case ast.Expr(value=ast.BinOp(left=ast.Name(id=name), op=ast.LShift() | ast.RShift() as arrow, right=data)):
            pass
        case _:
            return None
    options: list[ast.expr] = []
    match data:
        case ast.Call(func=function, args=args, keywords=keywords):
            options, data = _options(args, keywords), function
        case ast.Subscript(value=ast.Call(func=function, args=args, keywords=keywords), slice=key):
            options = _options(args, keywords)
            data = ast.copy_location(ast.Subscript(function, key, ast.Load()), data)
    dynamic = bool(options) and ast.unparse(options[0]) == "-1"
    resolution = options[1] if len(options) > 1 else None
    if isinstance(resolution, ast.Constant) and resolution.value is None:
        resolution = None
    return core.Movement(name, data, isinstance(arrow, ast.RShift), dynamic, resolution, statement.value)


def _options(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[ast.expr]:
    """The volume and the resolution of a memlet. An identity after them is the initial value."""
    named = {keyword.arg: keyword.value for keyword in keywords}
    volume = args[0] if args else named.get("volume", ast.Constant(1))
    resolution = args[1] if len(args) > 1 else named.get("wcr")
    return [volume] if resolution is None else [volume, resolution]


def _leaving(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Jumps out of a body: those of its own loops stay inside."""
    for statement in body:
        match statement:
            case ast.Break() | ast.Continue():
                yield statement
            case ast.If(body=inner, orelse=orelse):
                yield from _leaving([*inner, *orelse])


def _require_no_jumps(source: Source, body: Sequence[ast.stmt]) -> None:
    for jump in _leaving(body):
        raise FrontendError(
            f"{type(jump).__name__.lower()} out of a tasklet",
            span=source.span(jump),
            notes=("a tasklet computes: it does not decide what the program does next",),
            help="write a result, and test it outside of the tasklet",
        )
    for part in (part for statement in body for part in ast.walk(statement)):
        if isinstance(part, ast.Return):
            raise FrontendError(
                "a tasklet returns nothing",
                span=source.span(part),
                notes=("a tasklet returns results by assigning to the names of its output memlets",),
                help="assign the value to the name in `name >> data[...]`",
            )
        if isinstance(part, ast.With | ast.FunctionDef) and _is_explicit(source, part):
            raise FrontendError(
                "a tasklet inside of a tasklet",
                span=source.span(part),
                notes=("a tasklet can access only the data of its memlets",),
                help="write them one after the other, or in a dcpy.mapscope",
            )


def _is_explicit(source: Source, node: ast.With | ast.FunctionDef) -> bool:
    words = [item.context_expr for item in node.items] if isinstance(node, ast.With) else node.decorator_list
    return any(isinstance(word_of(source, word), Marker | MapScope) for word in words)


def _require_one_each(source: Source, movements: Sequence[core.Movement]) -> None:
    seen: set[tuple[str, bool]] = set()
    for movement in movements:
        key = (movement.name, movement.writes)
        if key in seen:
            raise FrontendError(
                f"two memlets of the tasklet are called {movement.name!r}",
                span=source.span(movement.tree),
                help="give each a name of its own",
            )
        seen.add(key)


# -- scopes ----------------------------------------------------------------------------------------------------------


def _scope(
    source: Source, node: ast.FunctionDef, word: ast.expr, block: LowerBlock, own: frozenset[str], *, whole: bool
) -> core.For:
    """``@dcpy.map(_[0:N]) def f(i)`` is a map of one tasklet, ``@dcpy.mapscope`` a map over statements."""
    span = source.span(node)
    names = parameter_names(node.args)
    ranges, marked = _ranges(source, node, word)
    called = word.func if isinstance(word, ast.Call) else word
    subscript = called.value if isinstance(called, ast.Subscript) else called
    key = ranges[0] if len(ranges) == 1 else ast.Tuple(ranges, ast.Load())
    points: ast.expr = ast.Subscript(subscript, key, ast.Load())
    for mark in marked:
        points = ast.BinOp(points, ast.MatMult(), mark)
    targets: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Store()), node) for name in names]
    target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
    for tree in (points, target):
        ast.fix_missing_locations(ast.copy_location(tree, word))
    if whole or not moves(node.body):
        body = block(node.body)
    else:
        body = (_tasklet(source, ast.copy_location(ast.Pass(), node), node.name, node.body, block, own),)
    if any(isinstance(part, ast.Return) for statement in node.body for part in ast.walk(statement)):
        raise FrontendError("return inside a parallel map", span=span, help="store into an array")
    assert bound_names(target)
    return core.For(target, points, body, span=span)


def _ranges(source: Source, node: ast.FunctionDef, word: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """The ranges, from the decorator or from the annotations of the parameters; what else the decorator is given."""
    given = word.args if isinstance(word, ast.Call) else []
    marked = [part for part in given if not isinstance(part, ast.Subscript)]
    if isinstance(word, ast.Call):
        marked += [keyword.value for keyword in word.keywords if keyword.arg == "schedule"]
    keys = [part.slice for part in given if isinstance(part, ast.Subscript)]
    if not keys and isinstance(word, ast.Subscript):
        keys = [word.slice]
    if not keys:
        annotations = [arg.annotation for arg in node.args.args]
        keys = [part.slice for part in annotations if isinstance(part, ast.Subscript)]
    ranges = [part for key in keys for part in (key.elts if isinstance(key, ast.Tuple) else [key])]
    if not ranges or len(ranges) != len(node.args.args):
        raise FrontendError(
            f"{node.name!r} has {len(node.args.args)} parameters for {len(ranges)} ranges of the map",
            span=source.span(node),
            help="write `@dcpy.map(_[0:M, 0:N])` above `def f(i, j):`, or `def f(i: _[0:M], j: _[0:N]):`",
        )
    return ranges, marked
