"""Sweeps: the maps of a time loop over the same grid, and the reach of their stencils.

The reach is one number per axis and direction: some steps earlier, a tile needs itself and a halo of that width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.dependence.loop_dependences import iterations_have_order
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.editing.remarks import described
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Loop, State
from dcpy.ir.symbolic import ONE, Expr, max_of
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.loops.courses import Course, course_of


@dataclass(frozen=True, slots=True)
class SweptArray:
    """An array that the loop writes, and its dimensions along the axes of the grid, in order."""

    array: str
    dims: tuple[int, ...]
    is_own: bool  #: declared in the loop: no value passes from one step to the next, or out


@dataclass(frozen=True, slots=True)
class Sweep:
    """A map of the loop, and its offsets along each axis."""

    node: Map
    courses: tuple[Course, ...]


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The grids, sweeps and sizes of a time loop."""

    grids: tuple[SweptArray, ...]
    sweeps: tuple[Sweep, ...]
    sizes: tuple[Expr, ...]  #: of the largest grid along each axis

    def reach(self, axis: int, after: int = -1) -> tuple[int, int]:
        """The total reach of the sweeps of one step that come after sweep number `after`."""
        reaches = [sweep.courses[axis].reach for sweep in self.sweeps[after + 1 :]]
        return sum(below for below, _ in reaches), sum(above for _, above in reaches)


def sweeps_of(loop: Loop, axes: int, uses: Uses) -> Sweeps | Refusal:
    """The sweeps of a time loop along the first axes of its grids. Refuses other bodies."""
    nodes = _maps(loop, uses)
    if isinstance(nodes, Refusal):
        return nodes
    accesses = [accesses_of_body(node, uses) for node in nodes]
    grids = _grids(loop, nodes, accesses, axes, uses)
    if isinstance(grids, Refusal):
        return grids
    sweeps = []
    for node, its in zip(nodes, accesses, strict=True):
        courses = [course_of(node, {grid.array: grid.dims[axis] for grid in grids}, its) for axis in range(axes)]
        refusal = next((found for found in courses if isinstance(found, Refusal)), None) or _unfit(node, courses)
        if refusal:
            return refusal
        sweeps.append(Sweep(node, tuple(found for found in courses if isinstance(found, Course))))
    sizes = _common_sizes(grids, uses)
    return sizes if isinstance(sizes, Refusal) else Sweeps(grids, tuple(sweeps), sizes)


def _maps(loop: Loop, uses: Uses) -> list[Map] | Refusal:
    """The maps of a loop's body. Refuses other parts, except preparations of a step that do not touch the grids."""
    found: list[Map] = []
    others: list[Node] = []
    for block in loop.body.blocks:
        if not isinstance(block, State):
            advice = ": loop-to-map may make it a map" if isinstance(block, Loop) else ""
            return Refusal(f"{described(block)} inside is no sweep over a grid{advice}", (block,))
        for node in block.nodes:
            if isinstance(node, Map):
                found.append(node)
            else:
                others.append(node)
    written = {name for node in found for name in names_in(node, uses)[1]}
    for node in others:
        reads, writes = names_in(node, uses)
        if not written.isdisjoint((*reads, *writes)) or any(name not in loop.body.containers for name in writes):
            return Refusal(f"{described(node)} inside is no sweep over a grid", (node,))
    return found if found else Refusal("it has no sweeps over a grid")


# -- grids -----------------------------------------------------------------------------------------------------------


def _grids(
    loop: Loop, nodes: Sequence[Map], accesses: Sequence[Sequence[MemoryAccess]], axes: int, uses: Uses
) -> tuple[SweptArray, ...] | Refusal:
    """The arrays that the loop writes, with the dimensions that maps run along."""
    along: dict[str, dict[int, None]] = {}
    for node, its in zip(nodes, accesses, strict=True):
        for access in its:
            if access.is_write:
                dims = along.setdefault(access.root, {})
                part = () if access.subset is None else access.subset.dims
                dims |= {
                    number: None for number, dim in enumerate(part) if not set(dim.symbols).isdisjoint(node.params)
                }
    obstacle = iterations_have_order(loop.body, loop.body, uses)
    found = []
    for name, dims in along.items():
        obstacle = obstacle or _unfit_grid(name, loop, uses)
        if len(dims) < axes and obstacle is None:
            obstacle = Refusal(f"maps go along {len(dims)} dimensions of {name!r}, not along {axes}")
        found.append(SweptArray(name, tuple(sorted(dims))[:axes], name in loop.body.containers))
    return obstacle or tuple(found)


def _unfit_grid(name: str, loop: Loop, uses: Uses) -> Refusal | None:
    desc = uses.desc(name)
    if not isinstance(desc, Array) or uses.overlapping(name) != (name,):
        return Refusal(f"{name!r} is no array, or seen under other names")
    if desc.lifetime is not Lifetime.SCOPE and name in loop.body.containers:
        return Refusal(f"{name!r} outlives a step")
    if loop.param in desc_symbols(desc):
        return Refusal(f"the size of {name!r} differs from step to step")
    around = next((owner for owner in owners_around(loop) if not isinstance(owner, Loop | Branch)), None)
    if around is not None and not is_inside(uses.home(name), around):
        return Refusal(f"{name!r} belongs to all iterations of the {around.kind} around it, which run at the same time")
    return None


def _common_sizes(grids: Iterable[SweptArray], uses: Uses) -> tuple[Expr, ...] | Refusal:
    """The sizes of the grids along the axes; the largest ones if grids are staggered."""
    sizes = [[uses.desc(grid.array).shape[dim] for dim in grid.dims] for grid in grids if not grid.is_own]
    if not sizes:
        return Refusal("it computes nothing that is kept")
    return tuple(max_of(*along) for along in zip(*sizes, strict=True))


def _unfit(node: Map, courses: Iterable[Course | Refusal]) -> Refusal | None:
    """The reason that the ranges of a map cannot be restricted to a part of the grid; None if they can."""
    params = [found.param for found in courses if isinstance(found, Course) and found.param]
    domain = dict(zip(node.params, node.domain, strict=True))
    if any(domain[param].step is not ONE for param in params):
        return Refusal("a sweep does not go in steps of one", (node,))
    if len(dict.fromkeys(params)) < len(params):
        return Refusal("a sweep goes along a diagonal", (node,))
    return None
