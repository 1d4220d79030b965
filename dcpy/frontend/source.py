"""From a Python function to its syntax tree, with places that point into the user's file.

The source on disk may have changed since the function was imported, so the file is compiled again (never run) and the
function's code compared with the code object that Python runs. It has to be the whole file: CPython compiles a call
like ``np.exp(x)`` differently where it sees that `np` is an imported module. Functions without a source (typed into a
REPL, made by ``exec``) are refused.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan, definition_span

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """The tree of one function, and the file that its places are in."""

    function: Callable[..., Any]
    node: FunctionNode
    file: str

    def span(self, node: ast.AST) -> SrcSpan:
        """The place of a node in the file."""
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        return SrcSpan(self.file, line, column, end or line, end_column or 0)


def read_source(function: Callable[..., Any]) -> Source:
    """Parses the definition of a function; `FrontendError` where there is none, or another one than was imported."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        raise FrontendError(f"{function!r} is not a Python function")
    file = inspect.getsourcefile(function) or code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not lines:
        raise FrontendError(
            f"the source of {function.__name__!r} cannot be read",
            notes=(f"it was defined in {code.co_filename!r}, which is no file",),
            help="define the function in a file",
        )
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise FrontendError(
            "coroutines are not supported",
            span=definition_span(code),
            notes=("a program runs from its start to its end, without waiting for others",),
            help="write a plain function: `def`",
        )
    try:
        parsed = _parse("".join(lines), file)
    except SyntaxError:
        raise _changed(function) from None
    nodes = [node for node in parsed.functions if _is_definition(node, code)]
    if len(nodes) > 1:
        raise FrontendError(
            "there are several lambdas on this line",
            notes=("Python remembers the line of a lambda, and not where in it",),
            span=SrcSpan(code.co_filename, code.co_firstlineno),
            help="put each on a line of its own, or use def",
        )
    rewritten = any("@" in name for name in code.co_names)  # by an import hook (pytest's): names no source can spell
    if not nodes or not (rewritten or any(_same(code, other) for other in parsed.codes)):
        raise _changed(function)
    return Source(function, nodes[0], file)


def parameter_span(function: Callable[..., Any], name: str) -> SrcSpan | None:
    """The place of a parameter, with its annotation; None where that cannot be found."""
    try:
        source = read_source(function)
    except FrontendError:
        return None
    arguments = source.node.args
    for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if node.arg == name:
            return source.span(node)
    return None


@dataclass(frozen=True)
class _Parsed:
    """All functions of a file: their trees, and their code as this Python compiles it."""

    functions: tuple[FunctionNode, ...]
    codes: tuple[types.CodeType, ...]


@functools.lru_cache(maxsize=64)
def _parse(text: str, file: str) -> _Parsed:
    tree = ast.parse(text)
    functions = tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
    return _Parsed(functions, tuple(_codes(compile(text, file, "exec", dont_inherit=True))))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _is_definition(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether a tree is where a code object says that it comes from."""
    parameters = tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    if parameters != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list)))
    return node.name == code.co_name and first == code.co_firstlineno


def _changed(function: Callable[..., Any]) -> FrontendError:
    code = function.__code__
    return FrontendError(
        f"the source of {function.__name__!r} changed after it was imported",
        span=SrcSpan(code.co_filename, code.co_firstlineno),
        help="import the module again (restart Python)",
    )


def _same(left: types.CodeType, right: types.CodeType) -> bool:
    if (left.co_name, left.co_names, left.co_varnames) != (right.co_name, right.co_names, right.co_varnames):
        return False
    if left.co_code != right.co_code or len(left.co_consts) != len(right.co_consts):
        return False
    return all(
        _same(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else repr(a) == repr(b)
        for a, b in zip(left.co_consts, right.co_consts, strict=True)
    )
