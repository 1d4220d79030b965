"""Nodes that communicate: all ranks reach a collective, or none does."""

from __future__ import annotations

from dcpy.ir.analysis.distributed.uniformity import varies, varying_names
from dcpy.ir.communication import Collective, CommNode
from dcpy.ir.field_roles import Written
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope


@rule("comm.grid", CommNode)
def communicators_are_of_a_grid(node: CommNode, scope: Scope) -> Findings:
    """The communicator of a node is that of all ranks, or of axes of a declared grid."""
    grids = scope.sdfg.grids
    if node.grid and node.grid not in grids:
        yield f"a {node.kind} is on the grid {node.grid!r}, which does not exist"
        return
    for axis in node.along:
        if not node.grid or not 0 <= axis < len(grids[node.grid].sizes):
            yield f"a {node.kind} is along axis {axis}, which its grid does not have"


@rule("comm.map", CommNode)
def iterations_of_maps_do_not_communicate(node: CommNode, scope: Scope) -> Findings:
    """No node communicates in a map or a process, whose runs have no order."""
    if any(isinstance(owner, Written) and owner.concurrent for owner in scope.owners):
        yield f"a {node.kind} is in a map or a process", "make the map a loop"


@rule("comm.divergent", Collective)
def all_ranks_reach_collectives(node: Collective, scope: Scope) -> Findings:
    """No condition or range around a collective may differ between ranks: all of them reach it equally often."""
    owners = [owner for owner in scope.owners if isinstance(owner, Written)]
    if not owners:
        return
    varying = varying_names(scope.sdfg)
    for owner in owners:
        if varies(owner, varying):
            yield (
                f"a {node.kind} is in a {owner.kind} that may run otherwise on other ranks",
                "take the condition from an array into which an allreduce or a broadcast alone writes, or put the "
                "collective outside",
            )
