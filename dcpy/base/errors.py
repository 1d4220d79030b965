"""The errors that users see, and the one renderer for all of them; warnings of what takes longer than it has to.

Every error says where (file, line, caret), what, why (notes) and what to write instead (help). Its ``code`` is
stable and names a section of docs/reference/errors.md.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, TypeVar

from dcpy.base.program_exceptions import advice_on, exception_type
from dcpy.base.source import SrcSpan

_RAISES = re.compile(r"\b(?:NumPy|Python) raises (\w+) here")


class DcpyError(Exception):
    """Base of everything that dcpy raises on purpose.

    `message` is one line without a full stop; `notes` give the reasons; `help` is a rewrite that works.
    """

    code = "error"
    argument = ""  #: the parameter of a program that the error is about

    def __init__(
        self,
        message: str,
        *,
        span: SrcSpan | None = None,
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.notes = notes
        self.help = help

    def called(self, function: str, span: SrcSpan | None) -> None:
        """Note that the place is in a function that was called at `span`; the innermost call comes first."""
        if span is not None and self.span is not None:
            self.span = self.span.called(function, span)

    def at(self, span: SrcSpan | None) -> DcpyError:
        """The same error, placed at `span` unless it has a place already."""
        if self.span is None:
            self.span = span
        return self

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        if self.span is not None:
            lines.append(self.span.render())
        lines += [f"  = note: {note}" for note in self.notes]
        if self.help:
            lines.append(f"  = help: {self.help}")
        return "\n".join(lines)


class PerformanceWarning(UserWarning):
    """The program is correct, but slower than it could be; the text says why, and what makes it faster."""


def warn_of_cost(message: str, span: SrcSpan | None = None) -> None:
    """A `PerformanceWarning` at a place in the user's file, once for each."""
    if span is None:
        warnings.warn(message, PerformanceWarning, stacklevel=2)
    else:
        warnings.warn_explicit(message, PerformanceWarning, span.file, span.line)


class InvalidSdfg(DcpyError):
    """An SDFG breaks a verification rule; the message names the rule."""

    code = "ir.invalid"


class ParseError(DcpyError):
    """The text or JSON of an SDFG cannot be read."""

    code = "ir.parse"


class SymbolicError(DcpyError):
    """A symbolic expression is used in a way that has no meaning (unbound symbol, division by zero)."""

    code = "ir.symbolic"


class InterpreterError(DcpyError):
    """The interpreter cannot go on: a stream is empty or full."""

    code = "ir.interp"


class OutOfBounds(InterpreterError):
    """A memlet covers elements outside of its container."""

    code = "ir.out-of-bounds"


class DataRace(InterpreterError):
    """Two iterations of a map access one element, so the result depends on their order."""

    code = "ir.data-race"


class CommunicationError(InterpreterError):
    """The ranks of a distributed program do not match: a deadlock, operands or roots that differ, grids that are
    larger than the number of ranks, memory that is touched while it is sent.
    """

    code = "ir.communication"


class RanksDiffer(DcpyError):
    """Ranks call different programs, or with different constants, shapes, dtypes or distributions; notes list them."""

    code = "dist.mismatch"


class GridError(DcpyError):
    """A grid does not fit the number of ranks, or a distribution does not fit its grid."""

    code = "dist.grid"


class BlockError(DcpyError):
    """A rank's part of an array does not have the shape that the distribution gives it."""

    code = "dist.block"


class TransformationRefused(DcpyError):
    """A transformation is not legal or not applicable at the place where you applied it; notes give the reasons."""

    code = "transforms.refused"


class GradientRefused(DcpyError, NotImplementedError):
    """A derivative of something that the program does is not known; the help says what to write instead."""

    code = "autodiff.refused"


class UnknownName(DcpyError, KeyError):
    """A name is unknown: of a transformation, a pass, a target, an option, a library node or an expansion."""

    code = "base.unknown-name"

    __str__ = DcpyError.__str__


class FrontendError(DcpyError):
    """A Python function uses something that dcpy does not support; `help` says what to write instead.

    Where a note says "NumPy raises ValueError here" (or Python, or another exception), it is a ValueError, too.
    """

    code = "frontend.unsupported"

    def __new__(cls, *args: Any, notes: tuple[str, ...] = (), **named: Any) -> FrontendError:
        """The error, as an instance of what NumPy or Python raises in its place."""
        found = next(filter(None, map(_RAISES.search, notes)), None)
        return raised_as(ProgramError if cls is FrontendError else cls, found[1]) if found else super().__new__(cls)


class ProgramError(FrontendError):
    """Python or NumPy would raise an exception in every run of the program; the error is an instance of it, too."""

    code = "frontend.raises"

    def __init__(self, message: str, *, help: str = "", **rest: Any) -> None:
        """Make the error as any other; without a `help` it gets the advice that the exception gets at run time."""
        super().__init__(message, help=help or advice_on(message), **rest)


F = TypeVar("F", bound=FrontendError)


def raised_as(cls: type[F], exception: str) -> F:
    """A new error, not initialised yet, that is an `exception` too, where there is one of that name."""
    kind = exception_type(exception)
    if kind is None or issubclass(cls, kind):
        return Exception.__new__(cls)
    if (cls, kind) not in _BOTH:
        members = {"__module__": "dcpy", "__str__": DcpyError.__str__, "__doc__": cls.__doc__}
        _BOTH[cls, kind] = type(kind.__name__, (cls, kind), members)
    new = Exception.__new__ if kind is MemoryError else kind.__new__  # MemoryError keeps instances for itself
    made: F = new(_BOTH[cls, kind])
    return made


_BOTH: dict[tuple[type[Exception], type[Exception]], Any] = {}


class ExpansionError(DcpyError):
    """No expansion of a library node fits the target, the dtypes or this machine."""

    code = "libraries.expansion"


class MissingMpi(ExpansionError):
    """No MPI is installed, or a part is missing: the library, a compiler wrapper (mpicc), or mpi4py."""

    code = "mpi.missing"


class MixedMpi(ExpansionError):
    """The compiler wrapper is of one MPI, and the library in this process of another one."""

    code = "mpi.mixed"


class CodegenError(DcpyError):
    """The SDFG contains something for which the target has no code."""

    code = "codegen.unsupported"


class ToolchainError(DcpyError):
    """The C++ compiler is missing or failed."""

    code = "runtime.toolchain"


class DeviceError(DcpyError, RuntimeError):
    """A GPU cannot be used: there is none, its driver refuses, or an earlier fault has broken its context."""

    code = "runtime.device"

    __str__ = DcpyError.__str__


class DeviceMemoryError(DeviceError, MemoryError):
    """A GPU is out of memory; notes say how much the program uses there, and how much is free."""

    code = "runtime.device-memory"


class CacheError(DcpyError):
    """The cache folder cannot be used."""

    code = "runtime.cache"


class ArgumentError(DcpyError, TypeError):
    """An argument of a call does not fit the program: its number, name, dtype, or number of dimensions."""

    code = "runtime.argument"

    __str__ = DcpyError.__str__


class ArgumentShapeError(DcpyError, ValueError):
    """The sizes of arguments contradict the annotations or each other."""

    code = "runtime.shape"

    __str__ = DcpyError.__str__


class ReadOnlyArgument(DcpyError, ValueError):
    """A program would write to an array that is read-only."""

    code = "runtime.read-only"

    __str__ = DcpyError.__str__


class CallbackError(DcpyError, TypeError):
    """A Python function that a program called returned another type than declared."""

    code = "runtime.callback"

    __str__ = DcpyError.__str__


class CompilerFault(DcpyError):
    """A bug of dcpy: its cause is an unexpected exception inside the compiler. Please report it."""

    code = "fault"


for _error in [value for value in globals().values() if isinstance(value, type) and issubclass(value, DcpyError)]:
    _error.__module__ = "dcpy"  # where users find them
