"""Printable text: text from outside, made fit for messages, terminals and comments of generated code.

A file name may hold line breaks, escape codes of terminals, or marks that turn the direction of writing. What is not
printable in the sense of Unicode is spelled out as ``<U+000A>``, so that a text is one line and what one sees is all.
"""

from __future__ import annotations

LONGEST = 200  # characters shown


def printable(text: str, *, longest: int = LONGEST) -> str:
    """One line that shows `text`, cut where it gets too long."""
    shown = text if len(text) <= longest else f"{text[:longest]}..."
    return shown if shown.isprintable() else "".join(map(_spelled, shown))


def printable_line(text: str) -> str:
    """A line of a program for display: tabs stay, so that carets stand where they should."""
    return text if text.isprintable() else "".join(c if c == "\t" else _spelled(c) for c in text)


def _spelled(character: str) -> str:
    return character if character.isprintable() else f"<U+{ord(character):04X}>"
