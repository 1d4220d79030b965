"""What users see of a traceback: their own frames. dcpy's are left out of errors that it raises on purpose.

``DCPY_FULL_TRACEBACKS=1`` keeps all frames, for those who work on dcpy. Exceptions that nobody meant to raise keep
them, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import ParamSpec, TypeVar

from dcpy.base.errors import DcpyError
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


def hide_own_frames(error: BaseException) -> None:
    """Takes dcpy's frames out of the tracebacks of an exception and of its causes.

    Not where nobody meant to raise the exception, and it comes from dcpy's own code: then the frames are needed.
    """
    if not resolve_options().full_tracebacks and _is_meant(error):
        for part in _chain(error):
            part.__traceback__ = _without_own(part)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that it came from, as far as they are shown."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _is_meant(error: BaseException) -> bool:
    """Whether somebody raised it on purpose: dcpy a `DcpyError`, the user whatever it is."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if isinstance(error, DcpyError) or not isinstance(error, Exception) or last is None:
        return True
    return "__raised_by_program__" in error.__dict__ or not _is_own(last)


def _without_own(error: BaseException) -> TracebackType | None:
    parts: list[TracebackType] = []
    current = error.__traceback__
    while current is not None:
        parts.append(current)
        current = current.tb_next
    result: TracebackType | None = None
    below_own = isinstance(error, DcpyError)  # what of Python's library dcpy calls: back to dcpy, or to an error of its
    for part in reversed(parts):
        below_own = _is_own(part) or (below_own and _is_of_python(part))
        if not below_own:
            result = TracebackType(result, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return result


def _module(part: TracebackType) -> str:
    return str(part.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_own(part: TracebackType) -> bool:
    return _module(part) == "dcpy"


def _is_of_python(part: TracebackType) -> bool:
    return _module(part) in sys.stdlib_module_names
