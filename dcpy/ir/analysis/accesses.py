"""What a node, block or region reads and writes, seen from outside of it.

For a scope this is memlet propagation: the union of what its body touches, without its private containers, with
its parameters replaced by all their values. Nothing is stored: each answer costs as much as the asked part is big.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

from dcpy.ir.analysis.propagation import Sweep, swept, unknown
from dcpy.ir.analysis.ranges_at import KnownRanges
from dcpy.ir.analysis.scopes import desc_at, symbols_assigned_in
from dcpy.ir.data import Stream, View
from dcpy.ir.expr import ScalarExpr, loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Consume, Map, Node
from dcpy.ir.region import (
    Block,
    Branch,
    Break,
    Check,
    Loop,
    Region,
    Resize,
    Return,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.tree import Place, jumps, sdfg_of

MOST_PARTS = 8  # subsets kept apart per container and direction; more are rounded up to one box


@dataclass(frozen=True, slots=True)
class AccessInfo:
    """One container touched by the part of the program that was asked about.

    `subset` holds every element touched, None where that is not known (any part). `certain`: each time the part runs
    to its end, exactly these elements are touched; otherwise at most these. A write with `wcr` reads the old
    value too. `node` is the innermost node or block that does it (the first, where several do).
    """

    container: str
    subset: Subset | None
    is_write: bool
    wcr: str = ""
    node: Node | Block | None = None
    certain: bool = True


Accesses = tuple[AccessInfo, ...]


def accesses_of(node: Node) -> Accesses:
    """What one execution of a node touches, in program order, its reads first."""
    return _node_accesses(node, KnownRanges(sdfg_of(node)))


def accesses_of_block(block: Block) -> Accesses:
    """What one execution of a block touches, conditions included."""
    return _block_accesses(block, KnownRanges(sdfg_of(block)))


def accesses_of_region(region: Region) -> Accesses:
    """What one execution of a region touches, without the containers declared in it."""
    return _region_accesses(region, KnownRanges(sdfg_of(region)))


# -- nodes -----------------------------------------------------------------------------------------------------------


@singledispatch
def _node_accesses(node: Node, known: KnownRanges) -> Accesses:
    found = []
    for memlet in node.reads():
        read = _of_memlet(memlet, node, is_write=False)
        found.append(read)
        if isinstance(desc_at(node, memlet.container), Stream):  # to pop is to change
            found.append(replace(read, is_write=True))
    return (*found, *(_of_memlet(memlet, node, is_write=True) for memlet in node.writes()))


@_node_accesses.register
def _(node: Map, known: KnownRanges) -> Accesses:
    ranges = known.at(node)
    sweeps = [Sweep.of(name, values, ranges) for name, values in zip(node.params, node.domain, strict=True)]
    return _swept_accesses(_region_accesses(node.body, known), sweeps, node, ranges)


@_node_accesses.register
def _(node: Consume, known: KnownRanges) -> Accesses:
    pops = AccessInfo(node.stream, None, False, node=node, certain=False)
    body = _uncertain(_region_accesses(node.body, known))
    private = (access for access in body if access.container != node.element)
    swept_body = _swept_accesses(private, [unknown(node.worker)], node, known.at(node))
    return (pops, replace(pops, is_write=True), *swept_body)


@_node_accesses.register
def _(node: Call, known: KnownRanges) -> Accesses:
    found = []
    for access in accesses_of_region(node.sdfg.body):
        memlet = node.arguments.get(access.container)
        if memlet is None:
            continue
        subset = None
        if access.subset is not None:
            subset = memlet.subset.compose(access.subset.subs(node.symbols))
        certain = access.certain and not memlet.dynamic
        found.append(replace(access, container=memlet.container, subset=subset, node=node, certain=certain))
    return _merged(found)


def _of_memlet(memlet: Memlet, node: Node, *, is_write: bool) -> AccessInfo:
    return AccessInfo(memlet.container, memlet.subset, is_write, memlet.wcr, node, not memlet.dynamic)


# -- blocks ----------------------------------------------------------------------------------------------------------


@singledispatch
def _block_accesses(block: Block, known: KnownRanges) -> Accesses:
    return ()


@_block_accesses.register
def _(block: State, known: KnownRanges) -> Accesses:
    return _merged(access for node in block.nodes for access in _node_accesses(node, known))


@_block_accesses.register
def _(block: Loop, known: KnownRanges) -> Accesses:
    ranges = known.at(block)
    body = _region_accesses(block.body, known)
    if any(isinstance(jump, Break | Return) for jump in jumps(block.body)):
        body = _uncertain(body)
    return _swept_accesses(body, [Sweep.of(block.param, block.range, ranges)], block, ranges)


@_block_accesses.register
def _(block: While, known: KnownRanges) -> Accesses:
    changing = [unknown(name) for name in symbols_assigned_in(block.body)]
    first = _of_loads((block.condition,), block)
    again = _swept_accesses(_uncertain(first), changing, block, known.at(block)) if changing else ()
    return _merged((*first, *again, *_uncertain(_region_accesses(block.body, known))))


@_block_accesses.register
def _(block: Branch, known: KnownRanges) -> Accesses:
    conditions = [condition for condition, _ in block.cases]
    tests = (*_of_loads(conditions[:1], block), *_uncertain(_of_loads(conditions[1:], block)))
    bodies = [_region_accesses(body, known) for body in block.regions()]
    always = _in_all(bodies) if block.otherwise is not None else frozenset()
    inside = [replace(access, certain=access.certain and _what(access) in always) for body in bodies for access in body]
    return _merged((*tests, *inside))


@_block_accesses.register
def _(block: SymbolAssign, known: KnownRanges) -> Accesses:
    return _of_loads((block.value,), block)


@_block_accesses.register
def _(block: Resize, known: KnownRanges) -> Accesses:
    moved = [AccessInfo(block.container, None, is_write, node=block) for is_write in (False, True)]
    return _merged((*_of_loads((block.value,), block), *_uncertain(moved)))


@_block_accesses.register
def _(block: Check, known: KnownRanges) -> Accesses:
    return _merged((*_of_loads((block.condition,), block), *_uncertain(_of_loads(block.values, block))))


def _of_loads(exprs: Iterable[ScalarExpr], block: Block) -> Accesses:
    loads = [load for expr in exprs for load in loads_of(expr)]
    return _merged(AccessInfo(load.container, Subset(load.indices), False, node=block) for load in loads)


def _in_all(bodies: Sequence[Accesses]) -> frozenset[tuple[object, ...]]:
    """What is certain in each of several regions."""
    certain = [{_what(access) for access in body if access.certain} for body in bodies]
    return frozenset(set.intersection(*certain))


# -- regions ---------------------------------------------------------------------------------------------------------


def _region_accesses(region: Region, known: KnownRanges) -> Accesses:
    found: list[AccessInfo] = []
    leaving = False
    for block in region.blocks:
        inside = _block_accesses(block, known)
        found += _uncertain(inside) if leaving else inside
        leaving = leaving or any(jumps(block))
    visible = _merged(_without_private(region, found))
    changing = [unknown(name) for name in symbols_assigned_in(region)]
    return _swept_accesses(visible, changing, region, known.at(region)) if changing else visible


def _without_private(region: Region, accesses: Iterable[AccessInfo]) -> Iterator[AccessInfo]:
    """The accesses as seen from outside: of the bases of private views, none of other private containers."""
    if not region.containers or isinstance(region.owner, Sdfg):
        yield from accesses
        return
    for access in accesses:
        seen: AccessInfo | None = access
        while seen is not None and seen.container in region.containers:
            desc = region.containers[seen.container]
            if not isinstance(desc, View):
                seen = None
                continue
            subset = None if seen.subset is None else desc.base_subset(seen.subset)
            seen = replace(seen, container=desc.of, subset=subset, certain=seen.certain and subset is not None)
        if seen is not None:
            yield seen


# -- unions ----------------------------------------------------------------------------------------------------------


def _uncertain(accesses: Iterable[AccessInfo]) -> Accesses:
    return tuple(replace(access, certain=False) if access.certain else access for access in accesses)


def _swept_accesses(accesses: Iterable[AccessInfo], sweeps: Sequence[Sweep], place: Place, ranges: Ranges) -> Accesses:
    return _merged(_swept_access(access, sweeps, place, ranges) for access in accesses)


def _swept_access(access: AccessInfo, sweeps: Sequence[Sweep], place: Place, ranges: Ranges) -> AccessInfo:
    if access.subset is None:
        return access
    shape: Sequence[Expr] = desc_at(place, access.container).shape
    subset, exact = swept(access.subset, sweeps, shape, ranges)
    return replace(access, subset=subset, certain=access.certain and exact)


def _what(access: AccessInfo) -> tuple[object, ...]:
    return access.container, access.is_write, access.wcr, access.subset


def _merged(accesses: Iterable[AccessInfo]) -> Accesses:
    """Each distinct access once, and at most `MOST_PARTS` subsets per container and direction."""
    kept: dict[tuple[object, ...], AccessInfo] = {}
    parts: dict[tuple[object, ...], int] = {}
    for access in accesses:
        what = _what(access)
        if what in kept:
            if access.certain and not kept[what].certain:
                kept[what] = replace(kept[what], certain=True)
            continue
        kept[what] = access
        parts[what[:3]] = parts.get(what[:3], 0) + 1
    if all(count <= MOST_PARTS for count in parts.values()):
        return tuple(kept.values())
    return _rounded(kept.values(), parts)


def _rounded(accesses: Iterable[AccessInfo], parts: dict[tuple[object, ...], int]) -> Accesses:
    """The accesses with all subsets of a container that has too many replaced by one box around them."""
    result: dict[tuple[object, ...], AccessInfo] = {}
    for access in accesses:
        what = _what(access)
        if parts[what[:3]] <= MOST_PARTS:
            result[what] = access
        elif (known := result.get(what[:3])) is None:
            result[what[:3]] = replace(access, certain=False)
        else:
            result[what[:3]] = replace(known, subset=_hull(known.subset, access.subset))
    return tuple(result.values())


def _hull(left: Subset | None, right: Subset | None) -> Subset | None:
    return None if left is None or right is None else left.hull_with(right)
