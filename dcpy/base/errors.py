"""The errors that users see, and the one renderer for all of them.

Every error says where (file, line, caret), what, why (notes) and what to write instead (help). Its ``code`` is
stable and names a section of docs/reference/errors.md.
"""

from __future__ import annotations

from dcpy.base.source import SrcSpan


class DcpyError(Exception):
    """Base of everything that dcpy raises on purpose.

    `message` is one line without a full stop; `notes` give the reasons; `help` is a rewrite that works.
    """

    code = "error"

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
    """The interpreter met something that has no meaning: an empty stream, a reference that was never set."""

    code = "ir.interp"


class OutOfBounds(InterpreterError):
    """A memlet names elements that its container does not have."""

    code = "ir.out-of-bounds"


class DataRace(InterpreterError):
    """Two iterations of a map touch one element, and the result depends on which of them comes first."""

    code = "ir.data-race"


class TransformationRefused(DcpyError):
    """A transformation was asked for where it is not legal, or not applicable; notes give the verdicts."""

    code = "transforms.refused"


class UnknownName(DcpyError, KeyError):
    """A registry has no entry of that name."""

    code = "base.unknown-name"

    __str__ = DcpyError.__str__


class FrontendError(DcpyError):
    """A Python function uses something that dcpy does not take; the rewrite is in `help`."""

    code = "frontend.unsupported"


class ExpansionError(DcpyError):
    """No expansion of a library node fits the target, the dtypes or this machine."""

    code = "libraries.expansion"


class CodegenError(DcpyError):
    """An SDFG in codegen form holds something that the target cannot print."""

    code = "codegen.unsupported"


class ToolchainError(DcpyError):
    """The C++ compiler is missing or failed."""

    code = "runtime.toolchain"


class CacheError(DcpyError):
    """The cache folder cannot be used."""

    code = "runtime.cache"


class ArgumentError(DcpyError, TypeError):
    """An argument of a call does not fit the program: number, name, dtype, rank."""

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
    """A Python function that a program called returned something else than was declared."""

    code = "runtime.callback"

    __str__ = DcpyError.__str__
