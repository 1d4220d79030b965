"""Uniformity: which values are the same on all ranks of a program in local form.

Divergence analysis, forwards to a fixed point. Coordinates vary, and so does what is computed from them, or from arrays
whose sizes mention them; what a broadcast or an allreduce gives is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.dataflow.def_use import CalleeAccesses, accesses_of, desc_symbols
from dcpy.ir.communication import CommNode
from dcpy.ir.distribution import coordinate_names
from dcpy.ir.expressions.scalar import Load, ScalarExpr, symbols_in, walk
from dcpy.ir.field_roles import Role, Written
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, owners_around, subtree


def varying_names(sdfg: Sdfg) -> frozenset[str]:
    """The symbols and containers of an SDFG whose values may differ between ranks."""
    varying = {name for grid, its in sdfg.grids.items() for name in coordinate_names(grid, len(its.sizes))}
    if not varying and not any(isinstance(node, CommNode) for node in sdfg.body.walk_nodes()):
        return frozenset()
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if not desc.transient and varying.intersection(desc_symbols(desc)):
                varying.add(name)
    callees, before = CalleeAccesses(), -1
    while before < len(varying):
        before = len(varying)
        for element in subtree(sdfg.body):
            _follow(element, varying, callees)
        for region in sdfg.body.walk_regions():
            varying |= {name for name, desc in region.containers.items() if getattr(desc, "of", "") in varying}
    return frozenset(varying)


def _follow(element: Element, varying: set[str], callees: CalleeAccesses) -> None:
    """Add what an element makes of values that vary, or on some ranks only."""
    accessed = accesses_of(element, callees.written_by)
    if isinstance(element, CommNode) and not is_divergent(element, varying):
        varying.update({*accessed.writes, *accessed.defines} - element.same_outputs)
        return
    inputs = varying.intersection((*accessed.reads, *accessed.symbols))
    if inputs or isinstance(element, CommNode) or is_divergent(element, varying):
        varying.update((*accessed.writes, *accessed.defines))


def is_divergent(element: Element, varying: set[str] | frozenset[str]) -> bool:
    """Return whether an element may run on some ranks and not on others, or not equally often."""
    return any(varies(owner, varying) for owner in owners_around(element))


def varies(owner: Written, varying: set[str] | frozenset[str]) -> bool:
    """Return whether a condition or a range that is written on a block or node may differ between ranks."""
    return any(name in varying for name in _mentioned(owner))


def _mentioned(owner: Written) -> Iterator[str]:
    if isinstance(owner, Node | Block):
        for bound in owner.all_of(Role.BOUND):
            yield from bound.symbols
        for expr in owner.exprs():
            yield from _names_in(expr)


def _names_in(expr: ScalarExpr) -> Iterator[str]:
    for part in walk(expr):
        if isinstance(part, Load):
            yield part.container
        yield from symbols_in(part)
