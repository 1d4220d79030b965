"""Sweeps: the maps of a time loop that go over the same grid, and how far each reaches beyond what it writes.

The answer is one number per axis and direction, so that what a tile needs some steps earlier is the tile and a halo.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.access import MemoryAccess
from dcpy.ir.analysis.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.dependences import iterations_have_order
from dcpy.ir.analysis.uses import Uses, desc_symbols
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State
from dcpy.ir.subsets import DimSubset, Range
from dcpy.ir.symbolic import ONE, Expr, sym


@dataclass(frozen=True, slots=True)
class Grid:
    """An array that the loop writes, and which of its dimensions are the axes of the grid, in order."""

    array: str
    dims: tuple[int, ...]
    is_own: bool  #: declared in the loop: no value passes from one step to the next, or out


@dataclass(frozen=True, slots=True)
class Course:
    """How a sweep goes along one axis: iteration `origin` writes and reads elements ``origin + number``.

    The origin is a parameter of the map, or, where all iterations have the same index, that index.
    """

    origin: Expr
    param: str  #: "" where no parameter goes along the axis
    writes: tuple[int, int]  #: the first and the last element that an iteration writes, as seen from the origin
    touches: tuple[int, int]

    @property
    def reach(self) -> tuple[int, int]:
        """How far beyond a part of the grid an iteration reads or writes that writes something of the part."""
        return self.writes[1] - self.touches[0], self.touches[1] - self.writes[0]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A map of the loop, and its course along each axis."""

    node: Map
    courses: tuple[Course, ...]


@dataclass(frozen=True, slots=True)
class Sweeps:
    """All that a time loop does: sweeps over grids of common sizes."""

    grids: tuple[Grid, ...]
    sweeps: tuple[Sweep, ...]
    sizes: tuple[Expr, ...]  #: of the grid along each axis

    def reach(self, axis: int, after: int = -1) -> tuple[int, int]:
        """How far the sweeps of one step, those later than number `after`, reach together."""
        reaches = [sweep.courses[axis].reach for sweep in self.sweeps[after + 1 :]]
        return sum(below for below, _ in reaches), sum(above for _, above in reaches)


def sweeps_of(loop: Loop, axes: int, uses: Uses) -> Sweeps | Refusal:
    """The sweeps of a time loop along the first axes of its grids; or what is no sweep."""
    nodes = _maps(loop, uses)
    if isinstance(nodes, Refusal):
        return nodes
    touches = [accesses_of_body(node, uses) for node in nodes]
    grids = _grids(loop, nodes, touches, axes, uses)
    if isinstance(grids, Refusal):
        return grids
    sweeps = []
    for node, its in zip(nodes, touches, strict=True):
        courses = [_course(node, axis, grids, its) for axis in range(axes)]
        refusal = next((found for found in courses if isinstance(found, Refusal)), None) or _unfit(node, courses)
        if refusal:
            return refusal
        sweeps.append(Sweep(node, tuple(found for found in courses if isinstance(found, Course))))
    sizes = _common_sizes(grids, uses)
    return sizes if isinstance(sizes, Refusal) else Sweeps(grids, tuple(sweeps), sizes)


def _maps(loop: Loop, uses: Uses) -> list[Map] | Refusal:
    """The maps of a loop's body, which consists of them, and of what prepares a step without a look at the grids."""
    found: list[Map] = []
    others: list[Node] = []
    for block in loop.body.blocks:
        if not isinstance(block, State):
            advice = ": loop-to-map may make it a map" if isinstance(block, Loop) else ""
            return Refusal(f"a {block.kind} inside is no sweep over a grid{advice}", (block,))
        for node in block.nodes:
            if isinstance(node, Map):
                found.append(node)
            else:
                others.append(node)
    written = {name for node in found for name in names_in(node, uses)[1]}
    for node in others:
        reads, writes = names_in(node, uses)
        if not written.isdisjoint((*reads, *writes)) or any(name not in loop.body.containers for name in writes):
            return Refusal(f"a {node.kind} inside is no sweep over a grid", (node,))
    return found if found else Refusal("it has no sweeps over a grid")


# -- grids -----------------------------------------------------------------------------------------------------------


def _grids(
    loop: Loop, nodes: Sequence[Map], touches: Sequence[Sequence[MemoryAccess]], axes: int, uses: Uses
) -> tuple[Grid, ...] | Refusal:
    """What the loop writes, where that has enough dimensions that maps go along."""
    along: dict[str, dict[int, None]] = {}
    for node, its in zip(nodes, touches, strict=True):
        for touch in its:
            if touch.is_write:
                dims = along.setdefault(touch.root, {})
                part = () if touch.subset is None else touch.subset.dims
                dims |= {
                    number: None for number, dim in enumerate(part) if not set(dim.symbols).isdisjoint(node.params)
                }
    obstacle = iterations_have_order(loop.body, loop.body, uses)
    found = []
    for name, dims in along.items():
        obstacle = obstacle or _unfit_grid(name, loop, uses)
        if len(dims) < axes and obstacle is None:
            obstacle = Refusal(f"maps go along {len(dims)} dimensions of {name!r}, not along {axes}")
        found.append(Grid(name, tuple(sorted(dims))[:axes], name in loop.body.containers))
    return obstacle or tuple(found)


def _unfit_grid(name: str, loop: Loop, uses: Uses) -> Refusal | None:
    desc = uses.desc(name)
    if not isinstance(desc, Array) or uses.overlapping(name) != (name,):
        return Refusal(f"{name!r} is no array, or seen under other names")
    if desc.lifetime is not Lifetime.SCOPE and name in loop.body.containers:
        return Refusal(f"{name!r} outlives a step")
    if loop.param in desc_symbols(desc):
        return Refusal(f"the size of {name!r} differs from step to step")
    return None


def _common_sizes(grids: Iterable[Grid], uses: Uses) -> tuple[Expr, ...] | Refusal:
    """The sizes along the axes of what outlives a step."""
    kept = [grid for grid in grids if not grid.is_own]
    if not kept:
        return Refusal("it computes nothing that is kept")
    sizes = {grid.array: tuple(uses.desc(grid.array).shape[dim] for dim in grid.dims) for grid in kept}
    first = sizes[kept[0].array]
    for name, others in sizes.items():
        if others != first:
            return Refusal(f"{kept[0].array!r} and {name!r} are grids of different sizes")
    return first


# -- courses ---------------------------------------------------------------------------------------------------------


def _course(node: Map, axis: int, grids: Sequence[Grid], touches: Sequence[MemoryAccess]) -> Course | Refusal:
    """The course of a map along an axis of the grids that it touches."""
    dims = {grid.array: grid.dims[axis] for grid in grids}
    inside = [touch for touch in touches if touch.root in dims]
    first = next((touch for touch in inside if touch.is_write), None)
    if first is None:
        return Refusal("it writes nothing that is seen outside", (node,))
    origin, param = _origin(_dim(first, dims[first.root]), node)
    offsets: dict[bool, list[int]] = {True: [], False: []}
    for touch in inside:
        found = None if origin is None else _offsets(_dim(touch, dims[touch.root]), origin)
        if found is None:
            ours = f"{first}" if touch is not first else "along an axis"
            return Refusal(f"{touch} is not at a constant distance from where it {ours}", (touch.place,))
        offsets[touch.is_write] += found
    assert origin is not None
    everything = [*offsets[True], *offsets[False]]
    return Course(origin, param, (min(offsets[True]), max(offsets[True])), (min(everything), max(everything)))


def _dim(touch: MemoryAccess, dim: int) -> DimSubset | None:
    """One dimension of all that an access touches in an iteration of the map; None where that is no range."""
    found = touch.footprint()
    boxed = None if found is None else found.box()
    if boxed is None:
        return None
    part = boxed.subset.dims[dim]
    return None if any(name in part.symbols for name, _ in boxed.over) else part


def _origin(part: DimSubset | None, node: Map) -> tuple[Expr | None, str]:
    """Where an iteration writes, but for a constant; and the parameter that this is, if it is one."""
    start = part.start if isinstance(part, Range) else part
    params = [] if start is None else [name for name in node.params if name in start.symbols]
    match params:
        case []:
            return start, ""
        case [name]:
            return sym(name), name
    return None, ""


def _offsets(part: DimSubset | None, origin: Expr) -> tuple[int, int] | None:
    """The first and the last element of a part, as seen from the origin."""
    if part is None:
        return None
    ends = (part, part) if isinstance(part, Expr) else _ends(part)
    below, above = ((end - origin).constant for end in ends)
    return None if below is None or above is None else (below, above)


def _ends(part: Range) -> tuple[Expr, Expr]:
    if (part.step.constant or 0) < 0:
        return part.stop + ONE, part.start
    return part.start, part.stop - ONE


def _unfit(node: Map, courses: Iterable[Course | Refusal]) -> Refusal | None:
    """Why the ranges of a map cannot be cut to a part of the grid."""
    params = [found.param for found in courses if isinstance(found, Course) and found.param]
    domain = dict(zip(node.params, node.domain, strict=True))
    if any(domain[param].step is not ONE for param in params):
        return Refusal("a sweep does not go in steps of one", (node,))
    if len(dict.fromkeys(params)) < len(params):
        return Refusal("a sweep goes along a diagonal", (node,))
    return None
