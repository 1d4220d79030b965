"""Pickling of programs: by name, as Python's functions, or by value where functions are pickled so.

An object cannot ask which pickler sends it. But picklers that send functions by value (cloudpickle, joblib's loky) do
so for those that the other side does not find: of ``__main__``, lambdas, functions of functions. A program therefore
speaks through two functions that are found at its name, ``scaled._sent.mark`` and ``scaled._sent.contents``. Where
these come by name, the program is there, and is the right one. Where they come by value, the mark has no owner,
and what the program is made of has come along as a default of the other one.

A program is made empty and then filled, because the globals of its function may hold the program itself.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from dcpy.base.options import Options
from dcpy.frontend.introspection.source_texts import receive_text, texts_of
from dcpy.programs.plain_python import compiled_kind

#: function, options, whether it uses annotations, the class it is a method of, and the texts of files
Parts = tuple[FunctionType, Options, bool, type | None, dict[str, str]]


@dataclass(frozen=True)
class PickleFunctions:
    """The functions that stand for a program where it is sent."""

    mark: FunctionType
    contents: FunctionType

    @classmethod
    def of(cls, function: FunctionType) -> PickleFunctions:
        """The functions of the program that has the name of a function."""
        return cls(_standing_for(function, "mark"), _standing_for(function, "contents"))


def _standing_for(function: FunctionType, name: str) -> FunctionType:
    def parts(parts: Any = None) -> Any:
        return parts

    parts.__module__, parts.__name__ = function.__module__, name
    parts.__qualname__ = f"{function.__qualname__}._sent.{name}"
    parts.__annotations__ = {}
    assert isinstance(parts, FunctionType)
    return parts


def reduction(program: Any, protocol: int) -> Any:
    """Return the value of ``__reduce_ex__`` for a program."""
    function: FunctionType = program.__wrapped__
    is_named = _named(function.__module__, function.__qualname__) is program
    if is_named and protocol < 4:  # these have no way to say the name of an attribute of an object
        return str(function.__qualname__)
    owner = program._specializer.owner
    contents: Parts = (function, program.options, program.uses_annotations, owner, _texts(function))
    if not is_named:
        return named_or_empty, (compiled_kind(program), None), contents, None, None, restore
    sent: PickleFunctions = program._sent
    sent.contents.__defaults__ = (contents,)
    return named_or_empty, (compiled_kind(program), sent.mark), sent.contents, None, None, restore


def named_or_empty(kind: Any, mark: FunctionType | None) -> Any:
    """The program that a mark is of; an empty new one where there is none here."""
    if mark is not None:
        found = _named(mark.__module__, mark.__qualname__.removesuffix("._sent.mark"))
        if isinstance(found, kind) and found._sent.mark is mark:
            return found
    return kind.__new__(kind)


def restore(program: Any, contents: Any) -> None:
    """Give a new program what has come for it; others have it."""
    if "function" in vars(program):
        return
    function, options, use_annotations, owner, texts = contents() if isinstance(contents, FunctionType) else contents
    for file, text in texts.items():
        receive_text(file, text)
    program.__init__(function, options, use_annotations=use_annotations)
    program.belong_to(owner)


def _named(module: str, qualified: str) -> Any:
    """Return the object of this name in a module; None where there is none, as for lambdas and nested functions."""
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return found


def _texts(function: FunctionType) -> dict[str, str]:
    """The texts of a function and of those of its module that it may call, by file: cells are no files elsewhere."""
    found: dict[str, str] = {}
    waiting, seen = [function], [function]
    while waiting:
        current = waiting.pop()
        if current.__code__.co_filename not in found:
            found |= itertools.islice(texts_of(current), 1)
        for used in _used_functions(current):
            if used.__module__ == function.__module__ and not any(used is other for other in seen):
                waiting.append(used)
                seen.append(used)
    return found


def _used_functions(function: FunctionType) -> Iterator[FunctionType]:
    """The functions that globals and cells of a function hold, and the methods of classes and objects there."""
    for value in _used_values(function):
        if isinstance(value, FunctionType):
            yield value
            continue
        owner = value if isinstance(value, type) else type(value)
        if owner.__module__ == function.__module__:
            yield from (found for found in vars(owner).values() if isinstance(found, FunctionType))


def _used_values(function: FunctionType) -> Iterator[Any]:
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
