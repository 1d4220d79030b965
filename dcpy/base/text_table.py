"""Texts by number: constants that are told apart at run time, as keys of dictionaries, are numbers there."""

from __future__ import annotations

from dcpy.base.errors import FrontendError

BASE, CODES = 0x9E3779B97F4A7C15, 2**64
CHARACTERS = 0x110000  # numbers of texts of one character


class TextTable:
    """The texts that have numbers; a text has the same number in each process."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def number(self, text: str) -> int:
        """The number of a text, which the table knows from now on."""
        number = number_of(text)
        if self._texts.setdefault(number, text) != text or (len(text) > 1 and 0 <= number < CHARACTERS):
            message = f"{text!r} and {self._texts[number]!r}, or a character, have the same hash value"
            raise FrontendError(message, help="rename one")
        return number


def number_of(text: str) -> int:
    """A number of 64 bits that depends on all characters; of one character, its own."""
    found = 0 if text else -1
    for one in text:
        found = (BASE * found + ord(one)) % CODES
    return found - CODES if found >= CODES // 2 else found


TABLE = TextTable()
