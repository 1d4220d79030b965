"""Error propagation: an error of one rank is raised by all of them, of the same class and with the same text.

They travel as JSON. A class that another rank cannot know becomes the next one that it derives from; where there is
none, as `RanksDiffer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import Any

from dcpy.base.errors import DcpyError, FrontendError, PerformanceWarning, RanksDiffer, raised_as
from dcpy.base.program_exceptions import exception_type
from dcpy.base.source import SrcSpan
from dcpy.base.tracebacks import is_marked, raised_by_program

PLAIN = (bool, int, float, str, type(None))
_OTHERS: dict[str, type[BaseException]] = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "PerformanceWarning": PerformanceWarning,
}

Told = Mapping[str, Any]


def told(error: BaseException) -> dict[str, Any]:
    """An error, for other ranks."""
    classes = [cls for cls in type(error).__mro__ if cls not in (Exception, BaseException, object)]
    found: dict[str, Any] = {
        "dcpy": [cls.__name__ for cls in classes if issubclass(cls, DcpyError) and cls.__module__.startswith("dcpy")],
        "python": [cls.__name__ for cls in classes if not issubclass(cls, DcpyError)],
        "notes": [str(note) for note in getattr(error, "__notes__", ())],
        "program": is_marked(error),
    }
    if not isinstance(error, DcpyError):
        args = (*error.args, error.filename) if isinstance(error, OSError) and error.filename else error.args
        return found | {"args": list(args) if all(isinstance(arg, PLAIN) for arg in args) else [str(error)]}
    return found | {
        "message": error.message,
        "span": None if error.span is None else astuple(error.span),
        "reasons": list(error.notes),
        "help": error.help,
        "argument": error.argument,
    }


def retold(said: Told) -> BaseException:
    """The error that another rank has sent, to be raised here."""
    error = _of_dcpy(said) if said["dcpy"] else _of_python(said)
    for note in said["notes"]:
        error.add_note(note)
    return raised_by_program(error) if said["program"] else error


def _of_dcpy(said: Told) -> DcpyError:
    known = {cls.__name__: cls for cls in _classes(DcpyError)}
    cls = next((known[name] for name in said["dcpy"] if name in known), DcpyError)
    kind = next(filter(exception_type, said["python"]), "")
    error = raised_as(cls, kind) if issubclass(cls, FrontendError) and kind else cls.__new__(cls)
    DcpyError.__init__(
        error, said["message"], span=_span(said["span"]), notes=tuple(said["reasons"]), help=said["help"]
    )
    error.argument = said["argument"]
    return error


def _classes(cls: type[DcpyError]) -> Iterator[type[DcpyError]]:
    """A class and those that derive from it; not those that are another exception as well, which are made by need."""
    yield cls
    for each in cls.__subclasses__():
        if not (issubclass(each, FrontendError) and exception_type(each.__name__)):
            yield from _classes(each)


def _span(said: Any) -> SrcSpan | None:
    if said is None:
        return None
    *place, calls = said
    return SrcSpan(*place).with_calls(tuple((name, _span(at)) for name, at in calls))


def _of_python(said: Told) -> BaseException:
    for name in said["python"]:
        cls = _OTHERS.get(name) or exception_type(name)
        if cls is not None:
            try:
                return cls(*said["args"])
            except TypeError:  # it takes others than those that it keeps
                continue
    return RanksDiffer(": ".join(map(str, (*said["python"][:1], *said["args"]))))
