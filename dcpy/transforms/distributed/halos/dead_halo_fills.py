"""Dead halo fills: copies that need not fill the halo of their target, as it is updated before it is read."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.distribution import Distribution
from dcpy.ir.nodes import Copy, Node
from dcpy.transforms.distributed.accesses import node_accesses, outermost_nodes
from dcpy.transforms.distributed.communication.locality_check import halo_needed
from dcpy.transforms.distributed.halos.halo_validity import Halo, fills, valid_halos
from dcpy.transforms.distributed.resolved_placement import home_of, placed, reach_of


def dead_halo_fills_in(uses: Uses) -> frozenset[Copy]:
    """The copies without which all halos that are read are as valid: one after the other, the first ones first."""
    nodes = [node for _, node in outermost_nodes(uses.sdfg)]
    found: frozenset[Copy] = frozenset()
    for copy in nodes:
        if isinstance(copy, Copy) and fills(copy, uses) and _suffice(found | {copy}, nodes, uses):
            found |= {copy}
    return found


def _suffice(unfilled: frozenset[Copy], nodes: list[Node], uses: Uses) -> bool:
    """Return whether what is read is valid without these."""
    valid = valid_halos(uses, unfilled)
    for node in nodes:
        for name, needed in _read_by(node, uses):
            there = valid.get(node, {}).get(name)
            if there is None or not there.covers(needed):
                return False
    return True


def _read_by(node: Node, uses: Uses) -> list[tuple[str, Halo]]:
    """Return the halos that a node reads beyond its rank's elements; copies and updates read owned elements only."""
    found: list[tuple[str, Halo]] = []
    _, home, _ = home_of(node, uses)
    for access in () if isinstance(node, Copy | HaloUpdate) else node_accesses(node, uses):
        where = placed(access.container, uses)
        if access.is_read and isinstance(where, Distribution) and any(map(any, where.halo)):
            needed = halo_needed(access, where, home, reach_of(node)) or Halo(where.halo, True)
            if any(map(any, needed.widths)):
                found.append((access.container, needed))
    return found
