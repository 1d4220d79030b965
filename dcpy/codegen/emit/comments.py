"""Comments in generated C and C++: the one place where text that is no code enters a file of code.

Names, places and messages come from programs, and from files that strangers wrote. None of them may end the comment
that it stands in: not by a line break, nor by ``*/``, nor by a backslash (or the trigraph for one) before a line break.
"""

from __future__ import annotations

from dcpy.base.printable_text import printable

_APART = {"*/": "* /", "/*": "/ *", "??": "? ?", "\\": "<U+005C>"}


def comment(text: str) -> str:
    """`text` as a part of any comment, on one line."""
    shown = printable(text)
    while any(mark in shown for mark in _APART):
        for mark, apart in _APART.items():
            shown = shown.replace(mark, apart)
    return shown
