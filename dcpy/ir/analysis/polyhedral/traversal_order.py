"""Traversal order: whether two accesses go through the same elements in the same order, in any loops.

An access in loops is a sequence of elements: loops give times, in lexicographic order, and the access relation takes
times to elements. Where no element comes twice, a sequence is a total order of its elements. Two sequences are equal
if their elements are, and what one has before another the other one has, too. isl decides that for all sizes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.isl_sets import NotAffineError, System, is_empty, is_subset
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Ranges, sym

Loops = Sequence[tuple[str, Range]]  #: parameters and their values, the outermost loop first


def same_order(ours: Subset, mine: Loops, theirs: Subset, its: Loops, ranges: Ranges) -> Refusal | None:
    """None where the points `ours` in the loops `mine` are `theirs` in the loops `its`, one after the other."""
    if ours.rank != theirs.rank:
        return Refusal("they differ in rank")
    if any((values.step.constant or -1) < 0 for _, values in (*mine, *its)):
        return Refusal("a loop goes down")
    first, second = Footprint(ours, tuple(mine)), Footprint(theirs, tuple(its))
    told = _OrderSets(ranges, tuple(sorted({*_free(first), *_free(second)})))
    try:
        if not is_empty(told.pairs(first, same=True)) or not is_empty(told.pairs(second, same=True)):
            return Refusal("an element comes more than once")
        if not _are_equal(told.elements(first), told.elements(second)):
            return Refusal("they are not the same elements")
        if not is_subset(told.pairs(first), told.pairs(second)):
            return Refusal("the elements come in another order")
    except NotAffineError as reason:
        return Refusal(str(reason))
    return None


def within(inner: Subset, its: Loops, outer: Subset, mine: Loops, ranges: Ranges) -> Refusal | None:
    """None where all points `inner` in the loops `its` are among the points `outer` in the loops `mine`."""
    first, second = Footprint(inner, tuple(its)), Footprint(outer, tuple(mine))
    told = _OrderSets(ranges, tuple(sorted({*_free(first), *_free(second)})))
    try:
        known = is_subset(told.elements(first), told.elements(second))
    except NotAffineError as reason:
        return Refusal(str(reason))
    return None if known else Refusal("they are not the same elements")


def _are_equal(left: str, right: str) -> bool:
    return bool(is_subset(left, right)) and bool(is_subset(right, left))


def _free(footprint: Footprint) -> set[str]:
    """The symbols that no loop gives values to."""
    used = {*footprint.subset.symbols, *(name for _, dim in footprint.over if dim is not None for name in dim.symbols)}
    return used - {name for name, _ in footprint.over}


@dataclass(frozen=True)
class _OrderSets:
    """Sets for isl in which equal symbols have equal names."""

    ranges: Ranges
    symbols: tuple[str, ...]

    def system(self) -> System:
        system = System(self.ranges)
        for name in self.symbols:
            system.expr(sym(name))
        return system

    def elements(self, footprint: Footprint) -> str:
        """The elements that come."""
        system = self.system()
        axes = [f"x{axis}" for axis in range(footprint.subset.rank)]
        one = footprint.primed("'")
        lines = [*system.sweep(one), *system.points(axes, one.subset)]
        return _exact(system, system.set_of(axes, [lines]))

    def pairs(self, footprint: Footprint, *, same: bool = False) -> str:
        """The pairs of elements of which the first one comes earlier; or those of them that are one element."""
        system = self.system()
        rank = footprint.subset.rank
        before, after = [f"x{axis}" for axis in range(rank)], [f"y{axis}" for axis in range(rank)]
        lines: list[str] = []
        for mark, axes in (("'", before), ('"', after)):
            one = footprint.primed(mark)
            lines += [*system.sweep(one), *system.points(axes, one.subset)]
        if same:
            lines += [f"{left} = {right}" for left, right in zip(before, after, strict=True)]
        times = [(system.expr(sym(name + "'")), system.expr(sym(name + '"'))) for name, _ in footprint.over]
        cases = []
        for depth, (early, late) in enumerate(times):
            equal = [f"{left} = {right}" for left, right in times[:depth]]
            cases.append([*lines, *equal, f"{early} < {late}"])
        return _exact(system, system.set_of([*before, *after], cases or [["1 = 0"]]))


def _exact(system: System, text: str) -> str:
    if not system.exact or system.has_products:
        raise NotAffineError("the loops are not known exactly")
    return text
