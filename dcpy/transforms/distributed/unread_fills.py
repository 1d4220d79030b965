"""Unread fills: copies that need not fill the halo of what they copy to, as it is updated before it is read."""

from __future__ import annotations

from dcpy.ir.analysis.uses import Uses
from dcpy.ir.comm import Update
from dcpy.ir.distribution import Distribution
from dcpy.ir.nodes import Copy, Node
from dcpy.transforms.distributed.halo_validity import Halo, fills, valid_halos
from dcpy.transforms.distributed.placement import home_of, placed, reach_of
from dcpy.transforms.distributed.presence import halo_needed
from dcpy.transforms.distributed.touches import outermost_nodes, touches_of


def unread_fills(uses: Uses) -> frozenset[Copy]:
    """Those without which all halos that are read are as valid: one after the other, the first ones first."""
    nodes = [node for _, node in outermost_nodes(uses.sdfg)]
    found: frozenset[Copy] = frozenset()
    for copy in nodes:
        if isinstance(copy, Copy) and fills(copy, uses) and _suffice(found | {copy}, nodes, uses):
            found |= {copy}
    return found


def _suffice(unfilled: frozenset[Copy], nodes: list[Node], uses: Uses) -> bool:
    """Whether what is read is valid without these."""
    valid = valid_halos(uses, unfilled)
    for node in nodes:
        for name, needed in _read_by(node, uses):
            there = valid.get(node, {}).get(name)
            if there is None or not there.covers(needed):
                return False
    return True


def _read_by(node: Node, uses: Uses) -> list[tuple[str, Halo]]:
    """What a node reads beyond the elements of its rank; copies read what is owned, updates too."""
    found: list[tuple[str, Halo]] = []
    _, home, _ = home_of(node, uses)
    for touch in () if isinstance(node, Copy | Update) else touches_of(node, uses):
        where = placed(touch.container, uses)
        if touch.is_read and isinstance(where, Distribution) and any(map(any, where.halo)):
            needed = halo_needed(touch, where, home, reach_of(node)) or Halo(where.halo, True)
            if any(map(any, needed.widths)):
                found.append((touch.container, needed))
    return found
