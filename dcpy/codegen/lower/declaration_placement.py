"""Placement of declarations: buffers and symbols are declared as far in and as late as the program allows.

A container is allocated before the first block that touches it (its sizes may be symbols assigned just before), in the
region that declares it, or inside a branch or loop that alone touches it where its sizes are only known there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.data import Data, View
from dcpy.ir.field_roles import Written
from dcpy.ir.region import Block, Branch, Loop, Region, Resize, State, SymbolAssign, While
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, regions_around

NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class DeclarationPlacement:
    """`buffers`: containers to declare before a block. `symbols`: those to declare where a region starts.

    `owned`: results to allocate after the block that makes their sizes known, or where a region starts.
    """

    buffers: dict[Block, list[str]] = field(default_factory=dict)
    symbols: dict[Region, list[str]] = field(default_factory=dict)
    owned: dict[Block | Region, list[str]] = field(default_factory=dict)
    accessed: dict[Block, frozenset[str]] = field(default_factory=dict)  # roots and symbols, nested ones included
    assigned: dict[Block, frozenset[str]] = field(default_factory=dict)  # symbols given values inside
    resized: dict[Block, frozenset[str]] = field(default_factory=dict)  # those that only get more room inside
    growing: set[str] = field(default_factory=set)  # arrays that get more room while they live


def plan_placement(sdfg: Sdfg, uses: Uses, owned: Iterable[str] = ()) -> DeclarationPlacement:
    """Decide for all transients and assigned symbols of `sdfg`, and the results that it allocates itself."""
    plan = DeclarationPlacement()
    plan.growing |= {block.container for block in sdfg.body.walk_blocks() if isinstance(block, Resize)}
    for block in sdfg.body.blocks:
        _analyze(block, uses, plan)
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if desc.transient and not isinstance(desc, View):
                _place_buffer(name, desc, region, plan)
    for name in owned:
        _place_owned(name, frozenset(desc_symbols(sdfg.desc(name))), sdfg.body, plan)
    for symbol in sdfg.assigned_symbols:
        for region in _homes_of_symbol(symbol, sdfg.body, plan):
            plan.symbols.setdefault(region, []).append(symbol)
    return plan


def _analyze(block: Block, uses: Uses, plan: DeclarationPlacement) -> tuple[frozenset[str], frozenset[str]]:
    accessed, assigned = _of_element(block, uses)
    inner: list[Block] = [b for region in block.regions() for b in region.blocks]
    if isinstance(block, State):
        for node in block.nodes:
            more, defined = _of_element(node, uses)
            accessed, assigned = accessed | more, assigned | defined
    for child in inner:
        more, defined = _analyze(child, uses, plan)
        accessed, assigned = accessed | more, assigned | defined
    plan.accessed[block], plan.assigned[block] = accessed, assigned
    if plan.growing:
        assigns = [inside for inside in _with_inner(block) if isinstance(inside, SymbolAssign)]
        given = {inside.symbol for inside in assigns if not isinstance(inside, Resize)}
        plan.resized[block] = plan.assigned[block] - given
    return accessed, assigned


def _with_inner(block: Block) -> Iterator[Block]:
    yield block
    for region in block.regions():
        yield from region.walk_blocks()


def _of_element(element: Element, uses: Uses) -> tuple[frozenset[str], frozenset[str]]:
    """Names that one element needs: symbols, roots of containers, and the symbols of their descriptors."""
    accesses = uses.accesses(element)
    names = dict.fromkeys(accesses.symbols)
    for container in (*accesses.reads, *accesses.writes):
        for name in (container, *shown_by(container, uses.desc)):
            names[name] = None
            names |= dict.fromkeys(desc_symbols(uses.desc(name)))
    assigned = frozenset(accesses.defines) if isinstance(element, SymbolAssign) else frozenset()
    return frozenset(names) | assigned, assigned


def _place_buffer(name: str, desc: Data, region: Region, plan: DeclarationPlacement) -> None:
    needs = frozenset(desc_symbols(desc))
    while True:
        users = [block for block in region.blocks if name in plan.accessed[block]]
        if not users:
            return
        inner = _only_inner_region(name, users, needs, plan)
        if inner is None:
            plan.buffers.setdefault(users[0], []).append(name)
            return
        region = inner


def _place_owned(name: str, needs: frozenset[str], region: Region, plan: DeclarationPlacement) -> None:
    """Place it after the last block that assigns a size; inside those that also fill the result, on each way."""
    assigning = [block for block in region.blocks if needs & plan.assigned[block]]
    plain = [block for block in assigning if name not in plan.accessed[block] or isinstance(block, SymbolAssign)]
    if plain or (not assigning and region.owner is None):
        plan.owned.setdefault(plain[-1] if plain else region, []).append(name)
    for block in assigning:
        for inner in block.regions():
            if any(name in plan.accessed[inside] for inside in inner.blocks):
                _place_owned(name, needs, inner, plan)


def _only_inner_region(
    name: str, users: list[Block], needs: frozenset[str], plan: DeclarationPlacement
) -> Region | None:
    """The region further in where the buffer may be declared instead, if there is one and it helps."""
    if len(users) != 1:
        return None
    block = users[0]
    late = bool(needs & plan.assigned[block] - (plan.resized[block] if name in plan.growing else NONE))
    if isinstance(block, Branch) or (late and isinstance(block, Loop | While)):
        inside = [region for region in block.regions() if any(name in plan.accessed[b] for b in region.blocks)]
        if len(inside) == 1 and not _in_own_expressions(name, block, plan):
            return inside[0]
    return None


def _in_own_expressions(name: str, block: Block, plan: DeclarationPlacement) -> bool:
    """Return whether a condition or bound of the block itself reads the container."""
    from dcpy.ir.expressions.scalar import loads_of

    return any(load.container == name for expr in block.exprs() for load in loads_of(expr))


def _homes_of_symbol(symbol: str, body: Region, plan: DeclarationPlacement) -> list[Region]:
    """The region in which the symbol's variable lives, and the map bodies that have one of their own."""
    homes: dict[Region, None] = {}
    for region in body.walk_regions():
        for block in region.blocks:
            if isinstance(block, SymbolAssign) and block.symbol == symbol:
                homes[_private_region(region) or body] = None
    return list(homes)


def _private_region(region: Region) -> Region | None:
    """The outermost body around a region that runs at the same time as others: they share no variables."""
    owners = ((around, around.owner) for around in regions_around(region))
    bodies = [around for around, owner in owners if isinstance(owner, Written) and owner.concurrent]
    return bodies[-1] if bodies else None
