"""Tracebacks for users: their own frames, without dcpy's in errors that it raises on purpose.

``DCPY_FULL_TRACEBACKS=1`` keeps all frames, for developers of dcpy. Internal errors keep
them, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import ParamSpec, TypeVar

from dcpy.base.errors import CompilerFault, DcpyError
from dcpy.base.options import resolve_options

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=BaseException)


def own_frames_hidden(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the public interface, of whose frames users see this one only."""

    @functools.wraps(function)
    def dcpy_call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            hide_own_frames(error)
            raise

    return dcpy_call


def raised_by_program(error: E) -> E:
    """The exception, marked as one that Python or NumPy would raise at the same place of the program."""
    error.__dict__["__raised_by_program__"] = True
    return error


def is_marked(error: BaseException) -> bool:
    """Return whether `raised_by_program` has marked the exception."""
    return "__raised_by_program__" in error.__dict__


def hide_own_frames(error: BaseException) -> None:
    """Take dcpy's frames out of the tracebacks of an exception and of its causes.

    Frames of internal errors stay, because developers of dcpy need them.
    """
    if not _all_frames_are_wanted() and _is_meant(error):
        for part in [error] if isinstance(error, CompilerFault) else _chain(error):
            part.__traceback__ = _without_own(part)


def _all_frames_are_wanted() -> bool:
    try:
        return resolve_options().full_tracebacks
    except DcpyError:
        return False  # another variable has a wrong value: that is the error to show


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it came from, as far as they are shown."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _is_meant(error: BaseException) -> bool:
    """Return whether it was raised on purpose: by dcpy a `DcpyError`, by NumPy `MemoryError`, by the user any other."""
    parts = traced(error.__traceback__)
    if isinstance(error, DcpyError | MemoryError) or not isinstance(error, Exception) or not parts:
        return True
    return is_marked(error) or not is_own(parts[-1])


def _without_own(error: BaseException) -> TracebackType | None:
    parts = traced(error.__traceback__)
    result: TracebackType | None = None
    below_own = isinstance(error, DcpyError)  # what of Python's library dcpy calls: back to dcpy, or to an error of its
    for part in reversed(parts):
        below_own = is_own(part) or (below_own and _is_of_python(part))
        if not below_own:
            result = TracebackType(result, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return result


def traced(traceback: TracebackType | None) -> list[TracebackType]:
    """The parts of a traceback, outermost first."""
    parts = []
    while traceback is not None:
        parts.append(traceback)
        traceback = traceback.tb_next
    return parts


def _module(part: TracebackType) -> str:
    return str(part.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def is_own(part: TracebackType) -> bool:
    """Return whether a frame is dcpy's."""
    return _module(part) == "dcpy"


def is_of_library(part: TracebackType) -> bool:
    """Return whether a frame is of Python's library, or of one that dcpy is made with."""
    return _is_of_python(part) or _module(part) in ("numpy", "sympy", "networkx", "jinja2", "islpy")


def _is_of_python(part: TracebackType) -> bool:
    return _module(part) in sys.stdlib_module_names
