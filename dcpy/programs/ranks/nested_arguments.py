"""Nested arguments: objects, tuples, lists and dictionaries as arguments of a program of all ranks.

Their parts are not distributed, so that none may be an array: that is said before ranks compare what they pass, because
how Python prints such an object differs from rank to rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dcpy.base.articles import with_article
from dcpy.base.errors import ArgumentError
from dcpy.base.foreign_arrays import ELSEWHERE, foreign_array
from dcpy.frontend.specialize.record_arguments import MAX_DEPTH, field_names, is_plain_class, is_record, members_of
from dcpy.runtime.distributed.distributed_arrays import DistArray, OnRoot


def require_no_arrays(name: str, value: Any) -> None:
    """`ArgumentError` for an array of another library, and for an argument that holds arrays."""
    for path, part in _parts(name, value, 0):
        foreign = None if isinstance(part, DistArray | OnRoot) else foreign_array(part)
        if foreign is not None:
            raise ArgumentError(
                f"argument {path!r} is {foreign.message.removesuffix(ELSEWHERE)}",
                notes=("a program of all ranks takes arrays of NumPy's, and moves them to a device itself",),
                help=foreign.help(path, converts=False),
            )
        if path != name and isinstance(part, np.ndarray | DistArray | OnRoot):
            raise ArgumentError(
                f"argument {name!r} is {_kind(value)} that holds the array {path!r}, and parts are not distributed",
                help="pass its arrays and numbers as arguments of their own",
            )
    if is_record(value):
        raise ArgumentError(
            f"argument {name!r} is {_kind(value)}, whose parts are not distributed",
            help="pass its numbers as arguments of their own",
        )


def _kind(value: Any) -> str:
    return with_article(type(value).__name__)


def _parts(path: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """An argument and all that it holds, by paths."""
    yield path, value
    if depth < MAX_DEPTH:
        for inner, part in _members(path, value):
            yield from _parts(inner, part, depth + 1)


def _members(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple) or is_record(value):
        yield from ((member.path, part) for member, part in members_of(path, value))
    elif isinstance(value, list):
        yield from ((f"{path}[{number}]", item) for number, item in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", item) for key, item in value.items())
    elif is_plain_class(type(value)):
        yield from ((f"{path}.{name}", getattr(value, name, None)) for name in field_names(type(value)))
