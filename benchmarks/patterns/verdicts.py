"""What became of a loop: whether its iterations run side by side in the program that dcpy makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import dcpy
from dcpy.ir.nodes import LibraryNode, Map, Node
from dcpy.ir.region import Block, Branch, Loop, Region, While

PARALLEL, INNER, SEQUENTIAL = "parallel", "inner loops", "sequential"


def verdict(sdfg: dcpy.SDFG) -> str:
    """`PARALLEL` where no loop over data keeps its order; `INNER` where one does, and all that it does is parallel.

    Of versions of one loop, the best one counts: the others are for calls that fail a check, or overlap in memory.
    """
    return _of_region(sdfg.body)


def _of_region(region: Region) -> str:
    order = (PARALLEL, INNER, SEQUENTIAL)
    return max(map(_of_block, region.blocks), key=order.index, default=PARALLEL)


def _of_block(block: Block) -> str:
    order = (PARALLEL, INNER, SEQUENTIAL)
    if isinstance(block, Branch):
        cases = [body for _, body in block.cases] + ([block.otherwise] if block.otherwise else [])
        if block.otherwise is not None:
            return min(map(_of_region, cases), key=order.index)
        return max(map(_of_region, cases), key=order.index)
    if isinstance(block, Loop) and (block.range.size.constant or 99) <= 8:
        return _of_region(block.body)
    if isinstance(block, Loop | While):
        inside = list(_work(block.body))
        parallel = bool(inside) and all(isinstance(node, Map | LibraryNode) for node in inside)
        return INNER if parallel or _of_inner_loops(block.body) else SEQUENTIAL
    return PARALLEL


def _of_inner_loops(body: Region) -> bool:
    """Whether the work of a loop is in maps and library nodes, besides what it does once in an iteration."""
    loops = [block for block in body.walk_blocks() if isinstance(block, Loop | While)]
    if any(_of_block(loop) == SEQUENTIAL for loop in loops):
        return False
    return any(isinstance(node, Map | LibraryNode) for node in _work(body))


def _work(region: Region) -> Iterator[Node]:
    """The nodes of a region, and those of its blocks; not what is inside of maps."""
    for block in region.blocks:
        yield from getattr(block, "nodes", ())
        for inner in block.regions():
            yield from _work(inner)


def program_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dcpy.SDFG:
    """What `auto_optimize` makes of a function for these arguments."""
    return dcpy.program(function, auto_optimize=True).to_sdfg(*arguments).lower("saved-borders")


def reason(sdfg: dcpy.SDFG) -> str:
    """Why the first loop that keeps its order, of the version that counts, is no map."""
    lines = [line.strip() for line in sdfg.explain("loop-to-map").splitlines()[1:]]
    return next((line.partition("  ")[2].strip() for line in lines if line.startswith("no")), "it is no counted loop")
