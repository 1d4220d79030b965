"""Indented lines, and from which lines of Python they are: a table beside the text, which holds nothing of it.

So compiled text does not depend on where the program lies; codegen/annotated_source.py puts both together for
readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dcpy.base.source import SrcSpan

INDENT = "    "
WIDTH = 110


class Writer:
    """Collects lines. `places`: the number of each line (from 0) at which the Python line changes, with its span."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[tuple[int, SrcSpan]] = []
        self._depth = 0
        self._place: tuple[str, int] | None = None
        self._span: SrcSpan | None = None

    def line(self, text: str = "") -> None:
        """One line; the first one from another Python line is noted."""
        span = self._span
        if span is not None and (span.file, span.line) != self._place and not text.startswith("#"):
            self._place = span.file, span.line
            self.places.append((len(self.lines), span))
        self.lines.append(f"{INDENT * self._depth}{text}" if text else "")

    def directive(self, text: str) -> None:
        """A pragma or label, without a place."""
        self.lines.append(f"{INDENT * self._depth}{text}")

    @contextmanager
    def at(self, span: SrcSpan | None) -> Iterator[None]:
        """Lines inside come from `span`."""
        outer = self._span
        self._span = span or outer
        try:
            yield
        finally:
            self._span = outer

    @contextmanager
    def indented(self) -> Iterator[None]:
        """One level further in."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """``head { ... }``."""
        self.line(f"{head} {{" if head else "{")
        with self.indented():
            yield
        self.directive("}")

    def forget_place(self) -> None:
        """A new function: the place of its first line is noted again."""
        self._place = None

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)
