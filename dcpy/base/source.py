"""Places in a user's program.

A `SrcSpan` travels from the AST through every IR element into error messages, comments of the generated code and
run-time checks. It holds plain data: serializing it never needs the file.
"""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass
from types import CodeType

from dcpy.base.notebooks import cell_name


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
        return cell_name(self.file) or os.path.basename(self.file)

    def excerpt(self) -> str:
        """The first source line of the span, or ``""`` when the file cannot be read."""
        known = linecache.getline(self.file, self.line).rstrip("\n")
        lines = () if known else _TEXTS.get(self.file, ())
        return lines[self.line - 1] if 0 < self.line <= len(lines) else known

    def render(self) -> str:
        """Place, source line and caret, as compilers of the field print them."""
        place = f"  --> {self.name}:{self.line}:{self.column + 1}"
        text = self.excerpt()
        if not text:
            return place
        same_line = self.end_line in (0, self.line) and self.end_column > self.column
        width = self.end_column - self.column if same_line else max(len(text) - self.column, 1)
        number = str(self.line)
        gutter = " " * len(number)
        caret = " " * self.column + "^" * max(width, 1)
        return f"{place}\n {gutter} |\n {number} | {text}\n {gutter} | {caret}"


#: lines of what is no file, and not in `linecache` either
_TEXTS: dict[str, tuple[str, ...]] = {}


def remember_text(file: str, text: str) -> None:
    """Keeps the text that places in `file` are about, for excerpts, where `linecache` has none."""
    _TEXTS[file] = tuple(text.splitlines())


def definition_span(code: CodeType) -> SrcSpan:
    """The line with a function's ``def``, below its decorators."""
    first = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)
    number = next((k for k, text in enumerate(lines[first - 1 :], first) if "def " in text), first)
    text = lines[number - 1] if number <= len(lines) else ""
    return SrcSpan(code.co_filename, number, len(text) - len(text.lstrip()))
