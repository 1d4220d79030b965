"""The printed form of transformations and of what they did, and its inverse: a history can be replayed.

``map-tiling{sizes=32,32 divides=true}`` is a transformation; ``map-fusion first=/0/1 tmp=tmp0 second=/0/2`` is an entry
of a history: which transformation, and the places (`ir.places`) of what it captured, as they were before it ran.
"""

from __future__ import annotations

import re
import types as python_types
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from dcpy.base.errors import ParseError, TransformationRefused
from dcpy.ir.nodes import Node
from dcpy.ir.places import element_at, path_of
from dcpy.ir.region import Block
from dcpy.ir.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.pattern import Access, Match

if TYPE_CHECKING:
    from dcpy.transforms.api import Transformation

_SPEC = re.compile(r"\s*([a-z][a-z0-9-]*)\s*(?:\{([^}]*)\})?")
_PARAMETER = re.compile(r"(\w+)=(\S*)")


def print_transformation(transformation: Transformation) -> str:
    """``name{parameter=value ...}``; parameters that have their defaults are left out."""
    values = []
    for field in fields(transformation):
        value = getattr(transformation, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if value != default:
            values.append(f"{field.name}={_print_value(value)}")
    return f"{transformation.name}{{{' '.join(values)}}}" if values else transformation.name


def parse_transformation(text: str) -> Transformation:
    """The transformation that `text` spells; `UnknownName` or `ParseError` where it spells none."""
    transformation, rest = _parse(text)
    if rest:
        raise ParseError(f"unexpected {rest!r} after the transformation {transformation}")
    return transformation


def entry_of(transformation: Transformation, match: Match) -> str:
    """The history entry of applying a transformation at a match."""
    places = [f"{name}={_print_place(part)}" for name, part in match.found.items()]
    return " ".join([print_transformation(transformation), *places])


def replay(sdfg: Sdfg, history: Iterable[str], *, check: bool = False) -> Sdfg:
    """Applies a history to an SDFG as it was before; returns that SDFG, which is changed in place.

    `TransformationRefused` where an entry does not fit any more.
    """
    rw = Rewriter(sdfg, "replay", check=check)
    for entry in history:
        transformation, rest = _parse(entry)
        found = {name: _parse_place(sdfg, place) for name, place in _PARAMETER.findall(rest)}
        match = Match(sdfg, rw.uses, found)
        verdict = transformation.can_be_applied(match)
        if not verdict:
            raise TransformationRefused(f"{entry!r} cannot be replayed on {sdfg.name!r}", notes=(verdict.reason,))
        transformation.apply(match, rw)
        rw.record(entry)
    return sdfg


def _parse(text: str) -> tuple[Transformation, str]:
    from dcpy.transforms.catalog import TRANSFORMATIONS

    spec = _SPEC.match(text)
    if spec is None:
        raise ParseError(f"{text!r} does not begin with the name of a transformation")
    kind = TRANSFORMATIONS[spec.group(1)]
    hints = get_type_hints(kind)
    known = {field.name: hints[field.name] for field in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in _PARAMETER.findall(spec.group(2) or ""):
        if name not in known:
            choice = f"its parameters are {', '.join(known)}" if known else "it takes no parameters"
            raise ParseError(f"{kind.name} has no parameter {name!r}", help=choice)
        values[name] = _parse_value(value, known[name], f"{kind.name}{{{name}}}")
    return kind(**values), text[spec.end() :].strip()


def _print_value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(map(_print_value, value))
    return str(value)


def _parse_value(text: str, kind: Any, where: str) -> object:
    """`text` as a value of a parameter's type: bool, int, float, str, or a tuple of one of these."""
    if get_origin(kind) is tuple:
        return tuple(_parse_value(part, get_args(kind)[0], where) for part in text.split(",") if part)
    if get_origin(kind) is python_types.UnionType:
        kind = get_args(kind)[0]
    readers: dict[Any, Callable[[str], object]] = {bool: _parse_bool, int: int, float: float, str: str}
    try:
        return readers[kind](text)
    except (ValueError, KeyError):
        raise ParseError(f"{where} is {text!r}, but {getattr(kind, '__name__', kind)} is needed") from None


def _parse_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _print_place(part: object) -> str:
    match part:
        case Access(container=container):
            return container
        case Node() | Block():
            return path_of(part)
    return str(part)


def _parse_place(sdfg: Sdfg, text: str) -> object:
    return element_at(sdfg, text) if text.startswith("/") else Access(text)
