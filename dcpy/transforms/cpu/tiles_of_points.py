"""Strip-mined nests: adjacent blocks whose maps have the same points run inside tiles of these points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dcpy.ir.analysis.accesses.exposed_reads import exposed_accesses
from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.editing.nest_edits import reorder_axes, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Branch, Loop, Region, State, While
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import Element, child_of, is_inside, owners_around, regions_around
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.loops.owned_points import CommonPoints
from dcpy.transforms.loops.points_outside import points_outside
from dcpy.transforms.loops.written_first import writes_first


@dataclass(frozen=True)
class PointNest:
    """A map over points, the groups that share a map over a tile, and the points' dimensions of arrays."""

    outer: Map
    groups: Sequence[Sequence[Block]]
    owned: dict[str, tuple[int, ...]] = field(default_factory=dict)


def nest_of(row: Sequence[Block], points: CommonPoints, rw: Rewriter) -> PointNest:
    """A map over the points around the row."""
    groups = _groups(row, points.kernels, rw.uses)
    return PointNest(points_outside(row, points, UNDECIDED, rw), groups, points.owned)


def take_own(nests: Sequence[PointNest], rw: Rewriter) -> None:
    """Give each nest private arrays, if no other statement reads the values that it writes there.

    An array of the nest alone moves into it; for an array with other users the nest gets a new one: independent live
    ranges are split.
    """
    own = [(nest, name) for nest in nests for name in nest.owned if _is_own(name, nest, nests, rw.uses)]
    for nest, name in own:
        kept = _kept(name, nest, rw.uses)
        mine = name
        if not all(is_inside(accessor, nest.outer) for accessor in rw.uses.accessors(name)):
            desc, home = rw.uses.desc(name), rw.uses.home(name)
            mine = rw.fresh_name(name)
            rw.declare(mine, desc, home)
            for accessor in rw.uses.accessors(name):
                if is_inside(accessor, nest.outer):
                    rw.substitute(accessor, Substitution(containers={name: mine}))
        shrink(mine, kept, nest.outer, rw)
    rw.undeclare_unused(dict.fromkeys(name for _, name in own))


def cut(nest: PointNest, costs: Costs, rw: Rewriter) -> tuple[str, int, bool]:
    """Put the map over the points of a tile around each group; return its axis, size, and whether its stride is one.

    Values that pass between these maps go to arrays of the tile, with its points contiguous.
    """
    outer = nest.outer
    along, walks = _axis(outer, rw.uses)
    reorder_axes(outer, (*(param for param in outer.params if param != along), along), rw)
    size = _size(outer, walks, costs, rw.uses)
    tile = split_axis(outer, along, size, rw)
    (*domain, within) = outer.domain
    rw.update(outer, params=outer.params[:-1], domain=tuple(domain))
    maps = [_over_tile(group, along, within, rw) for group in nest.groups]
    for node in maps[1:]:
        other = rw.fresh_name(along)
        rw.update(node, params=(other,))
        rw.substitute_symbols({along: sym(other)}, within=node.body)
    for region in list(_regions(outer)):
        for name in list(region.containers):
            accessors = rw.uses.accessors(name)
            users = [node for node in maps if any(is_inside(accessor, node) for accessor in accessors)]
            is_scalar_there = not _rank(name, rw.uses)
            if is_scalar_there and all(is_inside(accessor, users[0]) for accessor in accessors if users):
                if users:
                    rw.move_container(name, users[0].body)
            elif any(is_inside(writer, node) for writer in rw.uses.writers(name) for node in users):
                _spread(name, size, sym(tile), users, region, rw)
    return along, size, walks


def _size(outer: Map, walks: bool, costs: Costs, uses: Uses) -> int:
    """The points of a tile: a vector if strides are not one; else some cache lines, fewer if the tile has rows."""
    if not walks:
        return costs.lanes
    return costs.lanes**2 if any(_rank(name, uses) for name in outer.body.containers) else costs.tile


def nodes_of(row: Sequence[Block]) -> Iterator[Node | None]:
    """The nodes of a row, including those in loops; None marks the start and end of a loop."""
    for block in row:
        if isinstance(block, State):
            yield from block.nodes
        elif isinstance(block, Loop):
            yield None
            yield from nodes_of(block.body.blocks)
            yield None


def _regions(outer: Map) -> Iterator[Region]:
    yield outer.body
    for block in outer.body.walk_blocks():
        if isinstance(block, Loop):
            yield block.body


def _rank(name: str, uses: Uses) -> int:
    desc = uses.desc(name)
    return len(desc.shape) if isinstance(desc, Array) else 0


def _is_own(name: str, nest: PointNest, nests: Sequence[PointNest], uses: Uses) -> bool:
    """Return whether each point can have a private part of a temporary from outside."""
    if not uses.declared(name) or is_inside(uses.home(name), nest.outer) or not uses.is_private(name):
        return False
    desc, home, dims = uses.desc(name), uses.home(name), nest.owned[name]
    if not isinstance(desc, Array) or desc.lifetime is not Lifetime.SCOPE or len(uses.overlapping(name)) > 1:
        return False
    if desc.dtype.kind == "c" or len(set(dims)) < len(dims):  # complex points are left when they are finished
        return False
    others = [accessor for accessor in uses.accessors(name) if not is_inside(accessor, nest.outer)]
    assert nest.outer.state is not None
    if not others and home is nest.outer.state.region:
        return True
    return writes_first(nest.outer, name, _kept(name, nest, uses), uses) and all(
        not _may_follow(other, nest.outer, home) or _writes_first(other, name, nests, uses) for other in others
    )


def _writes_first(accessor: Element, name: str, nests: Sequence[PointNest], uses: Uses) -> bool:
    """Return whether an element is in a nest that writes each element of the array before it reads it."""
    around = [nest for nest in nests if is_inside(accessor, nest.outer)]
    return any(name in nest.owned and writes_first(nest.outer, name, _kept(name, nest, uses), uses) for nest in around)


def _may_follow(later: Element, first: Map, home: Region) -> bool:
    """Return whether an element may run after another one, within the lifetime of an array declared in `home`."""
    region = next(around for around in regions_around(later) if is_inside(first, around))
    if any(isinstance(owner, Loop | While) for owner in owners_around(region, within=home)):
        return True
    one, other = child_of(region, first), child_of(region, later)
    assert one is not None
    assert other is not None
    return region.index(other) >= region.index(one) and not (one is other and isinstance(one, Branch))


def _kept(name: str, nest: PointNest, uses: Uses) -> tuple[int, ...]:
    """The dimensions that no point indexes."""
    return tuple(axis for axis in range(_rank(name, uses)) if axis not in nest.owned[name])


def followed_axis(node: Map, uses: Uses) -> str | None:
    """The parameter in which accesses have stride one; None if there is none."""
    axis, walks = _axis(node, uses)
    return axis if walks else None


def _axis(node: Map, uses: Uses) -> tuple[str, bool]:
    """The parameter to tile: the one in which most accesses have stride one; and whether any has.

    The last parameter if none has.
    """
    memlets = [memlet for inner in node.body.walk_nodes() for memlet in (*inner.reads(), *inner.writes())]
    scores = {param: sum(_score(memlet, param, uses) for memlet in memlets) for param in node.params}
    best = max(scores.values())
    return next(param for param in reversed(node.params) if scores[param] == best), best > 0


def _score(memlet: Memlet, param: str, uses: Uses) -> int:
    if param not in memlet.subset.symbols:
        return 0
    return 1 if step_of(memlet, param, uses) is ONE else -1


def _groups(row: Sequence[Block], kernels: Sequence[Map], uses: Uses) -> list[list[Block]]:
    """Group adjacent maps into one loop each. Nodes on complex numbers get groups of their own.

    C++ compilers do not vectorize selects of complex numbers, nor other code in the same loop.
    """
    groups: list[list[Block]] = []
    nodes = list(nodes_of(row))
    last = None
    for kernel in kernels:
        pair = (kernel,) if last is None else (last, kernel)
        apart = last is None or nodes.index(kernel) != nodes.index(last) + 1
        if apart or any(has_complex(node, uses) for node in pair):
            groups.append([])
        groups[-1] += kernel.body.blocks
        last = kernel
    return groups


def has_complex(node: Node, uses: Uses) -> bool:
    """Return whether a node accesses complex numbers."""
    return any(uses.desc(name).dtype.kind == "c" for name in exposed_accesses(node, uses))


def _over_tile(blocks: Sequence[Block], along: str, within: Range, rw: Rewriter) -> Map:
    """A map over the points of a tile that runs these blocks as one state."""
    node = Map((along,), (within,), Region(), span=blocks[0].span)
    rw.insert_before(blocks[0], State(nodes=[node], span=node.span))
    rw.move_blocks(blocks, node.body)
    first, *others = node.body.blocks
    for other in others:
        assert isinstance(first, State)
        assert isinstance(other, State)
        rw.append_state(first, other)
    return node


def _spread(name: str, size: int, tile: Expr, maps: Sequence[Map], region: Region, rw: Rewriter) -> None:
    """Turn a variable of a point that several maps access into an array of the tile, with its points contiguous."""
    desc = rw.uses.desc(name)
    shape = desc.shape if isinstance(desc, Array) else ()
    for node in maps:
        at = sym(node.params[0]) - tile
        for inner in node.body.walk_nodes():
            rw.replace_memlets(inner, partial(_moved, name, at))
    rw.privatize(name, region, Array.packed(desc.dtype, (*shape, size), transient=True))


def _moved(name: str, at: Expr, memlet: Memlet) -> Memlet:
    moved = replace(memlet, subset=Subset((*memlet.subset.dims, at)))
    return moved if memlet.container == name else memlet
