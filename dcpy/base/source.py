"""Places in a user's program.

A `SrcSpan` travels from the AST through every IR element into error messages, comments of the generated code and
run-time checks. It holds plain data: serializing it never needs the file.
"""

from __future__ import annotations

import linecache
import os
import stat
from dataclasses import dataclass
from types import CodeType

from dcpy.base.notebooks import cell_name
from dcpy.base.printable_text import printable, printable_line

LARGEST = 16 << 20  # bytes of a file that is looked at for a line


@dataclass(frozen=True, slots=True)
class SrcSpan:
    """A half-open range of characters in one file; lines count from 1, columns from 0."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

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

    def render(self) -> str:
        """Place, source line and caret, as compilers of the field print them."""
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


#: lines of what is no file, and not in `linecache` either
_TEXTS: dict[str, tuple[str, ...]] = {}


def remember_text(file: str, text: str) -> None:
    """Keeps the text that places in `file` are about, for excerpts, where `linecache` has none."""
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
