"""Non-temporal stores: rows that a vector loop writes whole, and that nothing near it reads.

A store that goes through caches brings each line there before it overwrites it. Where an array is larger than caches,
the lines that are written first are gone again before they are read: that traffic was for nothing.
"""

from __future__ import annotations

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.conflict_resolutions import tiles_of
from dcpy.ir.data import Allocation, Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Loop, State, While
from dcpy.ir.symbolic import ONE, Expr, product_of
from dcpy.ir.tree import Element, is_inside, owners_around, subtree


def streamed_store(node: Map, uses: Uses) -> Memlet | None:
    """The first element that each iteration of a map writes, the next one in memory with its innermost parameter.

    Each is written once by all maps around, and nothing inside of them reads that array. None where there is no such,
    or where other loops run between rows: then stores have time enough.
    """
    around = _around(node)
    others = (each for each in subtree(around[-1]) if isinstance(each, Map | Loop | While) and each not in around)
    if node.domain[-1].step is not ONE or any(others):
        return None
    for block in node.body.blocks:
        for inner in block.nodes if isinstance(block, State) else ():
            for memlet in inner.writes() if isinstance(inner, Tasklet) else ():
                if _is_streamed(memlet, node, around, uses) and _is_alone(memlet, inner, around[-1], uses):
                    return memlet
    return None


def streamed_bytes(memlet: Memlet, node: Map, uses: Uses) -> Expr:
    """Return the approximate bytes that all maps around write: sizes of dimensions that their parameters index."""
    desc = uses.desc(uses.root(memlet.container))
    chosen = {name for each in _around(node) if isinstance(each, Map) for name in each.params}
    assert isinstance(desc, Array)  # `streamed_store` found it
    dims = zip(desc.shape, memlet.subset.dims, strict=True)
    sizes = [size for size, dim in dims if not chosen.isdisjoint(dim.symbols)]
    return product_of(*sizes, desc.dtype.itemsize)


def _around(node: Map) -> list[Element]:
    """The map and what is around it, up to the outermost map."""
    owners: list[Element] = [node, *owners_around(node)]
    outermost = max(position for position, owner in enumerate(owners) if isinstance(owner, Map))
    return owners[: outermost + 1]


def _is_streamed(memlet: Memlet, node: Map, around: list[Element], uses: Uses) -> bool:
    desc = uses.desc(memlet.container)
    if memlet.wcr or not isinstance(desc, Array) or uses.root(memlet.container) != memlet.container:
        return False
    on_heap = not desc.transient or desc.allocation is Allocation.HEAP
    if not on_heap or step_of(memlet, node.params[-1], uses) is not ONE:
        return False
    tiles = {param: tile for each in around if isinstance(each, Map) for param, tile in tiles_of(each).items()}
    moving = {*memlet.subset.symbols, *(tiles.get(name, name) for name in memlet.subset.symbols)}
    for owner in around:
        if isinstance(owner, While):
            return False
        params = owner.params if isinstance(owner, Map) else (owner.param,) if isinstance(owner, Loop) else ()
        if not moving.issuperset(params):
            return False  # written again, and again
    return True


def _is_alone(memlet: Memlet, writer: Element, outermost: Element, uses: Uses) -> bool:
    """Return whether nothing else inside touches that memory."""
    names = uses.overlapping(memlet.container)
    inside = (each for name in names for each in uses.accessors(name) if is_inside(each, outermost))
    if set(inside) != {writer} or any(writer in uses.readers(name) for name in names):
        return False
    return [each.container for each in writer.writes()].count(memlet.container) == 1
