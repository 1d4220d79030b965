"""Opaque handles: memory that holds addresses of the process, as a random generator of NumPy does.

Code that writes such memory decides where the program jumps. So it is passed by the caller, who has a real one, and
nothing but the nodes that know what it is (`LibraryNode.handles`) writes it: an SDFG from a file cannot make one up.
"""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.nodes import Node
from dcpy.ir.sdfg import Sdfg


def handles_of(sdfg: Sdfg, known: dict[Sdfg, dict[str, None]] | None = None) -> dict[str, None]:
    """The containers (not views of them) that an SDFG, or what it calls, uses as handles; in program order."""
    seen = {} if known is None else known
    if sdfg in seen:
        return seen[sdfg]
    found = seen[sdfg] = {}  # also where it calls itself
    descs = {name: desc for region in sdfg.body.walk_regions() for name, desc in region.containers.items()}
    for node in sdfg.body.walk_nodes():
        for connector in handle_connectors(node, seen):
            memlet = _operand(node, connector)
            if memlet is not None:
                *_, base = (memlet, *shown_by(memlet, descs.get))
                found[base] = None
    return found


def handle_connectors(node: Node, known: dict[Sdfg, dict[str, None]] | None = None) -> tuple[str, ...]:
    """The connectors of a node whose memory it uses as a handle."""
    return (*node.handles(), *(name for callee in node.callees() for name in handles_of(callee, known)))


def _operand(node: Node, connector: str) -> str | None:
    return next((operand.memlet.container for operand in node.operands() if operand.connector == connector), None)
