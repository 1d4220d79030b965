"""What a transformation is, and the four things one can do with it: find, explain, apply once, apply everywhere.

A transformation is a frozen dataclass: its docstring is the picture, its fields are typed parameters, `pattern` says
where it looks, `can_be_applied` answers with a reason, `apply` changes the SDFG through the `Rewriter`. Names and
parameters print and parse (``map-tiling{sizes=32,32 divides=true}``) in `history`; the list of names is in `catalog`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Flag, auto
from typing import Any, ClassVar, TypeVar

from dcpy.base.errors import TransformationRefused
from dcpy.ir.nodes import Node
from dcpy.ir.places import is_attached
from dcpy.ir.region import Block
from dcpy.ir.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.uses import Element, Uses
from dcpy.transforms.entries import entry_of, print_transformation
from dcpy.transforms.pattern import (
    Access,
    Capture,
    Match,
    Pattern,
    capture,
    consecutive,
    one,
    path,
    whole,
)

__all__ = [
    "YES",
    "Access",
    "Aspect",
    "Capture",
    "Match",
    "Rewriter",
    "Transformation",
    "Verdict",
    "apply_once",
    "apply_repeated",
    "capture",
    "consecutive",
    "explain",
    "matches",
    "no",
    "one",
    "path",
    "whole",
]

Found = TypeVar("Found", bound="Transformation")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Yes, or no with the reason: a short clause without a full stop."""

    ok: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.ok


YES = Verdict(True)


def no(reason: str) -> Verdict:
    """A refusal; `reason` names what stands in the way, and what would help if there is something."""
    return Verdict(False, reason)


class Aspect(Flag):
    """What of an SDFG a transformation looks at or changes; lets a pipeline skip passes that would find nothing new."""

    NOTHING = 0
    CONTROL = auto()  #: which blocks there are, and in which order
    DATAFLOW = auto()  #: nodes, memlets, containers
    VALUES = auto()  #: scalar expressions: code, conditions, values of symbols
    CALLS = auto()  #: calls of other SDFGs
    ALL = CONTROL | DATAFLOW | VALUES | CALLS


@dataclass(frozen=True)
class Transformation:
    """Base of all transformations. Subclasses set `name` and `pattern`, and never change results."""

    name: ClassVar[str]
    pattern: ClassVar[Pattern]
    looks_at: ClassVar[Aspect] = Aspect.ALL  #: a change of anything else cannot make it applicable
    changes: ClassVar[Aspect] = Aspect.ALL  #: what an application may change

    def can_be_applied(self, m: Match) -> Verdict:
        """Whether applying it at a match keeps the meaning of the program."""
        raise NotImplementedError

    def apply(self, m: Match, rw: Rewriter) -> Any:
        """Changes the SDFG at a match that `can_be_applied` allowed; returns what it made, if anything."""
        raise NotImplementedError

    def __str__(self) -> str:
        return print_transformation(self)


def matches(transformation: Transformation, sdfg: Sdfg, uses: Uses | None = None) -> Iterator[Match]:
    """All matches of the pattern, legal or not, in program order."""
    index = Uses(sdfg) if uses is None else uses
    for anchor in transformation.pattern.anchors(sdfg):
        yield from transformation.pattern.matches_at(anchor, index)


def apply_once(
    sdfg: Sdfg, transformation: Transformation | type[Transformation], *, check: bool = False, **choice: object
) -> Any:
    """Applies a transformation at the first match that allows it; returns what `apply` returns.

    `choice` pins captures (``first=node``, ``tmp="tmp0"``) and, where a class is given, sets parameters.
    `TransformationRefused` carries the verdict of every match.
    """
    chosen, pins = _with_choice(transformation, choice)
    rw = Rewriter(sdfg, chosen.name, check=check)
    refusals: list[str] = []
    for match in matches(chosen, sdfg, rw.uses):
        if not all(_is_pinned(match.found[name], pin) for name, pin in pins.items()):
            continue
        verdict = chosen.can_be_applied(match)
        if verdict:
            return _apply(chosen, match, rw)
        refusals.append(f"{match}: {verdict.reason}")
    reason = "" if refusals else f"there is no {chosen.pattern} {'that was asked for' if pins else 'in it'}"
    raise TransformationRefused(
        f"{chosen} applies nowhere in {sdfg.name!r}", notes=tuple(refusals) if refusals else (reason,)
    )


def apply_repeated(
    sdfg: Sdfg, transformation: Transformation | type[Transformation], *, check: bool = False, **parameters: object
) -> int:
    """Applies a transformation until no match allows it; returns how often it was applied.

    One sweep in program order, which looks again only where something changed: linear in the size of the SDFG.
    """
    chosen, _ = _with_choice(transformation, parameters)
    rw = Rewriter(sdfg, chosen.name, check=check)
    return sweep(chosen, rw)


def sweep(transformation: Transformation, rw: Rewriter) -> int:
    """`apply_repeated` with a rewriter that is at hand already."""
    pattern = transformation.pattern
    kind = pattern.captures[0].kind if pattern.captures else Sdfg
    agenda: dict[Element | Sdfg, None] = dict.fromkeys(pattern.anchors(rw.sdfg))

    def look_again(_: str, element: Element) -> None:
        if isinstance(element, kind):
            agenda[element] = None

    rw.listeners.append(look_again)
    count = 0
    while agenda:
        anchor = next(iter(agenda))
        del agenda[anchor]
        while _apply_at(transformation, anchor, rw):
            count += 1
            agenda.pop(anchor, None)
    rw.listeners.remove(look_again)
    return count


def explain(sdfg: Sdfg, transformation: Transformation | type[Transformation], **parameters: object) -> str:
    """Each match with the verdict on it: a table for people."""
    chosen, _ = _with_choice(transformation, parameters)
    rows = [(match, chosen.can_be_applied(match)) for match in matches(chosen, sdfg)]
    count = sum(verdict.ok for _, verdict in rows)
    verb = "applies" if count == 1 else "apply"
    noun = "match" if len(rows) == 1 else "matches"
    lines = [f"{chosen}: {count} of {len(rows)} {noun} {verb}"]
    width = max((len(str(match)) for match, _ in rows), default=0)
    for match, verdict in rows:
        lines.append(f"  {'yes' if verdict else 'no '}  {match!s:{width}}  {verdict.reason}".rstrip())
    return "\n".join(lines)


def _apply(transformation: Transformation, match: Match, rw: Rewriter) -> Any:
    entry = entry_of(transformation, match)
    result = transformation.apply(match, rw)
    rw.record(entry)
    return result


def _apply_at(transformation: Transformation, anchor: Element | Sdfg, rw: Rewriter) -> bool:
    """Applies at the first match beginning at `anchor` that allows it; whether there was one."""
    if isinstance(anchor, Node | Block) and not is_attached(anchor, rw.sdfg):
        return False
    for match in transformation.pattern.matches_at(anchor, rw.uses):
        if transformation.can_be_applied(match):
            _apply(transformation, match, rw)
            return True
    return False


def _with_choice(
    transformation: Transformation | type[Transformation], choice: dict[str, object]
) -> tuple[Transformation, dict[str, object]]:
    """The transformation with its parameters set, and the captures that are pinned."""
    captures = [part.name for part in transformation.pattern.captures]
    pins = {name: value for name, value in choice.items() if name in captures}
    parameters = {name: value for name, value in choice.items() if name not in captures}
    known = [field.name for field in fields(transformation)]
    unknown = [name for name in parameters if name not in known or isinstance(transformation, Transformation)]
    if unknown:
        raise TransformationRefused(
            f"{transformation.name} has no parameter {unknown[0]!r}",
            help=f"it captures {', '.join(captures) or 'nothing'}; its parameters are {', '.join(known) or 'none'}",
        )
    if isinstance(transformation, Transformation):
        return transformation, pins
    made: Any = transformation
    return made(**parameters), pins


def _is_pinned(part: object, pin: object) -> bool:
    """Whether a captured part is the one asked for: the very object, a container's name, or a node's name."""
    if part is pin or (isinstance(part, Access) and part.container == pin):
        return True
    return isinstance(pin, str) and pin != "" and getattr(part, "name", "") == pin
