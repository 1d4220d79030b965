"""One transformation at one match on a copy: what every check of a transformation's meaning walks through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import Refusal, Transformation, matches, perform
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.expand import ExpandLibraryNode
from dcpy.transforms.history_entries import entry_of
from tests.support.oracles import Difference

CHOICES: dict[str, tuple[dict[str, Any], ...]] = {  # parameters to try, where the default ones are not all
    "augmented-assignment-to-wcr": ({}, {"loops": True}),
    "expand-library-node": ({"prefer": ("pure",)},),
    "loop-fusion": ({}, {"shift": 1}),
    "loop-peeling": ({}, {"count": 2, "last": True}),
    "loop-skewing": ({}, {"factor": -2}),
    "loop-unroll": ({}, {"factor": 2}),
    "map-tiling": ({"sizes": (2,)}, {"sizes": (3, 2)}),
    "strip-mining": ({"size": 2},),
    "time-tiling": ({"steps": 2, "sizes": (3,)}, {"steps": 3, "sizes": (2, 4)}),
    "unroll-and-jam": ({}, {"factor": 3}),
}


@dataclass(frozen=True)
class Application:
    """A transformation that says yes at a match; `entry` is what the history records, and `replay` reads."""

    name: str
    entry: str
    changed: Callable[[], Sdfg]  # a copy with the transformation applied, verified; raises `Difference`


def applications(sdfg: Sdfg, limit: int | None = None) -> Iterator[Application]:
    """Every transformation at every match that it allows, or at the first `limit` of each; `sdfg` stays as it is."""
    for name in TRANSFORMATIONS:
        for transformation in variants(TRANSFORMATIONS[name]):
            entries = [entry_of(transformation, match) for match in matches(transformation, sdfg)]
            for number in allowed(transformation, sdfg)[:limit]:
                entry = entries[number]
                yield Application(name, entry, lambda t=transformation, n=number: applied(sdfg, t, n))  # type: ignore[misc]


def allowed(transformation: Transformation[Any], sdfg: Sdfg) -> list[int]:
    """The numbers of the matches that a transformation says yes to."""
    found = enumerate(matches(transformation, sdfg))
    return [number for number, match in found if _can_be_interpreted(transformation, transformation.plan(match))]


def applied(sdfg: Sdfg, transformation: Transformation[Any], number: int) -> Sdfg:
    """A copy with a transformation applied at one of its matches, verified. Raises `Difference`."""
    changed = copy_sdfg(sdfg)
    rw = Rewriter(changed, transformation.name, check=True)
    match = list(matches(transformation, changed, rw.uses))[number]
    entry = entry_of(transformation, match)
    try:
        perform(transformation, match, transformation.plan(match), rw)
    except Exception as error:
        raise Difference(f"{entry}: {error}\n{print_sdfg(sdfg)}") from error
    return changed


def _can_be_interpreted(transformation: Transformation[Any], plan: Any) -> bool:
    """Whether it applies, and the result has no call of a library: some nodes have no other expansion."""
    if isinstance(plan, Refusal) or not isinstance(transformation, ExpandLibraryNode):
        return not isinstance(plan, Refusal)
    return plan[0].expansion in ("cpu", "maps")


def variants(kind: type[Transformation[Any]]) -> Iterator[Transformation[Any]]:
    """A transformation with its default parameters, and with what else the auto-optimizer uses.

    Library nodes become loops where they can: calls of libraries are beyond the interpreter.
    """
    choices: tuple[dict[str, Any], ...] = CHOICES.get(kind.name, ({},))
    yield from (kind(**choice) for choice in choices)
