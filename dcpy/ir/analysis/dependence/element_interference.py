"""Interference with one element in a loop: whether another access to its array may touch it."""

from __future__ import annotations

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.dataflow.aliasing import in_base
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import overlap
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop
from dcpy.ir.tree import Element


def may_access(accessor: Element, kept: Memlet, loop: Loop, uses: Uses, *, is_own: bool = False) -> bool:
    """Return whether a part of a loop's body may touch what a memlet names, in whichever iterations both are.

    Accesses to just that do not count of one that `is_own`: it is there for that element.
    """
    root, subset = in_base(kept, uses.desc)
    names = set(uses.overlapping(kept.container))
    accesses = [each for each in accesses_of_body(loop, uses) if each.place is accessor and each.container in names]
    if not accesses or subset is None:
        return True  # containers of an iteration's own are not among them
    points: tuple[Variable, ...] = ((loop.param, loop.range),)
    assigned = symbols_assigned_in(loop.body)
    ours = Footprint(subset, (*((name, None) for name in subset.symbols if name in assigned), *points))
    for access in accesses:
        if is_own and (access.root, access.subset) == (root, subset):
            continue
        theirs = access.footprint()
        if theirs is None or access.of_queue or access.root != root:
            return True
        if not overlap(ours, Footprint(theirs.subset, (*points, *theirs.over)), uses.ranges_at(loop)).is_no:
            return True
    return False
