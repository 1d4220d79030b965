"""Compute-at (Halide): each iteration of a consumer evaluates the producer, on the part that the iteration reads.

Neighbouring iterations may read overlapping parts, which are then computed more than once: overlapped tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import EnclosingRegion, MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.data import Array
from dcpy.ir.editing.copying import copy_node
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, split_axis, tiles_and_tile
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, max_of, min_of, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fusion.pointwise import temporary_of, why_not_later
from dcpy.transforms.memory.local_buffers import BufferBox, box_around, redirect


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """The part of a temporary that an iteration over tiles reads, and the tiled parameters of the consumer.

    In `part`, which is clipped to the array, the symbol ``.t`` stands for the tile of the parameter ``t``.
    """

    part: BufferBox
    sizes: tuple[Expr, ...]  # of a buffer for it
    tiled: tuple[str, ...]
    shared: bool  # whether neighbouring tiles need some elements both


def window_of(producer: Map, consumer: Map, axes: int, size: int, uses: Uses) -> ReadWindow | Refusal:
    """The part of a producer that each tile of the first `axes` parameters of a consumer needs and can compute."""
    tmp = temporary_of(producer, uses)
    if isinstance(tmp, Refusal):
        return tmp
    readers = uses.readers(tmp.name)
    if not readers or not all(is_inside(reader, consumer.body) for reader in readers):
        return Refusal(f"{tmp.name!r} is used by other statements, too")
    if refusal := why_not_later(producer, readers, uses):
        return refusal
    return _window(tmp.name, consumer, axes, size, uses)


def _window(tmp: str, consumer: Map, axes: int, size: int, uses: Uses) -> ReadWindow | Refusal:
    steps = [values.step.constant for values in consumer.domain]
    if all(step is not None and step > 1 for step in steps):  # these are tiles already
        tiled: tuple[str, ...] = ()
    elif len(steps) < axes or any(step != 1 for step in steps[:axes]):
        return Refusal(f"the first {axes} parameters of the consumer do not run in steps of one")
    else:
        tiled = consumer.params[:axes]
    found = []
    for is_cut in (True, False):
        accesses, ranges = _in_a_tile(consumer, tiled, size, uses, is_cut=is_cut)
        box = box_around(tmp, [access for access in accesses if access.root == tmp], ranges)
        if isinstance(box, Refusal):
            return box
        found.append(box)
    part, full = found
    desc = uses.desc(tmp)
    assert isinstance(desc, Array)
    clipped = tuple(_clipped(dim, extent, ranges) for dim, extent in zip(part.subset.dims, desc.shape, strict=True))
    sizes = tuple(ranges.simplify(max_of(ZERO, extent)) for extent in full.subset.shape)
    moving = _moving(full, tiled)
    shared = len(moving) < len(tiled) or any(extent.constant != size for extent in moving)
    return ReadWindow(BufferBox(tmp, Subset(clipped)), sizes, tiled, shared)


def _moving(box: BufferBox, tiled: Sequence[str]) -> list[Expr]:
    """The extents of a box in the dimensions that depend on the tile."""
    marks = {f".{param}" for param in tiled}
    ranges = [dim for dim in box.subset.dims if isinstance(dim, Range)]
    return [dim.stop - dim.start for dim in ranges if not marks.isdisjoint(dim.symbols)]


def _in_a_tile(
    consumer: Map, tiled: Sequence[str], size: int, uses: Uses, *, is_cut: bool
) -> tuple[Sequence[MemoryAccess], Ranges]:
    """The part that a tile accesses, and the known ranges there. `is_cut`: the last tile ends with the domain."""
    accesses, ranges = accesses_of_body(consumer, uses), uses.ranges_at(consumer)
    inner: list[tuple[str, Range]] = []
    for param, values in zip(consumer.params, consumer.domain, strict=True):
        if param in tiled:
            tile = sym(f".{param}")
            tiles, cut = tiles_and_tile(values, size, f".{param}", ranges)
            ranges = Footprint(Subset(), ((f".{param}", tiles),)).known(ranges)
            inner.append((param, cut if is_cut else Range(tile, tile + size)))
        elif tiled:
            inner.append((param, values))
    around = (EnclosingRegion(consumer.body, tuple(inner)),) if inner else ()
    ranges = ranges if tiled else uses.ranges_at(consumer.body)
    return [replace(access, scopes=(*around, *access.scopes)) for access in accesses], ranges


def _clipped(dim: DimSubset, size: Expr, ranges: Ranges) -> DimSubset:
    if not isinstance(dim, Range):
        return dim
    return Range(ranges.simplify(max_of(dim.start, ZERO)), ranges.simplify(min_of(dim.stop, size)))


def compute_at(producer: Map, consumer: Map, window: ReadWindow, size: int, rw: Rewriter) -> Map:
    """Tile the consumer, put a copy of the producer into each tile, and erase the producer; return the copy."""
    tmp = window.part.array
    tiles = {f".{param}": sym(split_axis(consumer, param, size, rw)) for param in window.tiled}
    if tiles:
        outer = tuple(str(tile) for tile in tiles.values())
        reorder_axes(consumer, (*outer, *(param for param in consumer.params if param not in outer)), rw)
        expand_map(consumer, len(outer), rw)
    part = BufferBox(tmp, window.part.subset.subs(tiles))
    desc = rw.uses.desc(tmp)
    assert isinstance(desc, Array)
    sizes = tuple(extent.subs(tiles) for extent in window.sizes)
    name = rw.declare_fresh(f"{tmp}_tile", Array.packed(desc.dtype, sizes, transient=True), consumer.body)
    redirect(part, name, consumer, rw)
    copied = _on_part(producer, part, name, rw)
    state = consumer.body.blocks[0]
    if isinstance(state, State):
        rw.add_node(copied, state, 0)
    else:
        rw.insert(State(nodes=[copied]), consumer.body, 0)
    rw.erase(producer)
    rw.undeclare_unused([tmp])
    return copied


def _on_part(producer: Map, part: BufferBox, name: str, rw: Rewriter) -> Map:
    """A copy of the producer that computes a part of its result, in a buffer."""
    params = {param: sym(rw.fresh_name(param)) for param in producer.params}
    inner = {old: rw.fresh_name(old) for old in producer.body.containers}
    (result,) = {
        memlet for node in producer.body.walk_nodes() for memlet in node.writes() if memlet.container == part.array
    }
    runs = dict(zip(map(str, result.subset.dims), part.subset.dims, strict=True))
    copied = copy_node(producer, Substitution(params, inner))
    copied.domain = tuple(_as_range(runs[param]) for param in producer.params)

    def redirected(memlet: Memlet) -> Memlet:
        if memlet.container != part.array:
            return memlet
        return replace(memlet, container=name, subset=part.local(memlet.subset))

    for node in copied.body.walk_nodes():
        node.rewrite({Role.WRITTEN: redirected})
    return copied


def _as_range(dim: DimSubset) -> Range:
    return dim if isinstance(dim, Range) else Range(dim, dim + ONE)
