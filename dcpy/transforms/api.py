"""Transformations, and the four uses of one: find, explain, apply once, apply everywhere.

A transformation is a frozen dataclass: its docstring is the picture, its fields are typed parameters, `pattern` says
where it looks, `plan` finds out what to do at a match, or why nothing may be done, and `apply` does what was planned,
through the `Rewriter`. Names and parameters print and parse (``map-tiling{sizes=32,32 divides=true}``) in `history`;
the list of names is in `catalog`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_nests import params_of
from dcpy.ir.editing.container_descriptions import readable
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Loop
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element
from dcpy.transforms.history_entries import entry_of
from dcpy.transforms.passes import Pass
from dcpy.transforms.pattern import (
    Access,
    Capture,
    Match,
    Pattern,
    capture,
    consecutive,
    one,
    path,
    siblings,
    whole,
)

__all__ = [
    "LEGAL",
    "Access",
    "Capture",
    "Legal",
    "Match",
    "Refusal",
    "Rewriter",
    "Transformation",
    "apply_once",
    "apply_repeated",
    "capture",
    "consecutive",
    "explain",
    "matches",
    "one",
    "path",
    "perform",
    "siblings",
    "whole",
]

MOST = 100_000  #: applications at one place, of a transformation that is applied everywhere
Plan = TypeVar("Plan")  #: a frozen value: all that applying a transformation has to know beside the match


@dataclass(frozen=True, slots=True)
class Legal:
    """The plan of a transformation that has to know nothing beside the match."""


LEGAL = Legal()


@dataclass(frozen=True)
class Transformation(Pass, Generic[Plan]):
    """Base of all transformations: ``class MapFusion(Transformation[Fusion])``, where `Fusion` is what `plan` makes.

    Subclasses set `name` and `pattern`, and never change results. As a pass, one is applied everywhere (`sweep`), if it
    `settles`: others, a reversal or a tiling, would apply for ever, and are applied on request only. Those that
    belong `everywhere` are applied to all that they fit when users apply them without saying where. Those that move
    what a match begins with go through a program with the `latest_first`, as what is moved has not grown then.
    """

    pattern: ClassVar[Pattern]
    settles: ClassVar[bool] = True
    everywhere: ClassVar[bool] = False
    latest_first: ClassVar[bool] = False

    def plan(self, m: Match) -> Plan | Refusal:
        """Return the plan for a match, or why it would change the meaning of the program. Changes nothing."""
        raise NotImplementedError

    def apply(self, m: Match, plan: Plan, rw: Rewriter) -> Any:
        """Do what was planned, of an SDFG that is as it was then; return what it made, if anything."""
        raise NotImplementedError

    def run(self, rw: Rewriter) -> int:
        """Apply it wherever it is legal; remarks say where it was, and where it is not and why."""
        count = sweep(self, rw)
        if rw.remarks is not None:
            for match in matches(self, rw.sdfg, rw.uses):
                plan = self.plan(match)
                if isinstance(plan, Refusal):
                    rw.remark(match.anchor, False, str(plan), about=match.in_words())
        return count


def matches(transformation: Transformation[Any], sdfg: Sdfg, uses: Uses | None = None) -> Iterator[Match]:
    """All matches of the pattern, legal or not, in program order."""
    index = Uses(sdfg) if uses is None else uses
    for anchor in transformation.pattern.anchors(sdfg):
        yield from transformation.pattern.matches_at(anchor, index)


def apply_once(
    sdfg: Sdfg,
    transformation: Transformation[Any] | type[Transformation[Any]],
    *,
    check: bool = False,
    **choice: object,
) -> Any:
    """Apply a transformation at the first match that allows it; return what `apply` returns.

    `choice` pins captures (``first=node``, ``tmp="tmp0"``, ``loop="i"``) and sets parameters.
    A node or block that was replaced since it was found stands for what took its place.
    `TransformationRefused` carries the refusal of every match.
    """
    chosen, pins = _with_choice(transformation, choice)
    pins = {name: sdfg.current(pin) if isinstance(pin, Node | Block) else pin for name, pin in pins.items()}
    rw = Rewriter(sdfg, chosen.name, check=check)
    refusals: list[str] = []
    for match in matches(chosen, sdfg, rw.uses):
        if not all(_is_pinned(match.captures[name], pin) for name, pin in pins.items()):
            continue
        plan = chosen.plan(match)
        if not isinstance(plan, Refusal):
            return perform(chosen, match, plan, rw)
        refusals.append(f"{match}: {plan}")
    reason = "" if refusals else f"there is no {chosen.pattern} {'that was asked for' if pins else 'in it'}"
    raise TransformationRefused(
        f"{chosen} applies nowhere in {sdfg.name!r}", notes=tuple(refusals) if refusals else (reason,)
    )


def apply_repeated(
    sdfg: Sdfg, transformation: Transformation[Any] | type[Transformation[Any]], *, check: bool = False, **given: object
) -> int:
    """Apply a transformation until no match allows it; return how often it was applied.

    One sweep in program order, which looks again only where something changed: linear in the size of the SDFG.
    """
    chosen, _ = _with_choice(transformation, given)
    if next(iter(chosen.pattern.anchors(sdfg)), None) is None:
        return 0  # an index of all uses is not made for nothing
    rw = Rewriter(sdfg, chosen.name, check=check)
    return sweep(chosen, rw)


def sweep(transformation: Transformation[Any], rw: Rewriter) -> int:
    """`apply_repeated` with a rewriter that is at hand already."""
    if not transformation.settles:
        raise TransformationRefused(
            f"{transformation.name} could be applied again and again",
            help=f"say where: sdfg.apply({transformation.name!r}, {transformation.pattern.captures[0].name}=...)",
        )
    pattern = transformation.pattern
    kinds = pattern.captures[0].kinds if pattern.captures else (Sdfg,)
    anchors = list(pattern.anchors(rw.sdfg))
    agenda: dict[Element | Sdfg, None] = dict.fromkeys(anchors[::-1] if transformation.latest_first else anchors)

    def look_again(_: str, element: Element) -> None:
        if isinstance(element, kinds):
            agenda[element] = None

    rw.listeners.append(look_again)
    count = 0
    while agenda:
        anchor = next(iter(agenda))
        del agenda[anchor]
        for _ in range(MOST):
            if not _apply_at(transformation, anchor, rw):
                break
            count += 1
            agenda.pop(anchor, None)
        else:
            raise TransformationRefused(
                f"{transformation} does not come to rest: it was applied {MOST} times at one place",
                help="plan() is to refuse where it was applied already; or set settles = False",
            )
    rw.listeners.remove(look_again)
    return count


def explain(sdfg: Sdfg, transformation: Transformation[Any] | type[Transformation[Any]], **parameters: object) -> str:
    """Each match by the names of the SDFG, and whether it applies or why not: a table for people who read its text."""
    chosen, _ = _with_choice(transformation, parameters)
    return _table(chosen, [(str(match), chosen.plan(match)) for match in matches(chosen, sdfg)])


def explain_in_words(sdfg: Sdfg, transformation: Transformation[Any]) -> str:
    """The same by lines and names of the program, for people who read only that; "" where nothing matches."""

    def told(plan: object) -> object:
        return Refusal(readable(str(plan), sdfg)) if isinstance(plan, Refusal) else plan

    found = [(match, told(transformation.plan(match))) for match in matches(transformation, sdfg)]
    rows = [(f"{match.anchor.span or ''}  {match.in_words()}", plan) for match, plan in found]
    return _table(transformation, rows) if rows else ""


def _table(chosen: Transformation[Any], rows: Sequence[tuple[str, object]]) -> str:
    count = sum(not isinstance(plan, Refusal) for _, plan in rows)
    verb = "applies" if count == 1 else "apply"
    noun = "match" if len(rows) == 1 else "matches"
    lines = [f"{chosen}: {count} of {len(rows)} {noun} {verb}"]
    width = max((len(match) for match, _ in rows), default=0)
    for match, plan in rows:
        verdict, reason = ("no ", plan) if isinstance(plan, Refusal) else ("yes", "")
        lines.append(f"  {verdict}  {match:{width}}  {reason}".rstrip())
    return "\n".join(lines)


def perform(transformation: Transformation[Plan], match: Match, plan: Plan, rw: Rewriter, *, reason: str = "") -> Any:
    """Apply a transformation as it was planned at a match, and enter that into the history; `reason`: for remarks."""
    entry = entry_of(transformation, match)
    if rw.remarks is not None:
        rw.remark(match.anchor, True, reason, about=match.in_words())
    anchor, around = match.anchor, rw.span
    rw.span = None if isinstance(anchor, Sdfg) else anchor.span
    result = transformation.apply(match, plan, rw)
    rw.span = around
    rw.record(entry)
    return result


def _apply_at(transformation: Transformation[Any], anchor: Element | Sdfg, rw: Rewriter) -> bool:
    """Apply at the first match beginning at `anchor` that allows it; whether there was one."""
    if isinstance(anchor, Node | Block) and not rw.uses.holds(anchor):
        return False
    for match in transformation.pattern.matches_at(anchor, rw.uses):
        plan = transformation.plan(match)
        if not isinstance(plan, Refusal):
            perform(transformation, match, plan, rw)
            return True
    return False


def _with_choice(
    transformation: Transformation[Plan] | type[Transformation[Plan]], choice: dict[str, object]
) -> tuple[Transformation[Plan], dict[str, object]]:
    """The transformation with its parameters set, and the captures that are pinned."""
    captures = [part.name for part in transformation.pattern.captures]
    pins = {name: value for name, value in choice.items() if name in captures}
    parameters = {name: value for name, value in choice.items() if name not in captures}
    known = [field.name for field in fields(transformation)]
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise TransformationRefused(
            f"{transformation.name} has no parameter {unknown[0]!r}",
            help=f"it captures {', '.join(captures) or 'nothing'}; its parameters are {', '.join(known) or 'none'}",
        )
    if isinstance(transformation, Transformation):
        return replace(transformation, **parameters) if parameters else transformation, pins
    made: Any = transformation
    return made(**parameters), pins


def _is_pinned(part: object, pin: object) -> bool:
    """Return whether a captured part is the one asked for: the very object, or by name a container, a node, or the map
    or loop with a parameter of that name."""
    if part is pin or (isinstance(part, Access) and part.container == pin):
        return True
    if isinstance(part, Map | Loop) and pin in params_of(part):
        return True
    return isinstance(pin, str) and pin != "" and getattr(part, "name", "") == pin
