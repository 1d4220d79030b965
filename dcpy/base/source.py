"""Places in a user's program.

A `SrcSpan` travels from the AST through every IR element into error messages, comments of the generated code and
run-time checks. It holds plain data: serializing it never needs the file.
"""

from __future__ import annotations

import itertools
import linecache
import os
import stat
from dataclasses import dataclass
from types import CodeType

from dcpy.base.notebooks import cell_name
from dcpy.base.printable_text import printable, printable_line

LARGEST = 16 << 20  # bytes of a file that is looked at for a line
CALLS_SHOWN = 8  #: of the functions that a place is in
CALLS_KEPT = 32  #: of a recursion, while its body is copied


@dataclass(frozen=True, slots=True)
class SrcSpan:
    """A half-open range of characters in one file; lines count from 1, columns from 0.

    A place in a function that is called has a chain of `calls`, from the innermost outwards: names of functions, and
    where each was called. The last one's place is None in a function that has a body for all of its calls.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    calls: Calls = ()

    def __str__(self) -> str:
        return f"{self.name}:{self.line}"

    @property
    def name(self) -> str:
        """The file as users know it: without its folders, or the cell of a notebook."""
        return printable(cell_name(self.file) or os.path.basename(self.file))

    def excerpt(self) -> str:
        """The first source line of the span, or ``""`` when the file cannot be read, or is no source of Python."""
        known = linecache.getline(self.file, self.line).rstrip("\n") if _is_source(self.file) else ""
        lines = () if known else _TEXTS.get(self.file, ())
        return lines[self.line - 1] if 0 < self.line <= len(lines) else known

    def called(self, function: str, at: SrcSpan | None) -> SrcSpan:
        """The place in a call of the function around it; where that has been said already, the same."""
        around = call_chain(function, at)
        known = self.calls
        if known and known[-1][1] is None and around[0][1] is not None:
            known = (*known[:-1], (known[-1][0], around[0][1]))
            around = around[1:]
        return self.with_calls((*known, *(call for call in around if call not in known)))

    def within(self, calls: Calls) -> SrcSpan:
        """The place where these calls are around it; the same, where it has them already."""
        if not calls or self.calls[-len(calls) :] == calls or len(self.calls) >= CALLS_KEPT:
            return self
        return self.with_calls((*self.calls, *calls)[:CALLS_KEPT])

    def with_calls(self, calls: Calls) -> SrcSpan:
        """The place, in other calls."""
        return SrcSpan(self.file, self.line, self.column, self.end_line, self.end_column, calls)

    def call_notes(self) -> list[str]:
        """The calls that the place is in, a line each; those of a recursion have one."""
        places = [(printable(name), f", called at {at}:{at.column + 1}" if at else "") for name, at in self.calls]
        lines = [f"in {name}{place}" for name, place in places]
        different = [line for line, _ in itertools.groupby(lines)]
        if len(different) > CALLS_SHOWN:
            different[CALLS_SHOWN:] = [f"and {len(different) - CALLS_SHOWN} calls around these"]
        return different

    def render(self) -> str:
        """Place, source line and caret, as compilers of the field print them; then the calls that it is in."""
        return "\n".join((self._line_and_caret(), *(f"  = note: {note}" for note in self.call_notes())))

    def _line_and_caret(self) -> str:
        place = f"  --> {self}:{self.column + 1}"
        text = printable_line(self.excerpt())
        if not text:
            return place
        same_line = self.end_line in (0, self.line) and self.end_column > self.column
        column = min(max(self.column, 0), len(text))
        width = min(self.end_column - self.column, len(text) + 1) if same_line else len(text) - column
        number = str(self.line)
        gutter = " " * len(number)
        caret = " " * column + "^" * max(width, 1)
        return f"{place}\n {gutter} |\n {number} | {text}\n {gutter} | {caret}"


Calls = tuple[tuple[str, SrcSpan | None], ...]


def call_chain(function: str, at: SrcSpan | None) -> Calls:
    """The calls around the body of a function that is called at a place."""
    return ((function, at.with_calls(())), *at.calls) if at is not None else ((function, None),)


#: lines of what is no file, and not in `linecache` either
_TEXTS: dict[str, tuple[str, ...]] = {}


def remember_text(file: str, text: str) -> None:
    """Keep the text that places in `file` are about, for excerpts, where `linecache` has none."""
    _TEXTS[file] = tuple(text.splitlines())


def _is_source(file: str) -> bool:
    """Return whether lines of a file may be shown. A span may come from a stranger's document and name anything: a
    device that never ends, or a file that is nobody's business.
    """
    if file in linecache.cache:
        return True
    try:
        found = os.stat(file)
    except (OSError, ValueError):  # no file of that name can exist
        return False
    return file.endswith((".py", ".pyw")) and stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST


def definition_span(code: CodeType) -> SrcSpan:
    """The line with a function's ``def``, below its decorators; of a lambda, where it begins."""
    first = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)
    if code.co_name == "<lambda>":
        text = lines[first - 1] if first <= len(lines) else ""
        columns = (column for line, _, column, _ in code.co_positions() if line == first and column)
        body = min(columns, default=len(text))
        return SrcSpan(code.co_filename, first, max(text.rfind("lambda", 0, body), 0))
    number = next((k for k, text in enumerate(lines[first - 1 :], first) if "def " in text), first)
    text = lines[number - 1] if number <= len(lines) else ""
    return SrcSpan(code.co_filename, number, len(text) - len(text.lstrip()))
