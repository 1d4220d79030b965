"""Result nesting: indices into the results of a function, in tuples and objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.specialize.record_arguments import (
    ArrayPart,
    ChosenPart,
    GivenArgument,
    KnownObject,
    ListResult,
    MadeObject,
)


def place_of(distinct: list[list[Value]], column: list[Value]) -> int:
    """Return the current place of a column: its own, or that of the same array."""
    own = next((k for k, other in enumerate(distinct) if other is column), None)
    return distinct.index(column) if own is None else own


def renumbered(part: Any, places: Sequence[int]) -> Any:
    """Return the nesting of results in which one array may be in several places."""
    match part:
        case tuple():
            return tuple(renumbered(inner, places) for inner in part)
        case MadeObject(parts=parts) | ArrayPart(parts=parts):
            return replace(part, parts=renumbered(parts, places))
        case GivenArgument(index=index) | KnownObject(index=index) | ListResult(index=index):
            return replace(part, index=places[index])
    return places[part]


def is_cut(part: Any) -> bool:
    """Return whether a part of what is returned is known while the program runs only."""
    return isinstance(part, ArrayPart) or (isinstance(part, tuple) and any(map(is_cut, part)))


def plain(part: Any) -> Any:
    """The same for an SDFG, which knows tuples only."""
    match part:
        case tuple():
            return tuple(map(plain, part))
        case MadeObject(parts=parts) | ArrayPart(parts=parts):
            return plain(parts)
        case GivenArgument(index=index) | KnownObject(index=index) | ListResult(index=index):
            return index
        case ChosenPart(which=which, options=options):
            return (which, *map(plain, options))
    return part
