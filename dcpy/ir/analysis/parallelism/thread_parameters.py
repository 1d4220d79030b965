"""Thread parameters of a map: those that threads can divide, as no two of their values combine numbers in one place."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions, injective_params
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import Sequential
from dcpy.ir.types import DType

WORDS = (4, 8)  #: bytes of numbers that threads combine at one go


def free_params(node: Map, uses: Uses, *, any_order: bool = False) -> tuple[str, ...]:
    """Parameters that threads can have: each combines values only in places of its own. None of a sequential map.

    Where the data choose a place, threads may meet there if the order does not show: of integers, or in `any_order`.
    """
    if isinstance(node.schedule, Sequential):
        return ()
    writes = conflict_resolutions(uses, node)
    free = set(node.params)
    chosen = {name for body in node.regions() for region in body.walk_regions() for name in symbols_assigned_in(region)}
    for memlet in writes.resolved:
        dtype = uses.desc(memlet.container).dtype
        orderless = any_order or is_orderless(dtype)
        if chosen.isdisjoint(memlet.subset.symbols) or not orderless:
            free &= injective_params(memlet.subset, node.params, writes.symbols)
    free |= {param for param, dim in node.iteration_space() if dim.size.constant == 1}
    found = tuple(param for param in node.params if param in free)
    ranges = dict(zip(node.params, node.domain, strict=True))
    if any(not (set(node.params) - free).isdisjoint(ranges[param].symbols) for param in found):
        return ()
    return found


def is_orderless(dtype: DType) -> bool:
    """Return whether threads may combine such numbers in any order, at one go."""
    return dtype.is_integer and dtype.itemsize in WORDS
