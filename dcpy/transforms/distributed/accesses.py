"""Accesses of nodes from outside of them, and the dimensions that follow the labels that a node runs over.

A node runs over *labels*: a map over its parameters, a library node over the indices that its operands share, a copy
over its dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Load, walk
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import Element, bodies_of, owners_around, subtree


@dataclass(frozen=True, slots=True)
class NodeAccess:
    """One access of a node to a container from outside of it. `labels` are those of its dimensions, if it has any."""

    memlet: Memlet
    is_write: bool
    is_read: bool
    labels: tuple[str, ...] | None = None

    @property
    def container(self) -> str:
        return self.memlet.container


@dataclass(frozen=True, slots=True)
class Anchor:
    """A dimension that follows a label: it touches elements ``label + low`` to ``label + high``."""

    label: str
    low: Expr
    high: Expr


def node_accesses(node: Node, uses: Uses) -> tuple[NodeAccess, ...]:
    """All accesses of a node, and of what is inside of it, to containers that are declared outside."""
    private = {name for inner in subtree(node) for region in bodies_of(inner) for name in region.containers}
    letters = labels_of(node)
    found: list[NodeAccess] = []
    for element in subtree(node):
        for operand in element.operands():
            read, written = operand.role is not Role.WRITTEN, operand.role is not Role.READ
            read = read or bool(operand.memlet.wcr)
            own = letters.get(operand.name) if element is node and letters is not None else None
            found.append(NodeAccess(operand.memlet, written, read, own))
        for expr in element.exprs():
            for part in walk(expr):
                if isinstance(part, Load):
                    found.append(NodeAccess(Memlet(part.container, Subset(part.indices)), False, True))
    return tuple(access for access in found if access.container not in private)


def views_inside(node: Node) -> Iterator[tuple[str, View]]:
    """Views that are declared in the bodies of a node."""
    for element in subtree(node):
        for region in bodies_of(element):
            for name, desc in region.containers.items():
                if isinstance(desc, View):
                    yield name, desc


def labels_of(node: Node) -> Mapping[str, tuple[str, ...]] | None:
    """The labels of the dimensions that the memlet of each operand keeps; None where there are none."""
    if isinstance(node, Copy):
        names = tuple(f"d{dim}" for dim in range(len(node.src.subset.shape)))
        return {"src": names, "dst": names}
    return node.index_labels()


def anchors_of(access: NodeAccess, labels: tuple[str, ...]) -> tuple[Anchor | None, ...]:
    """The label that each dimension of a touch follows; None where it follows none, or is not known to."""
    if access.labels is not None:
        own = iter(access.labels)
        return tuple(
            Anchor(next(own), dim.start, dim.start) if isinstance(dim, Range) and _keep(own, dim) else None
            for dim in access.memlet.subset.dims
        )
    return tuple(_followed(dim, labels) for dim in access.memlet.subset.dims)


def _keep(own: Iterator[str], dim: Range) -> bool:
    """Return whether a range counts one by one; one that does not has a label all the same, which is passed over."""
    if dim.step is not ONE:
        next(own)
        return False
    return True


def _followed(dim: DimSubset, labels: tuple[str, ...]) -> Anchor | None:
    edges = (dim, dim) if isinstance(dim, Expr) else (dim.start, dim.stop - 1)
    if isinstance(dim, Range) and dim.step is not ONE:
        return None
    named = [label for label in labels if label in dim.symbols]
    if len(named) != 1:
        return None
    low, high = (edge - sym(named[0]) for edge in edges)
    if low.constant is None or high.constant is None or low.constant > high.constant:
        return None
    return Anchor(named[0], low, high)


def follows_nothing(dim: DimSubset, inside: set[str]) -> bool:
    """Return whether a dimension is one element, the same wherever the node runs."""
    return isinstance(dim, Expr) and not any(name in inside for name in dim.symbols)


def outermost_nodes(sdfg: Sdfg) -> list[tuple[State, Node]]:
    """The nodes that are in no map, with their states, in program order."""
    found: list[tuple[State, Node]] = []
    pending = [sdfg.body]
    while pending:
        region = pending.pop()
        for block in region.blocks:
            if isinstance(block, State):
                found += [(block, node) for node in block.nodes]
            else:
                pending += block.regions()
    return found


def outermost_node(element: Element) -> Node | None:
    """The node that is in no map to which an element belongs; None for a block that is in none."""
    around = [owner for owner in (element, *owners_around(element)) if isinstance(owner, Node)]
    return around[-1] if around else None
