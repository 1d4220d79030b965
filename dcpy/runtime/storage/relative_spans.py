"""Relative spans: places that move with their functions, ``(3rd function, 2 lines below its first, columns)`` for a
`SrcSpan`.

The cache keeps places in this form. A process that finds a program there has its functions, as code objects in the same
order, whatever file they are in and wherever in it they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType

from dcpy.base.source import SrcSpan

Relative = tuple[int, int, int, int, int]  # function, line, column, end line, end column


def relative_to(codes: Sequence[CodeType], span: SrcSpan) -> Relative | None:
    """A place within the innermost function around it; None where it is in none of these."""
    around = [
        (code.co_firstlineno, -number)
        for number, code in enumerate(codes)
        if code.co_filename == span.file and code.co_firstlineno <= span.line <= _last_line(code)
    ]
    if not around:
        return None
    first, number = max(around)
    return -number, span.line - first, span.column, max(span.end_line - first, -1), span.end_column


def placed(codes: Sequence[CodeType], place: Sequence[int]) -> SrcSpan:
    """The inverse of `relative_to`, for the functions as they stand now. Raises `IndexError` for other functions."""
    number, line, column, end_line, end_column = place
    code = codes[number]
    first = code.co_firstlineno
    return SrcSpan(code.co_filename, first + line, column, first + end_line if end_line >= 0 else 0, end_column)


@lru_cache(maxsize=64)  # asked for each place of a program, and as slow as the function is long
def _last_line(code: CodeType) -> int:
    return max(_lines(code), default=code.co_firstlineno)


def _lines(code: CodeType) -> Iterator[int]:
    yield from (last for _, last, _, _ in code.co_positions() if last is not None)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)
