"""Bytecode equality: whether two code objects mean the same, wherever and however they were compiled.

CPython's compiler looks around: it calls ``np.exp(x)`` by other instructions where it has seen ``import numpy as np``
in the same text, and prompts and notebooks compile one statement at a time. So what is compared is a *normal form*:
instructions by name and by the object that they are about, jumps by what they lead to, and nothing of what only says
how to call. Places are no part of it: a function that has moved in its file is the same function.

Import hooks may rewrite assertions (pytest does), into instructions at the place of the assertion that mention names
no source can spell. Of such code everything else is compared.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from types import CodeType
from typing import Any

#: how a call is made, places, bookkeeping: what depends on the text around
_SILENT = frozenset(
    {"CACHE", "EXTENDED_ARG", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME", "MAKE_CELL", "COPY_FREE_VARS"}
)
_SAME = {"LOAD_METHOD": "LOAD_ATTR"}
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_KINDS = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, a generator, a coroutine, an asynchronous generator

LineRanges = Sequence[tuple[int, int]]  # first and last line of assertions, counted from the line of their code
Extent = tuple[tuple[int, int], tuple[int, int]]  # (line, column) of the start and of the end


def means_the_same(running: CodeType, compiled: CodeType, assertions: LineRanges = ()) -> bool:
    """Return whether the code that Python runs is what its source, compiled again, gives.

    `assertions`: the lines of the source's assertions, relative to the first line of the code.
    """
    if running == compiled:  # nearly always
        return True
    if _head(running) != _head(compiled):
        return False
    left_out = assertions if is_rewritten(running) else ()
    return _normal(running, left_out) == _normal(compiled, left_out)


def is_rewritten(code: CodeType) -> bool:
    """Return whether an import hook has put names into it that no source can spell."""
    return any("@" in name for name in (*code.co_names, *code.co_varnames))


def extent_of(code: CodeType) -> Extent | None:
    """The first and the last character that the instructions come from; None where Python does not know."""
    starts, ends = [], []
    for first, last, column, end_column in code.co_positions():
        if first is None or last is None or column is None or end_column is None:
            continue
        if (first, column) != (last, end_column):  # the beginning of a function, and the end of a lambda, are no text
            starts.append((first, column))
            ends.append((last, end_column))
    return (min(starts), max(ends)) if starts else None


def _head(code: CodeType) -> tuple[object, ...]:
    arguments = code.co_argcount + code.co_kwonlyargcount
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    return code.co_name, *counts, code.co_varnames[:arguments], code.co_flags & _KINDS


def _normal(code: CodeType, left_out: LineRanges) -> list[tuple[object, ...]]:
    kept: list[dis.Instruction] = []
    follows: dict[int, int] = {}  # offset of any instruction -> number of the next one that is kept
    for instruction in dis.get_instructions(code):
        follows[instruction.offset] = len(kept)
        if instruction.opname not in _SILENT and not _is_within(instruction, code, left_out):
            kept.append(instruction)
    return [
        (_SAME.get(i.opname, i.opname), follows[i.argval] if i.opcode in _JUMPS else _meaning(i, code, left_out))
        for i in kept
    ]


def _is_within(instruction: dis.Instruction, code: CodeType, left_out: LineRanges) -> bool:
    place = instruction.positions
    if not left_out or place is None or place.lineno is None:
        return False
    line = place.lineno - code.co_firstlineno
    return any(first <= line <= last for first, last in left_out)


def _meaning(instruction: dis.Instruction, code: CodeType, left_out: LineRanges) -> object:
    """Return the meaning of an instruction; constants by type and spelling, so that 1, 1.0 and True differ."""
    value: Any = instruction.argval
    if instruction.opname == "KW_NAMES" and instruction.arg is not None:
        value = code.co_consts[instruction.arg]
    if isinstance(value, CodeType):
        inside = value.co_firstlineno - code.co_firstlineno
        return _head(value), _normal(value, [(first - inside, last - inside) for first, last in left_out])
    if isinstance(value, frozenset):
        return sorted(map(_spelled, value))
    return _spelled(value)


def _spelled(value: object) -> str:
    return f"{type(value).__name__} {value!r}"
