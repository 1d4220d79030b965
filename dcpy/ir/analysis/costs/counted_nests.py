"""Counted nests: each statement with its axes, their iterations, its operations and its addresses, in numbers.

Made for given sizes. Where an axis begins at another one (a tile, half of a matrix) that one stands in its middle; of a
branch whose condition is known one side is taken, of another one all are. What is not known at all is of typical size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from dcpy.base.errors import SymbolicError
from dcpy.ir.analysis.costs.cache_lines import AddressPattern
from dcpy.ir.analysis.costs.work_estimates import TypicalValues
from dcpy.ir.analysis.dataflow.aliasing import base_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_nests import Axis, MapOrLoop, as_scope
from dcpy.ir.data import Array, View
from dcpy.ir.expressions.scalar import Index, Load, loads_of
from dcpy.ir.field_roles import Role, Runs
from dcpy.ir.interp.scalars import LeafValues, evaluate, quiet
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Region
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import Element, nodes_of

Numbers = dict[str, int]


@dataclass(frozen=True, slots=True)
class CountedAxis:
    """An axis with the number of its iterations."""

    axis: Axis
    trips: int


@dataclass(frozen=True, slots=True)
class CountedStatement:
    """A node, or a block with expressions, and where it reads and writes: by memlet, in the order of the element."""

    element: Element
    reads: tuple[AddressPattern | None, ...] = ()
    writes: tuple[AddressPattern | None, ...] = ()

    @property
    def patterns(self) -> list[AddressPattern]:
        """The patterns of all that is in memory."""
        return [pattern for pattern in (*self.reads, *self.writes) if pattern is not None]


@dataclass(slots=True)
class RegionPhase:
    """The statements of one region, one after the other: they have the same axes around them.

    Each run of the innermost axis runs them `share` times.
    """

    region: Region
    axes: tuple[CountedAxis, ...]
    share: float = 1.0
    statements: list[CountedStatement] = field(default_factory=list)

    @property
    def trips(self) -> tuple[int, ...]:
        return tuple(counted.trips for counted in self.axes)

    @property
    def iterations(self) -> float:
        """Number of times that the statements run in all."""
        return self.share * math.prod(self.trips)


@dataclass(frozen=True, slots=True)
class _EnclosingAxes:
    """The axes around a place. `points[0]` has all symbols in the middle of the axes, `points[1 + k]` one iteration
    further along axis k; `unknown` are those that only the run knows.
    """

    axes: tuple[CountedAxis, ...]
    points: tuple[Numbers, ...]
    share: float = 1.0
    unknown: frozenset[str] = frozenset()


def phases_of(part: Region | Element, sizes: Mapping[str, int], uses: Uses, costs: Costs) -> list[RegionPhase]:
    """The phases of a part, in program order, for these values of symbols."""
    walk = _NestCounter(uses, costs)
    start = _EnclosingAxes((), ({**TypicalValues(uses.sdfg, costs), **sizes},))
    if isinstance(part, Region):
        walk.region(part, start)
    else:
        walk.block(part, start, RegionPhase(Region(), ()))
    return [phase for phase in walk.found if phase.statements]


class _NestCounter:
    def __init__(self, uses: Uses, costs: Costs) -> None:
        self.uses = uses
        self.typical = TypicalValues(uses.sdfg, costs)
        self.found: list[RegionPhase] = []

    # -- walking -----------------------------------------------------------------------------------------------

    def region(self, region: Region, path: _EnclosingAxes) -> None:
        phase = RegionPhase(region, path.axes, path.share)
        self.found.append(phase)
        for block in region.blocks:
            path = self.block(block, path, phase)

    def block(self, block: Element, path: _EnclosingAxes, phase: RegionPhase) -> _EnclosingAxes:
        """Add what a block does, of a state each node; return the path for what comes after it."""
        nodes = nodes_of(block)
        for node in nodes:
            self.element(node, path, phase)
        return path if nodes else self.element(block, path, phase)

    def element(self, element: Element, path: _EnclosingAxes, phase: RegionPhase) -> _EnclosingAxes:
        """Add what an element does; return the path for what comes after it."""
        bodies = element.regions()
        if not bodies or element.all_of(Role.SCALAR):
            phase.statements.append(self.statement(element, path))
        if not bodies:
            return self.assigned(element, path) if element.all_of(Role.DEFINED) else path
        if element.runs is Runs.PERHAPS:
            for body in self.taken(element, path):
                self.region(body, path)
        elif element.runs is Runs.AGAIN or (scope := as_scope(element)) is None:
            again = self.typical.costs.typical_size if element.runs is Runs.AGAIN else 1
            for body in bodies:
                self.region(body, replace(path, share=path.share * again))
        else:
            self.region(bodies[0], self.inside(scope, path))
        return path

    def inside(self, scope: MapOrLoop, path: _EnclosingAxes) -> _EnclosingAxes:
        """The path in the body of a map or loop."""
        for index, (name, values) in enumerate(scope.iteration_space()):
            trips = max(self.value(values.size, path.points[0]), 0)
            points = [{**point, name: self.at(values, trips // 2, point)} for point in path.points]
            points.append({**points[0], name: self.at(values, trips // 2 + 1, path.points[0])})
            path = replace(path, axes=(*path.axes, CountedAxis(Axis(scope, index), trips)), points=tuple(points))
        return path

    def at(self, values: Range, count: int, point: Numbers) -> int:
        return self.value(values.start, point) + count * self.value(values.step, point)

    def assigned(self, element: Element, path: _EnclosingAxes) -> _EnclosingAxes:
        """The path behind an assignment of symbols."""
        for name, value in zip(element.all_of(Role.DEFINED), element.all_of(Role.SCALAR), strict=False):
            if isinstance(value, Index) and not path.unknown & set(value.value.symbols):
                points = tuple({**point, name: self.value(value.value, point)} for point in path.points)
                path = replace(path, points=points, unknown=path.unknown - {name})
            else:
                path = replace(path, unknown=path.unknown | {name})
        return path

    def taken(self, element: Element, path: _EnclosingAxes) -> tuple[Region, ...]:
        """The sides of a branch that may run: one where the conditions before it are known."""
        bodies = element.regions()
        for condition, body in zip(element.all_of(Role.SCALAR), bodies, strict=False):
            try:
                with quiet():
                    holds = bool(evaluate(condition, LeafValues(path.points[0], {}, _refuse)))
            except (SymbolicError, ArithmeticError, KeyError, TypeError):
                return bodies
            if holds:
                return (body,)
        return bodies[len(element.all_of(Role.SCALAR)) :]

    # -- numbers -----------------------------------------------------------------------------------------------

    def value(self, expr: Expr, point: Numbers) -> int:
        """A number; of typical size where symbols are not known."""
        try:
            return expr.evaluate(point)
        except SymbolicError:
            return self.typical.value(expr.subs({name: point[name] for name in expr.symbols if name in point}))

    def statement(self, element: Element, path: _EnclosingAxes) -> CountedStatement:
        loads = [
            Memlet(load.container, Subset(load.indices))
            for expr in element.all_of(Role.SCALAR)
            for load in loads_of(expr)
        ]
        reads = tuple(self.pattern(memlet, path, False) for memlet in (*element.reads(), *loads))
        return CountedStatement(element, reads, tuple(self.pattern(memlet, path, True) for memlet in element.writes()))

    def pattern(self, memlet: Memlet, path: _EnclosingAxes, writes: bool) -> AddressPattern | None:
        """Return the address pattern of a memlet; None for data in registers."""
        desc, root = self.uses.desc(memlet.container), base_of(memlet.container, self.uses.desc)
        whole = self.uses.desc(root)
        if not isinstance(desc, Array | View) or not isinstance(whole, Array) or not whole.shape:
            return None
        item, subset = desc.dtype.itemsize, memlet.subset
        middle = path.points[0]
        size = whole.dtype.itemsize * math.prod(max(self.value(dim, middle), 1) for dim in whole.shape)
        zeros = (0,) * len(path.axes)
        if memlet.dynamic or path.unknown & set(subset.symbols):
            return AddressPattern(root, 0, zeros, item, size, (), writes, scattered=True)
        start = self.value(desc.offset, middle) * item if isinstance(desc, View) else 0
        strides = [self.value(stride, middle) * item for stride in desc.strides]
        firsts = [dim.start if isinstance(dim, Range) else dim for dim in subset.dims]

        def place(point: Numbers) -> int:
            indices = (self.value(first, point) for first in firsts)
            return start + sum(index * stride for index, stride in zip(indices, strides, strict=True))

        base = place(middle)
        steps = tuple(place(point) - base for point in path.points[1:])
        inside = tuple(
            (self.value(dim.step, middle) * stride, max(self.value(dim.size, middle), 0))
            for dim, stride in zip(subset.dims, strides, strict=True)
            if isinstance(dim, Range)
        )
        return AddressPattern(root, base, steps, item, size, inside, writes)


def _refuse(load: Load) -> NoReturn:
    raise SymbolicError(f"{load.container!r} is not known before the run")
