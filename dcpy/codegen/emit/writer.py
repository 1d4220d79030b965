"""Indented lines, with the Python place at the end of a line where it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dcpy.base.source import SrcSpan

INDENT = "    "
WIDTH = 110


class Writer:
    """Collects lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0
        self._place = ""
        self._span: SrcSpan | None = None

    def line(self, text: str = "") -> None:
        """One line; the first one from another Python line says which."""
        place = str(self._span) if self._span is not None else ""
        if place and place != self._place and not text.startswith("#"):
            self._place = place
            text = f"{text}  // {place}"
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
        """A new function: its first line names its place again."""
        self._place = ""

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)
