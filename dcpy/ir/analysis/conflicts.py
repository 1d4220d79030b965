"""Conflict resolutions inside a map: which always meet one location, and which never meet another iteration's.

A location that nothing else touches, and that no iteration changes the address of, can be folded in a variable
(`reducible`). One whose index has each parameter in a dimension of its own is met by one iteration only (`distinct`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.roles import Role
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import min_of, sym
from dcpy.ir.tree import Element
from dcpy.ir.uses import Uses

NO_TILES: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class MapWrites:
    """What the body of a map does to the containers around it."""

    symbols: set[str] = field(default_factory=set)  # that differ between iterations, or inside one
    private: set[str] = field(default_factory=set)  # containers declared inside
    resolved: dict[Memlet, None] = field(default_factory=dict)
    touched: dict[str, list[Memlet | None]] = field(default_factory=dict)  # by name; None: otherwise than by wcr


def survey(uses: Uses, node: Map) -> MapWrites:
    """Looks through the body of `node`."""
    found = MapWrites()
    found.symbols.update(node.params)
    _survey_region(uses, node.body, found)
    return found


def _survey_region(uses: Uses, region: Region, found: MapWrites) -> None:
    for inner in region.walk_regions():
        found.private.update(inner.containers)
    elements: list[Element] = [*region.walk_blocks(), *region.walk_nodes()]
    for element in elements:
        found.symbols.update(element.all_of(Role.DEFINED))
        for memlet in _writes(element):
            resolved = location(memlet) if memlet.wcr else None
            found.touched.setdefault(memlet.container, []).append(resolved)
            found.resolved |= {resolved: None} if resolved is not None else {}
        for name in uses.touches(element).reads:
            found.touched.setdefault(name, []).append(None)


def _writes(element: Element) -> Iterator[Memlet]:
    yield from element.writes()
    for memlet in element.all_of(Role.PASSED):
        yield Memlet(memlet.container, memlet.subset)


def reducible(uses: Uses, writes: MapWrites) -> list[Memlet]:
    """The locations that a loop over the map may fold in variables."""
    return [memlet for memlet in writes.resolved if _is_reducible(uses, memlet, writes)]


def _is_reducible(uses: Uses, memlet: Memlet, writes: MapWrites) -> bool:
    root = uses.root(memlet.container)
    if root in writes.private or writes.symbols & set(memlet.subset.symbols):
        return False
    if any(name in writes.touched for name in uses.overlapping(memlet.container) if name != memlet.container):
        return False
    return all(other == memlet for other in writes.touched[memlet.container])


def location(memlet: Memlet) -> Memlet:
    """What identifies a location of conflict resolution."""
    return Memlet(memlet.container, memlet.subset, memlet.wcr)


def distinct(
    subset: Subset, params: tuple[str, ...], varying: frozenset[str], tiles: Mapping[str, str] = NO_TILES
) -> bool:
    """Whether different values of `params` are proved to give different elements; `varying` has all that differs.

    `tiles` maps a parameter further in to the one in ``params`` in whose tile it walks (`tiles_of`).
    """
    return own_params(subset, params, varying, tiles) >= set(params)


def own_params(
    subset: Subset, params: tuple[str, ...], varying: frozenset[str], tiles: Mapping[str, str] = NO_TILES
) -> set[str]:
    """Those of `params` that have an index of their own: ``c * param + rest`` with nothing else in it that varies."""
    found: set[str] = set()
    for dim in subset.dims:
        inside = [name for name in dim.symbols if name in varying]
        if len(inside) != 1 or isinstance(dim, Range):
            continue
        owner = tiles.get(inside[0], inside[0])
        form = dim.linear_in(inside[0])
        if owner in params and form is not None and form[0].constant not in (None, 0):
            found.add(owner)
    return found


def tiles_of(node: Map) -> dict[str, str]:
    """Parameters of inner maps that walk ``t : min(t + T, ...)`` for a parameter t of `node` with steps of T."""
    starts = {sym(param): dim.step for param, dim in zip(node.params, node.domain, strict=True)}
    return {
        param: dim.start.name or ""
        for inner in node.body.walk_nodes()
        if isinstance(inner, Map)
        for param, dim in zip(inner.params, inner.domain, strict=True)
        if dim.start in starts and min_of(dim.stop, dim.start + starts[dim.start]) is dim.stop
    }
