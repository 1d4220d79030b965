"""Internal errors: an unexpected exception becomes a `CompilerFault` with a place in the program.

The place is that of the innermost thing with one that dcpy was working on: frames of the traceback have it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from dcpy.base.errors import CompilerFault, DcpyError, FrontendError
from dcpy.base.source import SrcSpan
from dcpy.base.tracebacks import is_marked, is_of_library, is_own, traced

P = ParamSpec("P")
R = TypeVar("R")

_HOME = str(Path(__file__).parents[1])
#: of the machine, of the interpreter, or chosen by the user (``-W error``): not faults
_NOT_FAULTS = (DcpyError, OSError, MemoryError, ImportError, Warning)


def faults_reported(function: Callable[P, R]) -> Callable[P, R]:
    """A step of compilation, of which unexpected exceptions become `CompilerFault`.

    What code of the user's raises, that runs meanwhile, stays what it is.
    """

    @functools.wraps(function)
    def step(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except _NOT_FAULTS:
            raise
        except RecursionError as error:
            if is_marked(error) or not _is_all_ours(error.__traceback__):
                raise
            raise _too_deep(error) from error
        except Exception as error:
            if is_marked(error) or not _is_all_ours(error.__traceback__):
                raise
            raise _fault(error) from error

    return step


def _is_all_ours(traceback: TracebackType | None) -> bool:
    return all(is_own(part) or is_of_library(part) for part in traced(traceback))


def _fault(error: Exception) -> CompilerFault:
    parts = traced(error.__traceback__)
    last = [part for part in parts if is_own(part)][-1]
    module, line = last.tb_frame.f_globals.get("__name__", ""), last.tb_lineno
    said = " ".join(str(error).split())
    return CompilerFault(
        f"this is a fault of dcpy, please report it: {type(error).__name__}{': ' if said else ''}{said[:200]}",
        span=place_of([part.tb_frame for part in parts]),
        notes=(f"raised in {module}, line {line}",),
        help="send the program and this message; `@dcpy.callback` lets Python run the part that it comes from",
    )


def _too_deep(error: RecursionError) -> FrontendError:
    """Return the error for a program that nests deeper than Python's stack lets dcpy follow."""
    frames = [part.tb_frame for part in traced(error.__traceback__)]
    return FrontendError(
        "this part of the program nests too deep",
        span=place_of(frames),
        notes=("values, branches or expressions are nested several hundred levels deep",),
        help="keep the parts in a flat list or array, or raise sys.setrecursionlimit(...)",
    )


def place_of(frames: list[FrameType]) -> SrcSpan | None:
    """The place in the user's program of what the innermost frames work on; None where none of them has any."""
    tree: ast.AST | None = None
    for frame in reversed(frames):
        for value in _held(frame):
            span = getattr(value, "span", None)
            if isinstance(span, SrcSpan):
                if span.file.startswith(_HOME):  # NumPy's functions that are written in Python: of no user
                    tree = None
                    continue
                return span if tree is None else _of_tree(tree, span)
            if isinstance(value, ast.expr | ast.stmt) and hasattr(value, "lineno") and tree is None:
                tree = value
    return None


def _held(frame: FrameType) -> Iterator[Any]:
    """The values of the frame's variables, the latest first; plain data only, of which attributes run no code."""
    for value in reversed(list(frame.f_locals.values())):
        kind = type(value)
        if isinstance(value, ast.AST) or kind.__module__.partition(".")[0] == "dcpy":
            yield value


def _of_tree(tree: ast.AST, around: SrcSpan) -> SrcSpan:
    """The place of an expression, where it is one of the statement's."""
    line, end = getattr(tree, "lineno", 0), getattr(tree, "end_lineno", None)
    if not around.line <= line <= max(around.end_line, around.line):
        return around
    return SrcSpan(around.file, line, getattr(tree, "col_offset", 0), end or line, getattr(tree, "end_col_offset", 0))
