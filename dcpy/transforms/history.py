"""Reads passes and histories as `history_entries` writes them: a history can be replayed."""

from __future__ import annotations

import re
import types as python_types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from dcpy.base.errors import ParseError, TransformationRefused
from dcpy.ir.editing.element_paths import element_at
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.api import Refusal, Transformation, perform
from dcpy.transforms.catalog import PASSES, TRANSFORMATIONS, class_named
from dcpy.transforms.passes import Pass
from dcpy.transforms.pattern import Access, Match

_SPEC = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\{([^}]*)\})?")
_PARAMETER = re.compile(r"([\w.]+)=(\S*)")


def parse_transformation(text: str) -> Transformation[Any]:
    """The transformation that `text` spells; `UnknownName` or `ParseError` where it spells none."""
    found = parse_pass(text)
    if not isinstance(found, Transformation):
        raise ParseError(f"{found} is a pass over a whole SDFG, not a transformation")
    return found


def parse_pass(text: str) -> Pass:
    """The transformation, or the pass over a whole SDFG, that `text` spells; errors as of `parse_transformation`."""
    found, rest = _parse(text)
    if rest:
        raise ParseError(f"unexpected {rest!r} after the {_kind(found)} {found}")
    return found


def _kind(step: Pass) -> str:
    return "transformation" if isinstance(step, Transformation) else "pass"


def replay(sdfg: Sdfg, history: Iterable[str], *, check: bool = False) -> Sdfg:
    """Apply a history to an SDFG as it was before; return that SDFG, which is changed in place.

    `TransformationRefused` where an entry does not fit any more.
    """
    rw = Rewriter(sdfg, "replay", check=check)
    for entry in history:
        step, rest = _parse(entry)
        rw.name = step.name
        if not isinstance(step, Transformation):
            step.run(rw)
            continue
        found = {name: _parse_place(sdfg, place) for name, place in _PARAMETER.findall(rest)}
        match = Match(sdfg, rw.uses, found)
        plan = step.plan(match)
        if isinstance(plan, Refusal):
            raise TransformationRefused(f"{entry!r} cannot be replayed on {sdfg.name!r}", notes=(str(plan),))
        perform(step, match, plan, rw)
    return sdfg


def _parse(text: str) -> tuple[Pass, str]:
    spec = _SPEC.match(text)
    if spec is None:
        raise ParseError(f"{text!r} does not begin with the name of a transformation")
    kind = pass_named(spec.group(1))
    known = _parameters(kind)
    values: dict[str, object] = {}
    for name, value in _PARAMETER.findall(spec.group(2) or ""):
        if name not in known:
            choice = f"its parameters are {', '.join(known)}" if known else "it takes no parameters"
            raise ParseError(f"{kind.name} has no parameter {name!r}", help=choice)
        values[name] = _parse_value(value, known[name], f"{kind.name}{{{name}}}")
    return _made(kind, values), text[spec.end() :].strip()


def _parameters(kind: Any, prefix: str = "") -> dict[str, Any]:
    """Types by dotted name: those of a table of numbers that is a parameter are ``costs.lanes``, ..."""
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for field in fields(kind):
        name, hint = prefix + field.name, hints[field.name]
        found |= _parameters(hint, f"{name}.") if is_dataclass(hint) else {name: hint}
    return found


def _made(kind: Any, values: Mapping[str, object]) -> Any:
    """A pass or a table of numbers, from values by dotted name; the others have their defaults."""
    given: dict[str, Any] = {}
    for field in fields(kind):
        inside = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{field.name}.")}
        if inside:
            given[field.name] = _made(type(field.default), inside)
        elif field.name in values:
            given[field.name] = values[field.name]
    return kind(**given)


def pass_named(name: str) -> type[Pass]:
    """The class by its name in the catalog, ``state-fusion``, or by its own, ``StateFusion``, as the paper does."""
    if name in PASSES:
        return PASSES[name]
    return class_named(name) or TRANSFORMATIONS[name]


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


def _parse_place(sdfg: Sdfg, text: str) -> object:
    return element_at(sdfg, text) if text.startswith("/") else Access(text)
