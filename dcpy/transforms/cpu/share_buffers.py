"""ShareBuffers: buffers with disjoint lifetimes share their memory.

A NumPy program written in small steps has a temporary per step. NumPy frees each after its last use, and the next one
reuses memory that is still in the cache; separate buffers would come from main memory. On a device, programs need
less memory.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import twins
from dcpy.ir.data import Allocation, Array, Lifetime
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Block, Region, State
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import Element, child_of, is_inside, owners_around
from dcpy.transforms.passes import GraphPass

Moment = tuple[int, int]  # position of a block in its region, and of a node in that state


@dataclass(frozen=True, slots=True)
class _Life:
    """The lifetime of a container: its first and last access, in the region that declares it."""

    name: str
    first: Moment
    last: Moment


@dataclass(frozen=True)
class ShareBuffers(GraphPass):
    """Merge heap arrays of equal shape and dtype if one is dead before the other is first written.

    before   A -> t;  t -> u;  u -> v;  v -> B        after   A -> t;  t -> u;  u -> t;  t -> B

    The contents of a container before its first write are undefined, so old values do not matter. Two containers of one
    node stay separate, since the node may read one while it writes the other, unless the node is a map that reads, for
    each element, only the element that it writes: it works in place. A device copy of a host container is not shared.
    """

    name: ClassVar[str] = "share-buffers"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Decide for each region."""
        held = twins(rw.sdfg)
        for region in list(rw.sdfg.body.walk_regions()):
            positions = {block: position for position, block in enumerate(region.blocks)}
            nodes: dict[State, dict[Node, int]] = {}
            for kin in _kinds(region, rw.uses, held):
                for name, host in _assignment(_lives(kin, region, rw.uses, positions, nodes), region, rw.uses):
                    for element in rw.uses.accessors(name):
                        rw.substitute(element, Substitution(containers={name: host}))
                    rw.undeclare(name)


def _kinds(region: Region, uses: Uses, held: Container[str]) -> list[list[str]]:
    """The containers of a region that may share: heap arrays without views, by descriptor, except for `held` ones."""
    kinds: dict[Array, list[str]] = {}
    for name, desc in region.containers.items():
        if not isinstance(desc, Array) or not desc.transient or desc.allocation is not Allocation.HEAP or name in held:
            continue
        if desc.lifetime is Lifetime.SCOPE and uses.overlapping(name) == (name,) and uses.accessors(name):
            kinds.setdefault(desc, []).append(name)
    return [names for names in kinds.values() if len(names) > 1]


def _lives(
    names: Iterable[str], region: Region, uses: Uses, positions: dict[Block, int], nodes: dict[State, dict[Node, int]]
) -> list[_Life]:
    lives = []
    for name in names:
        spans = [_span(region, element, positions, nodes) for element in uses.accessors(name)]
        lives.append(_Life(name, min(first for first, _ in spans), max(last for _, last in spans)))
    return sorted(lives, key=lambda life: life.first)


def _span(
    region: Region, element: Element, positions: dict[Block, int], nodes: dict[State, dict[Node, int]]
) -> tuple[Moment, Moment]:
    """The time span of `element`: one step in a state of this region, or all steps of a nested block."""
    block = child_of(region, element)
    assert block is not None  # accesses of a container are inside of the region that declares it
    where = positions[block]
    node = child_of(block, element) if isinstance(block, State) else None
    if node is None or not isinstance(block, State):
        return (where, -1), (where, 2**62)  # other than a state: one moment for all of it
    order = nodes.get(block)
    if order is None:
        order = nodes[block] = {node: position for position, node in enumerate(block.nodes)}
    return (where, order[node]), (where, order[node])


def _assignment(lives: list[_Life], region: Region, uses: Uses) -> list[tuple[str, str]]:
    """(name, host) for each container that moves into the memory of another, dead one."""
    moved: list[tuple[str, str]] = []
    busy: list[tuple[Moment, str, str]] = []  # (last moment, its container then, host)
    for life in lives:
        free = [
            entry
            for entry in busy
            if entry[0] < life.first or (entry[0] == life.first and _in_place(entry[1], life.name, region, uses))
        ]
        if not free:
            busy.append((life.last, life.name, life.name))
            continue
        latest = max(free)  # the one used last is the likeliest to be in the cache
        busy[busy.index(latest)] = (life.last, life.name, latest[2])
        moved.append((life.name, latest[2]))
    return moved


def _in_place(source: str, target: str, region: Region, uses: Uses) -> bool:
    """Return whether only one tasklet, in maps, accesses both, and reads the elements that it overwrites."""
    common = [element for element in uses.accessors(source) if element in uses.accessors(target)]
    tasklet = common[0] if len(common) == 1 else None
    if not isinstance(tasklet, Tasklet):
        return False
    owners = list(owners_around(tasklet, within=region))
    maps = [owner for owner in owners if isinstance(owner, Map)]
    if not maps or len(maps) < len(owners):
        return False
    accessing = [element for name in (source, target) for element in uses.accessors(name) if element is not tasklet]
    if any(is_inside(element, maps[-1]) for element in accessing):
        return False
    reads = [memlet for memlet in tasklet.reads() if memlet.container == source]
    writes = [memlet for memlet in tasklet.writes() if memlet.container == target]
    used = [memlet for memlet in (*tasklet.reads(), *tasklet.writes()) if memlet.container in (source, target)]
    if len(reads) + len(writes) != len(used) or len(writes) != 1 or writes[0].wcr:
        return False
    indices = [dim.name for dim in writes[0].subset.dims if isinstance(dim, Expr) and dim.name is not None]
    params = {param for around in maps for param in around.params}
    return params <= set(indices) and all(memlet.subset == writes[0].subset for memlet in reads)
