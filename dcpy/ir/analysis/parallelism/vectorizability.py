"""Vectorizability of a map: whether several iterations of its innermost parameter fit into one vector instruction.

That takes straight-line code, and locations that iterations share only where all of them combine values in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.conflict_resolutions import (
    conflict_resolutions,
    is_injective,
    reducible,
    threads_race,
    tiles_of,
)
from dcpy.ir.data import Allocation, Array, Stream
from dcpy.ir.editing.remarks import described
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Loop, Resize, State, SymbolAssign
from dcpy.ir.schedules import Parallel, Unrolled
from dcpy.ir.subsets import Range
from dcpy.ir.tree import owners_around


def why_no_lanes(node: Map, uses: Uses, *, checks: bool = True) -> Refusal | None:
    """Return why the innermost parameter of a map cannot run in vector instructions; None where it can.

    `checks`: whether indices that are not proved in range are checked. Maps around it are to have their schedules.
    """
    return _not_straight(node, uses, checks) or _meeting(node, uses, _team(node))


def _team(node: Map) -> Sequence[Map]:
    """The outermost map on several threads, of those around `node` and itself, and the maps from there to it."""
    maps = [owner for owner in owners_around(node) if isinstance(owner, Map)][::-1]
    maps.append(node)
    team = next((position for position, owner in enumerate(maps) if isinstance(owner.schedule, Parallel)), len(maps))
    return maps[team:]


def _not_straight(node: Map, uses: Uses, checks: bool) -> Refusal | None:
    for block in node.body.walk_blocks():
        if not _is_straight_block(block, checks):
            return Refusal(f"there is a {described(block)} inside", (block,))
    for inner in node.body.walk_nodes():
        if not _is_straight_node(inner, uses):
            return Refusal(f"there is a {described(inner)} inside", (inner,))
    for region in node.body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, Stream):
                return Refusal(f"the queue {name!r} is inside")
            if isinstance(desc, Array) and desc.transient and desc.allocation is Allocation.HEAP:
                varying = {*region.params, *(s for part in node.body.walk_regions() for s in part.params), *node.params}
                if region is not node.body or any(not varying.isdisjoint(size.symbols) for size in desc.shape):
                    return Refusal(f"{name!r} is allocated inside")
    return None


def _is_straight_block(block: Block, checks: bool) -> bool:
    match block:
        case Resize():
            return False
        case SymbolAssign():
            return not checks or Effect.MAY_RAISE not in block.effects
        case Loop(schedule=schedule):
            return isinstance(schedule, Unrolled)
    return isinstance(block, State | Branch)


def _is_straight_node(node: Node, uses: Uses) -> bool:
    if any(isinstance(uses.desc(memlet.container), Stream) for memlet in (*node.reads(), *node.writes())):
        return False
    match node:
        case Tasklet():
            return True
        case Map(schedule=schedule):
            return isinstance(schedule, Unrolled)
        case Copy(dst=dst):
            ranges = uses.ranges_at(node)
            sizes = (dim.size_within(ranges) for dim in dst.subset.dims if isinstance(dim, Range))
            return all(size.constant == 1 for size in sizes)
    return False


def _meeting(node: Map, uses: Uses, team: Sequence[Map]) -> Refusal | None:
    """A location in which iterations combine values, but not all of them in one, or other threads do too."""
    writes = conflict_resolutions(uses, node)
    folded = {memlet for each in (*team, node) for memlet in reducible(conflict_resolutions(uses, each))}
    others = writes.symbols - set(node.params[:-1])
    for memlet in writes.resolved:
        if memlet not in folded and not is_injective(memlet.subset, node.params[-1:], others):
            advice = ": map-expansion makes them a map of their own" if len(node.params) > 1 else ""
            return Refusal(f"several iterations over {node.params[-1]!r} may combine values in {memlet}{advice}")
    if team:
        varying, tiles = conflict_resolutions(uses, team[0]).symbols, tiles_of(team[0])
        for memlet in writes.resolved:
            if memlet not in folded and threads_race(memlet, team[0], varying, uses, tiles):
                return Refusal(f"several threads may combine values in {memlet}")
    return None
