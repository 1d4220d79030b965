"""Texts by number: those that are told apart at run time are numbers there, and Python knows the texts."""

from __future__ import annotations

import threading
from collections import deque

from dcpy.base.errors import FrontendError

BASE, CODES = 0x9E3779B97F4A7C15, 2**64
CHARACTERS = 0x110000  # numbers of texts of one character
TEXTS, GENERATIONS = 2**16, 64  # how many that programs have made are kept


class TextTable:
    """The texts that have numbers; a text has the same number in each process.

    Constants of programs stay. Of texts that programs make, the last four million of a thread are kept.
    """

    def __init__(self) -> None:
        self._constants: dict[int, str] = {}
        self._made = threading.local()

    def __getitem__(self, number: int) -> str:
        found = self._constants.get(number)
        if found is None:
            found = next((texts[number] for texts in reversed(self._generations()) if number in texts), None)
        if found is None:
            raise MemoryError("a program has made more than four million texts since this one")
        return found

    def number(self, text: str) -> int:
        """The number of a constant, which the table knows from now on."""
        return _added(self._constants, text)

    def keep(self, text: str) -> int:
        """The number of a text that a program makes; those of other texts, and constants, differ."""
        number = number_of(text)
        if self._constants.get(number, text) != text:
            raise _alike(text, self._constants[number])
        generations = self._generations()
        if len(generations[-1]) >= TEXTS:
            generations.append({})
        return _added(generations[-1], text)

    def _generations(self) -> deque[dict[int, str]]:
        if not hasattr(self._made, "texts"):
            self._made.texts = deque([{}], maxlen=GENERATIONS)
        found: deque[dict[int, str]] = self._made.texts
        return found


def number_of(text: str) -> int:
    """A number of 64 bits that depends on all characters; of one character, its own."""
    found = 0 if text else -1
    for one in text:
        found = (BASE * found + ord(one)) % CODES
    return found - CODES if found >= CODES // 2 else found


def _added(texts: dict[int, str], text: str) -> int:
    number = number_of(text)
    if texts.setdefault(number, text) != text or (len(text) > 1 and 0 <= number < CHARACTERS):
        raise _alike(text, texts[number])
    return number


def _alike(text: str, other: str) -> FrontendError:
    return FrontendError(f"{text!r} has the hash value of {other!r}, or of a character", help="write another text")


TABLE = TextTable()
