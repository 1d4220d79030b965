"""Preparation of a program for reverse mode: library nodes with rules, and maps whose points are rows of tasklets.

What is more than that becomes loops, which are reversed with all that they hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.obstacles import require_known, without_rules
from dcpy.autodiff.reverse.branches import branch_as_loops, next_active_branch
from dcpy.autodiff.reverse.items import is_plain
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.nodes import Map
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import owners_around
from dcpy.transforms.fusion.map_fusion import MapFusion
from dcpy.transforms.maps.map_to_for_loop import as_loops
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline, repeat
from dcpy.transforms.simplify.control_flow.state_fusion import StateFusion
from dcpy.transforms.simplify.copies.redundant_copy_removal import RedundantCopyRemoval
from dcpy.transforms.simplify.dataflow.dead_dataflow_elimination import DeadDataflowElimination

#: pointwise fusion, which duplicates nothing: adjoints of one row have one pass, where those of a chain have many
BEFORE = Pipeline(
    "before-gradients", StateFusion(), repeat(MapFusion(), RedundantCopyRemoval(), DeadDataflowElimination())
)


def prepare_for_reversal(sdfg: Sdfg, wrt: Sequence[str]) -> None:
    """Expand library nodes without a rule, make loops of maps that are not plain, and refuse what is not known."""
    run_pipeline(sdfg, BEFORE)
    without_rules(sdfg, wrt, reverse=True)
    with rewriting(sdfg, "plain-maps") as rw:
        activity = Activity(rw.uses, wrt)
        require_known(rw, activity)
        while node := _next_nest(rw, activity):
            as_loops(node, rw)
    with rewriting(sdfg, "branches-as-loops") as rw:
        while branch := next_active_branch(rw, Activity(rw.uses, wrt)):
            branch_as_loops(branch, rw)


def _next_nest(rw: Rewriter, activity: Activity) -> Map | None:
    """An outermost map that writes active memory and is not plain."""
    for node in rw.sdfg.body.walk_nodes():
        if isinstance(node, Map) and not any(isinstance(owner, Map) for owner in owners_around(node)):
            written = [memlet for inner in node.body.walk_nodes() for memlet in inner.writes()]
            if any(activity.holds(memlet.container) for memlet in written) and not is_plain(node, activity):
                return node
    return None
