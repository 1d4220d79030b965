"""History entries: the text of passes and what they did. `history` reads it again.

``map-tiling{sizes=32,32 divides=true}`` is a pass; ``map-fusion first=/0/1 tmp=tmp0 second=/0/2`` is an entry
of a history: which transformation, and the places (`ir.editing.element_paths`) of what it captured, before it ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Protocol

from dcpy.ir.editing.element_paths import path_of
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.transforms.pattern import Access, Match


class Step(Protocol):
    """A dataclass with a name: a pass, or a transformation."""

    @property
    def name(self) -> str:
        """Its name in the textual form."""


def print_pass(step: Step) -> str:
    """``name{parameter=value ...}``; parameters that have their defaults are left out."""
    values = list(_print_parameters(step))
    return f"{step.name}{{{' '.join(values)}}}" if values else step.name


def _print_parameters(owner: Any, prefix: str = "") -> Iterator[str]:
    """The parameters of a pass; of a table of numbers, the entries that differ (``costs.lanes=4``)."""
    for field in fields(owner):
        value = getattr(owner, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if value is default:  # as a table of numbers is, which has many
            continue
        if is_dataclass(default):
            yield from _print_parameters(value, f"{prefix}{field.name}.")
        elif value != default:
            yield f"{prefix}{field.name}={_print_value(value)}"


def entry_of(transformation: Step, match: Match) -> str:
    """The history entry of applying a transformation at a match."""
    places = [f"{name}={_print_place(part)}" for name, part in match.captures.items()]
    return " ".join([print_pass(transformation), *places])


def _print_value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(map(_print_value, value))
    return str(value)


def _print_place(part: object) -> str:
    match part:
        case Access(container=container):
            return container
        case Node() | Block():
            return path_of(part)
    return str(part)
