"""Dead declaration elimination: removes slots of types that only a dry run had, and views without a use."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.sdfg import Sdfg


def prune(sdfg: Sdfg) -> None:
    """Drop transient containers that no node, block, result or used view mentions."""
    used = dict.fromkeys(mentioned(sdfg))
    for region in sdfg.body.walk_regions():
        for name, desc in list(region.containers.items()):
            if desc.transient and name not in used:
                del region.containers[name]


def mentioned(sdfg: Sdfg) -> Iterator[str]:
    """The containers that nodes, blocks and results name, and what the views among them show."""
    regions = sdfg.body.walk_regions()
    views = {name: desc.of for region in regions for name, desc in region.containers.items() if isinstance(desc, View)}
    for name in _named(sdfg):
        yield name
        while name in views:
            name = views[name]
            yield name


def _named(sdfg: Sdfg) -> Iterator[str]:
    """The containers that nodes, blocks and results name."""
    for result in sdfg.results:
        yield result.container
    for block in sdfg.body.walk_blocks():
        for expr in block.exprs():
            for load in loads_of(expr):
                yield load.container
    for node in sdfg.body.walk_nodes():
        for operand in node.operands():
            yield operand.memlet.container
