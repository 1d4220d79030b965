"""Dynamic message shapes: warns of messages whose shape changes at run time; each shape gets an MPI datatype (paper,
section 4.3).
"""

from __future__ import annotations

from dcpy.base.errors import warn_of_cost
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.communication import CommNode
from dcpy.ir.field_roles import Runs
from dcpy.ir.tree import owners_around

KINDS = ("comm.send", "comm.recv", "comm.sendrecv", "comm.isend", "comm.irecv")


def warn_of_dynamic_shapes(node: CommNode) -> None:
    """A `PerformanceWarning` where what a message moves has another shape in other iterations of a loop around it."""
    if node.kind not in KINDS:
        return
    changing: set[str] = set()
    for owner in owners_around(node):
        for body in owner.regions() if owner.runs is not Runs.PERHAPS else ():  # loops
            changing.update(body.params, symbols_assigned_in(body))
    operands = {name: memlet for name, memlet in (*node.inputs.items(), *node.outputs.items()) if name in ("x", "out")}
    for memlet in operands.values():
        sizes = [size for size in memlet.subset.shape if changing.intersection(size.symbols)]
        if sizes:
            warn_of_cost(
                f"{node.kind} moves {memlet}, whose shape changes while the program runs "
                f"({', '.join(map(str, sizes))}): MPI makes and keeps a datatype for each shape; "
                "send slices of one shape, or all of an array once",
                node.span,
            )
