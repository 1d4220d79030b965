"""Loop nests: axes over maps and loops alike, and which scopes are perfectly nested.

A map bundles several axes, a loop has one. What schedules speak of, an axis with its range, whether its iterations keep
an order, is the same for both. How nests are changed is in `nest_edits`, what their iterations depend on in
`dependence_vectors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.schedules import Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.tree import Element, TreeNode, owners_around

MapOrLoop = Map | Loop


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of an iteration space: parameter number `index` of a map, or the one of a loop."""

    owner: MapOrLoop
    index: int = 0

    @property
    def param(self) -> str:
        return params_of(self.owner)[self.index]

    @property
    def range(self) -> Range:
        return ranges_of(self.owner)[self.index]

    @property
    def is_parallel(self) -> bool:
        """Return whether its iterations have no order: those of a map."""
        return isinstance(self.owner, Map)

    @property
    def schedule(self) -> Schedule:
        return self.owner.schedule

    @property
    def sign(self) -> int:
        """1 where it goes up, -1 where it goes down, 0 where its step is no number."""
        step = self.range.step.constant or 0
        return (step > 0) - (step < 0)

    def __str__(self) -> str:
        return f"{self.owner.kind} {self.param} = {self.range}"


@dataclass(frozen=True, slots=True)
class Nest:
    """A perfect nest: axes, outermost first, with nothing between them, and what the innermost one runs."""

    axes: tuple[Axis, ...]
    body: Region

    @property
    def owners(self) -> tuple[MapOrLoop, ...]:
        """Its maps and loops, outermost first."""
        return tuple(dict.fromkeys(axis.owner for axis in self.axes))

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(axis.param for axis in self.axes)

    def upto(self, owner: MapOrLoop) -> Nest:
        """The part of it that ends with a map or loop."""
        kept = self.owners[: self.owners.index(owner) + 1]
        return Nest(tuple(axis for axis in self.axes if axis.owner in kept), owner.body)


def as_scope(element: Element) -> MapOrLoop | None:
    """An element that is a map or a loop."""
    return element if isinstance(element, Map | Loop) else None


def params_of(scope: MapOrLoop) -> tuple[str, ...]:
    """The parameters of a map, the parameter of a loop."""
    return scope.params if isinstance(scope, Map) else (scope.param,)


def ranges_of(scope: MapOrLoop) -> tuple[Range, ...]:
    """Their ranges."""
    return scope.domain if isinstance(scope, Map) else (scope.range,)


def axes_of(scope: MapOrLoop) -> tuple[Axis, ...]:
    """The axes of one map or loop."""
    return tuple(Axis(scope, index) for index in range(len(params_of(scope))))


def nest_of(*scopes: MapOrLoop) -> Nest:
    """Maps and loops, each just inside the one before, as a nest."""
    return Nest(tuple(axis for scope in scopes for axis in axes_of(scope)), scopes[-1].body)


def perfect_nest(outer: MapOrLoop) -> Nest:
    """The deepest perfect nest that begins with a map or loop."""
    scopes = [outer]
    while (inner := only_scope_in(scopes[-1].body)) is not None:
        scopes.append(inner)
    return nest_of(*scopes)


def only_scope_in(region: Region) -> MapOrLoop | None:
    """The map or loop that is all there is in a region, declarations included; None where there is more, or less."""
    if region.containers:
        return None
    match region.blocks:
        case [Loop() as loop]:
            return loop
        case [State(nodes=[Map() as inner])]:
            return inner
    return None


def scopes_around(place: TreeNode) -> Iterator[MapOrLoop]:
    """The maps and loops that a place is inside of, innermost first."""
    return (owner for owner in owners_around(place) if isinstance(owner, Map | Loop))


def scopes_in(region: Region) -> Iterator[MapOrLoop]:
    """All maps and loops inside a region, in program order, each before those inside it."""
    return (
        inner.owner for inner in region.walk_regions() if inner is not region and isinstance(inner.owner, Map | Loop)
    )
