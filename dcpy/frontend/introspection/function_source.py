"""Syntax tree of a Python function, with places that point into the user's text.

The text (`frontend.introspection.source_texts`) may have changed since Python has read it, and several functions of one
name may be in it. So it is compiled again (never run), and each definition compared with the code object that Python
runs (`frontend.introspection.bytecode_equality`): the one that means the same is the source, wherever in the text it is
now. Where there is none, the function is refused.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.source import SrcSpan, call_chain, definition_span
from dcpy.frontend.introspection.ast_traversal import walk
from dcpy.frontend.introspection.bytecode_equality import Extent, extent_of, is_rewritten, means_the_same
from dcpy.frontend.introspection.source_texts import SENT_BY_VALUE, texts_of, why_unknown

FunctionNode = ast.FunctionDef | ast.Lambda

_FUTURES = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


@dataclass(frozen=True)
class Source:
    """The tree of one function, and the file that its places are in."""

    function: Callable[..., Any]
    node: FunctionNode
    file: str

    @property
    def is_own(self) -> bool:
        """Return whether it is a part of dcpy: NumPy functions that are written in Python. No place in it is the
        user's.
        """
        return (getattr(self.function, "__module__", None) or "").partition(".")[0] == "dcpy"

    @property
    def wraps(self) -> bool:
        """Return whether integers in it are not checked for overflow: those of dcpy's own functions are sizes and
        places.
        """
        return self.is_own and not hasattr(self.function, "computes_with_integers")

    @property
    def is_step(self) -> bool:
        """Return whether it is what a generator does from one ``yield`` to the next."""
        return hasattr(self.function, "is_step")

    def span(self, node: ast.AST) -> SrcSpan:
        """The place of a node in the file."""
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        file, calls = getattr(node, "taken_from", None) or (self.file, ())
        return SrcSpan(file, line, column, end or line, end_column or 0, calls)


def take_over(tree: ast.AST, file: str, function: str, at: SrcSpan) -> None:
    """Mark the tree of a function that becomes a part of another one: its places stay, and are in a call."""
    chain = call_chain(function, at)
    for part in ast.walk(tree):
        inner, calls = getattr(part, "taken_from", None) or (file, ())
        part.taken_from = inner, (*calls, *chain)  # type: ignore[attr-defined]


def read_source(function: Callable[..., Any]) -> Source:
    """Parse the definition of a function; `FrontendError` where there is none, or another one than Python runs."""
    if not isinstance(function, types.FunctionType):
        raise FrontendError(f"{function!r} is not a Python function")
    if (node := getattr(function, "written_as", None)) is not None:  # it is made of another one
        return Source(function, node, function.__code__.co_filename)
    code = function.__code__
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise FrontendError(
            "coroutines are not supported",
            span=definition_span(code),
            notes=("a program runs from its start to its end, without waiting for others",),
            help="write a plain function: `def`",
        )
    readable = False
    for name, text in texts_of(function):
        try:
            parsed = _parse(text, name, code.co_flags & _FUTURES)
        except (SyntaxError, ValueError):
            continue
        readable = True
        found = parsed.definition_of(code)
        if found is not None:
            return Source(function, found.node, name)
    raise _changed(function) if readable and not code.co_filename.startswith("<") else _unknown(function)


def attach_source_file(function: types.FunctionType) -> None:
    """Give a function that was sent by value the file that its definition is in, which cloudpickle leaves out."""
    if function.__code__.co_filename == SENT_BY_VALUE:
        try:
            file = read_source(function).file
        except FrontendError:  # raised where the source is needed
            return
        function.__code__ = function.__code__.replace(co_filename=file)


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
class _Definition:
    """A function in a text: its tree, and what this Python compiles it to."""

    node: FunctionNode
    code: types.CodeType

    @functools.cached_property
    def start(self) -> tuple[int, int]:
        """The line of the definition, decorators included, and the column where its body starts."""
        return _start(self.code)

    def assertions(self) -> list[tuple[int, int]]:
        """First and last lines of the assertions inside, from the first line of the definition."""
        found = (node for node in walk(self.node) if isinstance(node, ast.Assert))
        first = self.code.co_firstlineno
        return [(node.lineno - first, (node.end_lineno or node.lineno) - first) for node in found]

    def is_of(self, code: types.CodeType) -> bool:
        """Return whether this is what the code was compiled from."""
        return means_the_same(code, self.code, self.assertions() if is_rewritten(code) else ())


@dataclass(frozen=True)
class _ParsedFunctions:
    """All functions of a text, by name."""

    definitions: dict[str, tuple[_Definition, ...]]

    def definition_of(self, code: types.CodeType) -> _Definition | None:
        """The definition of a code object: of those that mean the same, the nearest to where it was."""
        place = _start(code)
        near = sorted(self.definitions.get(code.co_name, ()), key=lambda known: _distance(place, known.start))
        return next((known for known in near if known.is_of(code)), None)


def _start(code: types.CodeType) -> tuple[int, int]:
    """The line of a definition, decorators included, and the column where its body starts."""
    extent = extent_of(code)
    return code.co_firstlineno, extent[0][1] if extent else 0


def _distance(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return abs(one[0] - other[0]), abs(one[1] - other[1])


@functools.lru_cache(maxsize=64)
def _parse(text: str, file: str, futures: int) -> _ParsedFunctions:
    tree = ast.parse(text, file)
    flags = futures | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as in a notebook
    codes = list(_codes(compile(text, file, "exec", flags=flags, dont_inherit=True)))
    found: dict[str, list[_Definition]] = {}
    for node, code in _paired(tree, codes):
        found.setdefault(code.co_name, []).append(_Definition(node, code))
    return _ParsedFunctions({name: tuple(definitions) for name, definitions in found.items()})


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _paired(tree: ast.Module, codes: list[types.CodeType]) -> Iterator[tuple[FunctionNode, types.CodeType]]:
    """Each definition with its code: a ``def`` by its name and first line, a lambda by the place of its body."""
    by_place = {(code.co_name, code.co_firstlineno): code for code in codes}
    lambdas: dict[int, list[ast.Lambda]] = {}  # by the lines that they start on
    for node in walk(tree):
        if isinstance(node, ast.Lambda):
            lambdas.setdefault(node.lineno, []).append(node)
        elif isinstance(node, ast.FunctionDef):
            first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list)))
            code = by_place.get((node.name, first))
            if code is not None:
                yield node, code
    for code in codes:
        if code.co_name == "<lambda>":
            extent = extent_of(code)
            around = [node for node in lambdas.get(code.co_firstlineno, ()) if _may_be(node, code, extent)]
            if around and (len(around) == 1 or extent is not None):
                yield around[-1], code  # the innermost, as `walk` goes from the outside in


def _may_be(node: ast.Lambda, code: types.CodeType, extent: Extent | None) -> bool:
    parameters = tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    return parameters == code.co_varnames[: len(parameters)] and (extent is None or _holds(node.body, extent))


def _holds(body: ast.expr, extent: Extent) -> bool:
    start, end = extent
    last = (body.end_lineno or body.lineno, body.end_col_offset or 0)
    return (body.lineno, body.col_offset) <= start and end <= last


def _changed(function: types.FunctionType) -> FrontendError:
    code = function.__code__
    if code.co_name == "<lambda>" and extent_of(code) is None:
        return FrontendError(
            "there are several lambdas on this line",
            span=SrcSpan(code.co_filename, code.co_firstlineno),
            notes=("Python keeps no columns: it was started with -X no_debug_ranges, or PYTHONNODEBUGRANGES",),
            help="put each lambda on a line of its own, or use def",
        )
    return FrontendError(
        f"the source of {function.__name__!r} changed after it was imported",
        span=SrcSpan(code.co_filename, code.co_firstlineno),
        notes=("no definition in the current file matches the running code (or an import hook has rewritten it)",),
        help="import the module again: importlib.reload(module), %autoreload in a notebook, or restart Python",
    )


def _unknown(function: types.FunctionType) -> FrontendError:
    why, instead = why_unknown(function.__code__.co_filename)
    return FrontendError(f"the source of {function.__name__!r} cannot be read", notes=(why,), help=instead)
