"""Conflict resolutions inside a map: which always meet one location, and which never meet another iteration's.

A location that nothing else touches, and that no iteration changes the address of, can be folded in a variable
(`reducible`). One whose index has each parameter in a dimension of its own belongs to one iteration (`is_injective`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import min_of, sym
from dcpy.ir.tree import is_inside, subtree

NO_TILES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ConflictResolutions:
    """Accesses of a map's body to the containers around it, and the conflicts that it resolves."""

    symbols: frozenset[str]  #: that differ between iterations, or inside one
    resolved: tuple[Memlet, ...]  #: the locations that it combines values into, each once
    accesses: tuple[MemoryAccess, ...]


def conflict_resolutions(uses: Uses, node: Map) -> ConflictResolutions:
    """The conflict resolutions in the body of a map; those of containers that are private to an iteration are none."""
    accesses = accesses_of_body(node, uses)
    symbols = {name for element in subtree(node) for name in element.all_of(Role.DEFINED)}
    resolved = dict.fromkeys(location(access.memlet) for access in accesses if access.mode is Mode.COMBINE)
    return ConflictResolutions(frozenset(symbols), tuple(resolved), accesses)


def reducible(writes: ConflictResolutions) -> list[Memlet]:
    """The locations that a loop over the map may fold in variables: one element each, that nothing else touches."""
    return [memlet for memlet in writes.resolved if _is_reducible(memlet, writes)]


def _is_reducible(memlet: Memlet, writes: ConflictResolutions) -> bool:
    accesses = writes.accesses
    mine = next(access for access in accesses if access.mode is Mode.COMBINE and location(access.memlet) == memlet)
    if mine.subset is None or not writes.symbols.isdisjoint(mine.subset.symbols):
        return False
    others = [access for access in accesses if access.memory == mine.memory]
    return all(access.mode is Mode.COMBINE and location(access.memlet) == memlet for access in others)


def location(memlet: Memlet) -> Memlet:
    """Return the identity of a location of conflict resolution."""
    return Memlet(memlet.container, memlet.subset, memlet.wcr)


def is_injective(
    subset: Subset, params: tuple[str, ...], varying: frozenset[str], tiles: Mapping[str, str] = NO_TILES
) -> bool:
    """Return whether different values of `params` are proved to give different elements; `varying` has all that
    differs.

    `tiles` maps a parameter further in to the one in ``params`` in whose tile it walks (`tiles_of`).
    """
    return injective_params(subset, params, varying, tiles) >= set(params)


def injective_params(
    subset: Subset, params: tuple[str, ...], varying: frozenset[str], tiles: Mapping[str, str] = NO_TILES
) -> set[str]:
    """The `params` that have an index of their own: ``c * param + rest`` with nothing else in it that varies."""
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


def threads_race(
    memlet: Memlet, team: Map, varying: frozenset[str], uses: Uses, tiles: Mapping[str, str] = NO_TILES
) -> bool:
    """Return whether iterations of a map that run at the same time may write one location; rest as for `is_injective`.
    """
    if is_inside(uses.home(uses.root(memlet.container)), team):
        return False  # each iteration has one for itself
    return not is_injective(memlet.subset, team.params, varying, tiles)
