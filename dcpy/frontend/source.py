"""From a Python function to its syntax tree, with places that point into the user's file.

The source on disk may have changed since the function was imported, so what is parsed is compiled and compared with
the code object that Python runs. Functions without a source (typed into a REPL, made by ``exec``) are refused.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """The tree of one function, and how its places map to the file."""

    function: Callable[..., Any]
    node: FunctionNode
    file: str
    line_offset: int
    column_offset: int

    def span(self, node: ast.AST) -> SrcSpan:
        """The place of a node in the file."""
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        shift = self.column_offset
        return SrcSpan(
            self.file, line + self.line_offset, column + shift, (end or line) + self.line_offset, end_column + shift
        )


def read_source(function: Callable[..., Any]) -> Source:
    """Parses the definition of a function; `FrontendError` where there is none, or another one than was imported."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        raise FrontendError(f"{function!r} is not a Python function")
    file = inspect.getsourcefile(function) or code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    if not lines or code.co_firstlineno > len(lines):
        raise FrontendError(
            f"the source of {function.__name__!r} cannot be read",
            notes=(f"it was defined in {code.co_filename!r}, which is no file",),
            help="define the function in a file",
        )
    block = _block(lines[code.co_firstlineno - 1 :], function)
    text = textwrap.dedent("".join(block))
    indent = len(block[0]) - len(block[0].lstrip())
    node = _find(text, code, function)
    source = Source(function, node, file, code.co_firstlineno - 1, indent)
    _require_same_code(source, code)
    return source


def _block(lines: list[str], function: Callable[..., Any]) -> list[str]:
    try:
        return inspect.getblock(lines)
    except (SyntaxError, IndentationError):
        raise _changed(function) from None


def _find(text: str, code: types.CodeType, function: Callable[..., Any]) -> FunctionNode:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        tree = _parse_fragment(text, function)
    wanted = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [node for node in ast.walk(tree) if isinstance(node, wanted)]
    if wanted is ast.Lambda:
        names = code.co_varnames[: code.co_argcount]
        found = [node for node in found if tuple(a.arg for a in node.args.args) == names]
        if len(found) > 1:
            raise FrontendError(
                "there are several lambdas on this line",
                span=SrcSpan(code.co_filename, code.co_firstlineno),
                help="put each on a line of its own, or use def",
            )
    else:
        found = [node for node in found if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
    if not found:
        raise _changed(function)
    return found[0]  # type: ignore[return-value]


def _parse_fragment(text: str, function: Callable[..., Any]) -> ast.AST:
    """The line of a lambda may start or end inside an expression: the lambda alone is tried."""
    start = text.find("lambda")
    for end in range(len(text), start, -1):
        if start < 0:
            break
        try:
            tree = ast.parse(" " * 0 + text[start:end], mode="eval")
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if hasattr(node, "col_offset") and getattr(node, "lineno", 0) == 1:
                node.col_offset += start  # type: ignore[attr-defined]
                node.end_col_offset = (getattr(node, "end_col_offset", 0) or 0) + start  # type: ignore[attr-defined]
        return tree
    raise _changed(function)


def _changed(function: Callable[..., Any]) -> FrontendError:
    code = function.__code__
    return FrontendError(
        f"the source of {function.__name__!r} changed after it was imported",
        span=SrcSpan(code.co_filename, code.co_firstlineno),
        help="import the module again (restart Python)",
    )


def _require_same_code(source: Source, code: types.CodeType) -> None:
    """Compiles what was read, and compares it with what Python runs."""
    if isinstance(source.node, ast.Lambda) or any("@" in name for name in code.co_names):
        return  # import hooks (pytest's) rewrite code under names that no source can spell
    compiled = _compile(source.node, code)
    if compiled is None or not _same(compiled, code):
        raise _changed(source.function)


def _compile(node: ast.FunctionDef, code: types.CodeType) -> types.CodeType | None:
    """The function compiled inside another one that defines its free variables, so that they are cells again."""
    bare = ast.FunctionDef(
        name=node.name, args=node.args, body=node.body, decorator_list=[], returns=None, type_comment=None
    )
    free = [ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.Constant(None)) for name in code.co_freevars]
    outer = ast.FunctionDef(
        name="outer", args=_no_arguments(), body=[*free, bare], decorator_list=[], returns=None, type_comment=None
    )
    inner: list[ast.stmt] = [outer] if code.co_freevars else [bare]
    module = ast.fix_missing_locations(ast.Module(body=inner, type_ignores=[]))
    flags = code.co_flags & __future__.annotations.compiler_flag
    return _find_code(compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True), node.name)


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _find_code(code: types.CodeType, name: str) -> types.CodeType | None:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == name:
                return constant
            inner = _find_code(constant, name)
            if inner is not None:
                return inner
    return None


def _same(left: types.CodeType, right: types.CodeType) -> bool:
    if (left.co_code, left.co_names, left.co_varnames) != (right.co_code, right.co_names, right.co_varnames):
        return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(
        _same(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else repr(a) == repr(b)
        for a, b in zip(left.co_consts, right.co_consts, strict=True)
    )
