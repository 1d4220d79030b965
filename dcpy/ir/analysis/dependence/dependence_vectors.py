"""Dependence analysis of loop nests: distance and direction vectors, as relations of integer sets.

Two accesses of a nest's body depend on each other where they meet in memory and one writes. The *distance* is by how
much the iteration of the second is later than that of the first, axis by axis, in the order in which each axis runs.
All distances of two accesses are one set, affine in the symbols: what a reordering may not find in it is a question
with three answers. What cannot be written as such a set is unknown, and unknown is never "no".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import (
    by_memory,
    iterations_have_order,
    kinds_of,
    surely_written_before,
)
from dcpy.ir.analysis.dependence.loop_nests import Axis, Nest
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import Answer
from dcpy.ir.analysis.polyhedral.isl_sets import NotAffineError, System, directions_of, is_empty, meets
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Region
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges, sym
from dcpy.ir.tree import is_inside


@dataclass(frozen=True)
class Dependence:
    """All distances from `source` to `sink`: points of the set `distances`, None where it cannot be written.

    It does not order a pair of iterations: the distances do.
    `exact`: each point is the distance of some pair, for some values of the symbols.
    """

    source: MemoryAccess
    sink: MemoryAccess
    axes: tuple[str, ...]
    distances: str | None
    exact: bool = True
    reason: str = ""
    unbounded: str | None = None  #: more distances, in a set that is quick to ask: as if all ranges had no ends

    def has(self, cone: str) -> Answer:
        """Return whether a distance lies in a cone, for some values of the symbols: ``d0 > 0 and d1 < 0``."""
        if self.distances is None:
            return Answer(None, f"{self}: {self.reason}")
        if self.unbounded is not None and self.axes and meets(self.unbounded, self._set(cone)) is False:
            return Answer(False)
        if not self.axes:
            empty = is_empty(self.distances)
        else:
            found = meets(self.distances, self._set(cone))
            empty = None if found is None else not found
        if empty:
            return Answer(False)
        certain = empty is False and self.exact
        return Answer(True if certain else None, f"{self}{self._along(cone)}")

    def vector(self, cone: str = "") -> tuple[str, ...]:
        """The distances in a cone (default: of the pairs whose source runs first), axis by axis.

        A number where it is one; else the directions that there are: ``<``, ``<=``, ``*``.
        """
        if self.distances is None:
            return ("?",) * len(self.axes)
        return directions_of(
            self.distances, self._set(cone or lexicographically_positive(len(self.axes))), len(self.axes)
        )

    def _set(self, cone: str) -> str:
        return f"{{ [{_names(self.axes)}] : {cone} }}"

    def _along(self, cone: str) -> str:
        return f": distance ({', '.join(self.vector(cone))}) on ({', '.join(self.axes)})" if self.axes else ""

    def __str__(self) -> str:
        """``writes A[i, j], then reads A[i - 1, j] (stencil.py:4)``."""
        line = next((f" ({span})" for span in (self.sink.place.span, self.source.place.span) if span), "")
        return f"{self.source}, then {self.sink}{line}"


@dataclass(frozen=True)
class NestDependences:
    """The dependences among the iterations of a nest, each ordered pair of accesses once."""

    axes: tuple[Axis, ...]
    dependences: tuple[Dependence, ...]

    def obstacle(self, cone: str) -> Refusal | None:
        """The first dependence with a distance in a cone, or of which that is not known; None where none has one."""
        unknown = None
        for dependence in self.dependences:
            answer = dependence.has(cone)
            if answer.is_yes:
                return Refusal(f"{answer.reason}", (dependence.source.place, dependence.sink.place))
            if answer.is_unknown and unknown is None:
                why = f"it is not known whether there is a dependence: {answer.reason}"
                unknown = Refusal(why, (dependence.source.place, dependence.sink.place))
        return unknown

    def vectors(self) -> tuple[tuple[str, ...], ...]:
        """The vectors of all pairs where the source runs first; each once, in program order."""
        forward = lexicographically_positive(len(self.axes))
        return tuple(dict.fromkeys(d.vector() for d in self.dependences if not d.has(forward).is_no))


def dependences_of(nest: Nest, uses: Uses) -> NestDependences | Refusal:
    """The dependences that order the iterations of a nest. Refuses bodies that may end early, or have effects in order.

    A temporary that each iteration fills before it reads it orders nothing, nor do equal conflict resolutions.
    """
    obstacle = iterations_have_order(nest.body, nest.owners[0].body, uses)
    if obstacle:
        return obstacle
    return data_dependences_of(nest, uses)


def data_dependences_of(nest: Nest, uses: Uses) -> NestDependences | Refusal:
    """`dependences_of`, of data alone."""
    unsteady = next((axis for axis in nest.axes if not axis.sign), None)
    if unsteady:
        return Refusal(f"the step {unsteady.range.step} of {unsteady.param!r} is not a number")
    ranges = uses.ranges_at(nest.axes[0].owner)
    found = [
        dependence
        for group in by_memory(accesses_in(nest.body, uses)).values()
        if not is_private_to_iterations(group, nest, uses, ranges)
        for dependence in dependences_among(group, nest.axes, ranges)
    ]
    return NestDependences(nest.axes, tuple(found))


def dependences_among(group: Sequence[MemoryAccess], axes: Sequence[Axis], ranges: Ranges) -> Iterator[Dependence]:
    """The dependences of accesses to one memory, in a body that the axes run."""
    kinds = kinds_of(group)
    for first in kinds:
        for second in kinds:
            if may_depend(first, second):
                yield dependence(first, second, axes, ranges)


def dependences_between(
    sources: Iterable[MemoryAccess], sinks: Iterable[MemoryAccess], axes: Sequence[Axis], ranges: Ranges
) -> NestDependences:
    """The dependences from accesses of one part of a body to those of another part."""
    ours, theirs = kinds_of(sources), kinds_of(sinks)
    pairs = [(first, second) for first in ours for second in theirs if first.memory == second.memory]
    found = [dependence(*pair, axes, ranges) for pair in pairs if may_depend(*pair)]
    return NestDependences(tuple(axes), tuple(found))


def may_depend(first: MemoryAccess, second: MemoryAccess) -> bool:
    """Return whether the order of two accesses of one memory matters: one writes, and they do not both combine values.
    """
    return (first.is_write or second.is_write) and not (first.wcr and first.wcr == second.wcr)


def dependence(source: MemoryAccess, sink: MemoryAccess, axes: Sequence[Axis], ranges: Ranges) -> Dependence:
    """The relation of two accesses of a body that `axes` run; `ranges` is what is known around them."""
    names = tuple(axis.param for axis in axes)
    ours, theirs = source.footprint(), sink.footprint()
    if ours is None or theirs is None or source.root != sink.root:
        return Dependence(source, sink, names, None, reason="which part of it is not known")
    if ours.subset.rank != theirs.subset.rank:
        return Dependence(source, sink, names, None, reason="they differ in rank")
    try:
        unbounded, _ = _distances(_without_ends(ours), _without_ends(theirs), axes, (), Ranges())
        distances, exact = _distances(ours, theirs, axes, tuple((axis.param, axis.range) for axis in axes), ranges)
    except NotAffineError as reason:
        return Dependence(source, sink, names, None, reason=str(reason))
    return Dependence(source, sink, names, distances, exact, unbounded=unbounded)


def _distances(
    ours: Footprint, theirs: Footprint, axes: Sequence[Axis], points: tuple[Variable, ...], ranges: Ranges
) -> tuple[str, bool]:
    """The set of distances, and whether each of them occurs. Axes that are not among the points have no ends."""
    free: tuple[Variable, ...] = () if points else tuple((axis.param, None) for axis in axes)
    system = System(ranges)
    elements = [f"x{dim}" for dim in range(ours.subset.rank)]
    both = [
        line
        for part, mark in ((ours, "'"), (theirs, '"'))
        for line in _elements(system, elements, Footprint(part.subset, (*free, *points, *part.over)).primed(mark))
    ]
    gaps = [_distance(system, axis, number) for number, axis in enumerate(axes)]
    return system.set_of([f"d{number}" for number in range(len(axes))], [[*both, *gaps]], elements), system.exact


def _without_ends(footprint: Footprint) -> Footprint:
    """The footprint of variables that may have any value: those that the subset mentions."""
    return Footprint(footprint.subset, tuple((n, None) for n, _ in footprint.over if n in footprint.subset.symbols))


def _elements(system: System, elements: Sequence[str], footprint: Footprint) -> list[str]:
    return [*system.sweep(footprint), *system.points(elements, footprint.subset)]


def _distance(system: System, axis: Axis, number: int) -> str:
    later, earlier = system.expr(sym(axis.param + '"')), system.expr(sym(axis.param + "'"))
    return f"d{number} = {axis.sign}*({later} - {earlier})"


def _names(axes: Sequence[str]) -> str:
    return ", ".join(f"d{number}" for number in range(len(axes)))


# -- cones -----------------------------------------------------------------------------------------------------------


def lexicographically_positive(count: int, order: Sequence[int] = ()) -> str:
    """The distances of what runs later: the first one that is not 0 is positive. `order`: in another order of axes."""
    return _lexicographic(order or range(count), ">")


def lexicographically_negative(count: int, order: Sequence[int] = ()) -> str:
    """The distances of what runs earlier."""
    return _lexicographic(order or range(count), "<")


def _lexicographic(order: Sequence[int], relation: str) -> str:
    cases = []
    for depth, number in enumerate(order):
        equal = [f"d{before} = 0" for before in order[:depth]]
        cases.append(f"({' and '.join([*equal, f'd{number} {relation} 0'])})")
    return f"({' or '.join(cases)})"


# -- privatization ---------------------------------------------------------------------------------------------------


def is_private_to_iterations(group: Sequence[MemoryAccess], nest: Nest, uses: Uses, ranges: Ranges) -> bool:
    """Return whether a memory carries no value from one iteration to another, or out of the nest: a temporary of each.

    Only the body touches it, and each iteration reads only what it wrote itself.
    """
    root = group[0].root
    if any(access.root != root for access in group) or not is_own_memory(root, nest.body, uses):
        return False
    points = tuple((axis.param, axis.range) for axis in nest.axes)
    inside = Footprint(Subset(), points).known(ranges)
    reads = [access for access in group if not access.is_write or access.wcr]
    return all(surely_written_before(read, group, inside).is_yes for read in reads)


def is_own_memory(root: str, body: Region, uses: Uses) -> bool:
    """Return whether a transient that ends with its scope is touched inside a region alone."""
    if not uses.is_private(root):
        return False
    desc = uses.desc(root)
    if isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE:
        return False
    return all(is_inside(accessor, body) for name in uses.overlapping(root) for accessor in uses.accessors(name))
