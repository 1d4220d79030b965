"""Cutting: blocks in a row whose maps have the same points run inside tiles of these points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from dcpy.ir.analysis.touched import touched_by
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array, Lifetime
from dcpy.ir.editing.nest_edits import reorder_axes, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.loops.owned_points import Points
from dcpy.transforms.loops.points_outside import points_outside
from dcpy.transforms.maps.vectorization import step_of


def nest_of(row: Sequence[Block], points: Points, rw: Rewriter) -> tuple[Map, list[list[Block]]]:
    """A map over the points around the row, and the blocks inside that will share a map over the points of a tile.

    What only the row touches is one of the point's.
    """
    own = _own_of(row, points, rw.uses)
    groups = _groups(row, points.kernels, rw.uses)
    outer = points_outside(row, points, UNDECIDED, rw)
    assert outer.state is not None
    for name in own:
        is_new_each_time = rw.uses.home(name) is outer.state.region
        if is_new_each_time or not touched_by(outer, rw.uses)[name].exposed:  # what an earlier run of the row wrote
            shrink(name, _kept(name, points, rw.uses), outer, rw)
    return outer, groups


def cut(outer: Map, groups: Sequence[Sequence[Block]], costs: Costs, rw: Rewriter) -> tuple[str, int, bool]:
    """Puts the map over the points of a tile around each group; returns its axis, its size, and if memory follows it.

    What several of these maps hand on is an array of the tile, whose points lie next to each other.
    """
    along, walks = _axis(outer, rw.uses)
    reorder_axes(outer, (*(param for param in outer.params if param != along), along), rw)
    size = costs.tile if walks else costs.lanes
    tile = split_axis(outer, along, size, rw)
    (*domain, within) = outer.domain
    rw.update(outer, params=outer.params[:-1], domain=tuple(domain))
    maps = [_over_tile(group, along, within, rw) for group in groups]
    for node in maps[1:]:
        other = rw.fresh_name(along)
        rw.update(node, params=(other,))
        rw.substitute_symbols({along: sym(other)}, within=node.body)
    for region in list(_regions(outer)):
        for name in list(region.containers):
            touchers = rw.uses.touchers(name)
            users = [node for node in maps if any(is_inside(toucher, node) for toucher in touchers)]
            is_scalar_there = not _rank(name, rw.uses)
            if is_scalar_there and all(is_inside(toucher, users[0]) for toucher in touchers if users):
                if users:
                    rw.move_container(name, users[0].body)
            elif any(is_inside(writer, node) for writer in rw.uses.writers(name) for node in users):
                _spread(name, size, sym(tile), users, region, rw)
    return along, size, walks


def nodes_of(row: Sequence[Block]) -> Iterator[Node | None]:
    """The nodes of a row, those in loops, too; None where a loop begins or ends."""
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


def _own_of(row: Sequence[Block], points: Points, uses: Uses) -> list[str]:
    """Temporaries from outside that only the row touches, each element one point's."""
    own = []
    for name, dims in points.owned.items():
        desc, home = uses.desc(name), uses.home(name)
        if not isinstance(desc, Array) or desc.lifetime is not Lifetime.SCOPE or not uses.is_private(name):
            continue
        if desc.dtype.kind == "c":  # each point is left when it is finished
            continue
        inside = all(any(is_inside(toucher, block) for block in row) for toucher in uses.touchers(name))
        alone = len(uses.overlapping(name)) == 1 and len(set(dims)) == len(dims)
        if inside and alone and not any(is_inside(home, block) for block in row):
            own.append(name)
    return own


def _kept(name: str, points: Points, uses: Uses) -> tuple[int, ...]:
    """The dimensions that are no point's."""
    return tuple(axis for axis in range(_rank(name, uses)) if axis not in points.owned[name])


def followed_axis(node: Map, uses: Uses) -> str | None:
    """The parameter that memory follows in steps of one; None where it follows none."""
    axis, walks = _axis(node, uses)
    return axis if walks else None


def _axis(node: Map, uses: Uses) -> tuple[str, bool]:
    """The parameter that tiles are cut along: that which most accesses follow in steps of one; and whether any does.

    The last one, where none does.
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
    """The blocks of neighbouring maps, which become one. What touches complex numbers stays alone.

    C++ compilers make no vectors of what chooses between complex numbers, nor of other things in one loop with it.
    """
    groups: list[list[Block]] = []
    nodes = list(nodes_of(row))
    last = None
    for kernel in kernels:
        pair = (kernel,) if last is None else (last, kernel)
        apart = last is None or nodes.index(kernel) != nodes.index(last) + 1
        if apart or any(touches_complex(node, uses) for node in pair):
            groups.append([])
        groups[-1] += kernel.body.blocks
        last = kernel
    return groups


def touches_complex(node: Node, uses: Uses) -> bool:
    """Whether a node touches complex numbers."""
    return any(uses.desc(name).dtype.kind == "c" for name in touched_by(node, uses))


def _over_tile(blocks: Sequence[Block], along: str, within: Range, rw: Rewriter) -> Map:
    """A map over the points of a tile, which runs these blocks as one state."""
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
    """Makes what each point has, and several maps touch, an array with the points of a tile next to each other."""
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
